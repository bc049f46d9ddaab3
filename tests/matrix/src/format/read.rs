//! Readings in the notation of the golden cases.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::U64;

/// The calls of a reading. Calls of other objects have most of these names too, with other arguments.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "call", content = "args", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum ReadCall {
    // The reading that these two calls return replaces the reading of the case.
    AtEpoch { epoch: U64 },
    Resume { state: String },
    State { steps: U64 },
    Recipe,
    RecipeFingerprint,
    Seed,
    WorldSize,
    Workers,
    BatchSize,
    Sizes,
    ReadsPerRow,
    LanesReadOnce,
    MixingAdvice,
    SuggestedLanes { group_rows: U64, readers: u32, multiples: Vec<U64> },
    Epoch,
    IsRest,
    NumSteps { rank: u32 },
    StepBounds,
    NumIdleReaders,
    NumSamples { rank: u32, worker: u32 },
    NumPadding { rank: u32, worker: u32 },
    NumBatches { rank: u32, worker: u32 },
    Batch { rank: u32, worker: u32, number: U64 },
    BatchAt { rank: u32, step: U64 },
    Step { step: U64, first: u32, count: u32 },
    Indices { rank: u32, worker: u32, start: U64, count: u32 },
    NumRounds { rank: u32, worker: u32 },
    Round { rank: u32, worker: u32, number: U64 },
    RoundRows { rank: u32, worker: u32, number: U64, start: U64, count: u32 },
    RoundOf { rank: u32, worker: u32, index: U64 },
    Shards { rank: u32, worker: u32 },
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ReadBatch {
    pub worker: u32,
    pub number: U64,
    pub step: U64,
    pub start: U64,
    pub count: u32,
    pub num_padding: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct RoundRows {
    pub rows: Value,
    pub num_padding: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct MixingAdvice {
    pub lanes_per_reader: u32,
    pub variance_ratio: u32,
    pub lanes: u32,
    pub shuffle_window: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct SuggestedLanes {
    pub lanes: u32,
    pub shuffle_window: u32,
    pub variance_ratio: u32,
}

/// A case, before it is known to which object its calls belong.
#[derive(Deserialize)]
pub(super) struct RawCase {
    pub(super) name: String,
    #[serde(default)]
    pub(super) slow: bool,
    #[serde(flatten)]
    pub(super) subject: super::Subject,
    #[serde(flatten)]
    pub(super) body: RawBody,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RawBody {
    Fails(super::Failure),
    Calls(Vec<Value>),
}

/// A step whose call belongs to an object with calls of its own.
#[derive(Deserialize)]
struct OwnStep<C> {
    #[serde(flatten)]
    call: C,
    #[serde(flatten)]
    outcome: super::Outcome,
}

fn own<C: DeserializeOwned>(
    step: Value,
    call: impl FnOnce(C) -> super::Call,
) -> Result<super::Step, serde_json::Error> {
    let OwnStep { call: own, outcome } = serde_json::from_value(step)?;
    Ok(super::Step { call: call(own), outcome })
}

impl TryFrom<RawCase> for super::Case {
    type Error = serde_json::Error;

    fn try_from(RawCase { name, slow, subject, body }: RawCase) -> Result<Self, Self::Error> {
        let step = |step| match subject {
            super::Subject::Reading(_) => own(step, super::Call::Reading),
            super::Subject::LedgerClient(_) => own(step, super::Call::Client),
            super::Subject::Split(_) => own(step, super::Call::Split),
            super::Subject::Schedule(_) => own(step, super::Call::Schedule),
            _ => serde_json::from_value(step),
        };
        let body = match body {
            RawBody::Fails(failure) => super::Body::Fails(failure),
            RawBody::Calls(steps) => super::Body::Calls(steps.into_iter().map(step).collect::<Result<_, _>>()?),
        };
        Ok(Self { name, slow, subject, body })
    }
}
