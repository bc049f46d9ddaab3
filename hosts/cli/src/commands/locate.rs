//! `samedeal locate`: when and where samples are seen.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use clap::{Arg, Args};
use samedeal::{Remainder, Sampler};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::by_length::ByLengthArgs;
use crate::args::dataset::Dataset;
use crate::args::deal::{AllRanks, EpochArgs, OF_SHARDED};
use crate::args::format::{Format, Output};
use crate::args::values::{Numbers, Samples, samples};
use crate::commands::readers::{Reader, Readers, Steps, left};
use crate::read::checkpoint::Saved;
use crate::write::{Cell, Items, Problem, counted, progress, show};

/// How many repetitions of a padded sample a table shows; a small dataset on a large world has thousands.
const SHOWN: u32 = 8;
/// How many places of a sample a table shows if the order may have it several times.
const PLACES: usize = 32;

#[derive(Args)]
pub struct LocateArgs {
    #[command(flatten)]
    pub epoch: EpochArgs,
    /// The samples to find; may be repeated, or separated by commas. 14,822 is one number if there is such a sample
    #[arg(long, value_name = "INDEX", value_parser = samples, required = true)]
    pub sample: Vec<Samples>,
    /// How far this world size has come, where that is known.
    #[arg(skip)]
    pub reached: Option<Reached>,
    /// Whether `samedeal explain` asks, which counts steps from the beginning of the epoch.
    #[arg(skip)]
    pub is_explained: bool,
    #[command(flatten)]
    pub ranks: AllRanks,
    #[command(flatten)]
    pub by_length: ByLengthArgs,
    #[command(flatten)]
    pub output: Output,
}

/// Explains --epoch, which takes several here.
pub fn locate_epochs(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "epoch" => arg
            .help(
                "Number of the epoch, or several: 0..4 for the epochs 0 to 3, 0..=4 for the epochs 0 to 4 [default: 0]",
            )
            .value_name("EPOCH|RANGE"),
        _ => arg,
    }
}

impl LocateArgs {
    /// The epochs that are asked for; if that is one, its number, which a state may have decided.
    pub fn epochs(&self, one: u64) -> Numbers {
        self.epoch.deal.epochs.filter(|epochs| epochs.is_range).unwrap_or(Numbers::one(one))
    }

    /// What the answer is of, for people: the order and the seed may have been assumed.
    fn of(epochs: Numbers, readers: &Readers, samples: u64) -> Result<String, Problem> {
        let epochs = match epochs {
            Numbers { first, last, .. } if first < last => format!("epochs {first} to {last}"),
            Numbers { first, .. } => format!("epoch {first}"),
        };
        let (ranks, samples) =
            (counted(readers.world_size.into(), "rank", "ranks"), counted(samples, "sample", "samples"));
        Ok(format!("{epochs}, {ranks}, {samples}, {}", readers.order()?))
    }

    /// The samples that are asked for, of so many.
    pub fn samples(&self, count: u64) -> Vec<u64> {
        self.sample.iter().flat_map(|samples| samples.of(count)).collect()
    }
}

/// Samples, in each epoch that was asked for.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SamplesWith{P}")]
pub struct Located<P> {
    pub samples: Vec<LocatedIn<P>>,
}

/// A sample in an epoch.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SampleWith{P}")]
pub struct LocatedIn<P> {
    pub epoch: u64,
    pub sample: u64,
    pub status: Status,
    /// How many more times it is dealt, as padding. Not there with `--lengths`, and without a world size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies: Option<u32>,
    /// Not there if the state does not say positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<Vec<P>>,
    /// Where it is stored, if files are named: the path of the file, and the number of the row there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
}

impl<P> LocatedIn<P> {
    pub fn new(epoch: u64, sample: u64, status: Status, places: Option<Vec<P>>, dataset: &Dataset) -> Self {
        let (file, row) = dataset.stored(sample).unzip();
        Self { epoch, sample, status, copies: None, places, file, row }
    }
}

