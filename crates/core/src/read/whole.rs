//! Deals whole shards to readers. If a shard was read in part, the rest of its rows is dealt as a shard.

use alloc::format;
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::recipe::{Dealt, Recipe};
use super::segment::{Group, Segment, split};
use super::turns;
use crate::base::Failure;
use crate::base::failure::at_most;
use crate::base::memory::collect;
use crate::base::sort::sort_short;
use crate::shard::{Plan, PlanConfig};

/// The shards of one reader, and for each shard the number of its rows that were read before. All readers read the rows
/// of a shard in the same order, so these are the first rows of this order.
pub(super) struct WholeReader {
    /// Shards with rows that are left, and shards that never had any.
    pub(super) all: Vec<u32>,
    /// Shards with rows that are left.
    pub(super) shards: Vec<u32>,
    /// For each of `shards`, the number of rows that were read before.
    pub(super) taken: Vec<u64>,
    /// The number of the reader's rows before each shard, and then the number of all its rows.
    pub(super) starts: Vec<u64>,
}

impl WholeReader {
    fn new(recipe: &Recipe, all: &[u32], taken: &[u64], mut skipped: u64) -> Result<Self, Failure> {
        let mut reader = Self {
            all: collect("sizes", all.len(), [])?,
            shards: collect("sizes", all.len(), [])?,
            taken: collect("sizes", all.len(), [])?,
            starts: collect("sizes", all.len() + 1, [0])?,
        };
        let mut end = 0;
        for &shard in all {
            let size = recipe.shards().size(shard);
            let before = taken[shard as usize];
            let more = skipped.min(size - before);
            skipped -= more;
            if before + more < size || size == 0 {
                reader.all.push(shard);
            }
            if before + more < size {
                reader.shards.push(shard);
                reader.taken.push(before + more);
                end += size - before - more;
                reader.starts.push(end);
            }
        }
        Ok(reader)
    }

    pub(super) fn samples(&self) -> u64 {
        self.starts[self.shards.len()]
    }
}

/// The number of rows of each shard that were taken by the steps of a history; all rows if the epoch is consumed.
/// Failures: `history`, `out-of-memory`.
fn taken(recipe: &Recipe, epoch: u64, consumed: u64, history: &[Segment]) -> Result<Vec<u64>, Failure> {
    let count = recipe.shards().count() as usize;
    if consumed > 0 {
        if let Some(Segment { group, steps }) = history.first() {
            let allowed =
                at_most(0).and(format_args!(" steps of {} ranks, as all samples are consumed", group.world_size));
            return Err(Failure::out_of_range("history", format!("{steps} steps"), allowed));
        }
        return collect("sizes", count, recipe.shards().sizes());
    }
    let mut taken = collect("sizes", count, (0..count).map(|_| 0))?;
    for &Segment { group, steps } in history {
        let plan = plan(recipe, epoch, group, &taken)?;
        check_steps(&plan, group, steps)?;
        for rank in 0..plan.busy_ranks() {
            let rows = rows(&plan, rank)?;
            let (given, _) = turns::given(&batches(&rows, group)?, group.workers, steps)?;
            for (worker, given) in (0..).zip(given) {
                let mut left = given.saturating_mul(group.batch_size.into());
                for &shard in plan.all_shards(rank, worker) {
                    let more = left.min(plan.config().sizes[shard as usize]);
                    taken[shard as usize] += more;
                    left -= more;
                }
            }
        }
    }
    Ok(taken)
}

/// A group of readers: the plan of the rows that were left when the group began, and the number of steps that it has
/// taken since.
pub(super) struct WholeGroup {
    group: Group,
    taken: Vec<u64>,
    plan: Plan,
    steps: u64,
}

impl WholeGroup {
    /// The group after the steps of a history. Failures: `history`, `out-of-memory`.
    pub(super) fn new(
        recipe: &Recipe,
        epoch: u64,
        (consumed, history): (u64, &[Segment]),
        group: Group,
    ) -> Result<Self, Failure> {
        let (before, steps) = split(history, group);
        let taken = taken(recipe, epoch, consumed, before)?;
        let plan = plan(recipe, epoch, group, &taken)?;
        check_steps(&plan, group, steps)?;
        Ok(Self { group, taken, plan, steps })
    }

