//! The output of the command: tables, JSON, progress, problems.

pub mod answer;
mod items;
mod output;
mod partial;
mod problem;
pub mod progress;
mod rows;

pub use answer::{Head, ReaderOf, Recipe, Stored, begin, json, print_json, show, write_json};
pub use items::{Cell, Items, excerpt};
pub use output::{Sink, be_quiet, counted, grouped, hexadecimal, note, percent, print, verdict, write_text};
pub use problem::{Problem, option_of, with_powers};
pub use rows::Rows;
