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
use crate::commands::readers::{Readers, Steps, left};
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
    /// The progress of this world size, if it is known.
    #[arg(skip)]
    pub reached: Option<Reached>,
    /// Whether the answer is for `samedeal explain`, which counts steps from the beginning of the epoch.
    #[arg(skip)]
    pub is_explained: bool,
    #[command(flatten)]
    pub ranks: AllRanks,
    #[command(flatten)]
    pub by_length: ByLengthArgs,
    #[command(flatten)]
    pub output: Output,
}

/// The help of `--epoch`, which takes several epochs in this subcommand.
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
    /// The epochs of the answer: the range of `--epoch`, or else the epoch `one`, which a state may have decided.
    pub fn epochs(&self, one: u64) -> Numbers {
        self.epoch.deal.epochs.filter(|epochs| epochs.is_range).unwrap_or(Numbers::one(one))
    }

    /// A line about the run of the answer. It names order and seed, because they may be defaults.
    fn of(epochs: Numbers, readers: &Readers, samples: u64) -> Result<String, Problem> {
        let epochs = match epochs {
            Numbers { first, last, .. } if first < last => format!("epochs {first} to {last}"),
            Numbers { first, .. } => format!("epoch {first}"),
        };
        let (ranks, samples) =
            (counted(readers.world_size.into(), "rank", "ranks"), counted(samples, "sample", "samples"));
        Ok(format!("{epochs}, {ranks}, {samples}, {}", readers.order()?))
    }

    /// The samples of `--sample`, in a dataset of `count` samples.
    pub fn samples(&self, count: u64) -> Vec<u64> {
        self.sample.iter().flat_map(|samples| samples.of(count)).collect()
    }
}

/// Samples, in each epoch that was asked for.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SamplesWith{P}")]
pub struct Located<'a, P> {
    pub samples: &'a [LocatedIn<P>],
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
    pub num_padding: Option<u32>,
    /// Not there if the state does not say positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<Vec<P>>,
    /// Where it is stored, if files are named: the path of the file, and the number of the row there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
    /// How many more places a table does not show.
    #[serde(skip)]
    hidden: usize,
}

impl<P> LocatedIn<P> {
    pub fn new(epoch: u64, sample: u64, status: Status, places: Option<Vec<P>>, dataset: &Dataset) -> Self {
        let (file, row) = dataset.stored(sample).unzip();
        Self { epoch, sample, status, num_padding: None, places, file, row, hidden: 0 }
    }
}

/// A place of a sample in the batches of a rank. A number that is not known is null; so is the batch of a place that
/// `--drop-last` leaves out.
#[derive(Clone, Serialize, JsonSchema)]
pub struct Place {
    /// The position in the order of the epoch.
    position: Option<u64>,
    status: Status,
    rank: Option<u32>,
    /// Number of the sample among those of the reader: of the rank, or of its worker.
    index_in_reader: Option<u64>,
    /// Number of the batch among those of the rank.
    batch: Option<u64>,
    index_in_batch: Option<u64>,
    /// The beginning of the counts of `index_in_reader` and `batch`.
    counted_from: Option<CountedFrom>,
    /// With `--workers`: the loader worker, and the number of the batch among its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<Option<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worker_batch: Option<Option<u64>>,
    /// How many more times the sample is dealt after this place.
    #[serde(skip)]
    num_padding: Option<u32>,
}

impl Place {
    /// A place at an unknown reader. `split`: whether ranks have workers.
    fn unseen(position: Option<u64>, status: Status, split: bool) -> Self {
        let worker = split.then_some(None);
        let (rank, index_in_reader, batch, index_in_batch, counted_from, num_padding) =
            (None, None, None, None, None, None);
        let worker_batch = split.then_some(None);
        Self {
            position,
            status,
            rank,
            index_in_reader,
            batch,
            index_in_batch,
            counted_from,
            worker,
            worker_batch,
            num_padding,
        }
    }

    /// Whether the place is in a last, partial batch that is left out.
    fn is_left_out(&self) -> bool {
        self.rank.is_some() && self.batch.is_none()
    }
}

/// The beginning of a count of steps, batches or samples: the beginning of the epoch, the state that is resumed, or the
/// open window of a state of batches.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CountedFrom {
    Epoch,
    State,
    Window,
}

