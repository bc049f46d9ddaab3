//! The subcommands.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, CommandFactory, Error, FromArgMatches, Parser, Subcommand};

use crate::args::blend::BlendArgs;
use crate::args::plan::{DetectArgs, MeshArgs, ShardsArgs};
use crate::args::split::SplitArgs;
use crate::args::steps::StepsArgs;
use crate::commands::batches::IndexArgs;
use crate::commands::diff::DiffArgs;
use crate::commands::explain::{ExplainArgs, explain_epoch};
use crate::commands::ledger::LedgerArgs;
use crate::commands::locate::{LocateArgs, locate_epochs};
use crate::commands::numbers::{BatchesArgs, IndicesArgs};
use crate::commands::recipe::{RecipeArgs, explain_recipe};
use crate::commands::replay::ReplayArgs;
use crate::commands::schema::SchemaArgs;
use crate::commands::shell::{CompletionsArgs, ManArgs};
use crate::commands::state::StateArgs;
use crate::commands::step::StepArgs;
use crate::commands::summaries::{FingerprintArgs, OrdersArgs};
use crate::commands::verify::VerifyArgs;
use crate::write::Problem;

/// Same seed, same deal: which sample goes to which rank, batch and step of a training run.
///
/// The numbers are those of the Python, JavaScript and Rust libraries: the same component computes all of them.
#[derive(Parser)]
#[command(name = "samedeal", version, after_help = include_str!("help/all.txt"), max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// Print the answer alone: no progress, and nothing below a table
    #[arg(long, short, global = true, help_heading = "Output")]
    pub quiet: bool,
}

impl Cli {
    /// Parses the command line. A negative number counts as a value: the message then says which values are allowed,
    /// not that there is no such option.
    pub fn read() -> Self {
        let with_numbers = |arg: Arg| match arg.get_action().takes_values() {
            true => arg.allow_negative_numbers(true),
            false => arg,
        };
        let mut command = Self::command().mut_subcommands(|it| it.mut_args(with_numbers));
        let matches = command.try_get_matches_from_mut(std::env::args_os());
        let matches = matches.unwrap_or_else(|error| match error.kind() {
            ErrorKind::DisplayVersion => {
                print!("{}", version());
                std::process::exit(0)
            }
            _ => suggesting(error, &command).exit(),
        });
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// The text of `--version`: the versions and, if the command runs the component, its SHA-256 and the path of its cached
/// compiled code, or why no code is cached. Equal components deal equally, in every host.
fn version() -> String {
    let versions = format!("samedeal {}\nengine {}\n", env!("CARGO_PKG_VERSION"), samedeal::ENGINE);
    #[cfg(feature = "component")]
    let versions = {
        use crate::write::hexadecimal;
        use sha2::{Digest, Sha256};
        let digest = hexadecimal(&Sha256::digest(samedeal::COMPONENT));
        let kept = samedeal::kept_code();
        let kept = kept.map_or_else(|reason| format!("not kept: {reason}"), |path| path.display().to_string());
        format!("{versions}samedeal.wasm {digest}\ncompiled code {kept}\n")
    };
    versions
}

/// Words that are no subcommands, each with the subcommands that a user may mean. They replace the tips of clap, which
/// compare only the spelling: for `find` that would be `index`.
const MEANT: [(&str, &[&str]); 7] = [
    ("batch", &["batches"]),
    ("find", &["locate"]),
    ("resume", &["explain", "state"]),
    ("sample", &["indices", "locate"]),
    ("samples", &["indices"]),
    ("shuffle", &["indices", "orders"]),
    ("where", &["locate"]),
];

/// Adds the tips of [`MEANT`] to the error of an unknown subcommand.
fn suggesting(mut error: Error, command: &clap::Command) -> Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    let Some((word, meant)) = MEANT.iter().find(|(known, _)| known == word) else { return error };
    let about = |name: &&str| {
        let about = command.find_subcommand(name).and_then(clap::Command::get_about);
        StyledStr::from(format!("samedeal {name}: {}", about.cloned().unwrap_or_default()))
    };
    let mut tips = meant.iter().map(about).collect::<Vec<_>>();
    if *word == "resume" {
        tips.push("--resume FILE is an option of the subcommands that answer for an epoch, and of steps".into());
    }
    error.remove(ContextKind::SuggestedSubcommand);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    error
}

#[derive(Subcommand)]
pub enum Command {
    /// Show the samples of a rank, in order
    #[command(after_help = include_str!("help/indices.txt"))]
    Indices(IndicesArgs),
    /// Show the batches of a rank
    #[command(after_help = include_str!("help/batches.txt"))]
    Batches(BatchesArgs),
    /// Find samples: which rank sees them, and in which batch
    #[command(after_help = include_str!("help/locate.txt"), mut_args(locate_epochs))]
    Locate(LocateArgs),
    /// Show the samples that all ranks read in a step
    #[command(after_help = include_str!("help/step.txt"))]
    // The usage line that clap generates would name the step last.
    #[command(
        override_usage = "samedeal step <STEP|RANGE> <PATH>...|--samples <N> --batch-size <SIZE>|--lengths [OPTIONS]"
    )]
    Step(StepArgs),
    /// Print the SHA-256 of the samples of a rank, and the SHA-256 of the configuration
    #[command(after_help = include_str!("help/fingerprint.txt"))]
    Fingerprint(FingerprintArgs),
    /// Check an epoch over all ranks: every sample once, equal steps
    #[command(after_help = include_str!("help/verify.txt"))]
    Verify(VerifyArgs),
    /// Read a column of Parquet files in the order of a rank, and print the SHA-256 of the contents
    #[command(after_help = include_str!("help/replay.txt"))]
    Replay(ReplayArgs),
    /// Show what a blend of sources gives: counts, shares, passes and repeats; or write its recipe
    #[command(after_help = include_str!("help/blend.txt"))]
    Blend(BlendArgs),
    /// Split samples into training, validation and test, or into folds: counts, lists, the part of each sample
    #[command(after_help = include_str!("help/split.txt"))]
    Split(SplitArgs),
    /// Show the steps of a training over the ends of epochs: batch sizes, samples consumed, epochs, and what every rank takes
    #[command(after_help = include_str!("help/steps.txt"))]
    Steps(StepsArgs),
    /// Deal whole Parquet files to ranks and workers, and show the balance and the steps
    #[command(after_help = include_str!("help/shards.txt"))]
    Shards(ShardsArgs),
    /// Show which share of the data each rank of a mesh reads
    #[command(after_help = include_str!("help/mesh.txt"))]
    Mesh(MeshArgs),
    /// Show which rank this process is, by the variables of its launcher
    #[command(after_help = include_str!("help/rank.txt"))]
    Rank(DetectArgs),
    /// Print the recipe: everything that decides the deal or the batches, as one JSON document
    #[command(after_help = include_str!("help/recipe.txt"), mut_args(explain_recipe))]
    Recipe(RecipeArgs),
    /// Print the state of an epoch after some samples or steps, for --resume and for the libraries
    #[command(after_help = include_str!("help/state.txt"))]
    State(StateArgs),
    /// Print the index of batches by length: how many steps each window of an epoch has, for --index and for the libraries
    #[command(after_help = include_str!("help/index.txt"))]
    Index(IndexArgs),
    /// Show the log of a ledger, or replay its samples for any number of readers
    #[command(after_help = include_str!("help/ledger.txt"))]
    Ledger(LedgerArgs),
    /// Show the states in a checkpoint, and what became of a sample or a step
    #[command(after_help = include_str!("help/explain.txt"), mut_args(explain_epoch))]
    Explain(ExplainArgs),
    /// Show what differs between two recipes, states or checkpoints
    #[command(after_help = include_str!("help/diff.txt"))]
    Diff(DiffArgs),
    /// List the orders
    Orders(OrdersArgs),
    /// Print the JSON Schema of the answers in JSON: of one subcommand, or of all
    #[command(after_help = include_str!("help/schema.txt"))]
    Schema(SchemaArgs),
    /// Print the completions of a shell
    #[command(after_help = include_str!("help/completions.txt"))]
    Completions(CompletionsArgs),
    /// Print the pages of the manual
    #[command(after_help = include_str!("help/man.txt"))]
    Man(ManArgs),
}

