use crate::engine::{MOST_MEMORY, Samedeal, cut};
use crate::recipe::{Draft, List};
use crate::{Error, Layout, Remainder, Sampler};

/// The options of a new [`Sampler`]; see [`Sampler::builder`], [`Sampler::sharded`], [`Sampler::from_recipe`] and
/// [`Sampler::to_builder`]. An option that is not set has its default. An option that the order does not use is refused by `build`.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct Builder {
    draft: Draft,
    epoch: u64,
    rank: u32,
    consumed: u64,
    memory_limit: usize,
}

impl Builder {
    pub(crate) fn new(recipe: Option<String>) -> Self {
        Self { draft: Draft::new(recipe), epoch: 0, rank: 0, consumed: 0, memory_limit: MOST_MEMORY }
    }

    pub(crate) fn samples(mut self, samples: u64) -> Self {
        self.draft.set("order", "samples", samples);
        self
    }

    /// The seed of the order; 0 unless set. Range: any; with the order `dotnet`, -2^31 to 2^31 - 1.
    pub fn seed(mut self, seed: i64) -> Self {
        self.draft.set("order", "seed", seed);
        self
    }

    /// The number of the epoch; 0 unless set.
    pub fn epoch(mut self, epoch: u64) -> Self {
        self.epoch = epoch;
        self
    }

    /// The name of the order, one of [`orders`](crate::orders), or `sharded`, which needs the sizes of shards
    /// ([`Sampler::sharded`]); `feistel` unless set.
    pub fn order(mut self, order: impl Into<String>) -> Self {
        self.draft.set("order", "name", cut(order.into()));
        self
    }

    /// With the order `sharded`: the number of samples in each shard.
    pub fn sizes(mut self, sizes: impl Into<Vec<u64>>) -> Self {
        self.draft.list("sizes", sizes);
        self
    }

    /// With the order `sharded`: the number of lanes, which are parallel streams that the dataset is cut into; 64 unless set. Range:
    /// 1 to 4,096. Choose a multiple of every number of readers that may read the dataset.
    pub fn lanes(mut self, lanes: u32) -> Self {
        self.draft.set("order", "lanes", lanes);
        self
    }

    /// With the order `sharded`: how many neighbouring samples of a lane are shuffled together; 256 unless set. Range: 1 to 2^20.
    pub fn shuffle_window(mut self, samples: u32) -> Self {
        self.draft.set("order", "shuffle_window", samples);
        self
    }

    /// Which of the data-parallel readers this is; 0 unless set. Range: 0 to `world_size` - 1.
    pub fn rank(mut self, rank: u32) -> Self {
        self.rank = rank;
        self
    }

    /// How many data-parallel readers there are; 1 unless set. Range: 1 to 2^32 - 1.
    pub fn world_size(mut self, world_size: u32) -> Self {
        self.draft.set("deal", "world_size", world_size);
        self
    }

    /// What happens if the number of ranks does not divide the samples; [`Remainder::Pad`] unless set.
    pub fn remainder(mut self, remainder: Remainder) -> Self {
        self.draft.set("deal", "remainder", remainder.name());
        self
    }

    /// Which positions belong to a rank; [`Layout::Strided`] unless set.
    pub fn layout(mut self, layout: Layout) -> Self {
        self.draft.set("deal", "layout", layout.name());
        self
    }

    /// How many positions of this epoch were dealt before, maybe to another number of ranks. They are the first ones;
    /// the other positions are dealt. Range: 0 to `samples`. Default: 0. [`Sampler::resume`] takes it from a state.
    pub fn consumed(mut self, positions: u64) -> Self {
        self.consumed = positions;
        self
    }

    /// The most memory, in bytes, that the sampler's table and windows may take; 2 GiB unless set, which is also the
    /// most that the component can use. Range: from 32 MiB. Beyond it calls fail with
    /// [`OutOfMemory`](crate::FailureKind::OutOfMemory).
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.memory_limit = bytes;
        self
    }

    /// Lists that come beside a recipe, by their names.
    #[doc(hidden)]
    pub fn lists(mut self, lists: Vec<List>) -> Self {
        self.draft.set_lists(lists);
        self
    }

    /// Makes the sampler: microseconds, but for the first one in a process, which compiles the component. Errors:
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (`rank`, `consumed`, `memory-limit`; `recipe`: more than 2^20 bytes; any
    /// option), [`UnknownName`](crate::FailureKind::UnknownName) (`order`; of a recipe, any member),
    /// [`WrongType`](crate::FailureKind::WrongType) (of a recipe, any member), [`Missing`](crate::FailureKind::Missing) (`order`,
    /// `samples`, `sizes`), [`Contradiction`](crate::FailureKind::Contradiction) (an option that the order does not use; `samples`,
    /// `shards`, `sizes`: not those of the recipe), [`OutOfMemory`](crate::FailureKind::OutOfMemory).
    pub fn build(self) -> Result<Sampler, Error> {
        let Self { draft, epoch, rank, consumed, memory_limit } = self;
        let sampler = draft.make(memory_limit, |exports: &Samedeal, store, recipe, lists| {
            exports.samedeal_deal_sampling().sampler().call_constructor(store, recipe, lists, epoch, rank)
        })?;
        let sampler = Sampler::of(sampler)?;
        if consumed > 0 { sampler.rest(consumed) } else { Ok(sampler) }
    }
}
