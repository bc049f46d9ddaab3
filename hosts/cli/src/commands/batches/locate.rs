//! `samedeal locate --lengths`: the places of samples in batches by length.

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
    // The epoch of a single answer: `--epoch`, or the epoch of the batcher, which a state may have set.
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
    /// The first token of the sample that is at this place.
    start: u32,
    /// The beginning of the count of `step`.
    counted_from: CountedFrom,
}

/// An epoch in parts: the parts that earlier groups planned, and the rest.
struct Parts {
    before: Vec<Part>,
    rest: Part,
    /// The epoch that is searched, if it is not the epoch of `rest`: the whole of it, as the world size of the options
    /// plans it.
    other: Option<Part>,
    /// The order of the epoch without batches, if a state has consumed windows. The state does not have the batches of
    /// these windows, so only positions say which samples were seen.
    order: Option<Sampler>,
}

/// The part of an epoch that one world size planned.
struct Part {
    batcher: Batcher,
    /// `steps`: how many steps of this part were or will be taken. `first`: the number of its first step, counted from
    /// `counted_from`.
    steps: u64,
    first: u64,
    counted_from: CountedFrom,
    /// The status of the samples in this part.
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
        // `samedeal explain` counts the steps of the rest on from the earlier groups; `locate` counts them from the
        // state.
        let first = if args.is_explained { first } else { 0 };
        let counted_from = if before.is_empty() || first > 0 { begin } else { CountedFrom::State };
        let rest = Part { batcher, steps: u64::MAX, first, counted_from, status: Status::Upcoming };
        Ok(Self { before, rest, other: None, order })
    }

    /// How many positions were consumed before the open window; 0 without a state.
    fn consumed(&self) -> u64 {
        if self.order.is_some() { self.rest.batcher.consumed() } else { 0 }
    }

    /// Whether samples of the epoch were taken before.
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

    /// The batcher of the epoch that is searched, or of the rest of it.
    fn planned(&self) -> &Batcher {
        &self.other.as_ref().unwrap_or(&self.rest).batcher
    }

    fn find(&self, sample: u64, dataset: &Dataset) -> Result<LocatedIn<PlaceInBatches>, Problem> {
        // If `other` is none, `rest` has the epoch. Without a state, `before` is empty.
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
        // A sample without a place may be in a consumed window: the state does not have the batches of such windows.
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

/// The rows of the answer: one for each place, and one for each sample without a place. `told`: whether the rows have
/// the status of the sample even if all places are still to come. `several`: whether the rows have the epoch.
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
    /// The place in a batch of this part. The place is padding if its row is repeated; repeated rows are the last rows
    /// of a batch.
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
