use std::ops::RangeBounds;
use std::sync::{Arc, OnceLock};

use super::WINDOW;
use super::verify::verify_runs;
use crate::engine::{Object, shards, types};
use crate::generated::ShardPlanValues;
use crate::range::{read, run};
use crate::{BalanceBy, BatchSize, Error, Failure, LoadSummary, Loads, PlanBuilder, Steps, Tier, Verification};

/// A plan of one epoch, which assigns each shard to one worker of one rank. Every shard has exactly one reader.
///
/// All methods except [`set_epoch`](Self::set_epoch) take `&self`. Threads may share a plan; their calls run one after
/// the other, also with the plans that were made from it.
///
/// ```
/// use samedeal::{Policy, ShardPlan, Tier, BalanceBy, WorkerPolicy};
///
/// // 100 shards for 8 ranks with 4 workers each, in turn.
/// let builder = ShardPlan::builder([1_000; 100]).world_size(8).workers(4).shuffle(false);
/// let plan = builder.policy(Policy::RoundRobin).worker_policy(WorkerPolicy::RoundRobin).build()?;
/// assert_eq!(plan.shards(0, 0)?, [0, 32, 64, 96]);
/// assert_eq!(plan.shards(7, 3)?, [31, 63, 95]);
/// assert!(plan.verify()?.is_ok());
///
/// // Some ranks have 13 shards and others 12: ranks would end at different steps.
/// let balance = plan.load_summary(Tier::Ranks, BalanceBy::Samples)?;
/// assert_eq!((balance.min, balance.max, balance.imbalance()), (12_000, 13_000, 1.04));
/// assert!(!plan.steps(32)?.is_equal());
/// # Ok::<(), samedeal::Error>(())
/// ```
pub struct ShardPlan {
    pub(crate) object: Object<shards::Plan>,
    pub(crate) values: ShardPlanValues,
    /// The sizes of the shards, cached at the first call of `sizes`.
    sizes: OnceLock<Arc<[u64]>>,
}

impl ShardPlan {
    /// A plan for shards with these numbers of samples. By default, there is one reader, shards and rows are shuffled, and weights
    /// are balanced.
    pub fn builder(sizes: impl Into<Vec<u64>>) -> PlanBuilder {
        PlanBuilder::new(None).sizes(sizes)
    }

    /// The plan of a recipe, which decides everything but the epoch. An option that is set afterwards, such as
    /// `world_size`, replaces the option of the recipe. A recipe has only hashes of lists of more than 256 numbers: set
    /// these lists too, such as [`sizes`](PlanBuilder::sizes). SPEC.md, section 14, has the grammar.
    ///
    /// ```
    /// use samedeal::{Policy, ShardPlan};
    /// let plan = ShardPlan::builder([300, 0, 500]).seed(42).world_size(2).policy(Policy::RoundRobin).build()?;
    /// let same = ShardPlan::from_recipe(plan.recipe()?).build()?;
    /// assert_eq!((same.shards(1, 0)?, same.recipe_fingerprint()?), (plan.shards(1, 0)?, plan.recipe_fingerprint()?));
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn from_recipe(recipe: impl Into<String>) -> PlanBuilder {
        PlanBuilder::new(Some(recipe.into()))
    }

    pub(super) fn of(object: Object<shards::Plan>) -> Result<Self, Error> {
        Ok(Self { values: ShardPlanValues::ask(&object)?, object, sizes: OnceLock::new() })
    }

    pub(crate) fn another(&self, object: Object<shards::Plan>) -> Result<Self, Error> {
        Ok(Self { sizes: self.sizes.clone(), ..Self::of(object)? })
    }

