//! `samedeal indices` and `samedeal batches`: the numbers of one reader.

use std::fmt::Display;
use std::io::Write;

use clap::Args;
use indicatif::ProgressBar;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::by_length::{ByLengthArgs, CompareArgs};
use crate::args::deal::{EpochArgs, ReaderArgs};
use crate::args::format::{ArrayFormat, ArrayOutput, Format};
use crate::args::values::number;
use crate::commands::readers::Reader;
use crate::write::{Cell, Head, Items, Problem, Rows, Sink, begin, counted, grouped, progress};

#[derive(Args)]
pub struct IndicesArgs {
    #[command(flatten)]
    pub epoch: EpochArgs,
    #[command(flatten)]
    pub shown: ShownArgs,
}

#[derive(Args)]
pub struct BatchesArgs {
    #[command(flatten)]
    pub epoch: EpochArgs,
    #[command(flatten)]
    pub shown: ShownArgs,
    #[command(flatten)]
    pub by_length: ByLengthArgs,
    #[command(flatten)]
    pub compare: CompareArgs,
}

/// Which samples or batches of a reader are shown.
#[derive(Args)]
pub struct ShownArgs {
    #[command(flatten)]
    pub reader: ReaderArgs,
    #[command(flatten)]
    pub window: WindowArgs,
}

/// Which of many are shown, and how.
#[derive(Args)]
pub struct WindowArgs {
    /// Number of the first one to show, from 0 on
    #[arg(long, value_parser = number, default_value = "0")]
    pub start: u64,
    /// How many to show [default: a table shows 20 samples or 5 batches, the other formats show all]
    #[arg(long, value_parser = number)]
    pub count: Option<u64>,
    /// Show all from --start on
    #[arg(long, conflicts_with = "count")]
    pub all: bool,
    #[command(flatten)]
    pub output: ArrayOutput,
}

/// The samples of a reader, in order.
#[derive(Serialize, JsonSchema)]
pub struct Indices {
    #[serde(flatten)]
    head: Head,
    /// Number of the first one that is shown, among those of the reader.
    start: u64,
    indices: Vec<u64>,
}

/// The batches of a reader, in order.
#[derive(Serialize, JsonSchema)]
pub struct Batches {
    #[serde(flatten)]
    head: Head,
    /// Number of the first one that is shown.
    start: u64,
    batches: Vec<Vec<u64>>,
}

/// `samedeal indices`
pub fn indices(args: &IndicesArgs) -> Result<(), Problem> {
    args.epoch.without_batches()?;
    let (dataset, mut readers) = args.epoch.open()?;
    let ShownArgs { reader, window: shown } = &args.shown;
    let reader = readers.reader(reader.rank, reader.worker.unwrap_or(0))?;
    let count = shown.run(20, reader.samples)?;
    let windows = reader.windows(shown.start, shown.start + count);
    if let Some(format) = shown.output.format().rows() {
        let is_table = format == Format::Table;
        let note: &[&str] = if is_table { &[] } else { &["note"] };
        let mut items = Items::new([&["index", "sample"], note, dataset.columns()].concat());
        let mut rows = shown.rows(format)?;
        let spinner = progress::spinner("reading");
        for window in windows {
            let (start, window) = window?;
            for (index, sample) in (start..).zip(window) {
                let padding = if reader.is_padding(index) { "padding" } else { "" };
                let is_marked = is_table && !padding.is_empty();
                let number = if is_marked { format!("{} (padding)", grouped(sample)).into() } else { sample.into() };
                let note = (!is_table).then(|| Cell::from(padding));
                rows.push(&mut items, [index.into(), number].into_iter().chain(note).chain(dataset.row(sample)))?;
            }
        }
        spinner.finish_and_clear();
        let all = counted(reader.samples, "sample", "samples");
        return shown.told(rows, &items, count, reader.told(count, &all), reader.samples);
    }
    let mut answer =
        Answer::new(shown, &Indices { head: reader.head()?, start: shown.start, indices: Vec::new() }, &[count])?;
    for window in windows {
        answer.add_numbers(&window?.1)?;
    }
    answer.finish()
}

