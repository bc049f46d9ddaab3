use super::dealt::Rotation;
use crate::base::Failure;
use crate::deal::{Deal, Layout, Remainder};
use crate::order::OrderId;

/// The configuration of a sampler: everything that decides its deal.
///
/// ```
/// use samedeal_core::{Config, OrderId, Sampler};
/// let config = Config { seed: 42, world_size: 4, rank: 1, ..Config::new(10) };
/// assert_eq!(Sampler::new(config)?.num_samples(), 3);
/// # Ok::<(), samedeal_core::Failure>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Number of samples in the dataset, 0 to 2^53 - 1 (2^32 - 1 for orders that need a table, 2^31 - 1 for
    /// [`OrderId::Dotnet`]).
    pub samples: u64,
    /// Seed of the order; with [`OrderId::Dotnet`] an `i32`.
    pub seed: i64,
    /// Number of the epoch.
    pub epoch: u64,
    /// The order.
    pub order: OrderId,
    /// Number of this rank among the data-parallel ranks, 0 to `world_size` - 1.
    pub rank: u32,
    /// Number of data-parallel ranks, at least 1.
    pub world_size: u32,
    /// The treatment of samples if `world_size` does not divide `samples`.
    pub remainder: Remainder,
    /// The layout: which positions belong to a rank.
    pub layout: Layout,
    /// How many neighbouring positions go to the same rank, 1 to 2^20.
    pub unit: u32,
    /// Number of positions at the beginning of the epoch that were dealt before, maybe to another world size. Only
    /// later positions are dealt. 0 to the number of positions of the epoch; a multiple of `unit`, or this number.
    pub consumed: u64,
}

impl Config {
    /// The configuration of a dataset of `samples` samples for one rank: order `feistel`, seed 0, epoch 0, `pad`,
    /// `strided`.
    pub const fn new(samples: u64) -> Self {
        Self {
            samples,
            seed: 0,
            epoch: 0,
            order: OrderId::Feistel,
            rank: 0,
            world_size: 1,
            remainder: Remainder::Pad,
            layout: Layout::Strided,
            unit: 1,
            consumed: 0,
        }
    }

    /// The deal of this configuration, if every field is within its range. `positions` is the number of positions of
    /// the epoch.
    pub(crate) fn deal(&self, positions: u64) -> Result<Deal, Failure> {
        self.order.check(self.samples, self.seed)?;
        let Self { consumed, rank, world_size, remainder, layout, unit, .. } = *self;
        let deal = Deal::new(positions, consumed, (rank, world_size), remainder, layout, unit)?;
        if self.layout != Layout::Rotated {
            return Ok(deal);
        }
        Ok(deal.with_rotation(Rotation::new(self.seed, self.epoch)))
    }
}
