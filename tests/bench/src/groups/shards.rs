//! Datasets in files: the plans of very many shards, and the time to read them.

use std::hint::black_box;
use std::time::Instant;

use samedeal::{Sampler, ShardPlan};

use super::Group;
use crate::Result;
use crate::bench::{Bench, Series};
use crate::quantity::Quantity::{Seconds, Times};
use crate::table::Row;

/// The largest allowed memory of a plan in the component, everything included.
const MEMORY: usize = 200_000_000;

pub const PLAN: Group = Group {
    name: "shards",
    about: "a plan of 10^6 shards for 4,096 ranks in 200 MB, and what a reader of so many has to read next",
    warm_up: true,
    run: plan,
    rows: |series| {
        let figure = |name: &str| Seconds(series.median(name));
        vec![
            Row::new("Rust, plan of 10^6 shards by size, W = 4,096, in 200 MB", figure("plan"))
                .at_most(Seconds(1.0), None),
            Row::new("the next span of a reader, 10^6 shards in 4,096 lanes", figure("span"))
                .at_most(Seconds(10e-6), None),
        ]
    },
};

/// Sizes as uneven as those of a real corpus: some shards are empty, some are a hundred times larger than others.
fn sizes(count: u64, run: u64) -> Vec<u64> {
    (0..count).map(|i| (i + run).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50).map(|x| (x * x) >> 14).collect()
}

fn plan(bench: &mut Bench) -> Result<()> {
    let shards = bench.size(1_000_000, 10_000);
    let ranks = bench.size(4_096, 64) as u32;
    let sizes = sizes(shards, bench.run);
    let began = Instant::now();
    let plan = ShardPlan::builder(sizes.clone()).world_size(ranks).memory_limit(MEMORY).build()?;
    bench.series.record("plan", Seconds(began.elapsed().as_secs_f64()));
    if !plan.verify()?.is_ok() {
        return Err("the plan has overlaps or gaps".into());
    }

    let builder = Sampler::sharded(sizes).lanes(ranks).shuffle_window(1_024);
    let sampler = builder.world_size(ranks / 4).epoch(bench.run).build()?;
    // The first call makes the order of the epoch.
    black_box(sampler.round(0)?);
    let rounds = sampler.num_rounds()?;
    let began = Instant::now();
    let mut spans = 0;
    for number in 0..rounds {
        spans += black_box(sampler.round(number)?).spans.len();
    }
    bench.series.record("span", Seconds(began.elapsed().as_secs_f64() / spans as f64));
    Ok(())
}

pub const STREAM: Group = Group {
    name: "streaming",
    about: "rows of Parquet files through ShardedDataset, against pyarrow reading them one file after the other",
    warm_up: true,
    run: |bench| {
        let rows = bench.size(1 << 20, 1 << 12);
        for name in ["pyarrow", "shards", "shuffled", "samples"] {
            let request = format!("stream_{name} {rows} {}", bench.run);
            let time = bench.python()?.ask(&request)?[0];
            bench.series.record(name, Seconds(time));
        }
        Ok(())
    },
    rows: |series: &Series| {
        let figure = |name: &str| Seconds(series.median(name));
        let row = |title, name| Row::new(title, figure(name)).more_than("pyarrow", figure("pyarrow"));
        vec![
            row("Python, streaming whole shards, 256 MB", "shards").at_most(Times(1.1), None),
            row("the same, files and rows shuffled", "shuffled"),
            row("the same in the order sharded (64 lanes, windows of 256)", "samples"),
        ]
    },
};
