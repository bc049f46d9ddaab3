//! Ratios of metrics, in parts per million.

use super::config::{BatchConfig, batcher, stream};
use matrix::format::{Call, Case, U64};

use super::sets::sets;
use super::{COUNTINGS, asked, base};

const NAMES: [&str; 4] = ["padding", "budget-utilization", "slowest-rank-utilization", "cost-imbalance"];

pub fn batchers() -> Vec<Case> {
    let mut cases = Vec::new();
    for (i, (set, lengths)) in sets().into_iter().enumerate() {
        for (j, strategy) in ["pad-to-max", "bucket", "budget", "pack"].into_iter().enumerate() {
            let config = counted(BatchConfig { ..base(strategy, &lengths, [1, 3, 8][i % 3]) }, COUNTINGS[(i + j) % 3]);
            let name = format!("ratios of {set}, {strategy}, {}", config.counting);
            cases.push(asked(&name, batcher(config), calls()));
        }
    }
    // Costs far above the budget, and far below it.
    for (name, budget, too_long) in [("little", 1, "single"), ("as much as there may be", u64::MAX, "error")] {
        let config = BatchConfig {
            budget: U64(budget),
            max_length: u32::MAX,
            too_long: too_long.into(),
            ..base("budget", &[u32::MAX; 3], 1 << 10)
        };
        cases.push(asked(&format!("ratios with a budget of {name}"), batcher(config), calls()));
    }
    // A cost that is far more than 2^53 - 1 millionths of its budget.
    let config = BatchConfig {
        counting: "weighted".into(),
        linear: u32::MAX,
        budget: U64(1),
        max_length: u32::MAX,
        too_long: "single".into(),
        ..base("budget", &[u32::MAX], 1)
    };
    cases.push(asked("ratios of the greatest cost", batcher(config), calls()));
    cases
}

pub fn streams() -> Vec<Case> {
    let mut cases = Vec::new();
    for (set, lengths) in sets().into_iter().take(3) {
        let config = BatchConfig { order: "sequential".into(), window: Some(8), ..base("budget", &[], 2) };
        let samples = (0..lengths.len() as u64).map(U64).collect();
        let mut all = vec![Call::Push { samples, lengths }, Call::Take { steps: None }];
        all.extend(calls());
        all.extend([Call::Flush, Call::Take { steps: None }]);
        all.extend(calls());
        cases.push(asked(&format!("ratios of {set}"), stream(&config, 1), all));
    }
    cases
}

fn counted(config: BatchConfig, counting: &str) -> BatchConfig {
    let budget = if counting == "weighted" { U64(40 * config.budget.0) } else { config.budget };
    BatchConfig { counting: counting.into(), linear: 2, quadratic: 1, budget, ..config }
}

fn calls() -> Vec<Call> {
    let ratios = NAMES.map(|name| Call::Ratio { name: name.into() });
    [Call::Metrics].into_iter().chain(ratios).collect()
}
