use crate::engine::{MOST_MEMORY, Object, readings};
use crate::named::names;
use crate::recipe::Draft;
use crate::setters::setters;
use crate::{Error, Reading};

/// The two ways to deal a dataset to readers: single samples, or whole shards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Deal {
    /// Single samples of one order over the whole dataset. The default.
    #[default]
    Samples,
    /// Whole shards.
    Shards,
}
names!(Deal, "deal", { Samples = "samples", Shards = "shards" });

/// The options of a new [`Reading`]; see [`Reading::builder`] and [`Reading::from_recipe`]. An option that is not set has its default.
/// If an option is set that the deal does not use, [`build`](Self::build) fails.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct ReadingBuilder {
    pub(crate) draft: Draft,
    deal: Deal,
    seed: Option<i64>,
    shuffle: Option<bool>,
    epoch: u64,
    memory_limit: usize,
}

impl ReadingBuilder {
    pub(super) fn new(recipe: Option<String>) -> Self {
        let draft = Draft::new(recipe);
        let deal = if draft.has("shards") { Deal::Shards } else { Deal::Samples };
        Self { draft, deal, seed: None, shuffle: None, epoch: 0, memory_limit: MOST_MEMORY }
    }

    setters!(memory_limit epoch lists);

    /// The number of samples in each shard: at most 2^32 - 2 shards, and 2^53 - 1 samples in all of them together.
    pub fn sizes(mut self, sizes: impl Into<Vec<u64>>) -> Self {
        self.draft.list("sizes", sizes);
        self
    }

    /// Seed of all shuffles, 64-bit. Default: 0.
    pub fn seed(mut self, seed: i64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets whether readers are dealt samples or whole shards. Default: [`Deal::Samples`].
    pub fn deal(mut self, deal: Deal) -> Self {
        self.deal = deal;
        self
    }

    /// Whether the epoch is shuffled. Default: true. With [`Deal::Samples`], the order is `sharded` if true; otherwise
    /// samples come in storage order. With [`Deal::Shards`], the list of shards is shuffled before it is dealt to the
    /// ranks if true.
    pub fn shuffle(mut self, shuffle: bool) -> Self {
        self.shuffle = Some(shuffle);
        self
    }

    /// Makes the reading of a whole epoch. Costs O(shards) with [`Deal::Samples`]. With [`Deal::Shards`], the plan of the
    /// epoch is made: a sort of the shards, O(shards log shards), unless both policies are round-robin. A million shards
    /// take less than a second. The first object compiles the component, in about 0.4 s (in a debug build, in seconds),
    /// unless the cache has its machine code.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (`memory_limit`; `recipe`: more than 2^24 bytes; `samples` if the
    /// samples and the padding are more than 2^53 - 1; any option), [`Missing`](crate::FailureKind::Missing) (`sizes`,
    /// `bytes`), [`Contradiction`](crate::FailureKind::Contradiction) (any option that the deal does not use; a list
    /// that does not fit the others or the recipe), of a recipe [`UnknownName`](crate::FailureKind::UnknownName),
    /// [`UnknownMember`](crate::FailureKind::UnknownMember) and [`WrongType`](crate::FailureKind::WrongType) (any
    /// member), [`OutOfMemory`](crate::FailureKind::OutOfMemory).
    pub fn build(self) -> Result<Reading, Error> {
        let Self { mut draft, deal, seed, shuffle, epoch, memory_limit } = self;
        let section = match deal {
            Deal::Samples => "order",
            Deal::Shards => "shards",
        };
        // A recipe has no member for the deal. The name of the order means samples, and a section `shards` means whole
        // shards, so one of them is written in a new recipe.
        match (deal, shuffle) {
            (Deal::Samples, Some(false)) => draft.set(section, "name", "sequential"),
            (Deal::Samples, Some(true)) => draft.set(section, "name", "sharded"),
            (Deal::Samples, None) if draft.is_new() => draft.set(section, "name", "sharded"),
            (Deal::Shards, Some(shuffle)) => draft.set(section, "shuffle", shuffle),
            (Deal::Shards, None) if draft.is_new() => draft.write(section),
            _ => {}
        }
        if let Some(seed) = seed {
            draft.set(section, "seed", seed);
        }
        Reading::of(draft.make(memory_limit, |instance, recipe, lists| {
            Object::<readings::Reading>::new(instance, recipe, lists, epoch)
        })?)
    }
}
