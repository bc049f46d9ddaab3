//! Checkpoints: entries with the result of all entries before them. A reader that begins at a checkpoint need not read
//! the entries before it, so that a long log opens at once.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::entry::{Checkpoint, Entry};
use super::{Holder, Lease, Ledger, MAX_RUNS, check_line, no_event};
use crate::base::Failure;
use crate::base::failure::shorten;
use crate::base::memory::has_room;
use crate::base::sort::sort_short;

impl Ledger {
    /// A checkpoint as the next entry. `None` if there is no memory; the log then continues without a checkpoint.
    pub(super) fn checkpoint(&self) -> Option<String> {
        let (mut held, mut free) = (Vec::new(), Vec::new());
        if !has_room(&mut held, self.leases.len()) || !has_room(&mut free, self.free.len()) {
            return None;
        }
        held.extend_from_slice(&self.leases);
        free.extend(self.free.iter().rev());
        let Self { entries: number, next, committed, lease_ms, .. } = *self;
        Some(Checkpoint { number, next, committed, lease_ms, free, held }.write())
    }

    /// Whether a checkpoint describes this ledger as it is now.
    pub(super) fn is_at(&self, checkpoint: &Checkpoint) -> bool {
        let Checkpoint { number, next, committed, lease_ms, free, held } = checkpoint;
        (*number, *next, *committed, *lease_ms) == (self.entries, self.next, self.committed, self.lease_ms)
            && free.iter().eq(self.free.iter().rev())
            && *held == self.leases
    }

    /// Skips to a checkpoint, when only the first entry was applied. The ledger is then as if all entries up to the
    /// checkpoint were applied now. Failures: `entry` (no checkpoint, or one that this log cannot have);
    /// `out-of-memory`.
    pub(super) fn skip_to(&mut self, text: &str, now_ms: u64) -> Result<(), Failure> {
        check_line(text)?;
        let Some(Entry::Checkpoint(checkpoint)) = Entry::read(text) else { return Err(no_event(text)) };
        if self.entries != 1 || !self.allows(&checkpoint) {
            let allowed = "a checkpoint that entries of this log come to";
            return Err(Failure::contradiction("entry", shorten(text), allowed));
        }
        let Checkpoint { number, next, committed, lease_ms, mut free, held } = checkpoint;
        if !has_room(&mut self.holders, held.len()) || !has_room(&mut self.left_by, free.len()) {
            return Err(Failure::out_of_memory("entry", held.len(), format!("fewer than {} runs", held.len())));
        }
        self.holders.extend(held.iter().map(|run| Holder { reader: run.reader, runs: 1, seen: now_ms }));
        sort_short(&mut self.holders);
        self.holders.dedup_by(|next, holder| {
            let is_same = next.reader == holder.reader;
            holder.runs += if is_same { next.runs } else { 0 };
            is_same
        });
        free.reverse();
        self.left_by.resize(free.len(), 0);
        self.freed = free.iter().map(|&(_, count)| u64::from(count)).sum();
        (self.next, self.committed, self.lease_ms, self.entries) = (next, committed, lease_ms, number + 1);
        (self.free, self.leases) = (free, held);
        Ok(())
    }

    /// Whether a log with this first entry can have a checkpoint: the runs of the checkpoint do not overlap, and
    /// together with the committed positions they are all positions below `next`.
    fn allows(&self, checkpoint: &Checkpoint) -> bool {
        let Checkpoint { number, next, committed, free, held, .. } = checkpoint;
        if *number == 0 || !(self.first..=self.end).contains(next) || free.len() + held.len() > MAX_RUNS {
            return false;
        }
        let (mut free, mut runs) = (free.iter().copied().peekable(), held.iter().peekable());
        let (mut at, mut left) = (self.first, 0);
        loop {
            let free_first = match (free.peek(), runs.peek()) {
                (None, None) => break,
                (Some((start, _)), Some(run)) => *start < run.start,
                (one, _) => one.is_some(),
            };
            let run = if free_first { free.next() } else { runs.next().map(|run| (run.start, run.left)) };
            let Some((start, count @ 1..)) = run else { return false };
            if start < at || start + u64::from(count) > *next {
                return false;
            }
            at = start + u64::from(count);
            left += u64::from(count);
        }
        let is_claim = |run: &Lease| run.first() >= self.first && (1..*number).contains(&run.claim);
        committed.checked_add(left) == Some(next - self.first)
            && held.iter().all(is_claim)
            && are_different(held.iter().map(|run| run.claim))
    }
}

/// Whether all numbers are different. False if there is no memory to find out.
fn are_different(numbers: impl ExactSizeIterator<Item = u64>) -> bool {
    let mut sorted = Vec::new();
    if !has_room(&mut sorted, numbers.len()) {
        return false;
    }
    sorted.extend(numbers);
    samedeal_bulk::numbers(&mut sorted);
    sorted.windows(2).all(|pair| pair[0] < pair[1])
}