/// A place of a sample in the batches of a rank. A number that is not known is null; so is the batch of a place that
/// `--drop-last` leaves out.
#[derive(Serialize, JsonSchema)]
pub struct Place {
    /// In the order of the epoch.
    position: Option<u64>,
    status: Status,
    rank: Option<u32>,
    /// Number of the sample among those of the rank, or of the worker.
    index: Option<u64>,
    /// Number of the batch among those of the rank.
    batch: Option<u64>,
    index_in_batch: Option<u64>,
    /// From where `index` and `batch` are counted.
    counted_from: Option<CountedFrom>,
    /// With `--workers`: the loader worker, and the number of the batch among its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<Option<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worker_batch: Option<Option<u64>>,
}

/// From where steps, batches and samples are counted: the beginning of the epoch, the state that is resumed, or the open window of a
/// state of batches.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CountedFrom {
    Epoch,
    State,
    Window,
}

/// What becomes of a sample in the epoch, or of one of its places.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It was consumed before.
    Seen,
    #[serde(rename = "to come")]
    ToCome,
    /// It is dealt again, to fill up the last step.
    Padding,
    /// No rank sees it: the remainder is dropped, or the last batch is left out.
    Dropped,
    /// The epoch does not have it, as with `exclude`, or with a blend that did not draw it.
    Absent,
}

impl Status {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seen => "seen",
            Self::ToCome => "to come",
            Self::Padding => "padding",
            Self::Dropped => "dropped",
            Self::Absent => "absent",
        }
    }
}

/// How far a state is in all epochs: those before its own were read to their ends.
#[derive(Clone, Copy)]
pub struct Reached {
    pub epoch: u64,
    /// Positions, or steps of all ranks.
    pub consumed: u64,
}

impl Reached {
    /// What became of a position or a step that is no padding.
    pub fn status(self, epoch: u64, number: u64) -> Status {
        match epoch.cmp(&self.epoch) {
            Ordering::Less => Status::Seen,
            Ordering::Equal if number < self.consumed => Status::Seen,
            Ordering::Equal | Ordering::Greater => Status::ToCome,
        }
    }
}

/// `samedeal locate`
pub fn run(args: &LocateArgs) -> Result<(), Problem> {
    if args.epoch.drop_last && args.epoch.batch_size.is_none() && args.epoch.reading().is_none() {
        return Err(Problem::message("--drop-last needs batches; add --batch-size"));
    }
    let (dataset, readers) = args.epoch.open()?;
    let split = readers.workers.is_some();
    let samples = args.samples(dataset.samples);
    let epochs = args.epochs(readers.epoch()?);
    let mut search = Search::new(args, &dataset, readers, &samples)?;
    let found = in_epochs(epochs, &samples, |epoch, sample| {
        search.set_epoch(epoch)?;
        search.find(sample)
    })?;
    let (format, several) = (args.output.format(), epochs.is_range);
    let is_told = format != Format::Table || args.epoch.saved.is_some() || args.reached.is_some();
    let told = || {
        let mut notes = search.notes(&found, several);
        notes.push(LocateArgs::of(epochs, &search.readers, dataset.samples)?);
        // What a ShardedDataset reads is another order, and nothing would look wrong.
        notes.extend(args.epoch.is_unsharded(&dataset).then(|| OF_SHARDED.to_owned()));
        Ok(notes.join("\n"))
    };
    let items = || items(&found, &dataset, split, format, is_told, several);
    show(format, items, told, || {
        let from = if args.epoch.saved.is_some() { CountedFrom::State } else { CountedFrom::Epoch };
        let samples = found.iter().map(|one| {
            let places = one.places.iter().map(|place| Place::new(place, split, from)).collect();
            let known = LocatedIn::new(one.epoch, one.sample, one.status, Some(places), &dataset);
            LocatedIn { copies: Some(one.copies), ..known }
        });
        Ok(Located { samples: samples.collect() })
    })
}

