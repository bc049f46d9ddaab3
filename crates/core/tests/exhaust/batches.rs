//! Batches: every item comes exactly once, no budget is exceeded, and all ranks have the same number of steps, after
//! any history.

use samedeal_core::OrderId;
use samedeal_core::batch::{BatchConfig, Batcher, Buckets, Counting, NO_LIMIT, Strategy, Tail, TooLong};

/// Lengths: short, half of the budget, and longer than the budget.
const LENGTHS: [u32; 3] = [1, 3, 7];
const BUDGET: u32 = 6;
const TAILS: [Tail; 4] = [Tail::EvenSplit, Tail::Drop, Tail::Keep, Tail::Duplicate];
const TOO_LONG: [TooLong; 4] = [TooLong::Split, TooLong::Truncate, TooLong::Drop, TooLong::Single];

fn configs() -> Vec<BatchConfig> {
    let base = |strategy| BatchConfig {
        order: OrderId::Sequential,
        max_batch_size: 2,
        max_length: BUDGET,
        ..BatchConfig::new(Vec::new(), strategy)
    };
    let budget = BatchConfig { budget: BUDGET.into(), max_batch_size: NO_LIMIT, ..base(Strategy::Budget) };
    let bucket = BatchConfig { buckets: Some(Buckets::Boundaries(vec![2])), ..base(Strategy::Bucket) };
    vec![
        base(Strategy::PadToMax),
        BatchConfig { separate: true, pad_to_bucket: true, ..bucket.clone() },
        bucket,
        BatchConfig { keep_order: true, ..budget.clone() },
        BatchConfig { counting: Counting::Unpadded, max_batch_size: 4, ..budget.clone() },
        budget,
        BatchConfig { capacity: BUDGET, max_batch_size: 1, ..base(Strategy::Pack) },
        BatchConfig { capacity: BUDGET, ..base(Strategy::Pack) },
    ]
}

/// Every list of `items` lengths.
fn lists(items: u32) -> impl Iterator<Item = Vec<u32>> {
    (0..3_usize.pow(items)).map(move |mut number| {
        let digit = |_| {
            let length = LENGTHS[number % 3];
            number /= 3;
            length
        };
        (0..items).map(digit).collect()
    })
}

/// The items of an epoch that were taken, as sample, start and length, and the number of items that were left out.
#[derive(Clone, Default)]
struct Seen {
    parts: Vec<(u64, u32, u32)>,
    dropped: u64,
}

/// Takes the first steps of a batcher, and checks them.
fn take(batcher: &Batcher, steps: u64, seen: &mut Seen) {
    let config = batcher.config();
    for step in 0..steps {
        let run = batcher.step(step, 0, config.world_size).unwrap();
        assert_eq!(run.batch_ends.len(), config.world_size as usize);
        assert!(!run.samples.is_empty(), "{config:?}: a step of nothing");
        let mut row = 0;
        for (rank, &end) in run.batch_ends.iter().enumerate() {
            let rows = u64::from(end) - row;
            let is_single = config.too_long == TooLong::Single && run.padded_lengths[rank] > BUDGET;
            if config.budget > 0 {
                assert!(run.costs[rank] <= config.budget || is_single && rows == 1, "{config:?}: over the budget");
            }
            if config.max_batch_size > 0 {
                assert!(rows <= config.max_batch_size.into(), "{config:?}: too many rows");
            }
            assert!(run.repeated[rank] == 0 || config.tail == Tail::Duplicate, "{config:?}");
            for row in row..u64::from(end) {
                let items = if row == 0 { 0 } else { run.row_ends[row as usize - 1] }..run.row_ends[row as usize];
                let tokens: u32 = items.clone().map(|item| run.lengths[item as usize]).sum();
                assert!(tokens <= run.padded_lengths[rank] && !items.is_empty(), "{config:?}: a row that is too full");
                if row < u64::from(end - run.repeated[rank]) {
                    let part = |item: usize| (run.samples[item], run.starts[item], run.lengths[item]);
                    seen.parts.extend(items.map(|item| part(item as usize)));
                }
            }
            row = end.into();
        }
    }
}

