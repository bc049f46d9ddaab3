//! How many bins it takes at least.

use alloc::vec::Vec;

use super::patterns::Class;
use crate::Failure;
use crate::base::memory::collect;

/// The most of four: what the sizes need together; what the number of items needs; the same of the items from each size on,
/// of which so many go into a bin; and the bound L2 of Martello and Toth: of items above half of the capacity no two share a
/// bin, and those that are smaller, from a size `least` on, take what bins of the former leave that have room for `least`,
/// and more bins for the rest. Failures: `out-of-memory`.
pub(super) fn simple(classes: &[Class], capacity: u64, slots: u32) -> Result<u64, Failure> {
    // Of the classes before a place: items and what they take. At most 2^64 classes of 2^32 items of 2^64 each would
    // overflow; memory holds fewer.
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
    // Besides every size up to the half: none at all.
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
