use crate::{Error, Locality, PlanConfig, Policy, ShardPlan, Weight, WorkerPolicy};

/// What a new [`ShardPlan`] is to be; see [`ShardPlan::builder`]. `PlanBuilder::from` begins with a whole
/// [`PlanConfig`], such as that of another plan.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct PlanBuilder {
    config: PlanConfig,
    memory_limit: usize,
}

impl PlanBuilder {
    /// Bytes in each shard; not known unless set.
    pub fn bytes(mut self, bytes: impl Into<Vec<u64>>) -> Self {
        self.config.bytes = bytes.into();
        self
    }

    /// How many ranks there are; 1 unless set. Range: 1 to 2^22 / workers.
    pub fn world(mut self, world: u32) -> Self {
        self.config.world = world;
        self
    }

    /// How many workers read in each rank; 1 unless set. Range: 1 to 2^22 / world.
    pub fn workers(mut self, workers: u32) -> Self {
        self.config.workers = workers;
        self
    }

    /// How shards are given to ranks; [`Policy::RoundRobin`] unless set.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.config.policy = policy;
        self
    }

    /// How the shards of a rank are given to its workers; [`WorkerPolicy::RoundRobin`] unless set.
    pub fn worker_policy(mut self, policy: WorkerPolicy) -> Self {
        self.config.worker_policy = policy;
        self
    }

    /// What is to be equal; [`Weight::Samples`] unless set.
    pub fn weight(mut self, weight: Weight) -> Self {
        self.config.weight = weight;
        self
    }

    /// Where shards and ranks are, which [`Policy::LocalityAware`] needs.
    pub fn locality(mut self, locality: Locality) -> Self {
        self.config.locality = Some(locality);
        self
    }

    /// Whether the shards are shuffled, in the same way for all ranks, before they are given away; false unless set.
    pub fn shuffle(mut self, shuffle: bool) -> Self {
        self.config.shuffle = shuffle;
        self
    }

    /// Whether every reader shuffles its own shards once more, differently in each; false unless set.
    pub fn reshuffle(mut self, reshuffle: bool) -> Self {
        self.config.reshuffle = reshuffle;
        self
    }

    /// The seed of the shuffles; 0 unless set. Range: any.
    pub fn seed(mut self, seed: i64) -> Self {
        self.config.seed = seed;
        self
    }

    /// The epoch of the shuffles; 0 unless set. Range: any.
    pub fn epoch(mut self, epoch: u64) -> Self {
        self.config.epoch = epoch;
        self
    }

    /// The most memory, in bytes, that the plan may take; 2 GiB unless set, which is also the most that the component can
    /// use. Range: from 32 MiB.
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Gives every shard to one reader: a million shards to thousands of ranks take less than a second, and the first plan in
    /// a process compiles the component in some tens of milliseconds.
    /// Errors: [`OutOfRange`](crate::FailureKind::OutOfRange) (`sizes`, `bytes`, `world`, `workers`,
    /// `memory-limit`), [`Missing`](crate::FailureKind::Missing) (`locality`, `holders`),
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
