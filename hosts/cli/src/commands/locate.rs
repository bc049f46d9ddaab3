use clap::Args;
use samedeal::{Place, Remainder, Sampler};
use serde_json::{Value, json};

use crate::args::by_length::{ByLengthArgs, Others};
use crate::args::dataset::{Dataset, DatasetArgs};
use crate::args::deal::{AllRanks, DealArgs};
use crate::args::format::{Format, Output};
use crate::args::values::{Samples, samples, within};
use crate::args::workers::WorkersArgs;
use crate::commands::state::ResumeArgs;
use crate::write::items::{Cell, Items};
use crate::write::output::{counted, grouped, print};
use crate::write::problem::Problem;
use crate::write::progress;

/// How many repetitions of a padded sample a table shows; a small dataset on a large world has thousands.
const SHOWN: u32 = 8;
/// How many are found at all.
const COPIES: u32 = 1 << 16;

#[derive(Args)]
pub struct LocateArgs {
    #[command(flatten)]
    pub dataset: DatasetArgs,
    #[command(flatten)]
    pub deal: DealArgs,
    #[command(flatten)]
    pub resume: ResumeArgs,
    #[command(flatten)]
    pub workers: WorkersArgs,
    /// The samples to find; may be repeated, or separated by commas. 14,822 is one number where there is such a sample
    #[arg(long, value_name = "INDEX", value_parser = samples, required = true, allow_negative_numbers = true)]
    pub sample: Vec<Samples>,
    /// How many positions of the epoch were consumed by this very world, where that is known.
    #[arg(skip)]
    pub consumed: Option<u64>,
    /// Samples in a batch [default: 1]
    #[arg(long, value_name = "SIZE", value_parser = within(1, u32::MAX), allow_negative_numbers = true)]
    pub batch_size: Option<u32>,
    /// Leave out a last, partial batch, and say of a sample in it that no batch holds it
    #[arg(long)]
    pub drop_last: bool,
    #[command(flatten)]
    pub ranks: AllRanks,
    #[command(flatten)]
    pub by_length: ByLengthArgs,
    #[command(flatten)]
    pub output: Output,
}

impl<'a> From<&'a LocateArgs> for Others<'a> {
    fn from(args: &'a LocateArgs) -> Self {
        let LocateArgs { dataset, deal, batch_size, drop_last, workers, .. } = args;
        Self { dataset, deal, batch_size: *batch_size, drop_last: *drop_last, workers: workers.workers.is_some() }
    }
}

impl LocateArgs {
    /// The samples that are asked for, of so many.
    pub fn samples(&self, count: u64) -> Vec<u64> {
        self.sample.iter().flat_map(|samples| samples.of(count)).collect()
    }
}

/// What becomes of a sample in the epoch, or of one of its places.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It was consumed before.
    Seen,
    ToCome,
    /// It is dealt again, to fill up the last step.
    Padding,
    /// Nobody sees it: the remainder is dropped, or the last batch is left out.
    Dropped,
}

impl Status {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seen => "seen",
            Self::ToCome => "to come",
            Self::Padding => "padding",
            Self::Dropped => "dropped",
        }
    }
}

/// `samedeal locate`
pub fn run(args: &LocateArgs) -> Result<(), Problem> {
    if args.drop_last && args.batch_size.is_none() {
        return Err(Problem::message("--drop-last is for batches; say how large they are with --batch-size"));
    }
    let dataset = Dataset::new(&args.dataset)?;
    let sampler = args.resume.sampler(args.workers.sampler(&args.deal, &dataset)?)?;
    let split = args.workers.workers.map(|workers| Split { world: args.deal.world, workers });
    let spinner = progress::spinner("searching");
    let mut search = Search { sampler, whole: None, dataset: &dataset, args };
    let samples = args.samples(dataset.samples);
    let found = samples.into_iter().map(|sample| search.find(sample)).collect::<Result<Vec<_>, _>>()?;
    spinner.finish_and_clear();
    match args.output.format() {
        Format::Table => {
            let told = args.resume.resume.is_some() || args.consumed.is_some();
            print(items(&found, &dataset, split, Format::Table, told).table())?;
            for one in found.iter().filter(|one| one.copies > SHOWN) {
                let more = counted((one.copies - SHOWN).into(), "more time", "more times");
                print(format!("sample {} is dealt {more}, as padding (--format text and json show all)", one.sample))?;
            }
            if found.iter().flat_map(|one| &one.places).any(|place| place.place.is_some() && !place.in_batch) {
                print("left out: in no batch, because --drop-last leaves out the last, partial one")?;
            }
            search.notes(&found).iter().try_for_each(print)
        }
        Format::Text => print(items(&found, &dataset, split, Format::Text, true).lines()),
        Format::Json => {
            let found = found.iter().map(|one| {
                let places = one.places.iter().map(|place| json_of(place, split)).collect::<Value>();
                let mut answer = json!({
                    "sample": one.sample, "status": one.status.name(), "copies": one.copies, "places": places,
                });
                add_stored(&mut answer, &dataset, one.sample);
                answer
            });
            print(json!({ "samples": found.collect::<Value>() }))
        }
    }
}

