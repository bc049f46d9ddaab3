//! Bins for items of known sizes: as few as can be found, and how few there might be at best.

mod best_fit;
mod bound;
mod columns;
mod histogram;
mod subset;

use alloc::format;
use alloc::vec::Vec;

use crate::Failure;
use crate::base::failure::{at_least, range};
use crate::base::memory::{collect, has_room};
pub use histogram::histogram;
pub(super) use histogram::places;
use subset::Subset;

/// Items of the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// What each takes of a bin.
    pub size: u64,
    /// How many there are.
    pub count: u32,
}

/// How bins are filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// Best-fit decreasing, and its emptiest bins once more by exact fill: a few milliseconds.
    #[default]
    Fast,
    /// The best of that, exact fill of all bins, and column generation, with a bound that tells how good it is: up to
    /// seconds.
    Optimal,
}

/// So many items of a class, on top of what another pattern holds.
struct Node {
    below: u32,
    class: u32,
    each: u32,
}

/// No node.
const NONE: u32 = u32::MAX;

/// Bins with the same content.
struct Group {
    free: u64,
    node: u32,
    bins: u32,
}

/// Items in bins. Bins with the same content are told once.
pub struct Patterns {
    capacity: u64,
    nodes: Vec<Node>,
    /// By free space, the fullest first.
    groups: Vec<Group>,
    bound: u64,
}

/// Some bins with the same content.
pub struct Pattern<'a> {
    nodes: &'a [Node],
    node: u32,
    /// How many they are.
    pub bins: u32,
    /// What is left of the capacity of each.
    pub free: u64,
}

impl<'a> Pattern<'a> {
    /// The classes that each bin holds, and how many of them; a class may come more than once.
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
    /// Packs classes of descending size, none above the capacity, into bins of at most `slots` items, or of
    /// any number if that is 2^32 - 1. Failures: `capacity`, `slots`, `classes` (not descending), `out-of-memory`.
    pub fn new(classes: &[Class], capacity: u64, slots: u32, method: Packing) -> Result<Self, Failure> {
        if slots == 0 {
            return Err(Failure::out_of_range("slots", 0, range(1, u32::MAX)));
        }
        if let Some(class) = classes.iter().find(|class| class.size > capacity) {
            return Err(Failure::out_of_range("capacity", capacity, at_least(class.size)));
        }
        if !classes.is_sorted_by(|a, b| a.size > b.size) {
            return Err(Failure::contradiction("classes", format!("{} of them", classes.len()), "descending sizes"));
        }
        let bound = bound::simple(classes, capacity, slots)?;
        let sized = classes.len() - usize::from(classes.last().is_some_and(|class| class.size == 0));
        let smallest = classes[..sized].iter().rfind(|class| class.count > 0).map_or(1, |class| class.size);
        let limited = if sized < classes.len() { u32::MAX.into() } else { capacity / smallest };
        let mut packing = if u64::from(slots) < limited {
            best_fit::pack(classes, capacity, slots)?
        } else {
            let mut packing = Self::of_sized(&classes[..sized], capacity, method, bound)?;
            if let Some(none) = classes.get(sized).filter(|none| none.count > 0) {
                packing.put_into_first(sized as u32, none.count)?;
            }
            packing
        };
        packing.bound = packing.bound.max(bound);
        Ok(packing)
    }

    /// The same where sizes are at least 1 and nothing but the capacity bounds the items of a bin.
    fn of_sized(classes: &[Class], capacity: u64, method: Packing, bound: u64) -> Result<Self, Failure> {
        let mut fast = best_fit::pack(classes, capacity, u32::MAX)?;
        if fast.count() <= bound {
            return Ok(fast);
        }
        let mut subset = Subset::new(classes, capacity)?;
        fast.repair(classes, &mut subset)?;
        if method == Packing::Fast || fast.count() <= bound {
            return Ok(fast);
        }
        let mut best = fast;
        let mut counts = collect("batch-window", classes.len(), classes.iter().map(|class| class.count))?;
        let mut full = Self::empty(capacity);
        subset.pack(classes, &mut counts, effort(items(classes), 1 << 24, 1 << 14), &mut full)?;
        if full.count() < best.count() {
            best = full;
        }
        if best.count() > bound {
            let (columns, bound) = columns::pack(classes, capacity, best.count(), &mut subset)?;
            if let Some(columns) = columns.filter(|columns| columns.count() < best.count()) {
                best = columns;
            }
            best.bound = bound;
        }
        Ok(best)
    }

