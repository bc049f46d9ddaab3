use crate::named::names;

/// How samples become batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// As many samples of similar length as `max_tokens` or `max_cost` allows.
    Budget,
    /// `max_batch_size` samples of one bucket of lengths, or fewer if `max_tokens` or `max_cost` allows fewer. The last steps of the
    /// epoch join the samples that are left in several buckets.
    Bucket,
    /// `max_batch_size` rows of `capacity` tokens. Several samples share a row.
    Pack,
    /// `max_batch_size` samples in the order of the epoch.
    PadToMax,
}
names!(Strategy, "strategy", { Budget = "budget", Bucket = "bucket", Pack = "pack", PadToMax = "pad-to-max" });

/// What a sample costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Counting {
    /// The length of the longest sample of its batch.
    Padded,
    /// Its own length.
    Unpadded,
    /// `linear` * length + `quadratic` * length^2.
    Weighted,
}
names!(Counting, "counting", { Padded = "padded", Unpadded = "unpadded", Weighted = "weighted" });

/// What happens to samples that are longer than `max_length`, or than a batch or a row allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TooLong {
    /// There is no plan.
    Error,
    /// Their beginning is kept.
    Truncate,
    /// They are left out.
    Drop,
    /// Each of them becomes several items.
    Split,
    /// Each of them is a batch of its own, also if it costs more than a batch may.
    Single,
}
names!(TooLong, "too-long", {
    Error = "error", Truncate = "truncate", Drop = "drop", Split = "split", Single = "single"
});

/// What happens to the last samples of the epoch, if they do not fill a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tail {
    /// They make a smaller step. If there are fewer samples than ranks, this step borrows samples from another step, or packs are
    /// split: no batch is empty if there are as many samples as ranks.
    EvenSplit,
    /// They are left out.
    Drop,
    /// They make a smaller step. If there are fewer samples than ranks, some batches of this step are empty.
    Keep,
    /// Some samples are repeated, until all ranks have the same number of rows.
    Duplicate,
}
names!(Tail, "tail", { EvenSplit = "even-split", Drop = "drop", Keep = "keep", Duplicate = "duplicate" });

/// How much work goes into finding few packs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Packing {
    /// About as fast as sorting.
    Fast,
    /// The best result of several methods. [`Metrics::packs_bound`](crate::Metrics::packs_bound) is a lower bound for all of them.
    Optimal,
}
names!(Packing, "packing", { Fast = "fast", Optimal = "optimal" });
