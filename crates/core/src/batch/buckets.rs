use alloc::format;
use alloc::vec::Vec;

use crate::base::failure::range;
use crate::base::memory::collect;
use crate::base::sort::sort_short;
use crate::base::{Failure, MAX_COUNT};

/// How many buckets there are by default.
const DEFAULT: u128 = 64;

/// A division of lengths into buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Buckets {
    /// Buckets of equal width: lengths from 0 to the width, then up to twice the width, and so on.
    Width(u32),
    /// The greatest length of each bucket, ascending. Longer lengths are in one more bucket.
    Boundaries(Vec<u32>),
    /// The number of buckets, which have equal numbers of items, as far as equal lengths allow.
    Quantiles(u32),
}

impl Buckets {
    /// Checks the ranges of the numbers. Failures: `bucket_width`, `boundaries`, `quantiles`.
    pub(super) fn check(&self) -> Result<(), Failure> {
        match *self {
            Self::Width(0) => Err(Failure::out_of_range("bucket_width", 0, range(1, u32::MAX))),
            Self::Boundaries(ref ends) => match ends.windows(2).find(|pair| pair[0] >= pair[1]) {
                Some(pair) => {
                    let value = format!("{} after {}", pair[1], pair[0]);
                    Err(Failure::contradiction("boundaries", value, "ascending numbers"))
                }
                None => Ok(()),
            },
            Self::Quantiles(count) if count == 0 || count > MAX_COUNT => {
                Err(Failure::out_of_range("quantiles", count, range(1, MAX_COUNT)))
            }
            _ => Ok(()),
        }
    }

    /// The boundaries of `count` buckets, each with the same number of items of these lengths. Failures:
    /// `out-of-memory`.
    pub(super) fn of_items(lengths: &[u32], count: u32) -> Result<Self, Failure> {
        let mut sorted = collect("lengths", lengths.len(), lengths.iter().copied())?;
        sort_short(&mut sorted);
        if sorted.is_empty() {
            return Ok(Self::Boundaries(Vec::new()));
        }
        let place = |bucket: u32| (sorted.len() as u64 * u64::from(bucket)).div_ceil(count.into()) as usize;
        let ends = (1..=count).map(|bucket| sorted[place(bucket).saturating_sub(1)]);
        let mut ends = collect("quantiles", count as usize, ends)?;
        ends.dedup();
        Ok(Self::Boundaries(ends))
    }

    /// The default buckets for items of these lengths. Each bucket has about the same number of tokens. So very long
    /// items, which have many tokens, get buckets of their own even if they are few. Failures: `out-of-memory`.
    pub(super) fn of_tokens(lengths: &[u32]) -> Result<Self, Failure> {
        let mut sorted = collect("lengths", lengths.len(), lengths.iter().copied())?;
        sort_short(&mut sorted);
        let total = sorted.iter().map(|&length| u128::from(length)).sum::<u128>();
        let mut ends = collect("lengths", DEFAULT as usize, [])?;
        let (mut sum, mut bucket) = (0, 1);
        for length in sorted {
            sum += u128::from(length);
            if bucket <= DEFAULT && sum * DEFAULT >= total * bucket {
                ends.push(length);
                bucket = (sum * DEFAULT).checked_div(total).unwrap_or(DEFAULT) + 1;
            }
        }
        ends.dedup();
        Ok(Self::Boundaries(ends))
    }

    /// The number of the bucket of a length. Quantiles must have become boundaries before.
    pub(super) fn of(&self, length: u32) -> u32 {
        match *self {
            Self::Width(width) => length.saturating_sub(1) / width,
            Self::Boundaries(ref ends) => ends.partition_point(|&end| end < length) as u32,
            Self::Quantiles(_) => 0,
        }
    }

    /// The greatest length of the bucket of a length; `u32::MAX` for the last bucket, which has no boundary.
    pub(super) fn end(&self, length: u32) -> u32 {
        match *self {
            Self::Width(width) => (self.of(length) + 1).saturating_mul(width),
            Self::Boundaries(ref ends) => ends.get(self.of(length) as usize).copied().unwrap_or(u32::MAX),
            Self::Quantiles(_) => u32::MAX,
        }
    }
}