/// Adds the file and the row of a sample, where there are files.
pub fn add_stored(answer: &mut Value, dataset: &Dataset, sample: u64) {
    if let Some((path, row)) = dataset.place(sample) {
        answer["file"] = path.display().to_string().into();
        answer["row"] = row.into();
    }
}

/// What becomes of a sample.
struct Found {
    sample: u64,
    status: Status,
    /// How many more times it is dealt, as padding.
    copies: u32,
    places: Vec<Seen>,
}

/// A place of a sample.
struct Seen {
    position: u64,
    status: Status,
    /// Who sees it, and when; none where that was before, on a world that the state does not tell.
    place: Option<Place>,
    /// False where the place is in a last, partial batch that is left out.
    in_batch: bool,
}

/// Looks for samples.
struct Search<'a> {
    sampler: Sampler,
    /// The whole epoch, once it is needed.
    whole: Option<Sampler>,
    dataset: &'a Dataset,
    args: &'a LocateArgs,
}

impl Search<'_> {
    /// How many positions were consumed before, and by whom is not known.
    fn consumed(&self) -> u64 {
        self.sampler.config().consumed
    }

    fn find(&mut self, sample: u64) -> Result<Found, Problem> {
        let args = self.args;
        let size = args.batch_size.unwrap_or(1);
        let (samples, consumed) = (self.sampler.config().samples, self.consumed());
        let first = self.sampler.locate(sample, size)?;
        let own = match first {
            Some(place) => place.position % samples,
            None => self.position(sample)?,
        };
        let mut places = Vec::new();
        if own < consumed {
            places.push(Seen { position: own, status: Status::Seen, place: None, in_batch: true });
        }
        let mut copies = 0;
        if let Some(first) = first {
            // What was consumed is dealt again as padding alone.
            copies = first.copies + u32::from(first.position >= samples);
            if args.output.format() != Format::Table && copies > COPIES {
                return Err(Problem::message(format!(
                    "sample {sample} is dealt {} more times, as padding; allowed here: {COPIES}. A table shows some of them",
                    grouped(copies.into())
                )));
            }
            let most = if args.output.format() == Format::Table { SHOWN } else { COPIES };
            for copy in 0..=u64::from(first.copies.min(most)) {
                let position = first.position + copy * samples;
                let place = self.sampler.place_of(position, size)?;
                self.sampler.set_rank(place.rank)?;
                let in_batch = place.batch < self.sampler.num_batches(size, args.drop_last)?;
                let status = match () {
                    () if position >= samples => Status::Padding,
                    () if !in_batch => Status::Dropped,
                    () if args.consumed.is_some_and(|consumed| position < consumed) => Status::Seen,
                    () => Status::ToCome,
                };
                places.push(Seen { position, status, place: Some(place), in_batch });
            }
        }
        let status = places.first().map_or(Status::Dropped, |place| place.status);
        Ok(Found { sample, status, copies, places })
    }

    /// The position of a sample in the whole epoch.
    fn position(&mut self, sample: u64) -> Result<u64, Problem> {
        let whole = match self.whole.take() {
            Some(whole) => whole,
            None => {
                let mut whole = self.args.deal.whole(self.dataset)?;
                whole.set_epoch(self.sampler.config().epoch)?;
                whole
            }
        };
        let place = whole.locate(sample, 1)?;
        self.whole = Some(whole);
        // Every sample has one there.
        place.map(|place| place.position).ok_or_else(|| Problem::message(format!("sample {sample} has no position")))
    }

    /// What the table does not say of samples that were seen.
    fn notes(&self, found: &[Found]) -> Vec<String> {
        let mut notes = Vec::new();
        let consumed = self.consumed();
        if found.iter().any(|one| one.status == Status::Seen) && consumed > 0 {
            let (all, samples) = (grouped(consumed), counted(self.sampler.config().samples, "sample", "samples"));
            notes.push(format!(
                "seen: among the {all} of {samples} that were consumed before the state. It does not say by which ranks and in \
                 which steps; `samedeal explain FILE --sample N --world W --batch-size B` does, of the world that took it"
            ));
            if consumed == self.sampler.config().samples && self.sampler.config().remainder == Remainder::Drop {
                notes.push(
                    "the epoch is over; with --remainder drop, up to world - 1 of its last samples were dropped"
                        .to_owned(),
                );
            }
        }
        if self.args.resume.resume.is_some() && found.iter().any(|one| one.status == Status::ToCome) {
            notes.push("index and batch are counted from the state on".to_owned());
        }
        notes
    }
}

