use alloc::format;
use alloc::vec::Vec;

use super::segment::Segment;
use crate::Failure;
use crate::base::failure::at_most;
use crate::base::memory::has_room;

/// A turn that was torn: rounds of `readers` positions, of each of which the first `gone` were taken. Its positions are from
/// `start` to `stop` - 1; those that are left of them are numbered from `first` to `stop` - 1.
#[derive(Clone, Copy, Debug)]
struct Turn {
    start: u64,
    stop: u64,
    readers: u64,
    gone: u64,
}

impl Turn {
    fn first(&self) -> u64 {
        let (rounds, part) = ((self.stop - self.start) / self.readers, (self.stop - self.start) % self.readers);
        self.stop - rounds * (self.readers - self.gone) - part.saturating_sub(self.gone)
    }

    /// The position that has this number.
    fn position(&self, number: u64) -> u64 {
        if number >= self.stop || number < self.first() {
            return number;
        }
        let width = self.readers - self.gone;
        let nth = number - self.first();
        self.start + nth / width * self.readers + self.gone + nth % width
    }
}

/// The positions of an epoch that are left, numbered in order from `consumed` on: the last one keeps its own number. So a deal of
/// which `consumed` are consumed deals them, remainder and all; only those numbered below `plain` are others than their
/// numbers say.
pub(super) struct Left {
    samples: u64,
    pub(super) consumed: u64,
    pub(super) plain: u64,
    /// The shortest way to say what is left: how many were consumed, and the segments since.
    pub(super) origin: u64,
    pub(super) history: Vec<Segment>,
    turns: Vec<Turn>,
}

impl Left {
    /// What a history leaves of the positions behind the first `consumed`. Failures: `history`, `out-of-memory`.
    pub(super) fn new(samples: u64, consumed: u64, history: &[Segment]) -> Result<Self, Failure> {
        let mut left =
            Self { samples, consumed, plain: consumed, origin: consumed, history: Vec::new(), turns: Vec::new() };
        for &segment in history {
            left.take(segment)?;
        }
        Ok(left)
    }

    /// Takes so many steps more. Failures: `history` (there are not so many), `out-of-memory`.
    pub(super) fn take(&mut self, segment: Segment) -> Result<(), Failure> {
        let Segment { group, steps } = segment;
        let (readers, workers) = (group.readers(), u64::from(group.workers));
        let turn = readers * u64::from(group.batch_size);
        let dropped = if group.drop_last { (self.samples - self.consumed) % readers } else { 0 };
        let end = self.samples - dropped;
        let (turns, part) = (steps / workers, steps % workers);
        let most = (end - self.consumed).div_ceil(turn);
        if turns.saturating_add(u64::from(part > 0)) > most {
            let allowed = at_most(most * workers).and(format_args!(" steps of {} ranks", group.world_size));
            return Err(Failure::out_of_range("history", format!("{steps} steps"), allowed));
        }
        let start = end.min(self.consumed + turns * turn);
        let stop = if part > 0 { end.min(start + turn) } else { start };
        let torn = Turn { start, stop, readers, gone: part * u64::from(group.world_size) };
        let room = has_room(&mut self.history, 1) && has_room(&mut self.turns, 1);
        if !room {
            return Err(Failure::out_of_memory("history", self.history.len() + 1, "fewer segments"));
        }
        if start >= self.plain {
            // This turn begins behind those that were torn before, which need no mention any more.
            self.origin = start;
            self.history.clear();
            self.turns.clear();
            if part > 0 {
                self.history.push(Segment { steps: part, ..segment });
            }
        } else {
            self.history.push(segment);
        }
        if part > 0 {
            self.turns.push(torn);
        }
        self.consumed = torn.first();
        self.plain = self.plain.max(stop);
        Ok(())
    }

    /// The position that has this number; from `samples` on they are padding, and stay as they are.
    pub(super) fn position(&self, number: u64) -> u64 {
        self.turns.iter().rev().fold(number, |number, turn| turn.position(number))
    }
}
