use crate::engine::types;

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
