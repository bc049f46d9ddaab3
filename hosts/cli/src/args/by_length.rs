//! The options of batches by length.

use std::path::PathBuf;

use clap::{Arg, Args};
use samedeal::{BatchBuilder, Batcher, Buckets, Counting, Failure, Layout, Packing, Strategy, Stretch, Tail, TooLong};

use crate::args::deal::{DealArgs, EpochArgs, SHARDED};
use crate::args::values::{named, within};
use crate::read::lengths::{Lengths, Unit};
use crate::write::problem::Problem;

/// Batches of samples of different length: how long they are, and how they become batches.
#[derive(Args)]
#[command(next_help_heading = "Batches by length")]
pub struct ByLengthArgs {
    /// Make batches of samples of different length, which this column of PATH tells: whole numbers, or text, bytes or
    /// lists, whose length counts. PATH may be Parquet, CSV or TSV, JSON (an array of objects, an object in each
    /// line, or one of lists), and without a column .npy, a JSON array of numbers, or text with a number in each line
    #[arg(long, value_name = "COLUMN", num_args = 0..=1)]
    pub lengths: Option<Option<String>>,
    /// What is counted where samples are stored, and not their lengths; of text it has to be said
    /// [default: items of lists, bytes of what is no text]
    #[arg(long, value_enum, requires = "lengths")]
    pub unit: Option<Unit>,
    /// How samples become batches [default: budget]
    #[arg(long, value_parser = named::<Strategy>(Strategy::ALL.iter().map(|it| it.name())), requires = "lengths")]
    pub strategy: Option<Strategy>,
    /// The most rows of a batch; 0 for no bound, with the strategy budget alone [default: 32; budget: 0; pack: 1]
    #[arg(long, value_name = "ROWS", value_parser = within(0, u32::MAX), requires = "lengths")]
    #[arg(allow_negative_numbers = true)]
    pub max_batch_size: Option<u32>,
    /// The most tokens of a sample; see --too-long
    #[arg(long, value_name = "TOKENS", value_parser = within(0, u32::MAX), requires = "lengths")]
    #[arg(allow_negative_numbers = true)]
    pub max_length: Option<u32>,
    /// What a batch may cost, with the strategies budget and bucket [default: --max-batch-size times --max-length;
    /// bucket: no bound]
    #[arg(long, value_name = "COST", value_parser = within(0, u64::MAX), requires = "lengths")]
    #[arg(allow_negative_numbers = true)]
    pub budget: Option<u64>,
    /// What a sample costs of the budget: the length of the longest of its batch, its own, or --linear * length +
    /// --quadratic * length^2 [default: padded]
    #[arg(long, value_parser = named::<Counting>(Counting::ALL.iter().map(|it| it.name())), requires = "lengths")]
    pub counting: Option<Counting>,
    /// With --counting weighted: what a token costs [default: 1]
    #[arg(long, value_name = "COST", value_parser = within(0, u32::MAX), requires = "lengths")]
    #[arg(allow_negative_numbers = true)]
    pub linear: Option<u32>,
    /// With --counting weighted: what a pair of tokens costs [default: 0]
    #[arg(long, value_name = "COST", value_parser = within(0, u32::MAX), requires = "lengths")]
    #[arg(allow_negative_numbers = true)]
    pub quadratic: Option<u32>,
    /// Batches have a multiple of so many samples where they have more than that [default: 1]
    #[arg(long, value_name = "ROWS", value_parser = within(1, u32::MAX), requires = "lengths")]
    #[arg(allow_negative_numbers = true)]
    pub multiple: Option<u32>,
    /// With pack: tokens of a row [default: --max-length]
    #[arg(long, value_name = "TOKENS", value_parser = within(1, u32::MAX), requires = "lengths")]
    #[arg(allow_negative_numbers = true)]
    pub capacity: Option<u32>,
    /// With pack, or with a budget that counts no padding: how hard to look for few rows [default: fast]
    #[arg(long, value_parser = named::<Packing>(Packing::ALL.iter().map(|it| it.name())), requires = "lengths")]
    pub packing: Option<Packing>,
    /// With bucket: so many lengths in each bucket
    #[arg(long, value_name = "LENGTHS", value_parser = within(1, u32::MAX), requires = "lengths")]
    #[arg(allow_negative_numbers = true, group = "buckets")]
    pub bucket_width: Option<u32>,
    /// Or the greatest length of each bucket, ascending, with commas; longer samples are in one more
    #[arg(long, value_name = "LENGTHS", value_parser = within(0, u32::MAX), requires = "lengths")]
    #[arg(allow_negative_numbers = true, group = "buckets", value_delimiter = ',')]
    pub boundaries: Option<Vec<u32>>,
    /// Or so many buckets of as many samples each, as far as equal lengths allow [default of the three:
    /// 64 buckets of as many tokens each]
    #[arg(long, value_name = "COUNT", value_parser = within(1, 1_u32 << 20), requires = "lengths")]
    #[arg(allow_negative_numbers = true, group = "buckets")]
    pub quantiles: Option<u32>,
    /// What happens to samples that are longer than --max-length, or than a budget or a capacity alone allows
    /// [default: error]
    #[arg(long, value_parser = named::<TooLong>(TooLong::ALL.iter().map(|it| it.name())), requires = "lengths")]
    pub too_long: Option<TooLong>,
    /// What happens at the end of the epoch to samples that do not fill a step [default: even-split]
    #[arg(long, value_parser = named::<Tail>(Tail::ALL.iter().map(|it| it.name())), requires = "lengths")]
    pub tail: Option<Tail>,
}

