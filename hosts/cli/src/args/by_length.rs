//! The options of batches by length.

use std::path::PathBuf;

use clap::Args;
use samedeal::{
    BatchBuilder, Batcher, Counting, Error, Failure, FailureKind, Packing, Segment, Strategy, Tail, TooLong,
};
use serde_json::{Map, Value, json};

use crate::args::choices::choice;
use crate::args::deal::{DealArgs, EpochArgs, SHARDED, lists};
use crate::args::recipe::{given, with};
use crate::args::values::within;
use crate::read::lengths::{Lengths, Unit};
use crate::read::numbers::written;
use crate::write::problem::Problem;

/// Batches of samples of different length: where the lengths are, and how samples become batches.
#[derive(Args)]
#[command(next_help_heading = "Batches by length")]
pub struct ByLengthArgs {
    /// Make batches of samples of different length. COLUMN of PATH holds the lengths as whole numbers, or text, bytes or lists that
    /// are measured. PATH may be Parquet, CSV, TSV or JSON (an array of objects, an object in each line, or an object of lists);
    /// without COLUMN, .npy, a JSON array of numbers, or text with a number in each line. --lengths PATH is the same as PATH --lengths
    #[arg(long, value_name = "COLUMN", num_args = 0..=1)]
    pub lengths: Option<Option<String>>,
    /// What to count if COLUMN holds no lengths. Text needs it [default: the items of lists, the bytes of bytes]
    #[arg(long, value_name = "UNIT", value_enum, requires = "lengths")]
    pub length_unit: Option<Unit>,
    #[command(flatten)]
    pub options: BatchOptions,
}

/// How samples become batches. An option that is not given is left out of the recipe.
#[derive(Args)]
#[group(multiple = true, requires = "lengths")]
#[command(next_help_heading = "Batches by length")]
pub struct BatchOptions {
    /// How samples become batches [default: budget]
    #[arg(long, value_parser = choice::<Strategy>())]
    pub strategy: Option<Strategy>,
    /// The most rows of a batch. 0 means no limit, and needs --max-tokens or --max-cost [default: 32; no limit with --max-tokens or
    /// --max-cost; pack: 1]
    #[arg(long, value_name = "ROWS", value_parser = within(0, u32::MAX))]
    pub max_batch_size: Option<u32>,
    /// The most tokens of a sample; see --too-long [default: no limit]
    #[arg(long, value_name = "TOKENS", value_parser = within(0, u32::MAX))]
    pub max_length: Option<u32>,
    /// With the strategies budget and bucket: the most tokens of a batch. If it is there several times, `batches` shows what each limit makes of
    /// the lengths, in a row for each [default: --max-batch-size times --max-length; bucket: no limit]
    #[arg(long, value_name = "TOKENS", value_parser = within(0, u64::MAX))]
    pub max_tokens: Vec<u64>,
    /// With --counting weighted, instead of --max-tokens: the most that a batch may cost
    #[arg(long, value_name = "COST", value_parser = within(0, u64::MAX))]
    pub max_cost: Option<u64>,
    /// What a sample costs [default: padded]
    #[arg(long, value_parser = choice::<Counting>())]
    pub counting: Option<Counting>,
    /// With --counting weighted: the cost of a token [default: 1]
    #[arg(long, value_name = "COST", value_parser = within(0, u32::MAX))]
    pub linear: Option<u32>,
    /// With --counting weighted: the cost of a pair of tokens [default: 0]
    #[arg(long, value_name = "COST", value_parser = within(0, u32::MAX))]
    pub quadratic: Option<u32>,
    /// A batch with more samples than this has a multiple of it [default: 1]
    #[arg(long, value_name = "ROWS", value_parser = within(1, u32::MAX))]
    pub batch_size_multiple: Option<u32>,
    /// With the strategy pack: how many tokens fit into a row [default: --max-length]
    #[arg(long, value_name = "TOKENS", value_parser = within(1, u32::MAX))]
    pub capacity: Option<u32>,
    /// With the strategy pack, or --counting unpadded or weighted: how hard to look for few rows [default: fast]
    #[arg(long, value_parser = choice::<Packing>())]
    pub packing: Option<Packing>,
    /// With the strategy bucket: the width of each bucket, in lengths
    #[arg(long, value_name = "LENGTHS", value_parser = within(1, u32::MAX), group = "buckets")]
    pub bucket_width: Option<u32>,
    /// With the strategy bucket: the greatest length of each bucket, ascending, with commas. Longer samples get one more bucket
    #[arg(long, value_name = "LENGTHS", value_parser = within(0, u32::MAX), value_delimiter = ',', group = "buckets")]
    pub boundaries: Option<Vec<u32>>,
    /// With the strategy bucket: how many buckets there are, each with about the same number of samples [default, if no buckets are
    /// named: 64 buckets with about the same number of tokens]
    #[arg(long, value_name = "COUNT", value_parser = within(1, 1_u32 << 20), group = "buckets")]
    pub quantiles: Option<u32>,
    /// How many samples are sorted into batches together. A larger window makes fuller batches, a smaller one changes the order less;
    /// 0 keeps the order [default: 64 steps, at least 8192 samples]
    #[arg(long, value_name = "COUNT", value_parser = within(0, u32::MAX))]
    pub batch_window: Option<u32>,
    /// What happens to samples that are longer than --max-length, or than a batch or a row allows [default: error]
    #[arg(long, value_parser = choice::<TooLong>())]
    pub too_long: Option<TooLong>,
    /// What happens to samples at the end of the epoch that do not fill a step [default: even-split]
    #[arg(long, value_parser = choice::<Tail>())]
    pub tail: Option<Tail>,
}