    /// Number of samples in each shard.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn sizes(&self) -> Result<&[u64], Error> {
        if let Some(sizes) = self.sizes.get() {
            return Ok(sizes);
        }
        let sizes = self.raw_sizes()?;
        Ok(self.sizes.get_or_init(|| sizes.into()))
    }

    /// Changes the plan to another epoch. Costs as much as a new plan.
    ///
    /// # Errors
    ///
    /// Out of memory; the plan then stays at its epoch.
    pub fn set_epoch(&mut self, epoch: u64) -> Result<(), Error> {
        if epoch != self.epoch() {
            *self = self.at_epoch(epoch)?;
        }
        Ok(())
    }

    /// The smallest and the largest number of steps of a rank, if each worker makes batches from its own samples.
    ///
    /// # Errors
    ///
    /// Out of range (`batch_size` is 0).
    pub fn steps(&self, size: impl Into<BatchSize>) -> Result<Steps, Error> {
        let BatchSize { samples, drop_last } = size.into();
        self.raw_step_bounds(samples, drop_last)
    }

    /// A reader's shards, in the order in which it reads them.
    ///
    /// # Errors
    ///
    /// Out of range (`rank`, `worker`).
    pub fn shards(&self, rank: u32, worker: u32) -> Result<Vec<u32>, Error> {
        let all = (0, self.num_shards(rank, worker)?.into());
        read(all, WINDOW, |start, count| self.shards_window(rank, worker, start as u32, count))
    }

    /// The loads of all ranks, or of all workers.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn loads(&self, tier: Tier) -> Result<Loads, Error> {
        let members = match tier {
            Tier::Ranks => self.world_size(),
            Tier::Workers => self.world_size() * self.workers(),
        };
        let mut loads = Loads::default();
        for start in (0..members).step_by(WINDOW as usize) {
            self.add_loads(&mut loads, tier, start, (members - start).min(WINDOW))?;
        }
        Ok(loads)
    }

    /// The loads of `count` ranks or workers, from number `start` on, in one call of the component.
    ///
    /// # Errors
    ///
    /// Out of range (`start`, `count`), out of memory.
    pub fn loads_window(&self, tier: Tier, start: u32, count: u32) -> Result<Loads, Error> {
        let mut loads = Loads::default();
        self.add_loads(&mut loads, tier, start, count)?;
        Ok(loads)
    }

    fn add_loads(&self, loads: &mut Loads, tier: Tier, start: u32, count: u32) -> Result<(), Error> {
        let found = self.raw_loads(tier.name(), start, count)?;
        loads.extend(found.into_iter().map(|types::NamedList { name, numbers }| (name, numbers)));
        Ok(())
    }

    /// The smallest, largest and total load of the ranks or the workers, in samples or in bytes.
    ///
    /// # Errors
    ///
    /// [`Missing`](crate::FailureKind::Missing) (`bytes`).
    pub fn load_summary(&self, tier: Tier, balance_by: BalanceBy) -> Result<LoadSummary, Error> {
        let shards::LoadSummary { min, max, total, members } = self.raw_load_summary(tier.name(), balance_by.name())?;
        let imbalance = self.raw_imbalance(tier.name(), balance_by.name())?;
        Ok(LoadSummary { min, max, total, members, imbalance })
    }

    /// The rows of a shard, in the order in which its reader returns them, in a range of any length; `..` means all
    /// rows. A row is the 0-based number of a sample within its shard. With
    /// [`shuffle_rows`](PlanBuilder::shuffle_rows), the order depends on the seed, the epoch and the shard; else it is
    /// the storage order.
    ///
    /// # Errors
    ///
    /// Out of range (`shard`, `start`; `count` if the range ends after the shard), out of memory.
    pub fn rows(&self, shard: u32, range: impl RangeBounds<u64>) -> Result<Vec<u64>, Error> {
        let Some(&samples) = self.sizes()?.get(shard as usize) else {
            // There is no such shard: the component returns the failure.
            return self.rows_window(shard, 0, 0);
        };
        read(run(range, samples)?, WINDOW, |start, count| self.rows_window(shard, start, count))
    }

    /// Checks that every shard has exactly one reader in this plan. Reader number r * workers + w is worker w of rank r.
    ///
    /// # Errors
    ///
    /// Out of memory.
    pub fn verify(&self) -> Result<Verification, Error> {
        let (count, workers) = (self.sizes()?.len(), self.workers());
        let no_memory = |_| Failure::out_of_memory("sizes", count, "fewer shards");
        let (mut offsets, mut assigned) = (vec![0], Vec::new());
        for (reader, shards) in (0..).zip(self.loads(Tier::Workers)?.shards) {
            if shards > 0 {
                let shards = self.shards(reader / workers, reader % workers)?;
                assigned.try_reserve(shards.len()).map_err(no_memory)?;
                assigned.extend(shards);
            }
            offsets.push(assigned.len() as u32);
        }
        verify_runs(count as u32, &offsets, &assigned)
    }
}
