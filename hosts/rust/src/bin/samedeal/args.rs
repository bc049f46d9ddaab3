use std::convert::Infallible;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use samedeal::{Error, Failure, FailureKind, Layout, Remainder, Sampler};

use crate::batching::{self, ByLengthArgs, CompareArgs};
use crate::dataset::Dataset;
use crate::examples;
use crate::format::{ArrayOutput, Output};
use crate::ledger::LedgerArgs;
use crate::plan_args::{DetectArgs, MeshArgs, ShardsArgs};
use crate::problem::Problem;
use crate::state::ResumeArgs;
use crate::step::StepArgs;
use crate::workers::{WorkerArgs, WorkersArgs};

/// Same seed, same deal: which sample goes to which rank, batch and step of a training run.
///
/// The numbers are those of the Python, JavaScript and Rust libraries: the same component computes all of them.
#[derive(Parser)]
#[command(name = "samedeal", version, after_help = examples::ALL, max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Show the samples of a rank, in order
    #[command(after_help = examples::INDICES)]
    Indices(IndicesArgs),
    /// Show the batches of a rank
    #[command(after_help = examples::BATCHES, mut_arg("window", batching::explain_window))]
    Batches(BatchesArgs),
    /// Find out when and where a sample is seen: which step, rank and place of a batch
    #[command(after_help = examples::LOCATE, mut_arg("window", batching::explain_window))]
    Locate(LocateArgs),
    /// Show what all ranks read in a step, such as that at which a loss jumped
    #[command(after_help = examples::STEP, mut_arg("window", batching::explain_window))]
    // Made by itself, it would name the step last.
    #[command(override_usage = "samedeal step <STEP> <PATH>...|--samples <N> --batch-size <SIZE>|--lengths [OPTIONS]")]
    Step(StepArgs),
    /// Print the SHA-256 of a rank's samples and that of the configuration
    #[command(after_help = examples::FINGERPRINT)]
    Fingerprint(FingerprintArgs),
    /// Check a whole epoch over all ranks: disjoint, covering, equal steps
    #[command(after_help = examples::VERIFY)]
    Verify(VerifyArgs),
    /// Read a column of Parquet files in the order dealt to a rank, and print the SHA-256 of what was read
    #[command(after_help = examples::REPLAY)]
    Replay(ReplayArgs),
    /// Deal whole Parquet files to ranks and workers: who reads which, how evenly, and how many steps
    #[command(after_help = examples::SHARDS)]
    Shards(ShardsArgs),
    /// Show which share of the data each rank of a mesh reads
    #[command(after_help = examples::MESH)]
    Mesh(MeshArgs),
    /// Find out which rank this process is, from the variables that launchers set
    #[command(after_help = examples::RANK)]
    Rank(DetectArgs),
    /// Print the state of an epoch after so many samples of every rank: for --resume, and for the libraries
    #[command(after_help = examples::STATE)]
    State(StateArgs),
    /// Show what the log of a ledger says, or the samples of its schedule, for any number of readers
    #[command(after_help = examples::LEDGER)]
    Ledger(LedgerArgs),
    /// List the orders
    Orders(OrdersArgs),
}

#[derive(Args)]
pub struct IndicesArgs {
    #[command(flatten)]
    pub dataset: DatasetArgs,
    #[command(flatten)]
    pub deal: DealArgs,
    #[command(flatten)]
    pub resume: ResumeArgs,
    #[command(flatten)]
    pub rank: RankArgs,
    #[command(flatten)]
    pub worker: WorkerArgs,
    /// Number of the first index shown, among those of the rank
    #[arg(long, value_parser = number, default_value = "0", allow_negative_numbers = true)]
    pub start: u64,
    /// How many indices [default: 20; all with --format npy]
    #[arg(long, value_parser = number, allow_negative_numbers = true)]
    pub count: Option<u64>,
    /// All indices from --start on
    #[arg(long, conflicts_with = "count")]
    pub all: bool,
    #[command(flatten)]
    pub output: ArrayOutput,
}

