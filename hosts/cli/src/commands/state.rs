//! `samedeal state`: how far an epoch has come, as a text.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use crate::args::deal::{AllRanks, EpochArgs};
use crate::args::values::number;
use crate::commands::readers::Source;
use crate::write::output::Sink;
use crate::write::problem::Problem;

#[derive(Args)]
pub struct StateArgs {
    #[command(flatten)]
    pub epoch: EpochArgs,
    #[command(flatten)]
    ranks: AllRanks,
    /// How many samples every rank has consumed, or every worker with --workers: its batches times their size
    #[arg(long, value_name = "SAMPLES", value_parser = number)]
    #[arg(required_unless_present = "steps")]
    pub taken: Option<u64>,
    /// With --resume of the state of a dataset in files: how many more steps every rank has taken
    #[arg(long, value_name = "STEPS", value_parser = number, conflicts_with = "taken")]
    pub steps: Option<u64>,
    /// Changes nothing: a state is JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write to this file, which appears when it is complete
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
}

/// `samedeal state`
pub fn run(args: &StateArgs) -> Result<(), Problem> {
    args.epoch.without_batches()?;
    let (_, readers) = args.epoch.open()?;
    let state = match (&readers.source, args.taken, args.steps) {
        (Source::Sampler(sampler), Some(taken), _) => sampler.state(taken)?,
        (Source::Reading(reading), _, Some(steps)) => reading.state(steps)?,
        (Source::Sampler(_), ..) => {
            let what = "--steps is for --resume of the state of a dataset in files; name the samples with --taken";
            return Err(Problem::message(what));
        }
        (Source::Reading(_), ..) => {
            let what = "--taken is for samplers; the state of a dataset in files counts steps: name them with --steps";
            return Err(Problem::message(what));
        }
    };
    let mut sink = Sink::new(args.output.as_deref())?;
    writeln!(sink, "{state}")?;
    sink.finish()
}
