//! The inverse of a plan: finds the batches that a sample is in.

use alloc::vec::Vec;

use super::batcher::{Batcher, Window};
use crate::base::Failure;
use crate::base::check::check_below;
use crate::base::memory::grow;
use crate::base::sort::sort_short;

/// The place of an item of a sample in the batches of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BatchPlace {
    /// Number of the step.
    pub step: u64,
    /// The rank that gets the batch.
    pub rank: u32,
    /// Number of the row in that batch.
    pub row: u32,
    /// Number of the item in that row.
    pub index_in_row: u32,
    /// Where in the sample the item begins, in tokens: above 0 only for parts of a sample that was split.
    pub start: u32,
}

impl Batcher {
    /// The places of a sample, in the order of steps. There is one place for each part and each repetition of the
    /// sample, and no place if it is left out or was taken before. The cost is that of planning the windows of the
    /// sample, if the number of steps before them is known. Failures: `sample`, and those of planning.
    pub fn locate(&self, sample: u64) -> Result<Vec<BatchPlace>, Failure> {
        check_below("sample", sample, self.num_samples())?;
        let mut places = Vec::new();
        let mut position = self.consumed();
        while let Some(at) = self.order().next(sample, position)? {
            let window = self.window_at(at);
            let first = self.steps_before(window)?;
            self.in_window(window, |window| find(window, sample, first, &mut places))?;
            position = self.begin(window + 1);
        }
        sort_short(&mut places);
        Ok(places)
    }
}

fn find(window: &Window, sample: u64, first: u64, places: &mut Vec<BatchPlace>) -> Result<(), Failure> {
    for (at, rank) in window.batches() {
        for (row, held) in (0..).zip(window.steps.batch(at, rank).0) {
            for (index_in_row, &item) in (0..).zip(window.steps.items(held)) {
                let (of, start) = window.items.part(item);
                if of == sample {
                    grow("sample", 1, places)?;
                    let step = first + (at - window.first) as u64;
                    places.push(BatchPlace { step, rank: rank as u32, row, index_in_row, start });
                }
            }
        }
    }
    Ok(())
}
