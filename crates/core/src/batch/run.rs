use alloc::vec::Vec;

use super::config::BatchConfig;
use super::items::Items;
use super::metrics::{Weight, weigh};
use super::steps::Steps;
use crate::base::Failure;
use crate::base::memory::has_room;

/// Batches as lists end to end: each list has the numbers of the first batch, then those of the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The sample of every item.
    pub samples: Vec<u64>,
    /// For each item, where it begins in its sample, in tokens: above 0 only for parts of a sample that was split.
    pub starts: Vec<u32>,
    /// The tokens of each item.
    pub lengths: Vec<u32>,
    /// For each row, the number of items up to its end.
    pub row_ends: Vec<u32>,
    /// For each batch, the number of rows up to its end.
    pub batch_ends: Vec<u32>,
    /// For each batch, the tokens of a row, padding included.
    pub padded_lengths: Vec<u32>,
    /// The cost of each batch.
    pub costs: Vec<u64>,
    /// For each batch, how many rows at its end are repetitions, which fill the step.
    pub repeated: Vec<u32>,
    /// For each batch, how many rows a full batch of its padded length has.
    pub full_rows: Vec<u32>,
}

impl Run {
    /// Adds the batch of a rank at a step of a window. Failures: `out-of-memory`.
    pub(super) fn add(
        &mut self,
        config: &BatchConfig,
        items: &Items,
        steps: &Steps,
        step: usize,
        rank: usize,
    ) -> Result<(), Failure> {
        let (rows, repeated) = steps.batch(step, rank);
        let count = steps.held(rows.clone()).len();
        let reserved = has_room(&mut self.samples, count)
            && has_room(&mut self.starts, count)
            && has_room(&mut self.lengths, count)
            && has_room(&mut self.row_ends, rows.len())
            && has_room(&mut self.batch_ends, 1)
            && has_room(&mut self.padded_lengths, 1)
            && has_room(&mut self.costs, 1)
            && has_room(&mut self.repeated, 1)
            && has_room(&mut self.full_rows, 1);
        if !reserved {
            return Err(Failure::out_of_memory("count", self.batch_ends.len() + 1, "fewer batches at a time"));
        }
        let Weight { width, cost, .. } = weigh(config, items, steps, rows.clone());
        for row in rows {
            for &item in steps.items(row) {
                let (sample, start) = items.part(item);
                self.samples.push(sample);
                self.starts.push(start);
                self.lengths.push(items.length(item));
            }
            self.row_ends.push(self.samples.len() as u32);
        }
        self.batch_ends.push(self.row_ends.len() as u32);
        self.padded_lengths.push(width);
        self.costs.push(cost);
        self.repeated.push(repeated);
        self.full_rows.push(config.full_rows(width));
        Ok(())
    }
}
