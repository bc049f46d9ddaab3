//! Batchers: every item comes once and within its bounds, all ranks have the same steps, and batches are well filled.

use samedeal_core::batch::{
    BatchConfig, BatchStream, Batcher, Buckets, Counting, Metrics, NO_LIMIT, Strategy, Tail, TooLong,
};
use samedeal_core::{Kind, OrderId};

/// A random generator of the tests, so that lengths do not depend on the code under test.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.next().ln()).sqrt() * (std::f64::consts::TAU * self.next()).cos()
    }
}

/// Lengths from 1 to `most`, log-normal with this mean and standard deviation before they are cut.
fn log_normal(count: usize, mean: f64, deviation: f64, most: u32) -> Vec<u32> {
    let mut noise = Noise(42);
    let variance = (1.0 + (deviation / mean).powi(2)).ln();
    let lengths = std::iter::repeat_with(|| {
        let length = (mean.ln() - variance / 2.0 + variance.sqrt() * noise.normal()).exp();
        (length.round() as u32).clamp(1, most)
    });
    lengths.take(count).collect()
}

fn ratio(a: u64, b: u64) -> f64 {
    a as f64 / b as f64
}

fn report(name: &str, plan: &Batcher) -> Metrics {
    let m = plan.metrics().unwrap();
    let world = u64::from(plan.config().world_size);
    println!(
        "{name}: {} steps, padding {:.3} %, budget {:.3} %, slowest {:.3} %, cost max/mean {:.4}",
        m.steps,
        100.0 * ratio(m.padded - m.tokens, m.padded),
        100.0 * ratio(m.tokens, plan.config().budget.max(1) * m.steps * world),
        100.0 * ratio(m.tokens, world * m.slowest),
        ratio(world * m.slowest_cost, m.cost),
    );
    m
}

#[test]
fn a_ratio_has_a_name() {
    let config =
        || BatchConfig { budget: 5, max_batch_size: NO_LIMIT, ..BatchConfig::new(vec![2, 3], Strategy::Budget) };
    let plan = Batcher::of(config()).unwrap();
    let Metrics { tokens, padded, .. } = plan.metrics().unwrap();
    assert_eq!(plan.ratio("padding"), Ok((2_000_000 * (padded - tokens) + padded) / (2 * padded)));
    let stream = BatchStream::of(BatchConfig { lengths: vec![], ..config() }, 0).unwrap();
    for failure in [plan.ratio("imbalance"), stream.ratio("imbalance")].map(Result::unwrap_err) {
        assert_eq!((failure.kind, failure.field, &*failure.value), (Kind::UnknownName, "ratio", "imbalance"));
        assert!(failure.allowed.contains("cost-imbalance"));
    }
}

#[test]
fn a_default_window_follows_the_world() {
    // Lengths like those of articles of Wikipedia: a median of 210 tokens, and a long tail.
    let lengths = log_normal(1_000_000, 405.0, 673.0, 8_192);
    let base = BatchConfig { budget: 8_192, max_batch_size: NO_LIMIT, ..BatchConfig::new(lengths, Strategy::Budget) };
    for (world, most) in [(8, 0.04), (64, 0.05), (1_024, 0.06)] {
        let plan = Batcher::of(BatchConfig { world_size: world, ..base.clone() }).unwrap();
        let m = report(&format!("a million lengths, world {world}"), &plan);
        assert!(ratio(m.padded - m.tokens, m.padded) <= most, "world {world}");
    }
    let fixed = Batcher::of(BatchConfig { world_size: 64, window: Some(8_192), ..base }).unwrap();
    let m = report("the same, world 64, window 8192", &fixed);
    assert!(ratio(m.padded - m.tokens, m.padded) > 0.1, "what the default is for");
}

#[test]
fn default_buckets_follow_the_lengths() {
    let lengths = log_normal(30_000, 25.0, 12.0, 60);
    let padding = |strategy, buckets| {
        let base = BatchConfig { world_size: 8, buckets, ..BatchConfig::new(lengths.clone(), strategy) };
        let m = Batcher::of(base).unwrap().metrics().unwrap();
        ratio(m.padded - m.tokens, m.padded)
    };
    let whole = padding(Strategy::PadToMax, None);
    assert!(padding(Strategy::Bucket, None) < whole / 5.0);
    assert!(padding(Strategy::Bucket, Some(Buckets::Width(64))) > whole * 0.9);
}

