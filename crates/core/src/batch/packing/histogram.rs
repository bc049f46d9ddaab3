use alloc::format;
use alloc::vec::Vec;
use core::iter::repeat_n;

use super::patterns::{Class, reserve};
use crate::base::Failure;
use crate::base::failure::at_most;
use crate::base::memory::collect;

/// The classes of a list of fewer than 2^32 sizes, greatest size first. Failures: `lengths` (too many),
/// `out-of-memory`.
pub fn histogram<T: Copy + Into<u64>>(sizes: &[T]) -> Result<Vec<Class>, Failure> {
    if sizes.len() > u32::MAX as usize {
        let value = format!("{} of them", sizes.len());
        return Err(Failure::out_of_range("lengths", value, at_most(u32::MAX)));
    }
    let most = sizes.iter().fold(0, |most, &size| size.into().max(most));
    let mut classes = Vec::new();
    if fits_table(most, sizes.len()) {
        let length = most as usize + 1;
        // Four counters for each size take turns, so that a run of equal sizes does not wait for one counter.
        let mut table = collect("batch_window", 4 * length, repeat_n(0_u32, 4 * length))?;
        let (ab, cd) = table.split_at_mut(2 * length);
        let ((a, b), (c, d)) = (ab.split_at_mut(length), cd.split_at_mut(length));
        let (fours, rest) = sizes.as_chunks::<4>();
        for &[p, q, r, s] in fours {
            a[p.into() as usize] += 1;
            b[q.into() as usize] += 1;
            c[r.into() as usize] += 1;
            d[s.into() as usize] += 1;
        }
        for &size in rest {
            a[size.into() as usize] += 1;
        }
        for size in (0..length).rev() {
            let count = a[size] + b[size] + c[size] + d[size];
            if count > 0 {
                reserve(&mut classes)?;
                classes.push(Class { size: size as u64, count });
            }
        }
        return Ok(classes);
    }
    let mut sizes = collect("batch_window", sizes.len(), sizes.iter().map(|&size| size.into()))?;
    samedeal_bulk::numbers(&mut sizes);
    for equal in sizes.chunk_by(|a, b| a == b).rev() {
        reserve(&mut classes)?;
        classes.push(Class { size: equal[0], count: equal.len() as u32 });
    }
    Ok(classes)
}

/// For each class in turn, the places of its sizes in the list, ascending. Failures: `out-of-memory`.
pub(in super::super) fn places<T: Copy + Into<u64>>(sizes: &[T], classes: &[Class]) -> Result<Vec<u32>, Failure> {
    let most = classes.first().map_or(0, |class| class.size);
    if fits_table(most, sizes.len()) {
        let length = most as usize + 1;
        let mut next = collect("batch_window", length, repeat_n(0_u32, length))?;
        let mut start = 0;
        for class in classes {
            next[class.size as usize] = start;
            start += class.count;
        }
        let mut places = collect("batch_window", sizes.len(), repeat_n(0, sizes.len()))?;
        for (place, &size) in (0..).zip(sizes) {
            let at = &mut next[size.into() as usize];
            places[*at as usize] = place;
            *at += 1;
        }
        return Ok(places);
    }
    let keys = (0_u128..).zip(sizes).map(|(place, &size)| u128::from(u64::MAX - size.into()) << 32 | place);
    let mut keys = collect("batch_window", sizes.len(), keys)?;
    samedeal_bulk::numbers128(&mut keys);
    collect("batch_window", keys.len(), keys.iter().map(|&key| key as u32))
}

/// Whether a table with a place for each size up to `most` is not much larger than the list of sizes.
fn fits_table(most: u64, count: usize) -> bool {
    most <= 16_384 + count as u64
}
