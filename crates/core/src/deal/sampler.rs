use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;

use super::identity;
use crate::base::check::{check_below, check_run};
use crate::base::failure::range;
use crate::base::fingerprint::Fingerprint;
use crate::base::memory::has_headroom;
use crate::order::Sharding;
use crate::state::{SamplerState, check};
use crate::{Config, Deal, Failure, Index, MAX_WINDOW, Order, OrderId, Place};

/// The samples of one rank in one epoch: an order, dealt.
///
/// ```
/// use samedeal_core::{Config, OrderId, Sampler};
/// let config = Config { order: OrderId::Torch, seed: 42, epoch: 1, world: 3, ..Config::new(10) };
/// let sampler = Sampler::new(config)?;
/// assert_eq!(sampler.indices::<u64>(0, 4)?, [8, 0, 6, 3]);
/// # Ok::<(), samedeal_core::Failure>(())
/// ```
pub struct Sampler {
    pub(super) config: Config,
    pub(super) deal: Deal,
    /// With the order `sharded`.
    pub(crate) sharding: Option<Rc<Sharding>>,
    /// Built at the first call that asks for an index.
    order: OnceCell<Order>,
}

impl Sampler {
    /// Checks the configuration, in O(1).
    pub fn new(config: Config) -> Result<Self, Failure> {
        let deal = config.deal()?;
        if config.order == OrderId::Sharded {
            return Err(Failure::missing("sharding", "the shards, with the order sharded"));
        }
        Self::with(config, deal, None)
    }

    /// A sampler of a configuration whose order was checked to be that of the sharding, or of none.
    pub(crate) fn of(config: Config, sharding: Option<Rc<Sharding>>) -> Result<Self, Failure> {
        Self::with(config, config.deal()?, sharding)
    }

    pub(super) fn with(config: Config, deal: Deal, sharding: Option<Rc<Sharding>>) -> Result<Self, Failure> {
        if !has_headroom() {
            return Err(Failure::out_of_memory("samples", config.samples, "fewer samplers at a time, or smaller ones"));
        }
        Ok(Self { config, deal, sharding, order: OnceCell::new() })
    }

    /// The configuration as it stands.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The deal: how many samples, how many of them padding or dropped.
    pub fn deal(&self) -> &Deal {
        &self.deal
    }

    /// Moves to another epoch, of which nothing is consumed, in O(1).
    pub fn set_epoch(&mut self, epoch: u64) {
        if epoch != self.config.epoch {
            self.config = Config { epoch, consumed: 0, ..self.config };
            self.deal = self.deal.whole();
            self.order = OnceCell::new();
        }
    }

    /// The state once every rank has taken so many of its samples, or all of them: a text for a checkpoint, the same on
    /// all ranks. Failures: `taken`, `layout`.
    pub fn state(&self, taken: u64) -> Result<String, Failure> {
        let consumed = self.deal.consumed_after(taken)?;
        let Config { samples, seed, epoch, order, .. } = self.config;
        let fingerprint = identity::of_order(&self.config, self.sharding.as_deref());
        Ok(SamplerState { order: order.name(), samples, seed, epoch, consumed, fingerprint: &fingerprint }.write())
    }

    /// Goes on where a state was taken, in O(1): moves to its epoch, and deals what was not consumed. After a failure,
    /// nothing has changed. Failures: `state`, and `order`, `samples`, `seed` or `sharding` where they are others.
    pub fn resume(&mut self, state: &str) -> Result<(), Failure> {
        let state = SamplerState::read(state)?;
        let Config { samples, seed, order, .. } = self.config;
        check("order", state.order, order.name())?;
        check("samples", state.samples, samples)?;
        check("seed", state.seed, seed)?;
        let fingerprint = identity::of_order(&self.config, self.sharding.as_deref());
        check(if self.sharding.is_some() { "sharding" } else { "state" }, state.fingerprint, &*fingerprint)?;
        let config = Config { epoch: state.epoch, consumed: state.consumed, ..self.config };
        self.deal = config.deal()?;
        if config.epoch != self.config.epoch {
            self.order = OnceCell::new();
        }
        self.config = config;
        Ok(())
    }

    /// Answers for another rank of the same deal from now on, in O(1).
    pub fn set_rank(&mut self, rank: u32) -> Result<(), Failure> {
        self.deal = self.deal.with_rank(rank)?;
        self.config.rank = rank;
        Ok(())
    }

    /// How many samples this rank sees in an epoch, padding included.
    pub fn num_samples(&self) -> u64 {
        self.deal.num_samples()
    }

    /// This rank's samples number `start` to `start + count - 1`. Failures: `start`, `count`, `samples`.
    pub fn indices<T: Index>(&self, start: u64, count: u32) -> Result<Vec<T>, Failure> {
        check_run(start, count, self.num_samples())?;
        self.check_width::<T>()?;
        self.window(start, count, ("count", count))
    }

    /// How many batches this rank gets: rounded down with `drop_last`, else up. Failures: `batch-size`.
    pub fn num_batches(&self, batch_size: u32, drop_last: bool) -> Result<u64, Failure> {
        let size = check_batch_size(batch_size)?;
        Ok(if drop_last { self.num_samples() / size } else { self.num_samples().div_ceil(size) })
    }

