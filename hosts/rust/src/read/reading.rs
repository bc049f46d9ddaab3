use std::ops::RangeBounds;

use wasmtime::component::ResourceAny;

use super::{MixingAdvice, ReadBatch, ReadRound, RoundRows, Rounds, WINDOW};
use crate::engine::{Object, Samedeal, Store, checked_state, read, types};
use crate::range::{read as in_windows, run};
use crate::{Error, ReadingBuilder, Steps};

/// One epoch of a dataset in shards, or the rest of one, dealt to the loader workers of all ranks.
///
/// A *reader* is one loader worker of one rank. A *step* is one batch on every rank. The loader of a rank takes one
/// batch from each of its workers in turn. A reading never changes: [`at_epoch`](Self::at_epoch) and
/// [`resume`](Self::resume) return a new one. Threads may share a reading; their calls run one after the other, also
/// with the readings that were made from it.
///
/// ```
/// use samedeal::{Deal, Reading};
///
/// // Two shards to two workers of one rank, in batches of 16.
/// let reading = Reading::builder([40, 100]).seed(42).workers(2).batch_size(16).build()?;
/// assert_eq!((reading.num_samples(0, 0)?, reading.num_steps(0)?), (70, 10));
///
/// // The training stops after 3 steps, in the middle of a turn: worker 0 gave two batches, worker 1 one. Any group
/// // goes on.
/// let state = reading.state(3)?;
/// let one = Reading::builder([40, 100]).seed(42).workers(1).batch_size(16).build()?.resume(&state)?;
/// assert!(one.is_rest()?);
/// assert_eq!(one.num_samples(0, 0)?, 140 - 3 * 16);
///
/// // Together, every sample once.
/// let mut seen = reading.indices(0, 0, ..32)?;
/// seen.extend(reading.indices(0, 1, ..16)?);
/// seen.extend(one.indices(0, 0, ..)?);
/// seen.sort_unstable();
/// assert!(seen.into_iter().eq(0..140));
///
/// // Whole shards: each belongs to one reader.
/// let shards = Reading::builder([40, 100]).deal(Deal::Shards).workers(2).batch_size(16).build()?;
/// assert_eq!((shards.shards(0, 0)?.len(), shards.shards(0, 1)?.len()), (1, 1));
/// # Ok::<(), samedeal::Error>(())
/// ```
pub struct Reading {
    reading: Object,
}

impl Reading {
    /// A reading of a dataset in shards. `sizes` has the number of samples in each shard: at most 2^32 - 2 shards, and
    /// 2^53 - 1 samples in all of them together. Sample index 0 is the first sample of the first shard; indices go on
    /// through the shards in this order. By default, there is one reader.
    pub fn builder(sizes: impl Into<Vec<u64>>) -> ReadingBuilder {
        ReadingBuilder::new(None).sizes(sizes)
    }

    /// The reading of a recipe, which decides everything but the epoch. An option that is set afterwards replaces that of the recipe,
    /// such as `world_size`. A recipe has only hashes of lists of more than 256 numbers: set these lists too, such as
    /// [`sizes`](ReadingBuilder::sizes). SPEC.md, section 14, has the grammar.
    ///
    /// ```
    /// use samedeal::Reading;
    /// let recipe = r#"{"order": {"seed": 42, "sizes": [40, 100]}, "deal": {"workers": 2}, "batch": {"batch_size": 16}}"#;
    /// let reading = Reading::from_recipe(recipe).build()?;
    /// let same = Reading::builder([40, 100]).seed(42).workers(2).batch_size(16).build()?;
    /// assert_eq!((reading.recipe()?, reading.recipe_fingerprint()?), (same.recipe()?, same.recipe_fingerprint()?));
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn from_recipe(recipe: impl Into<String>) -> ReadingBuilder {
        ReadingBuilder::new(Some(recipe.into()))
    }

    pub(super) fn new(reading: Object) -> Self {
        Self { reading }
    }

