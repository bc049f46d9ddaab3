//! The rows of the samples of a round, among all rows that are read for the round.

use alloc::vec::Vec;

use super::reading::{ReadRound, Reading};
use super::samples::Gathered;
use crate::base::Failure;
use crate::base::check::check_run;
use crate::base::memory::collect;
use crate::base::sort::sort_short;

/// The rows that hold samples of a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundRows {
    /// For each sample, the number of its row. The rows of all spans of the round are counted from 0, span after span.
    pub rows: Vec<u64>,
    /// How many of the samples, the last ones, are padding.
    pub num_padding: u32,
}

impl Reading {
    /// The rows of a round's samples number `start` to `start + count - 1`. Costs as much as [`Reading::round`], and
    /// O(count log spans). Failures: those of [`Reading::round`]; `start`, `count`.
    pub fn round_rows(
        &self,
        rank: u32,
        worker: u32,
        number: u64,
        start: u64,
        count: u32,
    ) -> Result<RoundRows, Failure> {
        if let Some(gathered) = self.gathered(rank, worker, number)? {
            let Gathered { start: first, rows, .. } = &*gathered;
            check_run(start, count, rows.len() as u64)?;
            let samples = self.samples_of(rank, worker)?;
            let real = (samples - self.padding_of(rank, worker, samples)?).saturating_sub(*first);
            let padding = (start + u64::from(count)).saturating_sub(start.max(real)).min(count.into()) as u32;
            let rows = rows.iter().skip(start as usize).take(count as usize).copied();
            return Ok(RoundRows { rows: collect("count", count as usize, rows)?, num_padding: padding });
        }
        let ReadRound { start: first, count: all, spans } = self.round(rank, worker, number)?;
        check_run(start, count, all)?;
        let samples = self.samples_of(rank, worker)?;
        // Number of samples of the round without padding. Each padding sample has a span of one row, after the other
        // spans.
        let real = (samples - self.padding_of(rank, worker, samples)?).saturating_sub(first).min(all);
        let windows = spans.len() - (all - real) as usize;
        let mut end = 0;
        let rows = spans.shard.iter().zip(&spans.first_row).zip(&spans.num_rows);
        let runs = rows.take(windows).map(|((&shard, row), count)| {
            end += count;
            (self.first_sample(shard) + row, end - count)
        });
        let mut runs = collect("count", windows, runs)?;
        sort_short(&mut runs);
        let mut rows = self.indices(rank, worker, first + start, count)?;
        for (nth, place) in (start..).zip(&mut rows) {
            *place = if nth < real {
                let (sample, before) = runs[runs.partition_point(|&(sample, _)| sample <= *place) - 1];
                before + (*place - sample)
            } else {
                end + (nth - real)
            };
        }
        let padding = (start + u64::from(count)).saturating_sub(start.max(real));
        Ok(RoundRows { rows, num_padding: padding as u32 })
    }
}
