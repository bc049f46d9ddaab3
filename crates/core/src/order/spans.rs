use alloc::vec::Vec;

use crate::base::Failure;
use crate::base::memory::grow;

/// Spans of rows to read: a span is a run of neighbouring rows of one shard. Every list has one number for each span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    /// The lane that the span belongs to.
    pub lane: Vec<u32>,
    /// The shard that has the rows.
    pub shard: Vec<u32>,
    /// The first row of the span, within its shard.
    pub first_row: Vec<u64>,
    /// The number of rows of the span.
    pub num_rows: Vec<u64>,
}

impl Spans {
    /// The number of spans.
    pub fn len(&self) -> usize {
        self.lane.len()
    }

    /// Whether there are no spans.
    pub fn is_empty(&self) -> bool {
        self.lane.is_empty()
    }

    /// Failures: `out-of-memory`.
    pub(crate) fn push(&mut self, lane: u32, shard: u32, first_row: u64, num_rows: u64) -> Result<(), Failure> {
        let Self { lane: lanes, shard: shards, first_row: first_rows, num_rows: counts } = self;
        for list in [&mut *lanes, &mut *shards] {
            grow("count", 1, list)?;
        }
        for list in [&mut *first_rows, &mut *counts] {
            grow("count", 1, list)?;
        }
        lanes.push(lane);
        shards.push(shard);
        first_rows.push(first_row);
        counts.push(num_rows);
        Ok(())
    }
}
