//! A grid of options: every value of a field with every value of the fields that interact with it.

use super::config::{BatchConfig, Buckets, batcher};
use matrix::format::{Call, Case, S64, U64};

use super::sets::{long_tail, sets, uniform};
use super::{COUNTINGS, TAILS, TOO_LONG, WORLDS, asked, base, config_name, num_steps, take, whole};
use matrix::Engine;
use matrix::native::Native;

const ORDERS: [&str; 7] = ["feistel", "sequential", "fisher-yates", "torch", "torch-2.5", "python", "dotnet"];

pub fn padded() -> Vec<Case> {
    let windows = [Some(8_192), None];
    [
        of_every_set("pad-to-max", |config, at| config.tail = TAILS[at % 4].into()),
        of_every_end("pad-to-max", &windows),
        orders(),
        epochs("pad-to-max"),
    ]
    .concat()
}

pub fn bucket() -> Vec<Case> {
    let by = |buckets: Buckets, lengths: &[u32], budget, world| {
        let name = format!("bucket by {buckets:?}, {} samples, {world} ranks, budget {budget}", lengths.len());
        whole(&name, BatchConfig { buckets: Some(buckets), budget: U64(budget), ..base("bucket", lengths, world) })
    };
    let mut cases = [
        of_every_set("bucket", |config, at| config.tail = TAILS[at / 5 % 4].into()),
        of_every_end("bucket", &[Some(8_192), Some(13), None]),
        epochs("bucket"),
    ]
    .concat();
    for budget in [0, 64, 90, 1_000] {
        for (ends, world) in [(&[][..], 2), (&[0], 1), (&[0, 1, 30], 3), (&[10, 20, 30, 40, 50, 60], 1), (&[999], 2)] {
            cases.push(by(Buckets::Boundaries(ends.to_vec()), &uniform(60, 21, 0, 60), budget, world));
        }
        for (width, world) in [(1, 1), (8, 2), (20, 3), (64, 1), (u32::MAX, 2)] {
            cases.push(by(Buckets::BucketWidth(width), &uniform(60, 23, 0, 60), budget, world));
        }
    }
    for (at, quantiles) in [1, 2, 3, 7, 50, 1_000, 1 << 20].into_iter().enumerate() {
        for lengths in [uniform(55, 61, 0, 60), long_tail(60, 6), vec![5; 9], vec![0, 0, 9], vec![]] {
            cases.push(by(Buckets::Quantiles(quantiles), &lengths, at as u64 % 2 * 90, WORLDS[at % 3]));
        }
    }
    for too_long in ["truncate", "drop", "split", "single"] {
        // Quantiles are those of items, not of samples. `too_long` makes items of samples.
        let config = BatchConfig {
            buckets: Some(Buckets::Quantiles(5)),
            too_long: too_long.into(),
            max_length: 40,
            ..base("bucket", &uniform(80, 62, 0, 200), 2)
        };
        cases.push(whole(&format!("bucket by quantiles, {too_long}"), config));
    }
    // Buckets with too few items for all ranks. Such a bucket takes items from its own steps only.
    for (at, world) in [(0, 5), (1, 8), (2, 8), (3, 5)] {
        let lengths =
            [uniform(40, 63, 0, 8), uniform(3, 64, 9, 16), uniform(20, 65, 17, 32), uniform(4, 66, 40, 60)].concat();
        let config = BatchConfig { separate: true, tail: TAILS[at].into(), ..base("bucket", &lengths, world) };
        cases.push(whole(&config_name("separate buckets", &config), config));
        let even = BatchConfig { separate: true, tail: "even-split".into(), ..base("bucket", &lengths, world) };
        cases
            .push(whole(&config_name("separate buckets, evenly", &even), BatchConfig { seed: S64(at as i64), ..even }));
    }
    let unbounded = BatchConfig { max_batch_size: 0, budget: U64(200), ..base("bucket", &uniform(80, 25, 0, 60), 2) };
    cases.push(whole("bucket with a budget alone", unbounded));
    let far = BatchConfig {
        buckets: Some(Buckets::BucketWidth((1 << 31) - 1)),
        max_length: u32::MAX,
        max_batch_size: 2,
        ..base("bucket", &[u32::MAX, 1, u32::MAX - 1, u32::MAX - 2, 1 << 31, (1 << 31) - 1, 0, u32::MAX], 1)
    };
    cases.push(whole("bucket by width, as long as can be", far));
    for counting in COUNTINGS {
        for (linear, quadratic) in [(3, 0), (0, 1), (100, 2)] {
            let lengths = uniform(60, 22, 0, 60);
            let config = BatchConfig {
                counting: counting.into(),
                linear,
                quadratic,
                budget: U64(13_200),
                max_batch_size: 32,
                ..base("bucket", &lengths, 2)
            };
            cases.push(whole(&format!("bucket, {counting} {linear} {quadratic}"), config));
        }
    }
    cases
}

