//! Division of numbers between two parts, as a node in the tree of `blend` divides positions between its children.

use crate::divide::Divisor;

/// An item of a list: its number in the upper 32 bits, counted from the first item, and the slot of its result in the
/// lower 32 bits.
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

/// Divides items between a left part, which has `left_weight` of the whole `weight`, and a right part. The number of
/// each item becomes its number within its part. Items of the left part come to the front of `items`, items of the
/// right part to the front of `spare`, which is as long. Returns the count of the left part. `rest` is the remainder of
/// the division for number 0. `rest` and the greatest number times the left weight must be less than
/// [`SMALL`](crate::SMALL) together, unless all numbers are 0.
pub fn halve(items: &mut [Item], spare: &mut [Item], left_weight: u64, weight: &Divisor, rest: u64) -> usize {
    // Each pass of the loop writes to both lists, and makes one of them longer. A branch would be slow, because
    // processors could not predict it.
    let (mut lefts, mut rights) = (0, 0);
    for at in 0..items.len() {
        let (number, slot) = unpacked(items[at]);
        let (count, rest) = weight.divide_small(rest + number * left_weight);
        // The item is in the left part if the next number has a `count` of one more.
        let is_left = rest + left_weight >= weight.value();
        items[lefts] = item(count, slot);
        spare[rights] = item(number - count, slot);
        lefts += usize::from(is_left);
        rights += usize::from(!is_left);
    }
    lefts
}
