use crate::engine::shards;
use crate::named::named;
use crate::of_millionths;

/// How shards are dealt to ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Rank i mod `world` gets shard number i of the list. The default.
    #[default]
    RoundRobin,
    /// All ranks get about the same weight: longest processing time first (LPT), then exchanges of shards between the
    /// heaviest and the lightest rank.
    SizeAware,
    /// Ranks get shards that are stored on their own node, as long as their weight stays within
    /// [`Locality::tolerance`].
    LocalityAware,
}
named!(Policy in shards, "policy", {
    RoundRobin = "round-robin", SizeAware = "size-aware", LocalityAware = "locality-aware"
});

/// How the shards of a rank are dealt to its workers. All workers of a rank run on its node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WorkerPolicy {
    /// Worker i mod `workers` gets shard number i of the rank. The default.
    #[default]
    RoundRobin,
    /// All workers get about the same weight, by the algorithm of [`Policy::SizeAware`].
    SizeAware,
}
named!(WorkerPolicy in shards, "worker-policy", { RoundRobin = "round-robin", SizeAware = "size-aware" });

/// What the weight of a shard is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Weight {
    /// The number of samples. The default.
    #[default]
    Samples,
    /// The number of bytes.
    Bytes,
}
named!(Weight in shards, "weight", { Samples = "samples", Bytes = "bytes" });

/// Whether a function is about ranks or about workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tier {
    /// One item for each rank.
    Ranks,
    /// One item for each worker of each rank: first the workers of rank 0, then those of rank 1, and so on.
    Workers,
}
named!(Tier in shards, "tier", { Ranks = "ranks", Workers = "workers" });

/// The nodes that store shards and the nodes that run ranks, for [`Policy::LocalityAware`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Locality {
    /// The nodes of shard i are `holders[holder_offsets[i]..holder_offsets[i + 1]]`. The list has one number more than
    /// there are shards.
    pub holder_offsets: Vec<u32>,
    /// Numbers of the nodes that store each shard. Every shard is stored on at least one node.
    pub holders: Vec<u32>,
    /// Number of the node that runs each rank.
    pub rank_nodes: Vec<u32>,
    /// How far the weight of a rank may exceed the mean weight for the sake of locality, in thousandths of the mean. If
    /// no rank on a node of a shard has room for it, the lightest rank gets the shard. So the weight of a rank exceeds
    /// the mean by at most this tolerance or the weight of the heaviest shard, whichever is greater.
    pub tolerance: u32,
}

impl Locality {
    /// From the numbers of the nodes that hold each shard, and the node of each rank; with a tolerance of 50
    /// thousandths.
    ///
    /// ```
    /// use samedeal::{Locality, Policy, ShardPlan, Tier};
    ///
    /// // Four shards on the nodes 0 and 1, the last one on both; rank 0 runs on node 0, rank 1 on node 1.
    /// let locality = Locality::new([vec![1], vec![0], vec![1], vec![0, 1]], [0, 1]);
    /// let plan = ShardPlan::builder([10; 4]).world(2).policy(Policy::LocalityAware).locality(locality).build()?;
    /// assert_eq!(plan.shards(0, 0)?, [1, 3]);
    /// assert!(plan.loads(Tier::Ranks)?.iter().all(|load| load.local == load.samples));
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn new<L: AsRef<[u32]>>(holders: impl IntoIterator<Item = L>, rank_nodes: impl Into<Vec<u32>>) -> Self {
        let mut locality =
            Self { holder_offsets: vec![0], holders: Vec::new(), rank_nodes: rank_nodes.into(), tolerance: 50 };
        for nodes in holders {
            locality.holders.extend(nodes.as_ref());
            // More holders than 32 bits count are more than a component holds, which says so.
            locality.holder_offsets.push(locality.holders.len().try_into().unwrap_or(u32::MAX));
        }
        locality
    }
}

