//! Splits in the notation of the golden cases.

use serde::{Deserialize, Serialize};

use super::{U64, repeated};

/// A split, by its recipe.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Split {
    pub recipe: String,
}

/// The calls of a split.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "call", content = "args", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum SplitCall {
    Recipe,
    RecipeFingerprint,
    Parts,
    PartOf {
        #[serde(with = "repeated")]
        ids: Vec<U64>,
    },
    PartOfRun {
        start: U64,
        count: u32,
    },
    PartOfKeys {
        #[serde(with = "repeated")]
        keys: Vec<String>,
    },
    Members {
        part: u32,
        start: U64,
        count: u32,
    },
    /// The recipe that `exact-sizes` finds for these ids.
    AmongIds {
        #[serde(with = "repeated")]
        ids: Vec<U64>,
        rest: String,
    },
    /// The recipe that `exact-sizes` finds for these texts.
    AmongKeys {
        #[serde(with = "repeated")]
        keys: Vec<String>,
        rest: String,
    },
}
