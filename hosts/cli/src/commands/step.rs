//! `samedeal step`: what all ranks read in a step.

use std::iter::once;
use std::ops::Range;

use clap::Args;
use samedeal::{Sampler, Stretch};
use serde_json::{Map, Value, json};

use crate::args::by_length::{ByLengthArgs, Others};
use crate::args::dataset::{Dataset, DatasetArgs};
use crate::args::deal::{DealArgs, SHARDED};
use crate::args::format::{Format, Output};
use crate::args::values::{number, within};
use crate::args::workers::WorkersArgs;
use crate::commands::locate::Status;
use crate::commands::numbers::abridged;
use crate::commands::state::ResumeArgs;
use crate::read::contents::Contents;
use crate::write::items::{Cell, Items};
use crate::write::output::{counted, grouped, print};
use crate::write::problem::Problem;

/// How many ranks, or workers of each, are gone through.
const MOST: u32 = 1 << 16;
/// How many epochs are planned to find a step that is counted over epochs, and to say which one it would be.
const EPOCHS: u64 = 10_000;
const EPOCHS_TOLD: u64 = 16;

#[derive(Args)]
pub struct StepArgs {
    /// Number of the step in its epoch, from 0 on; with --resume, in what is left of the epoch
    #[arg(value_name = "STEP", value_parser = number, allow_negative_numbers = true)]
    pub step: u64,
    #[command(flatten)]
    pub dataset: DatasetArgs,
    #[command(flatten)]
    pub deal: DealArgs,
    #[command(flatten)]
    pub resume: ResumeArgs,
    #[command(flatten)]
    pub workers: WorkersArgs,
    /// STEP is counted over epochs: it goes on where --epoch or --resume ends
    #[arg(long)]
    pub global: bool,
    /// What one of the ranks reads, and not all
    #[arg(long, value_parser = within(0, u32::MAX), allow_negative_numbers = true)]
    pub rank: Option<u32>,
    /// Samples in a batch
    #[arg(long, value_name = "SIZE", value_parser = within(1, u32::MAX), allow_negative_numbers = true)]
    #[arg(required_unless_present = "lengths")]
    pub batch_size: Option<u32>,
    /// Leave out a last, partial batch
    #[arg(long)]
    pub drop_last: bool,
    /// Show the beginning of what this column of Parquet files holds of each sample
    #[arg(long, value_name = "NAME")]
    pub column: Option<String>,
    #[command(flatten)]
    pub by_length: ByLengthArgs,
    #[command(flatten)]
    pub output: Output,
    /// With --lengths: what was taken before the world whose step it is, and in which epoch.
    #[arg(skip)]
    pub past: Option<(u64, Vec<Stretch>)>,
    /// How many steps came before those that are counted here.
    #[arg(skip)]
    pub first: u64,
    /// Whether the step was read before, or is to come.
    #[arg(skip)]
    pub status: Option<Status>,
}

impl<'a> From<&'a StepArgs> for Others<'a> {
    fn from(args: &'a StepArgs) -> Self {
        let StepArgs { dataset, deal, batch_size, drop_last, workers, .. } = args;
        Self { dataset, deal, batch_size: *batch_size, drop_last: *drop_last, workers: workers.workers.is_some() }
    }
}

impl StepArgs {
    /// The ranks that are asked for.
    pub fn ranks(&self) -> Result<Range<u32>, Problem> {
        let world = self.deal.world;
        match self.rank {
            Some(rank) if rank < world => Ok(rank..rank + 1),
            Some(rank) => Err(Problem::message(format!("--rank is {rank}; allowed: 0 to {}", world.saturating_sub(1)))),
            None if world > MOST => {
                Err(Problem::message(format!("--world is {world}, too many to show them all; name one with --rank")))
            }
            None => Ok(0..world),
        }
    }

    /// What the samples hold, if a column is named.
    pub fn contents(&self, dataset: &Dataset, samples: impl Iterator<Item = u64>) -> Result<Option<Contents>, Problem> {
        self.column.as_ref().map(|column| Contents::read(dataset, column, samples)).transpose()
    }

    /// Which step of how many it is, for people.
    pub fn which(&self, step: u64, steps: u64, epoch: u64, is_rest: bool) -> String {
        let of = if is_rest { "what is left of epoch" } else { "epoch" };
        let (order, seed) = (self.deal.order(), self.deal.seed());
        let [step, steps] = [step, steps].map(|number| grouped(number.saturating_add(self.first)));
        let status = self.status.map_or(String::new(), |status| format!(" ({})", status.name()));
        format!("step {step} of the {steps} of {of} {epoch}{status}, order {order}, seed {seed}")
    }

    /// What a JSON answer begins with.
    pub fn head(&self, step: u64, steps: u64, epoch: u64) -> Value {
        let [step, steps] = [step, steps].map(|number| number.saturating_add(self.first));
        let mut head = json!({ "epoch": epoch, "step": step, "steps": steps });
        if let Some(status) = self.status {
            head["status"] = status.name().into();
        }
        head
    }
}

