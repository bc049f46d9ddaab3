//! `samedeal explain`: what the states in a checkpoint say.

use std::path::PathBuf;

use clap::{Arg, Args};
use samedeal::Segment as Past;
use serde_json::{Value, json};

use crate::args::by_length::ByLengthArgs;
use crate::args::dataset::Dataset;
use crate::args::deal::{AllRanks, EpochArgs, SHARDED};
use crate::args::format::{Format, Output};
use crate::args::resume::contradiction;
use crate::args::values::{Samples, number, samples};
use crate::commands::locate::{LocateArgs, Status, add_stored, to_come};
use crate::commands::readers::{Source, Steps, left};
use crate::commands::step::{Explained, StepArgs};
use crate::commands::{batching, locate, step};
use crate::read::checkpoint::{self, Kind, Saved, Segment};
use crate::write::items::{Cell, Items};
use crate::write::output::{counted, grouped, percent, print};
use crate::write::problem::Problem;

/// Options of a recipe that are shown, by their names in it.
const RECIPE: [&str; 9] =
    ["lanes", "shuffle_window", "shuffle", "shuffle_rows", "reshuffle", "policy", "worker_policy", "weight", "shards"];

#[derive(Args)]
pub struct ExplainArgs {
    /// A state, JSON that holds one (such as trainer_state.json), or a file of torch.save (.pt, .ckpt). Nothing in it is
    /// executed. - is standard input
    #[arg(value_name = "CHECKPOINT")]
    checkpoint: PathBuf,
    /// Which state is asked about, if the file holds several that differ: its place, as shown
    #[arg(long, value_name = "PLACE")]
    place: Option<String>,
    /// Say what became of a sample: seen, to come, padding or dropped. May be repeated, or separated by commas
    #[arg(long, value_name = "INDEX", value_parser = samples)]
    sample: Vec<Samples>,
    /// Show what the ranks read in a step, counted from the beginning of the epoch
    #[arg(long, value_name = "STEP", value_parser = number, conflicts_with = "sample")]
    step: Option<u64>,
    #[command(flatten)]
    epoch: EpochArgs,
    #[command(flatten)]
    by_length: ByLengthArgs,
    #[command(flatten)]
    output: Output,
}

/// Hides what the state decides, and explains the rest of the options of an epoch as those of the run.
pub fn explain_epoch(arg: Arg) -> Arg {
    let help = match arg.get_id().as_str() {
        "resume" | "seed" | "epoch" | "order" | "layout" | "samples" => {
            return arg.hide(true).conflicts_with("checkpoint");
        }
        "paths" => {
            "The Parquet files of the run, or their directories: for the file and the row of a sample. If there are more than 256 of \
             them, the order sharded needs them. With --lengths: the files that tell lengths"
        }
        "world_size" => {
            "The number of ranks that took the state, if the state does not say it. With --lengths: the one that continues"
        }
        "batch_size" => "Samples in a batch, if the checkpoint does not say it",
        _ => return arg,
    };
    arg.help(help)
}

/// `samedeal explain`
pub fn run(mut args: ExplainArgs) -> Result<(), Problem> {
    let states = checkpoint::read(&args.checkpoint)?;
    if states.is_empty() {
        return Err(Problem::of(&args.checkpoint, "holds no state of samedeal"));
    }
    if args.sample.is_empty() && args.step.is_none() {
        return show(&args, &states);
    }
    let saved = args.chosen(&states)?;
    args.epoch.read_recipe(args.by_length.lengths.is_some())?;
    args.epoch.take_over(saved.clone(), args.by_length.lengths.is_some())?;
    match saved.kind() {
        Kind::Batcher => batches_of(args, saved),
        Kind::Reading => readings_of(args, saved),
        _ => samples_of(args, saved),
    }
}

/// Every state in the file, in words.
fn show(args: &ExplainArgs, states: &[Saved]) -> Result<(), Problem> {
    match args.output.format() {
        Format::Json => {
            let states = states.iter().map(json_of).collect::<Value>();
            print(json!({ "file": args.checkpoint.display().to_string(), "states": states }))
        }
        format => {
            for (number, saved) in states.iter().enumerate() {
                if number > 0 {
                    print("")?;
                }
                let items = items(args, saved, format);
                print(if format == Format::Table { items.table().to_string() } else { items.lines() })?;
            }
            Ok(())
        }
    }
}

