//! The order `feistel` in the component, through the Rust host, compared with the same code compiled for this machine.

use std::hint::black_box;
use std::time::Instant;

use samedeal::Sampler;
use samedeal_core as core;

use super::{Group, slug};
use crate::Result;
use crate::bench::{Bench, Series};
use crate::quantity::Quantity::{Seconds, Times};
use crate::table::Row;

/// Number of indices in a read.
pub const WINDOW: u32 = 1 << 16;

const SAMPLES: [(&str, u64); 3] = [("10^5", 100_000), ("10^8", 100_000_000), ("10^12", 1_000_000_000_000)];

pub const GROUP: Group = Group {
    name: "feistel",
    about: "the default order through the Rust host, against the native core",
    warm_up: true,
    run,
    rows,
};

fn run(bench: &mut Bench) -> Result<()> {
    let windows = bench.size(256, 2);
    for (name, samples) in SAMPLES {
        let host = Sampler::builder(samples).epoch(bench.run).build()?;
        let native = core::Sampler::new(core::Config { epoch: bench.run, ..core::Config::new(samples) })?;
        let (time, ours) = per_index(samples, windows, |start| Ok(host.window::<u64>(start, WINDOW)?))?;
        bench.series.record(format!("rust.{}", slug(name)), Seconds(time));
        let (time, theirs) = per_index(samples, windows, |start| Ok(native.indices::<u64>(start, WINDOW)?))?;
        bench.series.record(format!("native-core.{}", slug(name)), Seconds(time));
        if ours != theirs {
            return Err("the component and the native core disagree".into());
        }
    }
    Ok(())
}

fn rows(series: &Series) -> Vec<Row> {
    let host = |name| series.median(&format!("rust.{}", slug(name)));
    let native = |name| series.median(&format!("native-core.{}", slug(name)));
    let mut rows = Vec::new();
    for (name, _) in SAMPLES {
        let row = Row::new(format!("Rust, feistel, N = {name}, per index"), Seconds(host(name)));
        rows.push(row.at_most(Seconds(15e-9), Some(Seconds(8e-9))));
    }
    let times = SAMPLES.map(|(name, _)| host(name));
    let spread = times.into_iter().fold(f64::NAN, f64::max) / times.into_iter().fold(f64::NAN, f64::min);
    rows.push(Row::new("the slowest of these to the fastest", Times(spread)).at_most(Times(1.25), None));
    for (name, _) in SAMPLES {
        let row = Row::new(format!("Rust, feistel, N = {name}, per index"), Seconds(host(name)));
        rows.push(row.more_than("native core", Seconds(native(name))).at_most(Times(1.6), Some(Times(1.2))));
    }
    rows
}

/// The time for each index of `windows` windows, and the last window. One window is read before, unmeasured.
pub fn per_index<I>(samples: u64, windows: u64, read: impl Fn(u64) -> Result<Vec<I>>) -> Result<(f64, Vec<I>)> {
    let window = u64::from(WINDOW);
    let at = |number: u64| read((number * window) % (samples - window + 1));
    let mut last = black_box(at(0)?);
    let began = Instant::now();
    for number in 0..windows {
        last = black_box(at(number)?);
    }
    Ok((began.elapsed().as_secs_f64() / (windows * window) as f64, last))
}
