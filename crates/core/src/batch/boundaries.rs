//! Where buckets of lengths end.

use alloc::format;
use alloc::vec::Vec;

use crate::memory::collect;
use crate::{Failure, MAX_WINDOW};

/// Buckets of equal width: `width`, 2 * `width`, ... below `max_length`. Failures: `width`, `out-of-memory`.
pub fn boundaries_of_width(width: u32, max_length: u32) -> Result<Vec<u32>, Failure> {
    let count = max_length.saturating_sub(1).checked_div(width).unwrap_or(u32::MAX);
    if count > MAX_WINDOW {
        let least = max_length / MAX_WINDOW + 1;
        return Err(Failure::out_of_range("width", width, format!("{least} to {}", u32::MAX)));
    }
    collect("width", count as usize, (1..=count).map(|bucket| bucket * width))
}

/// Buckets of as many samples each, as far as equal lengths allow. Failures: `buckets`, `out-of-memory`.
pub fn boundaries_of_quantiles(lengths: &[u32], buckets: u32) -> Result<Vec<u32>, Failure> {
    if buckets == 0 || buckets > MAX_WINDOW {
        return Err(Failure::out_of_range("buckets", buckets, format!("1 to {MAX_WINDOW}")));
    }
    let mut sorted = collect("lengths", lengths.len(), lengths.iter().copied())?;
    sorted.sort_unstable();
    let Some(&longest) = sorted.last() else { return Ok(Vec::new()) };
    let place = |bucket: u32| (sorted.len() as u64 * u64::from(bucket)).div_ceil(buckets.into()) as usize;
    let ends = (1..buckets).map(|bucket| sorted[place(bucket).saturating_sub(1)]);
    let mut ends = collect("buckets", buckets as usize - 1, ends.filter(|&end| end < longest))?;
    ends.dedup();
    Ok(ends)
}
