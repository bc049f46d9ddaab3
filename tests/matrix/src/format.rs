//! The format of the golden cases. Names are those of the WIT interface; 64-bit numbers are strings, since JSON
//! readers keep only 53 bits of a number.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

mod batching;
mod client;
mod read;

pub use batching::*;
pub use client::{ClientCall, ClientRun, ClientStep, LedgerClient};
pub use read::{MixingAdvice, ReadBatch, ReadCall, ReadOptions, Reading, RoundRows};

/// One file: the cases of a group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct File {
    pub version: u32,
    pub group: String,
    pub cases: Vec<Case>,
}

/// One object, and what it is asked one after the other.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "read::RawCase")]
pub struct Case {
    pub name: String,
    /// Needs a table of several hundred megabytes, or takes seconds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub slow: bool,
    #[serde(flatten)]
    pub subject: Subject,
    #[serde(flatten)]
    pub body: Body,
}

/// What is asked, and what it is made of.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A sampler, by its constructor.
    Config(Config),
    /// A sampler over shards.
    Sharded {
        config: Config,
        sharding: Sharding,
    },
    /// A sampler, by its recipe.
    Recipe {
        text: String,
        lists: BTreeMap<String, Vec<U64>>,
    },
    Plan(Plan),
    ChunkStream(ChunkStream),
    Ledger(Ledger),
    LedgerClient(LedgerClient),
    Mesh(Mesh),
    Reading(Reading),
    BatchRecipe(BatchRecipe),
    Batcher(Batcher),
    BatchStream(BatchStream),
    /// Nothing: the calls are functions of the interface.
    Functions {},
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// The constructor fails.
    Fails(Failure),
    /// It succeeds, and these calls follow.
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

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Config {
    pub samples: U64,
    pub seed: S64,
    pub epoch: U64,
    pub order: String,
    pub rank: u32,
    pub world: u32,
    pub remainder: String,
    pub layout: String,
    pub consumed: U64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sharding {
    pub sizes: Vec<U64>,
    pub lanes: u32,
    pub window: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Plan {
    pub sizes: Vec<U64>,
    pub bytes: Vec<U64>,
    pub world: u32,
    pub workers: u32,
    pub policy: String,
    pub worker_policy: String,
    pub weight: String,
    pub locality: Option<Locality>,
    pub shuffle: bool,
    pub reshuffle: bool,
    pub seed: S64,
    pub epoch: U64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Locality {
    pub holder_offsets: Vec<u32>,
    pub holders: Vec<u32>,
    pub rank_nodes: Vec<u32>,
    pub tolerance: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChunkStream {
    /// None where their number is not known.
    pub chunks: Option<U64>,
    pub reader: u32,
    pub readers: u32,
    pub order: String,
    pub seed: S64,
    pub epoch: U64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ledger {
    pub header: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mesh {
    pub world: u32,
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
    pub value: String,
    pub allowed: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "call", content = "args", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Call {
    Config,
    Recipe,
    RecipeFingerprint,
    Sharding,
    SetEpoch {
        epoch: U64,
    },
    SetRank {
        rank: u32,
    },
    NumSamples,
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
    PlaceOf {
        position: U64,
        batch_size: u32,
    },
    Fingerprint,
    ConfigFingerprint,
    // Of a sampler by what it has taken, of a batcher by steps.
    State {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        taken: Option<U64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        steps: Option<U64>,
    },
    Resume {
        state: String,
    },
    // Of a sampler over shards.
    NumRounds,
    Round {
        number: U64,
    },
    ShardOf {
        sample: U64,
    },
    // Of a plan, with `SetEpoch` and `ConfigFingerprint`.
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
    Balance {
        tier: String,
        weight: String,
    },
    Imbalance {
        tier: String,
        weight: String,
    },
    Rows {
        shard: u32,
        start: U64,
        count: u32,
    },
    Steps {
        batch_size: u32,
        drop_last: bool,
    },
    // Of a chunk stream.
    Chunks {
        start: U64,
        count: u32,
    },
    // Of a ledger.
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
    // Of a mesh.
    DataWorld,
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
    // Of a recipe of batches, with `Fingerprint`.
    Text,
    // Of a batcher, with `State`, `Resume` and `Fingerprint`. The batcher that this and `Resume` give takes the place of the one that
    // is asked.
    AtEpoch {
        epoch: U64,
    },
    // Of a batch stream too, which has no steps to choose from.
    Metrics,
    Ratio {
        name: String,
    },
    Take {
        #[serde(flatten)]
        steps: Option<Window>,
    },
    // Of a batch stream.
    Push {
        samples: Vec<U64>,
        lengths: Vec<u32>,
    },
    Flush,
    // Functions.
    Pad {
        lengths: Vec<u32>,
        width: u32,
        pad_to_multiple_of: u32,
        side: String,
    },
    Pack {
        lengths: Vec<u32>,
        row_ends: Vec<u32>,
        width: u32,
    },
    Verify {
        shards: u32,
        offsets: Vec<u32>,
        assigned: Vec<u32>,
    },
    VerifyInRuns {
        shards: u32,
        offsets: Vec<u32>,
        assigned: Vec<u32>,
    },
    Header {
        state: String,
        block: u32,
        lease: U64,
    },
    Detect {
        environment: Vec<(String, String)>,
        rank: Option<u32>,
        world: Option<u32>,
    },
    Variables,
    // Of a reading: only a case tells these from others of the same name.
    #[serde(untagged, skip_deserializing)]
    Reading(ReadCall),
    // Of a client of a ledger: likewise.
    #[serde(untagged, skip_deserializing)]
    Client(ClientCall),
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

#[derive(Serialize)]
pub struct Place {
    pub position: U64,
    pub rank: u32,
    pub index: U64,
    pub batch: U64,
    pub slot: u32,
    pub copies: u32,
}

#[derive(Serialize)]
pub struct Round {
    pub start: U64,
    pub count: U64,
    pub spans: Value,
}

#[derive(Serialize)]
pub struct ShardPlace {
    pub shard: u32,
    pub offset: U64,
}

#[derive(Serialize)]
pub struct Balance {
    pub least: U64,
    pub most: U64,
    pub total: U64,
    pub members: u32,
}

#[derive(Serialize)]
pub struct Steps {
    pub least: U64,
    pub most: U64,
}

#[derive(Serialize)]
pub struct Verification {
    pub overlaps: Vec<u32>,
    pub gaps: Vec<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct VerificationInRuns {
    pub overlaps: Vec<u32>,
    pub gap_runs: Vec<u32>,
}

#[derive(Serialize)]
pub struct Event {
    pub number: U64,
    pub kind: String,
    pub reader: u32,
    pub start: U64,
    pub count: u32,
    pub claim: U64,
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
    pub world: u32,
    pub local_rank: Option<u32>,
    pub local_world: Option<u32>,
    pub launcher: String,
    pub used: Vec<String>,
    pub warnings: Vec<String>,
}
