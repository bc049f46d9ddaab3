use serde_json::{Value, json};

use super::Schedule;
use crate::Error;
use crate::engine::{MOST_MEMORY, Object, steps};
use crate::recipe::Draft;
use crate::setters::setters;

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

    setters!(samples order list rank memory_limit lists share_lists);

    /// Sets changes of the global batch size: each item is a step, and the batch size from this step on. Steps ascend,
    /// and are above 0. At most 2^16 items.
    pub fn stages(mut self, stages: impl IntoIterator<Item = (u64, u32)>) -> Self {
        let stage =
            |(from, global_batch_size): (u64, u32)| json!({ "from": from, "global_batch_size": global_batch_size });
        self.draft.set("steps", "stages", stages.into_iter().map(stage).collect::<Value>());
        self
    }

    /// Makes the schedule.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (`global_batch_size`; `stages`: more than 2^16; `from`: not above `from`
    /// of the stage before; `rank`; `samples`: epoch 0 has no positions; any option),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`global_batch_size`: no multiple of `unit`, or, in the last
    /// stage, no multiple of `world_size` * `unit`; `remainder`: a recipe has it; an option that the order does not
    /// use), [`Missing`](crate::FailureKind::Missing) (`steps`, `global_batch_size`, `from`, and the members of a sampler),
    /// [`UnknownName`](crate::FailureKind::UnknownName), [`UnknownMember`](crate::FailureKind::UnknownMember) and
    /// [`WrongType`](crate::FailureKind::WrongType) (of a recipe, any member),
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
