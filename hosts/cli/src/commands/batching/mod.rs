//! `--lengths`: batches of samples of different length.

mod command;
mod compare;
mod figures;
mod locate;
mod neighbours;
mod plot;
mod show;
mod step;
mod strategies;

pub use compare::{Compared, Swept};
pub use locate::{PlaceInBatches, run as locate};
use samedeal::Batcher;
pub use show::BatchesOf;
pub use step::{RankBatchOf, run as step};

use crate::args::by_length::ByLengthArgs;
use crate::args::deal::EpochArgs;
use crate::args::format::ArrayFormat;
use crate::commands::numbers::BatchesArgs;
use crate::write::problem::Problem;
use crate::write::progress;

/// `samedeal batches` with `--lengths`
pub fn run(args: &BatchesArgs) -> Result<(), Problem> {
    args.compare.check()?;
    let ArrayFormat::Shown(format) = args.shown.window.output.format() else {
        let what = "batches of different size do not fit into an array";
        return Err(Problem::message(format!("{what}; use --format text or json, or the libraries")));
    };
    let lengths = args.by_length.read(&args.epoch)?;
    if args.compare.is_given() {
        args.by_length.options.one_limit()?;
        return compare::run(args, &lengths, format);
    }
    if args.by_length.options.max_tokens.len() > 1 {
        return compare::sweep(args, &lengths, format);
    }
    let summary = lengths.summary();
    let batcher = plan(&args.by_length, &args.epoch, args.shown.reader.rank, lengths.values)?;
    show::show(&batcher, &summary, args, format)
}

/// What the options make of lengths, or of what a state has left of them.
fn plan(options: &ByLengthArgs, epoch: &EpochArgs, rank: u32, lengths: Vec<u32>) -> Result<Batcher, Problem> {
    let spinner = progress::spinner("planning");
    let batcher = epoch.resumed_batcher(options.batcher(&epoch.deal, rank, lengths)?);
    spinner.finish_and_clear();
    batcher
}
