//! The options of `samedeal blend`.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::args::format::Output;
use crate::args::member::Given;
use crate::args::values::{number, share, within};
use crate::generated::Blend;

#[derive(Args)]
pub struct BlendArgs {
    #[command(flatten)]
    pub sources: SourcesArgs,
    /// Take the blend from a recipe. An option beside it replaces what the recipe says of the same. - is standard input
    #[arg(long, value_name = "FILE")]
    pub recipe: Option<PathBuf>,
    /// With --recipe: numbers of which it has only a hash, by their path in the recipe. May be repeated
    #[arg(long, value_name = "PATH=FILE", value_parser = crate::args::deal::list)]
    pub list: Vec<(String, PathBuf)>,
    /// Number of the epoch
    #[arg(long, value_parser = within(0, u64::MAX), default_value = "0")]
    pub epoch: u64,
    /// The first position that is counted. With --rank: the first sample, by its number among those of the rank
    #[arg(long, value_name = "POSITION", value_parser = number, default_value = "0")]
    pub start: u64,
    /// The position after the last one that is counted. With --rank: the same of samples of the rank [default: the end of the epoch]
    #[arg(long, value_name = "POSITION", value_parser = number)]
    pub end: Option<u64>,
    /// How many ranks share the epoch [default: 1, or that of the recipe]
    #[arg(long, value_name = "RANKS", value_parser = within(1, u32::MAX))]
    pub world_size: Option<u32>,
    /// Count what this rank gets, which reads all of its samples. Without: what all ranks get together, at once
    #[arg(long, value_parser = within(0, u32::MAX), conflicts_with = "plot")]
    pub rank: Option<u32>,
    /// Write the recipe of the blend to this file, for --recipe of the other commands and for the libraries. The report is left out
    /// then, unless --report is there. - is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub recipe_out: Option<PathBuf>,
    /// Print the report. It is printed anyway without --recipe-out
    #[arg(long, help_heading = "Output")]
    pub report: bool,
    /// Draw how far the count of each source is from its share, over the positions. Not for --exhaustion renormalize
    #[arg(long, help_heading = "Output")]
    pub plot: bool,
    #[command(flatten)]
    pub output: Output,
}

/// The blend itself.
#[derive(Args)]
#[command(next_help_heading = "Blend")]
pub struct SourcesArgs {
    /// A source: its name, its number of samples, and its weight, such as 70 or 0.7. May be repeated
    #[arg(long, value_name = "NAME:SAMPLES:WEIGHT", value_parser = source, required_unless_present = "recipe")]
    source: Vec<Value>,
    /// Keep every source within one sample of its share. The weights must be small: their sum, without a common divisor, is at most 2^20
    #[arg(long)]
    exact: bool,
    /// Other weights, one for each source, from a position on, which is counted over all epochs. May be repeated
    #[arg(long, value_name = "FROM:W,W,...", value_parser = stage)]
    stage: Vec<Value>,
    #[command(flatten)]
    given: Given<Blend>,
}

/// Parses a value of `--source` into a source as recipes have it.
fn source(text: &str) -> Result<Value, String> {
    // A name may contain colons, so the text is split from its end.
    let parts = text.rsplit_once(':').and_then(|(rest, weight)| Some((rest.rsplit_once(':')?, weight)));
    let ((name, samples), weight) = parts.ok_or("allowed: NAME:SAMPLES:WEIGHT, such as web:1e6:70")?;
    Ok(json!({ "name": name, "samples": number(samples)?, "weight": share(weight)? }))
}

/// Parses a value of `--stage` into a stage as recipes have it.
fn stage(text: &str) -> Result<Value, String> {
    let (from, weights) = text.split_once(':').ok_or("allowed: FROM:W,W,..., such as 50000:20,80")?;
    let weights = weights.split(',').map(share).collect::<Result<Vec<_>, _>>()?;
    Ok(json!({ "from": number(from)?, "weights": weights }))
}

impl SourcesArgs {
    /// The given options, as members of the section `order` of a recipe.
    pub fn members(&self) -> Map<String, Value> {
        let mut members = self.given.members().clone();
        for (name, values) in [("sources", &self.source), ("stages", &self.stage)] {
            if !values.is_empty() {
                members.insert(name.to_owned(), values.clone().into());
            }
        }
        if self.exact {
            members.insert("name".to_owned(), "blend-exact".into());
        }
        members
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_and_stages_are_read() {
        assert_eq!(source("s3://a:5:7"), Ok(json!({ "name": "s3://a", "samples": 5, "weight": 7 })));
        assert_eq!(source("web:5:0.7"), Ok(json!({ "name": "web", "samples": 5, "weight": 0.7 })));
        assert_eq!(stage("1e3:2,0,50"), Ok(json!({ "from": 1_000, "weights": [2, 0, 50] })));
        for text in ["", "web", "web:5", "web:5:-0.7", "web:x:1"] {
            assert!(source(text).is_err(), "{text}");
        }
        for text in ["", "5", "5:", "5:1,", "x:1"] {
            assert!(stage(text).is_err(), "{text}");
        }
    }
}
