//! Lists of positions that are sorted by source.

use samedeal_bulk::Item;

use crate::base::Failure;

/// The largest element of a pattern. A lane begins at an element up to 2^53 - 1, and takes up to 2^53 - 1 elements from
/// there on.
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

/// A function that receives a source, a number `first`, and items of this source. An item with the number k is position
/// number `first` + k of the source.
pub(super) type Take<'a> = dyn FnMut(u32, u64, &[Item]) -> Result<(), Failure> + 'a;
