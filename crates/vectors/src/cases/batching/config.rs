//! The options of a case, and the recipe that is made of them.

use std::collections::BTreeMap;

use matrix::format::{BatchRecipe, BatchStream, Batcher, S64, Subject, U64};
use serde_json::{Map, Value, json};

use super::super::forms::wide;

#[derive(Clone, Debug)]
pub struct BatchConfig {
    pub lengths: Vec<u32>,
    pub seed: S64,
    pub epoch: U64,
    pub order: String,
    pub world_size: u32,
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
    pub keep_order: bool,
    pub too_long: String,
    pub tail: String,
    pub separate: bool,
    pub pad_to_bucket: bool,
    pub mean_length: Option<u32>,
}

impl BatchConfig {
    /// These options with a window, or with `keep_order`.
    pub fn of_window(self, window: Option<u32>) -> Self {
        Self { window, keep_order: window.is_none(), ..self }
    }
}

/// How the lengths are divided into buckets.
#[derive(Clone, Debug)]
pub enum Buckets {
    BucketWidth(u32),
    Boundaries(Vec<u32>),
    Quantiles(u32),
}

pub fn batcher(config: BatchConfig) -> Subject {
    let recipe = recipe(&config, Some(config.lengths.clone()));
    Subject::Batcher(Batcher { recipe, epoch: config.epoch })
}

pub fn stream(config: &BatchConfig, rank: u32) -> Subject {
    Subject::BatchStream(BatchStream { recipe: recipe(config, None), epoch: config.epoch, rank })
}

/// The recipe of a configuration, with every member that its strategy uses.
pub fn recipe(config: &BatchConfig, lengths: Option<Vec<u32>>) -> BatchRecipe {
    let (strategy, counting) = (&*config.strategy, &*config.counting);
    let has_budget = matches!(strategy, "budget" | "bucket");
    let mut batch = Map::new();
    let mut member = |name: &str, value: Value| batch.insert(name.into(), value);
    member("strategy", strategy.into());
    member("counting", counting.into());
    if counting == "weighted" {
        member("linear", config.linear.into());
        member("quadratic", config.quadratic.into());
    }
    // With a budget, 0 stands for a recipe without the member: there is no limit.
    if config.max_batch_size > 0 || strategy != "budget" && (strategy != "bucket" || config.budget.0 == 0) {
        member("max_batch_size", config.max_batch_size.into());
    }
    if config.max_length < u32::MAX {
        member("max_length", config.max_length.into());
    }
    if strategy == "budget" || has_budget && config.budget.0 > 0 {
        member(if counting == "weighted" { "max_cost" } else { "max_tokens" }, wide(config.budget.0.into()));
    }
    if strategy == "bucket" || strategy == "budget" && counting == "padded" {
        member("batch_size_multiple", config.multiple.into());
    }
    if strategy == "pack" {
        member("capacity", config.capacity.into());
    }
    if strategy == "pack" || strategy == "budget" && counting != "padded" {
        member("packing", config.packing.clone().into());
    }
    match &config.buckets {
        None => None,
        Some(Buckets::BucketWidth(width)) => member("bucket_width", (*width).into()),
        Some(Buckets::Boundaries(ends)) => member("boundaries", ends.clone().into()),
        Some(Buckets::Quantiles(count)) => member("quantiles", (*count).into()),
    };
    if strategy == "bucket" {
        member("separate_buckets", config.separate.into());
        member("pad_to_bucket", config.pad_to_bucket.into());
    }
    if let Some(mean) = config.mean_length {
        member("mean_length", mean.into());
    }
    if let Some(window) = config.window.filter(|_| strategy != "pad-to-max") {
        member("batch_window", window.into());
    }
    if config.keep_order && strategy != "pad-to-max" {
        member("keep_order", true.into());
    }
    member("too_long", config.too_long.clone().into());
    member("tail", config.tail.clone().into());
    let recipe = json!({
        "order": {"name": config.order, "seed": wide(config.seed.0.into())},
        "deal": {"world_size": config.world_size},
        "batch": batch,
    });
    BatchRecipe { recipe: recipe.to_string(), lengths, lists: BTreeMap::new() }
}
