use crate::base::failure::{only, range};
use crate::base::names::name_of;
use crate::{Failure, MAX_EXACT};

/// What happens if the number of ranks does not divide the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remainder {
    /// The last (samples mod world size) positions are not dealt.
    Drop,
    /// The order is repeated from its beginning until every rank has ceil(samples / world size).
    Pad,
    /// Every sample exactly once; ranks may differ by one.
    Uneven,
}

impl Remainder {
    /// Its name.
    pub fn name(&self) -> &'static str {
        name_of(self, &REMAINDERS)
    }
}

/// Their names, the default first.
pub(crate) const REMAINDERS: [(&str, Remainder); 3] =
    [("pad", Remainder::Pad), ("drop", Remainder::Drop), ("uneven", Remainder::Uneven)];

/// Which positions belong to a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// rank, rank + W, rank + 2 W, ..., where W is the world size.
    Strided,
    /// One run of neighbouring positions for each rank, in the order of the ranks.
    Contiguous,
}

impl Layout {
    /// Its name.
    pub fn name(&self) -> &'static str {
        name_of(self, &LAYOUTS)
    }
}

/// Their names, the default first.
pub(crate) const LAYOUTS: [(&str, Layout); 2] = [("strided", Layout::Strided), ("contiguous", Layout::Contiguous)];

/// When and where a position of the epoch is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The global position.
    pub position: u64,
    /// The rank that it is dealt to.
    pub rank: u32,
    /// Number within that rank's samples of the epoch.
    pub index: u64,
    /// Number of that rank's batch.
    pub batch: u64,
    /// Place in that batch.
    pub index_in_batch: u32,
    /// How often the sample is dealt again, as padding, at `position` + k * samples.
    pub copies: u32,
}

/// Which rank takes which position of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deal {
    samples: u64,
    /// Positions that were dealt before: this deal is of the others.
    consumed: u64,
    rank: u32,
    world_size: u32,
    remainder: Remainder,
    layout: Layout,
}

impl Deal {
    /// A deal of the positions from `consumed` to `samples` - 1 (at most 2^53 - 2) to `world_size` ranks, seen by `rank`.
    pub fn new(
        samples: u64,
        consumed: u64,
        rank: u32,
        world_size: u32,
        remainder: Remainder,
        layout: Layout,
    ) -> Result<Self, Failure> {
        if world_size == 0 {
            return Err(Failure::out_of_range("world-size", 0, range(1, u32::MAX)));
        }
        if samples > MAX_EXACT {
            return Err(Failure::out_of_range("samples", samples, range(0, MAX_EXACT)));
        }
        if consumed > samples {
            return Err(Failure::out_of_range("consumed", consumed, range(0, samples)));
        }
        // The whole epoch too: it comes after a part of one.
        for consumed in [0, consumed] {
            let deal = Self { samples, consumed, rank: 0, world_size, remainder, layout };
            if deal.end() > MAX_EXACT {
                let most = consumed + (MAX_EXACT - consumed) / u64::from(world_size) * u64::from(world_size);
                let allowed = range(0, most).and(format_args!(" when padded for {world_size} ranks"));
                return Err(Failure::out_of_range("samples", samples, allowed));
            }
        }
        Self { samples, consumed, rank: 0, world_size, remainder, layout }.with_rank(rank)
    }

    /// The same deal, seen by another rank.
    pub fn with_rank(self, rank: u32) -> Result<Self, Failure> {
        if rank >= self.world_size {
            return Err(Failure::out_of_range("rank", rank, range(0, self.world_size - 1)));
        }
        Ok(Self { rank, ..self })
    }

    /// Positions dealt to all ranks together, padding included.
    pub fn num_positions(&self) -> u64 {
        let world_size = u64::from(self.world_size);
        match self.remainder {
            Remainder::Drop => self.left() / world_size * world_size,
            Remainder::Pad => self.left().div_ceil(world_size) * world_size,
            Remainder::Uneven => self.left(),
        }
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

    /// The positions that are consumed once every rank has taken so many samples, or all of its own. Failures: `taken`;
    /// `layout`, where these are no run from the first position on.
    pub(crate) fn consumed_after(&self, taken: u64) -> Result<u64, Failure> {
        let most = self.num_positions().div_ceil(self.world_size.into());
        if taken > most {
            return Err(Failure::out_of_range("taken", taken, range(0, most)));
        }
        if taken == 0 {
            return Ok(self.consumed);
        }
        if taken == most {
            // Those that are dropped too.
            return Ok(self.samples);
        }
        if self.layout == Layout::Contiguous && self.world_size > 1 {
            let allowed = only("strided").and(", for a state within an epoch");
            return Err(Failure::contradiction("layout", "contiguous", allowed));
        }
        Ok((self.consumed + taken * u64::from(self.world_size)).min(self.samples))
    }

    /// Positions of this rank, padding included.
    pub fn num_samples(&self) -> u64 {
        let (share, extra) = self.shares();
        share + u64::from(u64::from(self.rank) < extra)
    }

    /// How many of them, the last ones of the rank, are padding.
    pub fn num_padding(&self) -> u64 {
        let count = self.num_samples();
        let real = match self.layout {
            // Every W-th of those that are left, from the rank on.
            Layout::Strided => self.left().saturating_sub(u64::from(self.rank)).div_ceil(u64::from(self.world_size)),
            Layout::Contiguous => self.left().saturating_sub(self.first()),
        };
        count - count.min(real)
    }

    /// Samples that no rank gets.
    pub fn num_dropped(&self) -> u64 {
        self.left().saturating_sub(self.num_positions())
    }

    /// The position of this rank's first sample, and how far apart its positions are.
    pub(crate) fn run(&self) -> (u64, u64) {
        match self.layout {
            Layout::Strided => (self.consumed + u64::from(self.rank), u64::from(self.world_size)),
            Layout::Contiguous => (self.consumed + self.first(), 1),
        }
    }

    /// Who takes a position from `consumed` to `end` - 1, and when, in batches of `batch_size` (at least 1).
    pub(crate) fn place(&self, position: u64, batch_size: u32) -> Place {
        let nth = position - self.consumed;
        let (rank, index) = match self.layout {
            Layout::Strided => (nth % u64::from(self.world_size), nth / u64::from(self.world_size)),
            Layout::Contiguous => {
                let (share, extra) = self.shares();
                // The first `extra` ranks hold one more than the others.
                let wide = extra * (share + 1);
                if nth < wide {
                    (nth / (share + 1), nth % (share + 1))
                } else {
                    (extra + (nth - wide) / share, (nth - wide) % share)
                }
            }
        };
        Place {
            position,
            rank: rank as u32,
            index,
            batch: index / u64::from(batch_size),
            index_in_batch: (index % u64::from(batch_size)) as u32,
            copies: ((self.end() - 1 - position) / self.samples) as u32,
        }
    }

    /// What every rank gets, and how many of the first ranks get one more.
    fn shares(&self) -> (u64, u64) {
        let world_size = u64::from(self.world_size);
        (self.num_positions() / world_size, self.num_positions() % world_size)
    }

    /// Where the contiguous run of this rank begins, in what is left.
    fn first(&self) -> u64 {
        let (share, extra) = self.shares();
        u64::from(self.rank) * share + extra.min(u64::from(self.rank))
    }
}
