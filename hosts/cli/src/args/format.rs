use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

/// How an answer is printed.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// How to print the answer
    #[arg(long, value_parser = without_arrays(), default_value = "table")]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// The parser of `--format` for answers that are no arrays: all formats except `npy`.
fn without_arrays() -> impl TypedValueParser<Value = Format> {
    let formats = Format::value_variants().iter().filter(|format| **format != Format::Npy);
    let names = formats.filter_map(Format::to_possible_value);
    PossibleValuesParser::new(names).try_map(|name| Format::from_str(&name, false))
}

impl Output {
    pub fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// The output of a subcommand whose answer is always JSON.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct TextOutput {
    /// Changes nothing: the answer is JSON
    #[arg(long)]
    json: bool,
    /// Write to this file, which appears when it is complete
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// How numbers are printed or written.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct ArrayOutput {
    /// How to print the numbers
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write to this file, which appears when it is complete
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl ArrayOutput {
    pub fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// The ways to show an answer.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Table,
    /// For other programs: a line for every item, with tabs between its parts
    Text,
    /// A CSV table, with the names of the columns in the first line
    Csv,
    /// JSON Lines: one JSON object for every item
    Jsonl,
    /// A Parquet file
    Parquet,
    /// One JSON object; all its numbers are exact, also 64-bit seeds and epochs
    Json,
    /// A NumPy array of int64
    Npy,
}

impl Format {
    /// Whether the format has a row with several columns for each number. Other formats have bare numbers.
    pub fn has_rows(self) -> bool {
        !matches!(self, Self::Text | Self::Json | Self::Npy)
    }
}
