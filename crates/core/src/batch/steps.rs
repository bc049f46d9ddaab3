use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;

use crate::base::Failure;
use crate::base::key::Words;
use crate::base::memory::{collect, has_room};
use crate::order::shuffle;

/// The steps of a window. A step is a batch for every rank, a batch is rows, and a row is items.
#[derive(Default)]
pub(super) struct Steps {
    world_size: usize,
    /// Whether several items may share a row.
    shared: bool,
    items: Vec<u32>,
    /// For each row, the number of items up to its end. Empty if rows are not shared, since each row then has one item.
    row_ends: Vec<u32>,
    /// For each batch, the number of rows up to its end.
    batch_ends: Vec<u32>,
    /// For each batch, how many rows at its end are repetitions.
    repeated: Vec<u32>,
    /// The order of the steps after `shuffle`; empty before.
    shuffled: Vec<u32>,
}

impl Steps {
    pub(super) fn new(world_size: u32, shared: bool) -> Self {
        Self { world_size: world_size as usize, shared, ..Self::default() }
    }

    pub(super) fn world_size(&self) -> usize {
        self.world_size
    }

    pub(super) fn count(&self) -> usize {
        self.batch_ends.len() / self.world_size
    }

    /// How many rows there are.
    fn rows(&self) -> usize {
        if self.shared { self.row_ends.len() } else { self.items.len() }
    }

    /// Adds a row of these items to the batch that is being made. If rows are not shared, each item is a row. Without
    /// items, no row is added.
    pub(super) fn row(&mut self, items: &[u32]) -> Result<(), Failure> {
        if !has_room(&mut self.items, items.len()) || (self.shared && !has_room(&mut self.row_ends, 1)) {
            return Err(self.full());
        }
        self.items.extend_from_slice(items);
        if self.shared && !items.is_empty() {
            self.row_ends.push(self.items.len() as u32);
        }
        Ok(())
    }

    /// Ends the batch, whose last `repeated` rows are repetitions. Every `world_size` batches are a step.
    pub(super) fn end_batch(&mut self, repeated: u32) -> Result<(), Failure> {
        if !has_room(&mut self.batch_ends, 1) || !has_room(&mut self.repeated, 1) {
            return Err(self.full());
        }
        self.batch_ends.push(self.rows() as u32);
        self.repeated.push(repeated);
        Ok(())
    }

    /// Adds a step in which each item is a row. Rank r gets `rows[r], rows[r + world_size], ...`. The last `repeated`
    /// items of `rows` are repetitions.
    pub(super) fn strided(&mut self, rows: &[u32], repeated: usize) -> Result<(), Failure> {
        if !has_room(&mut self.items, rows.len()) || (self.shared && !has_room(&mut self.row_ends, rows.len())) {
            return Err(self.full());
        }
        let first = rows.len() - repeated;
        for rank in 0..self.world_size {
            let before = self.items.len();
            self.items.extend(rows.iter().skip(rank).step_by(self.world_size));
            if self.shared {
                self.row_ends.extend(before as u32 + 1..=self.items.len() as u32);
            }
            let again = if repeated == 0 {
                0
            } else {
                (first..rows.len()).filter(|place| place % self.world_size == rank).count()
            };
            self.end_batch(again as u32)?;
        }
        Ok(())
    }

    fn full(&self) -> Failure {
        Failure::out_of_memory("batch_window", self.items.len(), "a smaller window")
    }

    /// Takes up to `wanted` items out of the last step. Each time, the largest batch (the first of equally large ones)
    /// gives up its last item. A batch with a single item keeps it. The rows of the step must have one item each.
    pub(super) fn spare(&mut self, wanted: usize) -> Result<Vec<u32>, Failure> {
        let mut spared = collect("world_size", wanted, [])?;
        let Some(batches) = self.batch_ends.len().checked_sub(self.world_size) else { return Ok(spared) };
        let mut counts = collect(
            "world_size",
            self.world_size,
            (batches..batches + self.world_size)
                .map(|batch| self.batch_ends[batch] as usize - start(&self.batch_ends, batch)),
        )?;
        let first_row = start(&self.batch_ends, batches);
        let first_item = self.first_item(first_row);
        let held = collect("batch_window", self.items.len() - first_item, self.items[first_item..].iter().copied())?;
        let ends = collect(
            "world_size",
            self.world_size,
            counts.iter().scan(0, |end, count| {
                *end += count;
                Some(*end)
            }),
        )?;
        let mut begins = collect("world_size", self.world_size, core::iter::once(0).chain(ends))?;
        begins.truncate(self.world_size);
        let sizes = counts.iter().enumerate().map(|(rank, &count)| (count, Reverse(rank)));
        let mut sizes = BinaryHeap::from(collect("world_size", self.world_size, sizes)?);
        while spared.len() < wanted {
            let Some((count, Reverse(largest))) = sizes.pop().filter(|&(count, _)| count > 1) else { break };
            counts[largest] -= 1;
            spared.push(held[begins[largest] + counts[largest]]);
            sizes.push((count - 1, Reverse(largest)));
        }
        self.items.truncate(first_item);
        self.row_ends.truncate(first_row);
        self.batch_ends.truncate(batches);
        self.repeated.truncate(batches);
        for (begin, count) in begins.into_iter().zip(counts) {
            held[begin..begin + count].chunks(1).try_for_each(|item| self.row(item))?;
            self.end_batch(0)?;
        }
        Ok(spared)
    }

    /// Puts the steps into a random order.
    pub(super) fn shuffle(&mut self, words: &mut Words) -> Result<(), Failure> {
        self.shuffled = collect("batch_window", self.count(), 0..self.count() as u32)?;
        shuffle(&mut self.shuffled, words);
        Ok(())
    }

    /// The rows of a batch, and how many of them at the end are repetitions.
    pub(super) fn batch(&self, step: usize, rank: usize) -> (Range<usize>, u32) {
        let step = self.shuffled.get(step).map_or(step, |&step| step as usize);
        let batch = step * self.world_size + rank;
        (start(&self.batch_ends, batch)..self.batch_ends[batch] as usize, self.repeated[batch])
    }

    /// The items of consecutive rows.
    pub(super) fn held(&self, rows: Range<usize>) -> &[u32] {
        &self.items[self.first_item(rows.start)..self.first_item(rows.end)]
    }

    /// The items of a row.
    pub(super) fn items(&self, row: usize) -> &[u32] {
        self.held(row..row + 1)
    }

    /// How many items there are before a row.
    fn first_item(&self, row: usize) -> usize {
        if self.shared { start(&self.row_ends, row) } else { row }
    }
}

fn start(ends: &[u32], at: usize) -> usize {
    if at == 0 { 0 } else { ends[at - 1] as usize }
}