pub fn budget() -> Vec<Case> {
    let mut cases = [
        of_every_set("budget", |config, at| {
            config.tail = TAILS[at % 4].into();
            config.multiple = [1, 2, 8][at % 3];
        }),
        of_every_end("budget", &[Some(8_192), Some(16), None]),
        epochs("budget"),
    ]
    .concat();
    // With `keep_order`, and windows of 1 and 20 samples, with a limit of rows beside the budget.
    for counting in COUNTINGS {
        for window in [None, Some(1), Some(20)] {
            for (max_batch_size, multiple) in [(0, 1), (3, 1), (1, 1), (0, 4), (u32::MAX, u32::MAX)] {
                let lengths = long_tail(40, 31);
                let mut config =
                    BatchConfig { max_batch_size, multiple, ..base("budget", &lengths, 2) }.of_window(window);
                count(&mut config, counting);
                cases.push(whole(&config_name("a long tail of 40", &config), config));
            }
        }
    }
    // Items of cost 0 would all fit into one batch by the budget, but a batch has at most 3 rows. The packs of the last
    // step are halved for the ranks.
    for (at, tail) in TAILS.into_iter().chain(TAILS).enumerate() {
        for (world, lengths) in [(4, vec![0; 7]), (8, vec![0; 7]), (9, [vec![0; 14], vec![40; 5]].concat())] {
            let mut config = BatchConfig { max_batch_size: 3, tail: tail.into(), ..base("budget", &lengths, world) };
            count(&mut config, COUNTINGS[1 + at / TAILS.len()]);
            cases.push(whole(&config_name("items without cost", &config), config));
        }
    }
    // The largest values of all numbers.
    for (counting, linear, quadratic) in [("padded", 0, 0), ("unpadded", 0, 0), ("weighted", u32::MAX, u32::MAX)] {
        for budget in [u32::MAX.into(), u64::MAX] {
            for too_long in ["split", "single", "truncate"] {
                let config = BatchConfig {
                    counting: counting.into(),
                    linear,
                    quadratic,
                    budget: U64(budget),
                    max_length: u32::MAX,
                    too_long: too_long.into(),
                    ..base("budget", &[u32::MAX, 1, 65_535, u32::MAX - 1, 0, 1_000_000], 2)
                };
                // With these weights, a sample would be split into 2^32 parts, or into none.
                if too_long == "split" && counting == "weighted" {
                    continue;
                }
                cases.push(whole(&format!("large numbers, {counting}, budget {budget}, {too_long}"), config));
            }
        }
    }
    cases
}

