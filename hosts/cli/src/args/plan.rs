//! Arguments of `samedeal shards`, `mesh` and `rank`.

use std::path::PathBuf;

use clap::Args;
use samedeal::BatchSize;

use crate::args::format::Output;
use crate::args::member::Given;
use crate::args::values::within;
use crate::generated::{Readers, Shards};

#[derive(Args)]
pub struct ShardsArgs {
    /// Parquet files, or directories that are searched for *.parquet; each file is a shard
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    /// Leave out Parquet files that cannot be read, with a warning instead of an error
    #[arg(long)]
    pub skip_unreadable: bool,
    #[command(flatten)]
    pub plan: PlanArgs,
    /// Show how many steps ranks take with batches of this size. Each worker forms its own batches
    #[arg(long, value_name = "SIZE", value_parser = within(1, u32::MAX))]
    batch_size: Option<u32>,
    /// Leave out the last, partial batch of each worker
    #[arg(long, requires = "batch_size")]
    drop_last: bool,
    /// Show the files of this rank, in the order in which it reads them
    #[arg(long, value_parser = within(0, u32::MAX))]
    pub rank: Option<u32>,
    /// Show only the files of this worker of --rank
    #[arg(long, requires = "rank", value_parser = within(0, u32::MAX))]
    pub worker: Option<u32>,
    /// Check that every file is read exactly once. With =FILE: in a run, whose readers wrote this JSON. Without: in the plan itself
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, conflicts_with = "rank")]
    pub verify: Option<Option<PathBuf>>,
    #[command(flatten)]
    pub output: Output,
}

impl ShardsArgs {
    /// The batches whose steps are counted, if there are any.
    pub fn batches(&self) -> Option<BatchSize> {
        self.batch_size.map(|size| BatchSize::new(size).drop_last(self.drop_last))
    }
}

/// Everything that decides which reader gets which file.
#[derive(Args)]
#[command(next_help_heading = "Plan")]
pub struct PlanArgs {
    #[command(flatten)]
    pub readers: Given<Readers>,
    #[command(flatten)]
    pub shards: Given<Shards>,
    /// Epoch of the shuffles
    #[arg(long, value_parser = within(0, u64::MAX), default_value = "0")]
    pub epoch: u64,
}

#[derive(Args)]
pub struct MeshArgs {
    /// The axes, the slowest first, such as dp=2 tp=4
    #[arg(value_name = "NAME=SIZE", value_parser = axis, required = true)]
    pub axes: Vec<(String, u32)>,
    /// How many ranks there are, to check that it is the product of the sizes [default: their product]
    #[arg(long, value_name = "RANKS", value_parser = within(1, u32::MAX))]
    pub world_size: Option<u32>,
    /// The axes along which ranks read different samples. Along all others, they read the same samples
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub shard: Vec<String>,
    /// Show only this rank
    #[arg(long, value_parser = within(0, u32::MAX))]
    pub rank: Option<u32>,
    #[command(flatten)]
    pub output: Output,
}

fn axis(text: &str) -> Result<(String, u32), String> {
    let read = || {
        let (name, size) = text.split_once('=')?;
        (!name.is_empty() && !name.contains(',')).then_some((name.to_owned(), within(1, u32::MAX)(size).ok()?))
    };
    read().ok_or_else(|| "allowed: a name and a size, such as dp=2".to_owned())
}

#[derive(Args)]
pub struct DetectArgs {
    /// Which rank this is; overrides the variables of the launcher
    #[arg(long, value_parser = within(0, u32::MAX))]
    pub rank: Option<u32>,
    /// How many ranks there are; overrides the variables of the launcher
    #[arg(long, value_name = "RANKS", value_parser = within(1, u32::MAX))]
    pub world_size: Option<u32>,
    #[command(flatten)]
    pub output: Output,
}
