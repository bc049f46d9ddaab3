use alloc::format;

use crate::base::failure::{known, range};
use crate::base::key::Words;
use crate::base::names::name_of;
use crate::base::{Failure, MAX_EXACT};
use crate::order::{MULTIPLIERS, mix};

/// The treatment of samples if the number of ranks does not divide them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remainder {
    /// The last positions are not dealt if they do not fill a row of W units, where W is the world size.
    Drop,
    /// The order is repeated from its beginning until the last row of W units is full.
    Pad,
    /// Every position is dealt once. Ranks may differ by one unit.
    Uneven,
}

impl Remainder {
    /// The name of the remainder in recipes, such as `pad`.
    pub fn name(&self) -> &'static str {
        name_of(self, &REMAINDERS)
    }
}

/// The remainders and their names, the default first.
pub(crate) const REMAINDERS: [(&str, Remainder); 3] =
    [("pad", Remainder::Pad), ("drop", Remainder::Drop), ("uneven", Remainder::Uneven)];

/// The layout of a deal: which positions belong to a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The units rank, rank + W, rank + 2 W, ..., where W is the world size.
    Strided,
    /// One run of neighbouring units for each rank, in the order of the ranks.
    Contiguous,
    /// Rows of W units, as in `Strided`, but each row begins with a rank that a hash of the row's position chooses: for
    /// orders with a period, such as blends.
    Rotated,
}

impl Layout {
    /// The name of the layout in recipes, such as `strided`.
    pub fn name(&self) -> &'static str {
        name_of(self, &LAYOUTS)
    }
}

/// The layouts and their names, the default first.
pub(crate) const LAYOUTS: [(&str, Layout); 3] =
    [("strided", Layout::Strided), ("contiguous", Layout::Contiguous), ("rotated", Layout::Rotated)];

/// The most positions of a unit.
pub(crate) const MAX_UNIT: u32 = 1 << 20;

/// The rotation of the rows of an epoch: a hash of the first position of a row, with keys of the seed and the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rotation([[u32; 2]; 2]);

impl Rotation {
    pub(crate) fn new(seed: i64, epoch: u64) -> Self {
        let mut words = Words::new("rotated", seed, epoch, 0);
        Self(core::array::from_fn(|_| [words.next(), words.next()]))
    }

    /// The number of places, below `width`, by which the row that begins at position `first` is rotated.
    pub(crate) fn turn(&self, first: u64, width: u32) -> u64 {
        let folded = first as u32 ^ ((first >> 32) as u32).wrapping_mul(MULTIPLIERS[1]);
        mix(mix(folded, self.0[0], u32::MAX), self.0[1], width).into()
    }
}

/// A placeholder for deals whose layout is not `Rotated`, which never use a rotation.
const UNKEYED: Rotation = Rotation([[0; 2]; 2]);

/// The place of a position of the epoch: the rank and the batch that get it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The global position.
    pub position: u64,
    /// The rank that the position is dealt to.
    pub rank: u32,
    /// Index of the position among the samples of the rank in the epoch.
    pub index_in_rank: u64,
    /// Number of the batch of the rank.
    pub batch: u64,
    /// Index in the batch.
    pub index_in_batch: u32,
    /// How often the sample is dealt again, as padding, at `position` + k * the length of the epoch; at most 2^32 - 1
    /// are counted.
    pub num_padding: u32,
}

/// A deal: which rank takes which position of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deal {
    samples: u64,
    /// Number of positions at the beginning of the epoch that were dealt before. This deal has the later ones.
    consumed: u64,
    rank: u32,
    world_size: u32,
    remainder: Remainder,
    layout: Layout,
    /// How many neighbouring positions are dealt together.
    unit: u32,
    /// The rotation of rows, with the layout `Rotated`.
    rotation: Rotation,
}

impl Deal {
    /// A deal of the positions from `consumed` to `samples` - 1 (at most 2^53 - 2) to `world_size` ranks, seen by
    /// `rank`, in units of `unit` neighbours.
    pub fn new(
        samples: u64,
        consumed: u64,
        (rank, world_size): (u32, u32),
        remainder: Remainder,
        layout: Layout,
        unit: u32,
    ) -> Result<Self, Failure> {
        if world_size == 0 {
            return Err(Failure::out_of_range("world_size", 0, range(1, u32::MAX)));
        }
        if !(1..=MAX_UNIT).contains(&unit) {
            return Err(Failure::out_of_range("unit", unit, range(1, MAX_UNIT)));
        }
        if samples > MAX_EXACT {
            return Err(Failure::out_of_range("samples", samples, range(0, MAX_EXACT)));
        }
        if consumed > samples {
            return Err(Failure::out_of_range("consumed", consumed, range(0, samples)));
        }
        if consumed < samples && !consumed.is_multiple_of(unit.into()) {
            let allowed = format!("0 to {samples}: a multiple of {unit}, which is unit, or {samples}");
            return Err(Failure::out_of_range("consumed", consumed, allowed));
        }
        // The whole epoch is checked too, because the next epoch is dealt as a whole.
        for consumed in [0, consumed] {
            let deal = Self { samples, consumed, rank: 0, world_size, remainder, layout, unit, rotation: UNKEYED };
            if deal.end() > MAX_EXACT {
                let most = consumed + (MAX_EXACT - consumed) / deal.row() * deal.row();
                let allowed = range(0, most).and(format_args!(" when padded for {world_size} ranks"));
                return Err(Failure::out_of_range("samples", samples, allowed));
            }
        }
        Self { samples, consumed, rank: 0, world_size, remainder, layout, unit, rotation: UNKEYED }.with_rank(rank)
    }