/// `samedeal batches`
pub fn batches(args: &BatchesArgs) -> Result<(), Problem> {
    args.epoch.with_batches()?;
    let (dataset, mut readers) = args.epoch.open()?;
    let ShownArgs { reader, window: shown } = &args.shown;
    let reader = readers.reader(reader.rank, reader.worker.unwrap_or(0))?;
    let count = shown.run(5, reader.batches)?;
    let numbers = shown.start..shown.start + count;
    if let Some(format) = shown.output.format().rows() {
        let is_table = format == Format::Table;
        let columns: &[&str] =
            if is_table { &["batch", "size", "samples"] } else { &["batch", "index in batch", "sample", "note"] };
        let mut items = Items::new([columns, if is_table { &[] } else { dataset.columns() }].concat());
        let mut rows = shown.rows(format)?;
        let spinner = progress::spinner("reading");
        for batch in numbers {
            let samples = reader.batch(batch)?;
            if is_table {
                items.push([batch.into(), (samples.len() as u64).into(), abridged(&samples).into()]);
                continue;
            }
            for (index, &sample) in (0..).zip(&samples) {
                let note = if reader.is_padding(batch * reader.size + index) { "padding" } else { "" };
                let row = [batch.into(), index.into(), sample.into(), note.into()];
                rows.push(&mut items, row.into_iter().chain(dataset.row(sample)))?;
            }
        }
        spinner.finish_and_clear();
        let all = counted(reader.batches, "batch", "batches");
        return shown.told(rows, &items, count, reader.told(count, &all), reader.batches);
    }
    let full = reader.samples / reader.size;
    if shown.output.format() == ArrayFormat::Npy && shown.start + count > full {
        return Err(Problem::message(format!(
            "batch {full} has fewer samples than the others, which an array cannot hold; leave it out with --drop-last"
        )));
    }
    let mut answer = Answer::new(
        shown,
        &Batches { head: reader.head()?, start: shown.start, batches: Vec::new() },
        &[count, reader.size],
    )?;
    for batch in numbers {
        let samples = reader.batch(batch)?;
        match answer.format {
            ArrayFormat::Shown(Format::Text) => answer.add(&(joined(&samples, "\t") + "\n"), 1),
            ArrayFormat::Npy => answer.add_values(&samples, 1),
            _ => answer.add(&format!("[{}]", joined(&samples, ",")), 1),
        }?;
    }
    answer.finish()
}

/// Many numbers on their way out, for programs.
pub struct Answer {
    sink: Sink,
    pub format: ArrayFormat,
    bar: ProgressBar,
    separator: &'static str,
}

impl Answer {
    /// `answer` is one in JSON, whose last member is the list that the numbers go into.
    pub fn new(shown: &WindowArgs, answer: &impl Serialize, shape: &[u64]) -> Result<Self, Problem> {
        let (mut sink, format) = (shown.open()?, shown.output.format());
        match format {
            ArrayFormat::Npy => npy_header(&mut sink, shape)?,
            ArrayFormat::Shown(Format::Json) => begin(&mut sink, answer)?,
            ArrayFormat::Shown(_) => {}
        }
        Ok(Self { sink, format, bar: progress::bar("writing", shape[0]), separator: "" })
    }

    pub fn add(&mut self, text: &str, count: usize) -> Result<(), Problem> {
        write!(self.sink, "{}{text}", self.separator)?;
        self.separator = if self.format == ArrayFormat::Shown(Format::Json) { "," } else { "" };
        self.bar.inc(count as u64);
        Ok(())
    }

    /// Adds items of a list of numbers.
    pub fn add_numbers(&mut self, numbers: &[u64]) -> Result<(), Problem> {
        match self.format {
            _ if numbers.is_empty() => Ok(()),
            ArrayFormat::Shown(Format::Text) => self.add(&(joined(numbers, "\n") + "\n"), numbers.len()),
            ArrayFormat::Shown(_) => self.add(&joined(numbers, ","), numbers.len()),
            ArrayFormat::Npy => self.add_values(numbers, numbers.len()),
        }
    }