/// The fate of a sample in the epoch, or of one of its places.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It was consumed before.
    Seen,
    #[serde(rename = "upcoming")]
    Upcoming,
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
            Self::Upcoming => "upcoming",
            Self::Padding => "padding",
            Self::Dropped => "dropped",
            Self::Absent => "absent",
        }
    }
}

/// The progress of a run: the epochs before `epoch` were read to their ends.
#[derive(Clone, Copy)]
pub struct Reached {
    pub epoch: u64,
    /// The positions, or steps of all ranks, that were read of `epoch`.
    pub consumed: u64,
}

impl Reached {
    /// The status of a position or a step, if it is no padding.
    pub fn status(self, epoch: u64, number: u64) -> Status {
        match epoch.cmp(&self.epoch) {
            Ordering::Less => Status::Seen,
            Ordering::Equal if number < self.consumed => Status::Seen,
            Ordering::Equal | Ordering::Greater => Status::Upcoming,
        }
    }
}

/// `samedeal locate`
pub fn run(args: &LocateArgs) -> Result<(), Problem> {
    if args.epoch.drop_last && args.epoch.batch_size.is_none() && args.epoch.reading().is_none() {
        return Err(Problem::message("--drop-last needs batches; add --batch-size"));
    }
    let (dataset, readers) = args.epoch.open()?;
    let samples = args.samples(dataset.samples);
    let epochs = args.epochs(readers.epoch()?);
    let mut search = Search::new(args, &dataset, readers, &samples)?;
    let samples = in_epochs(epochs, &samples, |epoch, sample| {
        search.set_epoch(epoch)?;
        search.find(sample)
    })?;
    let (format, several) = (args.output.format(), epochs.is_range);
    let told = || {
        let mut notes = search.notes(&samples, several);
        notes.push(LocateArgs::of(epochs, &search.readers, dataset.samples)?);
        // The answer is of the order of the options. A ShardedDataset reads the same files in the order `sharded`, which the
        // answer does not show, so a note says it.
        notes.extend(args.epoch.is_unsharded(&dataset).then(|| OF_SHARDED.to_owned()));
        Ok(notes.join("\n"))
    };
    show(format, || search.items(&samples, several), told, || Ok(Located { samples: &samples }))
}

/// The answers about every sample in every epoch that is asked for.
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

/// A search for samples, in one epoch at a time.
struct Search<'a> {
    readers: Readers,
    args: &'a LocateArgs,
    dataset: &'a Dataset,
    /// With the state of a dataset in files: the places of the searched samples in the rest of the epoch, and the
    /// searched samples that are to come.
    scanned: BTreeMap<u64, Vec<Place>>,
    left: BTreeSet<u64>,
}

impl<'a> Search<'a> {
    fn new(args: &'a LocateArgs, dataset: &'a Dataset, readers: Readers, asked: &[u64]) -> Result<Self, Problem> {
        let mut search = Self { readers, args, dataset, scanned: BTreeMap::new(), left: BTreeSet::new() };
        let Some(saved) = args.epoch.reading() else { return Ok(search) };
        let asked = asked.iter().copied().collect::<BTreeSet<_>>();
        let spinner = progress::spinner("searching");
        search.left = to_come(saved, dataset, &asked)?;
        for rank in 0..search.readers.world_size {
            for worker in 0..search.readers.workers.unwrap_or(1) {
                let reader = search.readers.reader(rank, worker)?;
                let (size, batches, mut found) = (reader.size, reader.batches, Vec::new());
                for window in reader.windows(0, reader.samples) {
                    let (start, window) = window?;
                    let asked = (start..).zip(window).filter(|(_, sample)| asked.contains(sample));
                    found.extend(asked.map(|(index, sample)| (sample, index, reader.is_padding(index))));
                }
                for (sample, index, is_padding) in found {
                    let status = if is_padding { Status::Padding } else { Status::Upcoming };
                    let place = search.place([rank, worker], batches, [index, index / size, index % size], status)?;
                    search.scanned.entry(sample).or_default().push(place);
                }
            }
        }
        spinner.finish_and_clear();
        Ok(search)
    }