    /// This deal, with rows that are rotated by `rotation`.
    pub(crate) fn with_rotation(self, rotation: Rotation) -> Self {
        Self { rotation, ..self }
    }

    /// This deal, seen by another rank. Failures: `rank`.
    pub fn with_rank(self, rank: u32) -> Result<Self, Failure> {
        if rank >= self.world_size {
            return Err(Failure::out_of_range("rank", rank, range(0, self.world_size - 1)));
        }
        Ok(self.of_rank(rank))
    }

    /// Positions dealt to all ranks together, padding included.
    pub fn num_positions(&self) -> u64 {
        match self.remainder {
            Remainder::Uneven => self.left(),
            Remainder::Drop | Remainder::Pad => self.units() * self.unit(),
        }
    }

    /// Units dealt to all ranks together. With `Uneven`, the last one may be shorter.
    fn units(&self) -> u64 {
        let world_size = u64::from(self.world_size);
        match self.remainder {
            Remainder::Drop => self.left() / self.row() * world_size,
            Remainder::Pad => self.left().div_ceil(self.row()) * world_size,
            Remainder::Uneven => self.left().div_ceil(self.unit()),
        }
    }

    fn unit(&self) -> u64 {
        self.unit.into()
    }

    /// Positions of a row, which has one unit for each rank: at most 2^52.
    fn row(&self) -> u64 {
        u64::from(self.world_size) * self.unit()
    }

    /// Positions of the epoch, without padding.
    pub(crate) fn samples(&self) -> u64 {
        self.samples
    }

    /// Positions that were not dealt before.
    fn left(&self) -> u64 {
        self.samples - self.consumed
    }

    /// The position after the last one that is dealt, padding included.
    pub(crate) fn end(&self) -> u64 {
        self.consumed + self.num_positions()
    }

    /// The first position that is dealt.
    pub(crate) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// This deal, seen by another rank, which was checked to exist.
    pub(crate) fn of_rank(&self, rank: u32) -> Self {
        Self { rank, ..*self }
    }

    /// A rank with the most samples: rank 0, or rank 1 where rank 0 has the last unit, which can be shorter.
    pub(crate) fn fullest(&self) -> u32 {
        let second = 1.min(self.world_size - 1);
        if self.of_rank(second).num_samples() > self.of_rank(0).num_samples() { second } else { 0 }
    }

    /// The number of consumed positions once every rank has taken `taken` samples, or all of its own. Failures:
    /// `taken`; `layout`, where the positions that were taken are not the first ones of the epoch.
    pub(crate) fn consumed_after(&self, taken: u64) -> Result<u64, Failure> {
        let most = self.of_rank(self.fullest()).num_samples();
        if taken > most {
            return Err(Failure::out_of_range("taken", taken, range(0, most)));
        }
        if taken == 0 {
            return Ok(self.consumed);
        }
        if taken == most {
            // A finished epoch counts the samples that are dropped, too.
            return Ok(self.samples);
        }
        if self.layout == Layout::Contiguous && self.world_size > 1 {
            let allowed = known(["strided", "rotated"]).and(", within an epoch");
            return Err(Failure::contradiction("layout", "contiguous", allowed).at("deal.layout"));
        }
        if !taken.is_multiple_of(self.unit()) {
            let allowed = format!(
                "0 to {most}: a multiple of {}, which is unit, or {most}; with batches of a multiple of {} samples it always is",
                self.unit, self.unit
            );
            return Err(Failure::out_of_range("taken", taken, allowed));
        }
        Ok((self.consumed + taken * u64::from(self.world_size)).min(self.samples))
    }

    /// Positions of this rank, padding included.
    pub fn num_samples(&self) -> u64 {
        let count = self.own_units();
        if count == 0 {
            return 0;
        }
        // The last unit may be shorter.
        let end = (self.nth_unit(count - 1) + 1) * self.unit();
        count * self.unit() - end.saturating_sub(self.num_positions())
    }

