//! What all ranks read in a step of batches by length.

use samedeal::{Batch, Batcher};
use serde_json::Value;

use super::{plan, show};
use crate::args::dataset::Dataset;
use crate::args::format::Format;
use crate::commands::readers::Steps;
use crate::commands::step::{Explained, StepArgs, find, stored};
use crate::read::contents::Contents;
use crate::read::lengths::Lengths;
use crate::write::items::{Cell, Items};
use crate::write::output::print;
use crate::write::problem::Problem;

/// `samedeal step` with `--lengths`
pub fn run(args: &StepArgs) -> Result<(), Problem> {
    let Lengths { values, dataset, unit } = args.by_length.read(&args.epoch)?;
    // Lengths and options have to be those of the state, if there is one.
    let mut batcher = plan(&args.by_length, &args.epoch, 0, values.clone())?;
    if let Some(Explained { past, .. }) = &args.explained {
        let (deal, epoch) = (&args.epoch.deal, batcher.epoch());
        batcher = args.by_length.past(deal, values, epoch, past, deal.world_size())?;
    }
    let ranks = args.ranks()?;
    let step = find(&mut batcher, args)?;
    let batches = ranks.map(|rank| Ok((rank, batcher.batch_of(rank, step)?)));
    let batches = batches.collect::<Result<Vec<_>, Problem>>()?;
    let contents = args.contents(&dataset, batches.iter().flat_map(|(_, batch)| batch.samples.iter().copied()))?;
    let contents = contents.as_ref();
    let (epoch, steps) = (batcher.epoch(), batcher.num_steps());
    match args.output.format() {
        Format::Table => {
            print(items(&batches, &dataset, args, contents, false).table())?;
            print(sums(&batches, unit).table())?;
            print(args.which(step, steps, epoch, !batcher.history().is_empty()))
        }
        Format::Text => print(items(&batches, &dataset, args, contents, true).lines()),
        Format::Json => {
            let ranks = batches.iter().map(|(rank, batch)| {
                let mut object = show::json_of(step, batch);
                object.insert("rank".to_owned(), (*rank).into());
                stored(&mut object, &batch.samples, &dataset, contents);
                Value::Object(object)
            });
            let ranks = ranks.collect::<Value>();
            let mut object = args.head(step, steps, epoch);
            object["ranks"] = ranks;
            print(object)
        }
    }
}

impl Steps for Batcher {
    fn is_alike(&self) -> bool {
        false
    }

    fn epoch(&self) -> Result<u64, Problem> {
        Ok(Batcher::epoch(self))
    }

    fn set_epoch(&mut self, epoch: u64) -> Result<(), Problem> {
        Ok(Batcher::set_epoch(self, epoch)?)
    }

    fn steps(&mut self) -> Result<u64, Problem> {
        Ok(self.num_steps())
    }
}

/// A row for each item; `noted` if each is also to say that it is not repeated.
fn items(
    batches: &[(u32, Batch)],
    dataset: &Dataset,
    args: &StepArgs,
    contents: Option<&Contents>,
    noted: bool,
) -> Items {
    let noted = noted || batches.iter().any(|(_, batch)| batch.repeated > 0);
    let note: &[&str] = if noted { &["note"] } else { &[] };
    let columns = ["rank", "row", "index in row", "sample", "start", "length"];
    let mut items = Items::new([&columns, note, &["file", "row in file"], args.column.as_deref().as_slice()].concat());
    for (rank, batch) in batches {
        let mut item = 0;
        for (row, samples) in batch.rows().enumerate() {
            let is_repeated = row + batch.repeated as usize >= batch.row_ends.len();
            for (index, &sample) in samples.iter().enumerate() {
                let place = [(*rank).into(), (row as u64).into(), (index as u64).into(), sample.into()];
                let part = [batch.starts[item].into(), batch.lengths[item].into()];
                let note = noted.then(|| Cell::from(if is_repeated { "repeated" } else { "" }));
                let held = contents.map(|contents| contents.get(sample).into());
                items.push(place.into_iter().chain(part).chain(note).chain(dataset.row(sample)).chain(held));
                item += 1;
            }
        }
    }
    items
}

/// A row for each rank: what it computes.
fn sums(batches: &[(u32, Batch)], unit: &str) -> Items {
    let mut items = Items::new(["rank", "rows", "items", unit, "padded length", "cost"]);
    for (rank, batch) in batches {
        let length = batch.lengths.iter().map(|&length| u64::from(length)).sum::<u64>();
        let (rows, count) = (batch.row_ends.len() as u64, batch.samples.len() as u64);
        let sums = [rows.into(), count.into(), length.into(), batch.padded_length.into(), batch.cost.into()];
        items.push([Cell::from(*rank)].into_iter().chain(sums));
    }
    items
}
