//! `samedeal explain`: the facts in the states of a checkpoint.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use clap::{Arg, Args};
use samedeal::{Error, FailureKind, Sampler};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::by_length::ByLengthArgs;
use crate::args::dataset::Dataset;
use crate::args::deal::{AllRanks, EpochArgs};
use crate::args::format::{Format, Output};
use crate::args::resume::contradiction;
use crate::args::values::{Numbers, Samples, numbers, samples};
use crate::commands::locate::{LocateArgs, Located, LocatedIn, Reached, Status, in_epochs, rows, to_come};
use crate::commands::readers::{Source, Steps, left};
use crate::commands::step::{self, StepArgs};
use crate::commands::{batches, locate};
use crate::generated::VALUES;
use crate::read::checkpoint::{self, Kind, Saved, Segment, TakenBy};
use crate::read::numbers::Whole;
use crate::write::{Cell, Items, Problem, answer, counted, grouped, percent, print, print_json};

/// The most bytes that states may have together if they are shown at once.
const SHOWN: usize = 1 << 24;

#[derive(Args)]
pub struct ExplainArgs {
    /// A state, JSON that holds one (such as trainer_state.json), or a file of torch.save (.pt, .ckpt). Nothing in it is
    /// executed. - is standard input
    #[arg(value_name = "CHECKPOINT")]
    checkpoint: PathBuf,
    /// Which state is shown or asked about, if the file holds several: its place, as shown
    #[arg(long, value_name = "PLACE")]
    place: Option<String>,
    /// Say what became of a sample: seen, to come, padding or dropped. May be repeated, or separated by commas
    #[arg(long, value_name = "INDEX", value_parser = samples)]
    sample: Vec<Samples>,
    /// Show what the ranks read in a step, counted from the beginning of the epoch. Or several steps: 1200..1210 for the steps 1200 to 1209,
    /// 1200..=1210 for the steps 1200 to 1210
    #[arg(long, value_name = "STEP|RANGE", value_parser = numbers, conflicts_with = "sample")]
    step: Option<Numbers>,
    #[command(flatten)]
    epoch: EpochArgs,
    #[command(flatten)]
    by_length: ByLengthArgs,
    #[command(flatten)]
    output: Output,
}

