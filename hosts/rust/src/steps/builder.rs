use serde_json::{Value, json};

use super::Schedule;
use crate::Error;
use crate::engine::{MOST_MEMORY, Object, cut, steps};
use crate::order::OrderOption;
use crate::recipe::{Draft, List, Shared};

/// The options of a new [`Schedule`]; see [`Schedule::builder`], [`Schedule::from_order`], [`Schedule::from_recipe`] and
/// [`Schedule::to_builder`]. An option that is not set has its default.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct ScheduleBuilder {
    pub(crate) draft: Draft,
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

    /// The order of each epoch: an [`Order`](crate::Order), or a name, which is one of [`orders`](crate::orders); `feistel` unless set. An
    /// `Order` replaces all that was set of the order, or that a recipe has: number of samples, seed and lists.
    pub fn order(mut self, order: impl Into<OrderOption>) -> Self {
        match order.into() {
            OrderOption::Name(name) => self.draft.set("order", "name", cut(name)),
            OrderOption::Order(order) => self.draft.order(order),
        }
        self
    }

    /// A list of which a recipe has only the hash, because it has more than 256 numbers, by its path: see
    /// [`Builder::list`](crate::Builder::list).
    pub fn list(mut self, path: impl AsRef<str>, numbers: impl Into<Vec<u64>>) -> Self {
        self.draft.list(path.as_ref(), numbers);
        self
    }

    /// Which of the data-parallel ranks this is; 0 unless set. Range: 0 to `world_size` - 1.
    pub fn rank(mut self, rank: u32) -> Self {
        self.rank = rank;
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
        let schedule = draft.make(memory_limit, |instance, recipe, lists| {
            Object::<steps::Schedule>::new(instance, recipe, lists, rank)
        })?;
        Schedule::of(schedule, lists.into())
    }
}
