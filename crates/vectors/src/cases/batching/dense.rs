//! Cases for single branches of the core that the grid of all options does not reach: large inputs with few answers,
//! and ends of ranges. `cargo xtask mutants` shows which branches these are.

use super::config::{BatchConfig, batcher};
use matrix::format::{Call, Case, U64};

use super::super::plans::sizes;
use super::sets::{long_tail, uniform};
use super::{asked, base, state_after, state_of, take, whole};

/// More items than a window of 8,192 has, so that there are two windows.
const MANY: usize = 9_000;

fn locate(sample: u64) -> Call {
    Call::Locate { sample: U64(sample), batch_size: None }
}

/// A case of many items: its metrics, the fingerprint of all batches, and the places of six samples.
fn of_many(name: &str, config: BatchConfig) -> Case {
    let samples = config.lengths.len() as u64;
    let calls = [Call::Metrics, Call::Fingerprint].into_iter();
    asked(name, batcher(config), calls.chain((0..6).map(|nth| locate(nth * (samples / 6) + nth))))
}

pub fn padded() -> Vec<Case> {
    let lengths = uniform(MANY, 101, 0, 9);
    // 8,192 is no multiple of 15, the number of items in a step: a window does not end with a full step.
    let config = BatchConfig { max_batch_size: 5, max_length: 9, ..base("pad-to-max", &lengths, 3) };
    let mut cases = vec![of_many("pad-to-max of 9,000, 3 ranks of 5", config)];
    // A step has one item for each rank, so that no rank can give an item to another one.
    for (count, world) in [(4, 3), (9, 4)] {
        let lengths = uniform(count, 102, 1, 60);
        let config =
            BatchConfig { max_batch_size: 1, tail: "even-split".into(), ..base("pad-to-max", &lengths, world) };
        cases.push(whole(&format!("nothing to spare: {count} samples, {world} ranks of 1"), config));
    }
    cases
}

pub fn bucket() -> Vec<Case> {
    let mut cases = Vec::new();
    // More different lengths than there are buckets by default.
    for (set, lengths) in [
        ("uniform", uniform(400, 103, 0, 3_000)),
        ("a long tail", long_tail(400, 104).iter().map(|length| length * length).collect()),
    ] {
        let config = BatchConfig { buckets: None, max_length: 4_096, ..base("bucket", &lengths, 2) };
        cases.push(asked(
            &format!("bucket by default, 400 lengths, {set}"),
            batcher(config),
            [Call::Metrics, take(0, 0, 10), Call::Fingerprint],
        ));
    }
    let lengths = uniform(MANY, 105, 0, 9);
    let config = BatchConfig {
        max_batch_size: 7,
        max_length: 9,
        window: None,
        keep_order: true,
        ..base("bucket", &lengths, 40)
    };
    cases.push(of_many("bucket of 9,000 as they come, 40 ranks of 7", config));
    cases
}

pub fn budget() -> Vec<Case> {
    let mut cases = Vec::new();
    // A longer item ends a batch whose number of items is not a multiple yet.
    for multiple in [2, 3, 5] {
        let lengths = uniform(70, 106, 1, 60);
        let config =
            BatchConfig { multiple, budget: U64(300), window: None, keep_order: true, ..base("budget", &lengths, 2) };
        cases.push(whole(&format!("budget as they come, 70 samples, multiple {multiple}"), config));
    }
    let lengths = uniform(MANY, 107, 0, 9);
    let config = BatchConfig {
        too_long: "single".into(),
        max_length: 8,
        budget: U64(40),
        window: None,
        keep_order: true,
        ..base("budget", &lengths, 7)
    };
    cases.push(of_many("budget of 9,000 as they come, some by themselves, 7 ranks", config));
    cases
}