impl Command {
    /// Reads the files of `--recipe` and `--resume`, which decide some of the options.
    pub fn settle(&mut self) -> Result<(), Problem> {
        match self {
            Self::Batches(BatchesArgs { epoch, by_length, .. })
            | Self::Step(StepArgs { epoch, by_length, .. })
            | Self::Index(IndexArgs { epoch, by_length, .. })
            | Self::State(StateArgs { epoch, by_length, .. })
            | Self::Recipe(RecipeArgs { epoch, by_length, .. }) => epoch.settle(by_length.lengths.is_some()),
            Self::Locate(LocateArgs { epoch, by_length, .. }) => epoch.settle_epochs(by_length.lengths.is_some()),
            Self::Indices(IndicesArgs { epoch, .. })
            | Self::Fingerprint(FingerprintArgs { epoch, .. })
            | Self::Verify(VerifyArgs { epoch, .. })
            | Self::Replay(ReplayArgs { epoch, .. }) => epoch.settle(false),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn words_that_mean_a_subcommand() {
        let mut command = Cli::command();
        for (word, meant) in MEANT {
            let error = command.try_get_matches_from_mut(["samedeal", word]).unwrap_err();
            let told = suggesting(error, &command).to_string();
            for name in meant {
                let about = command.find_subcommand(name).unwrap().get_about().unwrap();
                assert!(told.contains(&format!("tip: samedeal {name}: {about}\n")), "{told}");
            }
            assert!(!told.contains("similar"), "{told}");
        }
        let error = command.try_get_matches_from_mut(["samedeal", "locat"]).unwrap_err();
        assert!(suggesting(error, &command).to_string().contains("'locate'"));
    }

    #[test]
    fn every_example_is_a_command_line() {
        let command = Cli::command();
        let pages = std::iter::once(&command).chain(command.get_subcommands());
        let all = pages.filter_map(|page| Some(page.get_after_help()?.to_string())).collect::<Vec<_>>();
        let mut seen = 0;
        for line in all.iter().flat_map(|text| text.lines()) {
            let Some(line) = line.trim_start().strip_prefix("samedeal ") else { continue };
            let words = line.split(['|', '>']).next().unwrap_or(line).split_whitespace();
            if let Err(error) = Cli::try_parse_from(std::iter::once("samedeal").chain(words)) {
                panic!("{line}: {error}");
            }
            seen += 1;
        }
        assert!(seen >= 24, "only {seen} examples were found");
    }
}