    fn empty(capacity: u64) -> Self {
        Self { capacity, nodes: Vec::new(), groups: Vec::new(), bound: 0 }
    }

    /// How many bins there are.
    pub fn count(&self) -> u64 {
        self.groups.iter().map(|group| u64::from(group.bins)).sum()
    }

    /// No packing has fewer bins than this.
    pub fn bound(&self) -> u64 {
        self.bound
    }

    /// The bins, those with the least free space first.
    pub fn patterns(&self) -> impl Iterator<Item = Pattern<'_>> {
        self.groups.iter().map(|group| self.pattern(group))
    }

    fn pattern(&self, group: &Group) -> Pattern<'_> {
        Pattern { nodes: &self.nodes, node: group.node, bins: group.bins, free: group.free }
    }

    /// Adds bins. Failures: `out-of-memory`.
    fn add(
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

    fn put(&mut self, below: u32, class: u32, each: u32) -> Result<u32, Failure> {
        reserve(&mut self.nodes)?;
        let node = u32::try_from(self.nodes.len()).ok().filter(|&node| node != NONE).ok_or_else(no_memory)?;
        self.nodes.push(Node { below, class, each });
        Ok(node)
    }

    /// The fullest bins first; among equals, those that were added first.
    fn sort(&mut self) -> Result<(), Failure> {
        // The merge sort of the library cannot report that there is no memory.
        let mut keys = collect(
            "batch-window",
            self.groups.len(),
            (0_u128..).zip(&self.groups).map(|(place, group)| u128::from(group.free) << 32 | place),
        )?;
        samedeal_sort::numbers128(&mut keys);
        let groups = keys.iter().map(|&key| &self.groups[key as u32 as usize]);
        let sorted = groups.map(|&Group { free, node, bins }| Group { free, node, bins });
        self.groups = collect("batch-window", keys.len(), sorted)?;
        Ok(())
    }

    /// Takes the emptiest bins apart and fills others with their items.
    fn repair(&mut self, classes: &[Class], subset: &mut Subset) -> Result<(), Failure> {
        let mut counts = collect("batch-window", classes.len(), core::iter::repeat_n(0, classes.len()))?;
        let mut bins = 0;
        let mut keep = self.groups.len();
        // Whole groups, so that what they held goes on being the same many times.
        let most = REPAIRED + self.count() / 8;
        while keep > 0 && bins < most {
            let pattern = self.pattern(&self.groups[keep - 1]);
            if pattern.free == 0 {
                break;
            }
            keep -= 1;
            bins += u64::from(pattern.bins);
            pattern.content().for_each(|(class, each)| counts[class as usize] += each * pattern.bins);
        }
        let mut other = Self::empty(self.capacity);
        subset.pack(classes, &mut counts, effort(items(classes), 1 << 20, 1 << 6), &mut other)?;
        if other.count() < bins {
            self.groups.truncate(keep);
            self.take(other, classes)?;
        }
        Ok(())
    }

    /// Adds the bins of another.
    fn take(&mut self, other: Self, classes: &[Class]) -> Result<(), Failure> {
        for pattern in other.patterns() {
            self.add(classes, pattern.content(), pattern.bins)?;
        }
        self.sort()
    }

    /// Adds items of size 0 to the first bin, the fullest; if there is none, to one of their own.
    fn put_into_first(&mut self, class: u32, count: u32) -> Result<(), Failure> {
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

/// The same classes with other counts. Failures: `out-of-memory`.
fn with_counts(classes: &[Class], counts: &[u32]) -> Result<Vec<Class>, Failure> {
    let classes = classes.iter().zip(counts).map(|(class, &count)| Class { size: class.size, count });
    collect("batch-window", counts.len(), classes)
}

/// How many bins are filled once more, besides an eighth of them all.
const REPAIRED: u64 = 1 << 9;
/// No method makes more effort than this at a time: some seconds.
const MOST_EFFORT: u64 = 1 << 32;

/// What so much effort, and so much more for each of `items`, amounts to.
fn effort(items: u64, base: u64, each: u64) -> u64 {
    items.saturating_mul(each).saturating_add(base).min(MOST_EFFORT)
}

/// How many items there are.
fn items(classes: &[Class]) -> u64 {
    classes.iter().map(|class| u64::from(class.count)).sum()
}

fn reserve<T>(list: &mut Vec<T>) -> Result<(), Failure> {
    if has_room(list, 1) { Ok(()) } else { Err(no_memory()) }
}

fn no_memory() -> Failure {
    Failure::out_of_memory("batch-window", "the window", "a smaller one")
}
