use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::balance::balance;
use super::locality::Locality;
use super::names::{BalanceBy, Policy, Tier, WorkerPolicy};
use crate::base::Failure;
use crate::base::check::{check_below, check_run};
use crate::base::failure::{only, range};
use crate::base::key::Words;
use crate::base::memory::{collect, grow};
use crate::base::ratio::millionths;
use crate::document::recipe;
use crate::order::{Feistel, shuffle, total};

/// The configuration of a plan: everything that decides which reader gets which shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanConfig {
    /// Samples in each shard.
    pub sizes: Vec<u64>,
    /// Number of bytes in each shard. Needed if `balance_by` is [`BalanceBy::Bytes`].
    pub bytes: Option<Vec<u64>>,
    /// Number of ranks.
    pub world_size: u32,
    /// Number of workers of each rank, at least 1.
    pub workers: u32,
    /// How shards are dealt to ranks.
    pub policy: Policy,
    /// How the shards of a rank are dealt to its workers.
    pub worker_policy: WorkerPolicy,
    /// The weight that the policies `size-aware` and `locality-aware` balance.
    pub balance_by: BalanceBy,
    /// The nodes of shards and ranks, for [`Policy::LocalityAware`].
    pub locality: Option<Locality>,
    /// Whether the list of shards is shuffled before it is dealt. The shuffle is the same on all ranks.
    pub shuffle: bool,
    /// Whether the rows within each shard are shuffled.
    pub shuffle_rows: bool,
    /// Whether each reader shuffles its own shards again, after the deal.
    pub reshuffle: bool,
    /// Seed of the shuffles.
    pub seed: i64,
}

impl PlanConfig {
    /// A configuration that is size-aware for ranks and workers, and shuffles shards and rows.
    pub fn new(sizes: Vec<u64>, world_size: u32, workers: u32) -> Self {
        Self {
            sizes,
            bytes: None,
            world_size,
            workers,
            policy: Policy::SizeAware,
            worker_policy: WorkerPolicy::SizeAware,
            balance_by: BalanceBy::Samples,
            locality: None,
            shuffle: true,
            shuffle_rows: true,
            reshuffle: false,
            seed: 0,
        }
    }

    /// The nodes of shards and ranks, if the policy uses them.
    pub(super) fn used_locality(&self) -> Option<&Locality> {
        self.locality.as_ref().filter(|_| self.policy == Policy::LocalityAware)
    }

    fn check(&self) -> Result<(), Failure> {
        if self.world_size == 0 || self.world_size > MAX_READERS {
            return Err(Failure::out_of_range("world_size", self.world_size, range(1, MAX_READERS)));
        }
        let most = MAX_READERS / self.world_size;
        if self.workers == 0 || self.workers > most {
            return Err(Failure::out_of_range(
                "workers",
                self.workers,
                range(1, most).and(format_args!(", with {} ranks", self.world_size)),
            ));
        }
        total(&self.sizes, "sizes")?;
        check_bytes(self.bytes.as_deref(), self.balance_by, self.sizes.len())?;
        if let Some(bytes) = &self.bytes {
            total(bytes, "bytes")?;
        }
        if self.policy == Policy::LocalityAware {
            let Some(locality) = &self.locality else {
                return Err(Failure::missing(
                    "holders",
                    "the nodes that store each shard, with the policy locality-aware",
                ));
            };
            locality.check(self.sizes.len(), self.world_size)?;
        }
        Ok(())
    }
}

/// Checks that `bytes` has one number for each shard, and is there if the weight needs it. Failures: `bytes`.
pub(super) fn check_bytes(bytes: Option<&[u64]>, balance_by: BalanceBy, shards: usize) -> Result<(), Failure> {
    match bytes {
        None if balance_by == BalanceBy::Bytes => {
            Err(Failure::missing("bytes", "the bytes of every shard, with balance_by bytes"))
        }
        Some(bytes) if bytes.len() != shards => {
            let allowed = only(shards).and(", one for each shard");
            Err(Failure::contradiction("bytes", format!("{} sizes", bytes.len()), allowed))
        }
        _ => Ok(()),
    }
}

/// The most readers of a plan.
pub(super) const MAX_READERS: u32 = 1 << 22;

/// A plan: the shards of every worker of every rank, for one epoch.
pub struct Plan {
    config: Rc<PlanConfig>,
    epoch: u64,
    /// Only ranks and workers up to the last one with a shard are listed, since millions of others may have none. The
    /// listed workers of a rank have the numbers `firsts[rank]..firsts[rank + 1]` among all listed workers.
    firsts: Vec<u32>,
    /// The shards of listed worker number i are `assigned[offsets[i]..offsets[i + 1]]`.
    offsets: Vec<u32>,
    assigned: Vec<u32>,
}

