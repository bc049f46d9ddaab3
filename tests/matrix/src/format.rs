//! The format of the golden cases. Names are those of the WIT interface. 64-bit numbers are strings, because many JSON
//! readers keep only 53 bits of a number.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

mod batching;
mod client;
mod read;
mod repeated;
mod schedule;
mod split;

pub use batching::*;
pub use client::{ClaimedRun, ClientCall, Instruction, LedgerClient};
pub use read::{MixingAdvice, ReadBatch, ReadCall, RoundRows, SuggestedLanes};
pub use schedule::{EpochPosition, Schedule, ScheduleCall, StepPlace};
pub use split::{Split, SplitCall};

/// One file: the cases of a group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct File {
    pub version: u32,
    pub group: String,
    pub cases: Vec<Case>,
}

/// One object, and the calls that are made on it one after the other.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "read::RawCase")]
pub struct Case {
    pub name: String,
    /// Whether the case needs a table of several hundred megabytes, or takes seconds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub slow: bool,
    #[serde(flatten)]
    pub subject: Subject,
    #[serde(flatten)]
    pub body: Body,
}

/// The object of a case, by its kind and the arguments of its constructor.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    Sampler(Sampler),
    Plan(Made),
    ChunkStream(ChunkStream),
    Ledger(Ledger),
    LedgerClient(LedgerClient),
    Mesh(Mesh),
    Reading(Made),
    BatchRecipe(BatchRecipe),
    Batcher(Batcher),
    BatchStream(BatchStream),
    Split(Split),
    Schedule(Schedule),
    /// No object: the calls are functions of the interface.
    Functions {},
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// The failure of the constructor.
    Fails(Failure),
    /// The calls after the constructor succeeded.
    Calls(Vec<Step>),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    #[serde(flatten)]
    pub call: Call,
    #[serde(flatten)]
    pub outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Returns(Value),
    Fails(Failure),
}

/// Lists that a recipe has only as a hash, or not at all.
pub type Lists = BTreeMap<String, Vec<U64>>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sampler {
    #[serde(flatten)]
    pub made: Made,
    pub rank: u32,
}

