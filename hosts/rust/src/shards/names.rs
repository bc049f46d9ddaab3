use crate::named::names;

/// How shards are dealt to ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Policy {
    /// All ranks get about the same weight: longest processing time first (LPT), then exchanges of shards between the
    /// heaviest and the lightest rank. The default.
    SizeAware,
    /// Rank i mod `world_size` gets shard number i of the list.
    RoundRobin,
    /// Ranks get shards that are stored on their own node, as long as their weight stays within
    /// [`tolerance`](crate::PlanBuilder::tolerance).
    LocalityAware,
}
names!(Policy, "policy", {
    SizeAware = "size-aware", RoundRobin = "round-robin", LocalityAware = "locality-aware"
});

/// How workers get the shards of their rank. All workers of a rank run on its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkerPolicy {
    /// All workers get about the same weight, by the algorithm of [`Policy::SizeAware`]. The default.
    SizeAware,
    /// Worker i mod `workers` gets shard number i of the rank.
    RoundRobin,
}
names!(WorkerPolicy, "worker-policy", { SizeAware = "size-aware", RoundRobin = "round-robin" });

/// What the weight of a shard is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weight {
    /// The number of samples. The default.
    Samples,
    /// The number of bytes.
    Bytes,
}
names!(Weight, "weight", { Samples = "samples", Bytes = "bytes" });

/// Whether a function is about ranks or about workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tier {
    /// One item for each rank.
    Ranks,
    /// One item for each worker of each rank: first the workers of rank 0, then those of rank 1, and so on.
    Workers,
}
names!(Tier, "tier", { Ranks = "ranks", Workers = "workers" });
