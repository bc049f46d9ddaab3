//! `samedeal ledger`: the progress in the log of a ledger, and the samples that readers replay.

mod readers;
mod source;

use std::io::Write;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::Args;
use readers::{Next, ReaderOf};
use samedeal::ledger::{Progress, Replay};
use samedeal::{Builder, Failure, FailureKind, Sampler};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use source::Lines;

use crate::args::dataset::Dataset;
use crate::args::deal::SHARDED;
use crate::args::format::{Format, Output};
use crate::args::values::within;
use crate::write::{Items, Problem, Rows, Sink, begin, counted, grouped, json as json_of, progress, show};

/// The facts that the log of a ledger has.
#[derive(Serialize, JsonSchema)]
pub struct Log<'a> {
    /// The state that the ledger began with.
    state: &'a Value,
    progress: ProgressOf,
    readers: &'a [ReaderOf],
}

/// How far the log is, in positions.
#[derive(Serialize, JsonSchema)]
struct ProgressOf {
    positions: u64,
    committed: u64,
    claimed: u64,
    /// Entries of the log.
    entries: u64,
    finished: bool,
}

/// The samples that a reader replays.
#[derive(Serialize, JsonSchema)]
pub struct Replayed {
    reader: u32,
    readers: u32,
    /// It is known once all samples were written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    progress: Option<ProgressOf>,
    samples: Vec<u64>,
}

/// How many samples a table shows.
const SHOWN: usize = 20;

#[derive(Args)]
pub struct LedgerArgs {
    /// The log: a file with an entry in each line, or a folder with a file for each entry (the folder of a FolderLog)
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// With --reader: the Parquet files whose rows are the samples, or their directories. The order
    /// `sharded` needs them if there are more than 256
    #[arg(value_name = "PATH", requires = "reader")]
    paths: Vec<PathBuf>,
    /// Show the samples that this reader of --readers replays: those that reader r of the log committed, where r mod --readers is
    /// this number
    #[arg(long, requires = "readers", value_parser = within(0, u32::MAX))]
    reader: Option<u32>,
    /// How many readers replay the log
    #[arg(long, value_name = "COUNT", requires = "reader", value_parser = within(1, u32::MAX))]
    readers: Option<u32>,
    /// Show all samples; without it, a table shows 20
    #[arg(long, requires = "reader")]
    all: bool,
    /// Wait until all positions are committed, with a bar, and answer then. The log is read every so many seconds, 2 by default
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "2", value_parser = clap::value_parser!(u32).range(1..=3600))]
    watch: Option<u32>,
    #[command(flatten)]
    output: Output,
}

pub fn run(args: &LedgerArgs) -> Result<(), Problem> {
    if let Some(seconds) = args.watch {
        wait(args, Duration::from_secs(seconds.into()))?;
    }
    let replay = opened(args)?;
    match (args.reader, args.readers) {
        (Some(reader), Some(readers)) => samples(args, replay.of(reader, readers)?, reader, readers),
        _ => summary(args, replay),
    }
}

fn opened(args: &LedgerArgs) -> Result<Replay<Lines>, Problem> {
    Replay::new(source::open(&args.log)?).map_err(|error| match error.failure() {
        Some(Failure { kind: FailureKind::WrongType, value, .. }) => {
            Problem::of(&args.log, format!("is no log of a ledger: it begins with {value}"))
        }
        _ => Problem::of(&args.log, error),
    })
}

/// Waits until the epoch is finished. Reads the whole log each time: a replay does not begin at a checkpoint.
fn wait(args: &LedgerArgs, pause: Duration) -> Result<(), Problem> {
    let mut bar = None;
    loop {
        let mut replay = opened(args)?;
        while replay.next_event().map_err(|error| Problem::of(&args.log, error))?.is_some() {}
        let found = replay.progress()?;
        bar.get_or_insert_with(|| progress::bar("committed", found.positions)).set_position(found.committed);
        if found.is_finished() {
            return Ok(());
        }
        thread::sleep(pause);
    }
}

