use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

/// How an answer is printed.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// How to print the answer
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl Output {
    pub fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// Where a text goes that is JSON by itself.
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
    format: ArrayFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write to this file, which appears when it is complete
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

impl ArrayOutput {
    pub fn format(&self) -> ArrayFormat {
        if self.json { ArrayFormat::Shown(Format::Json) } else { self.format }
    }
}

/// The ways to show any answer.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Table,
    /// For other programs: a line for every item, with tabs between its parts
    Text,
    /// The same as a CSV table, with the names of the columns in the first line
    Csv,
    /// The same as JSON Lines: one JSON object for every item
    Jsonl,
    /// The same as a Parquet file
    Parquet,
    /// One JSON object; all its numbers are exact, also 64-bit seeds and epochs
    Json,
}

/// The ways to show many numbers: those for any answer, and one more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ArrayFormat {
    Shown(Format),
    Npy,
}

impl ArrayFormat {
    /// The format, if it has a row with several columns for each item.
    pub fn rows(self) -> Option<Format> {
        match self {
            Self::Shown(format) => Some(format).filter(|format| !matches!(format, Format::Text | Format::Json)),
            Self::Npy => None,
        }
    }
}

impl ValueEnum for ArrayFormat {
    fn value_variants<'a>() -> &'a [Self] {
        use ArrayFormat::{Npy, Shown};
        &[
            Shown(Format::Table),
            Shown(Format::Text),
            Shown(Format::Csv),
            Shown(Format::Jsonl),
            Shown(Format::Parquet),
            Shown(Format::Json),
            Npy,
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Shown(format) => format.to_possible_value(),
            Self::Npy => Some(PossibleValue::new("npy").help("A NumPy array of int64")),
        }
    }
}