impl Plan {
    /// The plan of an epoch, in which each shard goes to exactly one reader. Failures: any field of the configuration,
    /// or `out-of-memory`.
    pub fn new(config: Rc<PlanConfig>, epoch: u64) -> Result<Self, Failure> {
        config.check()?;
        let mut plan = Self { config, epoch, firsts: Vec::new(), offsets: Vec::new(), assigned: Vec::new() };
        plan.assign()?;
        Ok(plan)
    }

    /// The plan of another epoch. Failures: `out-of-memory`.
    pub fn at_epoch(&self, epoch: u64) -> Result<Self, Failure> {
        Self::new(Rc::clone(&self.config), epoch)
    }

    /// The epoch of the shuffles.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The configuration of the plan.
    pub fn config(&self) -> &PlanConfig {
        &self.config
    }

    /// How many samples each shard has. Failures: `out-of-memory`.
    pub fn sizes(&self) -> Result<Vec<u64>, Failure> {
        collect("sizes", self.config.sizes.len(), self.config.sizes.iter().copied())
    }

    /// How many bytes each shard has, if that is known. Failures: `out-of-memory`.
    pub fn bytes(&self) -> Result<Option<Vec<u64>>, Failure> {
        let Some(bytes) = &self.config.bytes else { return Ok(None) };
        collect("bytes", bytes.len(), bytes.iter().copied()).map(Some)
    }

    /// How many shards a reader has. Failures: `rank`, `worker`.
    pub fn num_shards(&self, rank: u32, worker: u32) -> Result<u32, Failure> {
        Ok(self.reader(rank, worker)?.len() as u32)
    }

    /// A reader's shards number `start` to `start + count - 1`, in the order in which it reads them. Failures: `rank`,
    /// `worker`, `start`, `count`.
    pub fn shards(&self, rank: u32, worker: u32, start: u32, count: u32) -> Result<Vec<u32>, Failure> {
        let shards = self.reader(rank, worker)?;
        check_run(start.into(), count, shards.len() as u64)?;
        collect("count", count as usize, shards[start as usize..].iter().copied())
    }

