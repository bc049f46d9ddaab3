//! The options of batches by length.

use std::path::PathBuf;

use clap::{Arg, Args};
use samedeal::{BatchBuilder, Batcher, Buckets, Counting, Failure, Layout, Packing, Strategy, Stretch, Tail, TooLong};

use crate::args::deal::{DealArgs, EpochArgs, SHARDED};
use crate::args::values::{named, within};
use crate::read::lengths::{Lengths, Unit};
use crate::write::problem::Problem;

/// Batches of samples of different length: where the lengths are, and how samples become batches.
#[derive(Args)]
#[command(next_help_heading = "Batches by length")]
pub struct ByLengthArgs {
    /// Make batches of samples of different length. COLUMN of PATH holds the lengths as whole numbers, or text, bytes or lists that
    /// are measured. PATH may be Parquet, CSV, TSV or JSON (an array of objects, an object in each line, or an object of lists);
    /// without COLUMN, .npy, a JSON array of numbers, or text with a number in each line
    #[arg(long, value_name = "COLUMN", num_args = 0..=1)]
    pub lengths: Option<Option<String>>,
    /// What to count if COLUMN holds no lengths. Text needs it [default: the items of lists, the bytes of bytes]
    #[arg(long, value_enum, requires = "lengths")]
    pub unit: Option<Unit>,
    /// How samples become batches [default: budget]
    #[arg(long, value_parser = named::<Strategy>(Strategy::ALL.iter().map(|it| it.name())), requires = "lengths")]
    pub strategy: Option<Strategy>,
    /// The most rows of a batch. The strategy budget also takes 0, for no limit [default: 32; budget: 0; pack: 1]
    #[arg(long, value_name = "ROWS", value_parser = within(0, u32::MAX), requires = "lengths")]
    pub max_batch_size: Option<u32>,
    /// The most tokens of a sample; see --too-long
    #[arg(long, value_name = "TOKENS", value_parser = within(0, u32::MAX), requires = "lengths")]
    pub max_length: Option<u32>,
    /// With the strategies budget and bucket: the most that a batch may cost [default: --max-batch-size times --max-length;
    /// bucket: no limit]
    #[arg(long, value_name = "COST", value_parser = within(0, u64::MAX), requires = "lengths")]
    pub budget: Option<u64>,
    /// What a sample costs: the length of the longest sample of its batch (padded), its own length (unpadded), or --linear *
    /// length + --quadratic * length^2 (weighted) [default: padded]
    #[arg(long, value_parser = named::<Counting>(Counting::ALL.iter().map(|it| it.name())), requires = "lengths")]
    pub counting: Option<Counting>,
    /// With --counting weighted: the cost of a token [default: 1]
    #[arg(long, value_name = "COST", value_parser = within(0, u32::MAX), requires = "lengths")]
    pub linear: Option<u32>,
    /// With --counting weighted: the cost of a pair of tokens [default: 0]
    #[arg(long, value_name = "COST", value_parser = within(0, u32::MAX), requires = "lengths")]
    pub quadratic: Option<u32>,
    /// Batch size multiple: a batch with more samples than this has a multiple of it [default: 1]
    #[arg(long, value_name = "ROWS", value_parser = within(1, u32::MAX), requires = "lengths")]
    pub multiple: Option<u32>,
    /// With the strategy pack: how many tokens fit into a row [default: --max-length]
    #[arg(long, value_name = "TOKENS", value_parser = within(1, u32::MAX), requires = "lengths")]
    pub capacity: Option<u32>,
    /// With the strategy pack, or --counting unpadded or weighted: how hard to look for few rows [default: fast]
    #[arg(long, value_parser = named::<Packing>(Packing::ALL.iter().map(|it| it.name())), requires = "lengths")]
    pub packing: Option<Packing>,
    /// With the strategy bucket: the width of each bucket, in lengths
    #[arg(long, value_name = "LENGTHS", value_parser = within(1, u32::MAX), requires = "lengths", group = "buckets")]
    pub bucket_width: Option<u32>,
    /// With the strategy bucket: the greatest length of each bucket, ascending, with commas. Longer samples get one more bucket
    #[arg(long, value_name = "LENGTHS", value_parser = within(0, u32::MAX), requires = "lengths", group = "buckets", value_delimiter = ',')]
    pub boundaries: Option<Vec<u32>>,
    /// With the strategy bucket: how many buckets there are, each with about the same number of samples [default, if no buckets are
    /// named: 64 buckets with about the same number of tokens]
    #[arg(long, value_name = "COUNT", value_parser = within(1, 1_u32 << 20), requires = "lengths", group = "buckets")]
    pub quantiles: Option<u32>,
    /// What happens to samples that are longer than --max-length, or than the budget or capacity of a batch
    /// [default: error]
    #[arg(long, value_parser = named::<TooLong>(TooLong::ALL.iter().map(|it| it.name())), requires = "lengths")]
    pub too_long: Option<TooLong>,
    /// What happens to samples at the end of the epoch that do not fill a step [default: even-split]
    #[arg(long, value_parser = named::<Tail>(Tail::ALL.iter().map(|it| it.name())), requires = "lengths")]
    pub tail: Option<Tail>,
}

