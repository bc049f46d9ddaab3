use std::io::Write;
use std::ops::Range;

use clap::Args;
use samedeal::Sampler;
use serde_json::{Map, Value};

use crate::args::by_length::{ByLengthArgs, CompareArgs, Others};
use crate::args::dataset::{Dataset, DatasetArgs};
use crate::args::deal::{DealArgs, RankArgs};
use crate::args::format::{ArrayFormat, ArrayOutput, Format};
use crate::args::values::{number, within};
use crate::args::workers::WorkerArgs;
use crate::commands::reading::Rest;
use crate::commands::state::ResumeArgs;
use crate::read::checkpoint::Saved;
use crate::write::items::Items;
use crate::write::output::{Sink, counted, grouped, json_of};
use crate::write::problem::Problem;
use crate::write::progress;

/// How many numbers are read from the sampler at a time.
pub const WINDOW: u64 = 1 << 16;

#[derive(Args)]
pub struct IndicesArgs {
    #[command(flatten)]
    pub dataset: DatasetArgs,
    #[command(flatten)]
    pub deal: DealArgs,
    #[command(flatten)]
    pub resume: ResumeArgs,
    #[command(flatten)]
    pub rank: RankArgs,
    #[command(flatten)]
    pub worker: WorkerArgs,
    /// With --resume of readers of files: samples in a batch [default: as in the state]
    #[arg(long, value_name = "SIZE", value_parser = within(1, u32::MAX), allow_negative_numbers = true)]
    pub batch_size: Option<u32>,
    /// Number of the first index shown, among those of the rank
    #[arg(long, value_parser = number, default_value = "0", allow_negative_numbers = true)]
    pub start: u64,
    /// How many indices [default: 20 in a table, else all]
    #[arg(long, value_parser = number, allow_negative_numbers = true)]
    pub count: Option<u64>,
    /// All indices from --start on
    #[arg(long, conflicts_with = "count")]
    pub all: bool,
    #[command(flatten)]
    pub output: ArrayOutput,
}

#[derive(Args)]
pub struct BatchesArgs {
    #[command(flatten)]
    pub dataset: DatasetArgs,
    #[command(flatten)]
    pub deal: DealArgs,
    #[command(flatten)]
    pub resume: ResumeArgs,
    #[command(flatten)]
    pub rank: RankArgs,
    #[command(flatten)]
    pub worker: WorkerArgs,
    /// Samples in a batch
    #[arg(long, value_name = "SIZE", value_parser = within(1, u32::MAX), allow_negative_numbers = true)]
    #[arg(required_unless_present = "lengths")]
    pub batch_size: Option<u32>,
    /// Leave out a last, partial batch
    #[arg(long)]
    pub drop_last: bool,
    /// Number of the first batch shown
    #[arg(long, value_parser = number, default_value = "0", allow_negative_numbers = true)]
    pub start: u64,
    /// How many batches [default: 5 in a table, else all]
    #[arg(long, value_parser = number, allow_negative_numbers = true)]
    pub count: Option<u64>,
    /// All batches from --start on
    #[arg(long, conflicts_with = "count")]
    pub all: bool,
    #[command(flatten)]
    pub by_length: ByLengthArgs,
    #[command(flatten)]
    pub compare: CompareArgs,
    #[command(flatten)]
    pub output: ArrayOutput,
}

impl<'a> From<&'a BatchesArgs> for Others<'a> {
    fn from(args: &'a BatchesArgs) -> Self {
        let BatchesArgs { dataset, deal, batch_size, drop_last, worker, .. } = args;
        Self { dataset, deal, batch_size: *batch_size, drop_last: *drop_last, workers: worker.is_given() }
    }
}

/// `samedeal indices`
pub fn indices(args: &IndicesArgs) -> Result<(), Problem> {
    let dataset = Dataset::new(&args.dataset)?;
    if let Some(saved) = args.resume.of_readers() {
        return indices_of_readers(args, saved, &dataset);
    }
    if args.batch_size.is_some() {
        return Err(Problem::message("--batch-size is for --resume of the state of readers of files"));
    }
    let sampler = args.resume.sampler(args.worker.sampler(&args.deal, args.rank.rank, &dataset)?)?;
    let end = sampler.num_samples();
    let count = run(args.start, args.count, args.all, 20, end, &args.output)?;
    if args.output.format() == ArrayFormat::Shown(Format::Table) {
        return indices_table(&dataset, &sampler, args, count);
    }
    let head = json_head(&sampler, &args.worker, &args.deal, args.rank.rank);
    write_indices(args, count, head, |start, count| Ok(sampler.window(start, count)?))
}

