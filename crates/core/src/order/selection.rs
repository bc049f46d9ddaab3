//! Some of the numbers below an end, with random access and its inverse.

use alloc::vec::Vec;

use crate::base::Failure;
use crate::base::memory::collect;

/// The numbers below an end that are left: positions of an inner order in one epoch, or samples of a dataset.
pub(crate) enum Selection {
    /// All but some: for each removed number, how many numbers before it are left.
    Without(Vec<u64>),
    /// Only these, ascending.
    Only(Vec<u64>),
    /// All but some runs: for each removed run, how many numbers before it are left, and how many are removed up to its
    /// end.
    Runs(Vec<(u64, u64)>),
}

impl Selection {
    /// All numbers but these, which ascend.
    pub(super) fn without(mut removed: Vec<u64>) -> Self {
        for (number, removed) in (0..).zip(&mut removed) {
            *removed -= number;
        }
        Self::Without(removed)
    }

    /// The number that has `place` numbers that are left before it; `end` if there are no more.
    pub(super) fn select(&self, place: u64, end: u64) -> u64 {
        match self {
            Self::Without(before) => place + before.partition_point(|&before| before <= place) as u64,
            Self::Only(numbers) => numbers.get(place as usize).copied().unwrap_or(end),
            Self::Runs(runs) => {
                let after = runs.partition_point(|&(before, _)| before <= place);
                place + after.checked_sub(1).map_or(0, |last| runs[last].1)
            }
        }
    }

    /// Replaces each place by its number, as [`Selection::select`].
    pub(super) fn select_all(&self, places: &mut [u64], end: u64) {
        match self {
            Self::Without(before) => samedeal_bulk::add_counts(before, places),
            _ => places.iter_mut().for_each(|place| *place = self.select(*place, end)),
        }
    }

    /// How many numbers below `number` are left, and whether `number` itself is left.
    pub(super) fn rank(&self, number: u64) -> (u64, bool) {
        match self {
            Self::Without(before) => {
                // Removed number i is before[i] + i.
                let (mut low, mut high) = (0, before.len());
                while low < high {
                    let middle = low.midpoint(high);
                    if before[middle] + middle as u64 >= number { high = middle } else { low = middle + 1 }
                }
                let is_out = before.get(low).is_some_and(|before| before + low as u64 == number);
                (number - low as u64, !is_out)
            }
            Self::Only(numbers) => {
                let before = numbers.partition_point(|&own| own < number);
                (before as u64, numbers.get(before) == Some(&number))
            }
            Self::Runs(runs) => {
                // The runs before this one end at or before the number.
                let at = runs.partition_point(|&(before, after)| before + after <= number);
                let out = at.checked_sub(1).map_or(0, |last| runs[last].1);
                match runs.get(at) {
                    Some(&(before, _)) if before + out <= number => (before, false),
                    _ => (number - out, true),
                }
            }
        }
    }

    /// The numbers of `of`, or all numbers, without those of an ascending list. Failures: `out-of-memory`.
    ///
    /// `of` must not be `Runs`, which views in lanes do not have.
    pub(super) fn excluding(of: Option<&Self>, list: &[u64]) -> Result<Self, Failure> {
        if let Some(Self::Only(numbers)) = of {
            let kept = numbers.iter().copied().filter(|number| list.binary_search(number).is_err());
            return Ok(Self::Only(collect("indices", numbers.len(), kept)?));
        }
        let before: &[u64] = if let Some(Self::Without(before)) = of { before } else { &[] };
        let removed = (0..).zip(before).map(|(place, before)| place + before);
        let mut removed = collect("indices", before.len() + list.len(), removed.chain(list.iter().copied()))?;
        if !before.is_empty() {
            samedeal_bulk::numbers(&mut removed);
            removed.dedup();
        }
        Ok(Self::without(removed))
    }

    /// The numbers of an ascending list that `of` has; all of them if `of` is none. Failures: `out-of-memory`.
    pub(super) fn only(of: Option<&Self>, list: &[u64]) -> Result<Self, Failure> {
        let kept = list.iter().copied().filter(|&number| of.is_none_or(|of| of.rank(number).1));
        Ok(Self::Only(collect("indices", list.len(), kept)?))
    }
}
