//! The options of an epoch: what is dealt, in which order, and to whom.

use std::convert::Infallible;
use std::path::PathBuf;

use clap::Args;
use samedeal::{Builder, Error, FailureKind, Sampler};
use serde_json::{Map, Value};

use crate::args::dataset::{Dataset, DatasetArgs};
use crate::args::member::Given;
use crate::args::recipe::with;
use crate::args::values::{Numbers, numbers, within};
use crate::generated::{Deal, Order};
use crate::read::checkpoint::Saved;
use crate::read::numbers;
use crate::write::Problem;

/// The order that needs the sizes of files, not only its name.
pub const SHARDED: &str = "sharded";
/// The note below an answer for files in another order than `sharded`, because a ShardedDataset would read other
/// samples.
pub const OF_SHARDED: &str =
    "(a ShardedDataset reads other samples: add --order sharded, its --seed, and the loader's --workers)";

/// Options of every subcommand that answers for an epoch.
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
    /// The state of `--resume`, once its file is read.
    #[arg(skip)]
    pub saved: Option<Saved>,
}

#[derive(Args)]
#[command(next_help_heading = "Deal")]
pub struct DealArgs {
    #[command(flatten)]
    pub order: Given<Order>,
    #[command(flatten)]
    pub deal: Given<Deal>,
    /// Number of the epoch [default: 0]
    #[arg(id = "epoch", long = "epoch", value_name = "EPOCH", value_parser = numbers)]
    pub epochs: Option<Numbers>,
    /// The epoch of an answer for one epoch: the first of `epochs`, or 0. With `--resume`, the epoch of the state
    /// counts instead: the resumed sampler or batcher has it.
    #[arg(skip)]
    pub epoch: u64,
    /// With --order sharded, or --resume of the state of a dataset in files: how many loader workers each rank has. Each worker
    /// forms its own batches; the loader of a rank takes them in turn
    #[arg(long, value_name = "COUNT", value_parser = within(1, u32::MAX))]
    pub workers: Option<u32>,
    /// Take the deal from a recipe that a library or `samedeal recipe` wrote: order, seed, world size, remainder, layout, unit, and the number
    /// of samples; with --lengths, how samples become batches. An option beside it replaces what the recipe says of the same. - is standard
    /// input. Name the files too if the recipe has a hash of their sizes, and with --lengths
    #[arg(long, value_name = "FILE")]
    pub recipe: Option<PathBuf>,
    /// Continue from a state that a library or `samedeal state` wrote. FILE is the state, a checkpoint that `samedeal explain`
    /// can read, or - for standard input. The state decides order, seed, epoch and number of samples; the world size may differ
    #[arg(long, value_name = "FILE", conflicts_with = "epoch")]
    pub resume: Option<PathBuf>,
    /// With --recipe or --resume: a list of which the recipe or the state has only a hash, because it has more than 256 numbers. PATH is the
    /// name of the list, after the path to the order that has the list, such as of/indices or sources/web/indices. FILE is a NumPy array, a
    /// JSON list, or a text with one number in each line. May be repeated
    #[arg(long, value_name = "PATH=FILE", value_parser = list)]
    pub list: Vec<(String, PathBuf)>,
    /// The builder of the sampler, with the options beside the recipe or the state, once the file of `--recipe` or
    /// `--resume` is read.
    #[arg(skip)]
    pub decided: Option<Builder>,
    /// Whether the order of `decided` is composed: made of other orders.
    #[arg(skip)]
    pub is_composed: bool,
    /// The recipe of batches by length, once the file of `--recipe` or `--resume` is read.
    #[arg(skip)]
    pub by_length: Option<String>,
}

impl EpochArgs {
    /// Refuses batches without a batch size. `--batch-size` or the state of a dataset in files has it.
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

    /// Whether files are dealt in another order than a `ShardedDataset` has. A state of a dataset in files always has
    /// the order of its run.
    pub fn is_unsharded(&self, dataset: &Dataset) -> bool {
        !dataset.files.is_empty() && !self.deal.is_sharded() && self.reading().is_none()
    }

    /// Refuses `--batch-size` and `--drop-last` for an answer without batches, except for the state of a dataset in
    /// files.
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
    pub fn is_sharded(&self) -> bool {
        self.order.text("name") == Some(SHARDED)
    }

    pub fn world_size(&self) -> u32 {
        self.deal.short("world_size").unwrap_or(1)
    }