/// Readers as the workers of ranks.
#[derive(Clone, Copy)]
struct Split {
    world: u32,
    workers: u32,
}

impl Split {
    fn rank(self, reader: u32) -> u32 {
        reader % self.world
    }

    fn worker(self, reader: u32) -> u32 {
        reader / self.world
    }

    /// Which batch of the rank's loader it is, which takes those of its workers in turn. The last turn may lack those of the
    /// last workers alone, since a reader never has more batches than one before it.
    fn batch(self, reader: u32, batch: u64) -> u64 {
        batch * u64::from(self.workers) + u64::from(self.worker(reader))
    }
}

/// A row for every place, or for a sample that has none. For programs, the last part says how many more times the sample is
/// dealt. `told` is whether rows have to say what becomes of the sample, which they do where it is not the same of all.
fn items(found: &[Found], dataset: &Dataset, split: Option<Split>, format: Format, told: bool) -> Items {
    let told = told
        || found.iter().any(|one| one.places.iter().any(|place| place.status != Status::ToCome))
        || found.iter().any(|one| one.status != Status::ToCome);
    let mut columns = vec!["sample", "status", "position", "rank", "index", "batch", "slot", "copies"];
    if split.is_some() {
        columns.splice(4..6, ["worker", "index", "worker batch", "batch"]);
    }
    columns.truncate(columns.len() - usize::from(format == Format::Table));
    if !told {
        columns.remove(1);
    }
    let mut items = Items::new([&columns, dataset.columns()].concat());
    for one in found {
        let mut push = |status: Status, mut parts: Vec<Cell>| {
            let mut row = vec![one.sample.into()];
            row.extend(told.then(|| Cell::from(status.name())));
            row.append(&mut parts);
            row.resize_with(columns.len(), || "".into());
            items.push(row.into_iter().chain(dataset.row(one.sample)));
        };
        if one.places.is_empty() {
            push(one.status, Vec::new());
        }
        for &Seen { position, status, place, in_batch } in &one.places {
            let mut parts = vec![position.into()];
            let Some(Place { rank, index, batch, slot, copies, .. }) = place else {
                push(status, parts);
                continue;
            };
            match split {
                Some(split) => parts.extend([split.rank(rank).into(), split.worker(rank).into(), index.into()]),
                None => parts.extend([rank.into(), index.into()]),
            }
            match (in_batch, split) {
                (true, Some(split)) => parts.extend([batch.into(), split.batch(rank, batch).into()]),
                (true, None) => parts.push(batch.into()),
                (false, Some(_)) => parts.extend(["left out".into(), "left out".into()]),
                (false, None) => parts.push("left out".into()),
            }
            parts.push(if in_batch { slot.into() } else { "".into() });
            parts.extend((format != Format::Table).then(|| Cell::from(copies)));
            push(status, parts);
        }
    }
    items
}

/// Without a batch and a slot where it is left out, and without all but the position where that is all that is known.
fn json_of(seen: &Seen, split: Option<Split>) -> Value {
    let &Seen { position, status, place, in_batch } = seen;
    let (reader, index) = (place.map(|place| place.rank), place.map(|place| place.index));
    let placed = place.filter(|_| in_batch);
    let (batch, slot) = (placed.map(|place| place.batch), placed.map(|place| place.slot));
    let mut answer = json!({
        "position": position, "status": status.name(), "rank": reader, "index": index, "batch": batch, "slot": slot,
    });
    if let Some(split) = split {
        answer["rank"] = reader.map(|reader| split.rank(reader)).into();
        answer["worker"] = reader.map(|reader| split.worker(reader)).into();
        answer["worker_batch"] = batch.into();
        answer["batch"] = placed.map(|place| split.batch(place.rank, place.batch)).into();
    }
    answer
}
