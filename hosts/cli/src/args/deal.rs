//! The options of an epoch: what is dealt, in which order, and to whom.

use std::convert::Infallible;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use samedeal::{Builder, Error, FailureKind, Layout, Remainder, Sampler};

use crate::args::choices::choice;
use crate::args::dataset::{Dataset, DatasetArgs};
use crate::args::values::{Numbers, numbers, within};
use crate::read::checkpoint::Saved;
use crate::read::lengths::Unit;
use crate::read::numbers;
use crate::write::problem::Problem;

/// The order that is made of the sizes of files, and not by its name alone.
pub const SHARDED: &str = "sharded";
/// What an answer ends with that is of files and another order.
pub const OF_SHARDED: &str =
    "(a ShardedDataset reads other samples: add --order sharded, its --seed, and the loader's --workers)";

/// What every subcommand takes that answers for an epoch.
#[derive(Args)]
pub struct EpochArgs {
    #[command(flatten)]
    pub dataset: DatasetArgs,
    #[command(flatten)]
    pub deal: DealArgs,
    /// Samples in a batch [default with --resume of the state of a dataset in files: as in the state]
    #[arg(long, value_name = "SIZE", value_parser = within(1, u32::MAX))]
    pub batch_size: Option<u32>,
    /// Leave out the last batch of a reader if it has fewer samples than the others
    #[arg(long)]
    pub drop_last: bool,
    /// The state that is resumed, once it is read.
    #[arg(skip)]
    pub saved: Option<Saved>,
}

#[derive(Args)]
#[command(next_help_heading = "Deal")]
pub struct DealArgs {
    /// Seed of the order [default: 0, or the seed of --resume]
    #[arg(long, value_parser = within(i64::MIN, i64::MAX))]
    pub seed: Option<i64>,
    /// Number of the epoch [default: 0]
    #[arg(id = "epoch", long = "epoch", value_name = "EPOCH", value_parser = numbers)]
    pub epochs: Option<Numbers>,
    /// The one epoch of an answer: the first of them, or that of a state.
    #[arg(skip)]
    pub epoch: u64,
    /// Order of the epoch; `samedeal orders` lists them. `sharded` needs files [default: feistel, or the order of --resume]
    #[arg(long)]
    pub order: Option<String>,
    /// With --order sharded: how many streams the files are cut into. Choose a multiple of every world size that you will use
    /// [default: 64]
    #[arg(long, value_name = "COUNT", value_parser = within(1, u32::MAX))]
    pub lanes: Option<u32>,
    /// With --order sharded: how many neighbouring samples of a lane are shuffled together [default: 256]
    #[arg(long, value_name = "COUNT", value_parser = within(1, u32::MAX))]
    pub shuffle_window: Option<u32>,
    /// How many ranks share the epoch [default: 1]
    #[arg(long, value_name = "RANKS", value_parser = within(1, u32::MAX))]
    pub world_size: Option<u32>,
    /// With --order sharded, or --resume of the state of a dataset in files: how many loader workers each rank has. Each worker
    /// forms its own batches; the loader of a rank takes them in turn
    #[arg(long, value_name = "COUNT", value_parser = within(1, u32::MAX))]
    pub workers: Option<u32>,
    /// What happens if the number of samples is not a multiple of the number of readers [default: pad]
    #[arg(long, value_parser = choice::<Remainder>())]
    pub remainder: Option<Remainder>,
    /// Which positions a rank gets [default: strided]
    #[arg(long, value_parser = choice::<Layout>())]
    pub layout: Option<Layout>,
    /// How many neighbouring positions always go to the same rank: the size of groups that must stay together, such as the answers to one
    /// question in an order with copies [default: 1]
    #[arg(long, value_name = "POSITIONS", value_parser = unit)]
    pub unit: Option<u32>,
    /// Take the deal from a recipe that a library or `samedeal recipe` wrote: order, seed, world size, remainder, layout, unit, and the number
    /// of samples; with --lengths, how samples become batches. An option beside it replaces what the recipe says of the same. - is standard
    /// input. Name the files too if the recipe has a hash of their sizes, and with --lengths
    #[arg(long, value_name = "FILE")]
    pub recipe: Option<PathBuf>,
    /// Continue from a state that a library or `samedeal state` wrote. FILE is the state, a checkpoint that `samedeal explain`
    /// can read, or - for standard input. The state decides order, seed, epoch and number of samples; the world size may differ
    #[arg(long, value_name = "FILE", conflicts_with = "epoch")]
    pub resume: Option<PathBuf>,
    /// With --recipe or --resume: numbers of which it has only a hash, as a list of more than 256 numbers. PATH is the name of the list in the
    /// recipe, after the path to the order that has it, such as of/indices or sources/web/indices. FILE is a NumPy array, a JSON list, or a
    /// text with one number in each line. May be repeated
    #[arg(long, value_name = "PATH=FILE", value_parser = list)]
    pub list: Vec<(String, PathBuf)>,
    /// A composed order, which a recipe has and options do not, once it is read.
    #[arg(skip)]
    pub composed: Option<Builder>,
    /// The recipe of batches by length, once it is read.
    #[arg(skip)]
    pub by_length: Option<String>,
}

