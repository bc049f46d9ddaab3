//! The batches of a rank.

use std::io::Write;

use samedeal::{Batch, Batcher};
use schemars::JsonSchema;
use serde::Serialize;

use super::figures::{self, Figures};
use crate::args::format::{ArrayFormat, Format};
use crate::commands::numbers::BatchesArgs;
use crate::write::{Cell, Items, Problem, Recipe, Sink, begin, counted, grouped, json, progress};

/// How many items of a batch a table shows, and of a row that is shared.
const SHOWN: usize = 8;
const SHOWN_OF_ROW: usize = 4;

/// Prints or writes the batches that are asked for; `summary` is of the lengths.
pub fn show(batcher: &Batcher, summary: &str, args: &BatchesArgs, format: Format) -> Result<(), Problem> {
    let end = batcher.num_steps()?;
    let start = args.shown.window.start;
    let count = args.shown.window.run(5, end)?;
    let steps = start..start + count;
    let bar = progress::bar("writing", count);
    if let Some(format) = ArrayFormat::Shown(format).rows() {
        let is_table = format == Format::Table;
        let mut items = Items::new(if is_table { &TABLE[..] } else { &ROWS }.iter().copied());
        let mut rows = args.shown.window.rows(format)?;
        for (step, batch) in steps.zip(batcher.batches(start..start + count)?) {
            let batch = batch?;
            if is_table {
                let lengths = [(batch.row_ends.len() as u64).into(), batch.padded_length.into(), batch.cost.into()];
                items.push([step.into()].into_iter().chain(lengths).chain([abridged(&batch).into()]));
            } else {
                parts(&batch).try_for_each(|part| rows.push(&mut items, [step.into()].into_iter().chain(part)))?;
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        return rows.finish(&items, &told(batcher, summary, start + count, count)?);
    }
    let mut sink = Sink::new(args.shown.window.output.output.as_deref())?;
    if format == Format::Json {
        begin(&mut sink, &BatchesOf::new(batcher, start)?)?;
    }
    for (step, batch) in steps.zip(batcher.batches(start..start + count)?) {
        let batch = batch?;
        match format {
            Format::Json => {
                let separator = if step == start { "" } else { "," };
                write!(sink, "{separator}{}", json(&BatchOf::new(step, &batch))?)?;
            }
            _ => writeln!(sink, "{}", line(step, &batch))?,
        }
        bar.inc(1);
    }
    if format == Format::Json {
        writeln!(sink, "]}}")?;
    }
    sink.finish()
}

/// The columns for people, with a row for each step; for programs, with a row for each item.
const TABLE: [&str; 5] = ["step", "rows", "padded length", "cost", "samples"];
const ROWS: [&str; 7] = ["step", "row", "index in row", "sample", "start", "length", "note"];

/// Each item of a batch: its row, its index there, the sample, what part of it this is, and whether the row is repeated.
pub fn parts(batch: &Batch) -> impl Iterator<Item = [Cell; 6]> {
    let places =
        batch.rows().enumerate().flat_map(|(row, samples)| (0..samples.len() as u64).map(move |index| (row, index)));
    places.enumerate().map(|(item, (row, index))| {
        let is_repeated = row + batch.repeated as usize >= batch.row_ends.len();
        let note = Cell::from(if is_repeated { "repeated" } else { "" });
        let (sample, start, length) = (batch.samples[item], batch.starts[item], batch.lengths[item]);
        [(row as u64).into(), index.into(), sample.into(), start.into(), length.into(), note]
    })
}

/// What is said below a table of the steps before `last`.
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
    /// Without batches so far.
    fn new(batcher: &Batcher, start: u64) -> Result<Self, Problem> {
        let (recipe, metrics) = (figures::recipe(batcher)?, Figures::of(&batcher.metrics()?));
        Ok(Self { recipe, epoch: batcher.epoch(), rank: batcher.rank(), metrics, start, batches: Vec::new() })
    }
}

/// A batch by length of a rank.
#[derive(Serialize, JsonSchema)]
pub struct BatchOf {
    step: u64,
    /// One for each item of the batch, row after row.
    samples: Vec<u64>,
    /// The first token of the sample that the item has, and how many tokens.
    starts: Vec<u32>,
    lengths: Vec<u32>,
    /// For each row, the number of the item after its last one.
    row_ends: Vec<u32>,
    /// The tokens of a row, with its padding.
    padded_length: u32,
    cost: u64,
    /// How many rows, the last ones, repeat others.
    repeated: u32,
}

impl BatchOf {
    pub fn new(step: u64, batch: &Batch) -> Self {
        let Batch { samples, starts, lengths, row_ends, padded_length, cost, repeated, .. } = batch.clone();
        Self { step, samples, starts, lengths, row_ends, padded_length, cost, repeated }
    }
}

/// For programs: step, rows, padded length, cost, repeated rows, and then a part for each row.
fn line(step: u64, batch: &Batch) -> String {
    let Batch { row_ends, padded_length, cost, repeated, .. } = batch;
    let mut line = format!("{step}\t{}\t{padded_length}\t{cost}\t{repeated}", row_ends.len());
    for row in rows(batch) {
        line.push('\t');
        line.push_str(&row.join(","));
    }
    line
}

/// For people: as many samples as are easily read in a line.
fn abridged(batch: &Batch) -> String {
    let (mut text, mut shown) = (String::new(), 0);
    for row in rows(batch) {
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
    if batch.repeated > 0 {
        let many = counted(batch.repeated.into(), "row is", "rows are");
        text.push_str(&format!(" (the last {many} repeated)"));
    }
    text
}

/// The samples of each row, and where in a sample an item begins that is a later part of it.
fn rows(batch: &Batch) -> impl Iterator<Item = Vec<String>> {
    let starts = batch.row_ends.iter().scan(0, |next, &end| Some(std::mem::replace(next, end as usize)));
    starts.zip(&batch.row_ends).map(|(start, &end)| {
        let items = start..end as usize;
        let items = batch.samples[items.clone()].iter().zip(&batch.starts[items]);
        items
            .map(|(sample, start)| if *start == 0 { sample.to_string() } else { format!("{sample}@{start}") })
            .collect()
    })
}
