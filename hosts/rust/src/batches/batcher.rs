use std::fmt;
use std::ops::RangeBounds;

use wasmtime::component::ResourceAny;

use super::{Batch, BatchBuilder, BatchConfig, BatchPlace, Metrics, RankBatches};
use crate::engine::{Batching, Object, Store, batches, batching_types, checked_state};
use crate::range::run;
use crate::{Error, Failure};

/// The batches of an epoch of sequences of different length: as many steps on every rank, and none over its budget.
///
/// A step is one batch on every rank, of similar length and cost. All of them are known before the epoch begins, any one is
/// read at once, and a rank computes its own without another's help. Everything but [`set_epoch`](Self::set_epoch) takes
/// `&self`, and threads may share a batcher; they take turns. The borrow checker sees to it that no iterator outlives its
/// epoch.
///
/// ```
/// use samedeal::Batcher;
///
/// // 10,000 sequences of 0 to 499 tokens, for rank 1 of 4; a batch may have 4,096 tokens, padding included.
/// let lengths = (0..10_000).map(|i| i * 7_919 % 500).collect::<Vec<u32>>();
/// let batcher = Batcher::builder(lengths).budget(4_096).seed(42).rank(1).world(4).build()?;
/// for batch in &batcher {
///     let batch = batch?;
///     let (rows, width) = batch.shape();
///     assert!(rows * width <= 4_096 && batch.lengths.iter().all(|&length| length as usize <= width));
/// }
/// assert_eq!(batcher.iter().len() as u64, batcher.num_steps());
/// assert!(batcher.metrics().padding_ratio() < 0.05);
/// # Ok::<(), samedeal::Error>(())
/// ```
pub struct Batcher {
    batcher: Object<Batching>,
    config: BatchConfig,
    rank: u32,
    metrics: Metrics,
}

impl Batcher {
    /// Batches of samples of these lengths, in tokens. [`budget`](BatchBuilder::budget), or what else the strategy needs,
    /// has to be set as well.
    pub fn builder(lengths: impl Into<Vec<u32>>) -> BatchBuilder<Self> {
        BatchBuilder::new(lengths.into(), "feistel")
    }

    pub(super) fn build(config: BatchConfig, rank: u32, memory_limit: usize) -> Result<Self, Error> {
        // What else is wrong is the component's to say, that there are no ranks too.
        if config.world > 0 && rank >= config.world {
            return Err(Failure::not_below("rank", rank, config.world.into()).into());
        }
        let config = config.crossing(memory_limit)?;
        let batcher = Object::new(memory_limit, |exports: &Batching, store| {
            exports.samedeal_deal_batches().batcher().call_constructor(store, &config)
        })?;
        let config = config.into();
        let metrics = ask_metrics(&batcher, &config)?;
        Ok(Self { batcher, config, rank, metrics })
    }

    /// All that decides the batches, with the current epoch, and with what the strategy takes where nothing was set.
    pub fn config(&self) -> &BatchConfig {
        &self.config
    }

    /// Which rank [`iter`](Self::iter), [`batches`](Self::batches) and [`batch`](Self::batch) answer for.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// How many batches every rank has.
    pub fn num_steps(&self) -> u64 {
        self.metrics.steps
    }

    /// What the batches of all ranks amount to.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Plans another epoch, of which nothing was taken; as costly as a new batcher. The epoch that it is at stays as it is, also
    /// where a part of it was taken. Errors: out of memory, and then the batches are those of the epoch before.
    pub fn set_epoch(&mut self, epoch: u64) -> Result<(), Error> {
        self.ask(|methods, store, batcher| methods.call_set_epoch(store, batcher, epoch))?;
        self.refresh()
    }

    /// The state once every rank has taken `taken` steps: a text for a checkpoint, of JSON in one line, the same on all ranks.
    /// [`resume`](Self::resume) goes on there, in any host and on any world. Errors: out of range (`taken` above
    /// [`num_steps`](Self::num_steps); `history`, where more than 64 worlds took a part), out of memory.
    pub fn state(&self, taken: u64) -> Result<String, Error> {
        self.ask(|methods, store, batcher| methods.call_state(store, batcher, taken))
    }

    /// Goes on where a state was taken: moves to its epoch, and plans what was not taken. Steps are counted from 0 again. On
    /// the world of the state, they are what that plan has left, batch for batch; on another one, what is left is planned anew.
    /// As costly as a new batcher, for each world that took a part. After a failure, nothing has changed. Errors:
    /// [`WrongType`](crate::FailureKind::WrongType) (`state`: no state of a batcher of this version),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`order`, `samples`, `seed`, `strategy`, or for anything else
    /// `config`: not those of the state), out of range (`state`: more than 2^14 bytes; `history`), out of memory.
    pub fn resume(&mut self, state: &str) -> Result<(), Error> {
        let state = checked_state(state)?;
        self.ask(|methods, store, batcher| methods.call_resume(store, batcher, state))?;
        self.refresh()
    }

