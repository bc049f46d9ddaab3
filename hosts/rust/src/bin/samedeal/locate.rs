use samedeal::{Place, Sampler};
use serde_json::{Value, json};

use crate::args::LocateArgs;
use crate::dataset::Dataset;
use crate::output::{grouped, print, table};
use crate::problem::Problem;
use crate::progress;

/// How many repetitions of a padded sample are shown; a small dataset on a large world has thousands.
const COPIES: u32 = 8;

/// `samedeal locate`
pub fn run(args: &LocateArgs) -> Result<(), Problem> {
    let dataset = Dataset::new(&args.dataset)?;
    let sampler = args.deal.sampler(dataset.samples, 0)?;
    let spinner = progress::spinner("searching");
    let mut found = Vec::new();
    for &sample in &args.sample {
        found.push((sample, places(&sampler, sample, args.batch_size)?));
    }
    spinner.finish_and_clear();
    if args.output.is_json() {
        let found = found.iter().map(|(sample, places)| {
            let copies = places.first().map_or(0, |place| place.copies);
            let places = places.iter().map(json_of).collect::<Value>();
            json!({ "sample": sample, "copies": copies, "places": places })
        });
        return print(found.collect::<Value>());
    }
    let rows = found.iter().flat_map(|(sample, places)| {
        let [file, row] = dataset.row_as_text(*sample);
        let dropped = places.is_empty().then(|| {
            let none = String::new;
            [grouped(*sample), "dropped".to_owned(), none(), none(), none(), none(), file.clone(), row.clone()]
        });
        let seen = places.iter().map(move |place| {
            let Place { position, rank, index, batch, slot, .. } = *place;
            let [rank, slot] = [rank, slot].map(|number| grouped(number.into()));
            let [sample, position, index, batch] = [*sample, position, index, batch].map(grouped);
            [sample, position, rank, index, batch, slot, file.clone(), row.clone()]
        });
        dropped.into_iter().chain(seen)
    });
    let mut text = table(["sample", "position", "rank", "index", "batch", "slot", "file", "row"], rows);
    if dataset.files.is_empty() {
        text.column_mut(6).into_iter().for_each(hide);
        text.column_mut(7).into_iter().for_each(hide);
    }
    print(text)?;
    for (sample, places) in &found {
        if let Some(more) = places.first().and_then(|first| first.copies.checked_sub(COPIES)).filter(|more| *more > 0) {
            print(format!("sample {sample} is dealt {more} more times, as padding"))?;
        }
    }
    Ok(())
}

fn hide(column: &mut comfy_table::Column) {
    column.set_constraint(comfy_table::ColumnConstraint::Hidden);
}

/// Where a sample is seen: first, and then as padding.
fn places(sampler: &Sampler, sample: u64, batch_size: u32) -> Result<Vec<Place>, Problem> {
    let Some(first) = sampler.locate(sample, batch_size)? else { return Ok(Vec::new()) };
    let mut places = vec![first];
    for copy in 1..=u64::from(first.copies.min(COPIES)) {
        places.push(sampler.place_of(first.position + copy * sampler.config().samples, batch_size)?);
    }
    Ok(places)
}

fn json_of(place: &Place) -> Value {
    let Place { position, rank, index, batch, slot, .. } = place;
    json!({ "position": position, "rank": rank, "index": index, "batch": batch, "slot": slot })
}