#[test]
fn quality() {
    let lengths = log_normal(100_000, 600.0, 700.0, 4_096);
    let base =
        BatchConfig { budget: 16_384, max_batch_size: NO_LIMIT, ..BatchConfig::new(lengths.clone(), Strategy::Budget) };
    for world in [1, 8] {
        for window in [None, Some(8_192), Some(u32::MAX)] {
            let config = BatchConfig { world_size: world, window, keep_order: window.is_none(), ..base.clone() };
            report(&format!("padded budget, world {world}, window {window:?}"), &Batcher::of(config).unwrap());
        }
    }
    for world in [1, 8] {
        let plan =
            Batcher::of(BatchConfig { world_size: world, counting: Counting::Unpadded, ..base.clone() }).unwrap();
        report(&format!("unpadded budget, world {world}"), &plan);
    }
    for world in [1, 8] {
        for (most, window) in [(2_048, u32::MAX), (8_192, u32::MAX), (8_192, 8_192)] {
            let lengths = log_normal(100_000, 600.0, 700.0, most);
            let total: u64 = lengths.iter().map(|&l| u64::from(l)).sum();
            let plan = Batcher::of(BatchConfig {
                world_size: world,
                window: Some(window),
                capacity: most,
                max_batch_size: 1,
                ..BatchConfig::new(lengths, Strategy::Pack)
            })
            .unwrap();
            let m = report(&format!("pack {most}, world {world}, window {window}"), &plan);
            println!(
                "   fill {:.4} %, rows {} bound {}",
                100.0 * ratio(m.tokens, m.padded),
                m.rows,
                total.div_ceil(most.into())
            );
        }
    }
}

#[test]
fn a_batch_is_divided_as_evenly_as_longest_first_does() {
    let mut noise = Noise(7);
    for _ in 0..1_000 {
        let count = 50 + (noise.next() * 451.0) as usize;
        let world = 2 + (noise.next() * 63.0) as u32;
        let lengths: Vec<u32> = (0..count).map(|_| ((6.0 + noise.normal()).exp() as u32).clamp(1, 8_192)).collect();
        let (sum, most) = (lengths.iter().map(|&l| u64::from(l)).sum::<u64>(), *lengths.iter().max().unwrap());
        // With two ranks, one pack has all tokens, or all but one. In the second case two packs fill a step, and they
        // have to be divided evenly, too.
        let budget = (sum / u64::from(world) * 2).max(2 * u64::from(most));
        let mut sorted = lengths.clone();
        sorted.sort_unstable();
        let mut loads = vec![0; world as usize];
        for length in sorted.into_iter().rev() {
            *loads.iter_mut().min().unwrap() += u64::from(length);
        }
        let base = BatchConfig::new(lengths, Strategy::Budget);
        let plan = Batcher::of(BatchConfig {
            world_size: world,
            budget,
            max_batch_size: NO_LIMIT,
            counting: Counting::Unpadded,
            ..base
        });
        let m = plan.unwrap().metrics().unwrap();
        assert_eq!(m.steps, 1);
        assert!(m.slowest_cost <= *loads.iter().max().unwrap(), "{count} sequences, {world} ranks, {budget} tokens");
    }
}

const STRATEGIES: [Strategy; 4] = [Strategy::PadToMax, Strategy::Bucket, Strategy::Budget, Strategy::Pack];

/// Checks all steps of a plan. Returns for each sample the tokens of its items, plus 1 for each item.
fn verify(plan: &Batcher, count: usize) -> Vec<u64> {
    let config = plan.config();
    let mut seen = vec![0; count];
    let mut again = 0;
    for step in 0..plan.metrics().unwrap().steps {
        let mut filled = 0;
        for rank in 0..config.world_size {
            let batch = plan.take(rank, step, 1).unwrap();
            let (width, cost, repeated) = (batch.padded_lengths[0], batch.costs[0], batch.repeated[0]);
            filled += batch.samples.len();
            assert_eq!(batch.row_ends.last().copied().unwrap_or(0) as usize, batch.samples.len());
            assert_eq!(batch.batch_ends, [batch.row_ends.len() as u32]);
            let rows = batch.row_ends.len() as u64;
            let mut start = 0;
            for (row, &end) in batch.row_ends.iter().enumerate() {
                let tokens: u64 = batch.lengths[start as usize..end as usize].iter().map(|&l| u64::from(l)).sum();
                assert!(tokens <= u64::from(width), "{:?}", config.strategy);
                let is_repeated = rows - (row as u64) <= u64::from(repeated);
                for i in start as usize..end as usize {
                    assert!(batch.lengths[i] <= config.max_length);
                    if is_repeated {
                        again += 1;
                    } else {
                        seen[batch.samples[i] as usize] += 1 + u64::from(batch.lengths[i]);
                    }
                }
                start = end;
            }
            match config.strategy {
                Strategy::Budget => assert!(cost <= config.budget, "{cost} > {} at {step}, {rank}", config.budget),
                _ => assert!(rows <= u64::from(config.max_batch_size)),
            }
        }
        assert!(filled > 0, "a step of nothing");
    }
    assert_eq!(again, plan.metrics().unwrap().repeated);
    seen
}

