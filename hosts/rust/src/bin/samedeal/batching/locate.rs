//! Where in batches samples are.

use samedeal::BatchPlace;
use serde_json::{Value, json};

use super::plan;
use crate::dataset::Dataset;
use crate::format::Format;
use crate::items::{Cell, Items};
use crate::lengths::Lengths;
use crate::locate::LocateArgs;
use crate::output::{counted, print};
use crate::problem::Problem;
use crate::progress;

/// `samedeal locate` with `--lengths`
pub fn run(args: &LocateArgs) -> Result<(), Problem> {
    let Lengths { values, dataset, .. } = args.by_length.read(args)?;
    let batcher = plan(&args.by_length, &args.deal, &args.resume, 0, values)?;
    let spinner = progress::spinner("searching");
    let mut found = Vec::new();
    for &sample in &args.sample {
        found.push((sample, batcher.locate(sample)?));
    }
    spinner.finish_and_clear();
    match args.output.format() {
        Format::Table => {
            print(items(&found, &dataset).table())?;
            let epoch = batcher.config().epoch;
            let steps = counted(batcher.num_steps(), "step", "steps");
            let left = if batcher.config().history.is_empty() { "" } else { " left, counted from 0 again" };
            print(format!("epoch {epoch}: {steps}{left}"))
        }
        Format::Text => print(items(&found, &dataset).lines()),
        Format::Json => {
            let found = found.iter().map(|(sample, places)| {
                let places = places.iter().map(json_of).collect::<Value>();
                json!({ "sample": sample, "places": places })
            });
            print(found.collect::<Value>())
        }
    }
}

/// A row for every place, or for a sample that has none.
fn items(found: &[(u64, Vec<BatchPlace>)], dataset: &Dataset) -> Items {
    let columns = ["sample", "step", "rank", "row", "slot", "start", "file", "row in file"];
    let mut items = Items::new(columns);
    for (sample, places) in found {
        let mut push = |mut parts: Vec<Cell>| {
            parts.resize_with(columns.len() - 2, || "".into());
            items.push(parts.into_iter().chain(dataset.row(*sample)));
        };
        if places.is_empty() {
            push(vec![(*sample).into(), "not dealt".into()]);
        }
        for &BatchPlace { step, rank, row, slot, start, .. } in places {
            push(vec![(*sample).into(), step.into(), rank.into(), row.into(), slot.into(), start.into()]);
        }
    }
    items
}

fn json_of(place: &BatchPlace) -> Value {
    let BatchPlace { step, rank, row, slot, start, .. } = place;
    json!({ "step": step, "rank": rank, "row": row, "slot": slot, "start": start })
}