    /// The rank after the last one that may have rows left.
    pub(super) fn busy_ranks(&self) -> u32 {
        self.plan.busy_ranks()
    }

    /// The workers of a rank that may have rows left, in the order of their numbers, each with the number of its rows.
    /// Failures: `out-of-memory`.
    pub(super) fn rows(&self, rank: u32) -> Result<Vec<(u32, u64)>, Failure> {
        let workers = self.group.workers;
        let all = rows(&self.plan, rank)?;
        let (given, turn) = self.given(&all)?;
        let left = |(role, (&rows, given)): (u32, (&u64, u64))| {
            let gone = given.saturating_mul(self.group.batch_size.into());
            ((role + workers - turn) % workers, rows.saturating_sub(gone))
        };
        let mut left = collect("workers", all.len(), (0..).zip(all.iter().zip(given)).map(left))?;
        sort_short(&mut left);
        Ok(left)
    }

    /// The reader of a worker of a rank. Failures: `out-of-memory`.
    pub(super) fn reader(&self, recipe: &Recipe, rank: u32, worker: u32) -> Result<WholeReader, Failure> {
        let (given, turn) = self.given(&rows(&self.plan, rank)?)?;
        let role = (worker + turn) % self.group.workers;
        let given = given.get(role as usize).copied().unwrap_or(0);
        let skipped = given.saturating_mul(self.group.batch_size.into());
        WholeReader::new(recipe, self.plan.all_shards(rank, role), &self.taken, skipped)
    }

    /// For workers with these numbers of rows: how many batches each has given since the group began, and the worker
    /// that gives the next batch.
    fn given(&self, rows: &[u64]) -> Result<(Vec<u64>, u32), Failure> {
        turns::given(&batches(rows, self.group)?, self.group.workers, self.steps)
    }
}

/// Checks that a plan has at least `steps` steps. Failures: `history`.
fn check_steps(plan: &Plan, group: Group, steps: u64) -> Result<(), Failure> {
    let (_, most) = plan.steps(group.batch_size, group.drop_last)?;
    if steps > most {
        let allowed = at_most(most).and(format_args!(" steps of {} ranks", group.world_size));
        return Err(Failure::out_of_range("history", format!("{steps} steps"), allowed));
    }
    Ok(())
}

/// The plan of the rows that are left, when `taken` rows of each shard were taken.
fn plan(recipe: &Recipe, epoch: u64, group: Group, taken: &[u64]) -> Result<Plan, Failure> {
    let Dealt::Shards(of, shards) = &recipe.dealt else {
        return Err(Failure::contradiction("shards", "not there", "the section shards"));
    };
    let count = taken.len();
    let sizes = collect("sizes", count, shards.sizes().zip(taken).map(|(size, taken)| size - taken))?;
    let mut config = PlanConfig::new(sizes, group.world_size, group.workers);
    if let Some(bytes) = &of.bytes {
        // The bytes of the rest of a shard are in proportion to its rows.
        let part = |((&bytes, size), left): ((&u64, u64), &u64)| {
            if size == 0 { bytes } else { (u128::from(bytes) * u128::from(*left) / u128::from(size)) as u64 }
        };
        config.bytes = Some(collect("bytes", count, bytes.iter().zip(shards.sizes()).zip(&config.sizes).map(part))?);
    }
    (config.policy, config.worker_policy, config.balance_by) = (of.policy, of.worker_policy, of.balance_by);
    (config.shuffle, config.reshuffle, config.seed) = (of.shuffle, of.reshuffle, of.seed);
    Plan::new(Rc::new(config), epoch)
}

/// The number of rows of each worker of a rank in a plan, up to the last worker with a shard.
fn rows(plan: &Plan, rank: u32) -> Result<Vec<u64>, Failure> {
    let rows = |worker| plan.all_shards(rank, worker).iter().map(|&shard| plan.config().sizes[shard as usize]).sum();
    let workers = plan.busy_workers(rank);
    collect("workers", workers as usize, (0..workers).map(rows))
}

fn batches(rows: &[u64], group: Group) -> Result<Vec<u64>, Failure> {
    let batches = |&rows| turns::batches(rows, group.batch_size, group.drop_last);
    collect("workers", rows.len(), rows.iter().map(batches))
}
