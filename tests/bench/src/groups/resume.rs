//! PyTorch's loaders: resuming within an epoch, passes, the first batch, and ranks that compare themselves.

use super::{Group, slug};
use crate::Result;
use crate::bench::{Bench, Series};
use crate::quantity::Quantity::{Bytes, Seconds, Times};
use crate::table::Row;

/// torch's class that is compared with a sampler of samedeal.
const SAMPLER: &str = "DistributedSampler";
/// Grain's pipeline, which shuffles and makes batches without a loader of torch.
const GRAIN: &str = "Grain";
const RANKS: u64 = 8;

/// Number of samples of a loader, also as text for people, and number of passes over them.
const PASSES: &[(u64, &str, u64)] = &[
    (100, "100", 2_000),
    (1_000, "1,000", 1_000),
    (10_000, "10^4", 300),
    (100_000, "10^5", 50),
    (1_000_000, "10^6", 7),
    (10_000_000, "10^7", 1),
];

pub const GROUP: Group = Group {
    name: "resume",
    about: "resuming at 90 % of N = 10^8, the first batch of a loader (5 GB), passes, and verify_ranks",
    warm_up: false,
    run,
    rows,
};

fn run(bench: &mut Bench) -> Result<()> {
    let deal = format!("{} {RANKS} {}", bench.size(100_000_000, 10_000), bench.run);
    for name in ["feistel", "order_torch", "torchdata", "grain"] {
        let time = bench.fresh_python()?.ask(&format!("resume_{name} {deal}"))?[0];
        bench.series.record(slug(name), Seconds(time));
    }
    for (name, measurement) in [
        ("feistel", "first_batch_loader"),
        ("feistel-once", "first_batch_loader_once"),
        ("torch", "first_batch_loader_torch"),
        ("grain", "first_batch_grain"),
    ] {
        let answer = bench.fresh_python()?.ask(&format!("{measurement} {deal}"))?;
        bench.series.record(format!("first-batch.{name}"), Seconds(answer[0]));
        bench.series.record(format!("first-batch-memory.{name}"), Bytes(answer[1]));
    }
    for &(samples, name, count) in PASSES {
        let (samples, count) = (samples.min(bench.size(samples, 1_000)), bench.size(count, 2));
        let request = format!("passes {samples} {RANKS} {} {count}", bench.run);
        let answer = bench.python()?.ask(&request)?;
        for (whose, time) in ["torch", "order-torch", "feistel"].iter().zip(answer) {
            bench.series.record(format!("pass.{}.{whose}", slug(name)), Seconds(time));
        }
    }
    let request = format!("pass_grain {} {RANKS} {}", bench.size(10_000_000, 1_000), bench.run);
    let time = bench.python()?.ask(&request)?[0];
    bench.series.record("pass.10-7.grain", Seconds(time));
    let request = format!("verify_ranks {} {}", bench.size(4, 2), bench.size(100, 2));
    let time = bench.python()?.ask(&request)?[0];
    bench.series.record("verify-ranks", Seconds(time));
    Ok(())
}

fn rows(series: &Series) -> Vec<Row> {
    let figure = |name: &str| series.median(name);
    let resumed = |title, name| {
        let other = Seconds(figure("torchdata"));
        Row::new(title, Seconds(figure(name))).less_than("StatefulDistributedSampler", other)
    };
    let mut rows = vec![
        resumed("resume at 90 % of N = 10^8, W = 8, feistel", "feistel").at_least(Times(1_000.0), None),
        resumed("the same in order=\"torch\", which has to shuffle", "order-torch"),
        Row::new("first batch of a DataLoader, N = 10^8, W = 8, feistel", Seconds(figure("first-batch.feistel")))
            .less_than(SAMPLER, Seconds(figure("first-batch.torch")))
            .at_least(Times(200.0), None),
        Row::new("the same, the first time on a machine", Seconds(figure("first-batch.feistel-once")))
            .less_than(SAMPLER, Seconds(figure("first-batch.torch"))),
        Row::new("its peak memory beyond the imports", Bytes(figure("first-batch-memory.feistel-once")))
            .less_than(SAMPLER, Bytes(figure("first-batch-memory.torch")))
            .at_least(Times(50.0), None),
    ];
    for (_, name, _) in PASSES {
        let theirs = Seconds(figure(&format!("pass.{}.torch", slug(name))));
        for (whose, order) in [("order-torch", "its order"), ("feistel", "feistel")] {
            let title = format!("pass of a DataLoader, N = {name}, W = 8, {order}");
            let row =
                Row::new(title, Seconds(figure(&format!("pass.{}.{whose}", slug(name))))).less_than(SAMPLER, theirs);
            rows.push(if whose == "order-torch" { row.at_least(Times(1.0), None) } else { row });
        }
    }
    for (title, ours, theirs) in [
        ("resume at 90 % of N = 10^8, W = 8, feistel", "feistel", "grain"),
        ("first batch, N = 10^8, W = 8, feistel", "first-batch.feistel", "first-batch.grain"),
        ("pass in batches of 32, N = 10^7, W = 8, feistel", "pass.10-7.feistel", "pass.10-7.grain"),
    ] {
        rows.push(Row::new(title, Seconds(figure(ours))).less_than(GRAIN, Seconds(figure(theirs))));
    }
    rows.push(
        Row::new("verify_ranks, 4 ranks, an epoch", Seconds(figure("verify-ranks"))).at_most(Seconds(5e-3), None),
    );
    rows
}