impl EpochArgs {
    /// Refuses to make batches of an unknown size; a state of a dataset in files may know it.
    pub fn with_batches(&self) -> Result<(), Problem> {
        let needed =
            "--batch-size is missing; needed: the samples in a batch, or --lengths for samples of different length";
        match (self.has_batches(), self.reading()) {
            (true, _) => Ok(()),
            (false, None) => Err(Problem::message(needed)),
            (false, Some(_)) => Err(Problem::message(
                "--batch-size is missing; needed: the samples in a batch, which a state does not have if no step was taken since the \
                 beginning of the epoch, or since all workers had read as many",
            )),
        }
    }

    /// Whether the size of the batches is known: by an option, or by the last group of readers in a state.
    pub fn has_batches(&self) -> bool {
        let saved = self.reading().and_then(|saved| saved.history.last()).and_then(|past| past.batch_size);
        self.batch_size.is_some() || saved.is_some()
    }

    /// Whether there are files, and they are dealt in another order than a `ShardedDataset` has. A state has the order of its run.
    pub fn is_unsharded(&self, dataset: &Dataset) -> bool {
        !dataset.files.is_empty() && self.deal.order() != SHARDED && self.reading().is_none()
    }

    /// Refuses options of batches for an answer without batches.
    pub fn without_batches(&self) -> Result<(), Problem> {
        let given = if self.batch_size.is_some() { "--batch-size" } else { "--drop-last" };
        match self.batch_size.is_none() && !self.drop_last || self.reading().is_some() {
            true => Ok(()),
            false => Err(Problem::message(format!(
                "{given} has no effect here: it is for --resume of the state of a dataset in files; leave it out"
            ))),
        }
    }
}

impl DealArgs {
    pub fn seed(&self) -> i64 {
        self.seed.unwrap_or(0)
    }

    pub fn order(&self) -> &str {
        self.order.as_deref().unwrap_or("feistel")
    }

    pub fn world_size(&self) -> u32 {
        self.world_size.unwrap_or(1)
    }

    pub fn unit(&self) -> u32 {
        self.unit.unwrap_or(1)
    }

    /// How many readers there are: ranks, or the workers of all ranks.
    fn readers(&self) -> Result<u32, Problem> {
        let (ranks, order) = (self.world_size(), self.order());
        let Some(workers) = self.workers else { return Ok(ranks) };
        if order != SHARDED {
            let what = format!(
                "--workers is for --order {SHARDED}, where each worker has its own batches; the order is {order}"
            );
            return Err(Problem::message(what));
        }
        if self.unit() > 1 {
            let what = "--workers is for positions that are dealt one by one: loader workers have no units; leave --unit or --workers out";
            return Err(Problem::message(what));
        }
        let most = u32::MAX / ranks.max(1);
        let readers = ranks.checked_mul(workers).filter(|_| workers > 0);
        readers.ok_or_else(|| Problem::message(format!("--workers is {workers}; allowed: 1 to {most}")))
    }

    /// The sampler of the first reader.
    pub fn sampler(&self, dataset: &Dataset) -> Result<Sampler, Problem> {
        self.build(dataset, self.readers()?, self.unit)
    }

    /// The order of all samples, as a single reader gets them: with any layout, no sample is dropped or padding.
    pub fn whole(&self, dataset: &Dataset) -> Result<Sampler, Problem> {
        self.build(dataset, 1, Some(1))
    }

