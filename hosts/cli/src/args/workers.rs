//! Loader workers: with the order `sharded` each of them is a reader of its own.

use clap::Args;
use samedeal::Sampler;
use serde_json::{Map, Value, json};

use crate::args::dataset::Dataset;
use crate::args::deal::{DealArgs, SHARDED};
use crate::args::values::within;
use crate::write::problem::Problem;

#[derive(Args)]
#[command(next_help_heading = "Deal")]
pub struct WorkersArgs {
    /// With --order sharded: how many loader workers read in each rank. Worker w of n in rank r of W is reader r + W * w of
    /// W * n, and forms batches of its own
    #[arg(long, value_name = "COUNT", value_parser = within(1, u32::MAX), allow_negative_numbers = true)]
    pub workers: Option<u32>,
}

#[derive(Args)]
#[command(next_help_heading = "Deal")]
pub struct WorkerArgs {
    #[command(flatten)]
    all: WorkersArgs,
    /// Which of the workers [default: 0]
    #[arg(long, requires = "workers", value_parser = within(0, u32::MAX), allow_negative_numbers = true)]
    worker: Option<u32>,
}

impl WorkersArgs {
    /// How many readers there are in all ranks.
    fn readers(&self, deal: &DealArgs) -> Result<u32, Problem> {
        let Some(workers) = self.workers else { return Ok(deal.world) };
        if deal.order() != SHARDED {
            return Err(Problem::message(format!(
                "--workers is for --order {SHARDED}, where each loader worker deals for itself; the order is {}",
                deal.order()
            )));
        }
        let most = u32::MAX / deal.world.max(1);
        let readers = deal.world.checked_mul(workers).filter(|_| workers > 0);
        readers.ok_or_else(|| Problem::message(format!("--workers is {workers}; allowed: 1 to {most}")))
    }

    /// The sampler of reader 0 of all.
    pub fn sampler(&self, deal: &DealArgs, dataset: &Dataset) -> Result<Sampler, Problem> {
        deal.sampler_of(dataset, 0, self.readers(deal)?)
    }
}

impl WorkerArgs {
    pub fn is_given(&self) -> bool {
        self.all.workers.is_some()
    }

    /// How many workers there are, and which one it is.
    pub fn reader(&self) -> (u32, u32) {
        (self.all.workers.unwrap_or(1), self.worker.unwrap_or(0))
    }

    /// The sampler of the worker, or of its rank where there are none.
    pub fn sampler(&self, deal: &DealArgs, rank: u32, dataset: &Dataset) -> Result<Sampler, Problem> {
        let readers = self.all.readers(deal)?;
        let Some(workers) = self.all.workers else { return deal.sampler(dataset, rank) };
        let worker = self.worker.unwrap_or(0);
        for (name, value, count) in [("rank", rank, deal.world), ("worker", worker, workers)] {
            // Without any ranks, the sampler refuses.
            if value >= count && count > 0 {
                return Err(Problem::message(format!("--{name} is {value}; allowed: 0 to {}", count - 1)));
            }
        }
        deal.sampler_of(dataset, rank + deal.world * worker, readers)
    }

    /// Who reads, for people.
    pub fn who(&self, deal: &DealArgs, rank: u32) -> String {
        let rank = format!("rank {rank} of {}", deal.world);
        match self.all.workers {
            Some(workers) => format!("worker {} of {workers} in {rank}", self.worker.unwrap_or(0)),
            None => rank,
        }
    }

    /// Adds who reads to an answer whose configuration is that of the reader.
    pub fn add_json(&self, deal: &DealArgs, rank: u32, answer: &mut Map<String, Value>) {
        if let Some(workers) = self.all.workers {
            let worker = self.worker.unwrap_or(0);
            let reader = json!({ "rank": rank, "world": deal.world, "worker": worker, "workers": workers });
            answer.insert("reader".to_owned(), reader);
        }
    }
}
