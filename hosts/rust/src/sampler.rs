use std::ops::RangeBounds;
use std::sync::Arc;

use crate::engine::{Object, sampling};
use crate::generated::SamplerValues;
use crate::iter::Of;
use crate::members::Shared;
use crate::range::{self, read, run};
use crate::{BatchSize, Batches, Builder, Error, Failure, Index, Indices, Order};

/// The most ranks in one call of [`Sampler::step`]. The result has a list for each rank, so the limit bounds its
/// memory.
const MOST_RANKS: u32 = 1 << 25;

/// The samples of one rank in one epoch.
///
/// Only [`set_epoch`](Self::set_epoch), [`set_rank`](Self::set_rank) and [`resume`](Self::resume) change a sampler.
/// Threads may share a sampler; their calls run one after the other, also with the samplers that were made from it.
/// Because of the borrow checker, no iterator outlives its epoch. An order that needs a table builds the table at the
/// first call that needs an index.
pub struct Sampler {
    pub(crate) object: Object<sampling::Sampler>,
    pub(crate) values: SamplerValues,
    max_count: u32,
    /// The lists beside the recipe, which has only hashes of them. Empty with the order `sharded`.
    lists: Arc<[Shared]>,
}

impl Sampler {
    /// A sampler of `samples` samples for one reader, with the seed 0, in the default order `feistel`.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (`samples` above 2^53 - 1).
    pub fn new(samples: u64) -> Result<Self, Error> {
        Self::builder(samples).build()
    }

    /// A builder with all options, such as seed, rank and world size.
    pub fn builder(samples: u64) -> Builder {
        Builder::new(None).samples(samples)
    }

    /// A sampler of any order, such as a blend of several datasets: see [`Order`](crate::Order).
    ///
    /// ```
    /// use samedeal::{Order, Sampler};
    /// let without_four = Order::new("feistel", 1_000).seed(42).exclude([3, 77, 500, 501]);
    /// let sampler = Sampler::from_order(without_four).world_size(4).build()?;
    /// assert_eq!((sampler.epoch_length(), sampler.num_samples()), (996, 249));
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn from_order(order: Order) -> Builder {
        Builder::new(None).order(order)
    }

