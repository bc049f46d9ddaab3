use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;

use super::state::SamplerState;
use crate::base::check::{check_below, check_count, check_ranks, check_run};
use crate::base::failure::{at_most, range};
use crate::base::fingerprint::Fingerprint;
use crate::base::memory::{collect, has_headroom};
use crate::base::{Failure, MAX_COUNT};
use crate::deal::{Config, Deal, Place};
use crate::document::recipe;
use crate::document::state;
use crate::order::{Index, Order, OrderId, OrderPart, Stored, in_blocks};

/// A sampler: the samples of one rank in one epoch, by an order and a deal.
///
/// ```
/// use samedeal_core::{Config, OrderId, Sampler};
/// let config = Config { order: OrderId::Torch, seed: 42, epoch: 1, world_size: 3, ..Config::new(10) };
/// let sampler = Sampler::new(config)?;
/// assert_eq!(sampler.indices::<u64>(0, 4)?, [8, 0, 6, 3]);
/// # Ok::<(), samedeal_core::Failure>(())
/// ```
pub struct Sampler {
    pub(super) config: Config,
    pub(super) deal: Deal,
    pub(super) part: Rc<OrderPart>,
    /// The order of the epoch. It is built at the first call that needs an index, and shared by the samplers of one
    /// epoch.
    order: Rc<OnceCell<Order>>,
}

impl Sampler {
    /// The sampler of a configuration, in O(1). Failures: any field; `sizes`, with the order `sharded`; `name`,
    /// with a composed order.
    pub fn new(config: Config) -> Result<Self, Failure> {
        let Config { samples, seed, order, .. } = config;
        if order == OrderId::Sharded {
            return Err(Failure::missing("sizes", "the samples of each shard, with the order sharded"));
        }
        if order.is_composed() {
            let allowed = "a plain order; only a recipe has what the others need";
            return Err(Failure::contradiction("name", order.name(), allowed));
        }
        Self::of(config, Rc::new(OrderPart::new(order, samples, seed, None)))
    }

    /// The sampler of a configuration whose samples, order and seed are those of `part`.
    pub(crate) fn of(config: Config, part: Rc<OrderPart>) -> Result<Self, Failure> {
        Self::with(config, part, Rc::default())
    }

    fn with(config: Config, part: Rc<OrderPart>, order: Rc<OnceCell<Order>>) -> Result<Self, Failure> {
        let deal = config.deal(part.length(config.epoch)?)?;
        if !has_headroom() {
            return Err(Failure::out_of_memory("samples", config.samples, "fewer samplers at a time, or smaller ones"));
        }
        Ok(Self { config, deal, part, order })
    }

    /// A sampler of the same recipe with another configuration. If the epoch is the same, both share the order.
    /// Failures: `rank`, `consumed`, `samples`, `epoch`.
    fn at(&self, config: Config) -> Result<Self, Failure> {
        let order = if config.epoch == self.config.epoch { Rc::clone(&self.order) } else { Rc::default() };
        Self::with(config, Rc::clone(&self.part), order)
    }

    /// The configuration of this sampler.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The deal of this sampler: which positions its rank gets, and how many of them are samples, padding and dropped.
    pub fn deal(&self) -> &Deal {
        &self.deal
    }

    /// The sampler of the whole of an epoch, in O(1) if the order is not composed. Failures: `samples` (no memory, or
    /// too many with padding); `epoch`, if a composed order has too many positions up to the end of this epoch.
    pub fn at_epoch(&self, epoch: u64) -> Result<Self, Failure> {
        self.at(Config { epoch, consumed: 0, ..self.config })
    }

    /// The sampler of another rank, in O(1) if the order is not composed. Failures: `rank`, `samples` (no memory).
    pub fn at_rank(&self, rank: u32) -> Result<Self, Failure> {
        self.at(Config { rank, ..self.config })
    }

    /// The sampler of the rest of this epoch, after its first `consumed` positions. Failures: `consumed`, `samples`.
    pub fn rest(&self, consumed: u64) -> Result<Self, Failure> {
        self.at(Config { consumed, ..self.config })
    }

