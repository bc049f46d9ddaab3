//! The Python host, and what people use in its place.

use super::Group;
use crate::Result;
use crate::bench::{Bench, Series};
use crate::quantity::Quantity::{Bytes, Seconds, Times};
use crate::table::Row;

/// Whatever of torch is held against a sampler of ours.
const SAMPLER: &str = "DistributedSampler";

pub const RANK: Group = Group {
    name: "python-rank",
    about: "all indices of one rank of 8, N = 10^7, against the list of torch's DistributedSampler",
    warm_up: true,
    run: |bench| {
        let deal = format!("{} 8 {}", bench.size(10_000_000, 10_000), bench.run);
        for measurement in ["rank", "rank_torch", "rank_list", "rank_order_torch"] {
            let time = bench.python()?.ask(&format!("{measurement} {deal}"))?[0];
            bench.series.record(format!("python {measurement}"), time);
        }
        if bench.run == 0 && bench.python()?.ask(&format!("same_as_torch {deal}"))? != [1.0] {
            return Err("the order torch is not torch's".into());
        }
        Ok(())
    },
    rows: |series| {
        let ours = |name| Seconds(series.median(name));
        let row = |title, name| Row::new(title, ours(name)).less_than(SAMPLER, ours("python rank_torch"));
        vec![
            row("Python, indices() of a rank, N = 10^7, W = 8", "python rank").at_least(Times(20.0), Some(Times(50.0))),
            row("the same as a list of int", "python rank_list"),
            row("the same in order=\"torch\": the indices of the other", "python rank_order_torch"),
        ]
    },
};

pub const FIRST_BATCH: Group = Group {
    name: "first-batch",
    about: "the first batch of one rank of 8, N = 10^8, and the memory it takes, against torch (5 GB)",
    warm_up: false,
    run: |bench| {
        let deal = format!("{} 8 {}", bench.size(100_000_000, 10_000), bench.run);
        for measurement in ["first_batch", "first_batch_once", "first_batch_torch"] {
            let answer = bench.fresh_python()?.ask(&format!("{measurement} {deal}"))?;
            bench.series.record(format!("python {measurement} time"), answer[0]);
            bench.series.record(format!("python {measurement} memory"), answer[1]);
        }
        Ok(())
    },
    rows: |series| {
        let figure = |name: &str| series.median(&format!("python {name}"));
        vec![
            Row::new("Python, to the first batch of 32, N = 10^8, W = 8", Seconds(figure("first_batch time")))
                .less_than(SAMPLER, Seconds(figure("first_batch_torch time")))
                .at_least(Times(200.0), None),
            Row::new("the same, the first time on a machine", Seconds(figure("first_batch_once time")))
                .less_than(SAMPLER, Seconds(figure("first_batch_torch time"))),
            Row::new("its peak memory beyond the imports", Bytes(figure("first_batch_once memory")))
                .less_than(SAMPLER, Bytes(figure("first_batch_torch memory")))
                .at_least(Times(50.0), None),
        ]
    },
};

pub const GRAIN: Group = Group {
    name: "grain",
    about: "per index in Python, against grain's index_shuffle, which has no other form than a call for each",
    warm_up: true,
    run: |bench| {
        let (samples, run) = (100_000_000, bench.run);
        let counts = [("per_index", 1 << 22), ("per_index_grain", 1 << 18), ("one_by_one", 1 << 15)];
        for (measurement, count) in counts {
            let request = format!("{measurement} {samples} {} {run}", bench.size(count, 100));
            let time = bench.python()?.ask(&request)?[0];
            bench.series.record(format!("python {measurement}"), time);
        }
        Ok(())
    },
    rows: |series| {
        let ours = |name| Seconds(series.median(name));
        let row = |title, name| Row::new(title, ours(name)).less_than("grain", ours("python per_index_grain"));
        vec![
            row("Python, indices(), N = 10^8, per index", "python per_index").at_least(Times(100.0), None),
            row("the same one by one: sampler[i]", "python one_by_one"),
        ]
    },
};

pub const BATCH: Group = Group {
    name: "batch",
    about: "batches at random in Python",
    warm_up: true,
    run: |bench: &mut Bench| -> Result<()> {
        let request = format!("batch 100000000 {} {}", bench.size(20_000, 100), bench.run);
        let time = bench.python()?.ask(&request)?[0];
        bench.series.record("python batch", time);
        Ok(())
    },
    rows: |series: &Series| {
        let row = Row::new("Python, batch(i, 32) at random i", Seconds(series.median("python batch")));
        vec![row.at_most(Seconds(20e-6), Some(Seconds(8e-6)))]
    },
};
