//! `samedeal steps`: the steps of a whole training, counted on over the ends of epochs.

use std::collections::BTreeMap;
use std::path::Path;

use samedeal::{EpochPosition, Schedule, StepPlace};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::args::format::Format;
use crate::args::steps::{Opened, StepsArgs};
use crate::commands::step::{Held, Listed, RankBatch, ranks};
use crate::read::contents::Contents;
use crate::write::{Cell, Items, Problem, Recipe, counted, grouped, progress, show, write_text};

/// `samedeal steps`
pub fn run(args: &StepsArgs) -> Result<(), Problem> {
    let opened = args.open()?;
    let Opened { schedule, .. } = &opened;
    if let Some(path) = &args.recipe_out {
        return write_text(Some(path.as_path()).filter(|path| *path != Path::new("-")), &schedule.recipe()?);
    }
    if let Some(step) = args.state {
        return write_text(args.file.as_deref(), &schedule.state(step)?);
    }
    match args.step {
        Some(step) => taken(args, &opened, step),
        None if !args.locate.is_empty() => found(args, &opened),
        None => table(args, &opened),
    }
}

/// The first members of a JSON answer.
#[derive(Serialize, JsonSchema)]
struct Head {
    recipe: Recipe,
    /// Steps of the whole training.
    num_steps: u64,
    /// The step that the state continues with; null without `--resume`.
    resumed_at: Option<u64>,
}

impl Head {
    fn of(Opened { schedule, resumed, .. }: &Opened) -> Result<Self, Problem> {
        let recipe = Recipe::of(&schedule.recipe()?);
        Ok(Self { recipe, num_steps: schedule.num_steps(), resumed_at: *resumed })
    }
}

/// The steps at which something begins, and those that were asked for.
#[derive(Serialize, JsonSchema)]
pub struct Begun<'a> {
    #[serde(flatten)]
    head: Head,
    steps: &'a [Row],
}

/// The samples that every rank takes at a step.
#[derive(Serialize, JsonSchema)]
pub struct Taken {
    #[serde(flatten)]
    head: Head,
    step: u64,
    /// Where the step begins: the epoch, and the position in it.
    epoch: u64,
    position: u64,
    global_batch_size: u32,
    ranks: Vec<Read>,
}

/// The samples that one rank takes.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Part")]
struct Read {
    rank: u32,
    samples: Vec<u64>,
    #[serde(flatten)]
    held: Held,
}

/// When and where samples are seen.
#[derive(Serialize, JsonSchema)]
pub struct Found {
    #[serde(flatten)]
    head: Head,
    /// The step from which on they were looked for.
    from: u64,
    samples: Vec<Sample>,
}

#[derive(Serialize, JsonSchema)]
struct Sample {
    sample: u64,
    places: Vec<Place>,
    /// Where it is stored, if files are named: the path of the file, and the number of the row there.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
struct Place {
    /// How many samples all ranks took before this one, since the beginning of the training.
    samples_consumed: u64,
    epoch: u64,
    position: u64,
    step: u64,
    rank: u32,
    index_in_batch: u32,
}

/// The schedule in words.
fn said(schedule: &Schedule) -> String {
    let ranks = counted(schedule.world_size().into(), "rank", "ranks");
    let samples = counted(schedule.dataset_size(), "sample", "samples");
    format!("{ranks}, {samples}, order {}, seed {}", schedule.order(), schedule.seed())
}

/// A step: its first sample, and why it is shown.
#[derive(Default, Serialize, JsonSchema)]
struct Row {
    step: u64,
    /// Empty for a step of `--at`.
    why: Vec<Why>,
    /// The epochs that begin in this step.
    begins: Vec<u64>,
    /// Samples of all ranks together in this step.
    global_batch_size: u32,
    /// Samples that were consumed before this step, in all epochs.
    samples_consumed: u64,
    /// The epoch of the first sample of the step.
    epoch: u64,
    position: u64,
}

/// Why a step is shown.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Why {
    /// It is the first one.
    First,
    /// The state continues with it.
    Resumed,
    /// The batch size is another one from here on.
    GlobalBatchSize,
    /// An epoch begins in it.
    Epoch,
}

