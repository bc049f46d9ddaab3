//! Schedules in the notation of the golden cases.

use serde::{Deserialize, Serialize};

use super::{Lists, U64};

/// A schedule, by its recipe, for one rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Schedule {
    pub recipe: String,
    #[serde(default, skip_serializing_if = "Lists::is_empty")]
    pub lists: Lists,
    pub rank: u32,
}

/// The calls of a schedule. Calls of other objects have most of these names too, with other arguments.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "call", content = "args", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum ScheduleCall {
    // The schedule that this call returns replaces the schedule of the case.
    AtRank { rank: u32 },
    Recipe,
    RecipeFingerprint,
    Rank,
    WorldSize,
    DatasetSize,
    Seed,
    Order,
    Layout,
    Unit,
    NumSteps,
    GlobalBatchSize { step: U64 },
    SamplesConsumed { step: U64 },
    BeginOf { step: U64 },
    StepOfConsumed { samples_consumed: U64 },
    StepOf { epoch: U64, position: U64 },
    Indices { start: U64, count: u32 },
    Step { step: U64, first: u32, count: u32 },
    Locate { sample: U64, step: U64 },
    State { step: U64 },
    StepOfState { state: String },
}

#[derive(Serialize)]
pub struct EpochPosition {
    pub epoch: U64,
    pub position: U64,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct StepPlace {
    pub samples_consumed: U64,
    pub epoch: U64,
    pub position: U64,
    pub step: U64,
    pub rank: u32,
    pub index_in_batch: u32,
}
