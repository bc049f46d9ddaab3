//! Plans of whole shards: every policy on datasets of several shapes, epochs, rows, and every failure.

use crate::cases::forms::{Native, Plan, Subject};
use matrix::format::{Call, Case, S64, U64};

use super::{EPOCHS, MAX_COUNT, MAX_EXACT, SEEDS, asked, numbers};

mod dense;
mod near;
mod refused;

const MAX_READERS: u32 = 1 << 22;
/// Stands for a count: all shards of the reader.
const ALL: u32 = u32::MAX - 1;

pub fn cases() -> Vec<Case> {
    [
        round_robin(),
        policies(),
        exchanges(),
        near::cases(),
        dense::cases(),
        epochs(),
        rows(),
        large(),
        imbalances(),
        refused::calls(),
        refused::plans(),
    ]
    .concat()
}

fn round_robin() -> Vec<Case> {
    vec![
        whole("100 shards to 4 workers of 8 ranks", plan(&[1; 100], 8, 4)),
        whole("1 shard to 1 reader", plan(&[5], 1, 1)),
        whole("fewer shards than readers", plan(&[3, 1, 2], 2, 4)),
        whole("fewer shards than ranks", plan(&[3, 1, 2], 5, 1)),
        whole("no shards at all", plan(&[], 2, 2)),
        whole("shards without samples", plan(&[0; 7], 3, 2)),
    ]
}

/// Every policy for ranks with every policy for workers, by samples and by bytes.
fn policies() -> Vec<Case> {
    let datasets: [(&str, Vec<u64>); 6] = [
        ("sizes without a pattern", sizes(23, 1, 1_000)),
        ("a few large shards", [sizes(3, 2, 9_000), sizes(14, 3, 40)].concat()),
        ("sizes with ties", [5, 3, 5, 3, 3, 1, 5, 1].to_vec()),
        ("empty shards among others", [0, 7, 0, 0, 4, 9, 0, 2, 0].to_vec()),
        ("one shard heavier than all others", vec![1, 1, 1_000, 1, 1, 1]),
        ("no shards", vec![]),
    ];
    let mut cases = Vec::new();
    for (i, (name, samples)) in datasets.iter().enumerate() {
        for policy in ["round-robin", "size-aware"] {
            for worker_policy in ["round-robin", "size-aware"] {
                for (world, workers) in [(3, 1), (1, 3), (4, 2)] {
                    let weight = if (world + workers) % 2 == 0 { "samples" } else { "bytes" };
                    let bytes = sizes(samples.len(), 50 + i as u64, 1 << 40);
                    let plan = Plan {
                        bytes: numbers(&bytes),
                        policy: policy.into(),
                        worker_policy: worker_policy.into(),
                        weight: weight.into(),
                        ..plan(samples, world, workers)
                    };
                    let name =
                        format!("{name}: {policy}, {worker_policy} by {weight}, {world} ranks of {workers} workers");
                    cases.push(whole(&name, plan));
                }
            }
        }
    }
    cases
}

/// Datasets for which longest-first alone is not the best, so that exchanges follow.
fn exchanges() -> Vec<Case> {
    let mut cases = Vec::new();
    let textbook: [(&str, &[u64], u32); 7] = [
        ("the bad case of longest-first for 2 parts", &[3, 3, 2, 2, 2], 2),
        ("the bad case of longest-first for 3 parts", &[5, 5, 4, 4, 3, 3, 3], 3),
        ("the bad case of longest-first for 4 parts", &[7, 7, 6, 6, 5, 5, 4, 4, 4], 4),
        ("an item for none", &[8, 7, 6, 5, 4], 2),
        ("gaps of 1", &[4, 4, 3, 3, 3], 2),
        ("nothing to exchange", &[9, 1], 2),
        // Two shards of one size are equally good, and half of the gap is no whole number: the first one is taken.
        ("two that are as good", &[5, 8, 8, 5, 9], 2),
    ];
    for (name, samples, world) in textbook {
        cases.push(whole(name, Plan { policy: "size-aware".into(), ..plan(samples, world, 1) }));
    }
    for seed in 0..24 {
        let count = 5 + seed as usize * 2;
        let world = 2 + (seed % 5) as u32;
        let largest = [12, 100, 100_000][(seed % 3) as usize];
        let plan = Plan {
            policy: "size-aware".into(),
            shuffle: seed % 2 == 1,
            ..plan(&sizes(count, 100 + seed, largest), world, 1)
        };
        let name = format!("{count} shards up to {largest} for {world} ranks, number {seed}");
        cases.push(whole(&name, plan));
    }
    cases
}