/// What a worker reads of what a state of readers leaves.
fn indices_of_readers(args: &IndicesArgs, saved: &Saved, dataset: &Dataset) -> Result<(), Problem> {
    let reader = (&args.deal, args.rank.rank, &args.worker);
    let rest = Rest::new(saved, dataset, reader, (args.batch_size, None)).map_err(|why| args.resume.refused(why))?;
    let (end, padding) = rest.counts()?;
    let count = run(args.start, args.count, args.all, 20, end, &args.output)?;
    if args.output.format() != ArrayFormat::Shown(Format::Table) {
        return write_indices(args, count, rest.head.clone(), |start, count| rest.window(start, count));
    }
    let mut items = Items::new([&["index", "sample"], dataset.columns()].concat());
    for start in (args.start..args.start + count).step_by(WINDOW as usize) {
        let window = rest.window(start, (args.start + count - start).min(WINDOW) as u32)?;
        for (index, sample) in (start..).zip(window) {
            let padded = index >= end - padding;
            let shown = if padded { format!("{} (padding)", grouped(sample)).into() } else { sample.into() };
            items.push([index.into(), shown].into_iter().chain(dataset.row(sample)));
        }
    }
    let mut sink = open(&args.output)?;
    writeln!(sink, "{}", items.table())?;
    let who = args.worker.who(&args.deal, args.rank.rank);
    writeln!(sink, "{who}: {} are left to it", counted(end, "sample", "samples"))?;
    sink.finish()
}

/// Indices as numbers alone, or in JSON, window after window.
fn write_indices(
    args: &IndicesArgs,
    count: u64,
    head: Map<String, Value>,
    read: impl Fn(u64, u32) -> Result<Vec<u64>, Problem>,
) -> Result<(), Problem> {
    let format = args.output.format();
    let mut sink = open(&args.output)?;
    let bar = progress::bar("writing", count);
    let mut separator = "";
    match format {
        ArrayFormat::Npy => npy_header(&mut sink, &[count])?,
        ArrayFormat::Shown(Format::Json) => json_start(&mut sink, head, "indices", args.start)?,
        _ => {}
    }
    for start in (args.start..args.start + count).step_by(WINDOW as usize) {
        let window = read(start, (args.start + count - start).min(WINDOW) as u32)?;
        match format {
            ArrayFormat::Npy => npy_values(&mut sink, &window)?,
            ArrayFormat::Shown(Format::Json) => {
                write!(sink, "{separator}{}", joined(&window, ","))?;
                separator = ",";
            }
            _ => window.iter().try_for_each(|index| writeln!(sink, "{index}"))?,
        }
        bar.inc(window.len() as u64);
    }
    if format == ArrayFormat::Shown(Format::Json) {
        writeln!(sink, "]}}")?;
    }
    sink.finish()
}

fn indices_table(dataset: &Dataset, sampler: &Sampler, args: &IndicesArgs, count: u64) -> Result<(), Problem> {
    let window: Vec<u64> = sampler.indices(args.start..args.start + count)?;
    let (end, padding) = (sampler.num_samples(), sampler.num_padding());
    let mut items = Items::new([&["index", "sample"], dataset.columns()].concat());
    for (index, &sample) in (args.start..).zip(&window) {
        let is_padding = index >= end - padding;
        let shown = if is_padding { format!("{} (padding)", grouped(sample)).into() } else { sample.into() };
        items.push([index.into(), shown].into_iter().chain(dataset.row(sample)));
    }
    let mut sink = open(&args.output)?;
    writeln!(sink, "{}", items.table())?;
    let who = args.worker.who(&args.deal, args.rank.rank);
    summary(&mut sink, sampler, &who, ["sample", "samples"], args.start..args.start + count, end)?;
    sink.finish()
}

