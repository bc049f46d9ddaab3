//! `--recipe`: what a recipe decides.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use samedeal::{Error, FailureKind, Sampler};
use serde_json::Value;

use crate::args::dataset::Dataset;
use crate::args::deal::EpochArgs;
use crate::write::output::{counted, grouped};
use crate::write::problem::Problem;

/// The most bytes that are read. The library says that a recipe has fewer.
const MOST: u64 = 1 << 26;

impl EpochArgs {
    /// Reads the recipe, if one is named, and sets the options that it decides. `by_length` is whether batches have samples of
    /// different length.
    pub fn read_recipe(&mut self, by_length: bool) -> Result<(), Problem> {
        let Some(path) = &self.deal.recipe else { return Ok(()) };
        let text = text(path)?;
        if by_length {
            // What is no recipe, the library refuses when it has the lengths.
            let recipe: Value = serde_json::from_str(&text).unwrap_or_default();
            let (order, deal) = (&recipe["order"], &mut self.deal);
            deal.order = order["name"].as_str().map(str::to_owned);
            deal.seed = order["seed"].as_i64();
            deal.world_size = recipe["deal"]["world_size"].as_u64().and_then(|ranks| u32::try_from(ranks).ok());
            deal.by_length = Some(text);
            return Ok(());
        }
        let files = if self.dataset.paths.is_empty() { None } else { Some(Dataset::new(&self.dataset)?) };
        let sampler = sampler(&text, files.as_ref()).map_err(|error| Problem::of(path, explained(&error)))?;
        let (samples, sizes) = (sampler.samples(), sampler.sizes()?);
        let dataset = files.unwrap_or_else(|| Dataset { samples, files: Vec::new(), sizes });
        if dataset.samples != samples {
            let own = counted(samples, "sample", "samples");
            let what =
                format!("the recipe is of {own}, and the files have {}; name the files of the run", dataset.samples);
            return Err(Problem::of(path, what));
        }
        let deal = &mut self.deal;
        (deal.seed, deal.order) = (Some(sampler.seed()), Some(sampler.order().to_owned()));
        (deal.lanes, deal.shuffle_window) = (sampler.lanes(), sampler.shuffle_window());
        deal.world_size = Some(sampler.world_size());
        (deal.remainder, deal.layout) = (Some(sampler.remainder()), Some(sampler.layout()));
        if self.dataset.paths.is_empty() {
            self.dataset.samples = Some(dataset.samples);
        }
        self.dataset.known = Some(dataset);
        Ok(())
    }
}

fn text(path: &Path) -> Result<String, Problem> {
    let failed = |error: io::Error| Problem::of(path, error);
    let file: Box<dyn Read> =
        if path == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(path).map_err(failed)?) };
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MOST {
        return Err(Problem::of(path, format!("is no recipe: it has more than {} bytes", grouped(MOST))));
    }
    String::from_utf8(bytes).map_err(|_| Problem::of(path, "is no recipe: it is not UTF-8"))
}

/// The sampler of a recipe. Files are its `sizes`, except with an order that has none.
fn sampler(text: &str, files: Option<&Dataset>) -> Result<Sampler, Error> {
    let builder = Sampler::from_recipe(text);
    let Some(sizes) = files.and_then(Dataset::sizes) else { return builder.build() };
    let error = match builder.clone().sizes(sizes).build() {
        Ok(sampler) => return Ok(sampler),
        Err(error) => error,
    };
    if !is_of(&error, FailureKind::Contradiction, "sizes") {
        return Err(error);
    }
    match builder.build() {
        Ok(sampler) if sampler.lanes().is_none() => Ok(sampler),
        // Of an order without sizes, something else is wrong.
        Err(other) if !is_of(&other, FailureKind::Missing, "sizes") => Err(other),
        _ => Err(error),
    }
}

fn is_of(error: &Error, kind: FailureKind, field: &str) -> bool {
    error.failure().is_some_and(|failure| failure.kind == kind && failure.field == field)
}

/// The error, and what to do on the command line.
fn explained(error: &Error) -> String {
    if is_of(error, FailureKind::Missing, "sizes") {
        return format!("{error}. Name the files of the run or their directories");
    }
    if is_of(error, FailureKind::Contradiction, "sizes") {
        return format!("{error}. The files are not those of the recipe: name the files of the run, in their order");
    }
    if is_of(error, FailureKind::Contradiction, "batch") {
        let what = "the recipe is of batches of samples of different length";
        return format!(
            "{what}; batches, locate, step, explain and recipe take it with --lengths and the files that tell lengths"
        );
    }
    error.to_string()
}