/// A comparison of all strategies, instead of batches.
#[derive(Args)]
#[command(next_help_heading = "Batches by length")]
pub struct CompareArgs {
    /// Compare all strategies, instead of showing batches
    #[arg(long, requires = "lengths")]
    #[arg(conflicts_with_all = ["rank", "start", "count", "all", "strategy", "packing"])]
    pub compare: bool,
    /// Compare all strategies, and draw the lengths and the waste of every strategy into this file
    #[arg(long, value_name = "FILE.svg", requires = "lengths")]
    #[arg(conflicts_with_all = ["rank", "start", "count", "all", "strategy", "packing"])]
    pub plot: Option<PathBuf>,
}

/// The window has another meaning with --lengths.
pub fn explain_window(window: Arg) -> Arg {
    window.help(
        "With --order sharded: how many neighbouring samples of a lane are shuffled together [default: 256]. With \
         --lengths: how many samples are sorted into batches together. A larger window makes fuller batches, a smaller one \
         changes the order less; 0 keeps the order [default: 64 steps, at least 8192 samples]",
    )
}

impl ByLengthArgs {
    /// Refuses options that have no meaning with --lengths, and names those that have. (If clap knew these conflicts, it would
    /// no longer require --lengths.)
    fn check(epoch: &EpochArgs) -> Result<(), Problem> {
        let EpochArgs { dataset, deal, batch_size, drop_last, .. } = epoch;
        let size = batch_size.map_or(String::new(), |size| format!("add --max-batch-size {size} instead"));
        let order = "add another order instead; `samedeal orders` lists them";
        let refused = [
            (dataset.samples.is_some(), "--samples", "name the files that tell lengths instead"),
            (batch_size.is_some(), "--batch-size", &size),
            (*drop_last, "--drop-last", "add --tail drop instead"),
            (deal.remainder.is_some(), "--remainder", "--tail says what happens at the end"),
            (deal.layout != Layout::default(), "--layout", "leave it out; ranks get similar samples in every step"),
            (deal.order() == SHARDED, "--order sharded", order),
            (deal.lanes.is_some(), "--lanes", "leave it out; it is for --order sharded"),
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
        Lengths::read(&epoch.dataset.paths, self.lengths.clone().flatten().as_deref(), self.unit)
    }

    /// What decides batches, but for their size. With a strategy and a counting, options that these do not use are left
    /// out, where several are compared under the same ones.
    pub fn builder(
        &self,
        deal: &DealArgs,
        lengths: Vec<u32>,
        compared: Option<(Strategy, Counting)>,
    ) -> BatchBuilder<Batcher> {
        let is_one_of = |strategies: &[Strategy]| compared.is_none_or(|(strategy, _)| strategies.contains(&strategy));
        let is_weighted = compared.is_none_or(|(_, counting)| counting == Counting::Weighted);
        let has_multiple = is_one_of(&[Strategy::Bucket])
            || is_one_of(&[Strategy::Budget]) && compared.is_none_or(|(_, counting)| counting == Counting::Padded);
        let has_buckets = is_one_of(&[Strategy::Bucket]);
        let builder =
            Batcher::builder(lengths).seed(deal.seed()).epoch(deal.epoch).order(deal.order()).world(deal.world());
        let builder = deal.window.into_iter().fold(builder, BatchBuilder::window);
        let builder = self.max_length.into_iter().fold(builder, BatchBuilder::max_length);
        let builder = self.linear.filter(|_| is_weighted).into_iter().fold(builder, BatchBuilder::linear);
        let builder = self.quadratic.filter(|_| is_weighted).into_iter().fold(builder, BatchBuilder::quadratic);
        let builder = self.multiple.filter(|_| has_multiple).into_iter().fold(builder, BatchBuilder::multiple);
        let buckets = (self.bucket_width.map(Buckets::Width))
            .or_else(|| self.boundaries.clone().map(Buckets::Boundaries))
            .or_else(|| self.quantiles.map(Buckets::Quantiles));
        let builder = buckets.filter(|_| has_buckets).into_iter().fold(builder, BatchBuilder::buckets);
        let builder = self.too_long.into_iter().fold(builder, BatchBuilder::too_long);
        self.tail.into_iter().fold(builder, BatchBuilder::tail)
    }

    /// The batcher that the options ask for.
    pub fn batcher(&self, deal: &DealArgs, rank: u32, lengths: Vec<u32>) -> Result<Batcher, Problem> {
        self.chosen(deal, lengths).and_then(|builder| self.build(builder.rank(rank)))
    }

    /// The same as it was planned in an epoch after a history, for a world of then.
    pub fn past(
        &self,
        deal: &DealArgs,
        lengths: Vec<u32>,
        epoch: u64,
        history: &[Stretch],
        world: u32,
    ) -> Result<Batcher, Problem> {
        self.build(self.chosen(deal, lengths)?.epoch(epoch).history(history).world(world))
    }

    fn chosen(&self, deal: &DealArgs, lengths: Vec<u32>) -> Result<BatchBuilder<Batcher>, Problem> {
        match self.strategy.unwrap_or_default() {
            Strategy::Budget
                if self.budget.is_none() && (self.max_batch_size.is_none() || self.max_length.is_none()) =>
            {
                let needed =
                    "the most that a batch may cost, such as 16384 tokens; or --max-batch-size and --max-length";
                return Err(Problem::message(format!("--budget is missing; needed: {needed}")));
            }
            Strategy::Pack if self.capacity.is_none() && self.max_length.is_none() => {
                let needed = "the tokens of a row, such as 2048; or --max-length";
                return Err(Problem::message(format!("--capacity is missing; needed: {needed}")));
            }
            _ => {}
        }
        let builder = self.builder(deal, lengths, None);
        let builder = self.strategy.into_iter().fold(builder, BatchBuilder::strategy);
        let builder = self.max_batch_size.into_iter().fold(builder, BatchBuilder::max_batch_size);
        let builder = self.budget.into_iter().fold(builder, BatchBuilder::budget);
        let builder = self.counting.into_iter().fold(builder, BatchBuilder::counting);
        let builder = self.capacity.into_iter().fold(builder, BatchBuilder::capacity);
        Ok(self.packing.into_iter().fold(builder, BatchBuilder::packing))
    }

    /// Plans, and says what can be done where samples are too long.
    pub fn build(&self, builder: BatchBuilder<Batcher>) -> Result<Batcher, Problem> {
        builder.build().map_err(|error| match error.failure() {
            Some(failure) if failure.field == "lengths" && failure.value.contains("sample") => {
                let others =
                    TooLong::ALL.iter().map(|it| it.name()).filter(|name| *name != "error").collect::<Vec<_>>();
                let Failure { value, allowed, .. } = failure;
                // What else can be done is an option here.
                let allowed = allowed.split(';').next().unwrap_or_default();
                let what = format!("a sample is too long: {value}; allowed: {allowed}");
                Problem::message(format!("{what}, or choose what happens to it: --too-long {}", others.join(", ")))
            }
            _ => error.into(),
        })
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
