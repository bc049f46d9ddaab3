//! `samedeal recipe`: everything that decides a deal or batches, as one text.

use std::path::PathBuf;

use clap::{Arg, Args};
use indicatif::ProgressBar;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::by_length::ByLengthArgs;
use crate::args::dataset::Dataset;
use crate::args::deal::{AllRanks, EpochArgs};
use crate::write::{Problem, json, write_text};

#[derive(Args)]
pub struct RecipeArgs {
    #[command(flatten)]
    pub epoch: EpochArgs,
    #[command(flatten)]
    pub by_length: ByLengthArgs,
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

/// Changes the options of an epoch for `recipe`: hides those that are no part of a recipe.
pub fn explain_recipe(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "epoch" | "workers" | "resume" | "replan" | "index" | "batch_size" | "drop_last" => arg.hide(true),
        "list" => arg.help(
            "With --recipe: numbers of which it has only a hash, by their path, such as of/indices. FILE is a NumPy array, a JSON list, \
             or a text with one number in each line. May be repeated",
        ),
        _ => arg,
    }
}

/// The fingerprint of a recipe. Without `--fingerprint`, the answer is the recipe.
#[derive(Serialize, JsonSchema)]
pub struct Fingerprint {
    /// SHA-256 of the canonical text of the recipe.
    recipe_fingerprint: String,
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
    args.by_length.without_index()?;
    let (recipe, fingerprint) = if args.by_length.lengths.is_some() {
        let lengths = args.by_length.read(&args.epoch)?;
        let batcher = args.by_length.batcher(deal, 0, lengths.given(&ProgressBar::hidden()))?;
        (batcher.recipe()?, batcher.recipe_fingerprint()?)
    } else {
        let sampler = deal.sampler(&Dataset::new(dataset)?)?;
        (sampler.recipe()?, sampler.recipe_fingerprint()?)
    };
    let answer = match (args.fingerprint, args.json) {
        (false, _) => recipe,
        (true, false) => fingerprint,
        (true, true) => json(&Fingerprint { recipe_fingerprint: fingerprint })?,
    };
    write_text(args.output.as_deref(), &answer)
}