/// The steps of epochs, one epoch after the other.
pub trait Steps {
    /// Whether every whole epoch has as many as any other.
    const ALIKE: bool;
    fn epoch(&self) -> u64;
    fn set_epoch(&mut self, epoch: u64) -> Result<(), Problem>;
    /// Those of the epoch, or of what is left of it.
    fn steps(&mut self) -> Result<u64, Problem>;
}

/// Moves to the epoch of the step that is asked for, and gives its number there.
pub fn find(epochs: &mut impl Steps, args: &StepArgs) -> Result<u64, Problem> {
    let (epoch, steps) = (epochs.epoch(), epochs.steps()?);
    if args.step < steps {
        return Ok(args.step);
    }
    let number = args.step;
    if args.global {
        let found = seek(epochs, number, EPOCHS)?;
        let last = epochs.epoch();
        return found.ok_or_else(|| {
            Problem::message(format!("STEP is {number}, and not in the epochs {epoch} to {last}; name a later --epoch"))
        });
    }
    let first = args.first;
    let allowed = match steps {
        0 => format!("none, since no rank has a batch in epoch {epoch}"),
        _ => format!("{first} to {} in epoch {epoch}", (steps - 1).saturating_add(first)),
    };
    // No more than a hint, which there is no need for where it cannot be had.
    let hint = match seek(epochs, number, EPOCHS_TOLD) {
        Ok(Some(step)) if args.status.is_none() => {
            format!("; counted over epochs, it is step {step} of epoch {}: add --global", epochs.epoch())
        }
        _ => String::new(),
    };
    let number = number.saturating_add(first);
    Err(Problem::message(format!("STEP is {number}; allowed: {allowed}{hint}")))
}

/// The same for a step that is counted over epochs; none if it is in none of so many.
fn seek<S: Steps>(epochs: &mut S, mut step: u64, most: u64) -> Result<Option<u64>, Problem> {
    for passed in 0..most {
        let steps = epochs.steps()?;
        if step < steps {
            return Ok(Some(step));
        }
        // Of the first one, only a rest may be left.
        let skipped = if S::ALIKE && passed > 0 { step.checked_div(steps) } else { Some(1) };
        let Some((skipped, next)) = skipped.and_then(|skipped| Some((skipped, epochs.epoch().checked_add(skipped)?)))
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
    let dataset = Dataset::new(&args.dataset)?;
    let mut readers = Readers::new(args, &dataset)?;
    let ranks = args.ranks()?;
    let step = find(&mut readers, args)?;
    let parts = ranks.map(|rank| readers.part(rank, step)).collect::<Result<Vec<_>, _>>()?;
    let contents = args.contents(&dataset, parts.iter().flat_map(|part| part.samples.iter().copied()))?;
    let answer = Answer { args, dataset: &dataset, parts: &parts, contents: contents.as_ref() };
    let (epoch, steps) = (readers.epoch(), readers.steps()?);
    match args.output.format() {
        Format::Table => {
            let is_short = dataset.files.is_empty();
            print(if is_short { answer.short() } else { answer.items(false) }.table())?;
            let which = args.which(step, steps, epoch, readers.sampler.config().consumed > 0);
            let samples = parts.iter().map(|part| part.samples.len() as u64).sum();
            let who = match args.rank {
                Some(rank) => format!("rank {rank} of {}", args.deal.world),
                None => counted(args.deal.world.into(), "rank", "ranks"),
            };
            let more = if is_short { "; --format text shows all of them" } else { "" };
            print(format!("{which}: {} on {who}{more}", counted(samples, "sample", "samples")))?;
            // What a ShardedDataset reads is another order, and nothing would look wrong.
            match is_short || args.deal.order() == SHARDED {
                true => Ok(()),
                false => print("(of a ShardedDataset: --order sharded, with its --seed, and --workers of the loader)"),
            }
        }
        Format::Text => print(answer.items(true).lines()),
        Format::Json => {
            let mut object = args.head(step, steps, epoch);
            object["ranks"] = answer.json();
            print(object)
        }
    }
}

/// The readers of fixed batches: ranks, or the workers of each.
struct Readers {
    sampler: Sampler,
    world: u32,
    workers: Option<u32>,
    size: u32,
    drop_last: bool,
}

impl Readers {
    fn new(args: &StepArgs, dataset: &Dataset) -> Result<Self, Problem> {
        let sampler = args.resume.sampler(args.workers.sampler(&args.deal, dataset)?)?;
        // What --lengths would make up for; clap has seen to it.
        let size = args.batch_size.ok_or_else(|| Problem::message("--batch-size is missing"))?;
        let workers = args.workers.workers;
        match workers {
            Some(workers) if workers > MOST => {
                Err(Problem::message(format!("--workers is {workers}; allowed here: 1 to {MOST}")))
            }
            _ => Ok(Self { sampler, world: args.deal.world, workers, size, drop_last: args.drop_last }),
        }
    }

    fn num_batches(&mut self, rank: u32, worker: u32) -> Result<u64, Problem> {
        self.sampler.set_rank(rank + self.world * worker)?;
        Ok(self.sampler.num_batches(self.size, self.drop_last)?)
    }

    /// What a rank reads in a step: a loader takes the batches of its workers in turn.
    fn part(&mut self, rank: u32, step: u64) -> Result<Part, Problem> {
        let workers = u64::from(self.workers.unwrap_or(1));
        let (worker, batch) = ((step % workers) as u32, step / workers);
        let mut samples = Vec::new();
        if batch < self.num_batches(rank, worker)? {
            samples = self.sampler.batch::<u64>(batch, self.size, self.drop_last)?;
        }
        let end = batch * u64::from(self.size) + samples.len() as u64;
        let padding = end.saturating_sub(self.sampler.num_samples() - self.sampler.num_padding());
        let padding = padding.min(samples.len() as u64);
        Ok(Part { rank, worker: self.workers.map(|_| worker), samples, padding })
    }
}

impl Steps for Readers {
    const ALIKE: bool = true;

    fn epoch(&self) -> u64 {
        self.sampler.config().epoch
    }

    fn set_epoch(&mut self, epoch: u64) -> Result<(), Problem> {
        Ok(self.sampler.set_epoch(epoch)?)
    }

    /// Those of rank 0, since no rank has more.
    fn steps(&mut self) -> Result<u64, Problem> {
        (0..self.workers.unwrap_or(1)).map(|worker| self.num_batches(0, worker)).sum()
    }
}

/// What a rank reads in a step.
struct Part {
    rank: u32,
    worker: Option<u32>,
    samples: Vec<u64>,
    /// How many of them, the last ones, are padding.
    padding: u64,
}

impl Part {
    /// The samples, each with its number and whether it is padding.
    fn slots(&self) -> impl Iterator<Item = (u64, u64, bool)> {
        let real = self.samples.len() as u64 - self.padding;
        (0..).zip(&self.samples).map(move |(slot, &sample)| (slot, sample, slot >= real))
    }

    fn who(&self) -> impl Iterator<Item = Cell> {
        once(self.rank.into()).chain(self.worker.map(Cell::from))
    }
}

struct Answer<'a> {
    args: &'a StepArgs,
    dataset: &'a Dataset,
    parts: &'a [Part],
    contents: Option<&'a Contents>,
}

