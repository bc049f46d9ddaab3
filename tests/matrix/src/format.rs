//! The format of the golden cases. Names are those of the WIT interface; 64-bit numbers are strings, since JSON
//! readers keep only 53 bits of a number.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// One file: the cases of a group.
#[derive(Debug, Serialize, Deserialize)]
pub struct File {
    pub version: u32,
    pub group: String,
    pub cases: Vec<Case>,
}

/// One sampler, and what it is asked one after the other.
#[derive(Debug, Serialize, Deserialize)]
pub struct Case {
    pub name: String,
    /// Needs a table of several hundred megabytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub slow: bool,
    pub config: Config,
    #[serde(flatten)]
    pub body: Body,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// The constructor fails.
    Fails(Failure),
    /// It succeeds, and these calls follow.
    Calls(Vec<Step>),
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Step {
    #[serde(flatten)]
    pub call: Call,
    #[serde(flatten)]
    pub outcome: Outcome,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
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
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    pub kind: String,
    pub field: String,
    pub value: String,
    pub allowed: String,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(tag = "call", content = "args", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Call {
    Config,
    SetEpoch { epoch: U64 },
    SetRank { rank: u32 },
    NumSamples,
    NumPadding,
    NumPositions,
    NumDropped,
    Indices { start: U64, count: u32 },
    Indices32 { start: U64, count: u32 },
    NumBatches { batch_size: u32, drop_last: bool },
    Batch { batch: U64, batch_size: u32, drop_last: bool },
    Batch32 { batch: U64, batch_size: u32, drop_last: bool },
    SampleAt { position: U64 },
    Locate { sample: U64, batch_size: u32 },
    PlaceOf { position: U64, batch_size: u32 },
    Fingerprint,
    ConfigFingerprint,
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

/// A place in the notation of the format.
#[derive(Serialize)]
pub struct Place {
    pub position: U64,
    pub rank: u32,
    pub index: U64,
    pub batch: U64,
    pub slot: u32,
    pub copies: u32,
}

impl From<Place> for Value {
    fn from(place: Place) -> Self {
        serde_json::to_value(place).expect("a place is plain data")
    }
}
