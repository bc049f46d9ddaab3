//! Bin packing: few bins for items of known sizes, and a lower bound on their number.

mod best_fit;
mod bound;
mod columns;
mod histogram;
mod patterns;
mod subset;

use alloc::format;

use crate::base::Failure;
use crate::base::failure::{at_least, range};
use crate::base::memory::collect;
pub use histogram::histogram;
pub(super) use histogram::places;
pub use patterns::{Class, Pattern, Patterns};
use patterns::{effort, items};
use subset::Subset;

/// The method that fills bins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// Best-fit decreasing; then the emptiest bins are filled again by exact fill. It takes a few milliseconds.
    #[default]
    Fast,
    /// The best of `Fast`, exact fill of all bins, and column generation, which also gives a better lower bound. It
    /// takes up to seconds.
    Optimal,
}

impl Patterns {
    /// Packs classes of descending size into bins of at most `slots` items; 2^32 - 1 means no limit. No size may be
    /// above the capacity. Failures: `capacity`, `slots`, `classes` (not descending), `out-of-memory`.
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

    /// Packs sizes of at least 1 into bins with any number of items.
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
        let mut counts = collect("batch_window", classes.len(), classes.iter().map(|class| class.count))?;
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

    /// Fills the emptiest bins again by exact fill, if their items then need fewer bins.
    fn repair(&mut self, classes: &[Class], subset: &mut Subset) -> Result<(), Failure> {
        let mut counts = collect("batch_window", classes.len(), core::iter::repeat_n(0, classes.len()))?;
        let mut bins = 0;
        let mut keep = self.groups.len();
        // Only whole groups are taken apart. A group stands for many equal bins, and a part of one would need a group
        // of its own.
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
}

/// How many bins are filled again by exact fill, besides an eighth of all bins.
const REPAIRED: u64 = 1 << 9;
