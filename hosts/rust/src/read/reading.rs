use std::ops::RangeBounds;

use wasmtime::component::ResourceAny;

use super::{MixingAdvice, ReadBatch, ReadRound, RoundRows, Rounds, WINDOW};
use crate::engine::{Object, Planning, Store, checked_state, planning_types, read};
use crate::range::{read as in_windows, run};
use crate::{Error, Failure, ReadingBuilder, Steps};

/// An epoch of a dataset in shards, or what is left of it, given to the loader workers of all ranks.
///
/// A reader is a worker of a rank. A *step* is one batch on every rank; a loader takes its batches from the workers of its rank
/// in turn. A reading never changes: [`at_epoch`](Self::at_epoch) and [`resume`](Self::resume) give another one. Threads may share
/// it; they take turns, as those of the readings that were made from it.
///
/// ```
/// use samedeal::{Deal, Reading};
///
/// // Two shards to two workers of one rank, in batches of 16.
/// let reading = Reading::builder([40, 100]).seed(42).workers(2).batch_size(16).build()?;
/// assert_eq!((reading.num_samples(0, 0)?, reading.num_steps(0)?), (70, 10));
///
/// // The training stops after 3 steps, in the middle of a turn: worker 0 gave two batches, worker 1 one. Any group goes on.
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
    reading: Object<Planning>,
}

impl Reading {
    /// A reading of shards of so many samples each: up to 2^32 - 2 shards, 2^53 - 1 samples together. For one reader, until
    /// the builder is told more. Sample indices count through the shards in this order.
    pub fn builder(sizes: impl Into<Vec<u64>>) -> ReadingBuilder {
        ReadingBuilder::new(sizes.into())
    }

    pub(super) fn new(reading: Object<Planning>) -> Self {
        Self { reading }
    }

    /// The whole of another epoch, for the same readers. Errors: the engine's alone.
    pub fn at_epoch(&self, epoch: u64) -> Result<Self, Error> {
        let make = |exports: &Planning, store: &mut Store, reading| {
            let found = exports.samedeal_deal_read().reading().call_at_epoch(store, reading, epoch)?;
            Ok(Ok::<_, Failure>(found))
        };
        Ok(Self { reading: self.reading.another(make)? })
    }

