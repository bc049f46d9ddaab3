//! Recipes and calls that batchers and streams refuse. Where several rules are broken, the first one decides.

use super::config::{BatchConfig, Buckets, batcher, stream};
use matrix::format::{Call, Case, S64, U64};

use super::super::{MAX_COUNT, MAX_EXACT};
use super::stream::next;
use super::{asked, base, num_steps, take};
use matrix::Engine;
use matrix::native::Native;

const MAX_WORLD: u32 = 1 << 20;

pub fn batchers() -> Vec<Case> {
    configs()
        .into_iter()
        .chain(of_lengths())
        .map(|(name, config)| asked(&format!("refused: {name}"), batcher(config), [Call::NumSteps]))
        .collect()
}

/// Configurations that are refused whatever the lengths are.
fn configs() -> Vec<(&'static str, BatchConfig)> {
    let padded = base("pad-to-max", &[1, 2, 3], 1);
    let budget = base("budget", &[1, 2, 3], 1);
    let pack = base("pack", &[1, 2, 3], 1);
    let bucket = base("bucket", &[1, 2, 3], 1);
    let ends = |ends: &[u32]| Some(Buckets::Boundaries(ends.to_vec()));
    let width = |width| BatchConfig { buckets: Some(Buckets::BucketWidth(width)), ..bucket.clone() };
    let quantiles = |count| BatchConfig { buckets: Some(Buckets::Quantiles(count)), ..bucket.clone() };
    // A configuration in which everything is wrong that can be wrong.
    let wrong = BatchConfig {
        world_size: 0,
        max_batch_size: 0,
        multiple: 0,
        buckets: ends(&[1, 1]),
        max_length: 0,
        ..bucket.clone()
    };
    vec![
        ("an unknown order", BatchConfig { order: "random".into(), ..wrong.clone() }),
        ("an order in capitals", BatchConfig { order: "Feistel".into(), ..padded.clone() }),
        ("a long order", BatchConfig { order: "\u{1F0A1}".repeat(70), ..padded.clone() }),
        ("no ranks", wrong.clone()),
        ("too many ranks", BatchConfig { world_size: MAX_WORLD + 1, ..wrong.clone() }),
        ("far too many ranks", BatchConfig { world_size: u32::MAX, ..padded.clone() }),
        ("batches of none", BatchConfig { world_size: 1, ..wrong.clone() }),
        ("padded batches of none", BatchConfig { max_batch_size: 0, ..padded.clone() }),
        ("buckets of none", BatchConfig { max_batch_size: 0, ..bucket.clone() }),
        ("no budget", BatchConfig { budget: U64(0), multiple: 0, ..budget.clone() }),
        ("no capacity", BatchConfig { capacity: 0, multiple: 0, ..pack.clone() }),
        ("a multiple of 0", BatchConfig { multiple: 0, buckets: ends(&[2, 1]), ..bucket.clone() }),
        ("boundaries that descend", BatchConfig { buckets: ends(&[8, 16, 15]), ..bucket.clone() }),
        ("boundaries that repeat", BatchConfig { buckets: ends(&[8, 8]), ..bucket.clone() }),
        ("boundaries that nobody needs", BatchConfig { buckets: ends(&[8, 7]), ..padded.clone() }),
        ("buckets of no length", width(0)),
        ("no buckets", quantiles(0)),
        ("too many buckets", quantiles((1 << 20) + 1)),
        ("far too many buckets", quantiles(u32::MAX)),
        ("buckets that nobody needs", BatchConfig { buckets: Some(Buckets::Quantiles(0)), ..padded }),
    ]
}

fn of_lengths() -> Vec<(&'static str, BatchConfig)> {
    let lengths = [5, 200, 3, 300];
    let split = |strategy| BatchConfig { too_long: "split".into(), ..base(strategy, &lengths, 1) };
    let dotnet = |seed| BatchConfig { order: "dotnet".into(), seed: S64(seed), ..base("pack", &[1, 2, 3], 1) };
    let sharded = BatchConfig { order: "sharded".into(), ..base("pack", &[1, 2, 3], 1) };
    let weighted = |too_long: &str, budget| BatchConfig {
        counting: "weighted".into(),
        linear: 7,
        quadratic: 3,
        budget: U64(budget),
        too_long: too_long.into(),
        ..base("budget", &lengths, 1)
    };
    let roomy = |config: BatchConfig| BatchConfig { max_length: u32::MAX, ..config };
    vec![
        ("longer than allowed", base("pad-to-max", &lengths, 1)),
        ("longer than allowed in a bucket", base("bucket", &lengths, 1)),
        ("longer than the budget", roomy(base("budget", &lengths, 1))),
        ("longer than the budget of a bucket", roomy(BatchConfig { budget: U64(199), ..base("bucket", &lengths, 1) })),
        ("longer than the capacity", roomy(base("pack", &lengths, 1))),
        ("dearer than the budget", roomy(weighted("error", 100))),
        ("too long, before what the order refuses", BatchConfig { lengths: vec![99], ..sharded.clone() }),
        ("parts of no tokens", BatchConfig { max_length: 0, ..split("budget") }),
        ("parts that the budget has no room for", weighted("split", 9)),
        ("samples cut to no tokens", BatchConfig { max_length: 0, too_long: "truncate".into(), ..split("budget") }),
        ("samples cut to what the budget has no room for", weighted("truncate", 9)),
        ("a bucket without room", BatchConfig { strategy: "bucket".into(), ..weighted("truncate", 9) }),
        ("too many parts", BatchConfig { max_length: 1, lengths: vec![u32::MAX; 2], ..split("pad-to-max") }),
        ("as many parts as numbers", BatchConfig { max_length: 1, lengths: vec![u32::MAX], ..split("pack") }),
        ("a seed too large for its order", dotnet(1 << 31)),
        ("a seed too small for its order", dotnet(-(1 << 31) - 1)),
        ("an order that needs shards", sharded),
    ]
}

