//! Sorts for the types of long lists. There are few types, because `sort_unstable` of the library takes 6 kB for each
//! of them.

/// Sorts numbers of 64 bits: positions, weights, or keys that join two numbers of 32 bits.
pub fn numbers(items: &mut [u64]) {
    items.sort_unstable();
}

/// Sorts keys that join a number and a place.
pub fn numbers128(items: &mut [u128]) {
    items.sort_unstable();
}

/// Sorts numbers that are at most `most`. `other` has the same length, and is overwritten. A radix sort, which takes a
/// fifth of the time of [`numbers`] for a million numbers that are spread evenly up to `most`.
pub fn numbers_with(items: &mut [u64], other: &mut [u64], most: u64) {
    let (mut from, mut to) = (&mut *items, &mut *other);
    let mut shift = 0;
    while most.unbounded_shr(shift) > 0 {
        let digit = |item: u64| (item >> shift) as usize % (1 << DIGIT);
        let mut ends = [0_u32; 1 << DIGIT];
        from.iter().for_each(|&item| ends[digit(item)] += 1);
        let mut start = 0;
        for end in &mut ends {
            start += core::mem::replace(end, start);
        }
        for &item in &*from {
            let place = &mut ends[digit(item)];
            to[*place as usize] = item;
            *place += 1;
        }
        core::mem::swap(&mut from, &mut to);
        shift += DIGIT;
    }
    if shift / DIGIT % 2 == 1 {
        to.copy_from_slice(from);
    }
}

/// Bits of a digit of the radix sorts: lengths up to 2^11 - 1 are sorted in one pass.
const DIGIT: u32 = 11;

/// Sorts items by their lengths, `lengths[item]`, the longest first; equals stay in their order. `other` has the same
/// length as `items`, and is overwritten. A radix sort: Knuth, The Art of Computer Programming, volume 3, section
/// 5.2.5.
pub fn longest_first(items: &mut [u32], other: &mut [u32], lengths: &[u32]) {
    let most = items.iter().fold(0, |most, &item| lengths[item as usize].max(most));
    let (mut from, mut to) = (&mut *items, &mut *other);
    let mut shift = 0;
    while most >> shift > 0 {
        let digit = |item: u32| (lengths[item as usize] >> shift) as usize % (1 << DIGIT);
        let mut ends = [0_u32; 1 << DIGIT];
        from.iter().for_each(|&item| ends[digit(item)] += 1);
        // The first place for the items of each digit: after the items of all greater digits.
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
    fn numbers_are_sorted_up_to_the_greatest() {
        for bits in [0, 1, 11, 12, 30, 53, 64] {
            for count in [0, 1, 2, 300] {
                let mut items: Vec<u64> = (1..=count)
                    .map(|at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17).unbounded_shr(64 - bits))
                    .collect();
                let mut expected = items.clone();
                expected.sort_unstable();
                let mut other = items.clone();
                super::numbers_with(&mut items, &mut other, u64::MAX.unbounded_shr(64 - bits));
                assert_eq!(items, expected, "{bits} bits");
            }
        }
    }

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