    /// What a state leaves of its epoch, for the readers of this reading: as many as took it, or others. If the group (ranks,
    /// workers, batch size) is that of the state's last segment, every reader goes on where it stood. For any other group, what
    /// is left is dealt anew. Errors: [`WrongType`](crate::FailureKind::WrongType) (`state`: it is no state of a reading),
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (`state`: more than 2^14 bytes; `consumed`, `history`, `steps`,
    /// `world-size`, `workers`, `batch-size`), [`Contradiction`](crate::FailureKind::Contradiction) (`deal`, `seed`, `sizes` or
    /// any other field of the recipe: not as in the state), out of memory.
    pub fn resume(&self, state: &str) -> Result<Self, Error> {
        let state = checked_state(state)?;
        let make = |exports: &Planning, store: &mut Store, reading| {
            exports.samedeal_deal_read().reading().call_resume(store, reading, state)
        };
        Ok(Self { reading: self.reading.another(make)? })
    }

    /// The state after every rank has taken `steps` steps, or all that it has: JSON in one line, the same on all ranks, which
    /// every language resumes. Errors: out of range (`steps` above the most steps of a rank; `history`: more than 64 groups took
    /// a part).
    pub fn state(&self, steps: u64) -> Result<String, Error> {
        self.ask(|methods, store, reading| methods.call_state(store, reading, steps))
    }

    /// What decides the order of every epoch, whoever reads it: JSON in one line, with every option that the deal uses, the
    /// defaults too, as states hold it. Errors: the engine's alone.
    pub fn recipe(&self) -> Result<String, Error> {
        self.reading.call(|exports, store, reading| exports.samedeal_deal_read().reading().call_recipe(store, reading))
    }

    /// How many readers decode each row: 1; or more, where samples are dealt to readers whose number does not divide the lanes.
    /// Errors: the engine's alone.
    pub fn reads_per_row(&self) -> Result<u32, Error> {
        self.reading
            .call(|exports, store, reading| exports.samedeal_deal_read().reading().call_reads_per_row(store, reading))
    }

    /// The number of lanes nearest to that of this reading with which one reader decodes each row. None where there is no such
    /// number up to 4,096, where the order has no lanes, and where a part of the epoch was read before: lanes cannot change within
    /// an epoch. Errors: the engine's alone.
    pub fn lanes_read_once(&self) -> Result<Option<u32>, Error> {
        self.reading
            .call(|exports, store, reading| exports.samedeal_deal_read().reading().call_lanes_read_once(store, reading))
    }

    /// The lanes and the window to use instead, if the mean of a batch varies more than twice as much as by chance. None where it
    /// does not, where no number of lanes up to 4,096 is better, where a reader has no more samples than a batch, and where
    /// [`lanes_read_once`](Self::lanes_read_once) is none for the other reasons. Errors: the engine's alone.
    pub fn mixing_advice(&self) -> Result<Option<MixingAdvice>, Error> {
        let found = self.reading.call(|exports, store, reading| {
            exports.samedeal_deal_read().reading().call_mixing_advice(store, reading)
        })?;
        Ok(found.map(Into::into))
    }

    /// The number of the epoch. Errors: the engine's alone.
    pub fn epoch(&self) -> Result<u64, Error> {
        self.reading.call(|exports, store, reading| exports.samedeal_deal_read().reading().call_epoch(store, reading))
    }

    /// Whether a part of the epoch was read before. Errors: the engine's alone.
    pub fn is_rest(&self) -> Result<bool, Error> {
        self.reading.call(|exports, store, reading| exports.samedeal_deal_read().reading().call_is_rest(store, reading))
    }

    /// How many steps a rank has: the batches of all its workers. Errors: out of range (`rank`).
    pub fn num_steps(&self, rank: u32) -> Result<u64, Error> {
        self.ask(|methods, store, reading| methods.call_num_steps(store, reading, rank))
    }

    /// The fewest and the most steps of a rank. If they differ, ranks that wait for one another at each step hang at the end.
    /// Errors: out of memory.
    pub fn steps(&self) -> Result<Steps, Error> {
        let read::StepBounds { least, most } =
            self.ask(|methods, store, reading| methods.call_steps(store, reading))?;
        Ok(Steps { least, most })
    }

    /// How many readers have no batch. Errors: out of memory.
    pub fn num_idle_readers(&self) -> Result<u64, Error> {
        self.ask(|methods, store, reading| methods.call_num_idle_readers(store, reading))
    }

    /// How many samples a reader has, padding included. Errors: out of range (`rank`, `worker`).
    pub fn num_samples(&self, rank: u32, worker: u32) -> Result<u64, Error> {
        self.ask(|methods, store, reading| methods.call_num_samples(store, reading, rank, worker))
    }

    /// How many of them, the last ones, are padding. Errors: out of range (`rank`, `worker`).
    pub fn num_padding(&self, rank: u32, worker: u32) -> Result<u64, Error> {
        self.ask(|methods, store, reading| methods.call_num_padding(store, reading, rank, worker))
    }

    /// How many batches a reader has. Errors: out of range (`rank`, `worker`).
    pub fn num_batches(&self, rank: u32, worker: u32) -> Result<u64, Error> {
        self.ask(|methods, store, reading| methods.call_num_batches(store, reading, rank, worker))
    }

    /// A batch of a reader: its samples, and the step of the rank at which the loader takes it. Errors: out of range (`rank`,
    /// `worker`, `number`).
    ///
    /// ```
    /// let reading = samedeal::Reading::builder([40, 100]).workers(2).batch_size(16).build()?;
    /// let batch = reading.batch(0, 1, 4)?;
    /// assert_eq!((batch.start, batch.count, batch.step), (64, 6, 9));
    /// assert_eq!(reading.batch_at(0, 9)?, batch);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn batch(&self, rank: u32, worker: u32, number: u64) -> Result<ReadBatch, Error> {
        let found = self.ask(|methods, store, reading| methods.call_batch(store, reading, rank, worker, number))?;
        Ok(found.into())
    }

    /// The batch that the loader of a rank takes at a step. Errors: out of range (`rank`, `step`).
    pub fn batch_at(&self, rank: u32, step: u64) -> Result<ReadBatch, Error> {
        let found = self.ask(|methods, store, reading| methods.call_batch_at(store, reading, rank, step))?;
        Ok(found.into())
    }

