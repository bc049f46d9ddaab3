//! A lower bound on the number of bins.

use alloc::vec::Vec;

use super::patterns::Class;
use crate::base::Failure;
use crate::base::memory::collect;

/// The greatest of four lower bounds on the number of bins. Failures: `out-of-memory`.
///
/// - The sum of the sizes, divided by the capacity.
/// - The number of items, divided by `slots`.
/// - For each size, the number of items of at least this size, divided by how many of this size fit into a bin.
/// - L2 of Martello and Toth. Items above half of the capacity need a bin each. Smaller items, from a size `least` on,
///   go into the bins that still have room for `least`, then into more bins.
pub(super) fn simple(classes: &[Class], capacity: u64, slots: u32) -> Result<u64, Failure> {
    // For each place, the number of items of the classes before it, and the sum of their sizes. Sums would overflow
    // from 2^32 classes on; memory has room for fewer.
    let mut sums: Vec<(u64, u128)> = collect("batch_window", classes.len() + 1, [(0, 0)])?;
    let (mut items, mut total) = (0_u64, 0_u128);
    for class in classes {
        items += u64::from(class.count);
        total += u128::from(class.size) * u128::from(class.count);
        sums.push((items, total));
    }
    let bins = |total: u128| u64::try_from(total.div_ceil(u128::from(capacity.max(1)))).unwrap_or(u64::MAX);
    let mut bound = bins(total).max(items.div_ceil(slots.into())).max(u64::from(items > 0));
    for (class, &(items, _)) in classes.iter().zip(&sums[1..]) {
        let each = capacity.checked_div(class.size).unwrap_or(u64::MAX).max(1);
        bound = bound.max(items.div_ceil(each));
    }
    let half = classes.partition_point(|class| class.size > capacity / 2);
    // `least` is every size up to half of the capacity, and at last 0.
    for place in half..=classes.len() {
        let least = classes.get(place).map_or(0, |class| class.size);
        let place = (place + 1).min(classes.len());
        let alone = classes.partition_point(|class| class.size > capacity - least);
        let (pairs, taken) = (sums[half].0 - sums[alone].0, sums[half].1 - sums[alone].1);
        let room = u128::from(pairs) * u128::from(capacity) - taken;
        let small = sums[place].1 - sums[half].1;
        bound = bound.max(sums[half].0 + bins(small.saturating_sub(room)));
    }
    Ok(bound)
}
