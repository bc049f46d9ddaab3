use std::ops::{Bound, RangeBounds};

use crate::{Error, Failure};

/// The first number of a range, and the number after its last one. A range without an end ends at `most`.
pub(crate) fn bounds(range: impl RangeBounds<u64>, most: u64) -> (u64, u64) {
    // The sum may saturate: callers refuse such a bound in any case.
    let after = |bound: u64| bound.saturating_add(1);
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&start) => after(start),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&end) => after(end),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => most.max(start),
    };
    (start, end)
}

/// The ranks of a range, as the interface takes them: the first one, and how many. The component refuses ranks that do
/// not exist. Failures: `first`, `count`, if the interface cannot take them.
pub(crate) fn ranks(range: impl RangeBounds<u32>, world_size: u32) -> Result<(u32, u32), Failure> {
    let wide = |bound: Bound<&u32>| bound.map(|&rank| u64::from(rank));
    let world_size = u64::from(world_size);
    let (first, end) = bounds((wide(range.start_bound()), wide(range.end_bound())), world_size);
    let Ok(start) = u32::try_from(first) else {
        return Err(Failure::out_of_range("first", first, format!("0 to {}", world_size - 1)));
    };
    match end.checked_sub(first).map(u32::try_from) {
        Some(Ok(count)) => Ok((start, count)),
        _ => Err(wrong_count(first, end, world_size)),
    }
}

/// A range as its first number and its length. The range must lie within `most` items. Failures: `start`, `count`.
pub(crate) fn run(range: impl RangeBounds<u64>, most: u64) -> Result<(u64, u64), Failure> {
    let (start, end) = bounds(range, most);
    if start > most {
        return Err(Failure::out_of_range("start", start, format!("0 to {most}")).within(Some(0), Some(most)));
    }
    if end < start || end > most {
        return Err(wrong_count(start, end, most));
    }
    Ok((start, end - start))
}

/// The failure of a range that ends before its start, or after `most` items.
fn wrong_count(start: u64, end: u64, most: u64) -> Failure {
    let left = most.saturating_sub(start);
    let count = i128::from(end) - i128::from(start);
    Failure::out_of_range("count", count, format!("0 to {left} from {start}")).within(Some(0), Some(left))
}

/// Reads a run of any length in windows of at most `window` items. Failures: `count` (out of memory) and the failures
/// of `read`.
pub(crate) fn read<T>(
    (start, count): (u64, u64),
    window: u32,
    read: impl Fn(u64, u32) -> Result<Vec<T>, Error>,
) -> Result<Vec<T>, Error> {
    if count <= u64::from(window) {
        return read(start, count as u32);
    }
    let mut out = reserved(count)?;
    let end = start + count;
    for start in (start..end).step_by(window as usize) {
        out.extend(read(start, (end - start).min(window.into()) as u32)?);
    }
    Ok(out)
}

/// A list with room for `count` items. Failures: `count` (out of memory).
pub(crate) fn reserved<T>(count: u64) -> Result<Vec<T>, Failure> {
    let mut out = Vec::new();
    let room = usize::try_from(count).ok().and_then(|count| out.try_reserve_exact(count).ok());
    room.ok_or_else(|| Failure::out_of_memory("count", count, "a shorter range, or an iterator"))?;
    Ok(out)
}

/// The items as `count` lists of equal length; no list if there are no items.
pub(crate) fn equal_parts(items: &[u64], count: u32) -> Vec<Vec<u64>> {
    items.chunks((items.len() / count.max(1) as usize).max(1)).map(<[u64]>::to_vec).collect()
}
