//! Positions that are handed out by their sources.

use samedeal_bulk::Item;

use crate::Failure;

/// Positions, or their numbers among those of a source, each with the slot where its answer belongs.
pub(super) struct Items<'a> {
    /// The first position.
    pub(super) first: u64,
    /// None of them is further from the first one: less than 2^32.
    pub(super) most: u64,
    /// They are counted from the first one.
    pub(super) items: &'a mut [Item],
}

/// Takes the numbers of a source, which are counted from the given one.
pub(super) type Take<'a> = dyn FnMut(u32, u64, &[Item]) -> Result<(), Failure> + 'a;
