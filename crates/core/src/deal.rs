use alloc::format;

use crate::{Failure, MAX_EXACT};

/// What happens where the world does not divide the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remainder {
    /// The last (samples mod world) positions are not dealt.
    Drop = 0,
    /// The order is repeated from its beginning until every rank has ceil(samples / world).
    Pad = 1,
    /// Every sample exactly once; ranks may differ by one.
    Uneven = 2,
}

/// Which positions belong to a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// rank, rank + world, rank + 2 world, ...
    Strided = 0,
    /// One run of neighbouring positions for each rank, in the order of the ranks.
    Contiguous = 1,
}

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
    pub slot: u32,
    /// How often the sample is dealt again, as padding, at `position` + k * samples.
    pub copies: u32,
}

/// Who takes which position of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deal {
    samples: u64,
    rank: u32,
    world: u32,
    remainder: Remainder,
    layout: Layout,
}

impl Deal {
    /// A deal of `samples` (at most 2^53 - 1) positions to `world` ranks, seen by `rank`.
    pub fn new(samples: u64, rank: u32, world: u32, remainder: Remainder, layout: Layout) -> Result<Self, Failure> {
        if world == 0 {
            return Err(Failure::out_of_range("world", 0, format!("1 to {}", u32::MAX)));
        }
        if samples > MAX_EXACT {
            return Err(Failure::out_of_range("samples", samples, format!("0 to {MAX_EXACT}")));
        }
        let deal = Self { samples, rank: 0, world, remainder, layout };
        if deal.num_positions() > MAX_EXACT {
            let most = MAX_EXACT - MAX_EXACT % u64::from(world);
            return Err(Failure::out_of_range("samples", samples, format!("0 to {most} when padded to world {world}")));
        }
        deal.with_rank(rank)
    }

    /// The same deal, seen by another rank.
    pub fn with_rank(self, rank: u32) -> Result<Self, Failure> {
        if rank >= self.world {
            return Err(Failure::out_of_range("rank", rank, format!("0 to {}", self.world - 1)));
        }
        Ok(Self { rank, ..self })
    }

    /// Positions dealt to all ranks together, padding included.
    pub fn num_positions(&self) -> u64 {
        let world = u64::from(self.world);
        match self.remainder {
            Remainder::Drop => self.samples / world * world,
            Remainder::Pad => self.samples.div_ceil(world) * world,
            Remainder::Uneven => self.samples,
        }
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
            // The positions rank, rank + world, ... below `samples`.
            Layout::Strided => self.samples.saturating_sub(u64::from(self.rank)).div_ceil(u64::from(self.world)),
            Layout::Contiguous => self.samples.saturating_sub(self.first()),
        };
        count - count.min(real)
    }

    /// Samples that no rank gets.
    pub fn num_dropped(&self) -> u64 {
        self.samples.saturating_sub(self.num_positions())
    }

    /// The position of this rank's first sample, and how far apart its positions are.
    pub(crate) fn run(&self) -> (u64, u64) {
        match self.layout {
            Layout::Strided => (u64::from(self.rank), u64::from(self.world)),
            Layout::Contiguous => (self.first(), 1),
        }
    }

    /// Who takes a position below `num_positions`, and when, in batches of `batch_size` (at least 1).
    pub(crate) fn place(&self, position: u64, batch_size: u32) -> Place {
        let (rank, index) = match self.layout {
            Layout::Strided => (position % u64::from(self.world), position / u64::from(self.world)),
            Layout::Contiguous => {
                let (share, extra) = self.shares();
                // The first `extra` ranks hold one more than the others.
                let wide = extra * (share + 1);
                if position < wide {
                    (position / (share + 1), position % (share + 1))
                } else {
                    (extra + (position - wide) / share, (position - wide) % share)
                }
            }
        };
        Place {
            position,
            rank: rank as u32,
            index,
            batch: index / u64::from(batch_size),
            slot: (index % u64::from(batch_size)) as u32,
            copies: ((self.num_positions() - 1 - position) / self.samples) as u32,
        }
    }

    /// What every rank gets, and how many of the first ranks get one more.
    fn shares(&self) -> (u64, u64) {
        let world = u64::from(self.world);
        (self.num_positions() / world, self.num_positions() % world)
    }

    /// Where the contiguous run of this rank begins.
    fn first(&self) -> u64 {
        let (share, extra) = self.shares();
        u64::from(self.rank) * share + extra.min(u64::from(self.rank))
    }
}