    fn build(&self, dataset: &Dataset, readers: u32, unit: Option<u32>) -> Result<Sampler, Problem> {
        if let Some(composed) = &self.composed {
            let builder = composed.clone().epoch(self.epoch).world_size(readers);
            let builder = self.remainder.into_iter().fold(builder, Builder::remainder);
            let builder = unit.into_iter().fold(builder, Builder::unit);
            return Ok(self.layout.into_iter().fold(builder, Builder::layout).build()?);
        }
        let builder = match (self.order() == SHARDED, dataset.sizes()) {
            (true, Some(sizes)) => Sampler::sharded(sizes),
            (true, None) => {
                let needed = "name the files or their directories instead of --samples";
                let what = format!("--order {SHARDED} needs samples that are stored in files; {needed}");
                return Err(Problem::message(what));
            }
            (false, _) => Sampler::builder(dataset.samples),
        };
        let builder = self.order.iter().fold(builder.epoch(self.epoch).world_size(readers), Builder::order);
        let builder = self.seed.into_iter().fold(builder, Builder::seed);
        let builder = self.lanes.into_iter().fold(builder, Builder::lanes);
        let builder = self.shuffle_window.into_iter().fold(builder, Builder::shuffle_window);
        let builder = self.remainder.into_iter().fold(builder, Builder::remainder);
        let builder = self.layout.into_iter().fold(builder, Builder::layout);
        let builder = unit.into_iter().fold(builder, Builder::unit);
        builder.build().map_err(|error| match error {
            // The library also lists those that a recipe alone can have.
            Error::Failure(mut failure) if failure.kind == FailureKind::UnknownName && failure.field == "order" => {
                let only = if dataset.files.is_empty() { ", and for files" } else { "," };
                let plain = samedeal::orders().unwrap_or_default().join(", ");
                failure.allowed = format!("{plain}{only} {SHARDED}");
                Error::from(failure).into()
            }
            // Only a composed order has a name that the library knows and does not list.
            Error::Failure(_) if !is_plain(self.order()) => {
                let what = format!(
                    "--order is {:?}, which is made of other orders; allowed: --recipe FILE (samedeal blend --recipe-out \
                     writes the recipe of a blend)",
                    self.order()
                );
                Problem::message(what)
            }
            error => error.into(),
        })
    }
}

/// Whether an order needs no more than options.
fn is_plain(order: &str) -> bool {
    order == SHARDED || samedeal::orders().unwrap_or_default().iter().any(|plain| plain == order)
}

/// What --unit says.
pub fn unit(text: &str) -> Result<u32, String> {
    let allowed = within(1, 1_u32 << 20)(text);
    match Unit::value_variants().iter().any(|counted| counted.name() == text) {
        true => Err(format!("what lengths count is --length-unit {text}")),
        false => allowed,
    }
}

/// What --list says.
pub fn list(text: &str) -> Result<(String, PathBuf), String> {
    let found = text.split_once('=').filter(|(path, file)| !path.is_empty() && !file.is_empty());
    found.map(|(path, file)| (path.to_owned(), file.into())).ok_or_else(|| "allowed: PATH=FILE".to_owned())
}

/// The lists that come beside a recipe, by their paths.
pub fn lists(list: &[(String, PathBuf)]) -> Result<Vec<(String, Vec<u64>)>, Problem> {
    list.iter().map(|(path, file)| Ok((path.clone(), numbers::read(file)?))).collect()
}

/// One of the readers.
#[derive(Args)]
#[command(next_help_heading = "Deal")]
pub struct ReaderArgs {
    /// Which rank
    #[arg(long, value_parser = within(0, u32::MAX), default_value = "0")]
    pub rank: u32,
    /// Which worker of the rank [default: 0]
    #[arg(long, requires = "workers", value_parser = within(0, u32::MAX))]
    pub worker: Option<u32>,
}

/// Of a subcommand that answers for all ranks: --rank is an error that says so.
#[derive(Args, Default)]
pub struct AllRanks {
    #[arg(long = "rank", hide = true, value_parser = no_rank)]
    _rank: Option<Infallible>,
}

fn no_rank(_: &str) -> Result<Infallible, &'static str> {
    Err("the answer is for all ranks; leave --rank out")
}
