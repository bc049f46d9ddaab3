//! Streams, each beside the batcher that gets the same lengths in its recipe.

use super::config::{BatchConfig, Buckets, stream};
use matrix::format::{Call, Case, S64, Subject, U64};

use super::sets::{long_tail, sets, uniform};
use super::{COUNTINGS, TAILS, TOO_LONG, asked, base, whole};

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut at = 0;
    for strategy in ["pad-to-max", "bucket", "budget", "pack"] {
        for tail in TAILS {
            for too_long in TOO_LONG {
                let lengths = uniform(30, at as u64, 0, 60);
                let world = [1, 2, 3][at % 3];
                let mut config = BatchConfig {
                    order: "sequential".into(),
                    tail: tail.into(),
                    too_long: too_long.into(),
                    window: [Some(7), Some(1), Some(12), None][at / 2 % 4],
                    keep_order: at / 2 % 4 == 3,
                    seed: S64(at as i64),
                    epoch: U64(at as u64 % 3),
                    max_length: if too_long == "error" { 60 } else { 33 },
                    counting: COUNTINGS[at % 3].into(),
                    linear: 2,
                    ..base(strategy, &lengths, world)
                };
                if config.counting == "weighted" {
                    config.budget.0 *= 2;
                }
                let name = format!("{strategy}, {tail}, {too_long}, number {at}");
                if at % 4 == 0 {
                    cases.push(whole(&format!("all at once: {name}"), config.clone()));
                }
                cases.push(streamed(&name, config, at as u32 % world, [1, 9, 30][at % 3]));
                at += 1;
            }
        }
    }
    for (i, (set, lengths)) in sets().into_iter().enumerate() {
        let strategy = ["budget", "pack", "bucket", "pad-to-max"][i % 4];
        let config = BatchConfig { order: "sequential".into(), window: Some(16), ..base(strategy, &lengths, 2) };
        cases.push(whole(&format!("all at once: {strategy} of {set}"), config.clone()));
        cases.push(streamed(&format!("{strategy} of {set}"), config, 1, 5));
    }
    let lengths = uniform(60, 24, 0, 60);
    let config = BatchConfig {
        order: "sequential".into(),
        window: Some(16),
        buckets: Some(Buckets::BucketWidth(10)),
        ..base("bucket", &lengths, 2)
    };
    cases.push(whole("all at once: buckets of equal width", config.clone()));
    cases.push(streamed("buckets of equal width", config, 0, 7));
    // Samples may have any numbers, up to 2^53 - 1, in any order.
    let config = BatchConfig { lengths: vec![], window: Some(8), ..base("budget", &[], 1) };
    let far = (1_u64 << 53) - 1;
    let push = |samples: &[u64], lengths: &[u32]| Call::Push {
        samples: samples.iter().copied().map(U64).collect(),
        lengths: lengths.to_vec(),
    };
    let calls = [
        push(&[far, 0, far, 7, 1 << 40], &[1, 2, 3, 4, 5]),
        next(),
        push(&[9, 8, 7, 6, 5, 4, 3], &long_tail(7, 3)),
        next(),
        next(),
        push(&[], &[]),
        Call::Flush,
        Call::Flush,
        Call::Metrics,
        next(),
        next(),
    ];
    cases.push(asked("numbers of samples", stream(&config, 0), calls));
    cases
}

pub fn next() -> Call {
    Call::Take { steps: None }
}

/// A case that pushes the lengths of a configuration, `pushed` at a time.
fn streamed(name: &str, config: BatchConfig, rank: u32, pushed: usize) -> Case {
    let mut calls = Vec::new();
    let numbered: Vec<_> = (0..).zip(config.lengths.iter().copied()).collect();
    for part in numbered.chunks(pushed) {
        let (samples, lengths) = part.iter().map(|&(sample, length)| (U64(sample), length)).unzip();
        calls.push(Call::Push { samples, lengths });
        // Takes after each push: one more than there can be windows, so that some takes find none.
        if numbered.len() <= pushed * 4 {
            calls.extend([next(), next()]);
        }
    }
    calls.push(Call::Metrics);
    calls.push(Call::Flush);
    calls.push(Call::Metrics);
    // One take more than there are windows: the last one finds none.
    let subject = stream(&config, rank);
    let ready = ready_after(&subject, &calls);
    calls.extend((0..=ready).map(|_| next()));
    asked(name, subject, calls)
}

/// The number of windows that can be taken after these calls.
fn ready_after(subject: &Subject, calls: &[Call]) -> usize {
    use matrix::Engine;
    use matrix::native::Native;
    let mut stream = Native::create(subject).expect("a stream");
    for call in calls {
        stream.call(call).expect("a call that succeeds");
    }
    core::iter::from_fn(|| Some(stream.call(&next()).expect("memory for a window")))
        .take_while(|run| !run.is_null())
        .count()
}