    /// Batch number `batch` of this rank. Failures: `batch-size`, `batch`, `samples`.
    pub fn batch<T: Index>(&self, batch: u64, batch_size: u32, drop_last: bool) -> Result<Vec<T>, Failure> {
        let batches = self.num_batches(batch_size, drop_last)?;
        check_below("batch", batch, batches)?;
        let start = batch * u64::from(batch_size);
        let count = u64::from(batch_size).min(self.num_samples() - start);
        if count > u64::from(MAX_WINDOW) {
            return Err(Failure::out_of_range("batch-size", batch_size, range(1, MAX_WINDOW).and(" in one piece")));
        }
        self.check_width::<T>()?;
        self.window(start, count as u32, ("batch-size", batch_size))
    }

    /// The sample at a global position, whichever rank it is or was dealt to. Failures: `position`.
    pub fn sample_at(&self, position: u64) -> Result<u64, Failure> {
        check_below("position", position, self.deal.end())?;
        Ok(self.order()?.sample(position % self.config.samples))
    }

    /// Where in this deal a sample is seen first; none if it is dropped, or was dealt before. Failures: `sample`,
    /// `batch-size`.
    pub fn locate(&self, sample: u64, batch_size: u32) -> Result<Option<Place>, Failure> {
        check_below("sample", sample, self.config.samples)?;
        check_batch_size(batch_size)?;
        let mut position = self.order()?.position(sample);
        if position < self.deal.consumed() {
            // It may be there again, as padding.
            position += self.config.samples;
        }
        Ok((position < self.deal.end()).then(|| self.deal.place(position, batch_size)))
    }

    /// Which rank sees a global position, and when. Failures: `position`, `batch-size`.
    pub fn place_of(&self, position: u64, batch_size: u32) -> Result<Place, Failure> {
        self.check_position(position)?;
        check_batch_size(batch_size)?;
        Ok(self.deal.place(position, batch_size))
    }

    /// SHA-256 over all of this rank's indices, each as 8 bytes, little-endian; in hexadecimal.
    pub fn fingerprint(&self) -> Result<String, Failure> {
        let order = self.order()?;
        let mut hash = Fingerprint::new();
        let mut window = [0_u64; 1024];
        let mut start = 0;
        while start < self.num_samples() {
            let count = (self.num_samples() - start).min(window.len() as u64);
            self.fill(order, start, &mut window[..count as usize]);
            hash.update(&window[..count as usize]);
            start += count;
        }
        Ok(hash.finish())
    }

    /// SHA-256 over the configuration without the rank, in hexadecimal.
    pub fn config_fingerprint(&self) -> String {
        identity::of_config(&self.config, self.sharding.as_deref())
    }

    pub(super) fn order(&self) -> Result<&Order, Failure> {
        if let Some(order) = self.order.get() {
            return Ok(order);
        }
        let Config { samples, seed, epoch, order, .. } = self.config;
        let order = match &self.sharding {
            Some(sharding) => Order::sharded(sharding.clone(), seed, epoch)?,
            None => Order::new(order, samples, seed, epoch)?,
        };
        Ok(self.order.get_or_init(|| order))
    }

    /// A run that was found to lie within this rank's samples and the widest window. `asked` is what the caller named.
    fn window<T: Index>(&self, start: u64, count: u32, asked: (&'static str, u32)) -> Result<Vec<T>, Failure> {
        let order = self.order()?;
        let mut out = Vec::new();
        out.try_reserve_exact(count as usize)
            .map_err(|_| Failure::out_of_memory(asked.0, asked.1, "fewer at a time"))?;
        out.resize(count as usize, T::default());
        self.fill(order, start, &mut out);
        Ok(out)
    }

    fn fill<T: Index>(&self, order: &Order, start: u64, out: &mut [T]) {
        let (first, stride) = self.deal.run();
        let real = self.num_samples() - self.deal.num_padding();
        let split = real.saturating_sub(start).min(out.len() as u64) as usize;
        let (samples, padding) = out.split_at_mut(split);
        order.fill(first + start * stride, stride, samples);
        for (i, place) in (start + split as u64..).zip(padding) {
            *place = T::from_u64(order.sample((first + i * stride) % self.config.samples));
        }
    }

    fn check_width<T: Index>(&self) -> Result<(), Failure> {
        let most = 1 << (8 * size_of::<T>()).min(53);
        if self.config.samples > most {
            let allowed = range(0, most).and(" in windows of 32-bit numbers");
            return Err(Failure::out_of_range("samples", self.config.samples, allowed));
        }
        Ok(())
    }

    fn check_position(&self, position: u64) -> Result<(), Failure> {
        let (first, end) = (self.deal.consumed(), self.deal.end());
        if position < first && first < end {
            return Err(Failure::out_of_range("position", position, range(first, end - 1)));
        }
        check_below("position", position, if first < end { end } else { 0 })
    }
}

fn check_batch_size(batch_size: u32) -> Result<u64, Failure> {
    if batch_size == 0 {
        return Err(Failure::out_of_range("batch-size", 0, range(1, u32::MAX)));
    }
    Ok(u64::from(batch_size))
}