/// How many samples were consumed, and how many are left, if the state says it.
fn progress(saved: &Saved) -> Option<(u64, u64)> {
    let samples = saved.number("samples")?;
    let left = match saved.kind() {
        Kind::Reading => left(saved, &Dataset::default()).ok()?.reader(0, 0).ok()?.samples,
        Kind::Worker => return None,
        _ => samples.checked_sub(saved.number("consumed")?)?,
    };
    Some((samples.checked_sub(left)?, left))
}

/// What a state says, a row for each part of it.
fn items(args: &ExplainArgs, saved: &Saved, format: Format) -> Items {
    let mut items = Items::new(["what", "the state says"]);
    let mut push = |what: &str, says: Cell| items.push([what.into(), says]);
    let place = if saved.place.is_empty() { "the whole file" } else { &saved.place };
    push("file", args.checkpoint.display().to_string().into());
    push("place", place.into());
    push("what it is", saved.described().into());
    if saved.deals_shards() {
        push("deal", "whole shards".into());
    } else if !saved.order().is_empty() {
        push("order", saved.order().into());
    }
    if let Some(seed) = saved.seed() {
        push("seed", seed.to_string().into());
    }
    for name in ["epoch", "samples"] {
        // An epoch is a name, and no amount.
        if let Some(number) = saved.number(name) {
            push(name, if name == "epoch" { number.to_string().into() } else { number.into() });
        }
    }
    let named = RECIPE.iter().filter_map(|&name| Some((name, saved.field(name)?)));
    let batch = saved.batch().into_iter().flatten().map(|(name, value)| (name.as_str(), value));
    for (name, value) in named.chain(batch.filter(|(name, _)| *name != "lengths")) {
        let says = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        push(&name.replace('_', " "), says.into());
    }
    if let (Some((consumed, left)), Some(samples)) = (progress(saved), saved.number("samples")) {
        let share = percent(consumed as f64 / samples.max(1) as f64);
        let is_table = format == Format::Table;
        push("consumed", if is_table { format!("{} ({share})", grouped(consumed)).into() } else { consumed.into() });
        push("left", left.into());
    }
    if saved.history.is_empty() {
        let none_yet = saved.kind() == Kind::Batcher;
        push(
            "world size",
            if none_yet { "none yet: no step was taken" } else { "not in the state; any can resume it" }.into(),
        );
    }
    for past in &saved.history {
        push("steps taken", said(past).into());
    }
    if let Some(size) = saved.batch_size {
        push("batch size", size.into());
    }
    if let Some(batches) = saved.batches {
        push("batches read", batches.into());
    }
    push("resumed by", resumed_by(saved).into());
    items
}

fn said(past: &Segment) -> String {
    let mut said = format!("{} by {}", counted(past.steps, "step", "steps"), counted(past.world_size, "rank", "ranks"));
    if let Some(workers) = past.workers {
        said += &format!(" with {} each", counted(workers, "worker", "workers"));
    }
    if let Some(size) = past.batch_size {
        said += &format!(", batches of {}", grouped(size));
    }
    if past.drop_last == Some(true) {
        said += ", without the last, partial one";
    }
    said
}

fn resumed_by(saved: &Saved) -> &'static str {
    let (order, samples) = (saved.order(), saved.number("samples"));
    let known = || order == SHARDED || samedeal::orders().is_ok_and(|orders| orders.iter().any(|name| name == order));
    if saved.number("samedeal") != Some(1) {
        return "nothing of this version, which reads states of version 1";
    }
    let is_named = matches!(saved.kind(), Kind::Sampler | Kind::Batcher);
    match saved.kind() {
        _ if is_named && !known() => "nothing of this version, which has no such order",
        _ if saved.number("consumed").zip(samples).is_some_and(|(consumed, samples)| consumed > samples) => {
            "nothing: more is consumed than there is"
        }
        Kind::Worker => "StatefulDataLoader of torchdata",
        Kind::Sampler | Kind::Batcher | Kind::Reading => "every library, and --resume",
        Kind::Other => "nothing of this version",
    }
}

fn json_of(saved: &Saved) -> Value {
    let history = saved.history.iter().map(|past| {
        json!({
            "world_size": past.world_size, "workers": past.workers, "batch_size": past.batch_size,
            "drop_last": past.drop_last, "steps": past.steps,
        })
    });
    let progress = progress(saved);
    json!({
        "place": saved.place, "kind": saved.word("kind"), "order": saved.field("name"), "seed": saved.seed(),
        "epoch": saved.number("epoch"), "samples": saved.number("samples"),
        "consumed": progress.map_or(saved.number("consumed"), |(consumed, _)| Some(consumed)),
        "recipe": saved.recipe(),
        "left": progress.map(|(_, left)| left), "history": history.collect::<Value>(), "batch_size": saved.batch_size,
        "batches": saved.batches, "state": saved.text,
    })
}

