//! `sort_unstable` of the library for the types of long lists.
//!
//! Generic code is built as the crate that uses it is. The core is built for size, so its sorts would be slow; and each type that is
//! sorted somewhere is another 6 kB. These functions are built for speed, once for each type.
#![no_std]

/// Sorts lengths and shards.
pub fn numbers32(items: &mut [u32]) {
    items.sort_unstable();
}

/// Sorts positions, and keys of two halves.
pub fn numbers(items: &mut [u64]) {
    items.sort_unstable();
}

/// Sorts keys of two halves of 64 bits.
pub fn numbers128(items: &mut [u128]) {
    items.sort_unstable();
}

/// Sorts costs, each with the place that it has.
pub fn costs_with_places(items: &mut [(u128, u32)]) {
    items.sort_unstable();
}

/// Sorts numbers, each with the place that it has.
pub fn with_places(items: &mut [(u64, u32)]) {
    items.sort_unstable();
}