impl Row {
    /// The reasons why the step is shown, in words.
    fn told(&self) -> String {
        let told = |why: &Why| match why {
            Why::First => "the first step".to_owned(),
            Why::Resumed => "the state continues".to_owned(),
            Why::GlobalBatchSize => format!("batch size {}", grouped(self.global_batch_size.into())),
            Why::Epoch => {
                self.begins.iter().map(|epoch| format!("epoch {epoch} begins")).collect::<Vec<_>>().join("; ")
            }
        };
        self.why.iter().map(told).collect::<Vec<_>>().join("; ")
    }
}

/// Prints the table: the first steps of stages and of some epochs, and the steps of `--at`.
fn table(args: &StepsArgs, opened: &Opened) -> Result<(), Problem> {
    let Opened { schedule, resumed, .. } = opened;
    let first = resumed.unwrap_or(0);
    let mut steps = BTreeMap::<u64, Row>::new();
    let mut add = |step: u64, why: Why, begun: Option<u64>| {
        let row = steps.entry(step).or_default();
        if !row.why.contains(&why) {
            row.why.push(why);
        }
        row.begins.extend(begun);
    };
    add(first, if resumed.is_some() { Why::Resumed } else { Why::First }, None);
    let recipe: Value = serde_json::from_str(&schedule.recipe()?).unwrap_or_default();
    for stage in recipe["steps"]["stages"].as_array().into_iter().flatten() {
        // A stage may begin after the last step. It is left out then.
        if let Some(from) = stage["from"].as_u64().filter(|from| (first..schedule.num_steps()).contains(from)) {
            add(from, Why::GlobalBatchSize, None);
        }
    }
    // A state after the last step has no epoch to continue.
    let begun = if first < schedule.num_steps() { Some(schedule.place_of(first)?.epoch) } else { None };
    for epoch in begun.into_iter().flat_map(|begun| (1..=u64::from(args.epochs)).map(move |more| begun + more)) {
        let Ok(step) = schedule.step_of(epoch, 0) else { break };
        add(step, Why::Epoch, Some(epoch));
    }
    for step in &args.at {
        steps.entry(*step).or_default();
    }
    let row = |(step, row): (u64, Row)| -> Result<Row, Problem> {
        let asked = |error: samedeal::Error| match error.failure() {
            Some(failure) => Problem::message(format!("--at is {step}; allowed: {}", failure.allowed)),
            None => error.into(),
        };
        let global_batch_size = schedule.global_batch_size(step).map_err(asked)?;
        let EpochPosition { epoch, position, .. } = schedule.place_of(step)?;
        Ok(Row { step, global_batch_size, samples_consumed: schedule.samples_consumed(step)?, epoch, position, ..row })
    };
    let rows = steps.into_iter().map(row).collect::<Result<Vec<_>, _>>()?;
    let items = || {
        let mut items = Items::new(["step", "what", "global batch size", "samples consumed", "epoch", "position"]);
        for row in &rows {
            // An epoch is a name, not an amount: its digits are not grouped.
            let epoch = row.epoch.to_string().into();
            let (size, consumed) = (row.global_batch_size.into(), row.samples_consumed.into());
            items.push([row.step.into(), row.told().into(), size, consumed, epoch, row.position.into()]);
        }
        items
    };
    let limit = counted(schedule.num_steps(), "step", "steps");
    let told = || Ok(format!("{}; up to {limit}. --at STEP shows others", said(schedule)));
    show(args.output.format(), items, told, || Ok(Begun { head: Head::of(opened)?, steps: &rows }))
}

