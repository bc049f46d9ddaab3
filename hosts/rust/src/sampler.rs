use std::ops::RangeBounds;

use wasmtime::component::ResourceAny;

use crate::engine::{Object, Samedeal, Store, check_room, checked_state, cut, sampling, types};
use crate::range::{read, run};
use crate::{Batches, Builder, Config, Error, Index, Indices, Place, Sharding};

/// The samples of one rank in one epoch.
///
/// All methods except [`set_epoch`](Self::set_epoch), [`set_rank`](Self::set_rank) and [`resume`](Self::resume) take
/// `&self`. Threads may share a sampler; their calls run one after the other. Because of the borrow checker, no
/// iterator outlives its epoch. Orders that need a table build it at the first call that needs an index.
pub struct Sampler {
    sampler: Object<Samedeal>,
    known: Known,
}

/// What the component said of the sampler as it stands: all of it O(1), none of it dependent on the order.
struct Known {
    config: Config,
    num_samples: u64,
    num_padding: u64,
    num_positions: u64,
    num_dropped: u64,
    max_window: u32,
}

impl Known {
    fn ask(sampler: &Object<Samedeal>, sharding: Option<Sharding>) -> Result<Self, Error> {
        sampler.call(|exports, store, sampler| {
            let exports = exports.samedeal_deal_sampling();
            let max_window = exports.call_max_window(&mut *store)?;
            let methods = exports.sampler();
            Ok(Self {
                config: Config::of(methods.call_config(&mut *store, sampler)?, sharding),
                num_samples: methods.call_num_samples(&mut *store, sampler)?,
                num_padding: methods.call_num_padding(&mut *store, sampler)?,
                num_positions: methods.call_num_positions(&mut *store, sampler)?,
                num_dropped: methods.call_num_dropped(&mut *store, sampler)?,
                max_window,
            })
        })
    }
}

impl Sampler {
    /// A sampler of `samples` samples for one reader, with the seed 0, in the default order `feistel`.
    /// Errors: [`OutOfRange`](crate::FailureKind::OutOfRange) (`samples` above 2^53 - 1).
    pub fn new(samples: u64) -> Result<Self, Error> {
        Self::builder(samples).build()
    }

    /// All options, such as seed, rank and world.
    pub fn builder(samples: u64) -> Builder {
        Config::new(samples).into()
    }

    pub(crate) fn build(mut config: Config, memory_limit: usize) -> Result<Self, Error> {
        config.order = cut(config.order);
        let sharding = config.sharding.take();
        let config = config.into();
        let sampler = match &sharding {
            None => Object::new(memory_limit, |exports: &Samedeal, store| {
                exports.samedeal_deal_sampling().sampler().call_constructor(store, &config)
            })?,
            Some(sharding) => {
                let count = sharding.sizes.len();
                check_room(memory_limit, "sizes", count, 8 * count)?;
                let sharding = sharding.into();
                Object::new(memory_limit, |exports: &Samedeal, store| {
                    exports.samedeal_deal_sampling().sampler().call_sharded(store, &config, &sharding)
                })?
            }
        };
        let known = Known::ask(&sampler, sharding)?;
        Ok(Self { sampler, known })
    }

    /// The configuration as it stands, with the current epoch and rank.
    pub fn config(&self) -> &Config {
        &self.known.config
    }

    /// Moves to the beginning of another epoch, in O(1). If the epoch is the current one, nothing changes, even if a
    /// part of it was consumed.
    pub fn set_epoch(&mut self, epoch: u64) -> Result<(), Error> {
        self.call(|methods, store, sampler| methods.call_set_epoch(store, sampler, epoch))?;
        self.refresh()
    }

    /// Moves to another rank of the same deal, in O(1). A table that was built is kept.
    /// Errors: out of range (`rank`).
    pub fn set_rank(&mut self, rank: u32) -> Result<(), Error> {
        self.ask(|methods, store, sampler| methods.call_set_rank(store, sampler, rank))?;
        self.refresh()
    }