/// A recipe with its lists, in an epoch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Made {
    pub recipe: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lists: Lists,
    pub epoch: U64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChunkStream {
    pub recipe: String,
    pub epoch: U64,
    pub reader: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ledger {
    pub header: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Mesh {
    pub world_size: u32,
    pub axes: Vec<Axis>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Axis {
    pub name: String,
    pub size: u32,
    pub role: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    pub kind: String,
    pub field: String,
    /// The path of the wrong value; left out if it equals the field.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    pub value: String,
    pub allowed: String,
    /// The allowed values for programs, by names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<(String, String)>,
}

impl Failure {
    /// A failure of any host.
    pub fn new(
        kind: &str,
        [field, path]: [&str; 2],
        [value, allowed]: [String; 2],
        facts: Vec<(String, String)>,
    ) -> Self {
        let path = if path == field { String::new() } else { path.into() };
        Self { kind: kind.into(), field: field.into(), path, value, allowed, facts }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "call", content = "args", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Call {
    // Calls of a sampler. The first four return another object, which replaces the sampler.
    AtEpoch {
        epoch: U64,
    },
    AtRank {
        rank: u32,
    },
    Rest {
        consumed: U64,
    },
    Resume {
        state: String,
    },
    Recipe,
    RecipeFingerprint,
    Epoch,
    Rank,
    Consumed,
    DatasetSize,
    Seed,
    Order,
    WorldSize,
    Remainder,
    Layout,
    Unit,
    Sizes,
    Lanes,
    ShuffleWindow,
    NumSamples,
    MaxNumSamples,
    NumPadding,
    NumPositions,
    NumDropped,
    Indices {
        start: U64,
        count: u32,
    },
    Indices32 {
        start: U64,
        count: u32,
    },
    ShortEpochs {
        epoch: U64,
        count: u32,
        most: u32,
    },
    NumBatches {
        batch_size: u32,
        drop_last: bool,
    },
    Batch {
        batch: U64,
        batch_size: u32,
        drop_last: bool,
    },
    Batch32 {
        batch: U64,
        batch_size: u32,
        drop_last: bool,
    },
    SampleAt {
        position: U64,
    },
    Locate {
        sample: U64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        batch_size: Option<u32>,
    },
    LocateAll {
        samples: Vec<U64>,
        batch_size: u32,
    },
    LocateFrom {
        sample: U64,
        position: U64,
        batch_size: u32,
    },
    PlaceOf {
        position: U64,
        batch_size: u32,
    },
    // Calls of a sampler or of a batcher.
    Step(AllRanks),
    Fate {
        sample: U64,
        batch_size: u32,
        taken: U64,
    },
    EpochLength,
    // Calls of a sampler with a blend.
    Sources,
    SourceCounts {
        start: U64,
        count: U64,
    },
    SourceBounds,
    SourceOf {
        sample: U64,
    },
    Fingerprint,
    ConfigFingerprint,
    // Calls of a sampler (with `taken`) or of a batcher (with `steps`).
    State {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        taken: Option<U64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        steps: Option<U64>,
    },
    // Calls of a sampler over shards.
    NumRounds,
    Round {
        number: U64,
    },
    ShardOf {
        sample: U64,
    },
    // Calls of a plan, besides `AtEpoch`, `Recipe` and others of a sampler.
    Workers,
    Bytes,
    NumShards {
        rank: u32,
        worker: u32,
    },
    Shards {
        rank: u32,
        worker: u32,
        start: u32,
        count: u32,
    },
    Loads {
        tier: String,
        start: u32,
        count: u32,
    },
    LoadSummary {
        tier: String,
        balance_by: String,
    },
    Imbalance {
        tier: String,
        balance_by: String,
    },
    Rows {
        shard: u32,
        start: U64,
        count: u32,
    },
    StepBounds {
        batch_size: u32,
        drop_last: bool,
    },
    // Calls of a chunk stream.
    Chunks {
        start: U64,
        count: u32,
    },
    // Calls of a ledger.
    Apply {
        entry: String,
    },
    Replay {
        entries: Vec<String>,
        reader: u32,
        readers: u32,
    },
    Progress,
    InitialState,
    // Calls of a mesh.
    DataWorldSize,
    DataRank {
        rank: u32,
    },
    Coordinates {
        rank: u32,
    },
    RankAt {
        coordinates: Vec<u32>,
    },
    Peers {
        rank: u32,
    },
    // Calls of a batcher, besides `AtEpoch`, `State`, `Resume` and `Fingerprint`. A batch stream has them too, but
    // cannot choose steps.
    Metrics,
    Ratio {
        name: String,
    },
    Take {
        #[serde(flatten)]
        steps: Option<Window>,
    },
    // Calls of a batcher.
    Replan {
        state: String,
    },
    NumWindows,
    NumSteps,
    Index {
        first: U64,
        count: U64,
    },
    UseIndex {
        index: String,
    },
    Shapes {
        filled: bool,
    },
    // Calls of a batch stream.
    Push {
        samples: Vec<U64>,
        lengths: Vec<u32>,
    },
    Flush,
    // Functions of the interface.
    JoinIndices {
        parts: Vec<String>,
    },
    Pad {
        lengths: Vec<u32>,
        width: Option<u32>,
        pad_to_multiple_of: u32,
        side: String,
    },
    Pack {
        lengths: Vec<u32>,
        row_ends: Vec<u32>,
        width: u32,
    },
    Verify {
        num_shards: u32,
        offsets: Vec<u32>,
        assigned: Vec<u32>,
    },
    Header {
        state: String,
        block_size: u32,
        lease_ms: U64,
    },
    Detect {
        environment: Vec<(String, String)>,
        rank: Option<u32>,
        world_size: Option<u32>,
    },
    Variables,
    Inspect {
        text: String,
    },
    RecipeAfter {
        state: String,
        sections: String,
    },
    Differences {
        one: String,
        other: String,
    },
    WholeWeights {
        bits: Vec<U64>,
    },
    // Calls of a reading. Other objects have calls of the same names, so the kind of the case decides how a call is
    // read.
    #[serde(untagged, skip_deserializing)]
    Reading(ReadCall),
    // Calls of a client of a ledger, of a split, and of a schedule. The kind of the case decides about these, too.
    #[serde(untagged, skip_deserializing)]
    Client(ClientCall),
    #[serde(untagged, skip_deserializing)]
    Split(SplitCall),
    #[serde(untagged, skip_deserializing)]
    Schedule(ScheduleCall),
}

/// The arguments of a step of some ranks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged, rename_all_fields = "kebab-case")]
pub enum AllRanks {
    Sampler { step: U64, batch_size: u32, drop_last: bool, first: u32, count: u32 },
    Batcher { step: U64, first: u32, count: u32 },
}

/// A `u64` as a decimal string.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct U64(pub u64);

/// An `s64` as a decimal string.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct S64(pub i64);

macro_rules! as_string {
    ($type:ident) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map(Self).map_err(serde::de::Error::custom)
            }
        }
    };
}
as_string!(U64);
as_string!(S64);

/// A list of 64-bit numbers in the notation of the format.
pub fn strings(values: &[u64]) -> Value {
    values.iter().map(u64::to_string).collect()
}

/// A result that is a record, in the notation of the format.
pub fn record(record: impl Serialize) -> Value {
    serde_json::to_value(record).expect("a result is plain data")
}

/// The kind of a text.
#[derive(Serialize)]
pub struct TextKind {
    pub form: String,
    pub of: String,
}

/// A member that differs between two texts.
#[derive(Serialize)]
pub struct Difference {
    pub path: String,
    pub one: Option<String>,
    pub other: Option<String>,
    pub decides: String,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Place {
    pub position: U64,
    pub rank: u32,
    pub index_in_rank: U64,
    pub batch: U64,
    pub index_in_batch: u32,
    pub num_padding: u32,
}

/// The record `Place` of the core or of the crate as a [`Place`] of this format. The records have the same fields.
#[macro_export]
macro_rules! shared_place {
    ($place:expr) => {{
        let place = $place;
        $crate::format::Place {
            position: $crate::format::U64(place.position),
            rank: place.rank,
            index_in_rank: $crate::format::U64(place.index_in_rank),
            batch: $crate::format::U64(place.batch),
            index_in_batch: place.index_in_batch,
            num_padding: place.num_padding,
        }
    }};
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ShortEpochs {
    pub num_samples: Vec<U64>,
    pub indices: Vec<U64>,
}

#[derive(Serialize)]
pub struct RankBatches {
    pub samples: Vec<U64>,
    pub counts: Vec<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Fate {
    pub status: String,
    pub before: Vec<U64>,
    pub places: Vec<Place>,
    pub num_seen: u32,
    pub num_padding: u32,
    pub complete: bool,
}

#[derive(Serialize)]
pub struct Round {
    pub start: U64,
    pub count: U64,
    pub spans: Spans,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Spans {
    pub lane: Vec<u32>,
    pub shard: Vec<u32>,
    pub first_row: Value,
    pub num_rows: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct SourcePlace {
    pub source: u32,
    pub index: U64,
}

#[derive(Serialize)]
pub struct ShardPlace {
    pub shard: u32,
    pub row: U64,
}

#[derive(Serialize)]
pub struct LoadSummary {
    pub min: U64,
    pub max: U64,
    pub total: U64,
    pub members: u32,
}

#[derive(Serialize)]
pub struct StepBounds {
    pub min: U64,
    pub max: U64,
}

#[derive(Serialize)]
pub struct Verification {
    pub overlaps: Overlaps,
    pub gaps: ShardRuns,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Overlaps {
    pub shard: Vec<u32>,
    pub first_reader: Vec<u32>,
    pub other_reader: Vec<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ShardRuns {
    pub first_shard: Vec<u32>,
    pub num_shards: Vec<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Event {
    pub number: U64,
    pub kind: String,
    pub reader: u32,
    pub start: U64,
    pub count: u32,
    pub claim: U64,
    pub taken_from: Option<U64>,
}

#[derive(Serialize)]
pub struct CommittedRun {
    pub number: U64,
    pub reader: u32,
    pub start: U64,
    pub count: u32,
    pub claim: U64,
}

#[derive(Serialize)]
pub struct Progress {
    pub positions: U64,
    pub committed: U64,
    pub claimed: U64,
    pub entries: U64,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Detection {
    pub rank: u32,
    pub world_size: u32,
    pub local_rank: Option<u32>,
    pub local_world_size: Option<u32>,
    pub launcher: String,
    pub used: Vec<String>,
    pub warnings: Vec<String>,
}