/// Epochs: the shuffle of shards and rows, and whether a new epoch changes it.
fn epochs() -> Vec<Case> {
    let mut cases = Vec::new();
    for (shuffle, reshuffle) in [(false, false), (true, false), (false, true), (true, true)] {
        for policy in ["round-robin", "size-aware"] {
            let mut calls = lists(3, 2);
            calls.extend([rows_of(0, 0, 8), rows_of(4, 0, 20)]);
            for epoch in [1, 1, 2, u64::MAX, 0] {
                calls.push(Call::AtEpoch { epoch: U64(epoch) });
                calls.extend(lists(3, 2));
                calls.extend([rows_of(0, 0, 8), Call::ConfigFingerprint]);
            }
            let plan =
                Plan { policy: policy.into(), shuffle, reshuffle, ..plan(&[8, 6, 9, 5, 20, 7, 7, 4, 9, 6], 3, 2) };
            cases.push(case(&format!("{policy}, shuffle {shuffle}, reshuffle {reshuffle}"), plan, calls));
        }
    }
    for seed in SEEDS {
        for epoch in EPOCHS {
            let plan =
                Plan { shuffle: true, reshuffle: true, seed: S64(seed), epoch: U64(epoch), ..plan(&[9; 12], 2, 1) };
            let calls = lists(2, 1).into_iter().chain([rows_of(3, 0, 9)]);
            cases.push(case(&format!("shuffled twice, seed {seed} epoch {epoch}"), plan, calls));
        }
    }
    cases
}

/// The rows of shards: small, large and empty ones. Rows are shuffled whether or not shards are.
fn rows() -> Vec<Case> {
    let samples = [0, 1, 2, 255, 256, 257, 1_000, 1 << 33, MAX_EXACT / 2];
    [(false, 0), (true, 0), (false, 1)]
        .into_iter()
        .map(|(shuffle, epoch)| {
            let mut calls = Vec::new();
            for (shard, size) in (0..).zip(samples) {
                calls.extend([0, size / 2, size.saturating_sub(5)].map(|start| rows_of(shard, start, 5)));
                calls.extend([rows_of(shard, size, 0), rows_of(shard, size, 1), rows_of(shard, size + 1, 0)]);
            }
            calls.extend([
                rows_of(7, 0, MAX_COUNT + 1),
                rows_of(9, 0, 0),
                rows_of(u32::MAX, 0, 0),
                rows_of(6, 990, 10),
            ]);
            let plan = Plan { shuffle, seed: S64(-3), epoch: U64(epoch), ..plan(&samples, 2, 1) };
            case(&format!("rows, shuffle {shuffle}, epoch {epoch}"), plan, calls)
        })
        .collect()
}

/// Weights at the end of their range, and a plan with many shards and readers.
fn large() -> Vec<Case> {
    let heavy = Plan {
        policy: "size-aware".into(),
        ..plan(&[1 << 52, (1 << 51) + 1, 1 << 50, (1 << 49) - 3, 1 << 48, 1 << 48], 3, 1)
    };
    let bytes = Plan {
        bytes: numbers(&[1 << 52, (1 << 52) - 1, 0]),
        weight: "bytes".into(),
        worker_policy: "size-aware".into(),
        ..plan(&[MAX_EXACT, 0, 0], 1, 2)
    };
    let many = Plan { policy: "size-aware".into(), shuffle: true, ..plan(&sizes(700, 11, 100_000), 64, 2) };
    let calls = [
        loads("ranks", 0, 64),
        loads("workers", 100, 28),
        balance("ranks", "samples"),
        balance("workers", "samples"),
        steps(32, false),
        steps(32, true),
        Call::NumShards { rank: 63, worker: 1 },
        list(0, 0, 0, ALL),
        list(63, 1, 0, ALL),
        list(63, 1, 1, 3),
    ];
    let most = plan(&[3, 2, 1], MAX_READERS / 2, 2);
    let ends = [
        Call::NumShards { rank: MAX_READERS / 2 - 1, worker: 1 },
        Call::NumShards { rank: 2, worker: 0 },
        loads("workers", MAX_READERS - 2, 2),
        loads("workers", 0, MAX_COUNT + 1),
        balance("workers", "samples"),
        steps(1, false),
    ];
    vec![
        whole("weights up to 2^52", heavy),
        whole("bytes up to 2^52", bytes),
        case("700 shards, size-aware, 64 ranks of 2 workers", many, calls),
        case("as many readers as there may be", most, ends),
    ]
}

