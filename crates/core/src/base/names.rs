//! Tables of names and their values.

use super::{Failure, failure};

/// The value of a name in a table; without a name, the first value. Failures: `field`.
#[inline(never)]
pub(crate) fn named<T: Copy>(
    field: &'static str,
    name: Option<&str>,
    known: &[(&'static str, T)],
) -> Result<T, Failure> {
    let Some(name) = name else { return Ok(known[0].1) };
    let found = known.iter().find(|(own, _)| *own == name).map(|&(_, value)| value);
    found.ok_or_else(|| Failure::unknown_name(field, name, failure::known(known.iter().map(|&(own, _)| own))))
}

/// The name of a value in a table.
pub(crate) fn name_of<T: PartialEq>(value: &T, known: &[(&'static str, T)]) -> &'static str {
    known.iter().find(|(_, own)| own == value).map_or("", |(name, _)| name)
}