/// Changes the options of an epoch for `explain`: hides those that the state decides, and explains the others as
/// options of the run that took the state.
pub fn explain_epoch(arg: Arg) -> Arg {
    let help = match arg.get_id().as_str() {
        "resume" | "replan" | "seed" | "order" | "layout" | "samples" => {
            return arg.hide(true).conflicts_with("checkpoint");
        }
        "epoch" => {
            let help = "The epoch that is asked about; with --sample also several: 0..4 for the epochs 0 to 3, 0..=4 for the epochs 0 to 4 \
                        [default: that of the state]";
            return arg.help(help).value_name("EPOCH|RANGE");
        }
        "paths" => {
            "The Parquet files of the run, or their directories: for the file and the row of a sample. If there are more than 256 of \
             them, the order sharded needs them. With --lengths: the files that tell lengths"
        }
        "world-size" => {
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
        return Err(Problem::of(&args.checkpoint, checkpoint::NONE));
    }
    if args.sample.is_empty() && args.step.is_none() {
        args.check_unused()?;
        return match args.place {
            Some(_) => show(&args, &[args.chosen(&states)?]),
            None => show(&args, &states),
        };
    }
    if let Some(epochs) = args.epoch.deal.epochs.filter(|epochs| epochs.is_range && args.step.is_some()) {
        return Err(Problem::message(format!("--epoch is {epochs}; allowed with --step: one epoch")));
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

/// Prints every state in the file.
fn show(args: &ExplainArgs, states: &[Saved]) -> Result<(), Problem> {
    let shown = states.iter().map(|saved| saved.place.len() + saved.text.len()).sum::<usize>();
    if shown > SHOWN {
        let what = format!("holds states of {} bytes in all; show one of them with --place", grouped(shown as u64));
        return Err(Problem::of(&args.checkpoint, what));
    }
    // Facts are computed once for equal states: a file may have a state many times, and an order of many sources takes
    // a while.
    let mut known = HashMap::new();
    for saved in states {
        if let Entry::Vacant(entry) = known.entry((&saved.text, saved.kind())) {
            entry.insert(Facts::of(saved)?);
        }
    }
    let states = states.iter().map(|saved| (saved, &known[&(&saved.text, saved.kind())]));
    match args.output.format() {
        Format::Json => {
            let states = states.map(|(saved, facts)| State::new(saved, facts)).collect();
            print_json(&Explained { file: args.checkpoint.display().to_string(), states })
        }
        format => {
            for (number, (saved, facts)) in states.enumerate() {
                if number > 0 {
                    print("")?;
                }
                items(args, saved, facts, format).print(format)?;
            }
            Ok(())
        }
    }
}

/// Facts that the library derives from a state.
struct Facts {
    /// How many sample indices there are, and how many positions the epoch has. Unknown if the state has only a hash of a list.
    extent: Option<(u64, u64)>,
    /// How many positions were consumed, and how many are left.
    progress: Option<(u64, u64)>,
    /// Whether this version knows the order.
    is_known: bool,
}

impl Facts {
    /// Derives the facts of a state. Refuses a state that no run can have.
    fn of(saved: &Saved) -> Result<Self, Problem> {
        let composed = saved.composed();
        let is_unknown = |error: &Error| {
            let failure = error.failure();
            failure.is_some_and(|it| it.kind == FailureKind::UnknownName && it.field == "name")
        };
        let is_known = !composed.as_ref().is_err_and(is_unknown);
        let extent = match composed {
            Ok(Some(sampler)) => Some((sampler.dataset_size(), sampler.epoch_length())),
            Err(_) => None,
            Ok(None) if saved.recipe_of().is_some_and(|of| of == "split") => {
                let samples = saved.field("split").and_then(|split| split.get("samples")?.as_u64());
                samples.map(|samples| (samples, samples))
            }
            Ok(None) => saved.number("samples").map(|samples| (samples, samples)),
        };
        let is_state = saved.number("samedeal") == Some(1)
            && matches!(saved.kind(), Kind::Sampler | Kind::Reading | Kind::Steps | Kind::Worker);
        // The number of positions when the state was taken: a composed order may have been extended since.
        let most = saved.number("positions").or_else(|| extent.map(|(_, length)| length));
        if let Some(most) = most.filter(|_| is_state) {
            let consumed = saved.fields.get("consumed").unwrap_or(&Value::Null);
            if consumed.as_u64().is_none_or(|consumed| consumed > most) {
                return Err(impossible(saved, format!("consumed is {consumed}; allowed: 0 to {most}")));
            }
        }
        // If the state has hashes in place of lists, the rest of the epoch depends on the files of the run.
        let is_whole = ["sizes", "bytes"].iter().all(|name| saved.field(name).is_none_or(Value::is_array));
        let left = match saved.kind() {
            Kind::Reading if is_state && is_whole => {
                let rest = left(saved, &Dataset::default()).and_then(|mut readers| Ok(readers.reader(0, 0)?.samples));
                Some(rest.map_err(|problem| impossible(saved, problem))?)
            }
            // `consumed` of a batcher counts only whole windows: steps of the open window are missing, so it is no
            // progress.
            Kind::Reading | Kind::Worker | Kind::Recipe | Kind::Batcher => None,
            _ => extent.zip(saved.number("consumed")).and_then(|((_, length), consumed)| length.checked_sub(consumed)),
        };
        let progress = extent.zip(left).and_then(|((_, length), left)| Some((length.checked_sub(left)?, left)));
        Ok(Self { extent, progress, is_known })
    }
}

/// The problem of a state that no run can have.
fn impossible(saved: &Saved, why: impl Display) -> Problem {
    let place = if saved.place.is_empty() { String::new() } else { format!("{}: ", saved.place) };
    saved.refused(format!("{place}{}, but {why}", saved.described()))
}

/// The table of a state: a row for each fact.
fn items(args: &ExplainArgs, saved: &Saved, facts: &Facts, format: Format) -> Items {
    let is_recipe = saved.recipe_of().is_some();
    let says = match saved.kind() {
        Kind::Recipe => "the recipe says",
        Kind::Index => "the index says",
        _ => "the state says",
    };
    let mut items = Items::new(["what", says]);
    let mut push = |what: &str, says: Option<Cell>| says.into_iter().for_each(|says| items.push([what.into(), says]));
    let number = |number: Option<u64>| number.map(Cell::from);
    let text = |text: &str| Some(Cell::Words(text.to_owned()));
    let member = |value: &Value| match value {
        Value::Number(_) | Value::Bool(_) => Some(Cell::Value(value.clone())),
        value => text(&value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
    };
    push("file", text(&args.checkpoint.display().to_string()));
    push("place", text(if saved.place.is_empty() { "the whole file" } else { &saved.place }));
    push("what it is", text(saved.described()));
    match saved.deals_shards() {
        true => push("deal", text("whole shards")),
        false => push("order", text(saved.order()).filter(|_| !saved.order().is_empty())),
    }
    // Seed and epoch are names, not amounts: their digits are not grouped.
    push("seed", saved.seed().map(|seed| Cell::Value(seed.into())));
    push("epoch", saved.number("epoch").map(|epoch| Cell::Value(epoch.into())));
    push("samples", number(facts.extent.map(|(samples, _)| samples)));
    push("positions", number(facts.extent.filter(|(samples, length)| samples != length).map(|(_, length)| length)));
    made_of(saved).into_iter().for_each(|(what, says)| push(what, Some(says.into())));
    // The name, the samples and the seed of the order are shown above.
    let named = VALUES.iter().filter(|name| !["name", "samples", "seed"].contains(name));
    let named = named.filter_map(|&name| Some((name, saved.dealt()?.get(name)?)));
    let batch = saved.batch().into_iter().flatten().map(|(name, value)| (name.as_str(), value));
    for (name, value) in named.chain(batch.filter(|(name, _)| *name != "lengths")) {
        push(&name.replace('_', " "), member(value));
    }
    if let (Some((consumed, left)), Some((_, length))) = (facts.progress, facts.extent) {
        let share = percent(consumed as f64 / length.max(1) as f64);
        let told = || text(&format!("{} ({share})", grouped(consumed)));
        push("consumed", if format == Format::Table { told() } else { Some(consumed.into()) });
        push("left", Some(left.into()));
    }
    push("before the window", number(saved.number("consumed").filter(|_| saved.kind() == Kind::Batcher)));
    push("step", number(saved.number("step").filter(|_| saved.kind() == Kind::Steps)));
    steps_of(saved).into_iter().chain(split_of(saved)).for_each(|(what, says)| push(what, Some(says.into())));
    if is_recipe {
        for (name, value) in saved.section("deal").as_object().into_iter().flatten() {
            push(&name.replace('_', " "), member(value));
        }
        push("read by", Some(used_by(saved, facts).into()));
        return items;
    }
    if saved.kind() == Kind::Index {
        let steps = saved.fields.get("steps").and_then(Value::as_array);
        let known = |steps: &Vec<Value>| steps.iter().filter_map(Value::as_u64).try_fold(0, u64::checked_add);
        push("windows of the epoch", number(saved.number("windows")));
        push("windows of the index", number(steps.map(|steps| steps.len() as u64)));
        push("steps", number(steps.and_then(known)));
        push("read by", Some(used_by(saved, facts).into()));
        return items;
    }
    if let Some(TakenBy { world_size, from }) = saved.taken_by {
        push("world size", Some(world_size.into()));
        let told = || text(&format!("{}, by ranks that it does not name", counted(from, "position", "positions")));
        push("taken before", if from > 0 { told() } else { None });
    } else if saved.history.is_empty() {
        let none_yet = saved.kind() == Kind::Batcher && saved.number("consumed") == Some(0);
        let told = if none_yet { "none yet: no step was taken" } else { "not in the state; any can resume it" };
        push("world size", text(told));
    }
    // Of whole rounds of loader workers, or whole windows, the state has only the number of samples. The history of the
    // state has only the steps after these rounds or windows.
    let is_rest = matches!(saved.kind(), Kind::Reading | Kind::Batcher)
        && saved.number("consumed").is_some_and(|consumed| consumed > 0);
    for past in &saved.history {
        match is_rest {
            true => push("last steps", text(&format!("{}; the samples before them are counted alone", said(past)))),
            false => push("steps taken", text(&said(past))),
        }
    }
    push("global batch size", number(saved.batch_size));
    push("batches read", number(saved.batches));
    push("resumed by", Some(used_by(saved, facts).into()));
    items
}

/// The parts of an order that is made of others.
fn made_of(saved: &Saved) -> Vec<(&'static str, String)> {
    let name = |order: &Value| order["name"].as_str().unwrap_or("feistel").to_owned();
    let count = |member: &str| saved.field(member).and_then(Value::as_array).map_or(0, Vec::len);
    let mut made = Vec::new();
    if let Some(sources) = saved.field("sources").and_then(Value::as_array) {
        let said = |source: &Value| format!("{} {}", source["name"].as_str().unwrap_or_default(), source["weight"]);
        made.push(("sources", sources.iter().map(said).collect::<Vec<_>>().join(", ")));
    }
    if let Some(of) = saved.field("of") {
        made.push(("made of", name(of)));
    }
    for (member, one, many) in
        [("stages", "more stage", "more stages"), ("growth", "growth", "growths"), ("ranges", "range", "ranges")]
    {
        if count(member) > 0 {
            made.push((member, counted(count(member) as u64, one, many)));
        }
    }
    made
}

/// The batch sizes of a schedule, if there is one.
fn steps_of(saved: &Saved) -> Vec<(&'static str, String)> {
    let steps = saved.section("steps");
    let size = |of: &Value| of["global_batch_size"].as_u64().map_or_else(String::new, grouped);
    let stages = steps["stages"].as_array().into_iter().flatten().map(|stage| {
        let from = stage["from"].as_u64().map_or_else(String::new, grouped);
        ("global batch size", format!("{} from step {from} on", size(stage)))
    });
    let first = (!steps.is_null()).then(|| ("global batch size", size(&steps)));
    first.into_iter().chain(stages).collect()
}

/// The seed and the parts of a split, if there is one.
fn split_of(saved: &Saved) -> Vec<(&'static str, String)> {
    let split = saved.section("split");
    let part = |part: &Value| {
        let share =
            ["weight", "size"].iter().find_map(|name| Some(format!("{name} {}", grouped(part.get(name)?.as_u64()?))));
        ("part", format!("{}, {}", part["name"].as_str().unwrap_or_default(), share.unwrap_or_default()))
    };
    let seed = split.get("seed").map(|seed| ("seed", seed.to_string().replace('"', "")));
    seed.into_iter().chain(split["parts"].as_array().into_iter().flatten().map(part)).collect()
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

/// The programs that read the recipe or resume the state, in words.
fn used_by(saved: &Saved, facts: &Facts) -> String {
    // A recipe without a version has version 1.
    let bare = (saved.kind() == Kind::Recipe && saved.field("samedeal").is_none()).then_some(1);
    let nothing = match (saved.number("samedeal").or(bare), saved.kind()) {
        (Some(1), Kind::Sampler | Kind::Batcher | Kind::Steps) if !facts.is_known => "has no such order",
        (Some(1), _) => return saved.used_by(),
        (_, Kind::Recipe) => "reads recipes of version 1",
        _ => "reads states of version 1",
    };
    format!("nothing of this version, which {nothing}")
}

/// The states in a file.
#[derive(Serialize, JsonSchema)]
pub struct Explained<'a> {
    file: String,
    states: Vec<State<'a>>,
}

/// The facts of a state. A fact that the state does not have is null.
#[derive(Serialize, JsonSchema)]
struct State<'a> {
    /// Where it is in the file; empty for the whole file.
    place: &'a str,
    /// The kind of the object: the member `kind` of the state, or `recipe`.
    kind: &'a str,
    /// The kind of the object that a recipe is of.
    recipe_of: Option<&'static str>,
    order: Option<&'a Value>,
    seed: Option<Whole>,
    epoch: Option<Whole>,
    /// Number of sample indices, those of all sources of a blend; of a split, the number of ids.
    dataset_size: Option<u64>,
    /// How many positions of the epoch were consumed, and how many are left. Of batches: those before the open window.
    consumed: Option<u64>,
    recipe: Option<&'a Map<String, Value>>,
    step: Option<u64>,
    left: Option<u64>,
    /// The steps that each group of ranks took, the oldest group first.
    history: &'a [Segment],
    batch_size: Option<u64>,
    /// The ranks that took the state, if the checkpoint says so beside the state.
    taken_by: Option<TakenBy>,
    /// How many batches a loader worker read.
    batches: Option<u64>,
    /// The text of the state.
    state: &'a str,
}

impl<'a> State<'a> {
    fn new(saved: &'a Saved, facts: &Facts) -> Self {
        Self {
            place: &saved.place,
            kind: if saved.recipe_of().is_some() { "recipe" } else { saved.word("kind") },
            recipe_of: saved.recipe_of(),
            order: saved.field("name"),
            seed: saved.seed().map(Whole::of),
            epoch: saved.number("epoch").map(Whole::of),
            dataset_size: facts.extent.map(|(samples, _)| samples),
            consumed: facts.progress.map_or(saved.number("consumed"), |(consumed, _)| Some(consumed)),
            recipe: saved.recipe(),
            step: saved.number("step"),
            left: facts.progress.map(|(_, left)| left),
            history: &saved.history,
            batch_size: saved.batch_size,
            taken_by: saved.taken_by,
            batches: saved.batches,
            state: &saved.text,
        }
    }
}

/// A position of a sample, and what became of it.
#[derive(Serialize, JsonSchema)]
pub struct Position {
    position: u64,
    status: Status,
}

impl ExplainArgs {
    /// Refuses arguments that need `--sample` or `--step`, such as a second checkpoint.
    fn check_unused(&self) -> Result<(), Problem> {
        if let Some(epochs) = self.epoch.deal.epochs {
            let what = format!("--epoch {epochs} has no effect: it is for --sample or --step; a state has one epoch");
            return Err(Problem::message(what));
        }
        let Some(path) = self.epoch.dataset.paths.first() else { return Ok(()) };
        let each = |path: &Path| format!("<(samedeal explain {} --format text)", path.display());
        Err(Problem::message(format!(
            "{} has no effect: CHECKPOINT is one file, and a PATH after it, a Parquet file of the run, is for --sample or --step. To compare two \
             checkpoints: diff {} {}",
            path.display(),
            each(&self.checkpoint),
            each(path)
        )))
    }

    /// The state that `--place` names, or the only one.
    fn chosen(&self, states: &[Saved]) -> Result<Saved, Problem> {
        if let Some(place) = &self.place {
            let found = states.iter().find(|saved| saved.place == *place).cloned();
            let known = || Problem::message(format!("--place is {place:?}; known: {}", checkpoint::places(states)));
            return found.ok_or_else(known);
        }
        let states = checkpoint::candidates(states);
        match &states[..] {
            [saved] => Ok((*saved).clone()),
            _ => {
                let places = checkpoint::places(states);
                let what = format!("holds several states that differ; name one with --place: {places}");
                Err(Problem::of(&self.checkpoint, what))
            }
        }
    }

    /// The epochs of `--epoch`; by default `own`, the epoch of the state.
    fn epochs(&self, own: u64) -> Numbers {
        self.epoch.deal.epochs.unwrap_or(Numbers::one(own))
    }

    fn locate(self, reached: Option<Reached>) -> LocateArgs {
        let Self { sample, epoch, by_length, output, .. } = self;
        LocateArgs { epoch, sample, reached, is_explained: true, ranks: AllRanks::default(), by_length, output }
    }

    /// The arguments of `samedeal step` for steps of one epoch.
    fn step(self, steps: Numbers, explained: step::Explained) -> StepArgs {
        let Self { epoch, by_length, output, .. } = self;
        let (step, explained) = (steps.minus(explained.first), Some(explained));
        StepArgs { step, epoch, global: false, rank: None, column: Vec::new(), by_length, output, explained }
    }
}

/// Answers about samples or steps, by the state of a sampler. With the same world size, a resume does not change the
/// deal of an epoch, so one sampler of the whole epoch has all answers.
fn samples_of(mut args: ExplainArgs, saved: Saved) -> Result<(), Problem> {
    let dataset = Dataset::new(&args.epoch.dataset)?;
    // Resuming refuses files and options that differ from the state.
    let rest = args.epoch.resumed(args.epoch.deal.whole(&dataset)?)?;
    let consumed = rest.consumed();
    let (reached, epochs) = (Reached { epoch: rest.epoch(), consumed }, args.epochs(rest.epoch()));
    (args.epoch.saved, args.epoch.deal.epoch) = (None, epochs.first);
    let known = saved.batch_size.and_then(|size| u32::try_from(size).ok());
    let agreed = |option: &str, given: Option<u32>, known: Option<u32>| match (given, known) {
        (Some(given), Some(known)) if given != known => Err(saved.refused(contradiction(option, given, known))),
        (given, known) => Ok(given.or(known)),
    };
    let size = agreed("batch-size", args.epoch.batch_size, known)?;
    // The world size of the state is used only if the ranks that took the state read the epoch from its beginning: only
    // then can steps be counted from the beginning.
    let alone = saved.taken_by.filter(|by| by.from == 0).and_then(|by| u32::try_from(by.world_size).ok());
    let given = args.epoch.deal.deal.short("world_size");
    // Another epoch may have another world size than the state.
    let ranks = if epochs.first == reached.epoch { agreed("world-size", given, alone)? } else { given.or(alone) };
    if let Some(ranks) = ranks {
        args.epoch.deal.deal.set("world_size", ranks);
    }
    let before = saved.taken_by.map_or(0, |by| by.from);
    if ranks.is_none() && before > 0 && args.step.is_some() {
        return Err(saved.refused(format!(
            "the checkpoint does not say which ranks took the first {} of the epoch, so steps cannot be counted from its beginning; \
             `samedeal step --resume` shows those after the state",
            counted(before, "position", "positions")
        )));
    }
    let option = |name: &str, why: &str| Err(saved.refused(format!("the checkpoint does not say {why}; add --{name}")));
    let (ranks, size) = match (ranks, size) {
        (Some(ranks), Some(size)) => (ranks, size),
        (None, _) if args.step.is_none() && args.epoch.batch_size.is_none() => {
            let mut whole = args.epoch.deal.whole(&dataset)?;
            return statuses(&args, &dataset, epochs, |epoch, sample| {
                if whole.epoch() != epoch {
                    whole.set_epoch(epoch)?;
                }
                let place = |position| Position { position, status: reached.status(epoch, position) };
                let places = positions(&whole, sample)?.into_iter().map(place).collect::<Vec<_>>();
                Ok((places.first().map_or(Status::Absent, |place| place.status), Some(places)))
            });
        }
        (None, _) => return option("world-size", "how many ranks took it"),
        (_, None) => return option("batch-size", "how many samples a batch had"),
    };
    args.epoch.batch_size = Some(size);
    let workers = args.epoch.deal.workers.unwrap_or(1);
    for (name, number) in [("world-size", ranks), ("workers", workers), ("batch-size", size)] {
        if number == 0 {
            return Err(Problem::message(format!("--{name} is 0; allowed: 1 to {}", u32::MAX)));
        }
    }
    let workers = u64::from(workers);
    let readers = u64::from(ranks) * workers;
    let turn = readers.saturating_mul(u64::from(size));
    let samples = rest.epoch_length();
    if consumed % turn != 0 && consumed != samples {
        return Err(saved.refused(format!(
            "{} were consumed, which is no multiple of {turn} (--world-size times --workers times --batch-size). Name the world size, \
             workers and batch size of the run. If the epoch was read with several of them, leave them out: --sample still says \
             what was seen",
            counted(consumed, "sample", "samples")
        )));
    }
    let assumed = format!(
        "This assumes that {} read {} in batches of {size}. If others read a part of the epoch, only \"seen\" and \"upcoming\" are \
         right.",
        counted(readers, "reader", "readers"),
        counted(consumed, "sample", "samples"),
    );
    let is_told = alone.is_some() && known.is_some();
    let is_table = args.output.format() == Format::Table && !is_told;
    match args.step {
        Some(steps) => {
            let taken = if consumed == samples { u64::MAX } else { consumed / turn * workers };
            let reached = Reached { consumed: taken, ..reached };
            step::run(&args.step(steps, step::Explained::of_epoch(epochs.first, reached)))?;
        }
        None => locate::run(&args.locate(Some(reached)))?,
    }
    if is_table { print(assumed) } else { Ok(()) }
}

/// All positions of a sample in an epoch. A composed order may have the sample several times, or not at all.
fn positions(whole: &Sampler, sample: u64) -> Result<Vec<u64>, Problem> {
    let fate = whole.fate(sample, 1, 0)?;
    if !fate.complete {
        let count = fate.places.len();
        let what = format!("sample {sample} has {count} places in this epoch or more, too many to show");
        return Err(Problem::message(what));
    }
    Ok(fate.places.iter().map(|place| place.position).collect())
}

/// Prints whether samples were seen, without the ranks that saw them, which the state does not have. `find` returns the
/// status of a sample in an epoch, and its positions, if they are known.
fn statuses(
    args: &ExplainArgs,
    dataset: &Dataset,
    epochs: Numbers,
    mut find: impl FnMut(u64, u64) -> Result<(Status, Option<Vec<Position>>), Problem>,
) -> Result<(), Problem> {
    let samples = args.sample.iter().flat_map(|samples| samples.of(dataset.samples)).collect::<Vec<_>>();
    let samples = in_epochs(epochs, &samples, |epoch, sample| {
        let (status, places) = find(epoch, sample)?;
        Ok(LocatedIn::new(epoch, sample, status, places, dataset))
    })?;
    let has_position = samples.iter().any(|one| one.places.is_some());
    let items = || {
        let of = |place: &Position| (place.status, vec![place.position.into()]);
        rows(&samples, dataset, [epochs.is_range, true], &[("position", has_position)], dataset.columns(), of)
    };
    let told = match has_position {
        true => {
            "The checkpoint does not say which ranks took all of it. --world-size and --batch-size add rank, step and padding."
        }
        false => "`samedeal locate --resume` says which reader gets a sample that is to come.",
    };
    answer::show(args.output.format(), items, || Ok(told.to_owned()), || Ok(Located { samples: &samples }))
}

/// Answers about samples or steps, by the state of a dataset in files.
fn readings_of(mut args: ExplainArgs, saved: Saved) -> Result<(), Problem> {
    let dataset = Dataset::new(&args.epoch.dataset)?;
    let own = saved.number("epoch").unwrap_or(0);
    let epochs = args.epochs(own);
    let Some(steps) = args.step else {
        let asked = args.sample.iter().flat_map(|samples| samples.of(dataset.samples)).collect();
        let to_come = to_come(&saved, &dataset, &asked)?;
        return statuses(&args, &dataset, epochs, |epoch, sample| {
            let is_to_come = if epoch == own { to_come.contains(&sample) } else { epoch > own };
            Ok((if is_to_come { Status::Upcoming } else { Status::Seen }, None))
        });
    };
    // The readers are the last group of the history, unless options name other ones.
    let last = saved.history.last();
    let number_of = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
    let deal = &mut args.epoch.deal;
    deal.workers = deal.workers.or(number_of(last.and_then(|past| past.workers)));
    if let (None, Some(ranks)) = (deal.deal.short("world_size"), last.map(|past| past.world_size)) {
        deal.deal.set("world_size", ranks);
    }
    let mut readers = args.epoch.readers(&dataset)?;
    readers.set_epoch(own)?;
    let Source::Reading(whole) = &readers.source else { return Err(saved.refused(saved.described())) };
    // If this group alone read the epoch so far, its own state after `taken` steps equals the given state.
    let turn = u64::from(readers.world_size) * u64::from(readers.batches.samples());
    let taken = match saved.number("consumed").unwrap_or(0) {
        consumed if Some(consumed) == saved.number("samples") => whole.steps()?.max,
        consumed => (consumed / turn).saturating_add(last.map_or(0, |past| past.steps)),
    };
    let is_own =
        |state: String| serde_json::from_str::<Value>(&state).is_ok_and(|own| own.as_object() == Some(&*saved.fields));
    if !whole.state(taken).is_ok_and(is_own) {
        return Err(saved.refused(
            "these readers did not read all of the epoch so far, so its steps cannot be counted. If one group read it, name its \
             --world-size, --workers, --batch-size and --remainder. `samedeal step --resume` shows the steps from the state on",
        ));
    }
    readers.set_epoch(epochs.first)?;
    let reached = Reached { epoch: own, consumed: taken };
    step::show(&args.step(steps, step::Explained::of_epoch(epochs.first, reached)), &dataset, readers)
}

/// Answers about samples or steps, by the state of batches. The state has the world sizes of the open window, and steps
/// are counted from the beginning of this window.
fn batches_of(mut args: ExplainArgs, saved: Saved) -> Result<(), Problem> {
    let ranks = |past: &Segment| u32::try_from(past.world_size).unwrap_or(u32::MAX);
    let mut history = saved.history.clone();
    let goes_on = args.epoch.deal.deal.short("world_size").or(history.last().map(ranks));
    let own = saved.number("epoch").unwrap_or(0);
    let mut from = saved.number("consumed").unwrap_or(0);
    let reached = Reached { epoch: own, consumed: history.iter().map(|past| past.steps).sum() };
    let epoch = args.epochs(own).first;
    if epoch != own {
        history.clear();
        from = 0;
    }
    let (mut first, mut place) = (0, 0);
    let number = args.step.map_or(u64::MAX, |steps| steps.first);
    while let Some(past) = history.get(place).filter(|past| number - first >= past.steps) {
        first = first.saturating_add(past.steps);
        place += 1;
    }
    let segment = history.get(place);
    if let (Some(steps), Some(past)) = (args.step, segment) {
        let next = first.saturating_add(past.steps);
        if steps.last >= next {
            let what = "the run had other ranks from then on, or stopped there";
            let said = format!("--step is {steps}; allowed: {}..{next}, or from {next} on: {what}", steps.first);
            return Err(saved.refused(said));
        }
    }
    let (ranks, group) = (segment.map(ranks).or(goes_on), segment.map(|_| place));
    let needed = || saved.refused("the state does not say how many ranks continue; add --world-size");
    args.epoch.deal.deal.set("world_size", ranks.ok_or_else(needed)?);
    match args.step {
        Some(steps) => batches::step(&args.step(steps, step::Explained { epoch, reached, from, group, first })),
        None => batches::locate(&args.locate(None)),
    }
}