/// The heaviest load divided by the mean load, in parts per million.
fn imbalances() -> Vec<Case> {
    let calls = || ["ranks", "workers"].map(|tier| ["samples", "bytes"].map(|balance_by| imbalance(tier, balance_by)));
    let mut cases = Vec::new();
    for (name, samples, world, workers) in [
        ("three parts of two", vec![1, 1], 3, 1),
        ("equal parts", vec![7; 8], 4, 2),
        ("a third more", vec![4, 4, 3, 3, 2], 4, 3),
        ("nothing to read", vec![0; 3], 2, 2),
        ("no shards", vec![], 2, 1),
        ("far more readers than shards", vec![1], 1 << 16, 1 << 6),
        ("the largest numbers", vec![MAX_EXACT / 3, MAX_EXACT / 3, MAX_EXACT / 3], 1 << 22, 1),
        ("sizes without a pattern", sizes(40, 5, 1 << 45), 7, 3),
    ] {
        let bytes = numbers(&sizes(samples.len(), 60, 1_000));
        cases.push(case(
            &format!("imbalance: {name}"),
            Plan { bytes, ..plan(&samples, world, workers) },
            calls().concat(),
        ));
        let even =
            Plan { policy: "size-aware".into(), worker_policy: "size-aware".into(), ..plan(&samples, world, workers) };
        cases.push(case(&format!("imbalance without bytes: {name}"), even, calls().concat()));
    }
    cases
}

fn imbalance(tier: &str, balance_by: &str) -> Call {
    Call::Imbalance { tier: tier.into(), balance_by: balance_by.into() }
}

/// A case with all questions about a few readers.
fn whole(name: &str, plan: Plan) -> Case {
    let calls = everything(&plan);
    case(name, plan, calls)
}

fn everything(plan: &Plan) -> Vec<Call> {
    let (world, workers) = (plan.world, plan.workers);
    let mut calls = lists(world, workers);
    calls.extend([Call::NumShards { rank: world - 1, worker: workers - 1 }, Call::ConfigFingerprint]);
    calls.push(loads("ranks", 0, world));
    calls.extend((workers > 1).then(|| loads("workers", 0, world * workers)));
    for tier in ["ranks", "workers"] {
        calls.push(balance(tier, "samples"));
        calls.extend((!plan.bytes.is_empty()).then(|| balance(tier, "bytes")));
    }
    calls.extend([(1, false), (8, false), (8, true)].map(|(batch_size, drop_last)| steps(batch_size, drop_last)));
    calls
}

/// The calls that ask for the list of every reader.
fn lists(world: u32, workers: u32) -> Vec<Call> {
    let readers = (0..world).flat_map(|rank| (0..workers).map(move |worker| (rank, worker)));
    readers.map(|(rank, worker)| list(rank, worker, 0, ALL)).collect()
}

fn list(rank: u32, worker: u32, start: u32, count: u32) -> Call {
    Call::Shards { rank, worker, start, count }
}

fn loads(tier: &str, start: u32, count: u32) -> Call {
    Call::Loads { tier: tier.into(), start, count }
}

fn balance(tier: &str, balance_by: &str) -> Call {
    Call::LoadSummary { tier: tier.into(), balance_by: balance_by.into() }
}

fn steps(batch_size: u32, drop_last: bool) -> Call {
    Call::StepBounds { batch_size, drop_last }
}

fn rows_of(shard: u32, start: u64, count: u32) -> Call {
    Call::Rows { shard, start: U64(start), count }
}

/// Numbers below `end` without a pattern (Knuth's generator for MMIX).
pub(super) fn sizes(count: usize, seed: u64, end: u64) -> Vec<u64> {
    let next = |state: &mut u64| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some(((u128::from(*state) * u128::from(end)) >> 64) as u64)
    };
    (0..count).scan(seed, |state, _| next(state)).collect()
}

/// A plan with the policy `round-robin`, by samples, without a shuffle.
fn plan(samples: &[u64], world: u32, workers: u32) -> Plan {
    Plan {
        sizes: numbers(samples),
        bytes: vec![],
        world,
        workers,
        policy: "round-robin".into(),
        worker_policy: "round-robin".into(),
        weight: "samples".into(),
        locality: None,
        shuffle: false,
        reshuffle: false,
        seed: S64(0),
        epoch: U64(0),
    }
}

fn case(name: &str, plan: Plan, calls: impl IntoIterator<Item = Call>) -> Case {
    let subject = Subject::Plan(plan);
    let mut calls: Vec<_> = calls.into_iter().collect();
    if let Ok(mut plan) = Native::create(&subject) {
        for call in &mut calls {
            if let Call::Shards { rank, worker, count: count @ ALL, .. } = call {
                let found = plan.call(&Call::NumShards { rank: *rank, worker: *worker });
                *count = found.expect("a reader").as_u64().expect("a number") as u32;
            }
            if let Call::AtEpoch { .. } = call {
                plan.call(call).expect("an epoch never fails");
            }
        }
    }
    asked(name, subject, calls)
}
