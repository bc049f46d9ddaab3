use std::iter::FusedIterator;
use std::vec;

use super::Schedule;
use crate::Error;
use crate::iter::{Of, size_hint};
use crate::range::equal_parts;

/// Number of samples that are read at a time: enough to make the cost of a call of the component negligible.
const WINDOW: u64 = 1 << 14;

/// This rank's batches, step by step; see [`Schedule::iter`] and [`Schedule::steps`]. After an error, the iterator
/// ends.
#[derive(Debug)]
pub struct ScheduleSteps<'a> {
    schedule: Of<'a, Schedule>,
    /// Batches that were read and not yet returned.
    window: vec::IntoIter<Vec<u64>>,
    /// The first step that was not read yet, and the end of the steps.
    unread: u64,
    end: u64,
}

impl<'a> ScheduleSteps<'a> {
    /// The schedule has checked that these steps exist.
    pub(super) fn new(schedule: Of<'a, Schedule>, (start, count): (u64, u64)) -> Self {
        Self { schedule, window: Vec::new().into_iter(), unread: start, end: start + count }
    }

    /// Reads the batches of the next steps. All of these steps have the same batch size.
    fn read(&self) -> Result<Vec<Vec<u64>>, Error> {
        let (schedule, start) = (&self.schedule, self.unread);
        let size = u64::from(schedule.global_batch_size(start)?);
        let first = schedule.samples_consumed(start)?;
        let mut count = (WINDOW * u64::from(schedule.world_size()) / size).clamp(1, self.end - start);
        while count > 1 && schedule.samples_consumed(start + count)? - first != size * count {
            // The batch size changes within these steps: fewer are read.
            count /= 2;
        }
        let indices = schedule.indices_window(start, count as u32)?;
        // Every step has the same number of samples for this rank.
        Ok(equal_parts(&indices, count as u32))
    }
}

impl Iterator for ScheduleSteps<'_> {
    type Item = Result<Vec<u64>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(batch) = self.window.next() {
            return Some(Ok(batch));
        }
        if self.unread == self.end {
            return None;
        }
        match self.read() {
            Ok(window) => {
                self.unread += window.len() as u64;
                self.window = window.into_iter();
                self.window.next().map(Ok)
            }
            Err(error) => {
                self.unread = self.end;
                Some(Err(error))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        size_hint(self.end - self.unread + self.window.len() as u64)
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        let buffered = self.window.len();
        if n < buffered {
            return self.window.nth(n).map(Ok);
        }
        self.window = Vec::new().into_iter();
        self.unread += (self.end - self.unread).min((n - buffered) as u64);
        self.next()
    }
}

impl ExactSizeIterator for ScheduleSteps<'_> {}
impl FusedIterator for ScheduleSteps<'_> {}
