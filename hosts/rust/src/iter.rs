use std::collections::VecDeque;
use std::iter::FusedIterator;
use std::ops::{Deref, Range};

use crate::{Error, Sampler};

/// Number of indices that an iterator reads at a time: enough to make the cost of a call of the component negligible,
/// and few enough to stay in the processor's cache.
const WINDOW: u64 = 1 << 16;

/// The object from which an iterator reads, borrowed or owned. An iterator that owns the object borrows nothing, so it
/// can move to another thread or a stream.
#[derive(Debug)]
pub(crate) enum Of<'a, T> {
    Borrowed(&'a T),
    Owned(Box<T>),
}

impl<T> Deref for Of<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Borrowed(of) => of,
            Self::Owned(of) => of,
        }
    }
}

/// All samples of a rank in one epoch, or in the rest of it, in order; see [`Sampler::iter`]. After an error, the
/// iterator ends.
#[derive(Debug)]
pub struct Indices<'a> {
    sampler: Of<'a, Sampler>,
    /// Samples that were read at the front end and not yet returned.
    front: VecDeque<u64>,
    /// Samples that were read at the back end and not yet returned.
    back: VecDeque<u64>,
    /// The range of samples between `front` and `back`, which were not read yet.
    unread: Range<u64>,
}

impl<'a> Indices<'a> {
    pub(crate) fn new(sampler: Of<'a, Sampler>) -> Self {
        let unread = 0..sampler.num_samples();
        Self { sampler, front: VecDeque::new(), back: VecDeque::new(), unread }
    }

    /// Limits the iterator to its first `count` samples.
    pub(crate) fn up_to(mut self, count: u64) -> Self {
        self.unread.end = self.unread.end.min(count);
        self
    }

    fn remaining(&self) -> u64 {
        self.front.len() as u64 + (self.unread.end - self.unread.start) + self.back.len() as u64
    }

    /// Reads samples into the buffer of one end, if the buffer is empty and samples are left.
    fn fill(&mut self, at_front: bool) -> Result<(), Error> {
        if if at_front { !self.front.is_empty() } else { !self.back.is_empty() } {
            return Ok(());
        }
        let count = (self.unread.end - self.unread.start).min(WINDOW);
        if count == 0 {
            std::mem::swap(&mut self.front, &mut self.back);
            return Ok(());
        }
        let start = if at_front { self.unread.start } else { self.unread.end - count };
        match self.sampler.window(start, count as u32) {
            Ok(window) if at_front => (self.front, self.unread.start) = (window.into(), start + count),
            Ok(window) => (self.back, self.unread.end) = (window.into(), start),
            Err(error) => {
                self.unread.start = self.unread.end;
                self.front.clear();
                self.back.clear();
                return Err(error);
            }
        }
        Ok(())
    }

    /// Skips `count` indices at one end. Indices that were not read yet are skipped without a read.
    fn leap(&mut self, count: u64, at_front: bool) {
        let (first, last) =
            if at_front { (&mut self.front, &mut self.back) } else { (&mut self.back, &mut self.front) };
        let pass = |from: &mut VecDeque<u64>, count: u64| {
            let count = count.min(from.len() as u64) as usize;
            if at_front {
                from.drain(..count);
            } else {
                from.truncate(from.len() - count);
            }
            count as u64
        };
        let mut left = count - pass(first, count);
        let unread = left.min(self.unread.end - self.unread.start);
        if at_front {
            self.unread.start += unread;
        } else {
            self.unread.end -= unread;
        }
        left -= unread;
        pass(last, left);
    }

    /// The next `count` indices, or fewer at the end.
    fn take_run(&mut self, count: u64) -> Result<Vec<u64>, Error> {
        let count = self.remaining().min(count) as usize;
        let mut out = Vec::with_capacity(count);
        while out.len() < count {
            self.fill(true)?;
            out.extend(self.front.drain(..self.front.len().min(count - out.len())));
        }
        Ok(out)
    }

    /// The last `count` of the remaining indices, in order.
    fn take_last(&mut self, count: u64) -> Result<Vec<u64>, Error> {
        let mut out: Vec<u64> = self.by_ref().rev().take(count as usize).collect::<Result<_, _>>()?;
        out.reverse();
        Ok(out)
    }
}

impl Iterator for Indices<'_> {
    type Item = Result<u64, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.fill(true) {
            Ok(()) => self.front.pop_front().map(Ok),
            Err(error) => Some(Err(error)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        size_hint(self.remaining())
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        self.leap(n as u64, true);
        self.next()
    }
}

impl DoubleEndedIterator for Indices<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match self.fill(false) {
            Ok(()) => self.back.pop_back().map(Ok),
            Err(error) => Some(Err(error)),
        }
    }

    fn nth_back(&mut self, n: usize) -> Option<Self::Item> {
        self.leap(n as u64, false);
        self.next_back()
    }
}

impl ExactSizeIterator for Indices<'_> {}
impl FusedIterator for Indices<'_> {}

/// The batches of a rank in one epoch, in order; see [`Sampler::batches`]. After an error, the iterator ends.
#[derive(Debug)]
pub struct Batches<'a> {
    /// The indices of the batches that are left.
    indices: Indices<'a>,
    remaining: u64,
    batch_size: u32,
}

impl<'a> Batches<'a> {
    /// The sampler has checked that no batch is longer than the most indices of one call.
    pub(crate) fn new(indices: Indices<'a>, remaining: u64, batch_size: u32) -> Self {
        Self { indices: indices.up_to(remaining.saturating_mul(batch_size.into())), remaining, batch_size }
    }

    /// Takes a batch off the number of remaining batches, and returns the batch. After an error, no batch is left.
    fn given(&mut self, batch: Result<Vec<u64>, Error>) -> Option<Result<Vec<u64>, Error>> {
        self.remaining = if batch.is_ok() { self.remaining - 1 } else { 0 };
        Some(batch)
    }

    /// The number of indices in the last `batches` of the remaining batches.
    fn length_of_last(&self, batches: u64) -> u64 {
        self.indices.remaining().saturating_sub((self.remaining - batches).saturating_mul(self.batch_size.into()))
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<Vec<u64>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.remaining == 0 {
            return None;
        }
        let batch = self.indices.take_run(self.batch_size.into());
        self.given(batch)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        size_hint(self.remaining)
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        let skipped = self.remaining.min(n as u64);
        self.remaining -= skipped;
        self.indices.leap(skipped.saturating_mul(self.batch_size.into()), true);
        self.next()
    }
}

impl DoubleEndedIterator for Batches<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.remaining == 0 {
            return None;
        }
        let batch = self.indices.take_last(self.length_of_last(1));
        self.given(batch)
    }

    fn nth_back(&mut self, n: usize) -> Option<Self::Item> {
        let skipped = self.remaining.min(n as u64);
        self.indices.leap(self.length_of_last(skipped), false);
        self.remaining -= skipped;
        self.next_back()
    }
}

impl ExactSizeIterator for Batches<'_> {}
impl FusedIterator for Batches<'_> {}

pub(crate) fn size_hint(remaining: u64) -> (usize, Option<usize>) {
    match usize::try_from(remaining) {
        Ok(remaining) => (remaining, Some(remaining)),
        Err(_) => (usize::MAX, None),
    }
}
