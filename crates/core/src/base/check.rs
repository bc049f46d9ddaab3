//! Checks that numbers are within their ranges.

use alloc::format;

use super::failure::{Allowed, at_most, range};

use super::{Failure, MAX_COUNT};

/// Checks a run of numbers, `start` to `start + count - 1`: all are below `end`, and there are at most `MAX_COUNT` of
/// them. Failures: `start`, `count`.
pub(crate) fn check_run(start: u64, count: u32, end: u64) -> Result<(), Failure> {
    if start > end {
        return Err(Failure::out_of_range("start", start, range(0, end)));
    }
    let most = (end - start).min(MAX_COUNT.into());
    if u64::from(count) > most {
        return Err(Failure::out_of_range("count", count, range(0, most).and(format_args!(" from {start}"))));
    }
    Ok(())
}

pub(crate) fn check_below(field: &'static str, value: u64, end: u64) -> Result<(), Failure> {
    if value < end {
        return Ok(());
    }
    let allowed = if end == 0 { Allowed::from("none, there are none") } else { range(0, end - 1) };
    Err(Failure::out_of_range(field, value, allowed))
}

/// Checks that a call has at most `MAX_COUNT` values; the failure calls them `of`. Failures: `field`.
pub(crate) fn check_count(field: &'static str, count: usize, of: &str) -> Result<(), Failure> {
    if count > MAX_COUNT as usize {
        return Err(Failure::out_of_range(field, format!("{count} {of}"), at_most(MAX_COUNT)));
    }
    Ok(())
}

/// Checks a run of ranks, `first` to `first + count - 1`: the ranks exist, and have together at most `MAX_COUNT`
/// numbers, if every rank has `each`. Failures: `first`, `count`.
pub(crate) fn check_ranks(first: u32, count: u32, world_size: u32, each: u64) -> Result<(), Failure> {
    check_below("first", first.into(), world_size.into())?;
    let most = u64::from(world_size - first).min(u64::from(MAX_COUNT) / each.max(1));
    if u64::from(count) > most {
        return Err(Failure::out_of_range("count", count, range(0, most).and(format_args!(" from {first}"))));
    }
    Ok(())
}
