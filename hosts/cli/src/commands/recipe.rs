//! `samedeal recipe`: everything that decides a deal, as one text.

use std::io::Write;
use std::path::PathBuf;

use clap::{Arg, Args};
use serde_json::json;

use crate::args::dataset::Dataset;
use crate::args::deal::{AllRanks, EpochArgs};
use crate::write::output::Sink;
use crate::write::problem::Problem;

#[derive(Args)]
pub struct RecipeArgs {
    #[command(flatten)]
    pub epoch: EpochArgs,
    #[command(flatten)]
    ranks: AllRanks,
    /// Print the fingerprint of the recipe (SHA-256) instead
    #[arg(long)]
    fingerprint: bool,
    /// Changes nothing without --fingerprint: a recipe is JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Write to this file, which appears when it is complete
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
}

/// Hides the options that are no part of a recipe.
pub fn hide_others(arg: Arg) -> Arg {
    let is_other = matches!(arg.get_id().as_str(), "epoch" | "workers" | "resume" | "batch_size" | "drop_last");
    if is_other { arg.hide(true) } else { arg }
}

/// `samedeal recipe`
pub fn run(args: &RecipeArgs) -> Result<(), Problem> {
    let EpochArgs { dataset, deal, batch_size, drop_last, .. } = &args.epoch;
    for (is_given, option) in [
        (deal.epoch != 0, "--epoch"),
        (deal.workers.is_some(), "--workers"),
        (deal.resume.is_some(), "--resume"),
        (batch_size.is_some(), "--batch-size"),
        (*drop_last, "--drop-last"),
    ] {
        if is_given {
            return Err(Problem::message(format!("{option} is no part of a recipe; leave it out")));
        }
    }
    let sampler = deal.sampler(&Dataset::new(dataset)?)?;
    let answer = match (args.fingerprint, args.json) {
        (false, _) => sampler.recipe()?,
        (true, false) => sampler.recipe_fingerprint()?,
        (true, true) => json!({ "recipe_fingerprint": sampler.recipe_fingerprint()? }).to_string(),
    };
    let mut sink = Sink::new(args.output.as_deref())?;
    writeln!(sink, "{answer}")?;
    sink.finish()
}