    /// The state once every rank has taken `taken` of its samples, or all of them: a text for a checkpoint, the same on
    /// all ranks. Failures: `taken`, `layout`, `out-of-memory`.
    pub fn state(&self, taken: u64) -> Result<String, Failure> {
        let consumed = self.deal.consumed_after(taken)?;
        let mut more = format!(",\"consumed\":{consumed}");
        if self.part.is_composed() {
            more += &format!(",\"positions\":{}", self.deal.samples());
        }
        state::write("sampler", &|each| self.part.pieces(each), self.config.epoch, &more)
    }

    /// The sampler of the rest of an epoch after a state. Failures: `state`, `consumed`, or the first member of the
    /// order that differs; `samples`, `epoch` as [`Sampler::at_epoch`].
    pub fn resume(&self, state: &str) -> Result<Self, Failure> {
        let state = SamplerState::read(state)?;
        self.part.check_resumes(state.recipe(), (state.epoch, state.consumed), state::AS_IN_STATE)?;
        self.at(Config { epoch: state.epoch, consumed: state.consumed, ..self.config })
    }

    /// How many samples this rank gets in this deal, padding included. After `rest` or `resume`, this does not count
    /// the samples that were dealt before.
    pub fn num_samples(&self) -> u64 {
        self.deal.num_samples()
    }

    /// This rank's samples number `start` to `start + count - 1`. Failures: `start`, `count`, `samples`.
    pub fn indices<T: Index>(&self, start: u64, count: u32) -> Result<Vec<T>, Failure> {
        check_run(start, count, self.num_samples())?;
        self.check_width::<T>()?;
        self.window(start, count, ("count", count))
    }

    /// Whole epochs of this rank: the number of its samples in each epoch, and all these samples. The first epoch is
    /// `epoch`. There are up to `count` epochs, as many as have at most `most` positions together. An epoch with fewer
    /// positions than the dataset has samples counts as many positions as there are samples. If the first epoch has
    /// more than `most`, only the number of its samples is returned. Failures: as `at_epoch`; `count`, `most`,
    /// `samples`.
    pub fn short_epochs(&self, epoch: u64, count: u32, most: u32) -> Result<(Vec<u64>, Vec<u64>), Failure> {
        let mut own = self.at_epoch(epoch)?;
        if !(1..=MAX_COUNT).contains(&count) {
            return Err(Failure::out_of_range("count", count, range(1, MAX_COUNT)));
        }
        if most > MAX_COUNT {
            return Err(Failure::out_of_range("most", most, at_most(MAX_COUNT)));
        }
        let no_memory = |_| Failure::out_of_memory("most", most, "fewer at a time");
        let (mut numbers, mut indices) = (Vec::new(), Vec::new());
        let mut room = u64::from(most);
        loop {
            let number = own.num_samples();
            // The size counts all samples of the order, because a table has all of them.
            let size = number.max(own.epoch_length()).max(own.config.samples);
            if size <= room || numbers.is_empty() {
                numbers.try_reserve(1).map_err(no_memory)?;
                numbers.push(number);
            }
            if size > room {
                break;
            }
            room -= size;
            let start = indices.len();
            indices.try_reserve(number as usize).map_err(no_memory)?;
            indices.resize(start + number as usize, 0);
            own.fill(own.order()?, 0, &mut indices[start..])?;
            let next = own.config.epoch.checked_add(1).filter(|_| numbers.len() < count as usize);
            // With a composed order, an epoch may be the last one that can be used.
            let Some(Ok(after)) = next.map(|epoch| own.at_epoch(epoch)) else { break };
            own = after;
        }
        Ok((numbers, indices))
    }

    /// Number of samples of the rank that has the most.
    pub fn max_num_samples(&self) -> u64 {
        self.deal.of_rank(self.deal.fullest()).num_samples()
    }

    /// How many batches this rank gets: rounded down with `drop_last`, else up. Failures: `batch_size`.
    pub fn num_batches(&self, batch_size: u32, drop_last: bool) -> Result<u64, Failure> {
        let size = check_batch_size(batch_size)?;
        Ok(if drop_last { self.num_samples() / size } else { self.num_samples().div_ceil(size) })
    }

