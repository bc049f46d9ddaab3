//! The Python host, and the programs that it replaces.

use super::{Group, slug};
use crate::Result;
use crate::bench::{Bench, Series};
use crate::quantity::Quantity::{Bytes, Seconds, Times};
use crate::table::Row;

/// torch's class that is compared with a sampler of samedeal.
const SAMPLER: &str = "DistributedSampler";

pub const RANK: Group = Group {
    name: "python-rank",
    about: "all indices of one rank of 8, N = 10^7, against the list of torch's DistributedSampler",
    warm_up: true,
    run: |bench| {
        let deal = format!("{} 8 {}", bench.size(10_000_000, 10_000), bench.run);
        for measurement in ["rank", "rank_torch", "rank_list", "rank_order_torch"] {
            let time = bench.python()?.ask(&format!("{measurement} {deal}"))?[0];
            bench.series.record(slug(measurement), Seconds(time));
        }
        if bench.run == 0 && bench.python()?.ask(&format!("same_as_torch {deal}"))? != [1.0] {
            return Err("the order torch is not torch's".into());
        }
        Ok(())
    },
    rows: |series| {
        let ours = |name| Seconds(series.median(name));
        let row = |title, name| Row::new(title, ours(name)).less_than(SAMPLER, ours("rank-torch"));
        vec![
            row("Python, indices() of a rank, N = 10^7, W = 8", "rank").at_least(Times(20.0), Some(Times(50.0))),
            row("the same as a list of int", "rank-list"),
            row("the same in order=\"torch\": the indices of the other", "rank-order-torch"),
        ]
    },
};

pub const FIRST_BATCH: Group = Group {
    name: "first-batch",
    about: "the first batch of one rank of 8, N = 10^8, and the memory it takes, against torch (5 GB)",
    warm_up: false,
    run: |bench| {
        let deal = format!("{} 8 {}", bench.size(100_000_000, 10_000), bench.run);
        for (name, measurement) in
            [("feistel", "first_batch"), ("feistel-once", "first_batch_once"), ("torch", "first_batch_torch")]
        {
            let answer = bench.fresh_python()?.ask(&format!("{measurement} {deal}"))?;
            bench.series.record(name, Seconds(answer[0]));
            bench.series.record(format!("memory.{name}"), Bytes(answer[1]));
        }
        Ok(())
    },
    rows: |series| {
        let figure = |name: &str| series.median(name);
        vec![
            Row::new("Python, to the first batch of 32, N = 10^8, W = 8", Seconds(figure("feistel")))
                .less_than(SAMPLER, Seconds(figure("torch")))
                .at_least(Times(200.0), None),
            Row::new("the same, the first time on a machine", Seconds(figure("feistel-once")))
                .less_than(SAMPLER, Seconds(figure("torch"))),
            Row::new("its peak memory beyond the imports", Bytes(figure("memory.feistel-once")))
                .less_than(SAMPLER, Bytes(figure("memory.torch")))
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
            bench.series.record(slug(measurement), Seconds(time));
        }
        Ok(())
    },
    rows: |series| {
        let ours = |name| Seconds(series.median(name));
        let row = |title, name| Row::new(title, ours(name)).less_than("grain", ours("per-index-grain"));
        vec![
            row("Python, indices(), N = 10^8, per index", "per-index").at_least(Times(100.0), None),
            row("the same one by one: sampler[i]", "one-by-one"),
        ]
    },
};

pub const BATCH: Group = Group {
    name: "batch",
    about: "batches and samples at random in Python",
    warm_up: true,
    run: |bench: &mut Bench| -> Result<()> {
        for measurement in ["batch", "locate"] {
            let request = format!("{measurement} 100000000 {} {}", bench.size(20_000, 100), bench.run);
            let time = bench.python()?.ask(&request)?[0];
            bench.series.record(measurement, Seconds(time));
        }
        Ok(())
    },
    rows: |series: &Series| {
        let row = Row::new("Python, batch(i, 32) at random i", Seconds(series.median("batch")));
        vec![
            row.at_most(Seconds(20e-6), Some(Seconds(8e-6))),
            Row::new("Python, locate(i, 32) at random i", Seconds(series.median("locate"))),
        ]
    },
};