pub fn pack() -> Vec<Case> {
    let mut cases = [
        of_every_set("pack", |config, at| {
            config.tail = TAILS[at % 4].into();
            config.max_batch_size = [1, 2, 5][at % 3];
        }),
        of_every_end("pack", &[Some(8_192), Some(16)]),
        epochs("pack"),
    ]
    .concat();
    for packing in ["fast", "optimal"] {
        // Many items in few lengths: near a half and a third of the capacity, and above.
        let near = [uniform(90, 41, 327, 340), uniform(40, 42, 490, 510), uniform(10, 43, 150, 170)].concat();
        let coarse = [uniform(60, 44, 60_000, 70_000), uniform(50, 45, 20_000, 90_000)].concat();
        for (set, lengths, capacity) in [
            ("near a half and a third", near, 1_000),
            ("a large capacity", coarse, 200_000),
            ("above the tables", uniform(40, 46, 1 << 20, 1 << 22), 1 << 24),
            ("a half and one", vec![501; 20], 1_000),
            ("exact halves and thirds", [vec![500; 6], vec![250; 7], vec![334; 8], vec![166; 9]].concat(), 1_000),
            ("as long as a row", vec![1_000; 5], 1_000),
            ("a row of one", vec![1, 0, 1, 0, 1], 1),
        ] {
            for (world, rows) in [(1, 1), (3, 2)] {
                let config = BatchConfig {
                    packing: packing.into(),
                    capacity,
                    max_length: u32::MAX,
                    max_batch_size: rows,
                    ..base("pack", &lengths, world)
                };
                cases.push(whole(&config_name(set, &config), config));
            }
        }
    }
    // More sizes than the master problem has rows, so that a row stands for several sizes. Some sizes occur more than
    // once.
    let lengths = [(440..954).collect(), uniform(120, 48, 440, 953)].concat();
    let config =
        BatchConfig { packing: "optimal".into(), capacity: 2_000, max_length: 953, ..base("pack", &lengths, 1) };
    cases.push(asked("more sizes than rows", batcher(config), [Call::Metrics, Call::Fingerprint]));
    // A step that would need more exchanges than are allowed. Then batches of 64 rows, the most for which rows are
    // exchanged, and of 65 rows.
    let skewed = uniform(1_500, 49, 0, 31).iter().map(|&x| 33 + x.pow(4) / 31_u32.pow(3)).collect();
    for (world, rows, lengths) in
        [(300, 5, skewed), (2, 64, uniform(140, 49, 33, 64)), (2, 65, uniform(140, 49, 33, 64))]
    {
        let config = BatchConfig { max_batch_size: rows, ..base("pack", &lengths, world) };
        cases.push(asked(&config_name("a row each", &config), batcher(config), [Call::Metrics, Call::Fingerprint]));
    }
    // The cost alone decides which rows form a step.
    for counting in COUNTINGS {
        for (world, rows) in [(2, 3), (8, 1), (4, 2), (2, 40)] {
            let lengths = long_tail(120, 47);
            let mut config = BatchConfig { max_batch_size: rows, window: Some(60), ..base("pack", &lengths, world) };
            count(&mut config, counting);
            cases.push(whole(&config_name("a long tail of 120", &config), config));
        }
    }
    cases
}

/// Recipes without a window and without buckets: the defaults follow the world size, the lengths and the size of
/// batches.
pub fn defaults() -> Vec<Case> {
    let mut cases = Vec::new();
    for (strategy, set, lengths) in sets()
        .into_iter()
        .flat_map(|(set, lengths)| ["bucket", "budget", "pack"].map(|strategy| (strategy, set, lengths.clone())))
    {
        let config = BatchConfig { window: None, buckets: None, ..base(strategy, &lengths, 2) };
        cases.push(whole(&format!("{strategy} by default, {set}"), config));
    }
    // 9,000 samples are more than the smallest default window (8,192). The world sizes give windows of 8,192, of fewer
    // samples than there are, and of more.
    let lengths = uniform(9_000, 91, 0, 9);
    for (strategy, counting, world, rows, budget) in [
        ("pad-to-max", "padded", 64, 4, 0),
        ("bucket", "padded", 1, 8, 0),
        ("bucket", "padded", 17, 8, 0),
        ("bucket", "weighted", 18, 0, 300),
        ("budget", "padded", 1, 0, 40),
        ("budget", "padded", 15, 0, 40),
        ("budget", "padded", 64, 0, 40),
        ("budget", "padded", 64, 2, 40),
        ("budget", "unpadded", 15, 0, 40),
        ("budget", "weighted", 15, 0, 300),
        ("budget", "padded", 2, 0, u64::MAX),
        ("budget", "padded", 1 << 10, 0, 40),
        ("pack", "padded", 15, 1, 0),
        ("pack", "padded", 3, 5, 0),
    ] {
        let mut config = BatchConfig {
            window: None,
            buckets: None,
            max_batch_size: rows,
            capacity: if strategy == "pack" { 40 } else { 0 },
            max_length: 9,
            ..base(strategy, &lengths, world)
        };
        count(&mut config, counting);
        config.budget = U64(budget);
        let name = format!("{strategy} of 9,000 by default, {world} ranks of {rows}, {counting}, budget {budget}");
        cases.push(asked(&name, batcher(config), [Call::Metrics, Call::Fingerprint]));
    }
    cases
}

