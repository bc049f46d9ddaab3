use crate::engine::types;
use crate::named::names;

/// What happens if `world_size` does not divide the number of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Remainder {
    /// Every rank gets as many whole units; the last positions, which are less than a unit for each rank, are not dealt.
    Drop,
    /// Every rank gets as many units; the missing positions repeat the order from its beginning. The default.
    Pad,
    /// Every sample is dealt exactly once; ranks may differ by one unit: one sample by default, and so maybe one batch.
    Uneven,
}
names!(Remainder, "remainder", { Drop = "drop", Pad = "pad", Uneven = "uneven" });

/// Which positions belong to a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Rank r of W takes the units r, r + W, r + 2 W, ...; a unit is one position by default. The default for orders that have each sample once.
    Strided,
    /// Each rank takes one run of neighbouring units, in the order of the ranks.
    Contiguous,
    /// As [`Strided`](Self::Strided), but each row of W units begins with another rank. The default for orders that can have a sample
    /// twice in an epoch: a blend has a period, and with `Strided` a rank could get the samples of some sources only.
    Rotated,
}
names!(Layout, "layout", { Strided = "strided", Contiguous = "contiguous", Rotated = "rotated" });

/// Neighbouring rows of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct Span {
    /// Number of the lane. The spans of a lane come in the order in which their rows are stored: one open file for each lane is
    /// enough.
    pub lane: u32,
    /// Number of the shard.
    pub shard: u32,
    /// The first row. A row is the 0-based number of a sample within its shard.
    pub first_row: u64,
    /// Number of rows, at least 1.
    pub num_rows: u64,
}

pub(crate) fn spans(types::Spans { lane, shard, first_row, num_rows }: types::Spans) -> Vec<Span> {
    let span = |(((lane, shard), first_row), num_rows)| Span { lane, shard, first_row, num_rows };
    lane.into_iter().zip(shard).zip(first_row).zip(num_rows).map(span).collect()
}