/// A comparison of all strategies, instead of batches.
#[derive(Args)]
#[command(next_help_heading = "Batches by length")]
pub struct CompareArgs {
    /// Compare all strategies, instead of showing batches
    #[arg(long, requires = "lengths")]
    #[arg(conflicts_with_all = ["rank", "start", "count", "all", "strategy", "packing", "recipe"])]
    pub compare: bool,
    /// Compare all strategies, and draw the lengths and the waste of every strategy into this file
    #[arg(long, value_name = "FILE.svg", requires = "lengths")]
    #[arg(conflicts_with_all = ["rank", "start", "count", "all", "strategy", "packing", "recipe"])]
    pub plot: Option<PathBuf>,
}

impl BatchOptions {
    /// The options that were given, as members of a recipe.
    pub fn members(&self) -> Map<String, Value> {
        given(json!({
            "strategy": self.strategy.map(Strategy::name), "counting": self.counting.map(Counting::name),
            "linear": self.linear, "quadratic": self.quadratic, "max_batch_size": self.max_batch_size,
            "max_length": self.max_length, "max_tokens": self.max_tokens.first(), "max_cost": self.max_cost,
            "batch_size_multiple": self.batch_size_multiple, "capacity": self.capacity,
            "packing": self.packing.map(Packing::name), "bucket_width": self.bucket_width,
            "boundaries": self.boundaries, "quantiles": self.quantiles, "batch_window": self.batch_window,
            "too_long": self.too_long.map(TooLong::name), "tail": self.tail.map(Tail::name),
        }))
    }
}

impl BatchOptions {
    /// Refuses several limits where they cannot be compared.
    pub fn one_limit(&self) -> Result<(), Problem> {
        match self.max_tokens[..] {
            [first, second, ..] => Err(Problem::message(format!(
                "--max-tokens is {first} and {second}; allowed here: one of them. `samedeal batches` without --compare takes several"
            ))),
            _ => Ok(()),
        }
    }
}

impl ByLengthArgs {
    /// Refuses options that have no meaning with --lengths, and names those that have. (If clap knew these conflicts, it would
    /// no longer require --lengths.)
    fn check(epoch: &EpochArgs) -> Result<(), Problem> {
        let EpochArgs { dataset, deal, batch_size, drop_last, .. } = epoch;
        let size = batch_size.map_or(String::new(), |size| format!("add --max-batch-size {size} instead"));
        let order = "name it in a recipe (--recipe FILE), or add another order instead; `samedeal orders` lists them";
        let is_option = deal.by_length.is_none();
        let refused = [
            (dataset.samples.is_some(), "--samples", "name the files that tell lengths instead"),
            (batch_size.is_some(), "--batch-size", &size),
            (*drop_last, "--drop-last", "add --tail drop instead"),
            (deal.remainder.is_some(), "--remainder", "--tail says what happens at the end"),
            (deal.unit.is_some(), "--unit", "leave it out; what lengths count is --length-unit"),
            (deal.layout.is_some(), "--layout", "leave it out; ranks get similar samples in every step"),
            (deal.order() == SHARDED && is_option, "--order sharded", order),
            (deal.lanes.is_some(), "--lanes", "leave it out; it is for --order sharded"),
            (deal.shuffle_window.is_some(), "--shuffle-window", "add --batch-window instead"),
            (
                deal.workers.is_some(),
                "--workers",
                "leave it out; the workers of a loader take the batches of its rank in turn",
            ),
        ];
        let refused = refused.into_iter().find(|(is_given, ..)| *is_given);
        refused.map_or(Ok(()), |(_, option, instead)| {
            Err(Problem::message(format!("{option} has no meaning with --lengths: {instead}")))
        })
    }

