//! Positions that are handed out by their sources.

use crate::Failure;

/// A position, or its number among those of its source, and where its answer belongs.
pub(super) type Item = (u64, u32);

/// Takes the numbers of a source.
pub(super) type Take<'a> = dyn FnMut(u32, &[Item]) -> Result<(), Failure> + 'a;
