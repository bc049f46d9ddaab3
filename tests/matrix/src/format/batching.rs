//! Batches and collation in the notation of the golden cases.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{S64, U64};

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct BatchConfig {
    pub lengths: Vec<u32>,
    pub seed: S64,
    pub epoch: U64,
    pub order: String,
    pub world: u32,
    pub strategy: String,
    pub max_batch_size: u32,
    pub max_length: u32,
    pub budget: U64,
    pub counting: String,
    pub linear: u32,
    pub quadratic: u32,
    pub multiple: u32,
    pub capacity: u32,
    pub packing: String,
    pub buckets: Option<Buckets>,
    pub window: Option<u32>,
    pub too_long: String,
    pub tail: String,
    pub history: Vec<Stretch>,
}

/// Steps that a world took.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stretch {
    pub world: u32,
    pub steps: U64,
}

/// Which lengths are a bucket.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Buckets {
    BucketWidth(u32),
    Boundaries(Vec<u32>),
    Quantiles(u32),
}

/// Which steps of which rank are taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    pub rank: u32,
    pub start: U64,
    pub count: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Metrics {
    pub steps: U64,
    pub items: U64,
    pub rows: U64,
    pub tokens: U64,
    pub padded: U64,
    pub slowest: U64,
    pub cost: U64,
    pub slowest_cost: U64,
    pub packs_bound: U64,
    pub over_budget: U64,
    pub empty: U64,
    pub repeated: U64,
    pub dropped: U64,
    pub truncated: U64,
    pub too_long: U64,
    pub split: U64,
}

#[derive(Serialize)]
pub struct BatchPlace {
    pub step: U64,
    pub rank: u32,
    pub row: u32,
    pub slot: u32,
    pub start: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Run {
    pub samples: Value,
    pub starts: Vec<u32>,
    pub lengths: Vec<u32>,
    pub row_ends: Vec<u32>,
    pub batch_ends: Vec<u32>,
    pub padded_lengths: Vec<u32>,
    pub costs: Value,
    pub repeated: Vec<u32>,
}

#[derive(Serialize)]
pub struct Padded {
    pub width: u32,
    pub sources: Vec<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Packed {
    pub sources: Vec<u32>,
    pub position_ids: Vec<u32>,
    pub segment_ids: Vec<u32>,
    pub cu_seqlens: Vec<u32>,
    pub max_seqlen: u32,
}
