//! Exact fill: a bin gets the longest item that is left, and items whose sizes fill the rest of the capacity exactly,
//! if there are any. Larger items are preferred.

use alloc::vec::Vec;

use super::best_fit;
use super::patterns::{Class, NONE, Patterns, with_counts};
use crate::base::Failure;
use crate::base::memory::collect;

/// The greatest capacity in units. A greater capacity is counted in larger units, so that there are few sums of sizes.
const MOST: u64 = 1 << 18;

/// The sizes of classes in units, and the memory for a search for sums of sizes.
pub(super) struct Subset {
    capacity: usize,
    /// The size of each class in units, rounded up.
    sizes: Vec<usize>,
    /// A bit for each sum that was found.
    sums: Vec<u64>,
    /// A bit for each sum that was found with the last item.
    fresh: Vec<u64>,
    /// For each sum, the class of the item with which it was found.
    given: Vec<u32>,
    /// The classes that may have items left.
    live: Vec<u32>,
    content: Vec<(u32, u32)>,
}

impl Subset {
    /// The memory for classes of sizes from 1 to `capacity`. Failures: `out-of-memory`.
    pub(super) fn new(classes: &[Class], capacity: u64) -> Result<Self, Failure> {
        let unit = capacity.div_ceil(MOST).max(1);
        let capacity = (capacity / unit) as usize;
        let words = capacity / 64 + 1;
        let zeros = || collect("batch_window", words, core::iter::repeat_n(0, words));
        Ok(Self {
            capacity,
            sizes: collect(
                "batch_window",
                classes.len(),
                classes.iter().map(|class| class.size.div_ceil(unit) as usize),
            )?,
            sums: zeros()?,
            fresh: zeros()?,
            given: collect("batch_window", capacity + 1, core::iter::repeat_n(NONE, capacity + 1))?,
            live: collect("batch_window", classes.len(), [])?,
            content: collect("batch_window", classes.len().min(capacity) + 1, [])?,
        })
    }

    /// Adds bins until all counts are 0. When `effort` is used up, the items that are left are packed by best-fit
    /// decreasing. Failures: `out-of-memory`.
    pub(super) fn pack(
        &mut self,
        classes: &[Class],
        counts: &mut [u32],
        mut effort: u64,
        packing: &mut Patterns,
    ) -> Result<(), Failure> {
        self.live.clear();
        self.live.extend((0_u32..).zip(&*counts).filter(|(_, count)| **count > 0).map(|(class, _)| class));
        let (mut first, mut gone) = (0, 0);
        loop {
            while self.live.get(first).is_some_and(|&class| counts[class as usize] == 0) {
                first += 1;
            }
            let Some(&longest) = self.live.get(first) else { break };
            if effort == 0 {
                let rest = with_counts(classes, counts)?;
                return packing.take(best_fit::pack(&rest, packing.capacity, u32::MAX)?, classes);
            }
            self.fill(longest, first, counts, &mut effort);
            let bins = self.content.iter().map(|&(class, each)| counts[class as usize] / each).min().unwrap_or(1);
            for &(class, each) in &self.content {
                counts[class as usize] -= bins * each;
                gone += usize::from(counts[class as usize] == 0);
            }
            packing.add(classes, self.content.iter().copied(), bins)?;
            if gone > self.live.len() / 4 {
                self.live.retain(|&class| counts[class as usize] > 0);
                (first, gone) = (0, 0);
            }
        }
        packing.sort()
    }

    /// Finds the content of a bin with an item of the class `longest`: the first sum that fills the bin, else the
    /// greatest sum.
    fn fill(&mut self, longest: u32, first: usize, counts: &[u32], effort: &mut u64) {
        let Self { capacity, sizes, sums, fresh, given, live, content } = self;
        let wanted = capacity.saturating_sub(sizes[longest as usize]);
        sums[..=wanted / 64].fill(0);
        sums[0] = 1;
        *effort = effort.saturating_sub(wanted as u64 / 64 + 1);
        // An upper bound of the sums so far.
        let mut most = 0;
        'classes: for &class in &live[first..] {
            let size = sizes[class as usize];
            let left = counts[class as usize] - u32::from(class == longest);
            *effort = effort.saturating_sub(1);
            if size > wanted {
                continue;
            }
            // The range of the words that may have fresh sums. For the first item of a class, all sums are fresh.
            let mut old = 0..most / 64 + 1;
            for item in 0..left {
                let before = most;
                most = (most + size).min(wanted);
                let new = old.start + size / 64..most / 64 + 1;
                *effort = effort.saturating_sub(new.len() as u64);
                let mut fresh_end = 0;
                let mut fresh_start = 0;
                for word in new.clone().rev() {
                    let source = if item == 0 { &*sums } else { &*fresh };
                    let at = |place: usize| if old.contains(&place) { source[place] } else { 0 };
                    let mut bits = at(word - size / 64) << (size % 64);
                    if size % 64 > 0 && word > size / 64 {
                        bits |= at(word - size / 64 - 1) >> (64 - size % 64);
                    }
                    if word == wanted / 64 {
                        bits &= u64::MAX >> (63 - wanted % 64);
                    }
                    bits &= !sums[word];
                    fresh[word] = bits;
                    sums[word] |= bits;
                    if bits != 0 {
                        (fresh_start, fresh_end) = (word, fresh_end.max(word + 1));
                    }
                    while bits != 0 {
                        given[word * 64 + bits.trailing_zeros() as usize] = class;
                        bits &= bits - 1;
                    }
                }
                if fresh_end == 0 {
                    most = before;
                    break;
                }
                if sums[wanted / 64] >> (wanted % 64) & 1 == 1 || *effort == 0 {
                    break 'classes;
                }
                old = fresh_start..fresh_end;
            }
        }
        let mut sum = wanted;
        while sums[sum / 64] >> (sum % 64) & 1 == 0 {
            sum -= 1;
        }
        content.clear();
        content.push((longest, 1));
        while sum > 0 {
            let class = given[sum];
            sum -= sizes[class as usize];
            match content.iter_mut().find(|(known, _)| *known == class) {
                Some((_, each)) => *each += 1,
                None => content.push((class, 1)),
            }
        }
    }
}