impl Answer<'_> {
    fn columns<'a>(&'a self, more: &[&'a str]) -> Items {
        let who: &[&str] = if self.args.workers.workers.is_some() { &["rank", "worker"] } else { &["rank"] };
        Items::new([who, more].concat())
    }

    /// A row for each rank.
    fn short(&self) -> Items {
        let mut items = self.columns(&["size", "samples"]);
        for part in self.parts {
            let mut samples = abridged(&part.samples);
            if part.padding > 0 {
                samples.push_str(&format!(" (the last {} padding)", if part.padding == 1 { "is" } else { "are" }));
            }
            items.push(part.who().chain([(part.samples.len() as u64).into(), samples.into()]));
        }
        items
    }

    /// A row for each sample; `noted` if one for each is also to say that it is no padding.
    fn items(&self, noted: bool) -> Items {
        let noted = noted || self.parts.iter().any(|part| part.padding > 0);
        let note: &[&str] = if noted { &["note"] } else { &[] };
        let column = self.args.column.as_deref();
        let mut items = self.columns(&[&["slot", "sample"], note, self.dataset.columns(), column.as_slice()].concat());
        for part in self.parts {
            for (slot, sample, is_padding) in part.slots() {
                let note = noted.then(|| Cell::from(if is_padding { "padding" } else { "" }));
                let row = part.who().chain([slot.into(), sample.into()]).chain(note).chain(self.dataset.row(sample));
                items.push(row.chain(self.contents.map(|contents| contents.get(sample).into())));
            }
        }
        items
    }

    fn json(&self) -> Value {
        let json_of = |part: &Part| {
            let mut object = Map::new();
            object.insert("rank".to_owned(), part.rank.into());
            if let Some(worker) = part.worker {
                object.insert("worker".to_owned(), worker.into());
            }
            object.insert("samples".to_owned(), part.samples.clone().into());
            object.insert("padding".to_owned(), part.padding.into());
            stored(&mut object, &part.samples, self.dataset, self.contents);
            Value::Object(object)
        };
        self.parts.iter().map(json_of).collect()
    }
}

/// Adds where samples are stored, and what they hold, to an answer.
pub fn stored(object: &mut Map<String, Value>, samples: &[u64], dataset: &Dataset, contents: Option<&Contents>) {
    if !dataset.files.is_empty() {
        let place = |&sample: &u64| {
            dataset.place(sample).map(|(path, row)| json!({ "file": path.display().to_string(), "row": row }))
        };
        object.insert("stored".to_owned(), samples.iter().map(place).collect::<Value>());
    }
    if let Some(contents) = contents {
        let held = samples.iter().map(|&sample| contents.get(sample)).collect::<Value>();
        object.insert("contents".to_owned(), held);
    }
}