    /// Batch number `batch` of this rank. Failures: `batch_size`, `batch`, `samples`.
    pub fn batch<T: Index>(&self, batch: u64, batch_size: u32, drop_last: bool) -> Result<Vec<T>, Failure> {
        let batches = self.num_batches(batch_size, drop_last)?;
        check_below("batch", batch, batches)?;
        let start = batch * u64::from(batch_size);
        let count = u64::from(batch_size).min(self.num_samples() - start);
        if count > u64::from(MAX_COUNT) {
            return Err(Failure::out_of_range("batch_size", batch_size, range(1, MAX_COUNT).and(" in one piece")));
        }
        self.check_width::<T>()?;
        self.window(start, count as u32, ("batch_size", batch_size))
    }

    /// The batches of the ranks `first` to `first + count - 1` at a step: the samples, rank by rank, and how many of
    /// them each rank has. Failures: `batch_size`, `step`, `first`, `count`, `samples`.
    pub fn step(
        &self,
        step: u64,
        batch_size: u32,
        drop_last: bool,
        first: u32,
        count: u32,
    ) -> Result<(Vec<u64>, Vec<u32>), Failure> {
        let of = |rank| Self {
            config: Config { rank, ..self.config },
            deal: self.deal.of_rank(rank),
            part: Rc::clone(&self.part),
            order: Rc::clone(&self.order),
        };
        let fullest = of(self.deal.fullest());
        let batches = fullest.num_batches(batch_size, drop_last)?;
        check_below("step", step, batches)?;
        let each = u64::from(batch_size).min(fullest.num_samples() - step * u64::from(batch_size));
        check_ranks(first, count, self.config.world_size, each)?;
        let (mut samples, mut counts) = (Vec::new(), Vec::new());
        samples
            .try_reserve_exact((each * u64::from(count)) as usize)
            .and_then(|()| counts.try_reserve_exact(count as usize))
            .map_err(|_| Failure::out_of_memory("count", count, "fewer at a time"))?;
        for rank in first..first + count {
            let own = of(rank);
            let has = step < own.num_batches(batch_size, drop_last)?;
            let found: Vec<u64> = if has { own.batch(step, batch_size, drop_last)? } else { Vec::new() };
            samples.extend_from_slice(&found);
            counts.push(found.len() as u32);
        }
        Ok((samples, counts))
    }

    /// The sample at a global position, whichever rank it is or was dealt to. Failures: `position`.
    pub fn sample_at(&self, position: u64) -> Result<u64, Failure> {
        check_below("position", position, self.deal.end())?;
        self.order()?.sample(position % self.deal.samples())
    }

    /// The place where the sample at a global position is stored, whichever rank it is or was dealt to. Failures:
    /// `position`.
    pub(crate) fn stored_at(&self, position: u64) -> Result<Stored, Failure> {
        check_below("position", position, self.deal.end())?;
        self.order()?.stored(position % self.deal.samples())
    }

    /// The first place of a sample in this deal; none if it is dropped, or was dealt before. Failures: `sample`,
    /// `batch_size`.
    pub fn locate(&self, sample: u64, batch_size: u32) -> Result<Option<Place>, Failure> {
        check_below("sample", sample, self.config.samples)?;
        check_batch_size(batch_size)?;
        let found = self.next(sample, self.deal.consumed())?;
        Ok(found.map(|position| self.deal.place(position, batch_size)))
    }

    /// `locate` for each of these samples. If the order has a table, one pass over the table finds all samples.
    /// Failures: `samples` (too many), `sample`, `batch_size`.
    pub fn locate_all(&self, samples: &[u64], batch_size: u32) -> Result<Vec<Option<Place>>, Failure> {
        check_count("samples", samples.len(), "numbers")?;
        for &sample in samples {
            check_below("sample", sample, self.config.samples)?;
        }
        check_batch_size(batch_size)?;
        let in_table = self.order()?.in_table(samples)?;
        let mut found = collect("samples", samples.len(), [])?;
        for (at, &sample) in samples.iter().enumerate() {
            let position = match &in_table {
                Some(positions) => {
                    self.first_from(self.deal.consumed(), |from| Ok(Some(positions[at]).filter(|it| *it >= from)))?
                }
                None => self.next(sample, self.deal.consumed())?,
            };
            found.push(position.map(|position| self.deal.place(position, batch_size)));
        }
        Ok(found)
    }