pub fn pack() -> Vec<Case> {
    let mut cases = Vec::new();
    // A pack with one long item costs as much as a pack with many short ones.
    let skewed = |count, seed| [uniform(count / 4, seed, 50, 64), uniform(count, seed + 1, 1, 16)].concat();
    for (count, world, rows) in [(60, 2, 3), (80, 3, 4), (100, 2, 7), (540, 2, 64), (540, 2, 65)] {
        let lengths = skewed(count, 108);
        let mut config = BatchConfig { max_batch_size: rows, ..base("pack", &lengths, world) };
        (config.counting, config.linear, config.quadratic) = ("weighted".into(), 1, 1);
        let name = format!("packs of unequal cost, {} samples, {world} ranks of {rows}", lengths.len());
        cases.push(asked(&name, batcher(config), [Call::Metrics, take(world - 1, 0, 1), Call::Fingerprint]));
    }
    cases
}

/// Numbers of the pseudorandom packings that are cases: small ones here, then ones with large capacities
/// (`WIDE_PACKINGS`), and ones with more sizes than the master problem has rows (`LARGE_PACKINGS`).
const PACKINGS: [u64; 11] = [21, 102, 512, 552, 730, 809, 884, 1_080, 1_517, 1_694, 2_231];
const WIDE_PACKINGS: [u64; 2] = [6, 31];
const LARGE_PACKINGS: [u64; 2] = [4, 6];

pub fn packings() -> Vec<Case> {
    let few = PACKINGS.into_iter().map(packing).chain(WIDE_PACKINGS.into_iter().map(wide_packing));
    few.chain(LARGE_PACKINGS.into_iter().map(large_packing)).chain(refilled()).collect()
}

/// Packings in which the last bins are filled again, as many as are allowed: 512 and an eighth of all bins. With one
/// bin more, the result would be another packing.
fn refilled() -> Vec<Case> {
    let sets: [(&[u32], usize, u32); 2] = [(&[13, 8], 4_466, 30), (&[13, 7, 16, 17, 12, 18, 7, 11], 3_857, 30)];
    let case = |(lengths, count, capacity): (&[u32], usize, u32)| {
        let lengths: Vec<u32> = lengths.iter().copied().cycle().take(count).collect();
        let config = BatchConfig { max_length: capacity, max_batch_size: 1, capacity, ..base("pack", &lengths, 1) };
        asked(&format!("pack fast, {count} again into {capacity}"), batcher(config), [Call::Metrics, Call::Fingerprint])
    };
    sets.map(case).to_vec()
}

/// Items with two or three ranges of sizes, in rows of any capacity, or in batches with a token budget that holds a few
/// items.
fn packing(number: u64) -> Case {
    let mut drawn = sizes(32, 3_000 + number, 1 << 20).into_iter();
    let mut below = |bound: u64| drawn.next().expect("enough numbers") % bound;
    let capacity = [60, 100, 255, 1_000, 4_096, 16_500, 100_003, (1 << 20) + 7, 1 << 25][below(9) as usize];
    let unit = if below(4) == 0 { 1 + below(9) as u32 } else { 1 };
    let mut lengths = Vec::new();
    for range in 0..2 + below(2) {
        let least = below(capacity / 2);
        let (spread, many) = ([3, 30, 1 << 30][below(3) as usize], [6, 30, 90][below(3) as usize]);
        let most = least + 1 + below(spread.min(capacity - least));
        let count = 1 + below(many);
        lengths.extend(uniform(count as usize, number * 8 + range, least as u32, most.min(capacity) as u32));
    }
    lengths.iter_mut().for_each(|length| *length = length.div_ceil(unit) * unit);
    let capacity = capacity as u32 * unit;
    let strategy = ["pack", "pack", "pack", "budget"][below(4) as usize];
    let mut config = BatchConfig {
        packing: ["optimal", "optimal", "fast"][below(3) as usize].into(),
        max_length: u32::MAX,
        max_batch_size: 1,
        capacity: if strategy == "pack" { capacity } else { 0 },
        ..base(strategy, &lengths, 1)
    };
    if strategy == "budget" {
        config.counting = "unpadded".into();
        config.budget = U64(capacity.into());
        config.max_batch_size = 2 + below(5) as u32;
    }
    let name = format!("{strategy} {}, number {number}: {} into {capacity}", config.packing, lengths.len());
    asked(&name, batcher(config), [Call::Metrics, Call::Fingerprint])
}

