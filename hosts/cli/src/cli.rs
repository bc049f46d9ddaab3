//! The subcommands.

use clap::{Parser, Subcommand};

use crate::args::by_length::explain_window;
use crate::args::plan::{DetectArgs, MeshArgs, ShardsArgs};
use crate::commands::explain::{ExplainArgs, explain_epoch};
use crate::commands::ledger::LedgerArgs;
use crate::commands::locate::LocateArgs;
use crate::commands::numbers::{BatchesArgs, IndicesArgs};
use crate::commands::replay::ReplayArgs;
use crate::commands::state::StateArgs;
use crate::commands::step::StepArgs;
use crate::commands::summaries::{FingerprintArgs, OrdersArgs};
use crate::commands::verify::VerifyArgs;
use crate::examples;
use crate::write::problem::Problem;

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
    #[command(after_help = examples::BATCHES, mut_arg("window", explain_window))]
    Batches(BatchesArgs),
    /// Find out when and where a sample is seen: which step, rank and place of a batch
    #[command(after_help = examples::LOCATE, mut_arg("window", explain_window))]
    Locate(LocateArgs),
    /// Show what all ranks read in a step, such as that at which a loss jumped
    #[command(after_help = examples::STEP, mut_arg("window", explain_window))]
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
    /// Read the states in a checkpoint, and say what they say: of which data, how far, and what became of a sample or a step
    #[command(after_help = examples::EXPLAIN, mut_args(explain_epoch), mut_arg("window", explain_window))]
    Explain(ExplainArgs),
    /// List the orders
    Orders(OrdersArgs),
}

impl Command {
    /// Reads the state that is to be resumed, which decides some of the options.
    pub fn settle(&mut self) -> Result<(), Problem> {
        match self {
            Self::Batches(it) => it.epoch.settle(it.by_length.lengths.is_some()),
            Self::Locate(it) => it.epoch.settle(it.by_length.lengths.is_some()),
            Self::Step(it) => it.epoch.settle(it.by_length.lengths.is_some()),
            Self::Indices(it) => it.epoch.settle(false),
            Self::Fingerprint(it) => it.epoch.settle(false),
            Self::Verify(it) => it.epoch.settle(false),
            Self::State(it) => it.epoch.settle(false),
            Self::Replay(it) => it.epoch.settle(false),
            Self::Shards(_) | Self::Mesh(_) | Self::Rank(_) | Self::Ledger(_) | Self::Explain(_) | Self::Orders(_) => {
                Ok(())
            }
        }
    }
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
            ALL, BATCHES, EXPLAIN, FINGERPRINT, INDICES, LEDGER, LOCATE, MESH, RANK, REPLAY, SHARDS, STATE, STEP,
            VERIFY,
        };
        let all = [
            ALL,
            BATCHES,
            EXPLAIN,
            FINGERPRINT,
            INDICES,
            LEDGER,
            LOCATE,
            MESH,
            RANK,
            REPLAY,
            SHARDS,
            STATE,
            STEP,
            VERIFY,
        ];
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
}