    /// The given options as members of a recipe, by section.
    pub fn sections(&self) -> [(&'static str, Map<String, Value>); 2] {
        [("order", self.order.members().clone()), ("deal", self.deal.members().clone())]
    }

    /// How many readers there are: ranks, or the workers of all ranks.
    fn readers(&self) -> Result<u32, Problem> {
        let ranks = self.world_size();
        let Some(workers) = self.workers else { return Ok(ranks) };
        if !self.is_sharded() {
            let what = format!("--workers is for --order {SHARDED}, where each worker has its own batches");
            return Err(Problem::message(what));
        }
        if self.deal.short("unit").is_some_and(|unit| unit > 1) {
            let what = "--workers is for positions that are dealt one by one: loader workers have no units; leave --unit or --workers out";
            return Err(Problem::message(what));
        }
        let most = u32::MAX / ranks.max(1);
        let readers = ranks.checked_mul(workers).filter(|_| workers > 0);
        readers.ok_or_else(|| Problem::message(format!("--workers is {workers}; allowed: 1 to {most}")))
    }

    /// The sampler of the first reader.
    pub fn sampler(&self, dataset: &Dataset) -> Result<Sampler, Problem> {
        self.build(self.builder(dataset)?.world_size(self.readers()?), dataset)
    }

    /// The sampler of a single reader, which gets the whole order: no sample is dropped or padding, with any layout.
    pub fn whole(&self, dataset: &Dataset) -> Result<Sampler, Problem> {
        self.build(self.builder(dataset)?.world_size(1).unit(1), dataset)
    }

    fn builder(&self, dataset: &Dataset) -> Result<Builder, Problem> {
        if let Some(decided) = &self.decided {
            return Ok(decided.clone().epoch(self.epoch));
        }
        let [(order, mut members), deal] = self.sections();
        let sizes = dataset.sizes().filter(|_| self.is_sharded());
        if sizes.is_none() {
            if self.is_sharded() {
                return Err(needs_files());
            }
            members.insert("samples".to_owned(), dataset.samples.into());
        }
        let builder = Sampler::from_recipe(with("{}".to_owned(), [(order, members), deal])).epoch(self.epoch);
        Ok(sizes.into_iter().fold(builder, Builder::sizes))
    }

    fn build(&self, builder: Builder, dataset: &Dataset) -> Result<Sampler, Problem> {
        builder.build().map_err(|error| match (error, self.order.text("name")) {
            // The library's list also has orders that only a recipe can have, so another list replaces it.
            (Error::Failure(mut failure), _)
                if failure.kind == FailureKind::UnknownName && failure.path == "order.name" =>
            {
                let only = if dataset.files.is_empty() { ", and for files" } else { "," };
                let plain = samedeal::plain_orders().unwrap_or_default().join(", ");
                failure.allowed = format!("{plain}{only} {SHARDED}");
                Error::Failure(failure).into()
            }
            // The library knows the names of composed orders, but does not list them in `plain_orders`.
            (Error::Failure(_), Some(name)) if self.decided.is_none() && is_plain(name).is_ok_and(|it| !it) => {
                let what = format!(
                    "--order is {name:?}, which needs more than options can say; allowed: --recipe FILE (samedeal blend --recipe-out \
                     writes the recipe of a blend)"
                );
                Problem::message(what)
            }
            (error, _) => error.into(),
        })
    }
}

/// The problem of `--order sharded` without files.
pub fn needs_files() -> Problem {
    let needed = "name the files or their directories instead of --samples";
    Problem::message(format!("--order {SHARDED} needs samples that are stored in files; {needed}"))
}

/// Whether options can describe an order: it needs only a number of samples and a seed, or is `sharded`.
pub fn is_plain(order: &str) -> Result<bool, Error> {
    Ok(order == SHARDED || samedeal::plain_orders()?.iter().any(|plain| plain == order))
}

/// Parses a value of `--list`: the path of a list in the recipe, and its file.
pub fn list(text: &str) -> Result<(String, PathBuf), String> {
    let found = text.split_once('=').filter(|(path, file)| !path.is_empty() && !file.is_empty());
    found.map(|(path, file)| (path.to_owned(), file.into())).ok_or_else(|| "allowed: PATH=FILE".to_owned())
}

/// Reads the files of `--list`: the numbers of each list, by its path in the recipe.
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

/// A hidden `--rank` of subcommands that answer for all ranks: an error that says so.
#[derive(Args, Default)]
pub struct AllRanks {
    #[arg(long = "rank", hide = true, value_parser = no_rank)]
    _rank: Option<Infallible>,
}

fn no_rank(_: &str) -> Result<Infallible, &'static str> {
    Err("the answer is for all ranks; leave --rank out")
}