/// What every strategy makes of the lengths, in place of batches.
#[derive(Args)]
#[command(next_help_heading = "Batches by length")]
pub struct CompareArgs {
    /// Show what every strategy makes of the lengths, in place of batches
    #[arg(long, requires = "lengths")]
    #[arg(conflicts_with_all = ["rank", "start", "count", "all", "strategy", "packing"])]
    pub compare: bool,
    /// The same, and draw the lengths and what every strategy wastes into this file
    #[arg(long, value_name = "FILE.svg", requires = "lengths")]
    #[arg(conflicts_with_all = ["rank", "start", "count", "all", "strategy", "packing"])]
    pub plot: Option<PathBuf>,
}

/// What the window of an order has another meaning for, with --lengths.
pub fn explain_window(window: Arg) -> Arg {
    window.help(
        "With --order sharded: how many neighbouring samples of a lane are shuffled together [default: 256]. With \
         --lengths: how many samples are looked at together: more of them make batches fuller, fewer leave more of the \
         order; 0 takes them as they come [default: as many as 64 steps take, at least 8192]",
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
        let builder = set(builder, deal.window, BatchBuilder::window);
        let builder = set(builder, self.max_length, BatchBuilder::max_length);
        let builder = set(builder, self.linear.filter(|_| is_weighted), BatchBuilder::linear);
        let builder = set(builder, self.quadratic.filter(|_| is_weighted), BatchBuilder::quadratic);
        let builder = set(builder, self.multiple.filter(|_| has_multiple), BatchBuilder::multiple);
        let buckets = (self.bucket_width.map(Buckets::Width))
            .or_else(|| self.boundaries.clone().map(Buckets::Boundaries))
            .or_else(|| self.quantiles.map(Buckets::Quantiles));
        let builder = set(builder, buckets.filter(|_| has_buckets), BatchBuilder::buckets);
        let builder = set(builder, self.too_long, BatchBuilder::too_long);
        set(builder, self.tail, BatchBuilder::tail)
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
                let needed = "what a batch may cost, such as 16384 tokens, or --max-batch-size and --max-length";
                return Err(Problem::message(format!("--budget is missing; needed: {needed}")));
            }
            Strategy::Pack if self.capacity.is_none() && self.max_length.is_none() => {
                let needed = "the tokens of a row, such as 2048, or --max-length";
                return Err(Problem::message(format!("--capacity is missing; needed: {needed}")));
            }
            _ => {}
        }
        let builder = self.builder(deal, lengths, None);
        let builder = set(builder, self.strategy, BatchBuilder::strategy);
        let builder = set(builder, self.max_batch_size, BatchBuilder::max_batch_size);
        let builder = set(builder, self.budget, BatchBuilder::budget);
        let builder = set(builder, self.counting, BatchBuilder::counting);
        let builder = set(builder, self.capacity, BatchBuilder::capacity);
        Ok(set(builder, self.packing, BatchBuilder::packing))
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
                Problem::message(format!("{what}, or say what happens to it: --too-long {}", others.join(", ")))
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
                let what = "the picture is SVG; name a file that ends in .svg";
                Err(Problem::message(format!("--plot {}: {what}", path.display())))
            }
            _ => Ok(()),
        }
    }
}

/// Sets what is given.
fn set<T>(
    builder: BatchBuilder<Batcher>,
    value: Option<T>,
    with: impl FnOnce(BatchBuilder<Batcher>, T) -> BatchBuilder<Batcher>,
) -> BatchBuilder<Batcher> {
    match value {
        Some(value) => with(builder, value),
        None => builder,
    }
}