/// The configuration of a plan: everything that decides which reader gets which shard.
/// [`ShardPlan::config`](crate::ShardPlan::config) returns it; [`PlanBuilder::from`](crate::PlanBuilder) makes a plan
/// from it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PlanConfig {
    /// Number of samples in each shard. At most 2^32 - 2 shards, and at most 2^53 - 1 samples in all shards together.
    pub sizes: Vec<u64>,
    /// Number of bytes in each shard. May be empty if `weight` is [`Weight::Samples`].
    pub bytes: Vec<u64>,
    /// Number of ranks. Range: 1 to 2^22 / `workers`.
    pub world: u32,
    /// Number of loader workers of each rank. Range: 1 to 2^22 / `world`.
    pub workers: u32,
    /// How shards are dealt to ranks.
    pub policy: Policy,
    /// How the shards of a rank are dealt to its workers.
    pub worker_policy: WorkerPolicy,
    /// The weight that the policies `size-aware` and `locality-aware` balance.
    pub weight: Weight,
    /// The nodes of shards and ranks. [`Policy::LocalityAware`] needs it; the others do not use it.
    pub locality: Option<Locality>,
    /// Whether the list of shards is shuffled before it is dealt. The shuffle is the same on all ranks. (The order of
    /// [`rows`](crate::ShardPlan::rows) does not depend on this.)
    pub shuffle: bool,
    /// Whether each reader shuffles its own shards again, after the deal.
    pub reshuffle: bool,
    /// Seed of the shuffles, 64-bit.
    pub seed: i64,
    /// Epoch of the shuffles, 64-bit.
    pub epoch: u64,
}

impl PlanConfig {
    pub(super) fn new(sizes: Vec<u64>) -> Self {
        Self {
            sizes,
            bytes: Vec::new(),
            world: 1,
            workers: 1,
            policy: Policy::default(),
            worker_policy: WorkerPolicy::default(),
            weight: Weight::default(),
            locality: None,
            shuffle: false,
            reshuffle: false,
            seed: 0,
            epoch: 0,
        }
    }
}

/// The load of a rank or a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Load {
    /// Number of shards.
    pub shards: u64,
    /// Number of samples in them.
    pub samples: u64,
    /// Number of bytes; 0 if the configuration has no bytes.
    pub bytes: u64,
    /// How many of the bytes are stored on the node of the rank. If the configuration has no bytes, it counts samples.
    /// 0 without [`Policy::LocalityAware`].
    pub local: u64,
}

/// The smallest and the largest load of a rank or a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Balance {
    /// The smallest load.
    pub least: u64,
    /// The largest load.
    pub most: u64,
    /// The sum of all loads.
    pub total: u64,
    /// Number of ranks or workers.
    pub members: u32,
    pub(super) imbalance: u64,
}

impl Balance {
    /// The largest load divided by the mean load, to six places. It is 1 if all loads are equal, or if all loads are 0.
    pub fn imbalance(&self) -> f64 {
        of_millionths(self.imbalance)
    }
}

/// The smallest and the largest number of steps of a rank. If they differ, ranks that wait for each other in each step
/// hang at the end of the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Steps {
    /// The smallest number of steps of a rank.
    pub least: u64,
    /// The largest number of steps of a rank.
    pub most: u64,
}

impl Steps {
    /// Whether all ranks have the same number of steps.
    pub fn is_equal(&self) -> bool {
        self.least == self.most
    }
}

/// As it crosses, and back: nothing is copied.
impl From<PlanConfig> for shards::PlanConfig {
    fn from(config: PlanConfig) -> Self {
        let PlanConfig { sizes, bytes, world, workers, policy, worker_policy, weight, locality, .. } = config;
        let PlanConfig { shuffle, reshuffle, seed, epoch, .. } = config;
        let locality = locality.map(|Locality { holder_offsets, holders, rank_nodes, tolerance }| shards::Locality {
            holder_offsets,
            holders,
            rank_nodes,
            tolerance,
        });
        let (policy, worker_policy, weight) = (policy.into(), worker_policy.into(), weight.into());
        Self { sizes, bytes, world, workers, policy, worker_policy, weight, locality, shuffle, reshuffle, seed, epoch }
    }
}

impl From<shards::PlanConfig> for PlanConfig {
    fn from(config: shards::PlanConfig) -> Self {
        let shards::PlanConfig { sizes, bytes, world, workers, policy, worker_policy, weight, locality, .. } = config;
        let shards::PlanConfig { shuffle, reshuffle, seed, epoch, .. } = config;
        let locality = locality.map(|shards::Locality { holder_offsets, holders, rank_nodes, tolerance }| Locality {
            holder_offsets,
            holders,
            rank_nodes,
            tolerance,
        });
        let (policy, worker_policy, weight) = (policy.into(), worker_policy.into(), weight.into());
        Self { sizes, bytes, world, workers, policy, worker_policy, weight, locality, shuffle, reshuffle, seed, epoch }
    }
}