    /// A reader's samples in a range of any length, such as `..` for all of them, in order.
    /// Errors: out of range (`rank`, `worker`, `start`, `count` where the range ends after the last sample), out of memory.
    pub fn indices(&self, rank: u32, worker: u32, range: impl RangeBounds<u64>) -> Result<Vec<u64>, Error> {
        let all = run(range, self.num_samples(rank, worker)?)?;
        in_windows(all, WINDOW, |start, count| self.indices_window(rank, worker, start, count))
    }

    /// A reader's samples number `start` to `start + count - 1`, in one call of the component.
    /// Errors: out of range (`rank`, `worker`, `start`, `count` above 2^20 or past the end).
    pub fn indices_window(&self, rank: u32, worker: u32, start: u64, count: u32) -> Result<Vec<u64>, Error> {
        self.ask(|methods, store, reading| methods.call_indices(store, reading, rank, worker, start, count))
    }

    /// In how many rounds a reader reads. Errors: out of range (`rank`, `worker`).
    pub fn num_rounds(&self, rank: u32, worker: u32) -> Result<u64, Error> {
        self.ask(|methods, store, reading| methods.call_num_rounds(store, reading, rank, worker))
    }

    /// What comes together: a window of each lane of the reader, or a shard. Errors: out of range (`rank`, `worker`, `number`;
    /// `window` where the spans would be more than 2^20).
    pub fn round(&self, rank: u32, worker: u32, number: u64) -> Result<ReadRound, Error> {
        let found = self.ask(|methods, store, reading| methods.call_round(store, reading, rank, worker, number))?;
        Ok(found.into())
    }

    /// Which rows hold a round's samples number `start` to `start + count - 1`, counted from 0 in each round. Errors: as
    /// [`round`](Self::round); out of range (`start`, `count` above 2^20 or past the end of the round).
    pub fn round_rows(&self, rank: u32, worker: u32, number: u64, start: u64, count: u32) -> Result<RoundRows, Error> {
        let found = self.ask(|methods, store, reading| {
            methods.call_round_rows(store, reading, rank, worker, number, start, count)
        })?;
        Ok(found.into())
    }

    /// The number of the round that a sample is in, by its number among the reader's. Errors: out of range (`rank`, `worker`,
    /// `index`).
    pub fn round_of(&self, rank: u32, worker: u32, index: u64) -> Result<u64, Error> {
        self.ask(|methods, store, reading| methods.call_round_of(store, reading, rank, worker, index))
    }

    /// Iterates over the rounds of a reader, from the first one on; `skip` takes no time. Errors: out of range (`rank`,
    /// `worker`).
    ///
    /// ```
    /// let reading = samedeal::Reading::builder([300, 0, 500]).lanes(4).window(16).batch_size(8).build()?;
    /// let mut seen = 0;
    /// for round in reading.rounds(0, 0)? {
    ///     let round = round?;
    ///     // Read these rows, then hand out the samples.
    ///     let rows: u64 = round.spans.iter().map(|span| span.count).sum();
    ///     let samples = reading.indices(0, 0, round.start..round.start + round.count)?;
    ///     assert_eq!(samples.len() as u64, rows);
    ///     seen += samples.len();
    /// }
    /// assert_eq!(seen, 800);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn rounds(&self, rank: u32, worker: u32) -> Result<Rounds<'_>, Error> {
        Ok(Rounds::new(self, (rank, worker), self.num_rounds(rank, worker)?))
    }

    /// The shards that are a reader's alone, in the order in which it reads them: those with rows that are left, and those that
    /// never had any. Errors: out of range (`rank`, `worker`),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`deal`: samples are dealt).
    pub fn shards(&self, rank: u32, worker: u32) -> Result<Vec<u32>, Error> {
        self.ask(|methods, store, reading| methods.call_shards(store, reading, rank, worker))
    }

    fn ask<T>(
        &self,
        call: impl FnOnce(
            &read::GuestReading<'_>,
            &mut Store,
            ResourceAny,
        ) -> wasmtime::Result<Result<T, planning_types::Failure>>,
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