/// `samedeal batches`
pub fn batches(args: &BatchesArgs) -> Result<(), Problem> {
    let dataset = Dataset::new(&args.dataset)?;
    let sampler = args.resume.sampler(args.worker.sampler(&args.deal, args.rank.rank, &dataset)?)?;
    // What --lengths would make up for; clap has seen to it.
    let size = args.batch_size.ok_or_else(|| Problem::message("--batch-size is missing"))?;
    let end = sampler.num_batches(size, args.drop_last)?;
    let count = run(args.start, args.count, args.all, 5, end, &args.output)?;
    let numbers = args.start..args.start + count;
    let read = |batch| sampler.batch::<u64>(batch, size, args.drop_last);
    let mut sink = open(&args.output)?;
    let bar = progress::bar("writing", count);
    let format = args.output.format();
    let who = args.worker.who(&args.deal, args.rank.rank);
    let head = json_head(&sampler, &args.worker, &args.deal, args.rank.rank);
    match format {
        ArrayFormat::Shown(Format::Table) => {
            let mut items = Items::new(["batch", "size", "samples"]);
            for batch in numbers {
                let samples = read(batch)?;
                items.push([batch.into(), (samples.len() as u64).into(), abridged(&samples).into()]);
            }
            writeln!(sink, "{}", items.table())?;
            summary(&mut sink, &sampler, &who, ["batch", "batches"], args.start..args.start + count, end)?;
            return sink.finish();
        }
        ArrayFormat::Npy => {
            let full = sampler.num_batches(size, true)?;
            if numbers.end > full {
                return Err(Problem::message(format!(
                    "batch {full} is shorter than the others, which an array cannot hold; leave it out with --drop-last"
                )));
            }
            npy_header(&mut sink, &[count, size.into()])?;
        }
        ArrayFormat::Shown(Format::Json) => json_start(&mut sink, head, "batches", args.start)?,
        ArrayFormat::Shown(Format::Text) => {}
    }
    for batch in numbers {
        let samples = read(batch)?;
        match format {
            ArrayFormat::Npy => npy_values(&mut sink, &samples)?,
            ArrayFormat::Shown(Format::Json) => {
                let separator = if batch == args.start { "" } else { "," };
                write!(sink, "{separator}[{}]", joined(&samples, ","))?;
            }
            _ => writeln!(sink, "{}", joined(&samples, "\t"))?,
        }
        bar.inc(1);
    }
    if format == ArrayFormat::Shown(Format::Json) {
        writeln!(sink, "]}}")?;
    }
    sink.finish()
}

/// How many there are to show. What was asked for must exist; without being asked, a table shows some, and programs get all.
pub fn run(
    start: u64,
    count: Option<u64>,
    all: bool,
    some: u64,
    end: u64,
    output: &ArrayOutput,
) -> Result<u64, Problem> {
    let most = end.checked_sub(start);
    let most = most.ok_or_else(|| Problem::message(format!("--start is {start}; allowed: 0 to {end}")))?;
    match count {
        Some(count) if count > most => {
            Err(Problem::message(format!("--count is {count}; allowed: 0 to {most} from {start}, or --all")))
        }
        Some(count) => Ok(count),
        None if all || output.format() != ArrayFormat::Shown(Format::Table) => Ok(most),
        None => Ok(most.min(some)),
    }
}

fn open(output: &ArrayOutput) -> Result<Sink, Problem> {
    let sink = Sink::new(output.output.as_deref())?;
    if output.format() == ArrayFormat::Npy && sink.is_terminal() {
        return Err(Problem::message("an array is not for the terminal; name a file with --output FILE"));
    }
    Ok(sink)
}

/// How many of how many are shown, and of whom.
fn summary(
    sink: &mut Sink,
    sampler: &Sampler,
    who: &str,
    [one, many]: [&str; 2],
    shown: Range<u64>,
    end: u64,
) -> Result<(), Problem> {
    write!(sink, "{} of the {} of {who}", grouped(shown.end - shown.start), counted(end, one, many))?;
    match (sampler.num_padding(), sampler.num_dropped()) {
        (0, 0) => {}
        (0, 1) => write!(sink, "; 1 sample is dropped")?,
        (0, dropped) => write!(sink, "; {} samples are dropped", grouped(dropped))?,
        (1, _) => write!(sink, "; the last sample is padding")?,
        (padding, _) => write!(sink, "; the last {} samples are padding", grouped(padding))?,
    }
    let more = if shown.end < end { "; --start, --count and --all show more" } else { "" };
    Ok(writeln!(sink, "{more}")?)
}

/// What the answer begins with, and who reads.
fn json_head(sampler: &Sampler, worker: &WorkerArgs, deal: &DealArgs, rank: u32) -> Map<String, Value> {
    let mut object = json_of(sampler);
    worker.add_json(deal, rank, &mut object);
    object
}

/// Opens the object and the list that the numbers go into.
pub fn json_start(sink: &mut Sink, mut object: Map<String, Value>, list: &str, start: u64) -> Result<(), Problem> {
    object.insert("start".to_owned(), start.into());
    let object = Value::Object(object).to_string();
    Ok(write!(sink, "{},\"{list}\":[", object.strip_suffix('}').unwrap_or(&object))?)
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

fn npy_values(sink: &mut Sink, values: &[u64]) -> Result<(), Problem> {
    // Every index is below 2^53, and so the same number as int64.
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    Ok(sink.write_all(&bytes)?)
}