fn summary(args: &LedgerArgs, mut replay: Replay<Lines>) -> Result<(), Problem> {
    let mut readers = readers::Log::default();
    while let Some(event) = replay.next_event().map_err(|error| Problem::of(&args.log, error))? {
        readers.add(&event);
    }
    let (progress, state, readers) = (replay.progress()?, state(&replay)?, readers.readers);
    let format = args.output.format();
    let readers = readers.into_values().collect::<Vec<_>>();
    let items = || {
        let mut items = Items::new([
            "reader",
            "claims",
            "commits",
            "samples",
            "given back or taken over",
            "freed by a join",
            "claimed next by",
        ]);
        for ReaderOf { reader, claims, commits, samples, released, freed, claimed_next_by } in &readers {
            let next = claimed_next_by.iter().map(|Next { reader, samples }| match format {
                Format::Table => format!("reader {reader}: {}", grouped(*samples)),
                _ => format!("{reader}:{samples}"),
            });
            let next = next.collect::<Vec<_>>().join(", ");
            let counts = [claims, commits, samples, released, freed].map(|&count| count.into());
            items.push([(*reader).into()].into_iter().chain(counts).chain([next.into()]));
        }
        items
    };
    let told = || {
        let Progress { positions, committed, claimed, entries, .. } = progress;
        let held = if claimed == 0 { String::new() } else { format!(", {} claimed", grouped(claimed)) };
        let order = &state["recipe"]["order"];
        let [order, seed, epoch] =
            [&order["name"], &order["seed"], &state["epoch"]].map(|value| value.to_string().replace('"', ""));
        Ok(format!(
            "{} of {} committed{held}, in {}; order {order}, seed {seed}, epoch {epoch}",
            grouped(committed),
            counted(positions, "sample", "samples"),
            counted(entries, "entry", "entries"),
        ))
    };
    let answer = || Ok(Log { state: &state, progress: ProgressOf::new(&progress), readers: &readers });
    show(format, items, told, answer)
}

fn samples(args: &LedgerArgs, replay: Replay<Lines>, reader: u32, readers: u32) -> Result<(), Problem> {
    let of_log = |error| Problem::of(&args.log, error);
    let (dataset, sampler) = deal(args, &state(&replay)?)?;
    let mut samples = replay.samples(&sampler).map_err(of_log)?;
    let mut sink = Sink::new(None)?;
    let shown = samples.by_ref().map(|sample| sample.map_err(of_log));
    match args.output.format() {
        Format::Json => {
            begin(&mut sink, &Replayed { reader, readers, progress: None, samples: Vec::new() })?;
            let mut separator = "";
            for sample in shown {
                write!(sink, "{separator}{}", sample?)?;
                separator = ",";
            }
            let progress = json_of(&ProgressOf::new(&samples.replay().progress()?))?;
            writeln!(sink, "],\"progress\":{progress}}}")?;
            sink.finish()
        }
        format => {
            let is_table = format == Format::Table;
            // `--format text` prints bare numbers, without files.
            let files = if format == Format::Text { Dataset::default() } else { dataset };
            let mut rows = Rows::new(sink, format)?;
            let mut items = Items::new([&["sample"], files.columns()].concat());
            let mut count = 0_u64;
            for sample in shown {
                let sample = sample?;
                if !is_table || args.all || items.len() < SHOWN {
                    rows.push(&mut items, [sample.into()].into_iter().chain(files.row(sample)))?;
                }
                count += 1;
            }
            let of = format!("of the {} of reader {reader} of {readers}", counted(count, "sample", "samples"));
            let more = if count > items.len() as u64 { "; --all shows more" } else { "" };
            let part = if samples.replay().progress()?.is_finished() { "" } else { "; the epoch is not finished" };
            rows.finish(&items, &format!("{} {of}{more}{part}", grouped(items.len() as u64)))
        }
    }
}

/// The dataset, and a sampler with the order of the log.
fn deal(args: &LedgerArgs, state: &Value) -> Result<(Dataset, Sampler), Problem> {
    let mut order = state["recipe"]["order"].clone();
    let samples = order["samples"].as_u64().ok_or_else(|| Problem::of(&args.log, "says nothing of its order"))?;
    let dataset =
        if args.paths.is_empty() { Dataset { samples, ..Dataset::default() } } else { Dataset::of_files(&args.paths)? };
    // Whether the files are those of the log is not checked here: with the order `sharded`, `build` refuses other
    // sizes, and with any other order, the replay refuses another number of samples.
    let sizes = dataset.sizes().filter(|_| order["name"] == SHARDED);
    if sizes.is_none() {
        order["samples"] = dataset.samples.into();
    }
    let builder = Sampler::from_recipe(json!({ "order": order }).to_string());
    let sampler = sizes.into_iter().fold(builder, Builder::sizes).build().map_err(|error| match error.failure() {
        Some(Failure { kind: FailureKind::Missing, field, .. }) if field == "sizes" => {
            Problem::of(&args.log, "has a hash of the sizes of the files, not the sizes; name the files after it")
        }
        Some(Failure { kind: FailureKind::Contradiction, .. }) => Problem::of(
            &args.log,
            format!("{error}. The files are not those of the log: name the files of the run, in their order"),
        ),
        _ => error.into(),
    })?;
    Ok((dataset, sampler))
}

/// The state in the first entry of the log.
fn state(replay: &Replay<Lines>) -> Result<Value, Problem> {
    let state = replay.initial_state()?;
    serde_json::from_str(&state).map_err(|error| Problem::message(format!("the state of the log: {error}")))
}

impl ProgressOf {
    fn new(progress: &Progress) -> Self {
        let &Progress { positions, committed, claimed, entries, .. } = progress;
        Self { positions, committed, claimed, entries, finished: progress.is_finished() }
    }
}