    fn add_values(&mut self, values: &[u64], count: usize) -> Result<(), Problem> {
        // Every index is below 2^53, and so the same number as int64.
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        self.bar.inc(count as u64);
        Ok(self.sink.write_all(&bytes)?)
    }

    pub fn finish(mut self) -> Result<(), Problem> {
        if self.format == ArrayFormat::Shown(Format::Json) {
            writeln!(self.sink, "]}}")?;
        }
        self.sink.finish()
    }
}

impl WindowArgs {
    /// How many are shown of so many. What was asked for must exist. Unless asked, a table shows some, and programs get all.
    pub fn run(&self, some: u64, end: u64) -> Result<u64, Problem> {
        let start = self.start;
        let most = end.checked_sub(start);
        let most = most.ok_or_else(|| Problem::message(format!("--start is {start}; allowed: 0 to {end}")))?;
        match self.count {
            Some(count) if count > most => {
                Err(Problem::message(format!("--count is {count}; allowed: 0 to {most} from {start}, or --all")))
            }
            Some(count) => Ok(count),
            None if self.all || self.output.format() != ArrayFormat::Shown(Format::Table) => Ok(most),
            None => Ok(most.min(some)),
        }
    }

    fn open(&self) -> Result<Sink, Problem> {
        let sink = Sink::new(self.output.output.as_deref())?;
        if self.output.format() == ArrayFormat::Npy && sink.is_terminal() {
            return Err(Problem::message("a terminal cannot show an array; name a file with --output FILE"));
        }
        Ok(sink)
    }

    /// Rows on their way out.
    pub fn rows(&self, format: Format) -> Result<Rows, Problem> {
        Rows::new(self.open()?, format)
    }

    /// Ends the rows. Below a table stands `told`, and how to show more if these are not all of `end` items.
    pub fn told(&self, rows: Rows, items: &Items, count: u64, told: impl Display, end: u64) -> Result<(), Problem> {
        let more = if self.start + count < end { "; --start, --count and --all show more" } else { "" };
        rows.finish(items, &format!("{told}{more}"))
    }
}

impl Reader<'_> {
    /// How many of all its samples or batches are shown, and which are padding.
    fn told(&self, count: u64, all: &str) -> String {
        let told = format!("{} of the {all} of {}", grouped(count), self.who());
        match (self.padding, self.dropped()) {
            (0, 0) => told,
            (0, dropped) => format!("{told}; {}", counted(dropped, "sample is dropped", "samples are dropped")),
            (1, _) => told + "; the last sample is padding",
            (padding, _) => format!("{told}; the last {} samples are padding", grouped(padding)),
        }
    }
}

pub fn joined(numbers: &[u64], separator: &str) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(separator)
}

/// As many samples as are easily read in a line.
pub fn abridged(samples: &[u64]) -> String {
    match samples {
        [first @ .., last] if samples.len() > 9 => format!("{} ... {last}", joined(&first[..8], " ")),
        _ => joined(samples, " "),
    }
}

/// Begins a NumPy file: version 1.0 of the format, little-endian int64, in C order.
fn npy_header(sink: &mut Sink, shape: &[u64]) -> Result<(), Problem> {
    // A tuple of one element ends with a comma; longer ones may.
    let shape = shape.iter().map(|length| format!("{length},")).collect::<String>();
    let mut header = format!("{{'descr': '<i8', 'fortran_order': False, 'shape': ({shape}), }}");
    // The values begin at a multiple of 64 bytes: 10 bytes come before the header, a line feed ends it.
    header += &" ".repeat(63 - (10 + header.len()) % 64);
    header.push('\n');
    sink.write_all(b"\x93NUMPY\x01\x00")?;
    sink.write_all(&(header.len() as u16).to_le_bytes())?;
    Ok(sink.write_all(header.as_bytes())?)
}
