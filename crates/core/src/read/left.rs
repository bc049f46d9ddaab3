use alloc::format;
use alloc::vec::Vec;

use super::segment::Segment;
use crate::base::Failure;
use crate::base::failure::at_most;
use crate::base::memory::has_room;
use crate::deal::Rotation;

/// An interrupted turn: the positions `start` to `stop` - 1, in rows of `readers` positions. In each row, the first
/// `gone` readers took their positions. The positions that are left have the numbers `first` to `stop` - 1.
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

    /// The position of a number. A number outside this turn stays as it is.
    fn position(&self, number: u64, of: &Positions) -> u64 {
        if number >= self.stop || number < self.first() {
            return number;
        }
        let width = self.readers - self.gone;
        let nth = number - self.first();
        let row = self.start + nth / width * self.readers;
        let (nth, turn) = (nth % width, of.turn(row, self.readers));
        // Reader 0 has place `readers` - `turn` of the row. The next readers follow, and continue at the beginning of
        // the row.
        row + match turn {
            turn if turn <= self.gone => nth + self.gone - turn,
            turn if nth < self.readers - turn => nth,
            _ => nth + self.gone,
        }
    }
}

/// The positions of an epoch, in rows of one position for each reader, and the rotation of the rows.
#[derive(Clone, Copy)]
pub(super) struct Positions {
    /// Number of positions of the epoch.
    pub(super) length: u64,
    /// None if rows are not rotated, so that the first position of each row goes to the first reader: if no epoch has a
    /// sample twice, and in a blend `by_lane`.
    pub(super) rotation: Option<Rotation>,
}

impl Positions {
    /// The number of places by which the row that begins with the number `first` is rotated. A last row that is too
    /// short for all readers is not rotated.
    fn turn(&self, first: u64, readers: u64) -> u64 {
        match &self.rotation {
            Some(rotation) if first + readers <= self.length => rotation.turn(first, readers as u32),
            _ => 0,
        }
    }
}

/// The positions of an epoch that are left. In ascending order, they have the numbers from `consumed` to the last
/// position of the epoch, so that a deal in which `consumed` positions are consumed can deal these numbers. Below
/// `plain`, a number may stand for another position; from `plain` on, a number is its position.
pub(super) struct Left {
    of: Positions,
    pub(super) consumed: u64,
    pub(super) plain: u64,
    /// The shortest description of the positions that are left, for a state: `origin` positions were consumed, and then
    /// the steps of `history` were taken.
    pub(super) origin: u64,
    pub(super) history: Vec<Segment>,
    turns: Vec<Turn>,
}

impl Left {
    /// The positions that are left after the first `consumed` ones and the steps of a history. Failures: `history`,
    /// `out-of-memory`.
    pub(super) fn new(of: Positions, consumed: u64, history: &[Segment]) -> Result<Self, Failure> {
        let mut left = Self { of, consumed, plain: consumed, origin: consumed, history: Vec::new(), turns: Vec::new() };
        for &segment in history {
            left.take(segment)?;
        }
        Ok(left)
    }

    /// Takes the steps of one more segment. Failures: `history` (the epoch has fewer steps), `out-of-memory`.
    pub(super) fn take(&mut self, segment: Segment) -> Result<(), Failure> {
        let Segment { group, steps } = segment;
        let (readers, workers) = (group.readers(), u64::from(group.workers));
        let turn = readers * u64::from(group.batch_size);
        let dropped = if group.drop_last { (self.of.length - self.consumed) % readers } else { 0 };
        let end = self.of.length - dropped;
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
            // This turn begins after all turns that were interrupted before, so the history no longer needs their
            // segments.
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

    /// The number, among the positions that are left, that a reader has in row number `row`.
    pub(super) fn number(&self, (reader, readers): (u64, u64), row: u64) -> u64 {
        let first = self.consumed + readers * row;
        first + (reader + readers - self.of.turn(first, readers)) % readers
    }

    /// Number of positions of the epoch.
    pub(super) fn length(&self) -> u64 {
        self.of.length
    }

    /// Whether a number is of a position, and not of padding.
    pub(super) fn is_real(&self, number: u64) -> bool {
        number < self.of.length
    }

    /// The position of a number. Numbers of padding stay as they are.
    pub(super) fn position(&self, number: u64) -> u64 {
        self.turns.iter().rev().fold(number, |number, turn| turn.position(number, &self.of))
    }
}