#[derive(Args)]
pub struct BatchesArgs {
    #[command(flatten)]
    pub dataset: DatasetArgs,
    #[command(flatten)]
    pub deal: DealArgs,
    #[command(flatten)]
    pub resume: ResumeArgs,
    #[command(flatten)]
    pub rank: RankArgs,
    #[command(flatten)]
    pub worker: WorkerArgs,
    /// Samples in a batch
    #[arg(long, value_name = "SIZE", value_parser = within(1, u32::MAX), allow_negative_numbers = true)]
    #[arg(required_unless_present = "lengths")]
    pub batch_size: Option<u32>,
    /// Leave out a last, partial batch
    #[arg(long)]
    pub drop_last: bool,
    /// Number of the first batch shown
    #[arg(long, value_parser = number, default_value = "0", allow_negative_numbers = true)]
    pub start: u64,
    /// How many batches [default: 5; all with --format npy]
    #[arg(long, value_parser = number, allow_negative_numbers = true)]
    pub count: Option<u64>,
    /// All batches from --start on
    #[arg(long, conflicts_with = "count")]
    pub all: bool,
    #[command(flatten)]
    pub by_length: ByLengthArgs,
    #[command(flatten)]
    pub compare: CompareArgs,
    #[command(flatten)]
    pub output: ArrayOutput,
}

#[derive(Args)]
pub struct LocateArgs {
    #[command(flatten)]
    pub dataset: DatasetArgs,
    #[command(flatten)]
    pub deal: DealArgs,
    #[command(flatten)]
    pub resume: ResumeArgs,
    #[command(flatten)]
    pub workers: WorkersArgs,
    /// The samples to find; may be repeated or separated by commas
    #[arg(long, value_name = "INDEX", value_parser = number, value_delimiter = ',', required = true)]
    #[arg(allow_negative_numbers = true)]
    pub sample: Vec<u64>,
    /// Samples in a batch [default: 1]
    #[arg(long, value_name = "SIZE", value_parser = within(1, u32::MAX), allow_negative_numbers = true)]
    pub batch_size: Option<u32>,
    /// Leave out a last, partial batch, and say of a sample in it that no batch holds it
    #[arg(long)]
    pub drop_last: bool,
    #[command(flatten)]
    ranks: AllRanks,
    #[command(flatten)]
    pub by_length: ByLengthArgs,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Args)]
pub struct FingerprintArgs {
    #[command(flatten)]
    pub dataset: DatasetArgs,
    #[command(flatten)]
    pub deal: DealArgs,
    #[command(flatten)]
    pub resume: ResumeArgs,
    #[command(flatten)]
    pub rank: RankArgs,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    pub dataset: DatasetArgs,
    #[command(flatten)]
    pub deal: DealArgs,
    /// Check as well that every rank gets the same number of batches of this size
    #[arg(long, value_name = "SIZE", value_parser = within(1, u32::MAX), allow_negative_numbers = true)]
    pub batch_size: Option<u32>,
    /// Leave out a last, partial batch, and count the samples that no batch holds
    #[arg(long, requires = "batch_size")]
    pub drop_last: bool,
    #[command(flatten)]
    ranks: AllRanks,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Args)]
pub struct ReplayArgs {
    /// Parquet files, or directories that are searched for *.parquet
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub deal: DealArgs,
    #[command(flatten)]
    pub resume: ResumeArgs,
    #[command(flatten)]
    pub rank: RankArgs,
    #[command(flatten)]
    pub batch: BatchArgs,
    /// The column to read, of strings or bytes
    #[arg(long, default_value = "text")]
    pub column: String,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Args)]
pub struct StateArgs {
    #[command(flatten)]
    pub dataset: DatasetArgs,
    #[command(flatten)]
    pub deal: DealArgs,
    #[command(flatten)]
    pub resume: ResumeArgs,
    #[command(flatten)]
    ranks: AllRanks,
    /// How many samples every rank has taken: batches times their size
    #[arg(long, value_name = "SAMPLES", value_parser = number, allow_negative_numbers = true)]
    pub taken: u64,
    /// Write to a file, which is there at once and whole
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct OrdersArgs {
    #[command(flatten)]
    pub output: Output,
}

/// What is dealt: a number of samples, or the rows of Parquet files.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub struct DatasetArgs {
    /// Parquet files, or directories that are searched for *.parquet; their rows, laid end to end, are the samples
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Number of samples, such as 50000, 50_000 or 5e4
    #[arg(long, value_name = "N", value_parser = number, allow_negative_numbers = true)]
    pub samples: Option<u64>,
}