/// Checks that an epoch is complete: every sample comes once, or is left out and counted.
fn check(lengths: &[u32], config: &BatchConfig, mut seen: Seen) {
    seen.parts.sort_unstable();
    let mut left_out = 0;
    for (sample, &length) in (0..).zip(lengths) {
        let mut at = 0;
        let mut parts = 0;
        for part in seen.parts.iter().filter(|part| part.0 == sample) {
            // Parts follow without a gap, unless one was left out at the end of a window.
            assert!(part.1 == at || config.tail == Tail::Drop && part.1 > at, "{config:?} {lengths:?}: {seen:?}");
            at = part.1 + part.2;
            parts += 1;
        }
        let kept = match config.too_long {
            _ if length <= BUDGET => length,
            TooLong::Truncate => BUDGET,
            TooLong::Drop => 0,
            _ => length,
        };
        let whole =
            if config.too_long == TooLong::Split { u64::from(length.div_ceil(BUDGET)) } else { u64::from(kept > 0) };
        left_out += whole - parts;
        if config.tail != Tail::Drop {
            assert_eq!((at, parts), (kept, whole), "{config:?} {lengths:?}: {seen:?}");
        }
    }
    assert!(config.tail == Tail::Drop || left_out == 0);
    // An item that is left out with one world size may be taken after a resume with another one.
    assert!(left_out <= seen.dropped, "{config:?} {lengths:?}: {left_out} left out, {} counted", seen.dropped);
}

impl core::fmt::Debug for Seen {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.parts.fmt(f)
    }
}

/// Checks every way to resume, with up to `worlds` ranks and up to `lives` times. Returns the number of cases.
fn go_on(lengths: &[u32], batcher: &Batcher, worlds: u32, lives: u32, seen: &Seen) -> u64 {
    let steps = batcher.num_steps().unwrap();
    let metrics = batcher.metrics().unwrap();
    let mut whole = seen.clone();
    take(batcher, steps, &mut whole);
    whole.dropped += metrics.dropped;
    check(lengths, batcher.config(), whole);
    let mut cases = 1;
    for taken in if lives == 0 { 0..0 } else { 0..steps } {
        let mut seen = seen.clone();
        take(batcher, taken, &mut seen);
        seen.dropped += metrics.dropped;
        let state = batcher.state(taken).unwrap();
        for world in 1..=worlds {
            let config = BatchConfig {
                lengths: lengths.to_vec(),
                world_size: world,
                window: window_of(batcher),
                ..again(batcher)
            };
            let rest = Batcher::of(config).unwrap().resume(&state).unwrap();
            if world == batcher.config().world_size {
                assert_eq!(rest.num_steps().unwrap(), steps - taken);
            }
            cases += go_on(lengths, &rest, worlds, lives - 1, &seen);
        }
    }
    cases
}

fn window_of(batcher: &Batcher) -> Option<u32> {
    batcher.config().window
}

fn again(batcher: &Batcher) -> BatchConfig {
    batcher.config().clone()
}

/// Checks every epoch of up to `items` items, on up to `worlds` ranks, with histories of up to `lives` segments.
fn every(items: u32, worlds: u32, lives: u32, widths: &[u32]) {
    let mut cases = 0;
    for count in 0..=items {
        for lengths in lists(count) {
            for config in configs() {
                // `too_long` matters only if there is an item that is too long.
                let ways = if lengths.contains(&7) { &TOO_LONG[..] } else { &TOO_LONG[..1] };
                for (&too_long, tail) in ways.iter().flat_map(|way| TAILS.map(|tail| (way, tail))) {
                    let windows = match config.strategy {
                        Strategy::PadToMax => vec![None],
                        _ if config.keep_order => vec![None],
                        _ => widths.iter().map(|&width| Some(width)).collect(),
                    };
                    for window in windows {
                        for world in 1..=worlds {
                            let config = BatchConfig {
                                lengths: lengths.clone(),
                                too_long,
                                tail,
                                window,
                                world_size: world,
                                ..config.clone()
                            };
                            let batcher = Batcher::of(config).unwrap();
                            cases += go_on(&lengths, &batcher, worlds, lives, &Seen::default());
                        }
                    }
                }
            }
        }
    }
    println!("{cases} epochs of up to {items} items, on up to {worlds} ranks, after up to {lives} segments");
}

#[test]
fn a_few() {
    every(3, 3, 1, &[2, 100]);
}

#[test]
#[ignore = "minutes: cargo xtask exhaust"]
fn many_items() {
    every(8, 4, 0, &[1, 2, 3, 5, 100]);
}

#[test]
#[ignore = "minutes: cargo xtask exhaust"]
fn two_worlds() {
    every(6, 4, 1, &[2, 3, 100]);
}

#[test]
#[ignore = "minutes: cargo xtask exhaust"]
fn three_segments() {
    every(4, 4, 3, &[2, 3, 100]);
}
