use std::ops::RangeBounds;

use wasmtime::component::ResourceAny;

use super::WINDOW;
use super::verify::verify_runs;
use crate::engine::{Object, Planning, Store, check_room, planning_types, shards};
use crate::range::{read, run};
use crate::{Balance, Error, Failure, Load, Locality, PlanBuilder, PlanConfig, Steps, Tier, Verification, Weight};

/// Which worker of which rank reads which shard in one epoch. Every shard has exactly one reader.
///
/// All methods except [`set_epoch`](Self::set_epoch) take `&self`. Threads may share a plan; their calls run one after
/// the other.
///
/// ```
/// use samedeal::{Policy, ShardPlan, Tier, Weight};
///
/// // 100 shards for 8 ranks with 4 workers each.
/// let plan = ShardPlan::builder([1_000; 100]).world(8).workers(4).build()?;
/// assert_eq!(plan.shards(0, 0)?, [0, 32, 64, 96]);
/// assert_eq!(plan.shards(7, 3)?, [31, 63, 95]);
/// assert!(plan.verify()?.is_ok());
///
/// // 13 of them for a rank, and 12 for another: ranks would end at different steps.
/// let balance = plan.balance(Tier::Ranks, Weight::Samples)?;
/// assert_eq!((balance.least, balance.most, balance.imbalance()), (12_000, 13_000, 1.04));
/// assert!(!plan.steps(32, false)?.is_equal());
/// # Ok::<(), samedeal::Error>(())
/// ```
pub struct ShardPlan {
    plan: Object<Planning>,
    config: PlanConfig,
}

impl ShardPlan {
    /// A plan for shards with these numbers of samples. By default, there is one reader.
    pub fn builder(sizes: impl Into<Vec<u64>>) -> PlanBuilder {
        PlanConfig::new(sizes.into()).into()
    }

    pub(super) fn build(config: PlanConfig, memory_limit: usize) -> Result<Self, Error> {
        let of_locality = |it: &Locality| it.holder_offsets.len() + it.holders.len() + it.rank_nodes.len();
        let bytes = 8 * (config.sizes.len() + config.bytes.len()) + 4 * config.locality.as_ref().map_or(0, of_locality);
        check_room(memory_limit, "sizes", config.sizes.len(), bytes)?;
        let config: shards::PlanConfig = config.into();
        let plan = Object::new(memory_limit, |exports: &Planning, store| {
            exports.samedeal_deal_shards().plan().call_constructor(store, &config)
        })?;
        Ok(Self { plan, config: config.into() })
    }

    /// The configuration as it stands, with the current epoch.
    pub fn config(&self) -> &PlanConfig {
        &self.config
    }

    /// Changes the plan to another epoch. If anything is shuffled, this costs as much as a new plan. Errors: out of
    /// memory; the plan is then still that of the epoch before.
    pub fn set_epoch(&mut self, epoch: u64) -> Result<(), Error> {
        self.ask(|methods, store, plan| methods.call_set_epoch(store, plan, epoch))?;
        self.config.epoch = epoch;
        Ok(())
    }

    /// Number of shards of a reader. Errors: out of range (`rank`, `worker`).
    pub fn num_shards(&self, rank: u32, worker: u32) -> Result<u32, Error> {
        self.ask(|methods, store, plan| methods.call_num_shards(store, plan, rank, worker))
    }

    /// A reader's shards, in the order in which it reads them. Errors: out of range (`rank`, `worker`).
    pub fn shards(&self, rank: u32, worker: u32) -> Result<Vec<u32>, Error> {
        let all = (0, self.num_shards(rank, worker)?.into());
        read(all, WINDOW, |start, count| self.shards_window(rank, worker, start as u32, count))
    }

    /// A reader's shards number `start` to `start + count - 1`, in one call of the component.
    /// Errors: out of range (`rank`, `worker`, `start`, `count` above 2^20 or past the end).
    pub fn shards_window(&self, rank: u32, worker: u32, start: u32, count: u32) -> Result<Vec<u32>, Error> {
        self.ask(|methods, store, plan| methods.call_shards(store, plan, rank, worker, start, count))
    }

    /// The loads of all ranks, or of all workers. Errors: only those of the engine.
    pub fn loads(&self, tier: Tier) -> Result<Vec<Load>, Error> {
        let readers = match tier {
            Tier::Ranks => self.config.world,
            Tier::Workers => self.config.world * self.config.workers,
        };
        read((0, readers.into()), WINDOW, |start, count| self.loads_window(tier, start as u32, count))
    }

    /// The loads of `count` ranks or workers, from number `start` on, in one call of the component.
    /// Errors: out of range (`start`, `count` above 2^20 or past the end), out of memory.
    pub fn loads_window(&self, tier: Tier, start: u32, count: u32) -> Result<Vec<Load>, Error> {
        let loads = self.ask(|methods, store, plan| methods.call_loads(store, plan, tier.into(), start, count))?;
        let (loads, _) = loads.as_chunks();
        Ok(loads.iter().map(|&[shards, samples, bytes, local]| Load { shards, samples, bytes, local }).collect())
    }

