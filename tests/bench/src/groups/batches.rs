//! Batches of sequences of different length: the time of plans, and of any step of them.

use std::hint::black_box;
use std::time::Instant;

use samedeal::{BatchBuilder, Batcher, Strategy};
use samedeal_core::batch as core;

use super::Group;
use super::lengths::{even, log_normal};
use crate::Result;
use crate::bench::{Bench, Series};
use crate::quantity::Quantity::{Seconds, Share};
use crate::table::Row;

/// The largest number of tokens in a batch: four of the longest samples.
pub const BUDGET: u64 = 4 * MOST as u64;
/// The longest of the log-normal lengths.
pub const MOST: u32 = 4_096;
/// A window of the whole dataset.
pub const WHOLE: u32 = u32::MAX;
/// Tokens of a row.
const CAPACITY: u32 = 2_048;

pub const GROUP: Group = Group {
    name: "batching",
    about: "plans of batches for 10^6 sequences in Rust and Python, packs of 16 * 10^6, and steps at random",
    warm_up: true,
    run,
    rows,
};

/// The strategies that are planned, and the number of steps that are read at random.
const STRATEGIES: [&str; 3] = ["budget", "pack", "bucket"];
const STEPS: u64 = 2_000;

fn run(bench: &mut Bench) -> Result<()> {
    let count = bench.size(1_000_000, 2_000);
    for name in STRATEGIES {
        let builder = strategy(name, count).epoch(bench.run);
        let began = Instant::now();
        let batcher = builder.clone().build()?;
        // This plans every window.
        let steps = batcher.num_steps()?;
        bench.series.record(format!("rust-plan.{name}"), Seconds(began.elapsed().as_secs_f64()));
        at_random(bench, name, "rust-a-step-at-random", &batcher)?;

        let config = native(name, count, bench.run);
        let began = Instant::now();
        let planned = core::Batcher::of(config)?.num_steps()?;
        bench.series.record(format!("native-core-plan.{name}"), Seconds(began.elapsed().as_secs_f64()));
        if planned != steps {
            return Err("the component and the native core disagree".into());
        }
        if name != "bucket" {
            let request = format!("plan_{name} {count} {} {} {}", most(name), room(name), bench.run);
            let answer = bench.python()?.ask(&request)?;
            bench.series.record(format!("python-plan.{name}"), Seconds(answer[0]));
            bench.series.record(format!("python-a-step-at-random-mean.{name}"), Seconds(answer[1]));
            if answer[2] != steps as f64 {
                return Err("Python and Rust disagree".into());
            }
        }
        at_random(bench, name, "rust-whole-window", &builder.batch_window(WHOLE).build()?)?;
    }
    shapes(bench)
}

/// Packs by their shapes alone, which no interface offers. A plan adds the place of each sample.
fn shapes(bench: &mut Bench) -> Result<()> {
    let sizes = even(512, bench.size(16_000_000, 1_000));
    let began = Instant::now();
    let classes = core::histogram(&sizes)?;
    let packs = core::Patterns::new(&classes, 512, u32::MAX, core::Packing::Fast)?;
    bench.series.record("shapes", Seconds(began.elapsed().as_secs_f64()));
    bench.series.record("shapes-beyond-bound", Share(packs.count() as f64 / packs.bound() as f64 - 1.0));
    Ok(())
}

fn most(name: &str) -> u32 {
    if name == "pack" { CAPACITY } else { MOST }
}

/// The limit of a batch.
fn room(name: &str) -> u64 {
    if name == "pack" { CAPACITY.into() } else { BUDGET }
}

fn strategy(name: &str, count: u64) -> BatchBuilder<Batcher> {
    let builder = Batcher::builder(log_normal(count, most(name)));
    match name {
        "budget" => builder.max_tokens(BUDGET),
        "pack" => builder.strategy(Strategy::Pack).capacity(CAPACITY),
        _ => builder.strategy(Strategy::Bucket).quantiles(30),
    }
}

