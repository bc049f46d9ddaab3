use crate::engine::shards;
use crate::named::named;
use crate::of_millionths;

/// How shards are given to ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// The i-th shard to rank i mod world. The default.
    #[default]
    RoundRobin,
    /// Ranks get equal weight: longest processing time first, then exchanges between the heaviest and the lightest.
    SizeAware,
    /// Ranks get what is stored near them, within a bound of equal weight.
    LocalityAware,
}
named!(Policy in shards, "policy", {
    RoundRobin = "round-robin", SizeAware = "size-aware", LocalityAware = "locality-aware"
});

/// How the shards of a rank are given to its workers, which all run where the rank does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WorkerPolicy {
    /// The i-th shard to worker i mod workers. The default.
    #[default]
    RoundRobin,
    /// Workers get equal weight, as ranks with [`Policy::SizeAware`].
    SizeAware,
}
named!(WorkerPolicy in shards, "worker-policy", { RoundRobin = "round-robin", SizeAware = "size-aware" });

/// What is to be equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Weight {
    /// The number of samples. The default.
    #[default]
    Samples,
    /// The number of bytes.
    Bytes,
}
named!(Weight in shards, "weight", { Samples = "samples", Bytes = "bytes" });

/// Whose share is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tier {
    /// Every rank's.
    Ranks,
    /// Every worker's, those of rank 0 first.
    Workers,
}
named!(Tier in shards, "tier", { Ranks = "ranks", Workers = "workers" });

/// Where shards are stored and where ranks run, for [`Policy::LocalityAware`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Locality {
    /// The nodes that hold shard i are `holders[holder_offsets[i]..holder_offsets[i + 1]]`: one number more than there are
    /// shards.
    pub holder_offsets: Vec<u32>,
    /// Numbers of nodes. Every shard has at least one.
    pub holders: Vec<u32>,
    /// The node of each rank.
    pub rank_nodes: Vec<u32>,
    /// By how many thousandths of the mean a rank may exceed it for the sake of locality. Where nothing local fits, a
    /// shard goes to the lightest rank, so that no rank exceeds the mean by more than the greater of this and the heaviest
    /// shard.
    pub tolerance: u32,
}

impl Locality {
    /// From the numbers of the nodes that hold each shard, and the node of each rank; with a tolerance of 50 thousandths.
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

/// Everything that decides which reader gets which shard. [`ShardPlan::config`](crate::ShardPlan::config) says it;
/// [`PlanBuilder::from`](crate::PlanBuilder) makes a plan of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PlanConfig {
    /// Samples in each shard: up to 2^32 - 2 shards, 2^53 - 1 samples together.
    pub sizes: Vec<u64>,
    /// Bytes in each shard; empty where nobody asks.
    pub bytes: Vec<u64>,
    /// How many ranks there are. Range: 1 to 2^22 / `workers`.
    pub world: u32,
    /// How many workers read in each rank. Range: 1 to 2^22 / `world`.
    pub workers: u32,
    /// How shards are given to ranks.
    pub policy: Policy,
    /// How the shards of a rank are given to its workers.
    pub worker_policy: WorkerPolicy,
    /// What is to be equal, for the policies that look at sizes.
    pub weight: Weight,
    /// Where shards and ranks are; needed by [`Policy::LocalityAware`], and only there.
    pub locality: Option<Locality>,
    /// Whether the shards are shuffled, in the same way for all ranks, before they are given away. (The order of
    /// [`rows`](crate::ShardPlan::rows) is random either way.)
    pub shuffle: bool,
    /// Whether every reader shuffles its own shards once more, differently in each.
    pub reshuffle: bool,
    /// Seed of the shuffles. Range: any.
    pub seed: i64,
    /// Epoch of the shuffles. Range: any.
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

/// What a rank or a worker has to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Load {
    /// How many shards.
    pub shards: u64,
    /// How many samples they hold.
    pub samples: u64,
    /// How many bytes; 0 where those were not given.
    pub bytes: u64,
    /// How many of the bytes (of the samples, where bytes were not given) are stored on the rank's own node; 0 with another
    /// policy than [`Policy::LocalityAware`].
    pub local: u64,
}

/// Between which bounds the loads of ranks or workers lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Balance {
    /// The lightest load.
    pub least: u64,
    /// The heaviest load.
    pub most: u64,
    /// All of them together.
    pub total: u64,
    /// How many ranks or workers there are.
    pub members: u32,
    pub(super) imbalance: u64,
}

impl Balance {
    /// The heaviest load divided by the mean, to six places: 1 where all are equal, or nothing is to be read.
    pub fn imbalance(&self) -> f64 {
        of_millionths(self.imbalance)
    }
}

/// Between which bounds the ranks' numbers of steps lie. Where they differ, ranks wait for one another at the end of the
/// epoch, or for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Steps {
    /// The fewest steps of a rank.
    pub least: u64,
    /// The most.
    pub most: u64,
}

impl Steps {
    /// Whether all ranks take the same number of steps.
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
