use std::iter::FusedIterator;

use crate::{Error, Sampler};

/// How many indices an iterator reads at a time: enough that crossing into the component costs nothing, and few
/// enough to stay in the cache.
const WINDOW: u64 = 1 << 16;

/// All samples of a rank in one epoch, in order; see [`Sampler::iter`]. After an error it ends.
#[derive(Debug)]
pub struct Indices<'a> {
    sampler: &'a Sampler,
    /// What was read and not yet handed out: `window[next..]`.
    window: Vec<u64>,
    next: usize,
    /// The first index that was not read yet, and the end.
    unread: u64,
    end: u64,
}

impl<'a> Indices<'a> {
    pub(crate) fn new(sampler: &'a Sampler) -> Self {
        Self { sampler, window: Vec::new(), next: 0, unread: 0, end: sampler.num_samples() }
    }

    fn buffered(&self) -> &[u64] {
        &self.window[self.next..]
    }

    fn remaining(&self) -> u64 {
        self.end - self.unread + self.buffered().len() as u64
    }

    /// Reads the next window into the empty buffer. The buffer stays empty at the end.
    fn read(&mut self) -> Result<(), Error> {
        let count = (self.end - self.unread).min(WINDOW);
        self.next = 0;
        self.window.clear();
        if count == 0 {
            return Ok(());
        }
        match self.sampler.window(self.unread, count as u32) {
            Ok(window) => self.window = window,
            Err(error) => {
                self.unread = self.end;
                return Err(error);
            }
        }
        self.unread += count;
        Ok(())
    }

    /// Passes over indices, without asking for those that were not read yet.
    fn leap(&mut self, count: u64) {
        let buffered = count.min(self.buffered().len() as u64);
        self.next += buffered as usize;
        self.unread += (count - buffered).min(self.end - self.unread);
    }

    /// The next indices, as many as asked for unless the end comes first.
    fn take_run(&mut self, count: u32) -> Result<Vec<u64>, Error> {
        let count = self.remaining().min(count.into()) as usize;
        let mut out = Vec::with_capacity(count);
        while out.len() < count {
            if self.buffered().is_empty() {
                self.read()?;
            }
            let part = self.buffered();
            let part = &part[..part.len().min(count - out.len())];
            out.extend_from_slice(part);
            self.next += part.len();
        }
        Ok(out)
    }
}

impl Iterator for Indices<'_> {
    type Item = Result<u64, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.window.len()
            && let Err(error) = self.read()
        {
            return Some(Err(error));
        }
        let index = *self.window.get(self.next)?;
        self.next += 1;
        Some(Ok(index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        size_hint(self.remaining())
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        self.leap(n as u64);
        self.next()
    }
}

impl ExactSizeIterator for Indices<'_> {}
impl FusedIterator for Indices<'_> {}

/// The batches of a rank in one epoch, in order; see [`Sampler::batches`]. After an error it ends.
#[derive(Debug)]
pub struct Batches<'a> {
    indices: Indices<'a>,
    remaining: u64,
    batch_size: u32,
}

impl<'a> Batches<'a> {
    /// The sampler has checked that no batch is longer than one call hands out.
    pub(crate) fn new(indices: Indices<'a>, remaining: u64, batch_size: u32) -> Self {
        Self { indices, remaining, batch_size }
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<Vec<u64>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.remaining = self.remaining.checked_sub(1)?;
        let batch = self.indices.take_run(self.batch_size);
        if batch.is_err() {
            self.remaining = 0;
        }
        Some(batch)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        size_hint(self.remaining)
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        let skipped = self.remaining.min(n as u64);
        self.remaining -= skipped;
        self.indices.leap(skipped.saturating_mul(self.batch_size.into()));
        self.next()
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
