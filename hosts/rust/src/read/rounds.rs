use std::iter::FusedIterator;

use crate::iter::size_hint;
use crate::{Error, ReadRound, Reading};

/// The rounds of a reader, in order; see [`Reading::rounds`]. After an error, the iterator ends.
#[derive(Debug)]
pub struct Rounds<'a> {
    reading: &'a Reading,
    reader: (u32, u32),
    /// The next round, and the end of the rounds.
    next: u64,
    end: u64,
}

impl<'a> Rounds<'a> {
    pub(super) fn new(reading: &'a Reading, reader: (u32, u32), end: u64) -> Self {
        Self { reading, reader, next: 0, end }
    }
}

impl Iterator for Rounds<'_> {
    type Item = Result<ReadRound, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.end {
            return None;
        }
        let (rank, worker) = self.reader;
        let round = self.reading.round(rank, worker, self.next);
        self.next = if round.is_ok() { self.next + 1 } else { self.end };
        Some(round)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        size_hint(self.end - self.next)
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        self.next += (n as u64).min(self.end - self.next);
        self.next()
    }
}

impl ExactSizeIterator for Rounds<'_> {}
impl FusedIterator for Rounds<'_> {}