    /// The whole epoch `epoch`, for the same readers.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn at_epoch(&self, epoch: u64) -> Result<Self, Error> {
        let make = |exports: &Samedeal, store: &mut Store, reading| {
            exports.samedeal_deal_read().reading().call_at_epoch(store, reading, epoch)
        };
        Ok(Self { reading: self.reading.another(make)? })
    }

    /// The rest of the epoch of a state, for the readers of this reading. If they are the readers of the last segment of the state (the
    /// same numbers of ranks and workers, and the same batch size), every reader continues where it stopped. For other readers, the samples
    /// that are left are dealt again.
    ///
    /// # Errors
    ///
    /// [`WrongType`](crate::FailureKind::WrongType) (`state`: it is no state of a reading), [`OutOfRange`](crate::FailureKind::OutOfRange)
    /// (`state`: more than 2^24 bytes; `consumed`, `history`, `steps`, `world-size`, `workers`, `batch-size`),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`recipe`: the state has the other one of the sections `order` and `shards`; or
    /// the first member that differs from the state), out of memory.
    pub fn resume(&self, state: &str) -> Result<Self, Error> {
        let state = checked_state(state, self.reading.room())?;
        let make = |exports: &Samedeal, store: &mut Store, reading| {
            exports.samedeal_deal_read().reading().call_resume(store, reading, state)
        };
        Ok(Self { reading: self.reading.another(make)? })
    }

    /// The state after `steps` steps of every rank (or all that it has): JSON in one line, the same on all ranks. Every language resumes
    /// it.
    ///
    /// # Errors
    ///
    /// Out of range (`steps`: more than the largest number of steps of a rank).
    pub fn state(&self, steps: u64) -> Result<String, Error> {
        self.ask(|methods, store, reading| methods.call_state(store, reading, steps))
    }

    /// The recipe of this reading: JSON in one line, with every member that is used, the defaults too. It is the same in all epochs and in
    /// every host. Lists of more than 256 numbers are a hash. [`from_recipe`](Self::from_recipe) makes the reading again.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn recipe(&self) -> Result<String, Error> {
        self.call(|methods, store, reading| methods.call_recipe(store, reading))
    }

    /// SHA-256 over the recipe, in hexadecimal.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn recipe_fingerprint(&self) -> Result<String, Error> {
        self.call(|methods, store, reading| methods.call_recipe_fingerprint(store, reading))
    }

    /// Seed of all shuffles.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn seed(&self) -> Result<i64, Error> {
        self.call(|methods, store, reading| methods.call_seed(store, reading))
    }

    /// Number of ranks.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn world_size(&self) -> Result<u32, Error> {
        self.call(|methods, store, reading| methods.call_world_size(store, reading))
    }

    /// Number of loader workers of each rank.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn workers(&self) -> Result<u32, Error> {
        self.call(|methods, store, reading| methods.call_workers(store, reading))
    }

    /// Number of samples in a batch.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn batch_size(&self) -> Result<u32, Error> {
        self.call(|methods, store, reading| methods.call_batch_size(store, reading))
    }

    /// Number of samples in each shard.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn sizes(&self) -> Result<Vec<u64>, Error> {
        self.ask(|methods, store, reading| methods.call_sizes(store, reading))
    }

    /// How many readers decode each row. It is above 1 only if samples are dealt and the number of readers does not divide the lanes.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn reads_per_row(&self) -> Result<u32, Error> {
        self.call(|methods, store, reading| methods.call_reads_per_row(store, reading))
    }

    /// The number of lanes, nearest to the present one, with which only one reader decodes each row. None if there is no such number up to
    /// 4,096, if the order has no lanes, or if this is the rest of an epoch, in which the number of lanes cannot change.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn lanes_read_once(&self) -> Result<Option<u32>, Error> {
        self.call(|methods, store, reading| methods.call_lanes_read_once(store, reading))
    }

    /// The number of lanes and the shuffle window to use instead, if batch size / lanes of a reader is above 2. None if it is not, if no
    /// number of lanes up to 4,096 is better, if a reader has at most one batch of samples, if the order has no lanes, or if this is the
    /// rest of an epoch.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn mixing_advice(&self) -> Result<Option<MixingAdvice>, Error> {
        let found = self.call(|methods, store, reading| methods.call_mixing_advice(store, reading))?;
        Ok(found.map(Into::into))
    }

    /// Number of the epoch.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn epoch(&self) -> Result<u64, Error> {
        self.call(|methods, store, reading| methods.call_epoch(store, reading))
    }

    /// Whether this is the rest of an epoch.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn is_rest(&self) -> Result<bool, Error> {
        self.call(|methods, store, reading| methods.call_is_rest(store, reading))
    }

    /// Number of steps of a rank: the batches of all its workers.
    ///
    /// # Errors
    ///
    /// Out of range (`rank`).
    pub fn num_steps(&self, rank: u32) -> Result<u64, Error> {
        self.ask(|methods, store, reading| methods.call_num_steps(store, reading, rank))
    }

    /// The smallest and the largest number of steps of a rank. If they differ, ranks that wait for each other in each step hang at the end.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn steps(&self) -> Result<Steps, Error> {
        let read::StepBounds { least, most } =
            self.ask(|methods, store, reading| methods.call_steps(store, reading))?;
        Ok(Steps { least, most })
    }

    /// Number of readers that have no batch.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn num_idle_readers(&self) -> Result<u64, Error> {
        self.ask(|methods, store, reading| methods.call_num_idle_readers(store, reading))
    }

    /// Number of samples of a reader, padding included.
    ///
    /// # Errors
    ///
    /// Out of range (`rank`, `worker`).
    pub fn num_samples(&self, rank: u32, worker: u32) -> Result<u64, Error> {
        self.ask(|methods, store, reading| methods.call_num_samples(store, reading, rank, worker))
    }

    /// How many samples of a reader are padding. They are the last ones.
    ///
    /// # Errors
    ///
    /// Out of range (`rank`, `worker`).
    pub fn num_padding(&self, rank: u32, worker: u32) -> Result<u64, Error> {
        self.ask(|methods, store, reading| methods.call_num_padding(store, reading, rank, worker))
    }

    /// Number of batches of a reader.
    ///
    /// # Errors
    ///
    /// Out of range (`rank`, `worker`).
    pub fn num_batches(&self, rank: u32, worker: u32) -> Result<u64, Error> {
        self.ask(|methods, store, reading| methods.call_num_batches(store, reading, rank, worker))
    }

    /// A batch of a reader: its samples, and the step of the rank at which the loader takes it.
    ///
    /// ```
    /// let reading = samedeal::Reading::builder([40, 100]).workers(2).batch_size(16).build()?;
    /// let batch = reading.batch(0, 1, 4)?;
    /// assert_eq!((batch.start, batch.count, batch.step), (64, 6, 9));
    /// assert_eq!(reading.batch_at(0, 9)?, batch);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Out of range (`rank`, `worker`, `number`).
    pub fn batch(&self, rank: u32, worker: u32, number: u64) -> Result<ReadBatch, Error> {
        let found = self.ask(|methods, store, reading| methods.call_batch(store, reading, rank, worker, number))?;
        Ok(found.into())
    }

    /// The batch that the loader of a rank takes at a step.
    ///
    /// # Errors
    ///
    /// Out of range (`rank`, `step`).
    pub fn batch_at(&self, rank: u32, step: u64) -> Result<ReadBatch, Error> {
        let found = self.ask(|methods, store, reading| methods.call_batch_at(store, reading, rank, step))?;
        Ok(found.into())
    }

    /// The samples of a reader in a range of any length, in order. `..` means all.
    ///
    /// # Errors
    ///
    /// Out of range (`rank`, `worker`, `start`, `count` where the range ends after the last sample), out of memory.
    pub fn indices(&self, rank: u32, worker: u32, range: impl RangeBounds<u64>) -> Result<Vec<u64>, Error> {
        let all = run(range, self.num_samples(rank, worker)?)?;
        in_windows(all, WINDOW, |start, count| self.indices_window(rank, worker, start, count))
    }

    /// A reader's samples number `start` to `start + count - 1`, in one call of the component.
    ///
    /// # Errors
    ///
    /// Out of range (`rank`, `worker`, `start`, `count` above 2^20 or past the end).
    pub fn indices_window(&self, rank: u32, worker: u32, start: u64, count: u32) -> Result<Vec<u64>, Error> {
        self.ask(|methods, store, reading| methods.call_indices(store, reading, rank, worker, start, count))
    }

    /// Number of rounds of a reader.
    ///
    /// # Errors
    ///
    /// Out of range (`rank`, `worker`).
    pub fn num_rounds(&self, rank: u32, worker: u32) -> Result<u64, Error> {
        self.ask(|methods, store, reading| methods.call_num_rounds(store, reading, rank, worker))
    }

    /// Round number `number` of a reader: one window of each lane of the reader, or one shard.
    ///
    /// # Errors
    ///
    /// Out of range (`rank`, `worker`, `number`; `shuffle-window`: the round would have more than 2^20 spans).
    pub fn round(&self, rank: u32, worker: u32, number: u64) -> Result<ReadRound, Error> {
        let found = self.ask(|methods, store, reading| methods.call_round(store, reading, rank, worker, number))?;
        Ok(found.into())
    }

    /// The rows that hold samples number `start` to `start + count - 1` of a round. The samples of each round are counted from 0.
    ///
    /// # Errors
    ///
    /// As [`round`](Self::round); out of range (`start`, `count` above 2^20 or past the end of the round).
    pub fn round_rows(&self, rank: u32, worker: u32, number: u64, start: u64, count: u32) -> Result<RoundRows, Error> {
        let found = self.ask(|methods, store, reading| {
            methods.call_round_rows(store, reading, rank, worker, number, start, count)
        })?;
        Ok(found.into())
    }

    /// Number of the round of the reader's sample number `index`.
    ///
    /// # Errors
    ///
    /// Out of range (`rank`, `worker`, `index`).
    pub fn round_of(&self, rank: u32, worker: u32, index: u64) -> Result<u64, Error> {
        self.ask(|methods, store, reading| methods.call_round_of(store, reading, rank, worker, index))
    }

    /// Iterates over the rounds of a reader, from the first one on; `skip` takes no time.
    ///
    /// ```
    /// let reading = samedeal::Reading::builder([300, 0, 500]).lanes(4).shuffle_window(16).batch_size(8).build()?;
    /// let mut seen = 0;
    /// for round in reading.rounds(0, 0)? {
    ///     let round = round?;
    ///     // Read these rows, then hand out the samples.
    ///     let rows: u64 = round.spans.iter().map(|span| span.num_rows).sum();
    ///     let samples = reading.indices(0, 0, round.start..round.start + round.count)?;
    ///     assert_eq!(samples.len() as u64, rows);
    ///     seen += samples.len();
    /// }
    /// assert_eq!(seen, 800);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Out of range (`rank`, `worker`).
    pub fn rounds(&self, rank: u32, worker: u32) -> Result<Rounds<'_>, Error> {
        Ok(Rounds::new(self, (rank, worker), self.num_rounds(rank, worker)?))
    }

    /// The shards of a reader, in the order in which it reads them. In the rest of an epoch, shards that were read completely are left out;
    /// empty shards are included.
    ///
    /// # Errors
    ///
    /// Out of range (`rank`, `worker`), [`Contradiction`](crate::FailureKind::Contradiction) (`shards`: samples are dealt).
    pub fn shards(&self, rank: u32, worker: u32) -> Result<Vec<u32>, Error> {
        self.ask(|methods, store, reading| methods.call_shards(store, reading, rank, worker))
    }

    fn call<T>(
        &self,
        call: impl FnOnce(&read::GuestReading<'_>, &mut Store, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        self.reading.call(|exports, store, reading| call(&exports.samedeal_deal_read().reading(), store, reading))
    }

    fn ask<T>(
        &self,
        call: impl FnOnce(&read::GuestReading<'_>, &mut Store, ResourceAny) -> wasmtime::Result<Result<T, types::Failure>>,
    ) -> Result<T, Error> {
        self.reading.ask(|exports, store, reading| call(&exports.samedeal_deal_read().reading(), store, reading))
    }
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Reading");
        if let (Ok(epoch), Ok(rest), Ok(steps)) = (self.epoch(), self.is_rest(), self.steps()) {
            shown.field("epoch", &epoch).field("is_rest", &rest).field("steps", &steps);
        }
        shown.finish_non_exhaustive()
    }
}
