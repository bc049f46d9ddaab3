//! Best-fit decreasing over a histogram: the bins of an item-by-item best fit, at a cost that depends on the number of
//! different sizes and not on the number of items (Krell et al. 2021).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::patterns::{Class, Group, NONE, Patterns, no_memory, reserve};
use crate::base::Failure;
use crate::base::memory::{collect, has_headroom};

/// Bins with the same content that still have slots: an entry in the list of bins with the same free space.
struct Open {
    node: u32,
    bins: u32,
    /// How many more items each bin may have.
    slots: u32,
    /// The next entry of the list.
    next: u32,
}

/// Packs classes of descending size into bins of at most `slots` items, where `slots` is 1 or more. No size may be
/// above the capacity. Failures: `out-of-memory`.
pub(super) fn pack(classes: &[Class], capacity: u64, slots: u32) -> Result<Patterns, Failure> {
    let mut packing = Patterns::empty(capacity);
    let mut open = List { groups: Vec::new(), heads: Heads::new(capacity)? };
    for (class, &Class { size, mut count }) in (0..).zip(classes) {
        while count > 0 {
            // The fullest bins that have room for the size; if there are none, new bins.
            let (free, group) =
                open.take(size).unwrap_or((capacity, Open { node: NONE, bins: u32::MAX, slots, next: NONE }));
            let room = free.checked_div(size).map_or(count, |room| u32::try_from(room).unwrap_or(u32::MAX));
            let each = room.min(group.slots).min(count);
            let many = (count / each).min(group.bins);
            count -= each * many;
            let mut left = group.bins - many;
            let short = left > 0 && count > 0 && count < each;
            for (each, bins) in [(each, many), (count, u32::from(short))] {
                if bins > 0 {
                    let node = packing.put(group.node, class, each)?;
                    let free = free - size * u64::from(each);
                    if group.slots == each {
                        // No item fits any more, not even one of size 0: all slots are used.
                        reserve(&mut packing.groups)?;
                        packing.groups.push(Group { free, node, bins });
                    } else {
                        open.add(free, Open { node, bins, slots: group.slots - each, next: NONE })?;
                    }
                }
            }
            if short {
                (count, left) = (0, left - 1);
            }
            if left > 0 && group.node != NONE {
                open.add(free, Open { bins: left, ..group })?;
            }
        }
    }
    while let Some((free, Open { node, bins, .. })) = open.take(0) {
        reserve(&mut packing.groups)?;
        packing.groups.push(Group { free, node, bins });
    }
    packing.sort()?;
    Ok(packing)
}

/// Lists of bins, one for each amount of free space.
struct List {
    groups: Vec<Open>,
    heads: Heads,
}

impl List {
    /// Removes the bins that were added last, from the list of the least free space that `size` fits into.
    fn take(&mut self, size: u64) -> Option<(u64, Open)> {
        let (free, head) = self.heads.first_from(size)?;
        let Open { node, bins, slots, next } = self.groups[head as usize];
        self.heads.set(free, next);
        // The memory of an entry is used again only if the entry is the last one.
        if head as usize + 1 == self.groups.len() {
            self.groups.pop();
        }
        Some((free, Open { node, bins, slots, next }))
    }

    fn add(&mut self, free: u64, group: Open) -> Result<(), Failure> {
        reserve(&mut self.groups)?;
        let place = u32::try_from(self.groups.len()).ok().filter(|&place| place != NONE).ok_or_else(no_memory)?;
        let next = self.heads.get(free);
        self.groups.push(Open { next, ..group });
        if matches!(self.heads, Heads::Tree(_)) && next == NONE && !has_headroom() {
            return Err(no_memory());
        }
        self.heads.set(free, place);
        Ok(())
    }
}

/// The first entry of the list of each amount of free space.
enum Heads {
    /// A table, and bits to search it: a bit for each list that is not empty; above this, a bit for each word of the
    /// level below that is not 0.
    Table(Vec<u32>, [Vec<u64>; LEVELS]),
    Tree(BTreeMap<u64, u32>),
}

