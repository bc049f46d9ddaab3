use samedeal::{Place, Sampler};
use serde_json::{Value, json};

use crate::args::LocateArgs;
use crate::dataset::Dataset;
use crate::format::Format;
use crate::items::{Cell, Items};
use crate::output::print;
use crate::problem::Problem;
use crate::progress;

/// How many repetitions of a padded sample are shown; a small dataset on a large world has thousands.
const COPIES: u32 = 8;

/// `samedeal locate`
pub fn run(args: &LocateArgs) -> Result<(), Problem> {
    let dataset = Dataset::new(&args.dataset)?;
    let mut sampler = args.deal.sampler(&dataset, 0)?;
    let spinner = progress::spinner("searching");
    let mut found = Vec::new();
    for &sample in &args.sample {
        found.push((sample, places(&mut sampler, sample, args)?));
    }
    spinner.finish_and_clear();
    match args.output.format() {
        Format::Table => {
            print(items(&found, &dataset, &COLUMNS[..6]).table())?;
            for (sample, places) in &found {
                let copies = places.first().map_or(0, |first| first.place.copies);
                if copies > COPIES {
                    print(format!("sample {sample} is dealt {} more times, as padding", copies - COPIES))?;
                }
            }
            if found.iter().flat_map(|(_, places)| places).any(|found| !found.in_batch) {
                print("left out: in no batch, because --drop-last leaves out the last, partial one")?;
            }
            Ok(())
        }
        Format::Text => print(items(&found, &dataset, &COLUMNS).lines()),
        Format::Json => {
            let found = found.iter().map(|(sample, places)| {
                let copies = places.first().map_or(0, |first| first.place.copies);
                let places = places.iter().map(json_of).collect::<Value>();
                json!({ "sample": sample, "copies": copies, "places": places })
            });
            print(found.collect::<Value>())
        }
    }
}

/// The last one says how many more times the sample is dealt, which a table says below it, and only if it is not shown.
const COLUMNS: [&str; 7] = ["sample", "position", "rank", "index", "batch", "slot", "copies"];

/// A row for every place, or for a sample that has none.
fn items(found: &[(u64, Vec<Found>)], dataset: &Dataset, columns: &[&str]) -> Items {
    let mut items = Items::new([columns, dataset.columns()].concat());
    for (sample, places) in found {
        let mut push = |parts: [Cell; 7]| {
            items.push(parts.into_iter().take(columns.len()).chain(dataset.row(*sample)));
        };
        if places.is_empty() {
            let none = || Cell::from("");
            push([(*sample).into(), "dropped".into(), none(), none(), none(), none(), none()]);
        }
        for &Found { place, in_batch } in places {
            let Place { position, rank, index, batch, slot, copies, .. } = place;
            let (batch, slot) = if in_batch { (batch.into(), slot.into()) } else { ("left out".into(), "".into()) };
            push([(*sample).into(), position.into(), rank.into(), index.into(), batch, slot, copies.into()]);
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
    let Some(first) = sampler.locate(sample, args.batch_size)? else { return Ok(Vec::new()) };
    let mut places = vec![first];
    for copy in 1..=u64::from(first.copies.min(COPIES)) {
        places.push(sampler.place_of(first.position + copy * sampler.config().samples, args.batch_size)?);
    }
    let mut found = Vec::with_capacity(places.len());
    for place in places {
        sampler.set_rank(place.rank)?;
        let in_batch = place.batch < sampler.num_batches(args.batch_size, args.drop_last)?;
        found.push(Found { place, in_batch });
    }
    Ok(found)
}

/// Without a batch and a slot where it is left out.
fn json_of(found: &Found) -> Value {
    let Place { position, rank, index, batch, slot, .. } = found.place;
    let (batch, slot) = (found.in_batch.then_some(batch), found.in_batch.then_some(slot));
    json!({ "position": position, "rank": rank, "index": index, "batch": batch, "slot": slot })
}
