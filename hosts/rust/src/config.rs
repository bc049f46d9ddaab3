use crate::Sharding;
use crate::engine::{sampling, types};
use crate::named::named;

/// What happens if `world` does not divide the number of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Remainder {
    /// Every rank gets floor(samples / world); the last (samples mod world) positions are not dealt.
    Drop,
    /// Every rank gets ceil(samples / world); the missing ones repeat the order from its beginning. The default.
    #[default]
    Pad,
    /// Every sample is dealt exactly once; ranks may differ by one sample, and so by one batch.
    Uneven,
}

/// Which positions belong to a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Rank r takes the positions r, r + world, r + 2 world, ... The default.
    #[default]
    Strided,
    /// Each rank takes one run of neighbouring positions, in the order of the ranks.
    Contiguous,
}

named!(Remainder in types, "remainder", { Drop = "drop", Pad = "pad", Uneven = "uneven" });
named!(Layout in types, "layout", { Strided = "strided", Contiguous = "contiguous" });

/// Everything that decides a deal. The same configuration gives the same numbers, in every language and version.
/// [`Sampler::config`](crate::Sampler::config) returns it; [`Builder::from`](crate::Builder) makes a sampler from it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Config {
    /// Number of samples in the dataset. Range: 0 to 2^53 - 1; some orders take fewer.
    pub samples: u64,
    /// Seed of the order. Range: any; with the order `dotnet`, -2^31 to 2^31 - 1.
    pub seed: i64,
    /// Number of the epoch. Range: any. A new epoch is a new order.
    pub epoch: u64,
    /// Name of the order, one of [`orders`](crate::orders), or `sharded`.
    pub order: String,
    /// Which of the data-parallel readers this is. Range: 0 to `world` - 1.
    pub rank: u32,
    /// How many data-parallel readers there are. Range: 1 to 2^32 - 1.
    pub world: u32,
    /// What happens if `world` does not divide `samples`.
    pub remainder: Remainder,
    /// Which positions belong to a rank.
    pub layout: Layout,
    /// How many positions were dealt before, maybe to another number of ranks. They are the first ones of the epoch;
    /// the other positions are dealt. Range: 0 to `samples`.
    pub consumed: u64,
    /// The shards, with the order `sharded`, and only with it.
    pub sharding: Option<Sharding>,
}

impl Config {
    pub(crate) fn new(samples: u64) -> Self {
        Self {
            samples,
            seed: 0,
            epoch: 0,
            order: "feistel".to_owned(),
            rank: 0,
            world: 1,
            remainder: Remainder::default(),
            layout: Layout::default(),
            consumed: 0,
            sharding: None,
        }
    }

    /// What the component says of a sampler, with the sharding that it was given.
    pub(crate) fn of(config: sampling::Config, sharding: Option<Sharding>) -> Self {
        let sampling::Config { samples, seed, epoch, order, rank, world, remainder, layout, consumed } = config;
        let (remainder, layout) = (remainder.into(), layout.into());
        Self { samples, seed, epoch, order, rank, world, remainder, layout, consumed, sharding }
    }
}

impl From<Config> for sampling::Config {
    fn from(config: Config) -> Self {
        let Config { samples, seed, epoch, order, rank, world, remainder, layout, consumed, sharding: _ } = config;
        let (remainder, layout) = (remainder.into(), layout.into());
        Self { samples, seed, epoch, order, rank, world, remainder, layout, consumed }
    }
}

/// When and where a sample is seen in the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Place {
    /// The global position.
    pub position: u64,
    /// The rank that it is dealt to.
    pub rank: u32,
    /// 0-based number within that rank's samples.
    pub index: u64,
    /// 0-based number of that rank's batch: index / batch size.
    pub batch: u64,
    /// 0-based place in that batch: index mod batch size.
    pub slot: u32,
    /// How many times the sample is dealt again as padding, the k-th time (k from 1) at `position` + k * samples.
    pub copies: u32,
}

impl From<sampling::Place> for Place {
    fn from(place: sampling::Place) -> Self {
        let sampling::Place { position, rank, index, batch, slot, copies } = place;
        Self { position, rank, index, batch, slot, copies }
    }
}
