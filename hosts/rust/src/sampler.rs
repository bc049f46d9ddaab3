use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use wasmtime::component::ResourceAny;

use crate::engine::{Object, Samedeal, Store, checked_state, sampling, types};
use crate::iter::Of;
use crate::range::{bounds, read, run};
use crate::recipe::Shared;
use crate::{Batches, Builder, Error, Failure, Fate, Index, Indices, Layout, Order, Place, Remainder};

/// So many ranks can be asked at once: each of them has a list.
const MOST_RANKS: u64 = 1 << 25;

/// The samples of one rank in one epoch.
///
/// All methods except [`set_epoch`](Self::set_epoch), [`set_rank`](Self::set_rank) and [`resume`](Self::resume) take
/// `&self`. Threads may share a sampler; their calls run one after the other, also with the samplers that were made from it. Because
/// of the borrow checker, no iterator outlives its epoch. Orders that need a table build it at the first call that needs an index.
pub struct Sampler {
    sampler: Object,
    known: Known,
    /// The lists of a composed order, of which the recipe may have a hash only.
    lists: Arc<[Shared]>,
}

/// What the component says of the sampler, which never changes: all of it O(1).
struct Known {
    samples: u64,
    length: u64,
    seed: i64,
    epoch: u64,
    order: String,
    lanes: Option<u32>,
    shuffle_window: Option<u32>,
    rank: u32,
    world_size: u32,
    remainder: Remainder,
    layout: Layout,
    unit: u32,
    consumed: u64,
    num_samples: u64,
    num_padding: u64,
    num_positions: u64,
    num_dropped: u64,
    max_count: u32,
}

impl Known {
    fn ask(sampler: &Object) -> Result<Self, Error> {
        sampler.ask(|exports, store, sampler| {
            let exports = exports.samedeal_deal_sampling();
            let max_count = exports.call_max_count(&mut *store)?;
            let methods = exports.sampler();
            let (remainder, layout) =
                (methods.call_remainder(&mut *store, sampler)?, methods.call_layout(&mut *store, sampler)?);
            let (remainder, layout) = match (remainder.parse(), layout.parse()) {
                (Ok(remainder), Ok(layout)) => (remainder, layout),
                (Err(failure), _) | (_, Err(failure)) => return Ok(Err(failure)),
            };
            Ok(Ok(Self {
                samples: methods.call_samples(&mut *store, sampler)?,
                length: methods.call_length(&mut *store, sampler)?,
                seed: methods.call_seed(&mut *store, sampler)?,
                epoch: methods.call_epoch(&mut *store, sampler)?,
                order: methods.call_order(&mut *store, sampler)?,
                lanes: methods.call_lanes(&mut *store, sampler)?,
                shuffle_window: methods.call_shuffle_window(&mut *store, sampler)?,
                rank: methods.call_rank(&mut *store, sampler)?,
                world_size: methods.call_world_size(&mut *store, sampler)?,
                remainder,
                layout,
                unit: methods.call_unit(&mut *store, sampler)?,
                consumed: methods.call_consumed(&mut *store, sampler)?,
                num_samples: methods.call_num_samples(&mut *store, sampler)?,
                num_padding: methods.call_num_padding(&mut *store, sampler)?,
                num_positions: methods.call_num_positions(&mut *store, sampler)?,
                num_dropped: methods.call_num_dropped(&mut *store, sampler)?,
                max_count,
            }))
        })
    }
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

    /// All options, such as seed, rank and world size.
    pub fn builder(samples: u64) -> Builder {
        Builder::new(None).samples(samples)
    }

    /// A sampler of any order, such as a blend of several datasets: see [`Order`](crate::Order).
    ///
    /// ```
    /// use samedeal::{Order, Sampler};
    /// let without_four = Order::new("feistel", 1_000).seed(42).exclude([3, 77, 500, 501]);
    /// let sampler = Sampler::from_order(without_four).world_size(4).build()?;
    /// assert_eq!((sampler.length(), sampler.num_samples()), (996, 249));
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn from_order(order: Order) -> Builder {
        Builder::new(None).order(order)
    }