    /// The state after every rank has taken `taken` of its samples (or all that it has), for a checkpoint: JSON in one
    /// line, the same on all ranks. [`resume`](Self::resume) continues there, in any language and with any number of
    /// ranks.
    ///
    /// ```
    /// use samedeal::Sampler;
    /// let rank_2_of_8 = Sampler::builder(1_000).rank(2).world(8).build()?;
    /// let state = rank_2_of_8.state(50)?;
    /// // Two ranks less: they deal what those eight have left.
    /// let mut rank_2_of_6 = Sampler::builder(1_000).rank(2).world(6).build()?;
    /// rank_2_of_6.resume(&state)?;
    /// assert_eq!(rank_2_of_6.config().consumed, 400);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    /// Errors: out of range (`taken` above what the rank with the most samples has),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`layout`: within an epoch, contiguous runs of several
    /// ranks have no state).
    pub fn state(&self, taken: u64) -> Result<String, Error> {
        self.ask(|methods, store, sampler| methods.call_state(store, sampler, taken))
    }

    /// Continues from a state, in O(1): moves to its epoch, and deals the positions that were not consumed to the ranks
    /// of this sampler. After an error, nothing has changed. Errors: [`WrongType`](crate::FailureKind::WrongType)
    /// (`state`: no state of a sampler of this version), [`Contradiction`](crate::FailureKind::Contradiction) (`order`,
    /// `samples`, `seed`, `sharding`: not those of the state), out of range (`state`: more than 2^14 bytes, or more
    /// consumed than there is).
    pub fn resume(&mut self, state: &str) -> Result<(), Error> {
        let state = checked_state(state)?;
        self.ask(|methods, store, sampler| methods.call_resume(store, sampler, state))?;
        self.refresh()
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

    /// How many samples no rank sees in this epoch: samples mod world with [`Remainder::Drop`](crate::Remainder), else
    /// 0.
    pub fn num_dropped(&self) -> u64 {
        self.known.num_dropped
    }

    /// The most indices that one call of [`window`](Self::window) or [`batch`](Self::batch) hands out: 2^20.
    pub fn max_window(&self) -> u32 {
        self.known.max_window
    }

    /// This rank's samples number `start` to `start + count - 1`, in order, in one call of the component.
    /// Errors: out of range (`start` above [`num_samples`](Self::num_samples); `count` above
    /// [`max_window`](Self::max_window) or past the end; `samples` above 2^32 when read as `u32`), out of memory.
    pub fn window<I: Index>(&self, start: u64, count: u32) -> Result<Vec<I>, Error> {
        let read = |exports: &Samedeal, store: &mut _, sampler| {
            I::indices(exports.samedeal_deal_sampling(), store, sampler, start, count)
        };
        self.sampler.ask(read)
    }

    /// The samples of this rank in a range of any length. `..` means all.
    /// Errors: out of range (`start`, `count` where the range ends after [`num_samples`](Self::num_samples), `samples`
    /// above 2^32 when read as `u32`), out of memory.
    pub fn indices<I: Index>(&self, range: impl RangeBounds<u64>) -> Result<Vec<I>, Error> {
        let run = run(range, self.num_samples())?;
        read(run, self.known.max_window, |start, count| self.window(start, count))
    }

    /// Iterates over all samples of this rank. It holds at most one window of them in memory.
    pub fn iter(&self) -> Indices<'_> {
        Indices::new(self)
    }

    /// How many batches of `batch_size` this rank gets: rounded down with `drop_last`, else up.
    /// Errors: out of range (`batch-size` is 0).
    pub fn num_batches(&self, batch_size: u32, drop_last: bool) -> Result<u64, Error> {
        self.ask(|methods, store, sampler| methods.call_num_batches(store, sampler, batch_size, drop_last))
    }

