use clap::Args;
use samedeal::{Place, Sampler};
use serde_json::{Value, json};

use crate::by_length::{ByLengthArgs, Others};
use crate::dataset::{Dataset, DatasetArgs};
use crate::deal::{AllRanks, DealArgs};
use crate::format::{Format, Output};
use crate::items::{Cell, Items};
use crate::output::{counted, print};
use crate::problem::Problem;
use crate::progress;
use crate::state::ResumeArgs;
use crate::values::{number, within};
use crate::workers::WorkersArgs;

/// How many repetitions of a padded sample are shown; a small dataset on a large world has thousands.
const COPIES: u32 = 8;

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
    /// The samples to find; may be repeated or separated by commas
    #[arg(long, value_name = "INDEX", value_parser = number, value_delimiter = ',', required = true)]
    #[arg(allow_negative_numbers = true)]
    pub sample: Vec<u64>,
    /// Samples in a batch [default: 1]
    #[arg(long, value_name = "SIZE", value_parser = within(1, u32::MAX), allow_negative_numbers = true)]
    pub batch_size: Option<u32>,
    /// Leave out a last, partial batch, and say of a sample in it that no batch holds it
    #[arg(long)]
    pub drop_last: bool,
    #[command(flatten)]
    ranks: AllRanks,
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

/// `samedeal locate`
pub fn run(args: &LocateArgs) -> Result<(), Problem> {
    if args.drop_last && args.batch_size.is_none() {
        return Err(Problem::message("--drop-last is for batches; say how large they are with --batch-size"));
    }
    let dataset = Dataset::new(&args.dataset)?;
    let mut sampler = args.resume.sampler(args.workers.sampler(&args.deal, &dataset)?)?;
    let split = args.workers.workers.map(|workers| Split { world: args.deal.world, workers });
    let spinner = progress::spinner("searching");
    let mut found = Vec::new();
    for &sample in &args.sample {
        found.push((sample, places(&mut sampler, sample, args)?));
    }
    spinner.finish_and_clear();
    match args.output.format() {
        Format::Table => {
            print(items(&found, &dataset, split, false).table())?;
            for (sample, places) in &found {
                let copies = places.first().map_or(0, |first| first.place.copies);
                if copies > COPIES {
                    let more = counted((copies - COPIES).into(), "more time", "more times");
                    print(format!("sample {sample} is dealt {more}, as padding"))?;
                }
            }
            if found.iter().flat_map(|(_, places)| places).any(|found| !found.in_batch) {
                print("left out: in no batch, because --drop-last leaves out the last, partial one")?;
            }
            Ok(())
        }
        Format::Text => print(items(&found, &dataset, split, true).lines()),
        Format::Json => {
            let found = found.iter().map(|(sample, places)| {
                let copies = places.first().map_or(0, |first| first.place.copies);
                let places = places.iter().map(|found| json_of(found, split)).collect::<Value>();
                json!({ "sample": sample, "copies": copies, "places": places })
            });
            print(found.collect::<Value>())
        }
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

/// A row for every place, or for a sample that has none. The last part says how many more times the sample is dealt, which
/// a table says below it, and only if it is not shown.
fn items(found: &[(u64, Vec<Found>)], dataset: &Dataset, split: Option<Split>, copies: bool) -> Items {
    let mut columns = vec!["sample", "position", "rank", "index", "batch", "slot", "copies"];
    if split.is_some() {
        columns.splice(3..5, ["worker", "index", "worker batch", "batch"]);
    }
    columns.truncate(columns.len() - usize::from(!copies));
    let mut items = Items::new([&columns, dataset.columns()].concat());
    for (sample, places) in found {
        let mut push = |mut parts: Vec<Cell>| {
            parts.resize_with(columns.len(), || "".into());
            items.push(parts.into_iter().chain(dataset.row(*sample)));
        };
        if places.is_empty() {
            push(vec![(*sample).into(), "not dealt".into()]);
        }
        for &Found { place, in_batch } in places {
            let Place { position, rank, index, batch, slot, copies, .. } = place;
            let mut parts = vec![(*sample).into(), position.into()];
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
            parts.extend([if in_batch { slot.into() } else { "".into() }, copies.into()]);
            push(parts);
        }
    }
    items
}

/// A place of a sample.
struct Found {
    place: Place,
    /// False where the place is in a last, partial batch that is left out.
    in_batch: bool,
}

/// Where a sample is seen: first, and then as padding.
fn places(sampler: &mut Sampler, sample: u64, args: &LocateArgs) -> Result<Vec<Found>, Problem> {
    let size = args.batch_size.unwrap_or(1);
    let Some(first) = sampler.locate(sample, size)? else { return Ok(Vec::new()) };
    let mut places = vec![first];
    for copy in 1..=u64::from(first.copies.min(COPIES)) {
        places.push(sampler.place_of(first.position + copy * sampler.config().samples, size)?);
    }
    let mut found = Vec::with_capacity(places.len());
    for place in places {
        sampler.set_rank(place.rank)?;
        let in_batch = place.batch < sampler.num_batches(size, args.drop_last)?;
        found.push(Found { place, in_batch });
    }
    Ok(found)
}

/// Without a batch and a slot where it is left out.
fn json_of(found: &Found, split: Option<Split>) -> Value {
    let Place { position, rank: reader, index, batch, slot, .. } = found.place;
    let (batch, slot) = (found.in_batch.then_some(batch), found.in_batch.then_some(slot));
    let Some(split) = split else {
        return json!({ "position": position, "rank": reader, "index": index, "batch": batch, "slot": slot });
    };
    json!({
        "position": position, "rank": split.rank(reader), "worker": split.worker(reader), "index": index,
        "worker_batch": batch, "batch": batch.map(|batch| split.batch(reader, batch)), "slot": slot,
    })
}
