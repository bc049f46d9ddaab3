//! Batches and collation in the notation of the golden cases.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{U64, repeated};

/// A recipe of batches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BatchRecipe {
    pub recipe: String,
    /// The lengths; None for a stream, or if the text has them.
    #[serde(with = "repeated::option")]
    pub lengths: Option<Vec<u32>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lists: BTreeMap<String, Vec<U64>>,
}

/// The batches of an epoch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Batcher {
    #[serde(flatten)]
    pub recipe: BatchRecipe,
    pub epoch: U64,
}

/// The batches of one rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BatchStream {
    #[serde(flatten)]
    pub recipe: BatchRecipe,
    pub epoch: U64,
    pub rank: u32,
}

/// A range of steps of a rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    pub rank: u32,
    pub start: U64,
    pub count: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct BatchPlace {
    pub step: U64,
    pub rank: u32,
    pub row: u32,
    pub index_in_row: u32,
    pub start: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct BatchColumns {
    pub samples: Value,
    pub starts: Vec<u32>,
    pub lengths: Vec<u32>,
    pub row_ends: Vec<u32>,
    pub batch_ends: Vec<u32>,
    pub padded_lengths: Vec<u32>,
    pub costs: Value,
    pub repeated: Vec<u32>,
    pub full_rows: Vec<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct BatchShape {
    pub rows: u32,
    pub padded_length: u32,
    pub batches: U64,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Padded {
    pub width: u32,
    pub token_indices: Vec<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Packed {
    pub token_indices: Vec<u32>,
    pub position_ids: Vec<u32>,
    pub segment_ids: Vec<u32>,
    pub cu_seqlens: Vec<u32>,
    pub max_seqlen: u32,
}