    /// The first place of a sample in this deal, from a global position on. Failures: `sample`, `position`,
    /// `batch_size`.
    pub fn locate_from(&self, sample: u64, position: u64, batch_size: u32) -> Result<Option<Place>, Failure> {
        check_below("sample", sample, self.config.samples)?;
        let (first, end) = (self.deal.consumed(), self.deal.end());
        if !(first..=end).contains(&position) {
            return Err(Failure::out_of_range("position", position, range(first, end)));
        }
        check_batch_size(batch_size)?;
        let found = self.next(sample, position)?;
        Ok(found.map(|position| self.deal.place(position, batch_size)))
    }

    /// The first position of a sample from `from` on, padding included.
    fn next(&self, sample: u64, from: u64) -> Result<Option<u64>, Failure> {
        let order = self.order()?;
        self.first_from(from, |from| order.next(sample, from))
    }

    /// The first position of a sample from `from` on, padding included. `next(p)` finds the first position of the
    /// sample in the order from p on.
    fn first_from(
        &self,
        from: u64,
        next: impl Fn(u64) -> Result<Option<u64>, Failure>,
    ) -> Result<Option<u64>, Failure> {
        let (length, end) = (self.deal.samples(), self.deal.end());
        if from >= end {
            return Ok(None);
        }
        let round = from - from % length;
        let found = match next(from - round)? {
            Some(position) => Some(round + position),
            // The sample may come again, as padding.
            None if end - round > length => next(0)?.map(|position| round + length + position),
            None => None,
        };
        Ok(found.filter(|&position| position < end))
    }

