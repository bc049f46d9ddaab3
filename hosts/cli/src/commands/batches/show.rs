//! `samedeal batches --lengths`: the batches of a rank.

use std::ops::Range;

use samedeal::{Batch, Batcher};
use schemars::JsonSchema;
use serde::Serialize;

use super::figures::{self, Figures};
use crate::args::format::Format;
use crate::commands::numbers::{Answer, BatchesArgs};
use crate::write::{Cell, Items, Problem, Recipe, counted, grouped, json};

/// A table shows rows of a batch until `SHOWN` items or more are shown, and at most `SHOWN_OF_ROW` items of each row.
const SHOWN: usize = 8;
const SHOWN_OF_ROW: usize = 4;

/// Prints or writes the batches that the options select. `summary` describes the lengths.
pub fn show(batcher: &Batcher, summary: &str, args: &BatchesArgs, format: Format) -> Result<(), Problem> {
    let shown = &args.shown.window;
    let start = shown.start;
    let count = shown.run(5, batcher.num_steps()?)?;
    let is_table = format == Format::Table;
    let items = Items::new(if is_table { &TABLE[..] } else { &ROWS }.iter().copied());
    let mut answer = Answer::new(shown, items, || BatchesOf::new(batcher, start), &[count])?;
    for (step, batch) in (start..).zip(batcher.batches(start..start + count)?) {
        let batch = BatchOf::new(step, batch?);
        match format {
            Format::Table => {
                let rows = batch.row_ends.len() as u64;
                let (length, cost) = (batch.padded_length.into(), batch.cost.into());
                answer.push([step.into(), rows.into(), length, cost, batch.abridged().into()])?;
            }
            Format::Text => answer.write(&(batch.line() + "\n"), 1)?,
            Format::Json => answer.write(&json(&batch)?, 1)?,
            _ => batch.parts().try_for_each(|part| answer.push([step.into()].into_iter().chain(part)))?,
        }
    }
    answer.finish(&if is_table { told(batcher, summary, start + count, count)? } else { String::new() })
}

/// The columns of a table, which has a row for each step, and of other formats, which have a row for each item.
const TABLE: [&str; 5] = ["step", "rows", "padded length", "cost", "samples"];
const ROWS: [&str; 7] = ["step", "row", "index in row", "sample", "start", "length", "note"];

/// The note below a table of the steps before `last`.
fn told(batcher: &Batcher, summary: &str, last: u64, count: u64) -> Result<String, Problem> {
    let end = batcher.num_steps()?;
    let metrics = batcher.metrics()?;
    let who = format!("rank {} of {}", batcher.rank(), batcher.world_size());
    let more = if last < end { "; --start, --count and --all show more" } else { "" };
    let recipe = figures::recipe(batcher)?;
    let is_limited = ["max_tokens", "max_cost", "capacity"].iter().any(|it| recipe.0["batch"].get(it).is_some());
    let lines = [
        format!("{} of the {} of {who}{more}", grouped(count), counted(end, "step", "steps")),
        summary.to_owned(),
        figures::ratios(&metrics, is_limited),
    ];
    Ok(lines.into_iter().chain(figures::exceptions(&metrics)).collect::<Vec<_>>().join("\n"))
}

/// The batches by length of a rank.
#[derive(Serialize, JsonSchema)]
pub struct BatchesOf {
    recipe: Recipe,
    epoch: u64,
    rank: u32,
    metrics: Figures,
    /// Number of the first step that is shown.
    start: u64,
    batches: Vec<BatchOf>,
}

impl BatchesOf {
    /// The answer without batches, which are written after it one by one.
    fn new(batcher: &Batcher, start: u64) -> Result<Self, Problem> {
        let (recipe, metrics) = (figures::recipe(batcher)?, Figures::of(&batcher.metrics()?));
        Ok(Self { recipe, epoch: batcher.epoch(), rank: batcher.rank(), metrics, start, batches: Vec::new() })
    }
}

/// A batch by length of a rank.
#[derive(Serialize, JsonSchema)]
pub struct BatchOf {
    step: u64,
    /// The sample of each item of the batch, row after row.
    pub samples: Vec<u64>,
    /// For each item, the first token of the sample that it has; `lengths` has the number of tokens.
    starts: Vec<u32>,
    pub lengths: Vec<u32>,
    /// For each row, the number of the item after its last one.
    pub row_ends: Vec<u32>,
    /// The tokens of a row, with its padding.
    pub padded_length: u32,
    pub cost: u64,
    /// How many rows, the last ones, repeat others.
    pub repeated: u32,
}

impl BatchOf {
    pub fn new(step: u64, batch: Batch) -> Self {
        let Batch { samples, starts, lengths, row_ends, padded_length, cost, repeated, .. } = batch;
        Self { step, samples, starts, lengths, row_ends, padded_length, cost, repeated }
    }

    /// The cells of each item: row, index in the row, sample, start, length, and whether the row is repeated.
    pub fn parts(&self) -> impl Iterator<Item = [Cell; 6]> {
        self.rows().enumerate().flat_map(move |(row, items)| {
            let is_repeated = row + self.repeated as usize >= self.row_ends.len();
            (0_u64..).zip(items).map(move |(index, item)| {
                let note = if is_repeated { "repeated" } else { "" };
                let (sample, start, length) = (self.samples[item], self.starts[item], self.lengths[item]);
                [(row as u64).into(), index.into(), sample.into(), start.into(), length.into(), note.into()]
            })
        })
    }

    /// The range of the items of each row.
    fn rows(&self) -> impl Iterator<Item = Range<usize>> {
        let ends = self.row_ends.iter().map(|&end| end as usize);
        ends.scan(0, |next, end| Some(std::mem::replace(next, end)..end))
    }

    /// The items of each row as words: `sample`, or `sample@start` for a later part of a split sample.
    fn words(&self) -> impl Iterator<Item = Vec<String>> {
        let word = |item: usize| match (self.samples[item], self.starts[item]) {
            (sample, 0) => sample.to_string(),
            (sample, start) => format!("{sample}@{start}"),
        };
        self.rows().map(move |items| items.map(word).collect())
    }

    /// A line of `--format text`: step, rows, padded length, cost, repeated rows, and then the samples of each row.
    fn line(&self) -> String {
        let Self { step, row_ends, padded_length, cost, repeated, .. } = self;
        let mut line = format!("{step}\t{}\t{padded_length}\t{cost}\t{repeated}", row_ends.len());
        self.words().for_each(|row| line += &format!("\t{}", row.join(",")));
        line
    }

    /// The cell of a table: as many samples as are easily read in a line.
    fn abridged(&self) -> String {
        let (mut text, mut shown) = (String::new(), 0);
        for row in self.words() {
            if shown >= SHOWN {
                text.push_str(" ...");
                break;
            }
            let separator = if shown == 0 { "" } else { " " };
            let some = &row[..row.len().min(SHOWN_OF_ROW)];
            text.push_str(&format!("{separator}{}", some.join(",")));
            if row.len() > some.len() {
                text.push_str(&format!(",(+{})", row.len() - some.len()));
            }
            shown += some.len();
        }
        if self.repeated > 0 {
            let many = counted(self.repeated.into(), "row is", "rows are");
            text.push_str(&format!(" (the last {many} repeated)"));
        }
        text
    }
}