/// Large capacities at the limit of column generation: 2^18 units, one unit fewer, one more, and 2^20.
fn wide_packing(number: u64) -> Case {
    let mut drawn = sizes(32, 5_000 + number, 1 << 20).into_iter();
    let mut below = |bound: u64| drawn.next().expect("enough numbers") % bound;
    let unit = 1 + below(2) as u32 * 2;
    let capacity = [(1 << 18) - 1, 1 << 18, (1 << 18) + 1, 1 << 20][below(4) as usize] * unit;
    let count = [40, 120, 300][below(3) as usize];
    let (least, most) = [(capacity / 9, capacity / 3), (capacity / 30, capacity / 2), (capacity / 5, capacity * 3 / 5)]
        [below(3) as usize];
    let mut lengths = uniform(count, number, least, most);
    let again = below(count as u64) as usize;
    lengths.extend_from_within(..again);
    lengths.iter_mut().for_each(|length| *length = length.div_ceil(unit) * unit);
    let config = BatchConfig {
        packing: ["optimal", "optimal", "fast"][below(3) as usize].into(),
        max_length: u32::MAX,
        max_batch_size: 1,
        capacity,
        ..base("pack", &lengths, 1)
    };
    let name = format!("pack {}, number {number}: {} into {capacity}", config.packing, lengths.len());
    asked(&name, batcher(config), [Call::Metrics, Call::Fingerprint])
}

/// Items of more than 512 sizes. The master problem of column generation has 512 rows at most.
fn large_packing(number: u64) -> Case {
    let mut drawn = sizes(32, 4_000 + number, 1 << 20).into_iter();
    let mut below = |bound: u64| drawn.next().expect("enough numbers") % bound;
    let count = 520 + below(80) as u32;
    let least = 100 + below(700) as u32;
    let gap = 1 + below(3) as u32;
    let mut lengths: Vec<u32> = (0..count).map(|nth| least + nth * gap).collect();
    let most = least + count * gap;
    lengths.extend(uniform(below(200) as usize, number, least, most));
    let capacity = most + below(u64::from(most) * 2) as u32;
    let config = BatchConfig {
        packing: "optimal".into(),
        max_length: u32::MAX,
        max_batch_size: 1,
        capacity,
        ..base("pack", &lengths, 1)
    };
    let name = format!("pack optimal, number {number}: {} of {count} sizes into {capacity}", lengths.len());
    asked(&name, batcher(config), [Call::Metrics, Call::Fingerprint])
}

pub fn states() -> Vec<Case> {
    let mut cases = Vec::new();
    // The rest of an epoch that another group of ranks began, in many windows.
    let of = |world| {
        let config =
            BatchConfig { window: Some(100), max_length: 9, ..base("budget", &uniform(3_000, 110, 0, 9), world) };
        batcher(config)
    };
    let state = state_of(&[(3, 2)], of);
    let calls = [Call::Resume { state }].into_iter().chain((0..3_000).step_by(97).map(locate));
    cases.push(asked("where 3,000 samples are, after 2 steps of 3 ranks", of(2), calls));
    // Many groups of ranks that took their steps in one window.
    let of = |world| {
        let config = BatchConfig { max_batch_size: 1, ..base("pad-to-max", &uniform(110, 111, 1, 9), world) };
        batcher(config)
    };
    for groups in [63, 64] {
        let past: Vec<_> = (0..groups).map(|nth| (1 + nth % 2, 1)).collect();
        let state = state_of(&past, of);
        let calls = [Call::Resume { state }, Call::Metrics, Call::Fingerprint, state_after(0), state_after(1)];
        cases.push(asked(&format!("after {groups} groups"), of(3), calls));
    }
    cases
}
