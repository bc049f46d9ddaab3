//! What decides a deal.

use std::convert::Infallible;

use clap::Args;
use samedeal::{Error, Failure, FailureKind, Layout, Remainder, Sampler};

use crate::args::dataset::Dataset;
use crate::args::values::{named, within};
use crate::commands::state::contradiction;
use crate::read::checkpoint::Saved;
use crate::write::problem::Problem;

/// Everything that decides a deal, but the number of samples and the rank.
#[derive(Args)]
#[command(next_help_heading = "Deal")]
pub struct DealArgs {
    /// Seed of the order [default: 0, or that of --resume]
    #[arg(long, value_parser = within(i64::MIN, i64::MAX), allow_negative_numbers = true)]
    pub seed: Option<i64>,
    /// Number of the epoch
    #[arg(long, value_parser = within(0, u64::MAX), default_value = "0", allow_negative_numbers = true)]
    pub epoch: u64,
    /// Order of the epoch, one of those that `samedeal orders` lists; `sharded` is for files alone [default: feistel, or that of
    /// --resume]
    #[arg(long)]
    pub order: Option<String>,
    /// With --order sharded: how many streams the files are cut into, a multiple of every world to come [default: 64]
    #[arg(long, value_name = "COUNT", value_parser = within(1, u32::MAX), allow_negative_numbers = true)]
    pub lanes: Option<u32>,
    /// With --order sharded: how many neighbouring samples of a lane are shuffled together [default: 256]
    #[arg(long, value_name = "COUNT", value_parser = within(1, u32::MAX), allow_negative_numbers = true)]
    pub window: Option<u32>,
    /// How many ranks share the epoch
    #[arg(long, value_parser = within(1, u32::MAX), default_value = "1", allow_negative_numbers = true)]
    pub world: u32,
    /// What happens where the world does not divide the samples
    #[arg(long, default_value = "pad", value_parser = named::<Remainder>(Remainder::ALL.iter().map(|it| it.name())))]
    pub remainder: Remainder,
    /// Which positions belong to a rank
    #[arg(long, default_value = "strided", value_parser = named::<Layout>(Layout::ALL.iter().map(|it| it.name())))]
    pub layout: Layout,
}

impl DealArgs {
    pub fn seed(&self) -> i64 {
        self.seed.unwrap_or(0)
    }

    pub fn order(&self) -> &str {
        self.order.as_deref().unwrap_or("feistel")
    }

    /// Takes over what a state says. The error says which option contradicts it.
    pub fn settle(&mut self, saved: &Saved) -> Result<(), String> {
        // What is no state says nothing, and the library says so.
        let Some(seed) = saved.seed() else { return Ok(()) };
        let order = saved.word("order").to_owned();
        match &self.order {
            Some(given) if *given != order => return Err(contradiction("order", given, order)),
            _ => self.order = Some(order),
        }
        match self.seed {
            Some(given) if given != seed => return Err(contradiction("seed", given, seed)),
            _ => self.seed = Some(seed),
        }
        Ok(())
    }

    pub fn sampler(&self, dataset: &Dataset, rank: u32) -> Result<Sampler, Problem> {
        self.sampler_of(dataset, rank, self.world)
    }

    /// The order of all samples, as a single reader gets them.
    pub fn whole(&self, dataset: &Dataset) -> Result<Sampler, Problem> {
        // It has all positions with any layout, and a world of 1 neither drops nor pads.
        self.sampler_of(dataset, 0, 1)
    }

    /// The same for one of so many readers, which a rank may have several of.
    pub fn sampler_of(&self, dataset: &Dataset, reader: u32, readers: u32) -> Result<Sampler, Problem> {
        let Self { epoch, lanes, window, remainder, layout, .. } = self;
        let order = self.order();
        let builder = if order == SHARDED {
            if dataset.files.is_empty() {
                let needed = "name the files, or directories of them, in place of --samples";
                return Err(Problem::message(format!(
                    "--order {SHARDED} is for samples that are stored in files; {needed}"
                )));
            }
            let sizes: Vec<_> = dataset.files.iter().map(|file| file.count).collect();
            Sampler::sharded(sizes, lanes.unwrap_or(64), window.unwrap_or(256))
        } else if lanes.is_some() || window.is_some() {
            return Err(Problem::message(format!(
                "--lanes and --window are for --order {SHARDED}; the order is {order}"
            )));
        } else {
            Sampler::builder(dataset.samples).order(order)
        };
        let builder = builder.seed(self.seed()).epoch(*epoch).rank(reader).world(readers);
        builder.remainder(*remainder).layout(*layout).build().map_err(|error| match error {
            // The library lists those that take no more than a name.
            Error::Failure(failure) if failure.kind == FailureKind::UnknownName && failure.field == "order" => {
                let only = if dataset.files.is_empty() { ", and of files alone" } else { "," };
                Error::from(Failure { allowed: format!("{}{only} {SHARDED}", failure.allowed), ..failure }).into()
            }
            error => error.into(),
        })
    }
}

/// The order that is made of the sizes of files, and not by its name alone.
pub const SHARDED: &str = "sharded";

#[derive(Args)]
#[command(next_help_heading = "Deal")]
pub struct RankArgs {
    /// Which of the ranks
    #[arg(long, value_parser = within(0, u32::MAX), default_value = "0", allow_negative_numbers = true)]
    pub rank: u32,
}

/// Of a subcommand that answers for all ranks: an option that says so to whoever names one.
#[derive(Args, Default)]
pub struct AllRanks {
    #[arg(long = "rank", hide = true, value_parser = no_rank, allow_negative_numbers = true)]
    _rank: Option<Infallible>,
}

fn no_rank(_: &str) -> Result<Infallible, &'static str> {
    Err("the answer is for all ranks; leave --rank out")
}

#[derive(Args)]
pub struct BatchArgs {
    /// Samples in a batch
    #[arg(long, value_name = "SIZE", value_parser = within(1, u32::MAX), allow_negative_numbers = true)]
    pub batch_size: u32,
    /// Leave out a last, partial batch
    #[arg(long)]
    pub drop_last: bool,
}
