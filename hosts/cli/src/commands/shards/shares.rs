use std::ops::RangeInclusive;

use samedeal::{Loads, Tier};
use schemars::JsonSchema;
use serde::Serialize;

use super::Planned;
use crate::args::format::Format;
use crate::args::plan::ShardsArgs;
use crate::write::{Items, Problem, grouped, note};

/// How many rows a table shows.
const SHOWN: usize = 64;

/// Prints the work of every rank and every worker.
pub fn print_loads(planned: &Planned, format: Format) -> Result<(), Problem> {
    let (ranks, each) = (loads(planned, Tier::Ranks)?, planned.plan.workers() as usize);
    // A single worker reads all that its rank reads, so it gets no row.
    let workers = if each > 1 { loads(planned, Tier::Workers)? } else { Vec::new() };
    let rows = ranks.iter().zip(0_u64..).flat_map(|(load, rank)| {
        let own = workers.iter().skip(rank as usize * each).take(each).zip(0_u64..);
        std::iter::once((rank, "all".into(), load)).chain(own.map(move |(load, worker)| (rank, worker.into(), load)))
    });
    let mut items = Items::some([("rank", true), ("worker", each > 1)], ["files", "samples", "bytes"]);
    let count = ranks.len() + workers.len();
    let shown = if format == Format::Table { count.min(SHOWN) } else { count };
    for (rank, worker, &Load { shards, samples, bytes }) in rows.take(shown) {
        items.push([rank.into(), worker, shards.into(), samples.into(), bytes.into()]);
    }
    print_items(&items, format, count - shown)
}

/// The files, the samples and the bytes of every rank or worker.
fn loads(planned: &Planned, tier: Tier) -> Result<Vec<Load>, Problem> {
    let Loads { shards, samples, bytes, .. } = planned.plan.loads(tier)?;
    // The plan always has bytes here.
    let counts = shards.into_iter().zip(samples).zip(bytes.unwrap_or_default());
    Ok(counts.map(|((shards, samples), bytes)| Load { shards, samples, bytes }).collect())
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

/// The work of each rank and worker, and the files of a rank if it is named.
#[derive(Serialize, JsonSchema)]
pub struct Shares {
    ranks: Vec<RankLoad>,
    workers: Vec<WorkerLoad>,
    /// With `--rank`: what its workers read, one after the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    readers: Option<Vec<ShardsOf>>,
}

#[derive(Serialize, JsonSchema)]
struct RankLoad {
    rank: u32,
    #[serde(flatten)]
    load: Load,
}

#[derive(Serialize, JsonSchema)]
struct WorkerLoad {
    rank: u32,
    worker: u32,
    #[serde(flatten)]
    load: Load,
}

#[derive(Serialize, JsonSchema)]
struct Load {
    /// How many files, and what they have.
    shards: u64,
    samples: u64,
    bytes: u64,
}

#[derive(Serialize, JsonSchema)]
struct ShardsOf {
    rank: u32,
    worker: u32,
    /// The numbers of its files, in the order in which it reads them.
    shards: Vec<u32>,
}

impl Shares {
    pub fn new(planned: &Planned, args: &ShardsArgs) -> Result<Self, Problem> {
        let each = planned.plan.workers();
        let of_worker = |(place, load)| WorkerLoad { rank: place / each, worker: place % each, load };
        let reader = |rank: u32| {
            let shards = |worker| Ok(ShardsOf { rank, worker, shards: planned.plan.shards(rank, worker)? });
            of(planned, args.worker).map(shards).collect::<Result<Vec<_>, Problem>>()
        };
        Ok(Self {
            ranks: (0..).zip(loads(planned, Tier::Ranks)?).map(|(rank, load)| RankLoad { rank, load }).collect(),
            workers: (0..).zip(loads(planned, Tier::Workers)?).map(of_worker).collect(),
            readers: args.rank.map(reader).transpose()?,
        })
    }
}

/// The worker that is named, or all workers.
fn of(planned: &Planned, worker: Option<u32>) -> RangeInclusive<u32> {
    worker.map_or(0..=planned.plan.workers() - 1, |worker| worker..=worker)
}

fn print_items(items: &Items, format: Format, left: usize) -> Result<(), Problem> {
    items.print(format)?;
    match left {
        0 => Ok(()),
        left => note(format!("and {} more, which --format text and json show", grouped(left as u64))),
    }
}