    /// Batch number `batch` of this rank; the last one may be shorter unless `drop_last`.
    /// Errors: out of range (`batch-size` is 0; `batch-size` where the batch would really hold more than
    /// [`max_window`](Self::max_window) samples; `batch` at or above [`num_batches`](Self::num_batches); `samples`
    /// above 2^32 when read as `u32`), out of memory.
    pub fn batch<I: Index>(&self, batch: u64, batch_size: u32, drop_last: bool) -> Result<Vec<I>, Error> {
        let read = |exports: &Samedeal, store: &mut _, sampler| {
            I::batch(exports.samedeal_deal_sampling(), store, sampler, batch, batch_size, drop_last)
        };
        self.sampler.ask(read)
    }

    /// Iterates over the batches of this rank. Errors: out of range (`batch-size` is 0; `batch-size` where a batch
    /// would really hold more than [`max_window`](Self::max_window) samples).
    pub fn batches(&self, batch_size: u32, drop_last: bool) -> Result<Batches<'_>, Error> {
        let batches = self.num_batches(batch_size, drop_last)?;
        let longest = self.num_samples().min(batch_size.into());
        if batches > 0 && longest > self.max_window().into() {
            // No batch is longer than the first one: the component itself says why it refuses it.
            self.batch::<u64>(0, batch_size, drop_last)?;
        }
        Ok(Batches::new(self.iter(), batches, batch_size))
    }

    /// The sample at a global position of the epoch, whichever rank it is or was dealt to. Errors: out of range
    /// (`position` at or above `consumed` + [`num_positions`](Self::num_positions)), out of memory.
    pub fn sample_at(&self, position: u64) -> Result<u64, Error> {
        self.ask(|methods, store, sampler| methods.call_sample_at(store, sampler, position))
    }

    /// The inverse: where in the epoch a sample is seen first, on whichever rank, with batches of `batch_size`; `None`
    /// if it is dropped, or was dealt before. O(1) for `feistel` and `sequential`, one pass over the table for the
    /// other orders. Errors: out of range (`sample` at or above `samples`, `batch-size` is 0), out of memory.
    pub fn locate(&self, sample: u64, batch_size: u32) -> Result<Option<Place>, Error> {
        let place = self.ask(|methods, store, sampler_| methods.call_locate(store, sampler_, sample, batch_size))?;
        Ok(place.map(Place::from))
    }

    /// Which rank sees a global position, and when. `copies` counts from this position on. Errors: out of range
    /// (`position` below `consumed`, or at or above `consumed` + [`num_positions`](Self::num_positions); `batch-size`
    /// is 0).
    pub fn place_of(&self, position: u64, batch_size: u32) -> Result<Place, Error> {
        self.ask(|methods, store, sampler| methods.call_place_of(store, sampler, position, batch_size)).map(Place::from)
    }

    /// SHA-256 over all of this rank's indices of the epoch, each as 8 bytes, little-endian, in order; as 64 lower-case
    /// hexadecimal digits. One pass over the rank's samples, tens of nanoseconds each. Errors: out of memory.
    pub fn fingerprint(&self) -> Result<String, Error> {
        self.ask(|methods, store, sampler| methods.call_fingerprint(store, sampler))
    }

    /// SHA-256 over the configuration without the rank, in O(1), as 64 lower-case hexadecimal digits: it is equal on
    /// all ranks of one deal, and differs if any value differs that decides the deal. Errors: only those of the engine.
    pub fn config_fingerprint(&self) -> Result<String, Error> {
        self.call(|methods, store, sampler| methods.call_config_fingerprint(store, sampler))
    }

    fn refresh(&mut self) -> Result<(), Error> {
        self.known = Known::ask(&self.sampler, self.known.config.sharding.take())?;
        Ok(())
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
        f.debug_struct("Sampler").field("config", self.config()).field("num_samples", &self.num_samples()).finish()
    }
}

impl<'a> IntoIterator for &'a Sampler {
    type Item = Result<u64, Error>;
    type IntoIter = Indices<'a>;

    fn into_iter(self) -> Indices<'a> {
        self.iter()
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
