//! Batches of readers, and the steps at which ranks take them.

use alloc::vec::Vec;

use super::reading::Reading;
use super::turns;
use crate::base::Failure;
use crate::base::check::{check_below, check_ranks};
use crate::base::memory::collect;

/// A batch of a loader worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadBatch {
    /// The worker that makes this batch.
    pub worker: u32,
    /// Number of this batch among the batches of its worker.
    pub number: u64,
    /// Step at which the loader of the rank takes this batch.
    pub step: u64,
    /// Number of the first sample of the batch among the samples of the reader.
    pub start: u64,
    /// Number of samples.
    pub count: u32,
    /// How many of these samples are padding. They are the last ones.
    pub num_padding: u32,
}

impl Reading {
    /// How many batches a reader has left. Failures: `rank`, `worker`, `out-of-memory`.
    pub fn num_batches(&self, rank: u32, worker: u32) -> Result<u64, Failure> {
        Ok(self.batches(self.samples_of(rank, worker)?))
    }

    /// Batch number `number` of a reader. Costs O(workers). Failures: as `num_batches`; `number`.
    ///
    /// ```
    /// use samedeal_core::read::Reading;
    /// let text = r#"{"order": {"sizes": [40, 100]}, "deal": {"workers": 2}, "batch": {"batch_size": 16}}"#;
    /// let reading = Reading::from_recipe(text, &[], 0)?;
    /// let batch = reading.batch(0, 1, 4)?;
    /// assert_eq!((batch.start, batch.count, batch.step), (64, 6, 9));
    /// assert_eq!(reading.batch_at(0, 9)?, batch);
    /// # Ok::<(), samedeal_core::Failure>(())
    /// ```
    pub fn batch(&self, rank: u32, worker: u32, number: u64) -> Result<ReadBatch, Failure> {
        check_below("number", number, self.num_batches(rank, worker)?)?;
        let rows = self.rank_rows(rank)?;
        // Workers that are not in `rows` have no batch.
        let at = rows.partition_point(|&(own, _)| own < worker);
        let step = turns::step_of(&self.batches_of(&rows)?, at, number);
        self.made(rank, rows[at], number, step)
    }

    /// The batch that a rank's loader takes at a step. Costs O(workers log batches). Failures: `rank`, `step`,
    /// `out-of-memory`.
    pub fn batch_at(&self, rank: u32, step: u64) -> Result<ReadBatch, Failure> {
        check_below("step", step, self.num_steps(rank)?)?;
        let rows = self.rank_rows(rank)?;
        let (at, number) = turns::batch_at(&self.batches_of(&rows)?, step);
        self.made(rank, rows[at], number, step)
    }

    /// The batches that the loaders of the ranks `first` to `first + count - 1` take at a step; `None` for a rank that
    /// has fewer steps. Costs O(workers log batches) for each rank; with whole shards, also O(shards + readers) for the
    /// call. Failures: `step`, `first`, `count`, `out-of-memory`.
    pub fn step(&self, step: u64, first: u32, count: u32) -> Result<Vec<Option<ReadBatch>>, Failure> {
        check_below("step", step, self.steps()?.1)?;
        check_ranks(first, count, self.group().world_size, 1)?;
        let mut found = collect("count", count as usize, [])?;
        for rank in first..first + count {
            found.push(if step < self.num_steps(rank)? { Some(self.batch_at(rank, step)?) } else { None });
        }
        Ok(found)
    }

    /// How many samples a reader has left. Failures: `rank`, `worker`, `out-of-memory`.
    pub(super) fn samples_of(&self, rank: u32, worker: u32) -> Result<u64, Failure> {
        check_below("rank", rank.into(), self.group().world_size.into())?;
        check_below("worker", worker.into(), self.group().workers.into())?;
        let rows = self.rank_rows(rank)?;
        let at = rows.binary_search_by_key(&worker, |&(own, _)| own);
        Ok(at.map_or(0, |at| rows[at].1))
    }

    /// The number of batches of each worker in `rows`.
    fn batches_of(&self, rows: &[(u32, u64)]) -> Result<Vec<u64>, Failure> {
        collect("workers", rows.len(), rows.iter().map(|&(_, rows)| self.batches(rows)))
    }

    /// Batch number `number` of a worker that has `samples` samples.
    fn made(&self, rank: u32, (worker, samples): (u32, u64), number: u64, step: u64) -> Result<ReadBatch, Failure> {
        let size = u64::from(self.group().batch_size);
        let start = number * size;
        let end = samples.min(start + size);
        let real = samples - self.padding_of(rank, worker, samples)?;
        let padding = end.saturating_sub(start.max(real));
        Ok(ReadBatch { worker, number, step, start, count: (end - start) as u32, num_padding: padding as u32 })
    }
}
