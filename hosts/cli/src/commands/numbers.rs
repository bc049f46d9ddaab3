//! `samedeal indices` and `samedeal batches`: the numbers of one reader.

use std::io::Write;

use clap::Args;
use indicatif::ProgressBar;
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::by_length::{ByLengthArgs, CompareArgs};
use crate::args::deal::{EpochArgs, ReaderArgs};
use crate::args::format::{ArrayOutput, Format};
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

/// The range of items that are shown, and the output.
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
    let is_table = shown.output.format() == Format::Table;
    let columns = [("index", true), ("sample", true), ("note", !is_table)];
    let items = Items::some(columns, dataset.columns().iter().copied());
    let answer = || Ok(Indices { head: reader.head()?, start: shown.start, indices: Vec::new() });
    let mut answer = Answer::new(shown, items, answer, &[count])?;
    for window in reader.windows(shown.start, shown.start + count) {
        let (mut index, window) = window?;
        answer.add(&window, |&sample| {
            let note = if reader.is_padding(index) { "padding" } else { "" };
            let is_marked = is_table && !note.is_empty();
            let number = if is_marked { format!("{} (padding)", grouped(sample)).into() } else { sample.into() };
            let row = [index.into(), number, note.into()];
            index += 1;
            row.into_iter().chain(dataset.row(sample))
        })?;
    }
    let all = counted(reader.samples, "sample", "samples");
    answer.finish(&shown.told(count, reader.told(count, &all), reader.samples))
}

/// `samedeal batches`
pub fn batches(args: &BatchesArgs) -> Result<(), Problem> {
    args.epoch.with_batches()?;
    let (dataset, mut readers) = args.epoch.open()?;
    let ShownArgs { reader, window: shown } = &args.shown;
    let reader = readers.reader(reader.rank, reader.worker.unwrap_or(0))?;
    let count = shown.run(5, reader.batches)?;
    let format = shown.output.format();
    let (is_table, full) = (format == Format::Table, reader.samples / reader.size);
    if format == Format::Npy && shown.start + count > full {
        return Err(Problem::message(format!(
            "batch {full} has fewer samples than the others, which an array cannot hold; leave it out with --drop-last"
        )));
    }
    let items = match is_table {
        true => Items::new(["batch", "size", "samples"]),
        false => Items::new([&["batch", "index in batch", "sample", "note"], dataset.columns()].concat()),
    };
    let answer = || Ok(Batches { head: reader.head()?, start: shown.start, batches: Vec::new() });
    let mut answer = Answer::new(shown, items, answer, &[count, reader.size])?;
    for batch in shown.start..shown.start + count {
        let samples = reader.batch(batch)?;
        match format {
            Format::Table => {
                answer.push([batch.into(), (samples.len() as u64).into(), abridged(&samples).into()])?;
            }
            Format::Text => answer.write(&(joined(&samples, "\t") + "\n"), samples.len())?,
            Format::Json => answer.write(&format!("[{}]", joined(&samples, ",")), samples.len())?,
            _ => {
                let mut index = 0..;
                answer.add(&samples, |&sample| {
                    let index = index.next().unwrap_or_default();
                    let note = if reader.is_padding(batch * reader.size + index) { "padding" } else { "" };
                    let row = [batch.into(), index.into(), sample.into(), note.into()];
                    row.into_iter().chain(dataset.row(sample))
                })?;
            }
        }
    }
    let all = counted(reader.batches, "batch", "batches");
    answer.finish(&shown.told(count, reader.told(count, &all), reader.batches))
}

/// An answer of many numbers, which are written as they come.
pub struct Answer {
    out: Out,
    pub format: Format,
    bar: ProgressBar,
}