/// Prints the samples that every rank takes at a step.
fn taken(args: &StepsArgs, opened: &Opened, step: u64) -> Result<(), Problem> {
    let Opened { dataset, schedule, .. } = opened;
    if step >= schedule.num_steps() {
        let last = schedule.num_steps().saturating_sub(1);
        return Err(Problem::message(format!("--step is {step}; allowed: 0 to {last}")));
    }
    let ranks = ranks(args.rank, schedule.world_size())?;
    let bar = progress::bar("reading", u64::from(ranks.end - ranks.start));
    let read = |rank: u32| {
        bar.inc(1);
        Ok::<_, Problem>(RankBatch::new(rank, schedule.at_rank(rank)?.batch(step)?))
    };
    let parts = ranks.map(read).collect::<Result<Vec<_>, _>>()?;
    bar.finish_and_clear();
    let samples = parts.iter().flat_map(|part| part.samples.iter().copied());
    let contents = &Contents::read(dataset, &args.column, samples.clone())?;
    let format = args.output.format();
    let is_short = format == Format::Table && dataset.files.is_empty();
    let listed = Listed { columns: [("epoch", false), ("step", false)], has_workers: false, dataset, contents };
    let all = || parts.iter().map(|part| ([Cell::None, Cell::None], part));
    let items = || if is_short { listed.short(all()) } else { listed.long(all(), false) };
    let EpochPosition { epoch, position, .. } = schedule.place_of(step)?;
    let told = || {
        let from = format!("from position {} of epoch {epoch} on", grouped(position));
        let count = counted(samples.clone().count() as u64, "sample", "samples");
        let more = if is_short { "; --format text shows all of them" } else { "" };
        Ok(format!("step {}: {count} {from}; {}{more}", grouped(step), said(schedule)))
    };
    show(format, items, told, || {
        let (head, global_batch_size) = (Head::of(opened)?, schedule.global_batch_size(step)?);
        let held = |part: &RankBatch| Held::new(&part.samples, dataset, contents);
        let of = |part: &RankBatch| Read { rank: part.rank, samples: part.samples.clone(), held: held(part) };
        Ok(Taken { head, step, epoch, position, global_batch_size, ranks: parts.iter().map(of).collect() })
    })
}

/// Prints when and where samples are seen.
fn found(args: &StepsArgs, opened: &Opened) -> Result<(), Problem> {
    let Opened { dataset, schedule, resumed } = opened;
    let from = args.from.or(*resumed).unwrap_or(0);
    if from > schedule.num_steps() {
        return Err(Problem::message(format!("--from is {from}; allowed: 0 to {}", schedule.num_steps())));
    }
    let columns = ["sample", "step", "rank", "index in batch", "epoch", "position", "samples before"];
    let mut items = Items::new([&columns, dataset.columns()].concat());
    let mut answers = Vec::new();
    let spinner = progress::spinner("searching");
    for sample in args.locate.iter().flat_map(|samples| samples.of(schedule.dataset_size())) {
        if sample >= schedule.dataset_size() {
            let most = schedule.dataset_size() - 1;
            return Err(Problem::message(format!("--locate is {sample}; allowed: 0 to {most}")));
        }
        let mut push = |cells: [Cell; 6]| {
            items.push([sample.into()].into_iter().chain(cells).chain(dataset.row(sample)));
        };
        let (mut places, mut next) = (Vec::new(), Some(from));
        while let Some(step) = next.filter(|_| places.len() < args.times as usize) {
            next = None;
            if let Some(StepPlace { samples_consumed, epoch, position, step, rank, index_in_batch, .. }) =
                schedule.locate(sample, step)?
            {
                let (index, name) = (index_in_batch.into(), epoch.to_string().into());
                push([step.into(), rank.into(), index, name, position.into(), samples_consumed.into()]);
                places.push(Place { samples_consumed, epoch, position, step, rank, index_in_batch });
                next = Some(step + 1).filter(|step| *step < schedule.num_steps());
            }
        }
        if places.is_empty() {
            push(["never".into(), Cell::None, Cell::None, Cell::None, Cell::None, Cell::None]);
        }
        let (file, row) = dataset.stored(sample).unzip();
        answers.push(Sample { sample, places, file, row });
    }
    spinner.finish_and_clear();
    let told = || Ok(format!("from step {} on; {}", grouped(from), said(schedule)));
    show(args.output.format(), || items, told, || Ok(Found { head: Head::of(opened)?, from, samples: answers }))
}
