//! Quality of batches of sequences of different length. `batching.py` measures other programs with the same lengths.

use samedeal::{BatchBuilder, Batcher, Packing, Strategy};
use serde_json::Value;

use super::batches::{BUDGET, MOST, WHOLE};
use super::lengths::{dense, log_normal, verses};
use super::{Group, slug};
use crate::Result;
use crate::bench::{Bench, Series};
use crate::quantity::Quantity::{self, Count, Ratio, Share};
use crate::table::Row;

pub const GROUP: Group = Group {
    name: "batching-quality",
    about: "padding, utilization, balance and packs of batches, of a real corpus and of log-normal lengths",
    warm_up: false,
    run,
    rows,
};

/// Padded batches within a budget: name, world size and window.
const PADDED: [(&str, u32, u32); 3] = [("budget-1", 1, 8_192), ("budget-8", 8, 8_192), ("budget-8-whole", 8, WHOLE)];
/// Numbers of different lengths in the dense sets, one set for each.
const FEW: [u64; 5] = [2, 5, 20, 50, 200];

fn run(bench: &mut Bench) -> Result<()> {
    let count = bench.size(100_000, 2_000);
    for (name, world, window) in PADDED {
        let builder =
            Batcher::builder(log_normal(count, MOST)).max_tokens(BUDGET).world_size(world).batch_window(window);
        let batcher = measure(bench, name, builder)?;
        let metrics = batcher.metrics()?;
        bench.series.record(format!("{name}.padding"), Share(metrics.padding_ratio()));
        bench.series.record(format!("{name}.of-the-budget"), Share(metrics.budget_utilization()));
        bench.series.record(format!("{name}.slowest-rank"), Share(metrics.slowest_rank_utilization()));
    }

    for (name, window, packing) in [
        ("pack", 8_192, Packing::Fast),
        ("pack-whole", WHOLE, Packing::Fast),
        ("pack-optimal", WHOLE, Packing::Optimal),
    ] {
        packs(bench, name, packed(log_normal(count, 2_048), 2_048, packing).batch_window(window))?;
    }
    for packing in [Packing::Fast, Packing::Optimal] {
        let mut worst = 0_f64;
        for distinct in FEW {
            let lengths = dense(distinct, count / 2, 2_048);
            let batcher = packed(lengths, 2_048, packing).batch_window(WHOLE).epoch(bench.run).build()?;
            // The figures need only the bound that optimal packing certifies, not its packs.
            let bound =
                packed(dense(distinct, count / 2, 2_048), 2_048, Packing::Optimal).batch_window(WHOLE).build()?;
            let bound = bound.metrics()?.packs_bound as f64;
            worst = worst.max(batcher.metrics()?.rows as f64 / bound - 1.0);
        }
        bench.series.record(format!("few-lengths-{}", slug(&format!("{packing:?}"))), Share(worst));
    }
    for (name, window) in [("pack-8", 8_192), ("pack-8-whole", WHOLE)] {
        packs(bench, name, packed(log_normal(count, 8_192), 8_192, Packing::Fast).world_size(8).batch_window(window))?;
    }

    let pad = Batcher::builder(verses()?).strategy(Strategy::PadToMax);
    let pad = measure(bench, "pad-to-max", pad)?.metrics()?.padded as f64;
    let bucket = || Result::Ok(Batcher::builder(verses()?).strategy(Strategy::Bucket));
    for (name, bucket) in [("bucket-width", bucket()?.bucket_width(64)), ("bucket-quantiles", bucket()?.quantiles(30))]
    {
        let bucket = measure(bench, name, bucket)?.metrics()?.padded as f64;
        bench.series.record(format!("{name}.cut"), Share(1.0 - bucket / pad));
    }
    Ok(())
}

fn packed(lengths: Vec<u32>, capacity: u32, packing: Packing) -> BatchBuilder<Batcher> {
    Batcher::builder(lengths).strategy(Strategy::Pack).capacity(capacity).packing(packing)
}

fn packs(bench: &mut Bench, name: &str, builder: BatchBuilder<Batcher>) -> Result<()> {
    let batcher = measure(bench, name, builder)?;
    let metrics = batcher.metrics()?;
    let room = recipe(&batcher)?["batch"]["capacity"].as_u64().ok_or("packs have a capacity")?;
    let least = metrics.tokens.div_ceil(room * u64::from(batcher.world_size()));
    bench.series.record(format!("{name}.full"), Share(metrics.tokens as f64 / (metrics.rows * room) as f64));
    bench.series.record(format!("{name}.gap"), Count((metrics.rows - metrics.packs_bound) as f64));
    bench.series.record(format!("{name}.steps-beyond-bound"), Count(metrics.steps as f64 - least as f64));
    bench.series.record(format!("{name}.least"), Count(least as f64));
    Ok(())
}