impl ExplainArgs {
    /// The state that is asked about.
    fn chosen(&self, states: &[Saved]) -> Result<Saved, Problem> {
        let places = checkpoint::places(states);
        if let Some(place) = &self.place {
            let found = states.iter().find(|saved| saved.place == *place).cloned();
            return found.ok_or_else(|| Problem::message(format!("--place is {place:?}; known: {places}")));
        }
        match checkpoint::distinct(states)[..] {
            [saved] => Ok(saved.clone()),
            [..] => {
                let what = format!("holds several states that differ; name one with --place: {places}");
                Err(Problem::of(&self.checkpoint, what))
            }
        }
    }

    fn locate(self, consumed: Option<u64>) -> LocateArgs {
        let Self { sample, epoch, by_length, output, .. } = self;
        LocateArgs { epoch, sample, consumed, is_explained: true, ranks: AllRanks::default(), by_length, output }
    }

    /// `first` steps came before those that the step is counted among.
    fn step(self, number: u64, status: Status, past: Vec<Past>, first: u64) -> StepArgs {
        let Self { epoch, by_length, output, .. } = self;
        let explained = Some(Explained { status, past, first });
        StepArgs { step: number - first, epoch, global: false, rank: None, column: None, by_length, output, explained }
    }
}

/// What became of samples or of a step, by the state of a sampler. Within the epoch, the same world deals the same, from the
/// beginning on or resumed, so that one sampler of the whole epoch knows all of it.
fn samples_of(mut args: ExplainArgs, saved: Saved) -> Result<(), Problem> {
    let dataset = Dataset::new(&args.epoch.dataset)?;
    // Files and options are to be those of the state.
    let rest = args.epoch.resumed(args.epoch.deal.whole(&dataset)?)?;
    let consumed = rest.consumed();
    (args.epoch.saved, args.epoch.deal.epoch) = (None, rest.epoch());
    let whole = args.epoch.deal.whole(&dataset)?;
    let known = saved.batch_size.and_then(|size| u32::try_from(size).ok());
    let size = match (args.epoch.batch_size, known) {
        (Some(given), Some(known)) if given != known => {
            return Err(saved.refused(contradiction("batch-size", given, known)));
        }
        (given, known) => given.or(known),
    };
    let option = |name: &str, why: &str| Err(saved.refused(format!("the checkpoint does not say {why}; add --{name}")));
    let (ranks, size) = match (args.epoch.deal.world_size, size) {
        (Some(ranks), Some(size)) => (ranks, size),
        (None, _) if args.step.is_none() && args.epoch.batch_size.is_none() => {
            return statuses(&args, &dataset, true, |sample| {
                let position = whole.locate(sample, 1)?.map_or(0, |place| place.position);
                Ok((if position < consumed { Status::Seen } else { Status::ToCome }, Some(position)))
            });
        }
        (None, _) => return option("world-size", "how many ranks took it"),
        (_, None) => return option("batch-size", "how many samples a batch had"),
    };
    args.epoch.batch_size = Some(size);
    let workers = u64::from(args.epoch.deal.workers.unwrap_or(1));
    let readers = u64::from(ranks) * workers;
    let turn = readers * u64::from(size);
    let samples = dataset.samples;
    if consumed % turn != 0 && consumed != samples {
        return Err(saved.refused(format!(
            "{} were consumed, which is no multiple of {turn} (--world-size times --workers times --batch-size). Name the world size, \
             workers and batch size of the run. If the epoch was read with several of them, leave them out: --sample still says \
             what was seen",
            counted(consumed, "sample", "samples")
        )));
    }
    let assumed = format!(
        "This assumes that {} read {} in batches of {size}. If others read a part of the epoch, only \"seen\" and \"to come\" are \
         right.",
        counted(readers, "reader", "readers"),
        counted(consumed, "sample", "samples"),
    );
    let is_table = args.output.format() == Format::Table;
    match args.step {
        Some(number) => {
            let is_read = consumed == samples || (number / workers).saturating_add(1).saturating_mul(turn) <= consumed;
            let status = if is_read { Status::Seen } else { Status::ToCome };
            step::run(&args.step(number, status, Vec::new(), 0))?;
        }
        None => locate::run(&args.locate(Some(consumed)))?,
    }
    if is_table { print(assumed) } else { Ok(()) }
}

