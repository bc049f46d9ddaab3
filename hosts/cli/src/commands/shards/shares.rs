use std::ops::RangeInclusive;

use samedeal::{Load, Tier};
use serde_json::{Value, json};

use super::Planned;
use crate::args::format::Format;
use crate::args::plan::ShardsArgs;
use crate::write::items::Items;
use crate::write::output::{grouped, print};
use crate::write::problem::Problem;

/// How many rows a table shows.
const SHOWN: usize = 64;

/// What every rank and every worker has to read.
pub fn print_loads(planned: &Planned, format: Format) -> Result<(), Problem> {
    let workers = planned.plan.config().workers as usize;
    let by_rank = planned.plan.loads(Tier::Ranks)?;
    let by_worker = if workers > 1 { planned.plan.loads(Tier::Workers)? } else { Vec::new() };
    let mut rows = Vec::new();
    for (rank, load) in by_rank.iter().enumerate() {
        rows.push((rank, None, load));
        let first = (rank * workers).min(by_worker.len());
        let of_rank = by_worker[first..].iter().take(workers).enumerate();
        rows.extend(of_rank.map(|(worker, load)| (rank, Some(worker), load)));
    }
    let who: &[&str] = if workers > 1 { &["rank", "worker"] } else { &["rank"] };
    let mut items = Items::new([who, &["files", "samples", "bytes"]].concat());
    let shown = if format == Format::Table { rows.len().min(SHOWN) } else { rows.len() };
    for &(rank, worker, load) in &rows[..shown] {
        let worker = worker.map_or("all".into(), |worker| (worker as u64).into());
        let who = [(rank as u64).into(), worker].into_iter().take(who.len());
        items.push(who.chain([load.shards.into(), load.samples.into(), load.bytes.into()]));
    }
    print_items(&items, format, rows.len() - shown)
}

/// The files of a rank, in the order in which its workers read them.
pub fn print_files(planned: &Planned, rank: u32, worker: Option<u32>, format: Format) -> Result<(), Problem> {
    let mut items = Items::new(["worker", "number", "shard", "file", "samples", "bytes"]);
    let mut left = 0;
    for worker in of(planned, worker) {
        for (number, shard) in (0_u64..).zip(planned.plan.shards(rank, worker)?) {
            if format == Format::Table && items.len() == SHOWN {
                left += 1;
                continue;
            }
            let file = &planned.dataset.files[shard as usize];
            let path = planned.path(shard);
            items.push([worker.into(), number.into(), shard.into(), path.into(), file.count.into(), file.bytes.into()]);
        }
    }
    print_items(&items, format, left)
}

/// Adds what each rank and worker has to read, and the files of a rank if it is named.
pub fn add_json(planned: &Planned, args: &ShardsArgs, answer: &mut Value) -> Result<(), Problem> {
    let workers = planned.plan.config().workers as usize;
    let json = |load: &Load| json!({ "shards": load.shards, "samples": load.samples, "bytes": load.bytes });
    let loads = |tier: Tier, members: usize| -> Result<Value, Problem> {
        let loads = planned.plan.loads(tier)?;
        let loads = loads.iter().enumerate().map(|(i, load)| {
            let mut load = json(load);
            load["rank"] = (i / members).into();
            if tier == Tier::Workers {
                load["worker"] = (i % members).into();
            }
            load
        });
        Ok(loads.collect())
    };
    answer["ranks"] = loads(Tier::Ranks, 1)?;
    answer["workers"] = loads(Tier::Workers, workers)?;
    let Some(rank) = args.rank else { return Ok(()) };
    let reader = |worker| -> Result<Value, Problem> {
        let shards = planned.plan.shards(rank, worker)?;
        Ok(json!({ "rank": rank, "worker": worker, "shards": shards }))
    };
    answer["readers"] = of(planned, args.worker).map(reader).collect::<Result<Value, _>>()?;
    Ok(())
}

/// The workers that are asked for.
fn of(planned: &Planned, worker: Option<u32>) -> RangeInclusive<u32> {
    worker.map_or(0..=planned.plan.config().workers - 1, |worker| worker..=worker)
}

fn print_items(items: &Items, format: Format, left: usize) -> Result<(), Problem> {
    if format == Format::Text {
        return print(items.lines());
    }
    print(items.table())?;
    match left {
        0 => Ok(()),
        left => print(format!("and {} more, which --format text and json show", grouped(left as u64))),
    }
}
