//! What all ranks read in a step of batches by length.

use indicatif::ProgressBar;
use samedeal::{Batch, Batcher};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::show::BatchOf;
use super::{plan, show};
use crate::args::dataset::Dataset;
use crate::args::format::Format;
use crate::args::recipe::order_of;
use crate::commands::readers::Steps;
use crate::commands::step::{Explained, Held, StepArgs, Taken, taken};
use crate::read::contents::Contents;
use crate::read::lengths::Lengths;
use crate::write::{Cell, Items, Problem, note, print_json};

/// `samedeal step` with `--lengths`
pub fn run(args: &StepArgs) -> Result<(), Problem> {
    let lengths = args.by_length.read(&args.epoch)?;
    // Lengths and options have to be those of the state, if there is one.
    let mut batcher = plan(&args.by_length, &args.epoch, 0, &lengths)?;
    if let Some(Explained { epoch, group, .. }) = &args.explained {
        let (deal, given) = (&args.epoch.deal, lengths.given(&ProgressBar::hidden()));
        match (group, &args.epoch.saved) {
            (Some(group), Some(saved)) => batcher = args.by_length.past(deal, given, saved, *group)?,
            _ if batcher.epoch() != *epoch => batcher = args.by_length.whole(deal, given, *epoch)?,
            _ => {}
        }
    }
    let Lengths { dataset, unit, .. } = lengths;
    let taken = taken(&mut batcher, args, |batcher, rank, step| {
        let batch = batcher.batch_of(rank, step)?;
        let samples = batch.samples.len();
        Ok(((rank, batch), samples))
    })?;
    let samples = taken.iter().flat_map(|one| &one.ranks).flat_map(|(_, batch)| batch.samples.iter().copied());
    let contents = &Contents::read(&dataset, &args.column, samples)?;
    match args.output.format() {
        Format::Table => {
            items(&taken, &dataset, args, contents, false).print(Format::Table)?;
            sums(&taken, args, unit).print(Format::Table)?;
            note(args.which(&taken, &order_of(&batcher.recipe()?)))
        }
        Format::Json => {
            let of = |step, (rank, batch): &(u32, Batch)| {
                let (batch, held) = (BatchOf::new(step, batch), Held::new(&batch.samples, &dataset, contents));
                RankBatchOf { rank: *rank, batch, held }
            };
            print_json(&args.answer(&taken, of))
        }
        format => items(&taken, &dataset, args, contents, true).print(format),
    }
}

/// The batch by length of a rank in a step.
#[derive(Serialize, JsonSchema)]
pub struct RankBatchOf {
    rank: u32,
    #[serde(flatten)]
    batch: BatchOf,
    #[serde(flatten)]
    held: Held,
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
        Ok(self.num_steps()?)
    }

    fn is_rest(&self) -> Result<bool, Problem> {
        // Its state says what was taken of the epoch, in windows before, and of the open one.
        let state: Value = serde_json::from_str(&self.state(0)?).unwrap_or_default();
        Ok(self.consumed() > 0 || state["history"].as_array().is_some_and(|history| !history.is_empty()))
    }
}

/// A row for each item; `noted` if each is also to say that it is not repeated.
fn items(taken: &[Taken<(u32, Batch)>], dataset: &Dataset, args: &StepArgs, contents: &Contents, noted: bool) -> Items {
    let batches = || taken.iter().flat_map(|one| one.ranks.iter().map(move |(rank, batch)| (one, rank, batch)));
    let noted = noted || batches().any(|(.., batch)| batch.repeated > 0);
    let note: &[&str] = if noted { &["note"] } else { &[] };
    let columns = ["rank", "row", "index in row", "sample", "start", "length"];
    let held = contents.columns();
    let mut items = Items::new([args.columns(), &columns, note, &["file", "row in file"], &held].concat());
    for (one, rank, batch) in batches() {
        for (part, &sample) in show::parts(batch).zip(&batch.samples) {
            let parts = part.into_iter().take(if noted { 6 } else { 5 });
            let row = args.cells(one).chain([(*rank).into()]).chain(parts);
            items.push(row.chain(dataset.row(sample)).chain(contents.cells(sample)));
        }
    }
    items
}

/// A row for each rank: what it computes.
fn sums(taken: &[Taken<(u32, Batch)>], args: &StepArgs, unit: &str) -> Items {
    let columns: &[&str] = &["rank", "rows", "items", unit, "padded length", "cost"];
    let mut items = Items::new([args.columns(), columns].concat());
    for one in taken {
        for (rank, batch) in &one.ranks {
            let length = batch.lengths.iter().map(|&length| u64::from(length)).sum::<u64>();
            let (rows, count) = (batch.row_ends.len() as u64, batch.samples.len() as u64);
            let sums = [rows.into(), count.into(), length.into(), batch.padded_length.into(), batch.cost.into()];
            items.push(args.cells(one).chain([Cell::from(*rank)]).chain(sums));
        }
    }
    items
}
