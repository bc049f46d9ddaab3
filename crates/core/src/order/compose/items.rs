//! Lists of positions that are sorted by source.

use samedeal_bulk::Item;

use crate::Failure;

/// The largest element of a pattern: a lane begins at most 2^53 - 1 elements after the first one, and goes on for as many.
pub(super) const MAX_ELEMENT: u64 = 1 << 54;

/// Positions of a pattern or of a node in its tree, each with the slot for its sample.
pub(super) struct Items<'a> {
    /// The position that the items are counted from.
    pub(super) first: u64,
    /// An upper bound of the numbers in `items`, below 2^32.
    pub(super) most: u64,
    /// Positions, less `first`, with their slots.
    pub(super) items: &'a mut [Item],
}

/// A function that receives a source, a first number, and positions of this source, numbered from the first number on.
pub(super) type Take<'a> = dyn FnMut(u32, u64, &[Item]) -> Result<(), Failure> + 'a;
