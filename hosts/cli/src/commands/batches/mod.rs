//! `--lengths`: batches of samples of different length.

mod command;
mod compare;
mod figures;
mod index;
mod locate;
mod neighbours;
mod plot;
mod show;
mod step;
mod strategies;

pub use compare::{Compared, Swept};
pub use index::{IndexArgs, run as index};
pub use locate::{PlaceInBatches, run as locate};
use samedeal::Batcher;
pub use show::BatchesOf;
pub use step::{RankBatchOf, run as step};

use crate::args::by_length::{ByLengthArgs, worded};
use crate::args::deal::EpochArgs;
use crate::args::format::Format;
use crate::commands::numbers::BatchesArgs;
use crate::read::lengths::Lengths;
use crate::write::{Problem, progress};

/// `samedeal batches` with `--lengths`
pub fn run(args: &BatchesArgs) -> Result<(), Problem> {
    args.compare.check()?;
    let format = args.shown.window.output.format();
    if format == Format::Npy {
        let what = "batches of different size do not fit into an array";
        return Err(Problem::message(format!("{what}; use --format text or json, or the libraries")));
    }
    let lengths = args.by_length.read(&args.epoch)?;
    if args.compare.is_given() || !args.by_length.limits().is_empty() {
        args.by_length.without_index()?;
    }
    if args.compare.is_given() {
        args.by_length.one_limit()?;
        return compare::run(args, &lengths, format);
    }
    if !args.by_length.limits().is_empty() {
        return compare::sweep(args, &lengths, format);
    }
    let summary = lengths.summary();
    let batcher = plan(&args.by_length, &args.epoch, args.shown.reader.rank, &lengths)?;
    show::show(&batcher, &summary, args, format)
}

/// The batcher of the options, after the state of `--resume` and with the index, if they are given. It has planned nothing yet.
fn begun(options: &ByLengthArgs, epoch: &EpochArgs, rank: u32, lengths: samedeal::Lengths) -> Result<Batcher, Problem> {
    let batcher = options.batcher(&epoch.deal, rank, lengths)?;
    let batcher = epoch.resumed_batcher(batcher, options.replan)?;
    options.use_index(&batcher)?;
    Ok(batcher)
}

/// The state after `steps` steps of every rank. Only the windows of these steps are planned.
pub fn state_after(options: &ByLengthArgs, epoch: &EpochArgs, steps: u64) -> Result<String, Problem> {
    let lengths = options.read(epoch)?;
    let bar = progress::bar("planning", lengths.values.len() as u64);
    let state = begun(options, epoch, 0, lengths.given(&bar))?.state(steps).map_err(worded)?;
    bar.finish_and_clear();
    Ok(state)
}

/// The batcher of the options, for the lengths or for the rest that a state leaves of them. The number of its steps is
/// known.
fn plan(options: &ByLengthArgs, epoch: &EpochArgs, rank: u32, lengths: &Lengths) -> Result<Batcher, Problem> {
    let bar = progress::bar("planning", lengths.values.len() as u64);
    let batcher = begun(options, epoch, rank, lengths.given(&bar))?;
    // Without an index, this plans every window.
    batcher.num_steps().map_err(worded)?;
    bar.finish_and_clear();
    Ok(batcher)
}
