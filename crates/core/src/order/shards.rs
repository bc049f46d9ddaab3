use alloc::format;
use alloc::vec::Vec;

use crate::base::failure::{at_most, range};
use crate::base::memory::collect;
use crate::base::{Failure, MAX_EXACT};

/// Shards laid end to end: sample indices count through the shards in the given order.
pub(crate) struct Shards {
    /// The beginning of each shard, and the end of the last one.
    starts: Vec<u64>,
}

impl Shards {
    /// Shards of these sizes, in samples; empty ones are allowed. Failures: `sizes` (more than 2^32 - 2 shards, or more
    /// than 2^53 - 1 samples), `out-of-memory`.
    pub(crate) fn new(sizes: &[u64]) -> Result<Self, Failure> {
        total(sizes, "sizes")?;
        let mut end = 0;
        let ends = sizes.iter().map(|size| {
            end += size;
            end
        });
        Ok(Self { starts: collect("sizes", sizes.len() + 1, core::iter::once(0).chain(ends))? })
    }

    /// The number of shards.
    pub(crate) fn count(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// The number of samples in all shards.
    pub(crate) fn samples(&self) -> u64 {
        self.start(self.count())
    }

    /// The number of samples in a shard.
    pub(crate) fn size(&self, shard: u32) -> u64 {
        self.start(shard + 1) - self.start(shard)
    }

    /// The number of samples in each shard.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = u64> + Clone {
        self.starts.iter().zip(self.starts.iter().skip(1)).map(|(start, end)| end - start)
    }

    /// The index of a shard's first sample.
    pub(crate) fn start(&self, shard: u32) -> u64 {
        self.starts[shard as usize]
    }

    /// The shard and the offset of a sample below `samples`, in O(log shards).
    pub(crate) fn find(&self, sample: u64) -> (u32, u64) {
        // The last shard that begins at or before the sample: empty shards before it begin at the same sample.
        let shard = self.starts.partition_point(|&start| start <= sample) - 1;
        (shard as u32, sample - self.starts[shard])
    }
}

/// The sum of the sizes. Failures: `field`, if the sum is above 2^53 - 1 or there are more than 2^32 - 2 sizes.
pub(crate) fn total(sizes: &[u64], field: &'static str) -> Result<u64, Failure> {
    if sizes.len() >= u32::MAX as usize {
        return Err(Failure::out_of_range(field, format!("{} shards", sizes.len()), at_most(u32::MAX - 1)));
    }
    let total: u128 = sizes.iter().copied().map(u128::from).sum();
    if total > MAX_EXACT.into() {
        return Err(Failure::out_of_range(field, format!("{total} together"), range(0, MAX_EXACT).and(" together")));
    }
    Ok(total as u64)
}
