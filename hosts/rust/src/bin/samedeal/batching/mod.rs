//! `samedeal batches --lengths`: batches of samples of different length.

mod args;
mod compare;
mod figures;
mod neighbours;
mod plot;
mod show;
mod strategies;

pub use args::{ByLengthArgs, explain_window};

use crate::args::BatchesArgs;
use crate::format::ArrayFormat;
use crate::lengths::Lengths;
use crate::problem::Problem;
use crate::progress;

/// `samedeal batches` with `--lengths`
pub fn run(args: &BatchesArgs) -> Result<(), Problem> {
    ByLengthArgs::check(args)?;
    let ArrayFormat::Shown(format) = args.output.format() else {
        let what = "batches differ in size, which an array cannot hold";
        return Err(Problem::message(format!("{what}; use --format text or json, or the libraries")));
    };
    let options = &args.by_length;
    let lengths = Lengths::read(&args.dataset.paths, options.lengths.clone().flatten().as_deref(), options.unit)?;
    if options.compare || options.plot.is_some() {
        return compare::run(args, &lengths, format);
    }
    let summary = lengths.summary();
    let spinner = progress::spinner("planning");
    let batcher = args.resume.batcher(options.batcher(args, lengths.values)?)?;
    spinner.finish_and_clear();
    show::show(&batcher, &summary, args, format)
}
