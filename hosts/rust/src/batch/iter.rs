use std::iter::FusedIterator;
use std::vec;

use super::{Batch, Batcher};
use crate::iter::Of;
use crate::{Error, FailureKind};

/// Number of batches that are read at a time.
const AHEAD: u32 = 64;

/// The batches of a rank, step by step; see [`Batcher::iter`] and [`Batcher::batches`]. After an error, the iterator
/// ends. The number of batches is known once the last window is planned: [`Batcher::num_steps`] plans all windows.
#[derive(Debug)]
pub struct RankBatches<'a> {
    batcher: Of<'a, Batcher>,
    rank: u32,
    /// Batches that were read and not yet returned.
    window: vec::IntoIter<Batch>,
    /// The first step that was not read yet.
    unread: u64,
    /// The step after the last one of the range; none if the range ends with the epoch.
    end: Option<u64>,
    ahead: u32,
    done: bool,
}

impl<'a> RankBatches<'a> {
    pub(super) fn new(batcher: Of<'a, Batcher>, rank: u32, unread: u64, end: Option<u64>) -> Self {
        Self { batcher, rank, window: Vec::new().into_iter(), unread, end, ahead: AHEAD, done: false }
    }

    /// Reads some batches.
    fn read(&mut self) -> Result<(), Error> {
        let wanted = self.end.map_or(u64::MAX, |end| end.saturating_sub(self.unread)).min(self.ahead.into()) as u32;
        let window = match self.batcher.batches_window(self.rank, self.unread, wanted) {
            Err(Error::Failure(failure))
                if wanted > 1
                    && (failure.kind == FailureKind::OutOfMemory || !matches!(&*failure.field, "start" | "count")) =>
            {
                // From now on batches are read one by one: several may not fit into memory together, and the batches
                // before one that fails must still be returned.
                self.ahead = 1;
                return self.read();
            }
            // The epoch has fewer steps than were asked for. All windows are planned now, so the number of steps is
            // known.
            Err(Error::Failure(failure)) if matches!(&*failure.field, "start" | "count") => {
                let left = self.batcher.num_steps()?.saturating_sub(self.unread);
                match self.end {
                    Some(_) if left == 0 => return Err(Error::Failure(failure)),
                    Some(_) => {}
                    None => self.end = Some(self.unread + left),
                }
                // `nth` may have skipped past the end.
                if left == 0 { Vec::new() } else { self.batcher.batches_window(self.rank, self.unread, left as u32)? }
            }
            window => window?,
        };
        self.unread += window.len() as u64;
        self.window = window.into_iter();
        Ok(())
    }
}

impl Iterator for RankBatches<'_> {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(batch) = self.window.next() {
            return Some(Ok(batch));
        }
        if self.done || self.end.is_some_and(|end| self.unread >= end) {
            return None;
        }
        if let Err(error) = self.read() {
            self.done = true;
            return Some(Err(error));
        }
        self.window.next().map(Ok)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let known = self.window.len();
        let rest = self.end.map(|end| usize::try_from(end.saturating_sub(self.unread)).unwrap_or(usize::MAX));
        (known, if self.done { Some(known) } else { rest.and_then(|rest| rest.checked_add(known)) })
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        let buffered = self.window.len();
        if n < buffered {
            return self.window.nth(n).map(Ok);
        }
        self.window = Vec::new().into_iter();
        self.unread = self.unread.saturating_add((n - buffered) as u64);
        self.next()
    }
}

impl FusedIterator for RankBatches<'_> {}