enum Out {
    /// A row for each number.
    Rows(Rows, Items),
    /// Bare numbers or JSON, and the separator before the next item.
    Bare(Sink, &'static str),
}

impl Answer {
    /// Begins an answer. `items` has the columns of rows. `answer` makes the JSON, whose last member is the empty list
    /// that the numbers go into. `shape` is the shape of an array.
    pub fn new<T: Serialize>(
        shown: &WindowArgs,
        items: Items,
        answer: impl FnOnce() -> Result<T, Problem>,
        shape: &[u64],
    ) -> Result<Self, Problem> {
        let format = shown.output.format();
        let mut sink = Sink::new(shown.output.output.as_deref())?;
        if format == Format::Npy && sink.is_terminal() {
            return Err(Problem::message("a terminal cannot show an array; name a file with --output FILE"));
        }
        match format {
            Format::Npy => npy_header(&mut sink, shape)?,
            Format::Json => begin(&mut sink, &answer()?)?,
            _ => {}
        }
        let out = if format.has_rows() { Out::Rows(Rows::new(sink, format)?, items) } else { Out::Bare(sink, "") };
        Ok(Self { out, format, bar: progress::bar("writing", shape.iter().product()) })
    }

    /// Adds numbers. `row` makes the cells of a number; it is called for the numbers in their order.
    pub fn add<R: IntoIterator<Item = Cell>>(
        &mut self,
        numbers: &[u64],
        row: impl FnMut(&u64) -> R,
    ) -> Result<(), Problem> {
        match &mut self.out {
            Out::Rows(..) => numbers.iter().map(row).try_for_each(|row| self.push(row)),
            Out::Bare(..) if numbers.is_empty() => Ok(()),
            Out::Bare(sink, _) if self.format == Format::Npy => {
                // An index is below 2^53, so a u64 and an int64 of it have the same bytes.
                let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
                self.bar.inc(numbers.len() as u64);
                Ok(sink.write_all(&bytes)?)
            }
            Out::Bare(..) if self.format == Format::Text => self.write(&(joined(numbers, "\n") + "\n"), numbers.len()),
            Out::Bare(..) => self.write(&joined(numbers, ","), numbers.len()),
        }
    }

    /// Adds a row, in a format that has rows.
    pub fn push(&mut self, row: impl IntoIterator<Item = Cell>) -> Result<(), Problem> {
        self.bar.inc(1);
        if let Out::Rows(rows, items) = &mut self.out { rows.push(items, row) } else { Ok(()) }
    }

    /// Adds `count` items as a text, in a format without rows.
    pub fn write(&mut self, text: &str, count: usize) -> Result<(), Problem> {
        let Out::Bare(sink, separator) = &mut self.out else { return Ok(()) };
        write!(sink, "{separator}{text}")?;
        *separator = if self.format == Format::Json { "," } else { "" };
        self.bar.inc(count as u64);
        Ok(())
    }

    /// Ends the answer. `told` is the note below a table.
    pub fn finish(self, told: &str) -> Result<(), Problem> {
        self.bar.finish_and_clear();
        match self.out {
            Out::Rows(rows, items) => rows.finish(&items, told),
            Out::Bare(mut sink, _) => {
                if self.format == Format::Json {
                    writeln!(sink, "]}}")?;
                }
                sink.finish()
            }
        }
    }
}

impl WindowArgs {
    /// How many of `end` items are shown. Refuses items that do not exist. By default, a table shows `some`, and other
    /// formats show all.
    pub fn run(&self, some: u64, end: u64) -> Result<u64, Problem> {
        let start = self.start;
        let most = end.checked_sub(start);
        let most = most.ok_or_else(|| Problem::message(format!("--start is {start}; allowed: 0 to {end}")))?;
        match self.count {
            Some(count) if count > most => {
                Err(Problem::message(format!("--count is {count}; allowed: 0 to {most} from {start}, or --all")))
            }
            Some(count) => Ok(count),
            None if self.all || self.output.format() != Format::Table => Ok(most),
            None => Ok(most.min(some)),
        }
    }

    /// The note below a table, and how to show more if these are not all of `end` items.
    pub fn told(&self, count: u64, told: String, end: u64) -> String {
        if self.start + count < end { told + "; --start, --count and --all show more" } else { told }
    }
}

impl Reader<'_> {
    /// The note for a reader: how many of its samples or batches are shown, and how many are dropped or padding.
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

/// Samples in a line; of more than nine, only the first eight and the last one.
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
