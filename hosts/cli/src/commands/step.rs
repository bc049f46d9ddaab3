//! `samedeal step`: the samples that all ranks read in a step.

use std::ops::Range;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::by_length::ByLengthArgs;
use crate::args::dataset::Dataset;
use crate::args::deal::{EpochArgs, OF_SHARDED};
use crate::args::format::{Format, Output};
use crate::args::values::{Numbers, numbers, within};
use crate::commands::locate::{Reached, Status};
use crate::commands::numbers::abridged;
use crate::commands::readers::{Readers, Steps};
use crate::read::contents::Contents;
use crate::write::{Cell, Items, Problem, Stored, answer, counted, grouped, progress};

/// The most ranks, and the most workers of a rank, that are read.
const MOST: u32 = 1 << 16;
/// How many epochs are planned to find a step that is counted over epochs: with `--global`, and for the hint of an
/// error.
const EPOCHS: u64 = 10_000;
const EPOCHS_TOLD: u64 = 16;
/// How many samples the answer for several steps may have.
const MOST_SAMPLES: usize = 1 << 22;

#[derive(Args)]
pub struct StepArgs {
    /// Number of the step, counted from 0 at the beginning of the epoch; with --resume, from the state on. Or several steps: 1200..1210 for the
    /// steps 1200 to 1209, 1200..=1210 for the steps 1200 to 1210
    #[arg(value_name = "STEP|RANGE", value_parser = numbers)]
    pub step: Numbers,
    #[command(flatten)]
    pub epoch: EpochArgs,
    /// STEP is counted over all epochs from --epoch or --resume on
    #[arg(long)]
    pub global: bool,
    /// Show only this rank
    #[arg(long, value_parser = within(0, u32::MAX))]
    pub rank: Option<u32>,
    /// Show what this column of the Parquet files holds of each sample; a table has the beginning of it. May be repeated
    #[arg(long, value_name = "NAME")]
    pub column: Vec<String>,
    #[command(flatten)]
    pub by_length: ByLengthArgs,
    #[command(flatten)]
    pub output: Output,
    /// The place of the steps in a run, if the answer is for `samedeal explain`.
    #[arg(skip)]
    pub explained: Option<Explained>,
}

/// The samples of the ranks in each step that was asked for.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StepsOf{R}")]
pub struct StepsRead<'a, R> {
    pub steps: &'a [StepRead<R>],
}

/// The samples of the ranks in one step.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StepOf{R}")]
pub struct StepRead<R> {
    epoch: u64,
    /// Counted from the beginning of the epoch, or from the state that is resumed.
    step: u64,
    /// How many steps there are, counted from the same.
    num_steps: u64,
    /// The fate of the step, if a checkpoint is explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status>,
    pub ranks: Vec<R>,
    /// Whether the steps are the rest of an epoch after a state.
    #[serde(skip)]
    is_rest: bool,
}

/// The batch of a rank in a step.
#[derive(Serialize, JsonSchema)]
pub struct RankBatch {
    pub rank: u32,
    /// With `--workers`: the worker whose batch it is; null if the rank has no batch left.
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<Option<u32>>,
    pub samples: Vec<u64>,
    /// How many of them, the last ones, are padding.
    num_padding: u64,
    #[serde(flatten)]
    held: Held,
}

/// Where the samples of a batch are stored, and what they hold.
#[derive(Default, Serialize, JsonSchema)]
pub struct Held {
    /// If files are named: the place of each sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    stored: Option<Vec<Option<Stored>>>,
    /// With `--column`: for each column, what it holds of each sample. Bytes are `{"base64": ...}`, and floats that JSON does not
    /// have are their names.
    #[serde(skip_serializing_if = "Option::is_none")]
    contents: Option<Map<String, Value>>,
}

/// The place of steps in the run that took a state. Steps are counted from the beginning of an epoch, or, with
/// `--lengths`, from the open window.
pub struct Explained {
    pub epoch: u64,
    /// The epoch of the state, and how many of its steps were read before the state. They are counted from the same
    /// beginning as the steps of the answer.
    pub reached: Reached,
    /// With --lengths: the first position of the open window, from which steps are counted.
    pub from: u64,
    /// `group`: the number of the group that read the steps, in the history of the state; none if no group of the
    /// history did. `first`: how many steps came before this group.
    pub group: Option<usize>,
    pub first: u64,
}

