//! `samedeal state`: the state of an epoch after some samples or steps.

use clap::Args;
use samedeal::{Reading, ReadingBuilder};

use crate::args::by_length::ByLengthArgs;
use crate::args::deal::{AllRanks, EpochArgs};
use crate::args::format::TextOutput;
use crate::args::values::number;
use crate::commands::batches;
use crate::commands::readers::Source;
use crate::write::{Problem, write_text};

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
    /// How many steps every rank has taken, in batches of --batch-size: from the beginning of the epoch, or from --resume on. With --workers,
    /// the state is that of a dataset in files (ShardedDataset). With --lengths, the steps are batches of samples of different length
    #[arg(long, value_name = "STEPS", value_parser = number, conflicts_with = "taken")]
    pub steps: Option<u64>,
    #[command(flatten)]
    pub by_length: ByLengthArgs,
    #[command(flatten)]
    output: TextOutput,
}

/// `samedeal state`
pub fn run(args: &StateArgs) -> Result<(), Problem> {
    if args.by_length.lengths.is_some() {
        let Some(steps) = args.steps else {
            let what = "--taken is for samplers; the state of batches by length counts steps: name them with --steps";
            return Err(Problem::message(what));
        };
        let state = batches::state_after(&args.by_length, &args.epoch, steps)?;
        return write_text(args.output.output.as_deref(), &state);
    }
    match args.steps {
        Some(_) => args.epoch.with_batches()?,
        None => args.epoch.without_batches()?,
    }
    let (dataset, readers) = args.epoch.open()?;
    let batches = readers.batches;
    let state = match (&readers.source, args.taken, args.steps) {
        (Source::Sampler(sampler), _, Some(steps)) => match readers.workers {
            None => {
                let most = sampler.num_batches(batches)?;
                if steps > most {
                    return Err(Problem::message(format!("--steps is {steps}; allowed: 0 to {most}")));
                }
                sampler.state((steps * u64::from(batches.samples())).min(sampler.num_samples()))?
            }
            Some(_) if args.epoch.saved.is_some() => {
                let what = "--steps with --workers is for the state of a dataset in files; this is that of a sampler: leave --workers out";
                return Err(Problem::message(what));
            }
            Some(workers) => {
                let reading =
                    Reading::builder(dataset.sizes().unwrap_or_default()).seed(sampler.seed()).workers(workers);
                let reading = reading.remainder(sampler.remainder()).world_size(readers.world_size);
                let reading = reading.batch_size(batches.samples()).drop_last(batches.drops_last());
                let reading = reading.epoch(sampler.epoch());
                let reading = sampler.lanes().into_iter().fold(reading, ReadingBuilder::lanes);
                let reading = sampler.shuffle_window().into_iter().fold(reading, ReadingBuilder::shuffle_window);
                reading.build()?.state(steps)?
            }
        },
        (Source::Sampler(sampler), Some(taken), _) => sampler.state(taken)?,
        (Source::Reading(reading), _, Some(steps)) => reading.state(steps)?,
        (Source::Reading(_), Some(_), _) => {
            let what = "--taken is for samplers; the state of a dataset in files counts steps: name them with --steps";
            return Err(Problem::message(what));
        }
        // The parser requires one of the two options.
        (_, None, None) => return Err(Problem::message("--steps is missing; needed: how many steps were taken")),
    };
    write_text(args.output.output.as_deref(), &state)
}