    /// The inverse: where a sample is, in the order of steps. Once, or as often as it has parts or is repeated; never where it
    /// is left out, or was taken before. Costs planning its windows. Errors: out of range (`sample`), out of memory.
    pub fn locate(&self, sample: u64) -> Result<Vec<BatchPlace>, Error> {
        let places = self.ask(|methods, store, batcher| methods.call_locate(store, batcher, sample))?;
        Ok(places.into_iter().map(Into::into).collect())
    }

    /// What the component says of the plan as it stands.
    fn refresh(&mut self) -> Result<(), Error> {
        let (epoch, history) = self.batcher.call(|exports, store, batcher| {
            let batchers = exports.samedeal_deal_batches().batcher();
            Ok((batchers.call_epoch(&mut *store, batcher)?, batchers.call_history(store, batcher)?))
        })?;
        self.config.epoch = epoch;
        self.config.history = history.into_iter().map(Into::into).collect();
        self.metrics = ask_metrics(&self.batcher, &self.config)?;
        Ok(())
    }

    /// The batch of this rank at a step: any at once, at the price of planning a window. Errors: out of range (`step` at or
    /// above [`num_steps`](Self::num_steps)), out of memory.
    pub fn batch(&self, step: u64) -> Result<Batch, Error> {
        self.batch_of(self.rank, step)
    }

    /// The batch of any rank at a step. Errors: out of range (`step`, `rank`), out of memory.
    pub fn batch_of(&self, rank: u32, step: u64) -> Result<Batch, Error> {
        if step >= self.num_steps() {
            return Err(Failure::not_below("step", step, self.num_steps()).into());
        }
        self.batches_window(rank, step, 1).map(|mut batches| batches.remove(0))
    }

    /// Iterates over this rank's batches of the epoch.
    pub fn iter(&self) -> RankBatches<'_> {
        RankBatches::new(self, self.rank, (0, self.num_steps()))
    }

    /// Iterates over this rank's batches of a range of steps, such as `100..`. Errors: out of range (`start`, `count` where
    /// the range ends after the epoch).
    pub fn batches(&self, steps: impl RangeBounds<u64>) -> Result<RankBatches<'_>, Error> {
        self.batches_of(self.rank, steps)
    }

    /// The same for any rank. Errors: out of range (`rank`, `start`, `count`).
    pub fn batches_of(&self, rank: u32, steps: impl RangeBounds<u64>) -> Result<RankBatches<'_>, Error> {
        // The component says what is wrong with the rank.
        self.batches_window(rank, 0, 0)?;
        Ok(RankBatches::new(self, rank, run(steps, self.num_steps())?))
    }

    /// The batches of a rank at the steps number `start` to `start + count - 1`, in one call of the component.
    /// Errors: out of range (`rank`, `start`, `count` above 2^20 or past the end), out of memory.
    pub fn batches_window(&self, rank: u32, start: u64, count: u32) -> Result<Vec<Batch>, Error> {
        self.ask(|methods, store, batcher| methods.call_take(store, batcher, rank, start, count)).map(Batch::all_of)
    }

    /// SHA-256 over all batches of all ranks, as 64 lower-case hexadecimal digits: equal on all ranks that plan alike.
    /// Errors: out of memory.
    pub fn fingerprint(&self) -> Result<String, Error> {
        self.ask(|methods, store, batcher| methods.call_fingerprint(store, batcher))
    }

    fn ask<T>(
        &self,
        call: impl FnOnce(
            &batches::GuestBatcher<'_>,
            &mut Store,
            ResourceAny,
        ) -> wasmtime::Result<Result<T, batching_types::Failure>>,
    ) -> Result<T, Error> {
        self.batcher.ask(|exports, store, batcher| call(&exports.samedeal_deal_batches().batcher(), store, batcher))
    }
}

fn ask_metrics(batcher: &Object<Batching>, config: &BatchConfig) -> Result<Metrics, Error> {
    let found = batcher
        .call(|exports, store, batcher| exports.samedeal_deal_batches().batcher().call_metrics(store, batcher))?;
    let ratio = |name: &str| {
        batcher
            .ask(|exports, store, batcher| exports.samedeal_deal_batches().batcher().call_ratio(store, batcher, name))
    };
    Metrics::of(found, config, ratio)
}

impl<'a> IntoIterator for &'a Batcher {
    type Item = Result<Batch, Error>;
    type IntoIter = RankBatches<'a>;

    fn into_iter(self) -> RankBatches<'a> {
        self.iter()
    }
}

impl fmt::Debug for Batcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the lengths, of which there may be millions.
        let BatchConfig { lengths, seed, epoch, order, world, strategy, .. } = &self.config;
        let mut shown = f.debug_struct("Batcher");
        shown.field("samples", &lengths.len()).field("rank", &self.rank).field("world", world);
        shown.field("strategy", strategy).field("order", order).field("seed", seed).field("epoch", epoch);
        shown.field("steps", &self.num_steps()).finish_non_exhaustive()
    }
}