impl StepArgs {
    /// The name of the argument with the steps.
    fn name(&self) -> &'static str {
        if self.explained.is_some() { "--step" } else { "STEP" }
    }

    /// The number of the first step of the group that read the steps. The batcher of this group counts from 0.
    pub fn first(&self) -> u64 {
        self.explained.as_ref().map_or(0, |explained| explained.first)
    }

    /// A line about the steps: their numbers, the number of all steps, the epoch and the order.
    pub fn which<R>(&self, read: &[StepRead<R>], order: &str) -> String {
        let epoch = |one: &StepRead<R>| match &self.explained {
            Some(explained) => {
                let from = match explained.from {
                    0 => "the beginning of the epoch".to_owned(),
                    from => format!("position {} on, where the window of the state begins", grouped(from)),
                };
                format!("epoch {} ({}), counted from {from}", one.epoch, told(read))
            }
            None if one.is_rest => format!("what is left of epoch {}, counted from the state on", one.epoch),
            None => format!("epoch {}", one.epoch),
        };
        let steps = match read {
            [one] => format!("step {} of the {} of {}", grouped(one.step), grouped(one.num_steps), epoch(one)),
            [first, .., last] if first.epoch == last.epoch => {
                let steps = [first.step, last.step, first.num_steps].map(grouped);
                format!("steps {} to {} of the {} of {}", steps[0], steps[1], steps[2], epoch(first))
            }
            [first, .., last] => {
                let [from, to] = [first, last].map(|one| format!("step {} of {}", grouped(one.step), epoch(one)));
                format!("{from} to {to}")
            }
            [] => String::new(),
        };
        format!("{steps}, {order}")
    }

    /// The first columns of a table of several steps, for the epoch and the step of each row.
    pub fn columns(&self) -> [(&'static str, bool); 2] {
        let several = self.step.is_range;
        [("epoch", several && self.global), ("step", several)]
    }
}

impl<R> StepRead<R> {
    /// The epoch and the step, in cells.
    pub fn cells(&self) -> [Cell; 2] {
        [self.epoch.into(), self.step.into()]
    }
}

impl Explained {
    /// Steps of an epoch that are counted from its beginning.
    pub fn of_epoch(epoch: u64, reached: Reached) -> Self {
        Self { epoch, reached, from: 0, group: None, first: 0 }
    }
}

/// The status of the steps in words, and the step where it changes.
fn told<R>(steps: &[StepRead<R>]) -> String {
    let name = |step: &StepRead<R>| step.status.unwrap_or(Status::Upcoming).name();
    let first = steps.first().map_or(Status::Upcoming.name(), name);
    match steps.iter().find(|step| name(step) != first) {
        None => first.to_owned(),
        Some(next) => format!("{first} before step {}, then {}", grouped(next.step), name(next)),
    }
}

/// The rank that is named, or all ranks.
pub fn ranks(rank: Option<u32>, world_size: u32) -> Result<Range<u32>, Problem> {
    match rank {
        Some(rank) if rank < world_size => Ok(rank..rank + 1),
        Some(rank) => Err(Problem::not_one_of("rank", rank, world_size)),
        None if world_size > MOST => {
            Err(Problem::message(format!("--world-size is {world_size}, too many ranks to show; name one with --rank")))
        }
        None => Ok(0..world_size),
    }
}

