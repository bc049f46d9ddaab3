use crate::engine::MOST_MEMORY;
use crate::recipe::{Draft, List};
use crate::{Error, Policy, ShardPlan, Weight, WorkerPolicy};

/// The options of a new [`ShardPlan`]; see [`ShardPlan::builder`] and [`ShardPlan::from_recipe`]. An option that is not set has its
/// default. An option that the policy does not use is refused by `build`.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct PlanBuilder {
    draft: Draft,
    epoch: u64,
    memory_limit: usize,
}

impl PlanBuilder {
    pub(super) fn new(recipe: Option<String>) -> Self {
        let mut draft = Draft::new(recipe);
        if draft.is_new() {
            draft.write("shards");
        }
        Self { draft, epoch: 0, memory_limit: MOST_MEMORY }
    }

    /// Number of samples in each shard. At most 2^32 - 2 shards, and at most 2^53 - 1 samples in all shards together.
    pub fn sizes(mut self, sizes: impl Into<Vec<u64>>) -> Self {
        self.draft.list("sizes", sizes);
        self
    }

    /// Number of bytes in each shard. Default: not known.
    pub fn bytes(mut self, bytes: impl Into<Vec<u64>>) -> Self {
        self.draft.list("bytes", bytes);
        self
    }

    /// Number of ranks. Range: 1 to 2^22 / workers. Default: 1.
    pub fn world_size(mut self, world_size: u32) -> Self {
        self.draft.set("deal", "world_size", world_size);
        self
    }

    /// Number of loader workers of each rank. Range: 1 to 2^22 / world size. Default: 1.
    pub fn workers(mut self, workers: u32) -> Self {
        self.draft.set("deal", "workers", workers);
        self
    }

    /// How shards are dealt to ranks. Default: [`Policy::SizeAware`].
    pub fn policy(mut self, policy: Policy) -> Self {
        self.draft.set("shards", "policy", policy.name());
        self
    }

    /// How the shards of a rank are dealt to its workers. Default: [`WorkerPolicy::SizeAware`].
    pub fn worker_policy(mut self, policy: WorkerPolicy) -> Self {
        self.draft.set("shards", "worker_policy", policy.name());
        self
    }

    /// What the policies balance, except [`Policy::RoundRobin`]. Default: [`Weight::Samples`].
    pub fn weight(mut self, weight: Weight) -> Self {
        self.draft.set("shards", "weight", weight.name());
        self
    }

    /// Only with [`Policy::LocalityAware`], which needs it: for each shard, the numbers of the nodes that store it, at least one.
    ///
    /// ```
    /// use samedeal::{Policy, ShardPlan, Tier};
    ///
    /// // Four shards on the nodes 0 and 1, the last one on both; rank 0 runs on node 0, rank 1 on node 1.
    /// let builder = ShardPlan::builder([10; 4]).shuffle(false).policy(Policy::LocalityAware).world_size(2);
    /// let plan = builder.holders([vec![1], vec![0], vec![1], vec![0, 1]]).rank_nodes([0, 1]).build()?;
    /// assert_eq!(plan.shards(0, 0)?, [1, 3]);
    /// let loads = plan.loads(Tier::Ranks)?;
    /// assert_eq!(loads.local.as_ref(), Some(&loads.samples));
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn holders<L: AsRef<[u32]>>(mut self, holders: impl IntoIterator<Item = L>) -> Self {
        let (mut offsets, mut numbers) = (vec![0], Vec::new());
        for nodes in holders {
            numbers.extend(nodes.as_ref().iter().map(|&node| u64::from(node)));
            offsets.push(numbers.len() as u64);
        }
        self.draft.list("holders", numbers);
        self.draft.list("holder_offsets", offsets);
        self
    }

    /// Only with [`Policy::LocalityAware`], which needs it: the number of the node that runs each rank.
    pub fn rank_nodes(mut self, nodes: impl IntoIterator<Item = u32>) -> Self {
        self.draft.list("rank_nodes", nodes.into_iter().map(u64::from).collect::<Vec<_>>());
        self
    }

    /// Only with [`Policy::LocalityAware`]: how far the weight of a rank may exceed the mean weight for the sake of locality, in
    /// thousandths of the mean. If no rank on a node of a shard has room for it, the lightest rank gets the shard. So the weight of a
    /// rank exceeds the mean by at most this tolerance or the weight of the heaviest shard, whichever is greater. Default: 50.
    pub fn tolerance(mut self, thousandths: u32) -> Self {
        self.draft.set("shards", "tolerance", thousandths);
        self
    }

    /// Whether the list of shards is shuffled before it is dealt. The shuffle is the same on all ranks. Default: true.
    pub fn shuffle(mut self, shuffle: bool) -> Self {
        self.draft.set("shards", "shuffle", shuffle);
        self
    }

    /// Whether the rows within each shard are shuffled ([`ShardPlan::rows`]). Default: the value of [`shuffle`](Self::shuffle).
    pub fn shuffle_rows(mut self, shuffle: bool) -> Self {
        self.draft.set("shards", "shuffle_rows", shuffle);
        self
    }

    /// Whether each reader shuffles its own shards again, after the deal. Default: false.
    pub fn reshuffle(mut self, reshuffle: bool) -> Self {
        self.draft.set("shards", "reshuffle", reshuffle);
        self
    }

    /// Seed of the shuffles, 64-bit. Default: 0.
    pub fn seed(mut self, seed: i64) -> Self {
        self.draft.set("shards", "seed", seed);
        self
    }

    /// Epoch of the shuffles, 64-bit. Default: 0.
    pub fn epoch(mut self, epoch: u64) -> Self {
        self.epoch = epoch;
        self
    }

    /// The most memory, in bytes, that the plan may take; 2 GiB unless set, which is also the most that the component
    /// can use. Range: from 32 MiB.
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Lists that come beside a recipe, by their names.
    #[doc(hidden)]
    pub fn lists(mut self, lists: Vec<List>) -> Self {
        self.draft.set_lists(lists);
        self
    }

    /// Gives every shard to one reader: a million shards to thousands of ranks take less than a second, and the first plan compiles the
    /// component, in about 0.4 s (in a debug build, in seconds), unless the cache has its machine code.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (`memory-limit`; `recipe`: more than 2^24 bytes; any option),
    /// [`Missing`](crate::FailureKind::Missing) (`sizes`, `bytes`, `holders`, `rank-nodes`),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (an option that the policy does not use; a list that does not fit the others or
    /// the recipe), of a recipe [`UnknownName`](crate::FailureKind::UnknownName) and [`WrongType`](crate::FailureKind::WrongType) (any
    /// member), [`OutOfMemory`](crate::FailureKind::OutOfMemory).
    pub fn build(self) -> Result<ShardPlan, Error> {
        let Self { draft, epoch, memory_limit } = self;
        ShardPlan::of(draft.make(memory_limit, |exports, store, recipe, lists| {
            exports.samedeal_deal_shards().plan().call_constructor(store, recipe, lists, epoch)
        })?)
    }
}