fn native(name: &str, count: u64, epoch: u64) -> core::BatchConfig {
    let made =
        |strategy| core::BatchConfig { epoch, ..core::BatchConfig::new(log_normal(count, most(name)), strategy) };
    match name {
        "budget" => {
            core::BatchConfig { budget: BUDGET, max_batch_size: core::NO_LIMIT, ..made(core::Strategy::Budget) }
        }
        "pack" => core::BatchConfig { capacity: CAPACITY, max_batch_size: 1, ..made(core::Strategy::Pack) },
        _ => core::BatchConfig { buckets: Some(core::Buckets::Quantiles(30)), ..made(core::Strategy::Bucket) },
    }
}

/// Reads the first step after planning, and then many at random.
fn at_random(bench: &mut Bench, name: &str, window: &str, batcher: &Batcher) -> Result<()> {
    let steps = batcher.num_steps()?;
    let read = |step: u64| -> Result<f64> {
        let began = Instant::now();
        black_box(batcher.batch(step % steps)?);
        Ok(began.elapsed().as_secs_f64())
    };
    let mut state = bench.run;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    bench.series.record(format!("{window}-first-step.{name}"), Seconds(read(next())?));
    let mut times = (0..bench.size(STEPS, 10)).map(|_| read(next())).collect::<Result<Vec<_>>>()?;
    times.sort_by(f64::total_cmp);
    bench.series.record(format!("{window}-median.{name}"), Seconds(times[times.len() / 2]));
    bench.series.record(format!("{window}-99-of-100-within.{name}"), Seconds(times[times.len() * 99 / 100]));
    Ok(())
}

fn rows(series: &Series) -> Vec<Row> {
    let figure = |name: String| Seconds(series.median(&name));
    let mut rows = Vec::new();
    for name in ["budget", "pack"] {
        let row = Row::new(format!("Rust, plan of 10^6 sequences, {name}"), figure(format!("rust-plan.{name}")));
        rows.push(row.at_most(Seconds(0.5), None));
        let row = Row::new("the same, beside the native core", figure(format!("rust-plan.{name}")));
        rows.push(row.more_than("native core", figure(format!("native-core-plan.{name}"))));
        let row = Row::new(format!("Python, plan of 10^6 sequences, {name}"), figure(format!("python-plan.{name}")));
        rows.push(row.at_most(Seconds(0.6), None));
    }
    let row = Row::new("native core, packs of 16 * 10^6 by 512 lengths, shapes", figure("shapes".into()));
    rows.push(row.at_most(Seconds(0.05), None));
    let over = Share(series.median("shapes-beyond-bound"));
    rows.push(Row::new("the same: packs beyond the lower bound", over));
    for name in STRATEGIES {
        for (which, words) in [("median", "median"), ("99-of-100-within", "99 of 100 within")] {
            let row = Row::new(
                format!("Rust, a step at random of 10^6, {name}: {words}"),
                figure(format!("rust-a-step-at-random-{which}.{name}")),
            );
            rows.push(row.at_most(Seconds(1e-3), None));
        }
    }
    for name in ["budget", "pack"] {
        rows.push(Row::new(
            format!("Python, a step at random of 10^6, {name}: mean"),
            figure(format!("python-a-step-at-random-mean.{name}")),
        ));
    }
    for name in STRATEGIES {
        let whole = format!("{name}, whole window");
        let row =
            Row::new(format!("Rust, {whole}: the first step"), figure(format!("rust-whole-window-first-step.{name}")));
        rows.push(row.at_most(Seconds(1e-3), None));
        for (which, words) in [("median", "median"), ("99-of-100-within", "99 of 100 within")] {
            let row = Row::new(
                format!("Rust, {whole}: every other, {words}"),
                figure(format!("rust-whole-window-{which}.{name}")),
            );
            rows.push(row.at_most(Seconds(1e-3), None));
        }
    }
    rows
}
