//! `sort_unstable` of the library for the types of long lists.
//!
//! Generic code is built as the crate that uses it is. The core is built for size, so its sorts would be slow; and each type that is
//! sorted somewhere is another 6 kB. These functions are built for speed, once for each type.
#![no_std]

/// Sorts positions, and keys of two halves.
pub fn numbers(items: &mut [u64]) {
    items.sort_unstable();
}

/// Sorts keys of a number and a place.
pub fn numbers128(items: &mut [u128]) {
    items.sort_unstable();
}

/// Digits of a length: lengths up to 2^11 - 1 are sorted in one pass.
const DIGIT: u32 = 11;

/// Sorts items by their lengths, `lengths[item]`, the longest first; equals stay in their order. `other` has as many items, and holds none
/// afterwards. A radix sort: Knuth, The Art of Computer Programming, volume 3, section 5.2.5.
pub fn longest_first(items: &mut [u32], other: &mut [u32], lengths: &[u32]) {
    let most = items.iter().fold(0, |most, &item| lengths[item as usize].max(most));
    let (mut from, mut to) = (&mut *items, &mut *other);
    let mut shift = 0;
    while most >> shift > 0 {
        let digit = |item: u32| (lengths[item as usize] >> shift) as usize % (1 << DIGIT);
        let mut ends = [0_u32; 1 << DIGIT];
        from.iter().for_each(|&item| ends[digit(item)] += 1);
        // Where the items of each digit go: after those of all greater ones.
        let mut start = 0;
        for end in ends.iter_mut().rev() {
            start += core::mem::replace(end, start);
        }
        for &item in &*from {
            let place = &mut ends[digit(item)];
            to[*place as usize] = item;
            *place += 1;
        }
        core::mem::swap(&mut from, &mut to);
        shift += DIGIT;
        if shift >= u32::BITS {
            break;
        }
    }
    if shift / DIGIT % 2 == 1 {
        to.copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    #[test]
    fn the_longest_come_first_and_equals_stay_in_order() {
        for bits in [0, 1, 11, 12, 22, 23, 32] {
            for count in [0, 1, 2, 300] {
                let mut state = 1_u64;
                let mut random = || {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 32).unbounded_shr(32 - bits) as u32
                };
                let lengths: Vec<u32> = (0..count).map(|_| random()).collect();
                let mut items: Vec<u32> = (0..count).rev().filter(|item| item % 7 != 3).collect();
                let mut expected = items.clone();
                expected.sort_by_key(|&item| core::cmp::Reverse(lengths[item as usize]));
                let mut other = items.clone();
                super::longest_first(&mut items, &mut other, &lengths);
                assert_eq!(items, expected, "{bits} bits");
            }
        }
    }
}
