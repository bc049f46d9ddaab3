//! The Rust host against programs in other languages.

use std::time::Instant;

use samedeal::Sampler;

use super::Group;
use super::feistel::{WINDOW, per_index};
use crate::Result;
use crate::bench::Bench;
use crate::quantity::Quantity::{Seconds, Times};
use crate::table::Row;

pub const FISHER_YATES: Group = Group {
    name: "fisher-yates",
    about: "a table of 10^7 samples in the component, against torch.randperm in native code",
    warm_up: true,
    run: |bench| {
        let samples = bench.size(10_000_000, 10_000);
        let began = Instant::now();
        let sampler = Sampler::builder(samples).epoch(bench.run).order("fisher-yates").build()?;
        sampler.window::<u32>(0, 1)?;
        bench.series.record("samedeal", Seconds(began.elapsed().as_secs_f64()));
        let request = format!("randperm {samples} {}", bench.run);
        let time = bench.python()?.ask(&request)?[0];
        bench.series.record("torch-randperm", Seconds(time));
        Ok(())
    },
    rows: |series| {
        let row = Row::new("Rust, fisher-yates, N = 10^7, to the first index", Seconds(series.median("samedeal")))
            .less_than("torch.randperm, 1 thread", Seconds(series.median("torch-randperm")))
            .at_least(Times(1.0), Some(Times(2.0)));
        vec![row]
    },
};

pub const NODE: Group = Group {
    name: "node",
    about: "the default order in Node, against the Rust host, both in 32 bits",
    warm_up: true,
    run: node,
    rows: |series| {
        let row = Row::new("Node, feistel, N = 10^8, per index", Seconds(series.median("node")))
            .more_than("Rust", Seconds(series.median("rust")))
            .at_most(Times(2.0), Some(Times(1.3)));
        vec![row]
    },
};

fn node(bench: &mut Bench) -> Result<()> {
    let samples = 100_000_000;
    let windows = bench.size(256, 2);
    let request = format!("per_index {samples} {WINDOW} {windows} {}", bench.run);
    let answer = bench.node()?.ask(&request)?;
    bench.series.record("node", Seconds(answer[0]));
    let sampler = Sampler::builder(samples).epoch(bench.run).build()?;
    let (time, last) = per_index(samples, windows, |start| Ok(sampler.window::<u32>(start, WINDOW)?))?;
    bench.series.record("rust", Seconds(time));
    let sum: u64 = last.into_iter().map(u64::from).sum();
    if answer[1] != sum as f64 {
        return Err("Node and the Rust host disagree".into());
    }
    Ok(())
}