/// What is found of every sample in every epoch that is asked for.
pub fn in_epochs<T>(
    epochs: Numbers,
    samples: &[u64],
    mut find: impl FnMut(u64, u64) -> Result<T, Problem>,
) -> Result<Vec<T>, Problem> {
    let bar = progress::bar("searching", epochs.count() * samples.len() as u64);
    let mut found = Vec::new();
    for epoch in epochs.iter() {
        for &sample in samples {
            found.push(find(epoch, sample)?);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(found)
}

/// What becomes of a sample.
struct Found {
    epoch: u64,
    sample: u64,
    status: Status,
    /// How many more times it is dealt, as padding.
    copies: u32,
    places: Vec<Seen>,
    /// How many more places a table does not show.
    hidden: usize,
}

/// A place of a sample.
#[derive(Clone, Copy)]
struct Seen {
    /// In the order of the epoch; none for a dataset in files, whose state has no numbers for it.
    position: Option<u64>,
    status: Status,
    /// Who sees it, and when; none if that was before the state, which does not say it.
    spot: Option<Spot>,
}

#[derive(Clone, Copy)]
struct Spot {
    rank: u32,
    worker: u32,
    index: u64,
    /// The batch among those of the worker, and among those of the loader of its rank.
    worker_batch: u64,
    batch: u64,
    index_in_batch: u64,
    copies: u32,
    /// False if the place is in a last, partial batch that is left out.
    in_batch: bool,
}

impl Seen {
    /// By the number of the sample among those of a reader; the batch is still that of the worker.
    fn in_files(reader: &Reader<'_>, index: u64) -> Self {
        let &Reader { rank, worker, size, .. } = reader;
        let (worker_batch, index_in_batch) = (index / size, index % size);
        let in_batch = worker_batch < reader.batches;
        let batch = worker_batch;
        let status = match (reader.is_padding(index), in_batch) {
            (true, _) => Status::Padding,
            (false, true) => Status::ToCome,
            (false, false) => Status::Dropped,
        };
        let spot = Spot { rank, worker, index, worker_batch, batch, index_in_batch, copies: 0, in_batch };
        Self { position: None, status, spot: Some(spot) }
    }
}

/// Looks for samples.
struct Search<'a> {
    readers: Readers,
    args: &'a LocateArgs,
    /// Of a dataset in files: where the samples are, and which of them are left.
    scanned: BTreeMap<u64, Vec<Seen>>,
    left: BTreeSet<u64>,
}

impl<'a> Search<'a> {
    fn new(args: &'a LocateArgs, dataset: &Dataset, mut readers: Readers, asked: &[u64]) -> Result<Self, Problem> {
        let (mut scanned, mut unread) = (BTreeMap::<u64, Vec<Seen>>::new(), BTreeSet::new());
        if let Some(saved) = args.epoch.reading() {
            let asked = asked.iter().copied().collect::<BTreeSet<_>>();
            let spinner = progress::spinner("searching");
            unread = to_come(saved, dataset, &asked)?;
            for rank in 0..readers.world_size {
                for worker in 0..readers.workers.unwrap_or(1) {
                    let reader = readers.reader(rank, worker)?;
                    let mut found = Vec::new();
                    for window in reader.windows(0, reader.samples) {
                        let (start, window) = window?;
                        let asked = (start..).zip(window).filter(|(_, sample)| asked.contains(sample));
                        found.extend(asked.map(|(index, sample)| (sample, Seen::in_files(&reader, index))));
                    }
                    for (sample, mut seen) in found {
                        if let Some(spot) = seen.spot.as_mut().filter(|spot| spot.in_batch) {
                            spot.batch = readers.step_of(rank, worker, spot.worker_batch)?;
                        }
                        scanned.entry(sample).or_default().push(seen);
                    }
                }
            }
            spinner.finish_and_clear();
        }
        Ok(Self { readers, args, scanned, left: unread })
    }

    fn set_epoch(&mut self, epoch: u64) -> Result<(), Problem> {
        if self.readers.epoch()? != epoch {
            self.readers.set_epoch(epoch)?;
        }
        Ok(())
    }

    fn find(&mut self, sample: u64) -> Result<Found, Problem> {
        let (args, size, epoch) = (self.args, self.readers.batch_size, self.readers.epoch()?);
        let mut places = Vec::new();
        let Some(sampler) = self.readers.sampler() else {
            if !self.left.contains(&sample) {
                places.push(Seen { position: None, status: Status::Seen, spot: None });
            }
            places.extend(self.scanned.get(&sample).into_iter().flatten());
            places.sort_by_key(|place| place.status == Status::Padding);
            for (after, place) in (0..).zip(places.iter_mut().rev()) {
                place.spot.iter_mut().for_each(|spot| spot.copies = after);
            }
            let copies = places.iter().filter(|place| place.status == Status::Padding).count() as u32;
            let status = places.first().map_or(Status::Dropped, |place| place.status);
            return Ok(Found { epoch, sample, status, copies, places, hidden: 0 });
        };
        let (is_table, is_composed) = (args.output.format() == Format::Table, args.epoch.deal.is_composed);
        let fate = sampler.fate(sample, size, 0)?;
        if !fate.complete && !is_table {
            return Err(Problem::message(format!(
                "sample {sample} has too many places in this epoch; a table shows some of them"
            )));
        }
        let first_padding = fate.places.len() - fate.num_padding as usize;
        // Those after the last one that is told are padding too.
        let copies = fate.num_padding + fate.places.last().map_or(0, |place| place.copies);
        let dealt = fate.places.iter().enumerate().map(|(number, place)| (Some(number), place.position));
        let all = fate.before.iter().map(|&position| (None, position)).chain(dealt);
        let most = match (is_table, is_composed) {
            (false, _) => usize::MAX,
            (true, true) => PLACES,
            (true, false) => SHOWN as usize + 1,
        };
        for (number, position) in all.take(most) {
            let spot = number.map(|number| self.spot(&fate.places[number])).transpose()?;
            let status = match spot {
                None => Status::Seen,
                Some(_) if number >= Some(first_padding) => Status::Padding,
                Some(spot) if !spot.in_batch => Status::Dropped,
                Some(_) => args.reached.map_or(Status::ToCome, |reached| reached.status(epoch, position)),
            };
            places.push(Seen { position: Some(position), status, spot });
        }
        let without = if fate.status == "absent" { Status::Absent } else { Status::Dropped };
        let hidden = if is_composed { fate.before.len() + fate.places.len() - places.len() } else { 0 };
        let status = places.first().map_or(without, |place| place.status);
        Ok(Found { epoch, sample, status, copies, places, hidden })
    }

    /// Who sees a place of the sampler, and when: its ranks are the workers of all ranks.
    fn spot(&mut self, place: &samedeal::Place) -> Result<Spot, Problem> {
        let ranks = self.readers.world_size;
        let (rank, worker) = (place.rank % ranks, place.rank / ranks);
        let in_batch = place.batch < self.readers.reader(rank, worker)?.batches;
        let batch = if in_batch { self.readers.step_of(rank, worker, place.batch)? } else { place.batch };
        let (index, worker_batch, index_in_batch) = (place.index, place.batch, place.index_in_batch.into());
        Ok(Spot { rank, worker, index, worker_batch, batch, index_in_batch, copies: place.copies, in_batch })
    }

    /// What the table does not say.
    fn notes(&self, found: &[Found], several: bool) -> Vec<String> {
        let of = |one: &Found| match several {
            true => format!("sample {} in epoch {}", one.sample, one.epoch),
            false => format!("sample {}", one.sample),
        };
        let mut notes = Vec::new();
        for one in found.iter().filter(|one| one.hidden > 0) {
            let more = counted(one.hidden as u64, "more place", "more places");
            notes.push(format!("{} has {more} (--format text and json show all)", of(one)));
        }
        for one in found.iter().filter(|one| one.copies > SHOWN && one.hidden == 0) {
            let more = counted((one.copies - SHOWN).into(), "more time", "more times");
            notes.push(format!("{} is dealt {more}, as padding (--format text and json show all)", of(one)));
        }
        if found.iter().flat_map(|one| &one.places).any(|it| it.spot.is_some_and(|spot| !spot.in_batch)) {
            let left_out = "left out: in no batch, because --drop-last leaves out the last, partial one";
            notes.push(left_out.to_owned());
        }
        if self.args.epoch.saved.is_some() {
            if found.iter().any(|one| one.status == Status::Seen) {
                let told = "the state does not say by which rank or in which step. `samedeal explain FILE --sample N \
                            --world-size W --batch-size B` says it, for the world size that took the state";
                let of_files = "the state does not say by which rank or in which step";
                let told = if self.readers.sampler().is_some() { told } else { of_files };
                notes.push(format!("seen: consumed before the state; {told}"));
            }
            let is_over = |it: &Sampler| it.consumed() == it.epoch_length() && it.remainder() == Remainder::Drop;
            if self.readers.sampler().is_some_and(is_over) {
                notes.push(
                    "the epoch is over; with --remainder drop, up to world size - 1 of its samples were dropped".into(),
                );
            }
            if found.iter().any(|one| one.status == Status::ToCome) {
                notes.push("index and batch are counted from the state on".to_owned());
            }
        } else if self.args.is_explained {
            notes.push("index and batch are counted from the beginning of the epoch".to_owned());
        }
        notes
    }
}

/// Of some samples of a dataset in files, those that are to come. Costs what is left.
pub fn to_come(saved: &Saved, dataset: &Dataset, asked: &BTreeSet<u64>) -> Result<BTreeSet<u64>, Problem> {
    if let Some(sample) = asked.last().filter(|&&sample| sample >= dataset.samples) {
        let allowed =
            dataset.samples.checked_sub(1).map_or("nothing, there are none".into(), |last| format!("0 to {last}"));
        return Err(Problem::message(format!("--sample is {sample}; allowed: {allowed}")));
    }
    let mut left = left(saved, dataset)?;
    let mut found = BTreeSet::new();
    let reader = left.reader(0, 0)?;
    for window in reader.windows(0, reader.samples) {
        found.extend(window?.1.into_iter().filter(|sample| asked.contains(sample)));
        if found.len() == asked.len() {
            break;
        }
    }
    Ok(found)
}

/// A row for every place, or for a sample that has none. For programs, the last part says how many more times the sample is
/// dealt. `told` is whether rows have to say what becomes of the sample, which they do where it is not the same of all, and `several`
/// whether they say the epoch.
fn items(found: &[Found], dataset: &Dataset, split: bool, format: Format, told: bool, several: bool) -> Items {
    let is_plain = |one: &Found| {
        one.places.iter().map(|place| place.status).chain([one.status]).all(|status| status == Status::ToCome)
    };
    let told = told || !found.iter().all(is_plain);
    let is_table = format == Format::Table;
    let has_position = !is_table || found.iter().flat_map(|one| &one.places).any(|place| place.position.is_some());
    let columns = [
        ("epoch", several),
        ("sample", true),
        ("status", told),
        ("position", has_position),
        ("rank", true),
        ("worker", split),
        ("index", true),
        ("worker batch", split),
        ("batch", true),
        ("index in batch", true),
        ("copies", !is_table),
    ];
    let shown = columns.iter().filter(|(_, is_shown)| *is_shown).map(|(name, _)| *name);
    let mut items = Items::new(shown.chain(dataset.columns().iter().copied()));
    let none = || Cell::from("");
    for one in found {
        let empty = Seen { position: None, status: one.status, spot: None };
        let places = if one.places.is_empty() { std::slice::from_ref(&empty) } else { &one.places };
        for &Seen { position, status, spot } in places {
            let of = |part: fn(Spot) -> Cell| spot.map_or_else(none, part);
            let in_batch = |part: fn(Spot) -> Cell| {
                of(if spot.is_some_and(|it| !it.in_batch) { |_| "left out".into() } else { part })
            };
            let inner = if spot.is_some_and(|it| !it.in_batch) { none() } else { of(|it| it.index_in_batch.into()) };
            let cells = [
                one.epoch.into(),
                one.sample.into(),
                status.name().into(),
                position.map_or_else(none, Cell::from),
                of(|it| it.rank.into()),
                of(|it| it.worker.into()),
                of(|it| it.index.into()),
                in_batch(|it| it.worker_batch.into()),
                in_batch(|it| it.batch.into()),
                inner,
                of(|it| it.copies.into()),
            ];
            let cells = cells.into_iter().zip(columns).filter(|(_, (_, is_shown))| *is_shown).map(|(cell, _)| cell);
            items.push(cells.chain(dataset.row(one.sample)));
        }
    }
    items
}

impl Place {
    fn new(&Seen { position, status, spot }: &Seen, split: bool, counted_from: CountedFrom) -> Self {
        let placed = spot.filter(|spot| spot.in_batch);
        Self {
            position,
            status,
            rank: spot.map(|it| it.rank),
            index: spot.map(|it| it.index),
            batch: placed.map(|it| it.batch),
            index_in_batch: placed.map(|it| it.index_in_batch),
            counted_from: spot.map(|_| counted_from),
            worker: split.then(|| spot.map(|it| it.worker)),
            worker_batch: split.then(|| placed.map(|it| it.worker_batch)),
        }
    }
}
