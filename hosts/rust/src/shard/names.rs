use crate::named::names;

/// The level of loads: ranks or workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tier {
    /// One load for each rank, in the order of the ranks.
    Ranks,
    /// One load for each worker of each rank: first the workers of rank 0, then those of rank 1, and so on.
    Workers,
}
names!(Tier, "tier", { Ranks = "ranks", Workers = "workers" });
