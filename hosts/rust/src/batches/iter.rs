use std::iter::FusedIterator;
use std::vec;

use super::{Batch, Batcher};
use crate::iter::{Of, size_hint};
use crate::{Error, FailureKind};

/// How many batches are read at a time.
const AHEAD: u32 = 64;

/// The batches of a rank, step by step; see [`Batcher::iter`] and [`Batcher::batches`]. After an error it ends.
#[derive(Debug)]
pub struct RankBatches<'a> {
    batcher: Of<'a, Batcher>,
    rank: u32,
    /// What was read and not yet handed out.
    window: vec::IntoIter<Batch>,
    /// The first step that was not read yet, and the end.
    unread: u64,
    end: u64,
    ahead: u32,
}

impl<'a> RankBatches<'a> {
    /// The batcher has checked that there are such a rank and such steps.
    pub(super) fn new(batcher: Of<'a, Batcher>, rank: u32, (start, count): (u64, u64)) -> Self {
        Self { batcher, rank, window: Vec::new().into_iter(), unread: start, end: start + count, ahead: AHEAD }
    }
}

impl Iterator for RankBatches<'_> {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(batch) = self.window.next() {
            return Some(Ok(batch));
        }
        let count = (self.end - self.unread).min(self.ahead.into()) as u32;
        if count == 0 {
            return None;
        }
        match self.batcher.batches_window(self.rank, self.unread, count) {
            Ok(window) => {
                self.unread += u64::from(count);
                self.window = window.into_iter();
                self.window.next().map(Ok)
            }
            Err(Error::Failure(failure)) if failure.kind == FailureKind::OutOfMemory && count > 1 => {
                // One by one, where so many are too large together.
                self.ahead = 1;
                self.next()
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

impl ExactSizeIterator for RankBatches<'_> {}
impl FusedIterator for RankBatches<'_> {}