/// Everything that decides a deal, but the number of samples and the rank.
#[derive(Args)]
#[command(next_help_heading = "Deal")]
pub struct DealArgs {
    /// Seed of the order
    #[arg(long, value_parser = within(i64::MIN, i64::MAX), default_value = "0", allow_negative_numbers = true)]
    pub seed: i64,
    /// Number of the epoch
    #[arg(long, value_parser = within(0, u64::MAX), default_value = "0", allow_negative_numbers = true)]
    pub epoch: u64,
    /// Order of the epoch, one of those that `samedeal orders` lists; `sharded` is for files alone
    #[arg(long, default_value = "feistel")]
    pub order: String,
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
    pub fn sampler(&self, dataset: &Dataset, rank: u32) -> Result<Sampler, Problem> {
        self.sampler_of(dataset, rank, self.world)
    }

    /// The same for one of so many readers, which a rank may have several of.
    pub fn sampler_of(&self, dataset: &Dataset, reader: u32, readers: u32) -> Result<Sampler, Problem> {
        let Self { seed, epoch, order, lanes, window, remainder, layout, .. } = self;
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
        let builder = builder.seed(*seed).epoch(*epoch).rank(reader).world(readers);
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
#[derive(Args)]
struct AllRanks {
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

/// Reads a whole number, with `_` between digits or as a power of ten if that is easier to write.
pub fn number(text: &str) -> Result<u64, String> {
    let read = || {
        let digits = text.replace('_', "");
        let (digits, zeros) = digits.split_once(['e', 'E']).unwrap_or((&digits, "0"));
        let scale = 10_u64.checked_pow(zeros.parse().ok()?)?;
        digits.parse::<u64>().ok()?.checked_mul(scale)
    };
    // Samples end there, and with them every other number that is read here.
    read().ok_or_else(|| format!("allowed: 0 to {}, such as 50000, 50_000 or 5e4", (1_u64 << 53) - 1))
}

/// Reads a whole number as it is. What its type holds goes on to the sampler, which knows all that is allowed.
pub fn within<T: FromStr + Display + Copy>(least: T, most: T) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| text.parse().map_err(|_| format!("allowed: {least} to {most}"))
}

pub fn named<T>(names: impl Iterator<Item = &'static str>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = samedeal::Failure> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(|name| name.parse::<T>())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_example_is_a_command_line() {
        use examples::{
            ALL, BATCHES, FINGERPRINT, INDICES, LEDGER, LOCATE, MESH, RANK, REPLAY, SHARDS, STATE, STEP, VERIFY,
        };
        let all = [ALL, BATCHES, FINGERPRINT, INDICES, LEDGER, LOCATE, MESH, RANK, REPLAY, SHARDS, STATE, STEP, VERIFY];
        let mut seen = 0;
        for line in all.iter().flat_map(|text| text.lines()) {
            let Some(line) = line.trim_start().strip_prefix("samedeal ") else { continue };
            let words = line.split(" | ").next().unwrap_or(line).split_whitespace();
            if let Err(error) = Cli::try_parse_from(std::iter::once("samedeal").chain(words)) {
                panic!("{line}: {error}");
            }
            seen += 1;
        }
        assert!(seen >= 24, "only {seen} examples were found");
    }

    #[test]
    fn numbers_are_read_in_the_ways_people_write_them() {
        for (text, value) in
            [("50000", 50_000), ("50_000", 50_000), ("5e4", 50_000), ("18446744073709551615", u64::MAX)]
        {
            assert_eq!(number(text), Ok(value), "{text}");
        }
        for text in ["", "-1", "1.7", "NaN", "18446744073709551616", "1e20", "2e19", "1e", "e3", "0x10"] {
            assert!(number(text).is_err(), "{text}");
        }
    }
}
