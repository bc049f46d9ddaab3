//! Packings: bins with the same content are stored once.

use alloc::vec::Vec;

use crate::base::Failure;
use crate::base::memory::{collect, has_room};

/// Items of the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// The room that each item takes in a bin.
    pub size: u64,
    /// How many items have this size.
    pub count: u32,
}

/// A part of the content of a bin: `each` items of a class. The node `below` has the rest of the content.
struct Node {
    below: u32,
    class: u32,
    each: u32,
}

/// The number that stands for no node.
pub(super) const NONE: u32 = u32::MAX;

/// Bins with the same content.
pub(super) struct Group {
    pub(super) free: u64,
    pub(super) node: u32,
    pub(super) bins: u32,
}

/// A packing: items in bins. Bins with the same content are stored once.
pub struct Patterns {
    pub(super) capacity: u64,
    nodes: Vec<Node>,
    /// The bins, sorted by free space, the fullest first.
    pub(super) groups: Vec<Group>,
    pub(super) bound: u64,
}

/// Some bins with the same content.
pub struct Pattern<'a> {
    nodes: &'a [Node],
    node: u32,
    /// How many bins have this content.
    pub bins: u32,
    /// The room that is left in each bin.
    pub free: u64,
}

impl<'a> Pattern<'a> {
    /// The content of each bin: classes, and how many items of each. A class may come more than once.
    pub fn content(&self) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        let (nodes, mut at) = (self.nodes, self.node);
        core::iter::from_fn(move || {
            let node = nodes.get(at as usize)?;
            at = node.below;
            Some((node.class, node.each))
        })
    }
}

impl Patterns {
    pub(super) fn empty(capacity: u64) -> Self {
        Self { capacity, nodes: Vec::new(), groups: Vec::new(), bound: 0 }
    }

    /// How many bins there are.
    pub fn count(&self) -> u64 {
        self.groups.iter().map(|group| u64::from(group.bins)).sum()
    }

    /// A lower bound: no packing of the same items has fewer bins.
    pub fn bound(&self) -> u64 {
        self.bound
    }

    /// The patterns of all bins, the fullest first.
    pub fn patterns(&self) -> impl Iterator<Item = Pattern<'_>> {
        self.groups.iter().map(|group| self.pattern(group))
    }

    pub(super) fn pattern(&self, group: &Group) -> Pattern<'_> {
        Pattern { nodes: &self.nodes, node: group.node, bins: group.bins, free: group.free }
    }

    /// Adds bins with this content. Failures: `out-of-memory`.
    pub(super) fn add(
        &mut self,
        classes: &[Class],
        content: impl IntoIterator<Item = (u32, u32)>,
        bins: u32,
    ) -> Result<(), Failure> {
        let (mut node, mut free) = (NONE, self.capacity);
        for (class, each) in content {
            free -= classes[class as usize].size * u64::from(each);
            node = self.put(node, class, each)?;
        }
        reserve(&mut self.groups)?;
        self.groups.push(Group { free, node, bins });
        Ok(())
    }

    pub(super) fn put(&mut self, below: u32, class: u32, each: u32) -> Result<u32, Failure> {
        reserve(&mut self.nodes)?;
        let node = u32::try_from(self.nodes.len()).ok().filter(|&node| node != NONE).ok_or_else(no_memory)?;
        self.nodes.push(Node { below, class, each });
        Ok(node)
    }

    /// Sorts bins, the fullest first. Bins with the same free space stay in their order.
    pub(super) fn sort(&mut self) -> Result<(), Failure> {
        // Keys are sorted, because the stable sort of the library cannot report that there is no memory.
        let mut keys = collect(
            "batch_window",
            self.groups.len(),
            (0_u128..).zip(&self.groups).map(|(place, group)| u128::from(group.free) << 32 | place),
        )?;
        samedeal_bulk::numbers128(&mut keys);
        let groups = keys.iter().map(|&key| &self.groups[key as u32 as usize]);
        let sorted = groups.map(|&Group { free, node, bins }| Group { free, node, bins });
        self.groups = collect("batch_window", keys.len(), sorted)?;
        Ok(())
    }

    /// Adds the bins of another packing of these classes.
    pub(super) fn take(&mut self, other: Self, classes: &[Class]) -> Result<(), Failure> {
        for pattern in other.patterns() {
            self.add(classes, pattern.content(), pattern.bins)?;
        }
        self.sort()
    }

    /// Adds items of size 0 to the first bin, which is the fullest. If there is no bin, the items get a new one.
    pub(super) fn put_into_first(&mut self, class: u32, count: u32) -> Result<(), Failure> {
        let (below, free) = self.groups.first().map_or((NONE, self.capacity), |group| (group.node, group.free));
        let node = self.put(below, class, count)?;
        reserve(&mut self.groups)?;
        if let Some(group) = self.groups.first_mut() {
            group.bins -= 1;
            if group.bins == 0 {
                group.node = node;
                group.bins = 1;
                return Ok(());
            }
        }
        self.groups.insert(0, Group { free, node, bins: 1 });
        Ok(())
    }
}

/// The sizes of the classes with these counts. Failures: `out-of-memory`.
pub(super) fn with_counts(classes: &[Class], counts: &[u32]) -> Result<Vec<Class>, Failure> {
    let classes = classes.iter().zip(counts).map(|(class, &count)| Class { size: class.size, count });
    collect("batch_window", counts.len(), classes)
}

/// The greatest effort of a search, in elementary steps: some seconds.
const MOST_EFFORT: u64 = 1 << 32;

/// The effort that a search may take: `base`, and `each` for every item, but at most [`MOST_EFFORT`].
pub(super) fn effort(items: u64, base: u64, each: u64) -> u64 {
    items.saturating_mul(each).saturating_add(base).min(MOST_EFFORT)
}

/// How many items the classes have.
pub(super) fn items(classes: &[Class]) -> u64 {
    classes.iter().map(|class| u64::from(class.count)).sum()
}

pub(super) fn reserve<T>(list: &mut Vec<T>) -> Result<(), Failure> {
    if has_room(list, 1) { Ok(()) } else { Err(no_memory()) }
}

pub(super) fn no_memory() -> Failure {
    Failure::out_of_memory("batch_window", "the window", "a smaller one")
}
