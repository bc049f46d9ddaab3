use std::ops::RangeBounds;

use super::{Rounds, WINDOW};
use crate::engine::{Object, readings};
use crate::generated::ReadingValues;
use crate::range::{self, read as in_windows, run};
use crate::{Error, ReadBatch, ReadingBuilder};

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
/// assert!(one.is_rest());
/// assert_eq!(one.num_samples(0, 0)?, 140 - 3 * 16);
///
/// // Together, every sample once.
/// let mut seen = reading.indices(0, 0, ..32)?;
/// seen.extend(reading.indices(0, 1, ..16)?);
/// seen.extend(one.indices(0, 0, ..)?);
/// seen.sort_unstable();
/// assert!(seen.into_iter().eq(0..140));
///
/// // Batch 4 of worker 1 is the last one of the rank's ten, and has what is left.
/// let batch = reading.batch(0, 1, 4)?;
/// assert_eq!((batch.start, batch.count, batch.step), (64, 6, 9));
/// assert_eq!(reading.batch_at(0, 9)?, batch);
///
/// // Whole shards: each belongs to one reader.
/// let shards = Reading::builder([40, 100]).deal(Deal::Shards).workers(2).batch_size(16).build()?;
/// assert_eq!((shards.shards(0, 0)?.len(), shards.shards(0, 1)?.len()), (1, 1));
/// # Ok::<(), samedeal::Error>(())
/// ```
pub struct Reading {
    pub(crate) object: Object<readings::Reading>,
    pub(crate) values: ReadingValues,
}

impl Reading {
    /// A reading of a dataset in shards. `sizes` has the number of samples in each shard: at most 2^32 - 2 shards, and
    /// 2^53 - 1 samples in all of them together. Sample index 0 is the first sample of the first shard; indices go on
    /// through the shards in this order. By default, there is one reader.
    pub fn builder(sizes: impl Into<Vec<u64>>) -> ReadingBuilder {
        ReadingBuilder::new(None).sizes(sizes)
    }

    /// The reading of a recipe, which decides everything but the epoch. An option that is set afterwards, such as
    /// `world_size`, replaces the option of the recipe. A recipe has only hashes of lists of more than 256 numbers: set
    /// these lists too, such as [`sizes`](ReadingBuilder::sizes). SPEC.md, section 14, has the grammar.
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

    pub(super) fn of(object: Object<readings::Reading>) -> Result<Self, Error> {
        Ok(Self { values: ReadingValues::ask(&object)?, object })
    }

    pub(crate) fn another(&self, object: Object<readings::Reading>) -> Result<Self, Error> {
        Self::of(object)
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

    /// The batches that the loaders of a range of ranks take at a step, one for each rank; `..` stands for all ranks. A
    /// rank that has fewer steps has `None`. Costs O(workers) for each rank.
    ///
    /// # Errors
    ///
    /// Out of range (`step`: not below the largest number of steps of a rank; `first`, `count`: there are no such ranks,
    /// or they are more than 2^20), out of memory.
    pub fn step(&self, step: u64, ranks: impl RangeBounds<u32>) -> Result<Vec<Option<ReadBatch>>, Error> {
        let (first, count) = range::ranks(ranks, self.world_size())?;
        self.raw_step(step, first, count)
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
}