fn recipe(batcher: &Batcher) -> Result<Value> {
    Ok(serde_json::from_str(&batcher.recipe()?)?)
}

/// Plans, and reads every batch of every rank.
fn measure(bench: &mut Bench, name: &str, builder: BatchBuilder<Batcher>) -> Result<Batcher> {
    let batcher = builder.epoch(bench.run).build()?;
    let recipe = recipe(&batcher)?;
    let samples = recipe["order"]["samples"].as_u64().ok_or("there are samples")?;
    let most = recipe["batch"]["max_tokens"].as_u64().unwrap_or(u64::MAX);
    let mut given = vec![0_u32; samples as usize];
    let mut over = 0;
    for rank in 0..batcher.world_size() {
        let batches = batcher.batches_window(rank, 0, batcher.num_steps()? as u32)?;
        for batch in batches {
            batch.samples.iter().for_each(|&sample| given[sample as usize] += 1);
            let (rows, width) = batch.shape();
            over += u32::from((rows * width) as u64 > most);
        }
    }
    let wrong = given.into_iter().filter(|&times| times != 1).count();
    bench.series.record(format!("{name}.wrong"), Count(wrong as f64));
    bench.series.record(format!("{name}.over"), Count(f64::from(over)));
    bench.series.record(format!("{name}.imbalance"), Ratio(batcher.metrics()?.cost_imbalance()));
    Ok(batcher)
}

fn rows(series: &Series) -> Vec<Row> {
    let figure = |name: &str| series.median(name);
    let at_least = |name: &str, ours, must: fn(f64) -> Quantity, bound| {
        Row::new(name, must(figure(ours))).at_least(must(bound), None)
    };
    let at_most = |name: &str, ours: &str, must: fn(f64) -> Quantity, bound| {
        Row::new(name, must(figure(ours))).at_most(must(bound), None)
    };
    let none = |name: &str, ours: &str| at_most(name, ours, Count, 0.0);
    let steps = |name: &str, ours: &str| {
        let least = figure(&format!("{ours}.least"));
        let row = Row::new(name, Count(figure(&format!("{ours}.steps-beyond-bound"))));
        row.at_most(Count((0.001 * least + 1.0).floor()), None)
    };
    vec![
        at_most("budget, 1 rank: padding", "budget-1.padding", Share, 0.01),
        at_least("the same: of the budget", "budget-1.of-the-budget", Share, 0.955),
        none("the same: batches over the budget", "budget-1.over"),
        none("the same: samples missing or repeated", "budget-1.wrong"),
        at_least("budget, 8 ranks: slowest rank", "budget-8.slowest-rank", Share, 0.939),
        at_most("the same: cost max / mean", "budget-8.imbalance", Ratio, 1.03),
        none("the same: samples missing or repeated", "budget-8.wrong"),
        at_least("budget, 8 ranks, whole window: slowest rank", "budget-8-whole.slowest-rank", Share, 0.982),
        at_most("the same: cost max / mean", "budget-8-whole.imbalance", Ratio, 1.002),
        none("the same: samples missing or repeated", "budget-8-whole.wrong"),
        Row::new("packs of 2,048: full", Share(figure("pack.full"))),
        at_least("the same, whole window: full", "pack-whole.full", Share, 0.9998),
        none("the same, optimal: packs beyond the lower bound", "pack-optimal.gap"),
        Row::new("packs of few lengths, fast: packs beyond the bound", Share(figure("few-lengths-fast"))),
        at_most("the same, optimal", "few-lengths-optimal", Share, 0.0005),
        steps("packs of 8,192, 8 ranks: steps beyond the token bound", "pack-8"),
        at_most("the same: cost max / mean", "pack-8.imbalance", Ratio, 1.02),
        steps("the same, whole window: steps beyond the token bound", "pack-8-whole"),
        at_most("the same, whole window: cost max / mean", "pack-8-whole.imbalance", Ratio, 1.02),
        none("the same, whole window: samples missing or repeated", "pack-8-whole.wrong"),
        Row::new("bucket (64 wide), verses: padded tokens cut", Share(figure("bucket-width.cut"))),
        at_least("bucket, quantiles = 30, verses: padded tokens cut", "bucket-quantiles.cut", Share, 0.2),
    ]
}