    /// The sampler of a recipe, which decides everything but the epoch and the rank. An option that is set afterwards,
    /// such as `world_size`, replaces the option of the recipe. A recipe has only a hash of a list of more than 256
    /// numbers: set this list too, such as the [`sizes`](Builder::sizes) of shards, or by its path with
    /// [`list`](Builder::list). SPEC.md, sections 14 and 15, has the grammar.
    ///
    /// ```
    /// use samedeal::Sampler;
    /// let recipe = r#"{"order": {"samples": 1000, "seed": 42}, "deal": {"world_size": 4}}"#;
    /// let sampler = Sampler::from_recipe(recipe).rank(3).build()?;
    /// assert_eq!(
    ///     sampler.recipe()?,
    ///     concat!(
    ///         r#"{"samedeal":1,"order":{"name":"feistel","samples":1000,"seed":42},"#,
    ///         r#""deal":{"world_size":4,"remainder":"pad","layout":"strided"}}"#,
    ///     )
    /// );
    ///
    /// // The recipe has a hash of these 300 indices.
    /// let odd: Vec<u64> = (0..300).map(|i| 2 * i + 1).collect();
    /// let recipe = Sampler::from_order(samedeal::Order::new("feistel", 1_000).subset(odd.clone())).build()?.recipe()?;
    /// assert_eq!(Sampler::from_recipe(&recipe).list("indices", odd).build()?.recipe()?, recipe);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn from_recipe(recipe: impl Into<String>) -> Builder {
        Builder::new(Some(recipe.into()))
    }

    /// A builder with the options, epoch, rank and consumed positions of this sampler, for another sampler that differs
    /// in some of them. The memory limit is 2 GiB again.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn to_builder(&self) -> Result<Builder, Error> {
        let builder = Self::from_recipe(self.recipe()?).epoch(self.epoch()).rank(self.rank()).consumed(self.consumed());
        let builder = builder.share_lists(self.lists.to_vec());
        Ok(self.sizes()?.into_iter().fold(builder, Builder::sizes))
    }

    pub(crate) fn of(object: Object<sampling::Sampler>, lists: Arc<[Shared]>) -> Result<Self, Error> {
        let values = SamplerValues::ask(&object)?;
        let max_count = object.beside(sampling::max_count)?;
        // With the order `sharded`, the list of sizes is not stored here: the component returns it on request.
        let lists = if values.lanes.is_some() { Arc::default() } else { lists };
        Ok(Self { object, values, max_count, lists })
    }

    pub(crate) fn another(&self, object: Object<sampling::Sampler>) -> Result<Self, Error> {
        Self::of(object, Arc::clone(&self.lists))
    }

    /// Moves to the beginning of another epoch, in O(1) if the order is not composed. If the epoch is the current one,
    /// nothing changes, even if a part of it was consumed.
    ///
    /// # Errors
    ///
    /// The errors of [`at_epoch`](Self::at_epoch); then nothing has changed.
    pub fn set_epoch(&mut self, epoch: u64) -> Result<(), Error> {
        if epoch != self.epoch() {
            *self = self.at_epoch(epoch)?;
        }
        Ok(())
    }

    /// Moves to another rank of the same deal, in O(1) if the order is not composed. A table that was built is kept.
    ///
    /// # Errors
    ///
    /// Out of range (`rank`), out of memory; then nothing has changed.
    pub fn set_rank(&mut self, rank: u32) -> Result<(), Error> {
        *self = self.at_rank(rank)?;
        Ok(())
    }

    /// Continues from a state, in O(1), with `sharded` in O(shards): moves to its epoch, and deals the positions that
    /// were not consumed to the ranks of this sampler. The order may have been extended since the state was taken, by
    /// stages and sources of a blend, growth of a dataset or ranges to skip, if these begin at the state's position or
    /// later. After an error, nothing has changed.
    ///
    /// # Errors
    ///
    /// [`WrongType`](crate::FailureKind::WrongType) (`state`: no state of a sampler of this version),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (the first member of the order that differs from the
    /// state), out of range (`state`: more than 2^24 bytes; `consumed`: above [`epoch_length`](Self::epoch_length), or
    /// neither that nor a multiple of `unit`; `samples`: more than 2^53 - 1 positions, padding included), out of
    /// memory.
    pub fn resume(&mut self, state: &str) -> Result<(), Error> {
        *self = self.raw_resume(state)?;
        Ok(())
    }

    /// The most indices that one call of [`window`](Self::window) or [`batch`](Self::batch) returns: 2^20.
    pub fn max_count(&self) -> u32 {
        self.max_count
    }

    /// This rank's samples number `start` to `start + count - 1`, in order, in one call of the component.
    ///
    /// # Errors
    ///
    /// Out of range (`start` above [`num_samples`](Self::num_samples); `count` above [`max_count`](Self::max_count) or past the end;
    /// `samples` above 2^32 when read as `u32`), out of memory.
    pub fn window<I: Index>(&self, start: u64, count: u32) -> Result<Vec<I>, Error> {
        I::indices(self, start, count)
    }

    /// The samples of this rank in a range of any length. `..` means all.
    ///
    /// # Errors
    ///
    /// Out of range (`start`, `count` where the range ends after [`num_samples`](Self::num_samples), `samples` above 2^32 when read as
    /// `u32`), out of memory.
    pub fn indices<I: Index>(&self, range: impl RangeBounds<u64>) -> Result<Vec<I>, Error> {
        let run = run(range, self.num_samples())?;
        read(run, self.max_count, |start, count| self.window(start, count))
    }

    /// Iterates over all samples of this rank. The iterator has at most 2^16 samples in memory at each of its two ends.
    pub fn iter(&self) -> Indices<'_> {
        Indices::new(Of::Borrowed(self))
    }

    /// How many batches this rank gets.
    ///
    /// # Errors
    ///
    /// Out of range (`batch_size` is 0).
    pub fn num_batches(&self, size: impl Into<BatchSize>) -> Result<u64, Error> {
        let BatchSize { samples, drop_last } = size.into();
        self.raw_num_batches(samples, drop_last)
    }

    /// Batch number `batch` of this rank.
    ///
    /// # Errors
    ///
    /// Out of range (`batch_size` is 0; `batch_size` if the batch would hold more than [`max_count`](Self::max_count)
    /// samples; `batch` at or above [`num_batches`](Self::num_batches); `samples` above 2^32 when read as `u32`), out
    /// of memory.
    pub fn batch<I: Index>(&self, batch: u64, size: impl Into<BatchSize>) -> Result<Vec<I>, Error> {
        I::batch(self, batch, size.into())
    }

    /// Iterates over the batches of this rank.
    ///
    /// # Errors
    ///
    /// Out of range (`batch_size` is 0; `batch_size` if a batch would hold more than [`max_count`](Self::max_count)
    /// samples).
    pub fn batches(&self, size: impl Into<BatchSize>) -> Result<Batches<'_>, Error> {
        let size = size.into();
        Ok(Batches::new(self.iter(), self.checked_batches(size)?, size.samples))
    }

    /// Iterates over the batches of this rank, and owns the sampler, so that the iterator can move to a stream or
    /// another thread.
    ///
    /// # Errors
    ///
    /// The errors of [`batches`](Self::batches).
    pub fn into_batches(self, size: impl Into<BatchSize>) -> Result<Batches<'static>, Error> {
        let size = size.into();
        let batches = self.checked_batches(size)?;
        Ok(Batches::new(self.into_iter(), batches, size.samples))
    }

    /// The number of batches, or an error if a batch is longer than [`max_count`](Self::max_count).
    fn checked_batches(&self, size: BatchSize) -> Result<u64, Error> {
        let batches = self.num_batches(size)?;
        let longest = self.num_samples().min(size.samples.into());
        if batches > 0 && longest > self.max_count().into() {
            // No batch is longer than the first one. If batch 0 is too long, the component refuses it with the right
            // failure.
            self.batch::<u64>(0, size)?;
        }
        Ok(batches)
    }

    /// The samples of each of these ranks at a step: batch number `step` of the rank. If other ranks have this batch but
    /// a rank does not, its list is empty.
    ///
    /// # Errors
    ///
    /// Out of range (`batch_size` is 0; `step` at or above the most batches of a rank; `first`, `count`: there are no
    /// such ranks), out of memory (also `count`: more than 2^25 ranks).
    pub fn step(
        &self,
        step: u64,
        size: impl Into<BatchSize>,
        ranks: impl RangeBounds<u32>,
    ) -> Result<Vec<Vec<u64>>, Error> {
        let BatchSize { samples: batch_size, drop_last } = size.into();
        let (first, asked) = range::ranks(ranks, self.world_size())?;
        if u64::from(first) + u64::from(asked) > self.world_size().into() {
            // The component refuses ranks that do not exist, with the right failure.
            self.raw_step(step, batch_size, drop_last, first, asked)?;
        }
        let (mut first, end) = (first, first.saturating_add(asked));
        if asked > MOST_RANKS {
            // A call for 0 ranks, so that the component reports the failures of other arguments first.
            self.raw_step(step, batch_size, drop_last, first, 0)?;
            let allowed = format!("up to {MOST_RANKS} ranks at once");
            return Err(Failure::out_of_memory("count", asked, allowed).into());
        }
        let window = (self.max_count / batch_size.max(1)).max(1);
        let mut found = Vec::new();
        loop {
            let count = (end - first).min(window);
            let sampling::RankBatches { samples, counts } = self.raw_step(step, batch_size, drop_last, first, count)?;
            let mut samples = samples.as_slice();
            for count in counts {
                let own;
                (own, samples) = samples.split_at(count as usize);
                found.push(own.to_vec());
            }
            first += count;
            if first >= end {
                return Ok(found);
            }
        }
    }
}

impl<'a> IntoIterator for &'a Sampler {
    type Item = Result<u64, Error>;
    type IntoIter = Indices<'a>;

    fn into_iter(self) -> Indices<'a> {
        self.iter()
    }
}

impl IntoIterator for Sampler {
    type Item = Result<u64, Error>;
    type IntoIter = Indices<'static>;

    fn into_iter(self) -> Indices<'static> {
        Indices::new(Of::Owned(Box::new(self)))
    }
}

#[cfg(all(test, feature = "component"))]
mod tests {
    use super::*;

    #[test]
    fn after_an_engine_error_every_call_is_refused() {
        let sampler = Sampler::new(10).unwrap();
        let broken: Result<(), Error> = sampler.object.call(|_, _, _| Err(wasmtime::Error::msg("a trap")));
        assert!(matches!(broken, Err(Error::Engine(error)) if error.to_string().contains("a trap")));
        let refused = sampler.window::<u64>(0, 1).unwrap_err();
        assert!(refused.failure().is_none());
        assert!(refused.to_string().contains("refused") && refused.to_string().contains("build a new one"));
        assert_eq!(sampler.num_samples(), 10);
    }
}
