//! The default window: for each of its rules, the most samples that are one window, and the fewest that are two.

use matrix::Engine;
use matrix::format::{Call, Case, Subject, U64};
use matrix::native::Native;

use super::super::asked;
use super::config::{BatchConfig, Buckets, batcher};
use super::{TOO_LONG, base};

/// The largest number of samples in a case. A case with more than `FEW` takes a second, and is marked as slow.
const MOST: usize = 1 << 23;
const FEW: usize = 1 << 19;

/// Lengths, which are repeated for all samples of a case.
const SHORT: [u32; 7] = [3, 9, 4, 1, 12, 7, 2];
/// Lengths of which some are longer than a batch has room for.
const LONG: [u32; 9] = [5, 40, 8, 131, 16, 2, 64, 23, 97];

/// A rule of the default window, and options for which it decides. `lengths` are repeated for all samples.
struct Rule {
    name: String,
    lengths: &'static [u32],
    config: BatchConfig,
}

fn rule(name: impl Into<String>, lengths: &'static [u32], strategy: &str, world: u32) -> Rule {
    let buckets = (strategy == "bucket").then(|| Buckets::Boundaries(vec![8, 16, 32]));
    let config = BatchConfig {
        window: None,
        buckets,
        too_long: "truncate".into(),
        max_length: 32,
        ..base(strategy, &[], world)
    };
    Rule { name: name.into(), lengths, config }
}

impl Rule {
    fn with(mut self, change: impl FnOnce(&mut BatchConfig)) -> Self {
        change(&mut self.config);
        self
    }
}

pub fn cases() -> Vec<Case> {
    rules().into_iter().flat_map(edges).collect()
}

fn rules() -> Vec<Rule> {
    let rows = |rows: u32| move |config: &mut BatchConfig| config.max_batch_size = rows;
    let budget = |budget: u64| move |config: &mut BatchConfig| config.budget = U64(budget);
    let mut rules = vec![
        rule("pad-to-max: at least 8,192 samples, in whole steps", &SHORT, "pad-to-max", 3).with(rows(7)),
        rule("pad-to-max: 128 steps", &SHORT, "pad-to-max", 64).with(rows(5)),
        rule("bucket without a budget: the most rows", &SHORT, "bucket", 40).with(rows(8)),
        rule("bucket without a budget: no lengths", &LONG, "bucket", 40).with(rows(8)),
        rule("bucket: room for average items", &SHORT, "bucket", 50).with(rows(100)).with(budget(61)),
        rule("bucket: at most the most rows", &SHORT, "bucket", 50).with(rows(3)).with(budget(61)),
        rule("budget: room for average items", &SHORT, "budget", 50).with(budget(61)),
        rule("budget: at most the most rows", &SHORT, "budget", 50).with(budget(61)).with(rows(3)),
        rule("budget: a batch for each item", &LONG, "budget", 100).with(budget(33)),
        rule("budget: one item at least, where samples are several", &LONG, "budget", 100).with(budget(10)).with(
            |config| {
                config.too_long = "split".into();
            },
        ),
        rule("budget: items that cost nothing", &[0], "budget", 4).with(budget(61)).with(rows(50)),
        rule("budget: by cost", &SHORT, "budget", 50).with(budget(400)).with(|config| {
            (config.counting, config.linear, config.quadratic) = ("weighted".into(), 3, 1);
        }),
        rule("budget with keep_order", &SHORT, "budget", 50).with(budget(61)).with(|config| config.keep_order = true),
        rule("pack: room for average items", &SHORT, "pack", 50).with(rows(3)).with(|config| config.capacity = 32),
        rule("pack: of a sample that a row does not hold, what it holds", &LONG, "pack", 50).with(|config| {
            (config.capacity, config.max_length) = (32, 1_000);
        }),
        rule("at least 8,192 samples", &SHORT, "budget", 2).with(budget(61)),
        rule("pad-to-max: at most 2^22 samples", &SHORT, "pad-to-max", 1 << 10).with(rows(64)),
        rule("pad-to-max: one step at least", &SHORT, "pad-to-max", 1 << 12).with(rows(1 << 10)),
        rule("bucket without a budget: at most 2^22 samples", &SHORT, "bucket", 1 << 10).with(rows(64)),
        rule("bucket without a budget: 8 steps at least", &SHORT, "bucket", 1 << 11).with(rows(300)),
    ];
    for too_long in TOO_LONG {
        for (strategy, counting) in [("bucket", "padded"), ("budget", "unpadded"), ("pack", "padded")] {
            let name = format!("{strategy}: items above the longest, too_long {too_long}");
            let rule = rule(name, &LONG, strategy, 60).with(|config| {
                (config.too_long, config.counting) = (too_long.into(), counting.into());
                let rows = [("budget", 0), ("bucket", 20), ("pack", 3)].into_iter().find(|&(name, _)| name == strategy);
                (config.max_length, config.max_batch_size) = (30, rows.map_or(0, |(_, rows)| rows));
                if strategy != "pack" {
                    config.budget = U64(150);
                }
                config.capacity = if strategy == "pack" { 64 } else { 0 };
            });
            rules.push(rule);
        }
    }
    for (name, buckets) in [
        ("boundaries", Buckets::Boundaries((1..20).map(|edge| 6 * edge).collect())),
        ("a width", Buckets::BucketWidth(11)),
        ("quantiles", Buckets::Quantiles(6)),
        ("few", Buckets::Boundaries(vec![50])),
    ] {
        let name = format!("separate buckets by {name}: 32 steps for each that has lengths, and 128 at least");
        rules.push(rule(name, &LONG, "bucket", 30).with(rows(4)).with(|config| {
            (config.separate, config.max_length, config.buckets) = (true, 100, Some(buckets));
        }));
    }
    for (strategy, mean) in [("bucket", 7), ("budget", 7), ("pack", 9), ("budget", 50), ("pack", 3)] {
        let name = format!("{strategy} with mean_length {mean}");
        rules.push(rule(name, &LONG, strategy, 50).with(|config| {
            (config.mean_length, config.capacity) = (Some(mean), if strategy == "pack" { 32 } else { 0 });
            if strategy != "pack" {
                (config.budget, config.max_batch_size) = (U64(61), 90);
            }
        }));
    }
    rules
}

/// Two cases of a rule: the most samples that are one window, and one sample more, which makes two windows.
fn edges(Rule { name, lengths, config }: Rule) -> Vec<Case> {
    let subject = |count: usize| {
        let lengths = lengths.iter().copied().cycle().take(count).collect();
        batcher(BatchConfig { lengths, ..config.clone() })
    };
    let is_small = num_windows(&subject(FEW)) > 1;
    let (mut low, mut high) = (1, if is_small { FEW } else { MOST });
    while low < high {
        let middle = usize::midpoint(low, high);
        if num_windows(&subject(middle)) > 1 { high = middle } else { low = middle + 1 }
    }
    assert!(low < MOST && num_windows(&subject(low - 1)) == 1, "{name}: {low} samples");
    let case = |count: usize, told: &str| {
        let asked = asked(&format!("{name}: {told}"), subject(count), [Call::NumWindows]);
        Case { slow: !is_small, ..asked }
    };
    vec![case(low - 1, "one window"), case(low, "two windows")]
}

fn num_windows(subject: &Subject) -> u64 {
    let mut batcher = Native::create(subject).expect("a plan");
    batcher.call(&Call::NumWindows).expect("a number").as_str().and_then(|text| text.parse().ok()).expect("a number")
}
