//! The inverse: which batches hold a sample.

use alloc::vec::Vec;

use super::batcher::Batcher;
use super::config::Tail;
use crate::Failure;
use crate::base::check::check_below;
use crate::base::memory::has_room;
use crate::base::sort::sort_short;

/// Where an item of a sample is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BatchPlace {
    /// Number of the step.
    pub step: u64,
    /// Whose batch it is.
    pub rank: u32,
    /// Number of the row in that batch.
    pub row: u32,
    /// Number of the item in that row.
    pub index_in_row: u32,
    /// Where in the sample the item begins: 0 unless it is a part.
    pub start: u32,
}

impl Batcher {
    /// Where a sample is, in the order of steps: once, as often as it has parts or is repeated, or never, where it is left
    /// out or was taken before. Costs what planning its windows costs. Failures: `sample`, `out-of-memory`.
    pub fn locate(&self, sample: u64) -> Result<Vec<BatchPlace>, Failure> {
        check_below("sample", sample, self.num_samples())?;
        let (items, source) = (self.items(), self.source());
        let wanted = sample as u32;
        let mut places = Vec::new();
        let mut pending = items.count_of(wanted);
        let windows = self.plan().num_windows();
        let begin = if pending == 0 { windows } else { self.plan().first_window(source, wanted)? };
        for window in begin..windows {
            // What repeats is at the end.
            if pending == 0 && (self.config().tail != Tail::Duplicate || window + 1 < windows) {
                continue;
            }
            self.plan().in_window(source, window, |first, steps| {
                for (step, rank) in
                    (0..steps.count()).flat_map(|step| (0..self.config().world).map(move |rank| (step, rank)))
                {
                    let (rows, repeated) = steps.batch(step, rank as usize);
                    let again = rows.end - repeated as usize;
                    for (row, at) in (0..).zip(rows) {
                        for (index_in_row, &item) in (0..).zip(steps.items(at)) {
                            if items.part(item).0 != wanted {
                                continue;
                            }
                            pending -= usize::from(at < again);
                            let Some(step) = (first + step as u64).checked_sub(self.first()) else { continue };
                            if !has_room(&mut places, 1) {
                                return Err(Failure::out_of_memory("sample", sample, "fewer parts"));
                            }
                            places.push(BatchPlace { step, rank, row, index_in_row, start: items.part(item).1 });
                        }
                    }
                }
                Ok(())
            })?;
        }
        sort_short(&mut places);
        Ok(places)
    }
}
