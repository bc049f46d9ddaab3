//! What is told of the metrics of batches.

use samedeal::{Batcher, Metrics};
use serde_json::Value;

use crate::write::output::{counted, percent};
use crate::write::problem::Problem;

/// Everything that decides batches.
pub fn recipe(batcher: &Batcher) -> Result<Value, Problem> {
    Ok(serde_json::from_str(&batcher.recipe()?).unwrap_or(Value::Null))
}

/// The metrics, with the ratios that follow from them.
pub fn json(metrics: &Metrics) -> Value {
    let ratios = [
        ("padding_ratio", metrics.padding_ratio()),
        ("budget_utilisation", metrics.budget_utilisation()),
        ("slowest_rank_utilisation", metrics.slowest_rank_utilisation()),
        ("cost_imbalance", metrics.cost_imbalance()),
    ];
    let numbers = metrics.named().map(|(name, number)| (name.replace('-', "_"), Value::from(number)));
    numbers.chain(ratios.map(|(name, ratio)| (name.to_owned(), ratio.into()))).collect()
}

/// The ratios, for people; `is_limited` is whether a batch has a limit.
pub fn ratios(metrics: &Metrics, is_limited: bool) -> String {
    let mut parts = vec![format!("padding {}", percent(metrics.padding_ratio()))];
    if is_limited {
        parts.push(format!("budget used {}", percent(metrics.budget_utilisation())));
    }
    parts.push(format!("slowest rank used {}", percent(metrics.slowest_rank_utilisation())));
    parts.push(format!("cost max / mean {:.3}", metrics.cost_imbalance()));
    if metrics.packs_bound > 0 {
        parts.push(format!("at least {} needed", counted(metrics.packs_bound, "pack is", "packs are")));
    }
    parts.join(", ")
}

/// What is not as it was, for people; none if everything is.
pub fn exceptions(metrics: &Metrics) -> Option<String> {
    let lost = [
        (metrics.dropped, "left out at the end"),
        (metrics.too_long, "left out, too long"),
        (metrics.truncated, "truncated"),
    ];
    let parts = told(&lost, "sample", "samples").chain(oddities(metrics)).collect::<Vec<_>>();
    if parts.is_empty() { None } else { Some(parts.join(", ")) }
}

/// The same, without samples that are left out or truncated.
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