    /// The place of a global position: its rank and its batch. Failures: `position`, `batch_size`.
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
            self.fill(order, start, &mut window[..count as usize])?;
            hash.update(&window[..count as usize]);
            start += count;
        }
        Ok(hash.finish())
    }

    /// SHA-256 over the recipe, the epoch and the number of consumed positions, in hexadecimal: the same on all ranks
    /// of a deal.
    pub fn config_fingerprint(&self) -> String {
        let Config { epoch, consumed, .. } = self.config;
        let end = format!("{{\"epoch\":{epoch},\"consumed\":{consumed}}}");
        self.recipe().pieces(|recipe| {
            recipe::fingerprint(&|each| {
                recipe(each);
                each(&end);
            })
        })
    }

    pub(super) fn order(&self) -> Result<&Order, Failure> {
        if let Some(order) = self.order.get() {
            return Ok(order);
        }
        let order = self.part.order(self.config.epoch)?;
        Ok(self.order.get_or_init(|| order))
    }

    /// A run of this rank's samples. The caller has checked that the run lies within the rank's samples, and has at
    /// most [`MAX_COUNT`] of them. `asked` is the parameter that failures name, and its value.
    fn window<T: Index>(&self, start: u64, count: u32, asked: (&'static str, u32)) -> Result<Vec<T>, Failure> {
        let order = self.order()?;
        let mut out = Vec::new();
        out.try_reserve_exact(count as usize)
            .map_err(|_| Failure::out_of_memory(asked.0, asked.1, "fewer at a time"))?;
        out.resize(count as usize, T::default());
        self.fill(order, start, &mut out)?;
        Ok(out)
    }

    fn fill<T: Index>(&self, order: &Order, start: u64, out: &mut [T]) -> Result<(), Failure> {
        let length = self.deal.samples();
        let Some((first, stride)) = self.deal.run() else {
            let mut start = start;
            return in_blocks(out, |block| {
                self.deal.positions(start, block);
                start += block.len() as u64;
                // Padding repeats the order from its first position.
                block.iter_mut().filter(|place| **place >= length).for_each(|place| *place %= length);
                order.map(block)
            });
        };
        let real = self.num_samples() - self.deal.num_padding();
        let split = real.saturating_sub(start).min(out.len() as u64) as usize;
        let (samples, padding) = out.split_at_mut(split);
        order.fill(first + start * stride, stride, samples)?;
        for (i, place) in (start + split as u64..).zip(padding) {
            *place = T::from_u64(order.sample((first + i * stride) % length)?);
        }
        Ok(())
    }

    fn check_width<T: Index>(&self) -> Result<(), Failure> {
        let most = 1 << (8 * size_of::<T>()).min(53);
        if self.config.samples > most {
            let allowed = range(0, most).and(" in windows of 32-bit numbers");
            return Err(Failure::out_of_range("samples", self.config.samples, allowed).at("order.samples"));
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

pub(super) fn check_batch_size(batch_size: u32) -> Result<u64, Failure> {
    if batch_size == 0 {
        return Err(Failure::out_of_range("batch_size", 0, range(1, u32::MAX)));
    }
    Ok(u64::from(batch_size))
}

#[cfg(test)]
mod tests {
    use alloc::rc::Rc;

    use super::Sampler;
    use crate::deal::{Config, Recipe};
    use crate::order::OrderId;

    /// Whether two samplers share one table, built or not.
    fn share(one: &Sampler, other: &Sampler) -> bool {
        Rc::ptr_eq(&one.order, &other.order)
    }

    #[test]
    fn samplers_of_one_epoch_share_its_table() {
        let config = Config { order: OrderId::Torch, epoch: 2, world_size: 4, ..Config::new(1_000) };
        let first = Sampler::new(config).unwrap();
        let (second, rest) = (first.at_rank(1).unwrap(), first.rest(100).unwrap());
        let resumed = first.at_epoch(7).unwrap().resume(&first.state(3).unwrap()).unwrap();
        let again = first.at_epoch(2).unwrap();
        for other in
            [&second, &rest, &again, &rest.at_epoch(2).unwrap(), &first.resume(&rest.state(1).unwrap()).unwrap()]
        {
            assert!(share(&first, other));
        }
        // No call needed a sample yet, so the table is not built.
        assert!(first.order.get().is_none());
        let index = second.indices::<u64>(0, 1).unwrap();
        let built: *const _ = first.order.get().unwrap();
        assert!(core::ptr::eq(built, again.order().unwrap()));
        assert_eq!(first.sample_at(1).unwrap(), index[0]);

        // Samplers of other epochs have tables of their own, and nothing was built for them.
        for other in [first.at_epoch(3).unwrap(), first.at_epoch(7).unwrap(), resumed] {
            assert!(!share(&first, &other));
            assert!(other.order.get().is_none());
        }
        // A resumed sampler has the epoch of the state, not that of the sampler that resumes.
        let state = first.state(3).unwrap();
        assert!(share(&first, &first.resume(&state).unwrap()));
        let later = first.at_epoch(3).unwrap().resume(&state).unwrap();
        assert_eq!((later.config().epoch, later.config().consumed), (2, 12));
        assert_eq!(later.sample_at(50), first.sample_at(50));
        let earlier = first.resume(&later.at_epoch(3).unwrap().state(3).unwrap()).unwrap();
        assert!(!share(&first, &earlier) && earlier.config().epoch == 3);
        assert_ne!(earlier.indices::<u64>(0, 200), later.indices(0, 200));
    }

    #[test]
    fn samplers_of_one_recipe_share_its_shards() {
        let sizes: [u64; 3] = [40, 7, 60];
        let recipe = Recipe::read(r#"{"order": {"name": "sharded"}}"#, &[("sizes", &sizes)]).unwrap();
        let sampler = Sampler::from_recipe(&recipe, 0, 0).unwrap();
        let later = Sampler::from_recipe(&sampler.recipe(), 1, 0).unwrap().at_epoch(5).unwrap().rest(9).unwrap();
        assert!(Rc::ptr_eq(&sampler.part, &later.part));
        assert!(!share(&sampler, &later));
    }
}