    /// Reads the lengths that decide batches.
    pub fn read(&self, epoch: &EpochArgs) -> Result<Lengths, Problem> {
        Self::check(epoch)?;
        let (paths, column) = (&epoch.dataset.paths, self.lengths.as_ref().and_then(Option::as_deref));
        match column.map(PathBuf::from) {
            // The file alone was named, which may hold nothing but lengths.
            Some(path) if paths.is_empty() && path.is_file() => Lengths::read(&[path], None, self.length_unit),
            _ if paths.is_empty() => {
                let needed =
                    "needed: the file with the lengths, such as lengths.json --lengths, or table.csv --lengths COLUMN";
                Err(Problem::message(format!("PATH is missing; {needed}")))
            }
            _ => Lengths::read(paths, column, self.length_unit),
        }
    }

    /// Batches of these lengths by the recipe of --recipe, or of the options.
    fn builder(
        &self,
        deal: &DealArgs,
        lengths: Vec<u32>,
        limit: Option<u64>,
    ) -> Result<BatchBuilder<Batcher>, Problem> {
        let mut members = self.options.members();
        members.extend(limit.map(|limit| ("max_tokens".to_owned(), limit.into())));
        let Some(recipe) = &deal.by_length else { return Ok(self.with(deal, members, lengths)) };
        let recipe = with(recipe.clone(), [("batch", members)]);
        let builder = Batcher::from_recipe(recipe, lengths).epoch(deal.epoch);
        Ok(lists(&deal.list)?.into_iter().fold(builder, |it, (path, list)| it.list(path, list)))
    }

    /// The same with other options.
    pub fn with(&self, deal: &DealArgs, batch: Map<String, Value>, lengths: Vec<u32>) -> BatchBuilder<Batcher> {
        let order = given(json!({ "name": deal.order, "seed": deal.seed.map(written) }));
        let recipe = json!({ "order": order, "deal": given(json!({ "world_size": deal.world_size })), "batch": batch });
        Batcher::from_recipe(recipe.to_string(), lengths).epoch(deal.epoch)
    }

    /// The batches that the options ask for.
    pub fn batcher(&self, deal: &DealArgs, rank: u32, lengths: Vec<u32>) -> Result<Batcher, Problem> {
        self.options.one_limit()?;
        self.batcher_of(deal, rank, lengths, None)
    }

    /// The same with a limit of tokens in place of --max-tokens.
    pub fn batcher_of(
        &self,
        deal: &DealArgs,
        rank: u32,
        lengths: Vec<u32>,
        limit: Option<u64>,
    ) -> Result<Batcher, Problem> {
        build(self.builder(deal, lengths, limit)?.rank(rank))
    }

    /// The same as it was planned in an epoch after a history, for the world size of then.
    pub fn past(
        &self,
        deal: &DealArgs,
        lengths: Vec<u32>,
        epoch: u64,
        history: &[Segment],
        world_size: u32,
    ) -> Result<Batcher, Problem> {
        build(self.builder(deal, lengths, None)?.epoch(epoch).history(history).world_size(world_size))
    }
}

/// The lists of orders. A recipe has only a hash of a long one.
const HASHED: [&str; 4] = ["sizes", "indices", "classes", "factors"];

/// Plans, and says what can be done where samples are too long.
fn build(builder: BatchBuilder<Batcher>) -> Result<Batcher, Problem> {
    builder.build().map_err(worded)
}

pub fn worded(error: Error) -> Problem {
    match error.failure() {
        Some(failure) if failure.field == "lengths" && failure.value.contains("sample") => {
            let others = TooLong::ALL.iter().map(|it| it.name()).filter(|name| *name != "error").collect::<Vec<_>>();
            let Failure { value, allowed, .. } = failure;
            // What else can be done is an option here.
            let allowed = allowed.split(';').next().unwrap_or_default();
            let what = format!("a sample is too long: {value}; allowed: {allowed}");
            Problem::message(format!("{what}, or choose what happens to it: --too-long {}", others.join(", ")))
        }
        Some(Failure { kind: FailureKind::Missing, field, .. }) if HASHED.contains(&field.as_str()) => {
            let what = format!("the recipe has only a hash of {field}");
            Problem::message(format!("{what}; name the numbers with --list PATH=FILE, where PATH ends in {field}"))
        }
        _ => error.into(),
    }
}

impl CompareArgs {
    pub fn is_given(&self) -> bool {
        self.compare || self.plot.is_some()
    }

    /// Refuses a picture of another kind.
    pub fn check(&self) -> Result<(), Problem> {
        match &self.plot {
            Some(path) if path.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("svg")) => {
                let what = "the picture is in SVG; name a file that ends in .svg";
                Err(Problem::message(format!("--plot {}: {what}", path.display())))
            }
            _ => Ok(()),
        }
    }
}
