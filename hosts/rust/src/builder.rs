use crate::{Config, Error, Layout, Remainder, Sampler};

/// The options of a new [`Sampler`]; see [`Sampler::builder`] and [`Sampler::sharded`]. `Builder::from` takes all of
/// them from a [`Config`], such as that of another sampler.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct Builder {
    config: Config,
    memory_limit: usize,
}

impl Builder {
    /// The seed of the order; 0 unless set. Range: any; with the order `dotnet`, -2^31 to 2^31 - 1.
    pub fn seed(mut self, seed: i64) -> Self {
        self.config.seed = seed;
        self
    }

    /// The number of the epoch; 0 unless set.
    pub fn epoch(mut self, epoch: u64) -> Self {
        self.config.epoch = epoch;
        self
    }

    /// The name of the order, one of [`orders`](crate::orders); `feistel` unless set. The order `sharded` takes the
    /// shards and no name: [`Sampler::sharded`] makes it.
    pub fn order(mut self, order: impl Into<String>) -> Self {
        self.config.order = order.into();
        self
    }

    /// Which of the data-parallel readers this is; 0 unless set. Range: 0 to `world` - 1.
    pub fn rank(mut self, rank: u32) -> Self {
        self.config.rank = rank;
        self
    }

    /// How many data-parallel readers there are; 1 unless set. Range: 1 to 2^32 - 1.
    pub fn world(mut self, world: u32) -> Self {
        self.config.world = world;
        self
    }

    /// What happens if the number of ranks does not divide the samples. Default: [`Remainder::Pad`].
    pub fn remainder(mut self, remainder: Remainder) -> Self {
        self.config.remainder = remainder;
        self
    }

    /// Which positions belong to a rank; [`Layout::Strided`] unless set.
    pub fn layout(mut self, layout: Layout) -> Self {
        self.config.layout = layout;
        self
    }

    /// How many positions of this epoch were dealt before, maybe to another number of ranks. They are the first ones;
    /// the other positions are dealt. Range: 0 to `samples`. Default: 0. [`Sampler::resume`] takes it from a state.
    pub fn consumed(mut self, positions: u64) -> Self {
        self.config.consumed = positions;
        self
    }

    /// The most memory, in bytes, that the sampler's table and windows may take; 2 GiB unless set, which is also the
    /// most that the component can use. Range: from 32 MiB. Beyond it calls fail with
    /// [`OutOfMemory`](crate::FailureKind::OutOfMemory).
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Checks the configuration and makes the sampler: microseconds, but for the first one in a process, which compiles
    /// the component. Errors: [`OutOfRange`](crate::FailureKind::OutOfRange) (`samples`, `seed`, `rank`, `world`,
    /// `consumed`, `memory-limit`), [`UnknownName`](crate::FailureKind::UnknownName) (`order`),
    /// [`Missing`](crate::FailureKind::Missing) (`sharding`: the order `sharded`, by its name alone); of
    /// [`Sampler::sharded`] also out of range (`sizes`, `lanes`, `window`),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`samples`, `order`), out of memory.
    pub fn build(self) -> Result<Sampler, Error> {
        Sampler::build(self.config, self.memory_limit)
    }
}

/// The deal of a configuration. The memory limit, which decides nothing, is no part of it: 2 GiB unless set.
impl From<Config> for Builder {
    fn from(config: Config) -> Self {
        Self { config, memory_limit: 2 << 30 }
    }
}
