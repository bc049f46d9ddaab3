//! Numbers that are divided between two parts, as a node of the tree of `blend` divides positions between its children.

use crate::divide::Divisor;

/// A number, counted from the first one of its list, and the slot where its answer belongs: in the upper and the lower 32 bits.
pub type Item = u64;

/// The item of a number and a slot.
#[inline(always)]
pub fn item(number: u64, slot: u32) -> Item {
    number << 32 | Item::from(slot)
}

/// The number and the slot of an item.
#[inline(always)]
pub fn unpacked(item: Item) -> (u64, u32) {
    (item >> 32, item as u32)
}

/// Divides items between a left part, of a weight among the whole `weight`, and a right part. Each item becomes its number in its part. The
/// left ones come to the front of `items`, the right ones to that of `spare`, which is as long; how many are left. `rest` is that of the
/// division of number 0. `rest` and the greatest number times the left weight must be less than [`SMALL`](crate::SMALL) together.
pub fn halve(items: &mut [Item], spare: &mut [Item], left_weight: u64, weight: &Divisor, rest: u64) -> usize {
    // Both lists are written in each turn, and one of them grows: which one cannot be foreseen, and a branch would be slow.
    let (mut lefts, mut rights) = (0, 0);
    for at in 0..items.len() {
        let (number, slot) = unpacked(items[at]);
        let (count, rest) = weight.divide_small(rest + number * left_weight);
        // One more position, and its count is one more.
        let is_left = rest + left_weight >= weight.value();
        items[lefts] = item(count, slot);
        spare[rights] = item(number - count, slot);
        lefts += usize::from(is_left);
        rights += usize::from(!is_left);
    }
    lefts
}