    /// The loads of `count` ranks or workers from number `start` on, in columns: `shards` and `samples`; `bytes`, if
    /// the plan has them; with [`Policy::LocalityAware`], `local`: the bytes (without bytes, the samples) that are
    /// stored on the rank's own node. Failures: `start`, `count`.
    pub fn loads(&self, tier: Tier, start: u32, count: u32) -> Result<Vec<(&'static str, Vec<u64>)>, Failure> {
        check_run(start.into(), count, self.members(tier).into())?;
        let workers = self.config.workers;
        let load = |member| match tier {
            Tier::Ranks => self.load(member, 0..workers),
            Tier::Workers => self.load(member / workers, member % workers..member % workers + 1),
        };
        let loads = collect("count", count as usize, (start..start + count).map(load))?;
        let mut columns = collect("count", 4, [])?;
        let mut add = |name: &'static str, of: fn(&Load) -> u64| -> Result<(), Failure> {
            columns.push((name, collect("count", loads.len(), loads.iter().map(of))?));
            Ok(())
        };
        add("shards", |load| load.shards)?;
        add("samples", |load| load.samples)?;
        if self.config.bytes.is_some() {
            add("bytes", |load| load.bytes)?;
        }
        if self.config.used_locality().is_some() {
            add("local", |load| load.local)?;
        }
        Ok(columns)
    }

    /// The smallest, largest and total load of the ranks or the workers, in samples or in bytes. Failures: `bytes` (the
    /// plan has none).
    pub fn load_summary(&self, tier: Tier, balance_by: BalanceBy) -> Result<LoadSummary, Failure> {
        if balance_by == BalanceBy::Bytes && self.config.bytes.is_none() {
            return Err(Failure::missing("bytes", "the bytes of every shard, to weigh them"));
        }
        let members = self.members(tier);
        let (mut min, mut max, mut total, mut seen) = (u64::MAX, 0, 0, 0);
        let mut add = |load: Load| {
            let load = if balance_by == BalanceBy::Samples { load.samples } else { load.bytes };
            (min, max, total, seen) = (load.min(min), load.max(max), total + load, seen + 1);
        };
        for rank in 0..self.busy_ranks() {
            match tier {
                Tier::Ranks => add(self.load(rank, 0..self.config.workers)),
                Tier::Workers => (0..self.busy_workers(rank)).for_each(|own| add(self.load(rank, own..own + 1))),
            }
        }
        if seen < members {
            min = 0;
        }
        Ok(LoadSummary { min, max, total, members })
    }

    /// The heaviest load divided by the mean load, in parts per million: 1,000,000 if all loads are equal, or all are
    /// 0. Failures: as `load_summary`.
    pub fn imbalance(&self, tier: Tier, balance_by: BalanceBy) -> Result<u64, Failure> {
        let LoadSummary { max, total, members, .. } = self.load_summary(tier, balance_by)?;
        let [max, total, members] = [max, total, members.into()].map(u128::from);
        Ok(if total == 0 { 1_000_000 } else { millionths(max * members, Some(total)) })
    }

    /// Rows number `start` to `start + count - 1` of a shard, in the order in which its reader gives them. Failures:
    /// `shard`, `start`, `count`.
    pub fn rows(&self, shard: u32, start: u64, count: u32) -> Result<Vec<u64>, Failure> {
        check_below("shard", shard.into(), self.config.sizes.len() as u64)?;
        let size = self.config.sizes[shard as usize];
        check_run(start, count, size)?;
        let mut rows = collect("count", count as usize, start..start + u64::from(count))?;
        if count > 0 && self.config.shuffle_rows {
            let mut words = Words::new("rows of a shard", self.config.seed, self.epoch, shard.into());
            Feistel::from_words(size, &mut words).fill(start, 1, &mut rows);
        }
        Ok(rows)
    }

    /// The least and the greatest number of steps of a rank, with batches of `batch_size` samples. Each worker makes
    /// batches of its own samples alone. Failures: `batch_size`.
    pub fn steps(&self, batch_size: u32, drop_last: bool) -> Result<(u64, u64), Failure> {
        if batch_size == 0 {
            return Err(Failure::out_of_range("batch_size", 0, range(1, u32::MAX)));
        }
        let size = u64::from(batch_size);
        let (mut least, mut most) = (if self.busy_ranks() < self.config.world_size { 0 } else { u64::MAX }, 0);
        for rank in 0..self.busy_ranks() {
            let samples = (0..self.busy_workers(rank)).map(|worker| self.load(rank, worker..worker + 1).samples);
            let batches = samples.map(|samples| if drop_last { samples / size } else { samples.div_ceil(size) });
            let steps: u64 = batches.sum();
            (least, most) = (steps.min(least), steps.max(most));
        }
        Ok((least, most))
    }

    /// SHA-256 over the recipe and the epoch, in O(shards), in hexadecimal.
    pub fn config_fingerprint(&self) -> String {
        let end = format!("{{\"epoch\":{}}}", self.epoch);
        self.pieces(|recipe| {
            recipe::fingerprint(&|each| {
                recipe(each);
                each(&end);
            })
        })
    }

    /// All shards of a reader, which must exist.
    pub(crate) fn all_shards(&self, rank: u32, worker: u32) -> &[u32] {
        self.list(rank, worker..worker + 1)
    }

    /// The rank after the last rank with a shard: the number of ranks that are listed.
    pub(crate) fn busy_ranks(&self) -> u32 {
        self.firsts.len().saturating_sub(1) as u32
    }

    /// The worker after the last worker of a rank with a shard: the number of listed workers of the rank.
    pub(crate) fn busy_workers(&self, rank: u32) -> u32 {
        self.listed(rank).len() as u32
    }

    fn reader(&self, rank: u32, worker: u32) -> Result<&[u32], Failure> {
        let PlanConfig { world_size, workers, .. } = *self.config;
        check_below("rank", rank.into(), world_size.into())?;
        check_below("worker", worker.into(), workers.into())?;
        Ok(self.all_shards(rank, worker))
    }

    /// The numbers of the workers of a rank among all listed workers.
    fn listed(&self, rank: u32) -> Range<usize> {
        match self.firsts.get(rank as usize..).and_then(|firsts| firsts.first_chunk()) {
            Some(&[first, end]) => first as usize..end as usize,
            None => 0..0,
        }
    }

    /// The shards of some workers of a rank.
    fn list(&self, rank: u32, workers: Range<u32>) -> &[u32] {
        let listed = self.listed(rank);
        if listed.is_empty() {
            return &[];
        }
        let place = |worker: u32| self.offsets[listed.end.min(listed.start + worker as usize)] as usize;
        &self.assigned[place(workers.start)..place(workers.end)]
    }

    /// Number of ranks or workers.
    fn members(&self, tier: Tier) -> u32 {
        let PlanConfig { world_size, workers, .. } = *self.config;
        match tier {
            Tier::Ranks => world_size,
            Tier::Workers => world_size * workers,
        }
    }

    /// The load of some workers of a rank.
    fn load(&self, rank: u32, workers: Range<u32>) -> Load {
        let mut load = Load::default();
        for &shard in self.list(rank, workers) {
            let samples = self.config.sizes[shard as usize];
            let bytes = self.config.bytes.as_ref().map(|bytes| bytes[shard as usize]);
            load.shards += 1;
            load.samples += samples;
            load.bytes += bytes.unwrap_or(0);
            if self.config.used_locality().is_some_and(|locality| locality.is_local(shard, rank)) {
                load.local += bytes.unwrap_or(samples);
            }
        }
        load
    }

    fn weight(&self, shard: u32) -> u64 {
        match self.config.balance_by {
            BalanceBy::Bytes => self.config.bytes.as_ref().map_or(0, |bytes| bytes[shard as usize]),
            BalanceBy::Samples => self.config.sizes[shard as usize],
        }
    }

    /// Orders the shards, and gives them to ranks, then to workers.
    fn assign(&mut self) -> Result<(), Failure> {
        let PlanConfig { world_size, workers, policy, worker_policy, shuffle: mix, reshuffle, seed, .. } = *self.config;
        let epoch = self.epoch;
        let count = self.config.sizes.len();
        let mut order = collect("sizes", count, 0..count as u32)?;
        if mix {
            shuffle(&mut order, &mut Words::new("shards", seed, epoch, 0));
        }
        let owners = self.split(policy, &order, world_size)?;
        let (rank_offsets, ranked) = group(&order, &owners)?;
        let mut firsts = collect("world_size", rank_offsets.len(), [0])?;
        let mut offsets = collect("world_size", rank_offsets.len(), [0])?;
        let mut assigned = collect("sizes", count, [])?;
        for bounds in rank_offsets.windows(2) {
            let shards = &ranked[bounds[0] as usize..bounds[1] as usize];
            let owners = self.split(worker_policy.into(), shards, workers)?;
            let (worker_offsets, grouped) = group(shards, &owners)?;
            grow("workers", worker_offsets.len(), &mut offsets)?;
            offsets.extend(worker_offsets[1..].iter().map(|end| bounds[0] + end));
            firsts.push(offsets.len() as u32 - 1);
            assigned.extend(grouped);
        }
        if reshuffle {
            for (rank, listed) in (0..).zip(firsts.windows(2)) {
                for (worker, at) in (0..).zip(listed[0] as usize..listed[1] as usize) {
                    let shards = &mut assigned[offsets[at] as usize..offsets[at + 1] as usize];
                    let reader = rank * u64::from(workers) + worker;
                    shuffle(shards, &mut Words::new("shards of a reader", seed, epoch, reader));
                }
            }
        }
        (self.firsts, self.offsets, self.assigned) = (firsts, offsets, assigned);
        Ok(())
    }

    /// For each shard, the number of the part that gets it, below `parts`. The shards are in the order of the epoch.
    fn split(&self, policy: Policy, shards: &[u32], parts: u32) -> Result<Vec<u32>, Failure> {
        if policy == Policy::RoundRobin {
            return collect("sizes", shards.len(), (0..parts).cycle());
        }
        let weights = collect("sizes", shards.len(), shards.iter().map(|&shard| self.weight(shard)))?;
        match (policy, self.config.used_locality()) {
            (Policy::LocalityAware, Some(locality)) => locality.assign(&weights, shards, parts),
            _ => balance(&weights, parts),
        }
    }
}

