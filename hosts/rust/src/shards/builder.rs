use crate::{Error, Locality, PlanConfig, Policy, ShardPlan, Weight, WorkerPolicy};

/// The options of a new [`ShardPlan`]; see [`ShardPlan::builder`]. `PlanBuilder::from` takes all of them from a
/// [`PlanConfig`], such as that of another plan.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct PlanBuilder {
    config: PlanConfig,
    memory_limit: usize,
}

impl PlanBuilder {
    /// Number of bytes in each shard. Default: not known.
    pub fn bytes(mut self, bytes: impl Into<Vec<u64>>) -> Self {
        self.config.bytes = bytes.into();
        self
    }

    /// Number of ranks. Range: 1 to 2^22 / workers. Default: 1.
    pub fn world(mut self, world: u32) -> Self {
        self.config.world = world;
        self
    }

    /// Number of loader workers of each rank. Range: 1 to 2^22 / world. Default: 1.
    pub fn workers(mut self, workers: u32) -> Self {
        self.config.workers = workers;
        self
    }

    /// How shards are dealt to ranks. Default: [`Policy::RoundRobin`].
    pub fn policy(mut self, policy: Policy) -> Self {
        self.config.policy = policy;
        self
    }

    /// How the shards of a rank are dealt to its workers. Default: [`WorkerPolicy::RoundRobin`].
    pub fn worker_policy(mut self, policy: WorkerPolicy) -> Self {
        self.config.worker_policy = policy;
        self
    }

    /// What the size-aware policies balance. Default: [`Weight::Samples`].
    pub fn weight(mut self, weight: Weight) -> Self {
        self.config.weight = weight;
        self
    }

    /// The nodes of shards and ranks. [`Policy::LocalityAware`] needs it.
    pub fn locality(mut self, locality: Locality) -> Self {
        self.config.locality = Some(locality);
        self
    }

    /// Whether the list of shards is shuffled before it is dealt. The shuffle is the same on all ranks. Default: false.
    pub fn shuffle(mut self, shuffle: bool) -> Self {
        self.config.shuffle = shuffle;
        self
    }

    /// Whether each reader shuffles its own shards again, after the deal. Default: false.
    pub fn reshuffle(mut self, reshuffle: bool) -> Self {
        self.config.reshuffle = reshuffle;
        self
    }

    /// Seed of the shuffles, 64-bit. Default: 0.
    pub fn seed(mut self, seed: i64) -> Self {
        self.config.seed = seed;
        self
    }

    /// Epoch of the shuffles, 64-bit. Default: 0.
    pub fn epoch(mut self, epoch: u64) -> Self {
        self.config.epoch = epoch;
        self
    }

    /// The most memory, in bytes, that the plan may take; 2 GiB unless set, which is also the most that the component
    /// can use. Range: from 32 MiB.
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Gives every shard to one reader: a million shards to thousands of ranks take less than a second, and the first
    /// plan in a process compiles the component in some tens of milliseconds. Errors:
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (`sizes`, `bytes`, `world`, `workers`, `memory-limit`),
    /// [`Missing`](crate::FailureKind::Missing) (`locality`, `holders`),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`bytes`, `holder-offsets`, `rank-nodes`),
    /// [`OutOfMemory`](crate::FailureKind::OutOfMemory).
    pub fn build(self) -> Result<ShardPlan, Error> {
        ShardPlan::build(self.config, self.memory_limit)
    }
}

/// The plan of a configuration. The memory limit, which decides nothing, is no part of it: 2 GiB unless set.
impl From<PlanConfig> for PlanBuilder {
    fn from(config: PlanConfig) -> Self {
        Self { config, memory_limit: crate::engine::MOST_MEMORY }
    }
}
