//! Numbers within their ranges.

use super::failure::{Allowed, range};

use super::{Failure, MAX_COUNT};

/// Whether numbers `start` to `start + count - 1` are within `end`, and not too many at once. Failures: `start`, `count`.
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