    fn set_epoch(&mut self, epoch: u64) -> Result<(), Problem> {
        if self.readers.epoch()? != epoch {
            self.readers.set_epoch(epoch)?;
        }
        Ok(())
    }

    fn find(&mut self, sample: u64) -> Result<LocatedIn<Place>, Problem> {
        let (args, size, epoch) = (self.args, self.readers.batches.samples(), self.readers.epoch()?);
        let split = self.readers.workers.is_some();
        let mut places = Vec::new();
        let (mut without, mut hidden) = (Status::Dropped, 0);
        let num_padding = if let Some(sampler) = self.readers.sampler() {
            let (is_table, is_composed) = (args.output.format() == Format::Table, args.epoch.deal.is_composed);
            let fate = sampler.fate(sample, size, 0)?;
            if !fate.complete && !is_table {
                return Err(Problem::message(format!(
                    "sample {sample} has too many places in this epoch; a table shows some of them"
                )));
            }
            let most = match (is_table, is_composed) {
                (false, _) => usize::MAX,
                (true, true) => PLACES,
                (true, false) => SHOWN as usize + 1,
            };
            let before = fate.before.iter().take(most);
            places.extend(before.map(|&position| Place::unseen(Some(position), Status::Seen, split)));
            let first_padding = fate.places.len() - fate.num_padding as usize;
            let ranks = self.readers.world_size;
            for (number, place) in fate.places.iter().enumerate().take(most - places.len()) {
                let status = match args.reached {
                    _ if number >= first_padding => Status::Padding,
                    None => Status::Upcoming,
                    Some(reached) => reached.status(epoch, place.position),
                };
                // The sampler has a rank for each worker of all ranks.
                let [rank, worker] = [place.rank % ranks, place.rank / ranks];
                let batches = self.readers.reader(rank, worker)?.batches;
                let numbers = [place.index_in_rank, place.batch, place.index_in_batch.into()];
                let found = self.place([rank, worker], batches, numbers, status)?;
                places.push(Place { position: Some(place.position), num_padding: Some(place.num_padding), ..found });
            }
            without = if fate.status == "absent" { Status::Absent } else { Status::Dropped };
            hidden = if is_composed { fate.before.len() + fate.places.len() - places.len() } else { 0 };
            // Repetitions after the last place are padding, too.
            fate.num_padding + fate.places.last().map_or(0, |place| place.num_padding)
        } else {
            if !self.left.contains(&sample) {
                places.push(Place::unseen(None, Status::Seen, split));
            }
            places.extend(self.scanned.get(&sample).into_iter().flatten().cloned());
            places.sort_by_key(|place| place.status == Status::Padding);
            for (after, place) in (0..).zip(places.iter_mut().rev()) {
                place.num_padding = place.rank.map(|_| after);
            }
            places.iter().filter(|place| place.status == Status::Padding).count() as u32
        };
        let status = places.first().map_or(without, |place| place.status);
        let found = LocatedIn::new(epoch, sample, status, Some(places), self.dataset);
        Ok(LocatedIn { num_padding: Some(num_padding), hidden, ..found })
    }

    /// The place of a sample at a worker of a rank. `index` and `batch` are the numbers of the sample and of its batch
    /// among those of the worker, which has `batches` batches. A sample in a batch that is left out is dropped,
    /// unless it is padding. Any other sample has the given status.
    fn place(
        &mut self,
        [rank, worker]: [u32; 2],
        batches: u64,
        [index, batch, index_in_batch]: [u64; 3],
        status: Status,
    ) -> Result<Place, Problem> {
        let in_batch = batch < batches;
        let step = if in_batch { Some(self.readers.step_of(rank, worker, batch)?) } else { None };
        let split = self.readers.workers.is_some();
        Ok(Place {
            position: None,
            status: if in_batch || status == Status::Padding { status } else { Status::Dropped },
            rank: Some(rank),
            index_in_reader: Some(index),
            batch: step,
            index_in_batch: step.map(|_| index_in_batch),
            counted_from: Some(if self.args.epoch.saved.is_some() { CountedFrom::State } else { CountedFrom::Epoch }),
            worker: split.then_some(Some(worker)),
            worker_batch: split.then(|| step.map(|_| batch)),
            num_padding: None,
        })
    }

