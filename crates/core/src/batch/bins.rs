//! Best-fit decreasing over a histogram: what an item-by-item best fit gives, at a cost that depends on the number of
//! different sizes and not on that of items (Krell et al. 2021).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::Failure;
use crate::memory::{collect, has_headroom};

/// Items of the same size.
pub(super) struct Class {
    pub(super) size: u64,
    pub(super) count: u32,
}

/// So many items of a class in each of so many bins, on top of what another pattern holds.
struct Node {
    below: Option<u32>,
    class: u32,
    each: u32,
}

/// Bins with the same content.
struct Group {
    node: u32,
    bins: u32,
    /// How many more items each may hold.
    slots: u32,
}

/// The bins of a packing.
pub(super) struct Bins {
    nodes: Vec<Node>,
    /// By free space.
    groups: BTreeMap<u64, Vec<Group>>,
}

impl Bins {
    /// Packs classes of descending size, none above the capacity, into bins of at most `slots` items.
    /// Failures: `out-of-memory`.
    pub(super) fn pack(classes: &[Class], capacity: u64, slots: u32) -> Result<Self, Failure> {
        let mut bins = Self { nodes: Vec::new(), groups: BTreeMap::new() };
        let mut full = Vec::new();
        for (class, &Class { size, mut count }) in (0..).zip(classes) {
            while count > 0 {
                // The fullest bins that have room, else new ones.
                let found = bins.groups.range_mut(size..).next().map(|(&free, groups)| (free, groups.pop()));
                let (free, group) = match found {
                    Some((free, Some(group))) => {
                        bins.forget(free);
                        (free, group)
                    }
                    _ => (capacity, Group { node: u32::MAX, bins: u32::MAX, slots }),
                };
                let room = free.checked_div(size).map_or(count, |room| u32::try_from(room).unwrap_or(u32::MAX));
                let each = room.min(group.slots).min(count);
                let many = (count / each).min(group.bins);
                bins.put(free, &group, class, size, each, many, &mut full)?;
                count -= each * many;
                let mut left = group.bins - many;
                if left > 0 && count > 0 && count < each {
                    bins.put(free, &group, class, size, count, 1, &mut full)?;
                    (count, left) = (0, left - 1);
                }
                if left > 0 && group.node != u32::MAX {
                    bins.add(free, Group { bins: left, ..group })?;
                }
            }
        }
        for (free, group) in full {
            bins.add(free, group)?;
        }
        Ok(bins)
    }

    /// The bins one by one, those with the least free space first: the classes that each holds, and how many of them.
    pub(super) fn each(
        &self,
        mut see: impl FnMut(&mut dyn Iterator<Item = (u32, u32)>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for groups in self.groups.values() {
            for group in groups {
                for _ in 0..group.bins {
                    let mut at = Some(group.node);
                    see(&mut core::iter::from_fn(|| {
                        let node = &self.nodes[at? as usize];
                        at = node.below;
                        Some((node.class, node.each))
                    }))?;
                }
            }
        }
        Ok(())
    }

    /// How many bins there are.
    pub(super) fn count(&self) -> u32 {
        self.groups.values().flatten().map(|group| group.bins).sum()
    }

    #[allow(clippy::too_many_arguments)]
    fn put(
        &mut self,
        free: u64,
        group: &Group,
        class: u32,
        size: u64,
        each: u32,
        bins: u32,
        full: &mut Vec<(u64, Group)>,
    ) -> Result<(), Failure> {
        let below = (group.node != u32::MAX).then_some(group.node);
        reserve(&mut self.nodes)?;
        self.nodes.push(Node { below, class, each });
        let group = Group { node: self.nodes.len() as u32 - 1, bins, slots: group.slots - each };
        let free = free - size * u64::from(each);
        if group.slots == 0 {
            // Nothing more goes in, whatever its size.
            reserve(full)?;
            full.push((free, group));
            return Ok(());
        }
        self.add(free, group)
    }

    fn add(&mut self, free: u64, group: Group) -> Result<(), Failure> {
        if !has_headroom() {
            return Err(no_memory());
        }
        let groups = self.groups.entry(free).or_default();
        reserve(groups)?;
        groups.push(group);
        Ok(())
    }

    fn forget(&mut self, free: u64) {
        if self.groups.get(&free).is_some_and(Vec::is_empty) {
            self.groups.remove(&free);
        }
    }
}

/// The classes of some sizes, descending, and the places of the sizes in each, in order.
pub(super) fn classes(sizes: &[u64]) -> Result<(Vec<Class>, Vec<u32>), Failure> {
    let mut keys = collect("window", sizes.len(), (0_u32..).zip(sizes).map(|(place, &size)| (u64::MAX - size, place)))?;
    keys.sort_unstable();
    let mut classes: Vec<Class> = Vec::new();
    for group in keys.chunk_by(|a, b| a.0 == b.0) {
        reserve(&mut classes)?;
        classes.push(Class { size: u64::MAX - group[0].0, count: group.len() as u32 });
    }
    Ok((classes, collect("window", keys.len(), keys.iter().map(|key| key.1))?))
}

fn reserve<T>(list: &mut Vec<T>) -> Result<(), Failure> {
    if list.len() == list.capacity() && (list.try_reserve(1).is_err() || !has_headroom()) {
        return Err(no_memory());
    }
    Ok(())
}

fn no_memory() -> Failure {
    Failure::out_of_memory("window", "the window", "a smaller one")
}
