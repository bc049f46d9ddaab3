//! Options of whole shards, and their names in recipes.

use crate::base::Failure;
use crate::base::names::named;

/// How shards are dealt to ranks. A [`WorkerPolicy`] is converted to a policy to deal the shards of a rank to its
/// workers: a rank then stands for a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Rank i mod `world_size` gets shard number i of the list.
    RoundRobin,
    /// All ranks get about the same weight.
    SizeAware,
    /// Ranks get shards that are stored on their own node, as long as their weight stays within
    /// [`Locality::tolerance`].
    LocalityAware,
}

/// How the shards of a rank are dealt to its workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerPolicy {
    /// Worker i mod `workers` gets shard number i of the rank.
    RoundRobin,
    /// All workers get about the same weight.
    SizeAware,
}

impl From<WorkerPolicy> for Policy {
    fn from(policy: WorkerPolicy) -> Self {
        match policy {
            WorkerPolicy::RoundRobin => Self::RoundRobin,
            WorkerPolicy::SizeAware => Self::SizeAware,
        }
    }
}

/// The unit in which a shard is weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BalanceBy {
    /// The number of samples.
    Samples,
    /// The number of bytes.
    Bytes,
}

/// The level at which loads are given: for ranks, or for workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// One load for each rank.
    Ranks,
    /// One load for each worker of each rank: first the workers of rank 0, then those of rank 1, and so on.
    Workers,
}

impl Tier {
    /// The tier with this name. Failures: `tier`.
    pub fn from_name(name: &str) -> Result<Self, Failure> {
        named("tier", Some(name), &[("ranks", Self::Ranks), ("workers", Self::Workers)])
    }
}

impl BalanceBy {
    /// The unit with this name. Failures: `balance_by`.
    pub fn from_name(name: &str) -> Result<Self, Failure> {
        named("balance_by", Some(name), &BALANCE_BY)
    }
}

pub(super) const POLICIES: [(&str, Policy); 3] =
    [("size-aware", Policy::SizeAware), ("round-robin", Policy::RoundRobin), ("locality-aware", Policy::LocalityAware)];
pub(super) const WORKER_POLICIES: [(&str, WorkerPolicy); 2] =
    [("size-aware", WorkerPolicy::SizeAware), ("round-robin", WorkerPolicy::RoundRobin)];
pub(super) const BALANCE_BY: [(&str, BalanceBy); 2] = [("samples", BalanceBy::Samples), ("bytes", BalanceBy::Bytes)];
