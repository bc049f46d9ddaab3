//! Where in batches samples are.

use indicatif::ProgressBar;
use samedeal::{BatchPlace, Batcher, Sampler};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::plan;
use crate::args::dataset::Dataset;
use crate::args::deal::lists;
use crate::args::format::Format;
use crate::args::recipe::order_of;
use crate::commands::locate::{CountedFrom, LocateArgs, Located, LocatedIn, Status, in_epochs, rows};
use crate::read::lengths::Lengths;
use crate::write::{Cell, Items, Problem, counted, grouped, show};

/// `samedeal locate` with `--lengths`
pub fn run(args: &LocateArgs) -> Result<(), Problem> {
    let lengths = args.by_length.read(&args.epoch)?;
    let samples = args.samples(lengths.values.len() as u64);
    let mut parts = Parts::new(args, &lengths)?;
    let dataset = &lengths.dataset;
    // Without --resume and `samedeal explain`, that of --epoch.
    let own = args.epoch.deal.epochs.map_or(parts.rest.batcher.epoch(), |epochs| epochs.first);
    let epochs = args.epochs(own);
    let mut steps = Vec::new();
    let found = in_epochs(epochs, &samples, |epoch, sample| {
        parts.set_epoch(epoch)?;
        if steps.last().is_none_or(|(last, _)| *last != epoch) {
            steps.push((epoch, parts.planned().num_steps()?));
        }
        parts.find(sample, dataset)
    })?;
    let format = args.output.format();
    let is_told = format != Format::Table || parts.is_begun();
    let told = || {
        let begin = match parts.consumed() {
            0 => "the beginning of the epoch".to_owned(),
            from => format!("position {}, where the window of the state begins", grouped(from)),
        };
        let from = match args.is_explained {
            true => format!("all steps are counted from {begin}"),
            false => format!("steps to come are counted from the state on, steps seen from {begin}"),
        };
        let rest = &parts.rest.batcher;
        let (ranks, order) = (rest.world_size(), order_of(&rest.recipe()?));
        let lines = steps.iter().map(|&(epoch, steps)| {
            let steps = counted(steps, "step", "steps");
            match args.epoch.saved.is_none() || epoch != rest.epoch() {
                true => format!("epoch {epoch}: {steps}, {order}"),
                false => format!("epoch {epoch}: {steps} left on a world size of {ranks}, {order}; {from}"),
            }
        });
        Ok(lines.collect::<Vec<_>>().join("\n"))
    };
    let items = || items(&found, dataset, format, is_told, epochs.is_range);
    show(format, items, told, || Ok(Located { samples: &found }))
}

/// A place of a sample in batches by length, or of a part of it.
#[derive(Serialize, JsonSchema)]
pub struct PlaceInBatches {
    status: Status,
    step: u64,
    rank: u32,
    /// How many ranks there are, or were.
    world_size: u32,
    /// Number of the row in the batch.
    row: u32,
    index_in_row: u32,
    /// The first token of the sample that the place has.
    start: u32,
    /// From where `step` is counted.
    counted_from: CountedFrom,
}

/// The epoch as it was read: what was planned of it before, and what is left.
struct Parts {
    before: Vec<Part>,
    rest: Part,
    /// Another epoch, as this world size reads all of it.
    other: Option<Part>,
    /// The positions of the order, if there were windows before the open one: nothing says which batches these had.
    order: Option<Sampler>,
}

/// The part of an epoch that one world size planned.
struct Part {
    batcher: Batcher,
    /// How many steps of it were taken, or will be; the first of them comes so many steps after the one that others are counted from.
    steps: u64,
    first: u64,
    counted_from: CountedFrom,
    /// The status of samples in them.
    status: Status,
}

impl Parts {
    fn new(args: &LocateArgs, lengths: &Lengths) -> Result<Self, Problem> {
        let batcher = plan(&args.by_length, &args.epoch, 0, lengths)?;
        let consumed = args.epoch.saved.as_ref().and_then(|saved| saved.number("consumed")).unwrap_or(0);
        let order = if consumed == 0 { None } else { Some(order_alone(args, &batcher)?) };
        let begin = if order.is_some() { CountedFrom::Window } else { CountedFrom::Epoch };
        let (mut before, mut first, given) = (Vec::new(), 0_u64, lengths.given(&ProgressBar::hidden()));
        if let Some(saved) = &args.epoch.saved {
            for (number, past) in saved.history.iter().enumerate() {
                let batcher = args.by_length.past(&args.epoch.deal, given.clone(), saved, number)?;
                let (steps, status) = (past.steps, Status::Seen);
                before.push(Part { batcher, steps, first, counted_from: begin, status });
                first = first.saturating_add(past.steps);
            }
        }
        // `samedeal explain` counts all steps from the beginning of the epoch.
        let first = if args.is_explained { first } else { 0 };
        let counted_from = if before.is_empty() || first > 0 { begin } else { CountedFrom::State };
        let rest = Part { batcher, steps: u64::MAX, first, counted_from, status: Status::Upcoming };
        Ok(Self { before, rest, other: None, order })
    }