/// Steps that are many windows wide. The rest of an epoch must not be planned again for every item.
pub fn narrow() -> Vec<Case> {
    let mut cases = Vec::new();
    for (strategy, too_long) in
        [("pad-to-max", "error"), ("bucket", "error"), ("budget", "error"), ("budget", "single"), ("pack", "error")]
    {
        for window in [None, Some(1), Some(3)] {
            let config = BatchConfig {
                too_long: too_long.into(),
                max_length: if too_long == "single" { 20 } else { 60 },
                ..base(strategy, &uniform(300, 92, 0, 60), 40)
            }
            .of_window(window);
            cases.push(whole(&config_name("300 lengths", &config), config));
        }
    }
    cases
}

/// A case for every set of lengths with every world size. `vary` changes the options from case to case.
fn of_every_set(strategy: &str, vary: impl Fn(&mut BatchConfig, usize)) -> Vec<Case> {
    let mut cases = Vec::new();
    for (i, (set, lengths)) in sets().iter().enumerate() {
        for (j, world) in WORLDS.into_iter().enumerate() {
            let mut config = base(strategy, lengths, world);
            vary(&mut config, i + j);
            cases.push(whole(&config_name(set, &config), config));
        }
    }
    cases
}

/// Every tail with every treatment of samples that are too long, in every window; None stands for `keep_order`. The values
/// of the other fields take turns.
fn of_every_end(strategy: &str, windows: &[Option<u32>]) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut at = 0;
    for tail in TAILS {
        for too_long in TOO_LONG {
            for &window in windows {
                let lengths = uniform(27 + at % 4, at as u64, 0, 60);
                let mut config = BatchConfig {
                    tail: tail.into(),
                    too_long: too_long.into(),
                    seed: S64([0, 1, 42, -7, i64::MAX][at % 5]),
                    epoch: U64([0, 1, u64::MAX][at % 3]),
                    multiple: [1, 1, 2][at / 2 % 3],
                    packing: ["fast", "optimal"][at / 3 % 2].into(),
                    max_length: if too_long == "error" { 60 } else { [41, 25][at / 7 % 2] },
                    ..base(strategy, &lengths, WORLDS[at % 4])
                }
                .of_window(window);
                if strategy == "bucket" && at % 4 > 1 {
                    config.budget = U64(130);
                }
                count(&mut config, COUNTINGS[at % 3]);
                cases.push(whole(&config_name(&format!("{} lengths", lengths.len()), &config), config));
                at += 1;
            }
        }
    }
    cases
}

/// Sets the counting. For weighted costs, it also sets a budget that holds a few items.
fn count(config: &mut BatchConfig, counting: &str) {
    config.counting = counting.into();
    if counting == "weighted" {
        (config.linear, config.quadratic) = (2, 1);
        if config.budget.0 > 0 {
            config.budget = U64(6_000);
        }
    }
}

/// Seeds and epochs: each batcher goes to several epochs, one after the other.
fn epochs(strategy: &str) -> Vec<Case> {
    let lengths = uniform(40, 11, 1, 60);
    [0, 1, 42, -7, i64::MIN]
        .into_iter()
        .map(|seed| {
            let config = BatchConfig { seed: S64(seed), window: Some(10), ..base(strategy, &lengths, 2) };
            let subject = batcher(config);
            let mut plan = Native::create(&subject).expect("a plan");
            let mut calls = vec![Call::Fingerprint];
            for epoch in [1, 2, u64::MAX, 0] {
                let next = Call::AtEpoch { epoch: U64(epoch) };
                plan.call(&next).expect("a plan of another epoch");
                let last = num_steps(&mut plan) - 1;
                calls.extend([next, Call::Metrics, take(1, last.into(), 1), take(0, 0, 1), Call::Fingerprint]);
            }
            asked(&format!("epochs of {strategy}, seed {seed}"), subject, calls)
        })
        .collect()
}

fn orders() -> Vec<Case> {
    let lengths = uniform(30, 12, 1, 60);
    let of = |&order: &&str| {
        let config =
            BatchConfig { order: order.into(), seed: S64(3), epoch: U64(4), ..base("pad-to-max", &lengths, 2) };
        whole(&format!("in the order {order}"), config)
    };
    ORDERS.iter().map(of).collect()
}