/// The bounds and the sum of the loads of all ranks or workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadSummary {
    /// The smallest load.
    pub min: u64,
    /// The largest load.
    pub max: u64,
    /// The sum of all loads.
    pub total: u64,
    /// Number of ranks or workers.
    pub members: u32,
}

/// The load of a worker, or of all workers of a rank.
#[derive(Default)]
struct Load {
    shards: u64,
    samples: u64,
    bytes: u64,
    local: u64,
}

/// Groups items by their owners; items of one owner keep their order. Returns the places where the items of each owner
/// begin, up to the last owner that has any, then the end; and the items.
fn group(items: &[u32], owners: &[u32]) -> Result<(Vec<u32>, Vec<u32>), Failure> {
    let parts = owners.iter().max().map_or(0, |&last| last as usize + 1);
    let mut ends = collect("world_size", parts + 1, (0..=parts).map(|_| 0))?;
    for &owner in owners {
        ends[owner as usize + 1] += 1;
    }
    for part in 0..parts {
        ends[part + 1] += ends[part];
    }
    let mut next = collect("world_size", parts, ends.iter().copied())?;
    let mut grouped = collect("sizes", items.len(), items.iter().map(|_| 0))?;
    for (&item, &owner) in items.iter().zip(owners) {
        grouped[next[owner as usize] as usize] = item;
        next[owner as usize] += 1;
    }
    Ok((ends, grouped))
}