/// Calls that fail, with others between them that must still work.
pub fn calls() -> Vec<Case> {
    let lengths = super::sets::uniform(40, 51, 1, 60);
    ["pad-to-max", "bucket", "budget", "pack"]
        .into_iter()
        .map(|strategy| {
            let subject = batcher(base(strategy, &lengths, 3));
            let steps = num_steps(&mut Native::create(&subject).expect("a plan"));
            let all = u64::from(steps);
            let calls = [
                take(3, all + 1, MAX_COUNT + 1),
                take(u32::MAX, 0, 0),
                take(2, all + 1, MAX_COUNT + 1),
                take(2, u64::MAX, 1),
                take(2, all, 0),
                take(2, all, 1),
                take(2, 0, steps + 1),
                take(2, 0, MAX_COUNT + 1),
                take(2, 0, u32::MAX),
                take(1, all - 1, 1),
                take(1, 1, 0),
                Call::AtEpoch { epoch: U64(9) },
                take(3, 0, 1),
                take(1, 0, 1),
                Call::Fingerprint,
            ];
            asked(&format!("calls that fail: {strategy}"), subject, calls)
        })
        .collect()
}

pub fn streams() -> Vec<Case> {
    let stream = |name: &str, config: BatchConfig, rank, calls: Vec<Call>| {
        asked(&format!("refused: {name}"), stream(&config, rank), calls)
    };
    let mut cases: Vec<_> = configs()
        .into_iter()
        .map(|(name, config)| stream(name, BatchConfig { window: Some(u32::MAX), ..config }, 9, vec![]))
        .collect();
    // A stream uses neither the lengths nor the order of its recipe.
    let roomy = BatchConfig { order: "python".into(), ..base("budget", &[u32::MAX], 3) };
    let push = |samples: &[u64], lengths: &[u32]| Call::Push {
        samples: samples.iter().copied().map(U64).collect(),
        lengths: lengths.to_vec(),
    };
    let quantiles =
        BatchConfig { buckets: Some(Buckets::Quantiles(4)), window: Some(u32::MAX), ..base("bucket", &[], 3) };
    cases.push(stream("quantiles of lengths that are not known", quantiles, 3, vec![]));
    cases.push(stream("a window too large", BatchConfig { window: Some((1 << 24) + 1), ..roomy.clone() }, 3, vec![]));
    cases.push(stream("no such rank", BatchConfig { window: Some(1 << 24), ..roomy.clone() }, 3, vec![]));
    cases.push(stream("far from any rank", roomy.clone(), u32::MAX, vec![]));
    let calls = vec![
        push(&[1, MAX_EXACT + 1], &[1]),
        push(&[1], &[]),
        push(&[MAX_EXACT + 1, u64::MAX], &[99, 1]),
        push(&[3, 4, 5], &[60, 65, 66]),
        push(&[MAX_EXACT], &[64]),
        Call::Metrics,
        next(),
        Call::Flush,
        push(&[1], &[]),
        push(&[MAX_EXACT + 1], &[99]),
        push(&[1], &[99]),
        push(&[1], &[1]),
        push(&[], &[]),
        Call::Flush,
        next(),
        next(),
        Call::Metrics,
    ];
    cases.push(stream("calls of a stream", roomy.clone(), 2, calls));
    let parts = BatchConfig { too_long: "split".into(), max_length: 1, ..roomy };
    let calls = vec![push(&[1], &[u32::MAX]), push(&[2], &[3]), Call::Flush, next(), Call::Metrics];
    let cut =
        BatchConfig { too_long: "truncate".into(), counting: "weighted".into(), linear: 200, ..base("budget", &[], 1) };
    let cuts = vec![push(&[1, 2], &[0, 1]), push(&[1, 2], &[0, 0]), Call::Flush, next(), Call::Metrics];
    cases.push(stream("a stream that cuts to no tokens", cut, 0, cuts));
    cases.push(stream("too many parts in a stream", parts, 0, calls));
    cases
}