/// The number of levels of bits. A bit of a level stands for 64 bits of the level below.
const LEVELS: usize = 3;

impl Heads {
    fn new(capacity: u64) -> Result<Self, Failure> {
        if capacity >= 1 << (6 * LEVELS) {
            return Ok(Self::Tree(BTreeMap::new()));
        }
        let mut length = capacity as usize + 1;
        let heads = collect("batch_window", length, core::iter::repeat_n(NONE, length))?;
        let mut levels = [const { Vec::new() }; LEVELS];
        for level in &mut levels {
            length = length.div_ceil(64);
            *level = collect("batch_window", length, core::iter::repeat_n(0, length))?;
        }
        Ok(Self::Table(heads, levels))
    }

    fn get(&self, free: u64) -> u32 {
        match self {
            Self::Table(heads, _) => heads[free as usize],
            Self::Tree(heads) => heads.get(&free).copied().unwrap_or(NONE),
        }
    }

    fn set(&mut self, free: u64, head: u32) {
        match self {
            Self::Table(heads, levels) => {
                heads[free as usize] = head;
                let (mut at, mut any) = (free as usize, head != NONE);
                for level in levels {
                    let word = &mut level[at / 64];
                    *word = *word & !(1 << (at % 64)) | u64::from(any) << (at % 64);
                    (at, any) = (at / 64, *word != 0);
                }
            }
            Self::Tree(heads) if head == NONE => drop(heads.remove(&free)),
            Self::Tree(heads) => drop(heads.insert(free, head)),
        }
    }

    /// The first list that is not empty, from the free space `size` on: its free space and its first entry.
    fn first_from(&self, size: u64) -> Option<(u64, u32)> {
        let (heads, levels) = match self {
            Self::Table(heads, levels) => (heads, levels),
            Self::Tree(heads) => return heads.range(size..).next().map(|(&free, &head)| (free, head)),
        };
        // Search upwards, to a level with a bit from this place on; then downwards, to the first list below this bit.
        let mut at = size as usize;
        for level in 0..LEVELS {
            let rest = levels[level].get(at / 64).map_or(0, |word| word & u64::MAX << (at % 64));
            if rest != 0 {
                at = at / 64 * 64 + rest.trailing_zeros() as usize;
                for level in levels[..level].iter().rev() {
                    at = at * 64 + level[at].trailing_zeros() as usize;
                }
                return Some((at as u64, heads[at]));
            }
            at = at / 64 + 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::histogram;
    use super::{Vec, pack};
    use proptest::prelude::*;

    /// The free space of every bin, ascending, after a best fit item by item.
    fn one_by_one(sizes: &[u64], capacity: u64) -> Vec<u64> {
        let mut sizes = sizes.to_vec();
        sizes.sort_unstable();
        let mut bins: Vec<u64> = Vec::new();
        for &size in sizes.iter().rev() {
            match bins.iter_mut().filter(|free| **free >= size).min() {
                Some(free) => *free -= size,
                None => bins.push(capacity - size),
            }
        }
        bins.sort_unstable();
        bins
    }

    proptest! {
        #[test]
        fn equals_best_fit_item_by_item(
            sizes in prop::collection::vec(prop_oneof![0_u64..=1_000, 330_u64..=340, Just(500), Just(0)], 0..400),
            more in prop_oneof![0_u64..1_000, Just(1 << 12), Just(1 << 18), any::<u32>().prop_map(u64::from)],
        ) {
            let capacity = 1_000 + more;
            let packing = pack(&histogram(&sizes).unwrap(), capacity, u32::MAX).unwrap();
            let free = packing.patterns().flat_map(|pattern| core::iter::repeat_n(pattern.free, pattern.bins as usize));
            prop_assert_eq!(free.collect::<Vec<_>>(), one_by_one(&sizes, capacity));
        }
    }
}