/// Reads the batches of the ranks in every step that the options name. `part` reads a batch of a rank, and returns it
/// with its number of samples.
pub fn read<S: Steps, R>(
    epochs: &mut S,
    args: &StepArgs,
    mut part: impl FnMut(&mut S, u32, u64) -> Result<(R, usize), Problem>,
) -> Result<Vec<StepRead<R>>, Problem> {
    let (ranks, asked) = (ranks(args.rank, args.epoch.deal.world_size())?, args.step);
    if !args.global {
        // The last step of a range is checked first, so that nothing is read in vain.
        find(epochs, args, asked.last)?;
    }
    let mut step = find(epochs, args, asked.first)?;
    let bar = progress::bar("reading", asked.count());
    let (mut all, mut samples) = (Vec::new(), 0);
    for number in asked.iter() {
        if number > asked.first {
            step = find(epochs, args, step + 1)?;
        }
        let parts = ranks.clone().map(|rank| part(epochs, rank, step)).collect::<Result<Vec<_>, _>>()?;
        samples += parts.iter().map(|(_, samples)| samples).sum::<usize>();
        if asked.is_range && samples > MOST_SAMPLES {
            let (first, read) = (asked.first.saturating_add(args.first()), number - asked.first);
            let what = format!(
                "{} is {}, more than {} samples",
                args.name(),
                asked.plus(args.first()),
                grouped(MOST_SAMPLES as u64)
            );
            let steps = (read > 0).then(|| format!("{first}..{}", first + read));
            let ranks = args.explained.is_none().then(|| "fewer ranks (--rank)".to_owned());
            let fewer = steps.into_iter().chain(ranks).collect::<Vec<_>>().join(", or ");
            let fewer = if fewer.is_empty() { "one step" } else { &fewer };
            return Err(Problem::message(format!("{what}; allowed at once: {fewer}")));
        }
        let ranks = parts.into_iter().map(|(part, _)| part).collect();
        let (epoch, is_rest) = (epochs.epoch()?, epochs.is_rest()?);
        let [number, num_steps] = [step, epochs.steps()?].map(|number| number.saturating_add(args.first()));
        let status = args.explained.as_ref().map(|it| it.reached.status(it.epoch, number));
        all.push(StepRead { epoch, step: number, num_steps, status, ranks, is_rest });
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(all)
}

/// Moves to the epoch of a step, and returns the number of the step in that epoch.
fn find(epochs: &mut impl Steps, args: &StepArgs, number: u64) -> Result<u64, Problem> {
    let (epoch, steps) = (epochs.epoch()?, epochs.steps()?);
    if number < steps {
        return Ok(number);
    }
    if args.global {
        let found = seek(epochs, number, EPOCHS)?;
        let last = epochs.epoch()?;
        return found.ok_or_else(|| {
            let asked = args.step;
            Problem::message(format!(
                "STEP is {asked}; the epochs {epoch} to {last} have fewer steps: name a later --epoch"
            ))
        });
    }
    let first = args.first();
    let allowed = match steps {
        0 => format!("nothing, epoch {epoch} has no batches"),
        _ => format!("{first} to {} in epoch {epoch}", (steps - 1).saturating_add(first)),
    };
    // A hint that cannot be computed is left out.
    let hint = match seek(epochs, number, EPOCHS_TOLD) {
        Ok(Some(step)) if args.explained.is_none() => {
            format!("; counted over epochs, it is step {step} of epoch {}: add --global", epochs.epoch()?)
        }
        _ => String::new(),
    };
    let number = number.saturating_add(first);
    Err(Problem::message(format!("{} is {number}; allowed: {allowed}{hint}", args.name())))
}

/// Moves to the epoch of a step that is counted over epochs, and returns the number of the step in that epoch. None if
/// the step is not found after a look at `most` epochs; epochs with the same number of steps are skipped at one look.
fn seek(epochs: &mut impl Steps, mut step: u64, most: u64) -> Result<Option<u64>, Problem> {
    for passed in 0..most {
        let steps = epochs.steps()?;
        if step < steps {
            return Ok(Some(step));
        }
        // The first epoch may be a rest with fewer steps, so equal epochs are skipped only after it.
        let skipped = if epochs.is_alike() && passed > 0 { step.checked_div(steps) } else { Some(1) };
        let Some((skipped, next)) =
            skipped.and_then(|skipped| Some((skipped, epochs.epoch().ok()?.checked_add(skipped)?)))
        else {
            return Ok(None);
        };
        step -= skipped * steps;
        epochs.set_epoch(next)?;
    }
    Ok(None)
}

/// `samedeal step`
pub fn run(args: &StepArgs) -> Result<(), Problem> {
    args.epoch.with_batches()?;
    let (dataset, readers) = args.epoch.open()?;
    show(args, &dataset, readers)
}

pub fn show(args: &StepArgs, dataset: &Dataset, mut readers: Readers) -> Result<(), Problem> {
    if let Some(workers) = readers.workers.filter(|&workers| workers > MOST) {
        return Err(Problem::message(format!("--workers is {workers}; allowed here: 1 to {MOST}")));
    }
    let mut steps = read(&mut readers, args, |readers, rank, step| {
        let batch = RankBatch::read(readers, rank, step)?;
        let samples = batch.samples.len();
        Ok((batch, samples))
    })?;
    let samples = steps.iter().flat_map(|one| &one.ranks).flat_map(|batch| batch.samples.iter().copied());
    let count = counted(samples.clone().count() as u64, "sample", "samples");
    let contents = &Contents::read(dataset, &args.column, samples)?;
    let (deal, format) = (&args.epoch.deal, args.output.format());
    if format == Format::Json {
        let batches = steps.iter_mut().flat_map(|one| &mut one.ranks);
        batches.for_each(|batch| batch.held = Held::new(&batch.samples, dataset, contents));
    }
    let is_table = format == Format::Table;
    let is_short = is_table && dataset.files.is_empty();
    let listed = Listed { columns: args.columns(), has_workers: deal.workers.is_some(), dataset, contents };
    let batches = || steps.iter().flat_map(|one| one.ranks.iter().map(|batch| (one.cells(), batch)));
    let items = || if is_short { listed.short(batches()) } else { listed.long(batches(), !is_table) };
    let told = || {
        let which = args.which(&steps, &readers.order()?);
        let who = match args.rank {
            Some(rank) => format!("rank {rank} of {}", deal.world_size()),
            None => counted(deal.world_size().into(), "rank", "ranks"),
        };
        let more = if is_short { "; --format text shows all of them" } else { "" };
        // A ShardedDataset reads another order, and nothing else in the answer would show this.
        let of_files = if args.epoch.is_unsharded(dataset) { format!("\n{OF_SHARDED}") } else { String::new() };
        Ok(format!("{which}: {count} on {who}{more}{of_files}"))
    };
    answer::show(format, items, told, || Ok(StepsRead { steps: &steps }))
}

impl RankBatch {
    /// A batch without padding, of a rank without workers.
    pub fn new(rank: u32, samples: Vec<u64>) -> Self {
        Self { rank, worker: None, samples, num_padding: 0, held: Held::default() }
    }

    fn read(readers: &mut Readers, rank: u32, step: u64) -> Result<Self, Problem> {
        let has_workers = readers.workers.is_some();
        let Some((worker, batch)) = readers.turn(rank, step)? else {
            return Ok(Self { worker: has_workers.then_some(None), ..Self::new(rank, Vec::new()) });
        };
        let reader = readers.reader(rank, worker)?;
        let samples = reader.batch(batch)?;
        let end = batch * reader.size + samples.len() as u64;
        let num_padding = (end - samples.len() as u64..end).filter(|&index| reader.is_padding(index)).count() as u64;
        Ok(Self { worker: has_workers.then_some(Some(worker)), num_padding, ..Self::new(rank, samples) })
    }
}

/// Tables of the batches of ranks. The cells for the first `columns` come with each batch.
pub struct Listed<'a> {
    pub columns: [(&'static str, bool); 2],
    pub has_workers: bool,
    pub dataset: &'a Dataset,
    pub contents: &'a Contents,
}

impl Listed<'_> {
    fn items(&self, columns: &[(&'static str, bool)], more: &[&str]) -> Items {
        let who = [("rank", true), ("worker", self.has_workers)];
        Items::some([&self.columns, &who, columns].concat(), more.iter().copied())
    }

    fn who([first, second]: [Cell; 2], batch: &RankBatch) -> [Cell; 4] {
        [first, second, batch.rank.into(), batch.worker.flatten().into()]
    }

    /// A row for each rank.
    pub fn short<'b>(&self, batches: impl Iterator<Item = ([Cell; 2], &'b RankBatch)>) -> Items {
        let mut items = self.items(&[], &["size", "samples"]);
        for (first, batch) in batches {
            let mut samples = abridged(&batch.samples);
            if batch.num_padding > 0 {
                samples.push_str(&format!(" (the last {} padding)", if batch.num_padding == 1 { "is" } else { "are" }));
            }
            let row = [(batch.samples.len() as u64).into(), samples.into()];
            items.push(Self::who(first, batch).into_iter().chain(row));
        }
        items
    }

    /// A row for each sample. `noted`: whether there is a column `note` even if there is no padding.
    pub fn long<'b>(&self, batches: impl Iterator<Item = ([Cell; 2], &'b RankBatch)> + Clone, noted: bool) -> Items {
        let noted = noted || batches.clone().any(|(_, batch)| batch.num_padding > 0);
        let columns = [("index in batch", true), ("sample", true), ("note", noted)];
        let mut items = self.items(&columns, &[self.dataset.columns(), &self.contents.columns()].concat());
        for (first, batch) in batches {
            let real = batch.samples.len() as u64 - batch.num_padding;
            for (index, &sample) in (0..).zip(&batch.samples) {
                let note = if index >= real { "padding" } else { "" };
                let row = Self::who(first.clone(), batch).into_iter().chain([index.into(), sample.into(), note.into()]);
                items.push(row.chain(self.dataset.row(sample)).chain(self.contents.cells(sample)));
            }
        }
        items
    }
}

impl Held {
    pub fn new(samples: &[u64], dataset: &Dataset, contents: &Contents) -> Self {
        let place = |&sample: &u64| dataset.stored(sample).map(|(file, row)| Stored { file, row });
        let stored = (!dataset.files.is_empty()).then(|| samples.iter().map(place).collect());
        Self { stored, contents: contents.json(samples) }
    }
}
