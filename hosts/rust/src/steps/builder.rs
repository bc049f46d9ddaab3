use serde_json::{Value, json};

use super::Schedule;
use crate::engine::{MOST_MEMORY, cut};
use crate::order::OrderOption;
use crate::recipe::{Draft, List, Shared};
use crate::{Error, Layout};

/// The options of a new [`Schedule`]; see [`Schedule::builder`], [`Schedule::from_order`], [`Schedule::from_recipe`] and
/// [`Schedule::to_builder`]. An option that is not set has its default.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct ScheduleBuilder {
    draft: Draft,
    rank: u32,
    memory_limit: usize,
}

impl ScheduleBuilder {
    pub(super) fn new(recipe: Option<String>) -> Self {
        Self { draft: Draft::new(recipe), rank: 0, memory_limit: MOST_MEMORY }
    }

    pub(super) fn samples(mut self, samples: u64) -> Self {
        self.draft.set("order", "samples", samples);
        self
    }

    /// The seed of the order; 0 unless set. Range: any; with the order `dotnet`, -2^31 to 2^31 - 1.
    pub fn seed(mut self, seed: i64) -> Self {
        self.draft.set("order", "seed", seed);
        self
    }

    /// The order of each epoch: an [`Order`](crate::Order), or a name, which is one of [`orders`](crate::orders); `feistel` unless set. An
    /// `Order` replaces all that was set of the order, or that a recipe has: number of samples, seed and lists.
    pub fn order(mut self, order: impl Into<OrderOption>) -> Self {
        match order.into() {
            OrderOption::Name(name) => self.draft.set("order", "name", cut(name)),
            OrderOption::Order(order) => self.draft.order(order),
        }
        self
    }

    /// With the order `sharded`: the number of lanes; see [`Builder::lanes`](crate::Builder::lanes).
    pub fn lanes(mut self, lanes: u32) -> Self {
        self.draft.set("order", "lanes", lanes);
        self
    }

    /// With the order `sharded`: how many neighbouring samples of a lane are shuffled together; see
    /// [`Builder::shuffle_window`](crate::Builder::shuffle_window).
    pub fn shuffle_window(mut self, samples: u32) -> Self {
        self.draft.set("order", "shuffle_window", samples);
        self
    }

    /// A list of which a recipe has only the hash, because it has more than 256 numbers, by its path: see
    /// [`Builder::list`](crate::Builder::list).
    pub fn list(mut self, path: impl AsRef<str>, numbers: impl Into<Vec<u64>>) -> Self {
        self.draft.list(path.as_ref(), numbers);
        self
    }

    /// How many epochs the steps take: the last step ends before or with the last of them, so that no sample is seen more often than so many
    /// epochs have it. Unless set, the steps go on, epoch after epoch. Range: from 1.
    pub fn epochs(mut self, epochs: u64) -> Self {
        self.draft.set("steps", "epochs", epochs);
        self
    }

    /// Which of the data-parallel ranks this is; 0 unless set. Range: 0 to `world_size` - 1.
    pub fn rank(mut self, rank: u32) -> Self {
        self.rank = rank;
        self
    }

    /// How many data-parallel ranks there are; 1 unless set. Range: 1 to 2^32 - 1.
    pub fn world_size(mut self, world_size: u32) -> Self {
        self.draft.set("deal", "world_size", world_size);
        self
    }

    /// Which samples of a step belong to a rank. Unless set: [`Layout::Strided`]; [`Layout::Rotated`] with orders that can have a sample twice
    /// in an epoch.
    pub fn layout(mut self, layout: Layout) -> Self {
        self.draft.set("deal", "layout", layout.name());
        self
    }

    /// How many neighbouring positions always go to the same rank; 1 unless set. See [`Builder::unit`](crate::Builder::unit). Range: 1 to 2^20.
    pub fn unit(mut self, positions: u32) -> Self {
        self.draft.set("deal", "unit", positions);
        self
    }

    /// The global batch size of the first steps: of all ranks together. Range: a multiple of `unit`, 1 to 2^32 - 1. That of the last
    /// [stage](Self::stages) is a multiple of `world_size` * `unit`. Those before need not be: they may be of a past with other ranks, and then
    /// this rank has no samples of the steps before the stage after.
    pub fn batch_size(mut self, samples: u32) -> Self {
        self.draft.set("steps", "batch_size", samples);
        self
    }

    /// Other global batch sizes: each item is a step, and the batch size from this step on. Steps ascend, and are above 0. Up to 2^16.
    pub fn stages(mut self, stages: impl IntoIterator<Item = (u64, u32)>) -> Self {
        let stage = |(from, batch_size): (u64, u32)| json!({ "from": from, "batch_size": batch_size });
        self.draft.set("steps", "stages", stages.into_iter().map(stage).collect::<Value>());
        self
    }

    /// The most memory, in bytes, that the order's table and windows may take; 2 GiB unless set. Range: from 32 MiB.
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

    pub(super) fn share_lists(mut self, lists: Vec<Shared>) -> Self {
        self.draft.share_lists(lists);
        self
    }

    /// Makes the schedule.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (`batch-size`; `stages`: more than 2^16; `from`: not above that of the stage before;
    /// `rank`; `samples`: epoch 0 has no positions; any option), [`Contradiction`](crate::FailureKind::Contradiction) (`batch-size`: no
    /// multiple of `world_size` * `unit`, of a stage that is the last one or comes after such a multiple; `remainder`: a recipe has it; an
    /// option that the order does not use), [`Missing`](crate::FailureKind::Missing) (`steps`, `batch-size`, `from`, and those of a
    /// sampler), [`UnknownName`](crate::FailureKind::UnknownName), [`WrongType`](crate::FailureKind::WrongType) (of a recipe, any member),
    /// [`OutOfMemory`](crate::FailureKind::OutOfMemory).
    pub fn build(self) -> Result<Schedule, Error> {
        let Self { draft, rank, memory_limit } = self;
        let lists = draft.lists().to_vec();
        let schedule = draft.make(memory_limit, |exports, store, recipe, lists| {
            exports.samedeal_deal_steps().schedule().call_constructor(store, recipe, lists, rank)
        })?;
        Schedule::of(schedule, lists.into())
    }
}