fn sets() -> [(&'static str, Vec<u32>); 8] {
    [
        ("log-normal", log_normal(3_000, 60.0, 70.0, 400)),
        ("uniform", (0..1_000).map(|i| i % 400 + 1).collect()),
        ("more than half", vec![201; 500]),
        ("fewer than ranks", vec![7, 9]),
        ("zero", vec![0; 100]),
        ("some zero", (0..300).map(|i| if i % 3 == 0 { 0 } else { i % 50 }).collect()),
        ("equal", vec![10; 777]),
        ("none", vec![]),
    ]
}

#[test]
fn every_sample_once_within_its_bounds() {
    for (name, lengths) in &sets() {
        for strategy in STRATEGIES {
            for counting in [Counting::Padded, Counting::Unpadded, Counting::Weighted { linear: 1, quadratic: 0 }] {
                for tail in [Tail::Drop, Tail::Keep, Tail::EvenSplit, Tail::Duplicate] {
                    for world in [1, 2, 3, 8, 64] {
                        for window in [None, Some(50), Some(512), Some(u32::MAX)] {
                            let config = BatchConfig {
                                world_size: world,
                                window,
                                keep_order: window.is_none(),
                                tail,
                                counting,
                                budget: if strategy == Strategy::Budget { 1_000 } else { 0 },
                                capacity: 400,
                                max_batch_size: 5,
                                buckets: Some(Buckets::Boundaries(vec![64, 128, 256])),
                                ..BatchConfig::new(lengths.clone(), strategy)
                            };
                            let what = format!("{name} {strategy:?} {counting:?} {tail:?} {world} {window:?}");
                            let plan = Batcher::of(config).unwrap_or_else(|failure| panic!("{what}: {failure:?}"));
                            let seen = verify(&plan, lengths.len());
                            let missing = seen.iter().filter(|&&tokens| tokens == 0).count() as u64;
                            assert_eq!(missing, plan.metrics().unwrap().dropped, "{what}");
                            for (&tokens, &length) in seen.iter().zip(lengths) {
                                assert!(tokens == 0 || tokens == 1 + u64::from(length), "{what}");
                            }
                            if tail != Tail::Drop {
                                assert_eq!(missing, 0, "{what}");
                            }
                            if tail == Tail::Duplicate {
                                assert_eq!(plan.metrics().unwrap().empty, 0, "{what}");
                            }
                            if tail == Tail::EvenSplit && lengths.len() >= 8 * 64 && window != Some(50) {
                                assert_eq!(plan.metrics().unwrap().empty, 0, "{what}");
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_too_long() {
    let lengths = vec![5, 100, 12, 30, 7, 250];
    for strategy in STRATEGIES {
        let config =
            BatchConfig { max_length: 20, capacity: 40, budget: 60, ..BatchConfig::new(lengths.clone(), strategy) };
        let in_order = BatchConfig { order: OrderId::Sequential, ..config.clone() };
        let failure = Batcher::of(in_order).unwrap().num_steps().unwrap_err();
        assert_eq!((failure.field, failure.value.as_str()), ("lengths", "100 (sample 1)"));
        let plan = |too_long| Batcher::of(BatchConfig { too_long, ..config.clone() }).unwrap();
        let truncated = plan(TooLong::Truncate);
        assert_eq!(verify(&truncated, 6), [6, 21, 13, 21, 8, 21]);
        assert_eq!(truncated.metrics().unwrap().truncated, 3);
        let dropped = plan(TooLong::Drop);
        assert_eq!(verify(&dropped, 6), [6, 0, 13, 0, 8, 0]);
        assert_eq!(dropped.metrics().unwrap().too_long, 3);
        let split = plan(TooLong::Split);
        assert_eq!(verify(&split, 6), [6, 105, 13, 32, 8, 263]);
        assert_eq!(split.metrics().unwrap().split, 3);
    }
}

#[test]
fn a_stream_gives_what_a_plan_in_the_same_order_gives() {
    let lengths = log_normal(5_000, 60.0, 70.0, 400);
    for strategy in STRATEGIES {
        for (window, too_long) in [
            (None, TooLong::Error),
            (Some(256), TooLong::Split),
            (Some(1_000), TooLong::Single),
            (Some(9_999), TooLong::Drop),
        ] {
            let config = BatchConfig {
                world_size: 3,
                window,
                keep_order: window.is_none(),
                too_long,
                seed: 5,
                order: OrderId::Sequential,
                budget: if strategy == Strategy::Budget { 1_000 } else { 0 },
                capacity: 400,
                max_length: if too_long == TooLong::Error { 400 } else { 300 },
                max_batch_size: 7,
                buckets: Some(Buckets::Boundaries(vec![64, 128, 256])),
                ..BatchConfig::new(lengths.clone(), strategy)
            };
            let plan = Batcher::of(config.clone()).unwrap();
            for rank in 0..3 {
                let mut stream = BatchStream::of(config.clone(), rank).unwrap();
                let mut given = Vec::new();
                let mut at = 0_u64;
                for piece in lengths.chunks(777) {
                    let samples: Vec<u64> = (at..).take(piece.len()).collect();
                    at += piece.len() as u64;
                    stream.push(&samples, piece).unwrap();
                    given.extend(std::iter::from_fn(|| stream.take().unwrap()));
                }
                stream.flush();
                assert_eq!(stream.push(&[1], &[1]).unwrap_err().field, "samples");
                given.extend(std::iter::from_fn(|| stream.take().unwrap()));
                let samples: Vec<u64> = given.iter().flat_map(|run| run.samples.iter().copied()).collect();
                let costs: Vec<u64> = given.iter().flat_map(|run| run.costs.iter().copied()).collect();
                let whole = plan.take(rank, 0, plan.metrics().unwrap().steps as u32).unwrap();
                assert_eq!((samples, costs), (whole.samples, whole.costs), "{strategy:?} {window:?}");
                assert_eq!(*stream.metrics(), plan.metrics().unwrap());
            }
        }
    }
}

#[test]
fn another_epoch_is_another_plan() {
    let config = BatchConfig {
        budget: 500,
        max_batch_size: NO_LIMIT,
        ..BatchConfig::new(log_normal(2_000, 60.0, 70.0, 400), Strategy::Budget)
    };
    let mut plan = Batcher::of(config.clone()).unwrap();
    let before = plan.fingerprint().unwrap();
    plan = plan.at_epoch(1).unwrap();
    assert_ne!(plan.fingerprint().unwrap(), before);
    assert_eq!(
        plan.fingerprint().unwrap(),
        Batcher::of(BatchConfig { epoch: 1, ..config }).unwrap().fingerprint().unwrap()
    );
    plan = plan.at_epoch(0).unwrap();
    assert_eq!(plan.fingerprint().unwrap(), before);
}

#[test]
fn every_seed_and_epoch_gives_every_sample_once() {
    let mut at = 0;
    for (name, lengths) in sets() {
        let shorter = &lengths[..lengths.len().min(700)];
        for strategy in STRATEGIES {
            for world in [1, 2, 3, 8, 64] {
                for seed in [0, 1, -7, i64::MAX, i64::MIN] {
                    let config = BatchConfig {
                        seed,
                        world_size: world,
                        window: [Some(512), Some(100), None][at % 3],
                        keep_order: at % 3 == 2,
                        tail: [Tail::Keep, Tail::EvenSplit, Tail::Duplicate][at / 3 % 3],
                        budget: if strategy == Strategy::Budget { 1_000 } else { 0 },
                        capacity: 400,
                        max_batch_size: 5,
                        buckets: Some(Buckets::Quantiles(7)),
                        ..BatchConfig::new(shorter.to_vec(), strategy)
                    };
                    at += 1;
                    let mut plan = Batcher::of(config).unwrap();
                    for epoch in [0, 1, u64::MAX] {
                        plan = plan.at_epoch(epoch).unwrap();
                        let seen = verify(&plan, shorter.len());
                        let whole = seen.iter().zip(shorter).all(|(&seen, &length)| seen == 1 + u64::from(length));
                        assert!(whole, "{name} {strategy:?} {world} {seed} {epoch}");
                    }
                }
            }
        }
    }
}