    /// The smallest, largest and total load of the ranks or the workers, in samples or in bytes.
    /// Errors: [`Missing`](crate::FailureKind::Missing) (`bytes`).
    pub fn balance(&self, tier: Tier, weight: Weight) -> Result<Balance, Error> {
        let found = self.ask(|methods, store, plan| methods.call_balance(store, plan, tier.into(), weight.into()))?;
        let shards::Balance { least, most, total, members } = found;
        let imbalance =
            self.ask(|methods, store, plan| methods.call_imbalance(store, plan, tier.into(), weight.into()))?;
        Ok(Balance { least, most, total, members, imbalance })
    }

    /// A shuffled order of the rows of a shard, in a range of any length; `..` means all rows. A row is the 0-based
    /// number of a sample within its shard. The order depends on the seed, the epoch and the shard, and on nothing
    /// else. To read rows in storage order, do not call this function. Errors: out of range (`shard`, `start`; `count`
    /// if the range ends after the shard), out of memory.
    pub fn rows(&self, shard: u32, range: impl RangeBounds<u64>) -> Result<Vec<u64>, Error> {
        let Some(&samples) = self.config.sizes.get(shard as usize) else {
            // The component itself says what is wrong.
            return self.rows_window(shard, 0, 0);
        };
        read(run(range, samples)?, WINDOW, |start, count| self.rows_window(shard, start, count))
    }

    /// The rows of a shard number `start` to `start + count - 1`, in one call of the component.
    /// Errors: out of range (`shard`, `start`, `count` above 2^20 or past the end), out of memory.
    pub fn rows_window(&self, shard: u32, start: u64, count: u32) -> Result<Vec<u64>, Error> {
        self.ask(|methods, store, plan| methods.call_rows(store, plan, shard, start, count))
    }

    /// The smallest and the largest number of steps of a rank, if each worker makes batches of `batch_size` from its
    /// own samples. Errors: out of range (`batch-size` is 0).
    pub fn steps(&self, batch_size: u32, drop_last: bool) -> Result<Steps, Error> {
        let shards::Steps { least, most } =
            self.ask(|methods, store, plan| methods.call_steps(store, plan, batch_size, drop_last))?;
        Ok(Steps { least, most })
    }

    /// SHA-256 over the configuration with the current epoch, as 64 lower-case hexadecimal digits. It is equal on all
    /// ranks that have the same plan, and differs if any value differs that decides the plan or its loads. Costs
    /// O(shards). Errors: only those of the engine.
    pub fn config_fingerprint(&self) -> Result<String, Error> {
        self.plan
            .call(|exports, store, plan| exports.samedeal_deal_shards().plan().call_config_fingerprint(store, plan))
    }

    /// Checks that every shard has exactly one reader in this plan. Reader number r * workers + w is worker w of rank
    /// r. Errors: out of memory.
    pub fn verify(&self) -> Result<Verification, Error> {
        let (count, workers) = (self.config.sizes.len(), self.config.workers);
        let no_memory = |_| Failure::out_of_memory("sizes", count, "fewer shards");
        let (mut offsets, mut assigned) = (vec![0], Vec::new());
        for (reader, load) in (0..).zip(self.loads(Tier::Workers)?) {
            if load.shards > 0 {
                let shards = self.shards(reader / workers, reader % workers)?;
                assigned.try_reserve(shards.len()).map_err(no_memory)?;
                assigned.extend(shards);
            }
            offsets.push(assigned.len() as u32);
        }
        verify_runs(count as u32, &offsets, &assigned)
    }

    fn ask<T>(
        &self,
        call: impl FnOnce(
            &shards::GuestPlan<'_>,
            &mut Store,
            ResourceAny,
        ) -> wasmtime::Result<Result<T, planning_types::Failure>>,
    ) -> Result<T, Error> {
        self.plan.ask(|exports, store, plan| call(&exports.samedeal_deal_shards().plan(), store, plan))
    }
}

impl std::fmt::Debug for ShardPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the lists, which may have millions of items.
        let PlanConfig { sizes, world, workers, policy, worker_policy, weight, .. } = &self.config;
        let mut shown = f.debug_struct("ShardPlan");
        shown.field("shards", &sizes.len()).field("world", world).field("workers", workers);
        shown.field("policy", policy).field("worker_policy", worker_policy).field("weight", weight);
        shown.field("shuffle", &self.config.shuffle).field("reshuffle", &self.config.reshuffle);
        shown.field("seed", &self.config.seed).field("epoch", &self.config.epoch).finish()
    }
}