    /// Positions of this rank that are padding: its last ones.
    pub fn num_padding(&self) -> u64 {
        let count = self.own_units();
        if count == 0 {
            return 0;
        }
        // Positions of the rank from `samples` on are padding. With `Contiguous`, padding may fill several units of the
        // rank. With other layouts, all padding is in the last row, of which the rank has one unit.
        let run = if self.layout == Layout::Contiguous { count } else { 1 } * self.unit();
        let end = self.consumed + (self.nth_unit(count - 1) + 1) * self.unit();
        end.min(self.end()).saturating_sub(self.samples).min(run)
    }

    /// Samples that no rank gets.
    pub fn num_dropped(&self) -> u64 {
        self.left().saturating_sub(self.num_positions())
    }

    /// The position of this rank's first sample, and the distance between its positions; `None` if the distance varies.
    pub(crate) fn run(&self) -> Option<(u64, u64)> {
        match self.layout {
            Layout::Strided if self.unit == 1 => {
                Some((self.consumed + u64::from(self.rank), u64::from(self.world_size)))
            }
            Layout::Contiguous => Some((self.consumed + self.first() * self.unit(), 1)),
            Layout::Strided | Layout::Rotated => None,
        }
    }

    /// The position of this rank's sample number `index`, which is below `num_samples`.
    pub(crate) fn position(&self, index: u64) -> u64 {
        self.consumed + self.nth_unit(index / self.unit()) * self.unit() + index % self.unit()
    }

    /// Writes the positions of this rank's samples number `start`, `start` + 1, ... to `out`. All of them must exist.
    pub(crate) fn positions(&self, start: u64, out: &mut [u64]) {
        let (units, mut number, mut within) = (self.units(), start / self.unit(), start % self.unit());
        let mut left = out;
        while !left.is_empty() {
            let first = self.consumed + self.nth_of(units, number) * self.unit() + within;
            let count = (self.unit() - within).min(left.len() as u64) as usize;
            let run = left.split_off_mut(..count).unwrap_or_default();
            run.iter_mut().zip(first..).for_each(|(place, position)| *place = position);
            (number, within) = (number + 1, 0);
        }
    }

    /// The number, among all units that are dealt, of this rank's unit `index`, which is below `own_units`.
    fn nth_unit(&self, index: u64) -> u64 {
        self.nth_of(self.units(), index)
    }

    /// `nth_unit`, where `units` is the number of all units, which loops compute only once.
    fn nth_of(&self, units: u64, index: u64) -> u64 {
        let world_size = u64::from(self.world_size);
        match self.layout {
            Layout::Strided => index * world_size + u64::from(self.rank),
            Layout::Contiguous => self.first() + index,
            Layout::Rotated => {
                let row = index * world_size;
                let place = u64::from(self.rank) + world_size - self.turn(units, row);
                row + if place < world_size { place } else { place - world_size }
            }
        }
    }

    /// The number of ranks by which a row is rotated. `row` is the number of its first unit, of `units` units.
    fn turn(&self, units: u64, row: u64) -> u64 {
        if units - row < u64::from(self.world_size) {
            // The last row is not rotated if it has no unit for some ranks.
            return 0;
        }
        self.rotation.turn(self.consumed + row * self.unit(), self.world_size)
    }

    /// The place of a position from `consumed` to `end` - 1, with batches of `batch_size` samples (at least 1).
    pub(crate) fn place(&self, position: u64, batch_size: u32) -> Place {
        let (nth, within) = ((position - self.consumed) / self.unit(), (position - self.consumed) % self.unit());
        let world_size = u64::from(self.world_size);
        let (rank, number) = match self.layout {
            Layout::Strided => (nth % world_size, nth / world_size),
            Layout::Rotated => {
                let row = nth / world_size * world_size;
                ((nth - row + self.turn(self.units(), row)) % world_size, nth / world_size)
            }
            Layout::Contiguous => {
                let (share, extra) = self.shares();
                // The first `extra` ranks have one unit more than the others.
                let wide = extra * (share + 1);
                if nth < wide {
                    (nth / (share + 1), nth % (share + 1))
                } else {
                    (extra + (nth - wide) / share, (nth - wide) % share)
                }
            }
        };
        let index = number * self.unit() + within;
        Place {
            position,
            rank: rank as u32,
            index_in_rank: index,
            batch: index / u64::from(batch_size),
            index_in_batch: (index % u64::from(batch_size)) as u32,
            num_padding: u32::try_from((self.end() - 1 - position) / self.samples).unwrap_or(u32::MAX),
        }
    }

    /// How many units every rank gets, and how many of the first ranks get one more.
    fn shares(&self) -> (u64, u64) {
        let world_size = u64::from(self.world_size);
        (self.units() / world_size, self.units() % world_size)
    }

    /// How many units this rank gets.
    fn own_units(&self) -> u64 {
        let (share, extra) = self.shares();
        share + u64::from(u64::from(self.rank) < extra)
    }

    /// The number, among all units that are dealt, of this rank's first unit, with the layout `Contiguous`.
    fn first(&self) -> u64 {
        let (share, extra) = self.shares();
        u64::from(self.rank) * share + extra.min(u64::from(self.rank))
    }
}