    /// The sampler of a recipe, which decides everything but the epoch and the rank. An option that is set afterwards replaces that
    /// of the recipe, such as `world_size`. A recipe has only a hash of a list of more than 256 numbers: set this list too, such as the
    /// [`sizes`](Builder::sizes) of shards, or by its path with [`list`](Builder::list). SPEC.md, sections 14 and 15, has the grammar.
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

    /// The options of this sampler, with its epoch, its rank and what was consumed, for another one that differs in some of them. The
    /// memory limit is 2 GiB again.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn to_builder(&self) -> Result<Builder, Error> {
        let builder = Self::from_recipe(self.recipe()?).epoch(self.epoch()).rank(self.rank()).consumed(self.consumed());
        let builder = builder.share_lists(self.lists.to_vec());
        Ok(self.sizes()?.into_iter().fold(builder, Builder::sizes))
    }

    pub(crate) fn of(sampler: Object, lists: Arc<[Shared]>) -> Result<Self, Error> {
        let known = Known::ask(&sampler)?;
        // The component gives the sizes of shards back.
        let lists = if known.lanes.is_some() { Arc::default() } else { lists };
        Ok(Self { known, sampler, lists })
    }

    /// The recipe of this sampler: JSON in one line, with every member that there is, the defaults too. It is the same on all ranks and in
    /// all epochs, and the same text in every host. The `sizes` of more than 256 shards are a hash. [`from_recipe`](Self::from_recipe)
    /// makes the sampler again.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn recipe(&self) -> Result<String, Error> {
        self.call(|methods, store, sampler| methods.call_recipe(store, sampler))
    }

    /// SHA-256 over the recipe, in hexadecimal: it names the run.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn recipe_fingerprint(&self) -> Result<String, Error> {
        self.call(|methods, store, sampler| methods.call_recipe_fingerprint(store, sampler))
    }

    /// Number of sample indices: they are 0 to `samples - 1`. For most orders this is the number of samples in the dataset. A blend has
    /// those of all sources.
    pub fn samples(&self) -> u64 {
        self.known.samples
    }

    /// Number of positions in this epoch, before any is padded or dropped. It is [`samples`](Self::samples) unless the order is composed.
    pub fn length(&self) -> u64 {
        self.known.length
    }

    /// Seed of the order. Of an order that has none, that of the order which it is made of.
    pub fn seed(&self) -> i64 {
        self.known.seed
    }

    /// Number of the epoch.
    pub fn epoch(&self) -> u64 {
        self.known.epoch
    }

    /// Name of the order: one of [`orders`](crate::orders), `sharded`, or that of a composed order.
    pub fn order(&self) -> &str {
        &self.known.order
    }

    /// Which of the data-parallel readers this is.
    pub fn rank(&self) -> u32 {
        self.known.rank
    }

    /// How many data-parallel readers there are.
    pub fn world_size(&self) -> u32 {
        self.known.world_size
    }

    /// What happens if the number of ranks does not divide the samples.
    pub fn remainder(&self) -> Remainder {
        self.known.remainder
    }

    /// Which positions belong to a rank.
    pub fn layout(&self) -> Layout {
        self.known.layout
    }

    /// How many neighbouring positions always go to the same rank.
    pub fn unit(&self) -> u32 {
        self.known.unit
    }

    /// How many positions of the epoch, the first ones, were dealt before. 0 if this is a whole epoch.
    pub fn consumed(&self) -> u64 {
        self.known.consumed
    }

    /// With the order `sharded`: the number of lanes.
    pub fn lanes(&self) -> Option<u32> {
        self.known.lanes
    }

    /// With the order `sharded`: how many neighbouring samples of a lane are shuffled together.
    pub fn shuffle_window(&self) -> Option<u32> {
        self.known.shuffle_window
    }

    /// With the order `sharded`: the number of samples in each shard.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn sizes(&self) -> Result<Option<Vec<u64>>, Error> {
        self.ask(|methods, store, sampler| methods.call_sizes(store, sampler))
    }

    /// A sampler of the whole of an epoch, also of this one, for the same rank. It shares the memory of this sampler. Costs O(1).
    ///
    /// # Errors
    ///
    /// Out of range (`epoch`, of composed orders: all epochs up to it have more than 2^53 - 1 positions), out of memory.
    pub fn at_epoch(&self, epoch: u64) -> Result<Self, Error> {
        self.another(|methods, store, sampler| methods.call_at_epoch(store, sampler, epoch))
    }

    /// A sampler of the same epoch, or the same rest of one, for another rank. It shares the table of this sampler. Costs O(1).
    ///
    /// # Errors
    ///
    /// Out of range (`rank`), out of memory.
    pub fn at_rank(&self, rank: u32) -> Result<Self, Error> {
        self.another(|methods, store, sampler| methods.call_at_rank(store, sampler, rank))
    }

    /// A sampler of the rest of this epoch, of which the first `consumed` positions were dealt before, maybe to another number of ranks.
    ///
    /// # Errors
    ///
    /// Out of range (`consumed` above [`length`](Self::length), or neither this nor a multiple of [`unit`](Self::unit); `samples` where
    /// padding goes beyond 2^53 - 1), out of memory.
    pub fn rest(&self, consumed: u64) -> Result<Self, Error> {
        self.another(|methods, store, sampler| methods.call_rest(store, sampler, consumed))
    }

    fn another(
        &self,
        make: impl FnOnce(
            &sampling::GuestSampler<'_>,
            &mut Store,
            ResourceAny,
        ) -> wasmtime::Result<Result<ResourceAny, types::Failure>>,
    ) -> Result<Self, Error> {
        let make = |exports: &Samedeal, store: &mut Store, sampler| {
            make(&exports.samedeal_deal_sampling().sampler(), store, sampler)
        };
        Self::of(self.sampler.another(make)?, Arc::clone(&self.lists))
    }

    /// Moves to the beginning of another epoch, in O(1). If the epoch is the current one, nothing changes, even if a part of it was
    /// consumed.
    ///
    /// # Errors
    ///
    /// Those of [`at_epoch`](Self::at_epoch); then nothing has changed.
    pub fn set_epoch(&mut self, epoch: u64) -> Result<(), Error> {
        if epoch != self.epoch() {
            *self = self.at_epoch(epoch)?;
        }
        Ok(())
    }

    /// Moves to another rank of the same deal, in O(1). A table that was built is kept.
    ///
    /// # Errors
    ///
    /// Out of range (`rank`), out of memory; then nothing has changed.
    pub fn set_rank(&mut self, rank: u32) -> Result<(), Error> {
        *self = self.at_rank(rank)?;
        Ok(())
    }

    /// The state after every rank has taken `taken` of its samples (or all that it has), for a checkpoint: JSON in one
    /// line, the same on all ranks. [`resume`](Self::resume) continues there, in any language and with any number of
    /// ranks.
    ///
    /// ```
    /// use samedeal::Sampler;
    /// let rank_2_of_8 = Sampler::builder(1_000).rank(2).world_size(8).build()?;
    /// let state = rank_2_of_8.state(50)?;
    /// // Two ranks less: they deal what those eight have left.
    /// let mut rank_2_of_6 = Sampler::builder(1_000).rank(2).world_size(6).build()?;
    /// rank_2_of_6.resume(&state)?;
    /// assert_eq!(rank_2_of_6.consumed(), 400);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Out of range (`taken` above what the rank with the most samples has, or neither this nor a multiple of [`unit`](Self::unit)),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`layout`: within an epoch, contiguous runs of several ranks have no state).
    pub fn state(&self, taken: u64) -> Result<String, Error> {
        self.ask(|methods, store, sampler| methods.call_state(store, sampler, taken))
    }

    /// Continues from a state, in O(1), with `sharded` in O(shards): moves to its epoch, and deals the positions that were not consumed to
    /// the ranks of this sampler. The order may have got more since the state was taken, if that begins at the state's position or later:
    /// stages and sources of a blend, growth of a dataset, ranges to skip. After an error, nothing has changed.
    ///
    /// # Errors
    ///
    /// [`WrongType`](crate::FailureKind::WrongType) (`state`: no state of a sampler of this version),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (the first member of the order that differs from the state), out of range
    /// (`state`: more than 2^24 bytes; `consumed` above [`length`](Self::length)), out of memory.
    pub fn resume(&mut self, state: &str) -> Result<(), Error> {
        let state = checked_state(state, self.sampler.room())?;
        *self = self.another(|methods, store, sampler| methods.call_resume(store, sampler, state))?;
        Ok(())
    }

    /// Number of samples that this rank sees in the epoch, or in the rest of it, padding included.
    pub fn num_samples(&self) -> u64 {
        self.known.num_samples
    }

    /// How many of these samples are padding. They are the last ones of the rank.
    pub fn num_padding(&self) -> u64 {
        self.known.num_padding
    }

    /// How many positions are dealt to all ranks together, padding included.
    pub fn num_positions(&self) -> u64 {
        self.known.num_positions
    }

    /// How many positions no rank sees in this epoch: their number mod world size with
    /// [`Remainder::Drop`], else 0.
    pub fn num_dropped(&self) -> u64 {
        self.known.num_dropped
    }

    /// The most indices that one call of [`window`](Self::window) or [`batch`](Self::batch) hands out: 2^20.
    pub fn max_count(&self) -> u32 {
        self.known.max_count
    }

    /// This rank's samples number `start` to `start + count - 1`, in order, in one call of the component.
    ///
    /// # Errors
    ///
    /// Out of range (`start` above [`num_samples`](Self::num_samples); `count` above [`max_count`](Self::max_count) or past the end;
    /// `samples` above 2^32 when read as `u32`), out of memory.
    pub fn window<I: Index>(&self, start: u64, count: u32) -> Result<Vec<I>, Error> {
        let read = |exports: &Samedeal, store: &mut _, sampler| {
            I::indices(exports.samedeal_deal_sampling(), store, sampler, start, count)
        };
        self.sampler.ask(read)
    }

    /// The samples of this rank in a range of any length. `..` means all.
    ///
    /// # Errors
    ///
    /// Out of range (`start`, `count` where the range ends after [`num_samples`](Self::num_samples), `samples` above 2^32 when read as
    /// `u32`), out of memory.
    pub fn indices<I: Index>(&self, range: impl RangeBounds<u64>) -> Result<Vec<I>, Error> {
        let run = run(range, self.num_samples())?;
        read(run, self.known.max_count, |start, count| self.window(start, count))
    }

    /// Iterates over all samples of this rank. It holds at most one window of them in memory.
    pub fn iter(&self) -> Indices<'_> {
        Indices::new(Of::Borrowed(self))
    }

    /// How many batches of `batch_size` this rank gets: rounded down with `drop_last`, else up.
    ///
    /// # Errors
    ///
    /// Out of range (`batch-size` is 0).
    pub fn num_batches(&self, batch_size: u32, drop_last: bool) -> Result<u64, Error> {
        self.ask(|methods, store, sampler| methods.call_num_batches(store, sampler, batch_size, drop_last))
    }

    /// Batch number `batch` of this rank; the last one may be shorter unless `drop_last`.
    ///
    /// # Errors
    ///
    /// Out of range (`batch-size` is 0; `batch-size` where the batch would really hold more than [`max_count`](Self::max_count) samples;
    /// `batch` at or above [`num_batches`](Self::num_batches); `samples` above 2^32 when read as `u32`), out of memory.
    pub fn batch<I: Index>(&self, batch: u64, batch_size: u32, drop_last: bool) -> Result<Vec<I>, Error> {
        let read = |exports: &Samedeal, store: &mut _, sampler| {
            I::batch(exports.samedeal_deal_sampling(), store, sampler, batch, batch_size, drop_last)
        };
        self.sampler.ask(read)
    }

    /// Iterates over the batches of this rank.
    ///
    /// # Errors
    ///
    /// Out of range (`batch-size` is 0; `batch-size` where a batch would really hold more than [`max_count`](Self::max_count) samples).
    pub fn batches(&self, batch_size: u32, drop_last: bool) -> Result<Batches<'_>, Error> {
        Ok(Batches::new(self.iter(), self.checked_batches(batch_size, drop_last)?, batch_size))
    }

    /// The same by an iterator that owns the sampler, such as for a stream or another thread.
    ///
    /// # Errors
    ///
    /// Those of [`batches`](Self::batches).
    pub fn into_batches(self, batch_size: u32, drop_last: bool) -> Result<Batches<'static>, Error> {
        let batches = self.checked_batches(batch_size, drop_last)?;
        Ok(Batches::new(self.into_iter(), batches, batch_size))
    }

    /// The number of batches, none of which is longer than one call hands out.
    fn checked_batches(&self, batch_size: u32, drop_last: bool) -> Result<u64, Error> {
        let batches = self.num_batches(batch_size, drop_last)?;
        let longest = self.num_samples().min(batch_size.into());
        if batches > 0 && longest > self.max_count().into() {
            // No batch is longer than the first one: the component itself says why it refuses it.
            self.batch::<u64>(0, batch_size, drop_last)?;
        }
        Ok(batches)
    }

    /// Batch number `batch` of each of these ranks: what they see at one step. A rank that has no such batch, where others have, has an
    /// empty one.
    ///
    /// # Errors
    ///
    /// Out of range (`batch-size` is 0; `batch` at or above the most batches of a rank; `first`, `count`: there are no such ranks), out of
    /// memory.
    pub fn step(
        &self,
        batch: u64,
        batch_size: u32,
        drop_last: bool,
        ranks: impl RangeBounds<u32>,
    ) -> Result<Vec<Vec<u64>>, Error> {
        let wide = |bound: Bound<&u32>| bound.map(|&rank| u64::from(rank));
        let (mut first, end) =
            bounds((wide(ranks.start_bound()), wide(ranks.end_bound())), self.known.world_size.into());
        if end.saturating_sub(first) > MOST_RANKS {
            let allowed = format!("up to {MOST_RANKS} ranks at once");
            return Err(Failure::out_of_memory("count", end - first, allowed).into());
        }
        let window = (self.known.max_count / batch_size.max(1)).max(1);
        let mut found = Vec::new();
        loop {
            let count = end.saturating_sub(first).min(window.into());
            let sampling::RankBatches { samples, counts } = self.ask(|methods, store, sampler| {
                methods.call_step(
                    store,
                    sampler,
                    batch,
                    batch_size,
                    drop_last,
                    first.min(u32::MAX.into()) as u32,
                    count as u32,
                )
            })?;
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

    /// What became of a sample once every rank has taken `taken` of its samples, or all that it has, and what is to come.
    ///
    /// # Errors
    ///
    /// Out of range (`sample` at or above `samples`; `batch-size` is 0; `taken`: no rank has as many), contradiction (`layout`: as
    /// [`state`](Self::state)), out of memory.
    pub fn fate(&self, sample: u64, batch_size: u32, taken: u64) -> Result<Fate, Error> {
        self.ask(|methods, store, sampler| methods.call_fate(store, sampler, sample, batch_size, taken)).map(Fate::from)
    }

    /// The sample at a global position of the epoch, whichever rank it is or was dealt to.
    ///
    /// # Errors
    ///
    /// Out of range (`position` at or above `consumed` + [`num_positions`](Self::num_positions)), out of memory.
    pub fn sample_at(&self, position: u64) -> Result<u64, Error> {
        self.ask(|methods, store, sampler| methods.call_sample_at(store, sampler, position))
    }

    /// The inverse: where in the epoch a sample is seen first, on whichever rank, with batches of `batch_size`; `None` if it is dropped, or
    /// was dealt before. O(1) for `feistel` and `sequential`, O(log shards) for `sharded`, one pass over the table for orders that have
    /// one. [`locate_from`](Self::locate_from) finds it again.
    ///
    /// # Errors
    ///
    /// Out of range (`sample` at or above `samples`, `batch-size` is 0), out of memory.
    pub fn locate(&self, sample: u64, batch_size: u32) -> Result<Option<Place>, Error> {
        let place = self.ask(|methods, store, sampler_| methods.call_locate(store, sampler_, sample, batch_size))?;
        Ok(place.map(Place::from))
    }

    /// Which rank sees a global position, and when. `copies` counts from this position on.
    ///
    /// # Errors
    ///
    /// Out of range (`position` below `consumed`, or at or above `consumed` + [`num_positions`](Self::num_positions); `batch-size` is 0).
    pub fn place_of(&self, position: u64, batch_size: u32) -> Result<Place, Error> {
        self.ask(|methods, store, sampler| methods.call_place_of(store, sampler, position, batch_size)).map(Place::from)
    }

    /// SHA-256 over all of this rank's indices of the epoch, each as 8 bytes, little-endian, in order; as 64 lower-case hexadecimal digits.
    /// One pass over the rank's samples, tens of nanoseconds each.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn fingerprint(&self) -> Result<String, Error> {
        self.ask(|methods, store, sampler| methods.call_fingerprint(store, sampler))
    }

    /// SHA-256 over the configuration without the rank, in O(1), as 64 lower-case hexadecimal digits: it is equal on all ranks of one deal,
    /// and differs if any value differs that decides the deal.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn config_fingerprint(&self) -> Result<String, Error> {
        self.call(|methods, store, sampler| methods.call_config_fingerprint(store, sampler))
    }

    /// Calls a method that cannot fail by its arguments.
    pub(crate) fn call<T>(
        &self,
        call: impl FnOnce(&sampling::GuestSampler<'_>, &mut Store, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        self.sampler.call(|exports, store, sampler| call(&exports.samedeal_deal_sampling().sampler(), store, sampler))
    }

    /// Calls a method that can.
    pub(crate) fn ask<T>(
        &self,
        call: impl FnOnce(
            &sampling::GuestSampler<'_>,
            &mut Store,
            ResourceAny,
        ) -> wasmtime::Result<Result<T, types::Failure>>,
    ) -> Result<T, Error> {
        self.sampler.ask(|exports, store, sampler| call(&exports.samedeal_deal_sampling().sampler(), store, sampler))
    }
}

impl std::fmt::Debug for Sampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Sampler");
        shown.field("order", &self.order()).field("samples", &self.samples()).field("length", &self.length());
        shown.field("seed", &self.seed());
        shown.field("epoch", &self.epoch()).field("consumed", &self.consumed());
        shown.field("rank", &self.rank()).field("world_size", &self.world_size());
        shown.field("remainder", &self.remainder()).field("layout", &self.layout()).field("unit", &self.unit());
        shown.field("num_samples", &self.num_samples()).finish()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_an_engine_error_every_call_is_refused() {
        let sampler = Sampler::new(10).unwrap();
        let broken: Result<(), Error> = sampler.call(|_, _, _| Err(wasmtime::Error::msg("a trap")));
        assert!(matches!(broken, Err(Error::Engine(error)) if error.to_string().contains("a trap")));
        let refused = sampler.window::<u64>(0, 1).unwrap_err();
        assert!(refused.failure().is_none());
        assert!(refused.to_string().contains("refused") && refused.to_string().contains("build a new one"));
        assert_eq!(sampler.num_samples(), 10);
    }
}
