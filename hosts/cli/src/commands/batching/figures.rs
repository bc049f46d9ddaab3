//! What is told of the metrics of batches.

use samedeal::{BatchConfig, Buckets, Metrics};
use serde_json::{Value, json};

use crate::write::output::{counted, percent};

/// Everything that decides batches, but the lengths themselves.
pub fn config_json(config: &BatchConfig) -> Value {
    let mut object = json!({
        "samples": config.lengths.len(), "seed": config.seed, "epoch": config.epoch, "order": config.order,
        "world": config.world, "strategy": config.strategy.name(), "max_batch_size": config.max_batch_size,
        "max_length": config.max_length, "budget": config.budget, "counting": config.counting.name(),
        "linear": config.linear, "quadratic": config.quadratic, "multiple": config.multiple,
        "capacity": config.capacity, "packing": config.packing.name(), "window": config.window,
        "too_long": config.too_long.name(), "tail": config.tail.name(),
    });
    if let Some(buckets) = &config.buckets {
        let (name, value) = match buckets {
            Buckets::Width(width) => ("bucket_width", json!(width)),
            Buckets::Boundaries(boundaries) => ("boundaries", json!(boundaries)),
            Buckets::Quantiles(quantiles) => ("quantiles", json!(quantiles)),
        };
        object[name] = value;
    }
    object
}

/// The metrics, with the ratios that follow from them.
pub fn json(metrics: &Metrics) -> Value {
    json!({
        "steps": metrics.steps, "items": metrics.items, "rows": metrics.rows, "tokens": metrics.tokens,
        "padded": metrics.padded, "slowest": metrics.slowest, "cost": metrics.cost,
        "slowest_cost": metrics.slowest_cost, "packs_bound": metrics.packs_bound, "over_budget": metrics.over_budget,
        "empty": metrics.empty, "repeated": metrics.repeated, "dropped": metrics.dropped,
        "truncated": metrics.truncated, "too_long": metrics.too_long, "split": metrics.split,
        "padding_ratio": metrics.padding_ratio(), "budget_utilisation": metrics.budget_utilisation(),
        "slowest_rank_utilisation": metrics.slowest_rank_utilisation(), "cost_imbalance": metrics.cost_imbalance(),
    })
}

/// The ratios, for people.
pub fn ratios(metrics: &Metrics) -> String {
    let mut parts = vec![format!("padding {}", percent(metrics.padding_ratio()))];
    if metrics.budget > 0 {
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