/// Whether samples were seen, if nobody knows by which ranks.
fn statuses(
    args: &ExplainArgs,
    dataset: &Dataset,
    has_position: bool,
    find: impl Fn(u64) -> Result<(Status, Option<u64>), Problem>,
) -> Result<(), Problem> {
    let position: &[&str] = if has_position { &["position"] } else { &[] };
    let mut items = Items::new([&["sample", "status"], position, dataset.columns()].concat());
    let mut answers = Vec::new();
    for sample in args.sample.iter().flat_map(|samples| samples.of(dataset.samples)) {
        let (status, position) = find(sample)?;
        let row = [Cell::from(sample), status.name().into()].into_iter().chain(position.map(Cell::from));
        items.push(row.chain(dataset.row(sample)));
        let mut answer = json!({ "sample": sample, "status": status.name() });
        if let Some(position) = position {
            answer["places"] = json!([{ "position": position, "status": status.name() }]);
        }
        add_stored(&mut answer, dataset, sample);
        answers.push(answer);
    }
    match args.output.format() {
        Format::Json => print(json!({ "samples": answers })),
        Format::Text => print(items.lines()),
        Format::Table => {
            print(items.table())?;
            print(match has_position {
                true => {
                    "The checkpoint does not say how many ranks took it. --world-size and --batch-size add rank, step and padding."
                }
                false => "`samedeal locate --resume` says which reader gets a sample that is to come.",
            })
        }
    }
}

/// What became of samples or of a step, by the state of a dataset in files.
fn readings_of(mut args: ExplainArgs, saved: Saved) -> Result<(), Problem> {
    let dataset = Dataset::new(&args.epoch.dataset)?;
    let Some(number) = args.step else {
        let asked = args.sample.iter().flat_map(|samples| samples.of(dataset.samples)).collect();
        let to_come = to_come(&saved, &dataset, &asked)?;
        return statuses(&args, &dataset, false, |sample| {
            Ok((if to_come.contains(&sample) { Status::ToCome } else { Status::Seen }, None))
        });
    };
    // The last group is asked, unless another is named.
    let last = saved.history.last();
    let number_of = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
    let deal = &mut args.epoch.deal;
    deal.workers = deal.workers.or(number_of(last.and_then(|past| past.workers)));
    deal.world_size = deal.world_size.or(number_of(last.map(|past| past.world_size)));
    let mut readers = args.epoch.readers(&dataset)?;
    readers.set_epoch(saved.number("epoch").unwrap_or(0))?;
    let Source::Reading(whole) = &readers.source else { return Err(saved.refused(saved.described())) };
    // If this group alone read the epoch, its state is this one.
    let turn = u64::from(readers.world_size) * u64::from(readers.batch_size);
    let taken = match saved.number("consumed").unwrap_or(0) {
        consumed if Some(consumed) == saved.number("samples") => whole.steps()?.most,
        consumed => (consumed / turn).saturating_add(last.map_or(0, |past| past.steps)),
    };
    let is_own = |state: String| {
        serde_json::from_str::<Value>(&state).is_ok_and(|own| own == Value::Object(saved.fields.clone()))
    };
    if !whole.state(taken).is_ok_and(is_own) {
        return Err(saved.refused(
            "these readers did not read all of the epoch so far, so its steps cannot be counted. If one group read it, name its \
             --world-size, --workers, --batch-size and --remainder. `samedeal step --resume` shows the steps from the state on",
        ));
    }
    let status = if number < taken { Status::Seen } else { Status::ToCome };
    step::show(&args.step(number, status, Vec::new(), 0), &dataset, readers)
}

/// The same by the state of batches, which knows its world sizes.
fn batches_of(mut args: ExplainArgs, saved: Saved) -> Result<(), Problem> {
    let history = saved
        .history
        .iter()
        .map(|past| Past { world_size: u32::try_from(past.world_size).unwrap_or(u32::MAX), steps: past.steps });
    let history = history.collect::<Vec<_>>();
    let (mut first, mut place) = (0, 0);
    let number = args.step.unwrap_or(u64::MAX);
    while let Some(past) = history.get(place).filter(|past| number - first >= past.steps) {
        first = first.saturating_add(past.steps);
        place += 1;
    }
    let goes_on = args.epoch.deal.world_size.or(history.last().map(|past| past.world_size));
    let segment = history.get(place);
    let ranks = segment.map(|past| past.world_size).or(goes_on);
    let needed = || saved.refused("the state does not say how many ranks continue; add --world-size");
    args.epoch.deal.world_size = Some(ranks.ok_or_else(needed)?);
    let status = if segment.is_some() { Status::Seen } else { Status::ToCome };
    match args.step {
        Some(number) => batching::step(&args.step(number, status, history[..place].to_vec(), first)),
        None => batching::locate(&args.locate(None)),
    }
}