    /// Notes on facts that the table does not show.
    fn notes(&self, found: &[LocatedIn<Place>], several: bool) -> Vec<String> {
        let of = |one: &LocatedIn<Place>| match several {
            true => format!("sample {} in epoch {}", one.sample, one.epoch),
            false => format!("sample {}", one.sample),
        };
        let mut notes = Vec::new();
        for one in found.iter().filter(|one| one.hidden > 0) {
            let more = counted(one.hidden as u64, "more place", "more places");
            notes.push(format!("{} has {more} (--format text and json show all)", of(one)));
        }
        for (one, num_padding) in
            found.iter().filter(|one| one.hidden == 0).filter_map(|one| Some((one, one.num_padding?)))
        {
            if num_padding <= SHOWN {
                continue;
            }
            let more = counted((num_padding - SHOWN).into(), "more time", "more times");
            notes.push(format!("{} is dealt {more}, as padding (--format text and json show all)", of(one)));
        }
        if found.iter().flat_map(|one| &one.places).flatten().any(Place::is_left_out) {
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
            if found.iter().any(|one| one.status == Status::Upcoming) {
                notes.push("index in reader and batch are counted from the state on".to_owned());
            }
        } else if self.args.is_explained {
            notes.push("index in reader and batch are counted from the beginning of the epoch".to_owned());
        }
        notes
    }

    /// The rows of the answer. A table leaves out the status if no state is given and all samples are upcoming. For
    /// programs, the last column before the file says how many more times the sample is dealt.
    fn items(&self, found: &[LocatedIn<Place>], several: bool) -> Items {
        let is_to_come = |place: &Place| place.status == Status::Upcoming;
        let is_plain =
            |one: &LocatedIn<Place>| one.status == Status::Upcoming && one.places.iter().flatten().all(is_to_come);
        let (args, split) = (self.args, self.readers.workers.is_some());
        let is_table = args.output.format() == Format::Table;
        let told = !is_table || args.epoch.saved.is_some() || args.reached.is_some() || !found.iter().all(is_plain);
        let has_position = found.iter().flat_map(|one| &one.places).flatten().any(|place| place.position.is_some());
        let columns = [
            ("position", !is_table || has_position),
            ("rank", true),
            ("worker", split),
            ("index in reader", true),
            ("worker batch", split),
            ("batch", true),
            ("index in batch", true),
            ("num padding", !is_table),
        ];
        rows(found, self.dataset, [several, told], &columns, self.dataset.columns(), |place| {
            let batch = |number: Option<u64>| if place.is_left_out() { "left out".into() } else { number.into() };
            let cells = vec![
                place.position.into(),
                place.rank.into(),
                place.worker.flatten().into(),
                place.index_in_reader.into(),
                batch(place.worker_batch.flatten()),
                batch(place.batch),
                place.index_in_batch.into(),
                place.num_padding.into(),
            ];
            (place.status, cells)
        })
    }
}

/// The samples among `asked` that are to come, by the state of a dataset in files. Takes a pass over the rest of the
/// epoch.
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

/// A row for each place, and for each sample without a place. The columns: the epoch (if there are `several`), the
/// sample, its status (if `told`), the cells that `of` makes of a place, and the file and row of the sample.
pub fn rows<P>(
    found: &[LocatedIn<P>],
    dataset: &Dataset,
    [several, told]: [bool; 2],
    columns: &[(&'static str, bool)],
    stored: &[&'static str],
    of: impl Fn(&P) -> (Status, Vec<Cell>),
) -> Items {
    let begin = [("epoch", several), ("sample", true), ("status", told)];
    let mut items = Items::some(begin.iter().chain(columns).copied(), stored.iter().copied());
    for one in found {
        let places = one.places.iter().flatten().map(&of).collect::<Vec<_>>();
        let nowhere = places.is_empty().then(|| (one.status, vec![Cell::None; columns.len()]));
        for (status, cells) in places.into_iter().chain(nowhere) {
            let begin = [one.epoch.into(), one.sample.into(), status.name().into()];
            items.push(begin.into_iter().chain(cells).chain(dataset.row(one.sample)));
        }
    }
    items
}