    /// How many positions came before the open window, if there is a state.
    fn consumed(&self) -> u64 {
        if self.order.is_some() { self.rest.batcher.consumed() } else { 0 }
    }

    /// Whether something was taken of the epoch.
    fn is_begun(&self) -> bool {
        self.order.is_some() || !self.before.is_empty()
    }

    fn set_epoch(&mut self, epoch: u64) -> Result<(), Problem> {
        let rest = &self.rest.batcher;
        if self.planned().epoch() != epoch {
            let status = if epoch < rest.epoch() { Status::Seen } else { Status::Upcoming };
            let part = |batcher| Part { batcher, steps: u64::MAX, first: 0, counted_from: CountedFrom::Epoch, status };
            self.other = if rest.epoch() == epoch { None } else { Some(part(rest.at_epoch(epoch)?)) };
        }
        Ok(())
    }

    /// The epoch that is searched, or what is left of it.
    fn planned(&self) -> &Batcher {
        &self.other.as_ref().unwrap_or(&self.rest).batcher
    }

    fn find(&self, sample: u64, dataset: &Dataset) -> Result<LocatedIn<PlaceInBatches>, Problem> {
        // Without a state, the epoch of the rest is the first of several.
        let parts = match &self.other {
            Some(other) => vec![other],
            None => self.before.iter().chain([&self.rest]).collect(),
        };
        let mut places = Vec::new();
        for part in parts {
            let found = part.batcher.locate(sample)?.into_iter().filter(|place| place.step < part.steps);
            for place in found {
                places.push(PlaceInBatches::new(part, place)?);
            }
        }
        // Or in a window before the open one of a state, which does not say the batch.
        let is_passed = match &self.order {
            Some(order) if places.is_empty() && self.other.is_none() => {
                order.fate(sample, 1, 0)?.places.iter().any(|place| place.position < self.consumed())
            }
            _ => false,
        };
        let without = if is_passed { Status::Seen } else { Status::Dropped };
        // The sample has the status of its first place that is not padding.
        let real = places.iter().find(|place| place.status != Status::Padding);
        let status = real.or(places.first()).map_or(without, |place| place.status);
        Ok(LocatedIn::new(self.planned().epoch(), sample, status, Some(places), dataset))
    }
}

/// The order of the epoch, without batches.
fn order_alone(args: &LocateArgs, batcher: &Batcher) -> Result<Sampler, Problem> {
    let recipe: Value = serde_json::from_str(&batcher.recipe()?).unwrap_or_default();
    let builder = Sampler::from_recipe(json!({ "order": recipe["order"] }).to_string()).epoch(batcher.epoch());
    let lists = lists(&args.epoch.deal.list)?.into_iter().filter(|(path, _)| path.as_str() != "boundaries");
    Ok(lists.fold(builder, |it, (path, list)| it.list(path, list)).build()?)
}

/// A row for every place, or for a sample that has none; `told` if each is to say what becomes of the sample, `several` if its epoch.
fn items(found: &[LocatedIn<PlaceInBatches>], dataset: &Dataset, format: Format, told: bool, several: bool) -> Items {
    let is_plain = |one: &LocatedIn<PlaceInBatches>| {
        let mut statuses = one.places.iter().flatten().map(|place| place.status).peekable();
        statuses.peek().is_some() && statuses.all(|status| status == Status::Upcoming)
    };
    let told = told || !found.iter().all(is_plain);
    let columns = [
        ("step", true),
        ("rank", true),
        ("world size", told || format != Format::Table),
        ("row", true),
        ("index in row", true),
        ("start", true),
    ];
    rows(found, dataset, [several, told], &columns, &["file", "row in file"], |place| {
        let &PlaceInBatches { status, step, rank, world_size, row, index_in_row, start, .. } = place;
        let cells = [rank, world_size, row, index_in_row, start].map(Cell::from);
        (status, [step.into()].into_iter().chain(cells).collect())
    })
}

impl PlaceInBatches {
    /// The last rows of a batch may be repeated.
    fn new(part: &Part, place: BatchPlace) -> Result<Self, Problem> {
        let &Part { ref batcher, first, counted_from, status, .. } = part;
        let BatchPlace { step, rank, row, index_in_row, start, .. } = place;
        let batch = batcher.batch_of(rank, step)?;
        let is_repeated = u64::from(row) + u64::from(batch.repeated) >= batch.row_ends.len() as u64;
        let status = if is_repeated { Status::Padding } else { status };
        let (step, world_size) = (first + step, batcher.world_size());
        Ok(Self { status, step, rank, world_size, row, index_in_row, start, counted_from })
    }
}
