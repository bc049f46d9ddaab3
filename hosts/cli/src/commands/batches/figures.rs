//! The metrics of batches as the command shows them.

use std::borrow::Cow;

use samedeal::{Batcher, Metrics};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::write::{Problem, Recipe, counted, percent};

/// The recipe of the batches.
pub fn recipe(batcher: &Batcher) -> Result<Recipe, Problem> {
    Ok(Recipe::of(&batcher.recipe()?))
}

/// The metrics, with the ratios that follow from them.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Figures(Map<String, Value>);

impl Figures {
    pub fn of(metrics: &Metrics) -> Self {
        let ratios = [
            ("padding_ratio", metrics.padding_ratio()),
            ("budget_utilization", metrics.budget_utilization()),
            ("slowest_rank_utilization", metrics.slowest_rank_utilization()),
            ("cost_imbalance", metrics.cost_imbalance()),
        ];
        let numbers = metrics.named().map(|(name, number)| (name.replace('-', "_"), Value::from(number)));
        Self(numbers.chain(ratios.map(|(name, ratio)| (name.to_owned(), ratio.into()))).collect())
    }
}

/// Members have the names of the metrics in the library.
impl JsonSchema for Figures {
    fn schema_name() -> Cow<'static, str> {
        "Metrics".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let members = Self::of(&Metrics::default()).0;
        let kind = |value: &Value| {
            if value.is_u64() { json!({ "type": "integer", "minimum": 0 }) } else { json!({ "type": "number" }) }
        };
        let properties = members.iter().map(|(name, value)| (name.clone(), kind(value))).collect::<Map<_, _>>();
        let required = members.keys().collect::<Vec<_>>();
        json_schema!({
            "description": "What the batches of all ranks add up to, in tokens unless the name says otherwise, and the ratios of it.",
            "type": "object",
            "properties": properties,
            "required": required,
        })
    }
}

/// The ratios in words. `is_limited`: whether a batch has a budget, so that its use is a ratio.
pub fn ratios(metrics: &Metrics, is_limited: bool) -> String {
    let mut parts = vec![format!("padding {}", percent(metrics.padding_ratio()))];
    if is_limited {
        parts.push(format!("budget used {}", percent(metrics.budget_utilization())));
    }
    parts.push(format!("slowest rank used {}", percent(metrics.slowest_rank_utilization())));
    parts.push(format!("cost max / mean {:.3}", metrics.cost_imbalance()));
    if metrics.packs_bound > 0 {
        parts.push(format!("at least {} needed", counted(metrics.packs_bound, "pack is", "packs are")));
    }
    parts.join(", ")
}

/// How many samples and batches are unusual or left out, in words; `None` if there are none.
pub fn exceptions(metrics: &Metrics) -> Option<String> {
    let lost = [
        (metrics.dropped, "left out at the end"),
        (metrics.too_long, "left out, too long"),
        (metrics.truncated, "truncated"),
    ];
    let parts = told(&lost, "sample", "samples").chain(oddities(metrics)).collect::<Vec<_>>();
    if parts.is_empty() { None } else { Some(parts.join(", ")) }
}

/// How many samples are split or repeated, and how many batches are over budget or empty, in words.
pub fn oddities(metrics: &Metrics) -> Option<String> {
    let samples = [(metrics.split, "split"), (metrics.repeated, "repeated")];
    let batches = [(metrics.over_budget, "over budget"), (metrics.empty, "without samples")];
    let parts = told(&samples, "sample", "samples").chain(told(&batches, "batch", "batches")).collect::<Vec<_>>();
    if parts.is_empty() { None } else { Some(parts.join(", ")) }
}

fn told(all: &[(u64, &str)], one: &str, many: &str) -> impl Iterator<Item = String> {
    all.iter()
        .filter(|(count, _)| *count > 0)
        .map(move |&(count, what)| format!("{} {what}", counted(count, one, many)))
}
