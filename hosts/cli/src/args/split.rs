//! The options of `samedeal split`.

use std::path::PathBuf;

use clap::Args;
use samedeal::Split;
use serde_json::{Value, json};

use crate::args::member::Given;
use crate::args::recipe;
use crate::args::values::{number, share, within};
use crate::commands::numbers::WindowArgs;
use crate::generated::Parts;
use crate::write::Problem;

#[derive(Args)]
pub struct SplitArgs {
    #[command(flatten)]
    pub samples: SplitSamples,
    #[command(flatten)]
    pub parts: PartsArgs,
    /// Take the split from a recipe that a library or this command wrote. An option beside it replaces what the recipe says of the same. - is
    /// standard input
    #[arg(long, value_name = "FILE")]
    pub recipe: Option<PathBuf>,
    /// Show the samples of this part, by their indices. The libraries take them as a subset
    #[arg(long, value_name = "PART", help_heading = "Output", conflicts_with_all = ["others", "each"])]
    pub members: Option<String>,
    /// Show the samples that are in any other part: the training side of a fold
    #[arg(long, value_name = "PART", help_heading = "Output", conflicts_with = "each")]
    pub others: Option<String>,
    /// Show the part of each sample. In JSON and in an array, it is the number of the part
    #[arg(long, help_heading = "Output")]
    pub each: bool,
    /// Write the recipe of the split to this file, for --recipe and for the libraries. - is standard output, and then nothing else is
    /// printed
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub recipe_out: Option<PathBuf>,
    #[command(flatten)]
    pub window: WindowArgs,
}

/// The samples that are split.
#[derive(Args)]
pub struct SplitSamples {
    /// Files, or directories of Parquet files. Without --column, Parquet files are the samples themselves: each row is one, and its index is
    /// its id. Other files tell the id or the key of each sample: a NumPy array, a JSON array, or text with one in each line. - is
    /// standard input, with one in each line
    #[arg(value_name = "PATH", conflicts_with = "samples")]
    pub paths: Vec<PathBuf>,
    /// Number of samples, whose ids are 0 to N - 1, such as 50000, 50_000 or 5e4 [default with --size: the sum of the sizes]
    #[arg(long, value_name = "N", value_parser = number)]
    pub samples: Option<u64>,
    /// The column of PATH that holds the id or the key of each sample. PATH may be Parquet, CSV, TSV or JSON
    #[arg(long, value_name = "COLUMN", requires = "paths", conflicts_with = "samples")]
    pub column: Option<String>,
    /// PATH tells keys, such as names of files, speakers or patients: samples with the same key are in the same part. Without it, PATH tells
    /// ids, which are whole numbers
    #[arg(long, requires = "paths", conflicts_with = "samples")]
    pub keys: bool,
}

/// The split itself.
#[derive(Args)]
#[group(id = "PartsArgs", multiple = true)]
#[command(next_help_heading = "Split")]
pub struct PartsArgs {
    /// A part, and its weight, such as 10 or 0.1. May be repeated. List the test part first and the training part last: if a part
    /// gets more weight and the next one as much less, samples move from the next one to this part only
    #[arg(long, value_name = "NAME:WEIGHT", value_parser = weighted, conflicts_with_all = ["size", "folds"])]
    #[arg(required_unless_present_any = ["size", "folds", "recipe"])]
    part: Vec<(String, Value)>,
    /// A part, and how many samples it has exactly. May be repeated
    #[arg(long, value_name = "NAME:SAMPLES", value_parser = sized, conflicts_with = "folds")]
    size: Vec<(String, Value)>,
    /// Draw the parts of --size from all samples of PATH or --samples, or from their ids or --keys, of which equal ones count once. This part
    /// has the others. Files are read twice
    #[arg(long, value_name = "NAME", conflicts_with_all = ["part", "folds"])]
    pub rest: Option<String>,
    /// This many parts of equal weight, named 0, 1 and so on, for a cross-validation
    #[arg(long, value_name = "COUNT", value_parser = within(1, 1_u32 << 16))]
    folds: Option<u32>,
    #[command(flatten)]
    given: Given<Parts>,
}

fn weighted(text: &str) -> Result<(String, Value), String> {
    part(text, share, "allowed: a name and a weight, such as test:10 or test:0.1")
}

fn sized(text: &str) -> Result<(String, Value), String> {
    part(text, |size| number(size).map(Value::from), "allowed: a name and a whole number, such as test:10")
}

/// A name, and a value that `read` reads. A name may contain colons, so the text is split at the last one.
fn part(text: &str, read: impl Fn(&str) -> Result<Value, String>, allowed: &str) -> Result<(String, Value), String> {
    let (name, value) = text.rsplit_once(':').ok_or(allowed)?;
    Ok((name.to_owned(), read(value)?))
}

impl SplitArgs {
    /// The split that the options describe, or that a recipe has.
    pub fn split(&self) -> Result<Split, Problem> {
        let PartsArgs { part, size, folds, given, .. } = &self.parts;
        let listed = |parts: &[(String, Value)], share: &str| {
            parts.iter().map(|(name, own)| json!({ "name": name, share: own })).collect::<Value>()
        };
        let parts = match folds {
            Some(0) => return Err(Problem::message("--folds is 0; allowed: 1 to 65536")),
            Some(folds) => {
                let recipe = Split::folds(*folds).build().map_err(Problem::worded)?.recipe()?;
                Some(serde_json::from_str::<Value>(&recipe).unwrap_or_default()["split"]["parts"].take())
            }
            None if !part.is_empty() => Some(listed(part, "weight")),
            None => Some(listed(size, "size")).filter(|_| !size.is_empty()),
        };
        let mut members = given.members().clone();
        let mut text = self.recipe.as_deref().map_or_else(|| Ok("{}".to_owned()), recipe::text)?;
        if let Some(parts) = parts {
            members.insert("parts".to_owned(), parts);
            // The recipe's `samples` is the sum of its own sizes, which these parts replace.
            text = recipe::without(text, "split", "samples");
        }
        Split::from_recipe(recipe::with(text, [("split", members)])).build().map_err(|error| match &self.recipe {
            Some(path) => Problem::of(path, error),
            None => Problem::worded(error),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read() {
        assert_eq!(sized("a:b:1e3"), Ok(("a:b".to_owned(), 1_000.into())));
        for text in ["", "test", "test:", "test:0.5", "test:-1"] {
            assert!(sized(text).is_err(), "{text}");
        }
    }
}
