//! The samples of all ranks in a step of batches by length.

use indicatif::ProgressBar;
use samedeal::Batcher;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::plan;
use super::show::BatchOf;
use crate::args::dataset::Dataset;
use crate::args::format::Format;
use crate::args::recipe::order_of;
use crate::commands::readers::Steps;
use crate::commands::step::{Explained, Held, StepArgs, StepRead, StepsRead, read};
use crate::read::contents::Contents;
use crate::read::lengths::Lengths;
use crate::write::{Cell, Items, Problem, note, print_json};

/// `samedeal step` with `--lengths`
pub fn run(args: &StepArgs) -> Result<(), Problem> {
    let lengths = args.by_length.read(&args.epoch)?;
    // The plan refuses lengths and options that differ from the state, if there is one.
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
    let mut steps = read(&mut batcher, args, |batcher, rank, step| {
        let batch = BatchOf::new(step.saturating_add(args.first()), batcher.batch_of(rank, step)?);
        let samples = batch.samples.len();
        Ok((RankBatchOf { rank, batch, held: Held::default() }, samples))
    })?;
    let samples = steps.iter().flat_map(|one| &one.ranks).flat_map(|it| it.batch.samples.iter().copied());
    let contents = &Contents::read(&dataset, &args.column, samples)?;
    match args.output.format() {
        Format::Table => {
            items(&steps, &dataset, args, contents, false).print(Format::Table)?;
            sums(&steps, args, unit).print(Format::Table)?;
            note(args.which(&steps, &order_of(&batcher.recipe()?)))
        }
        Format::Json => {
            for it in steps.iter_mut().flat_map(|one| &mut one.ranks) {
                it.held = Held::new(&it.batch.samples, &dataset, contents);
            }
            print_json(&StepsRead { steps: &steps })
        }
        format => items(&steps, &dataset, args, contents, true).print(format),
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
        // A part of the epoch was taken if there are consumed windows, or steps of the open window in the history.
        let state: Value = serde_json::from_str(&self.state(0)?).unwrap_or_default();
        Ok(self.consumed() > 0 || state["history"].as_array().is_some_and(|history| !history.is_empty()))
    }
}

/// A row for each item. `noted`: whether there is a column `note` even if no row is repeated.
fn items(
    steps: &[StepRead<RankBatchOf>],
    dataset: &Dataset,
    args: &StepArgs,
    contents: &Contents,
    noted: bool,
) -> Items {
    let noted = noted || steps.iter().flat_map(|one| &one.ranks).any(|it| it.batch.repeated > 0);
    let columns = ["rank", "row", "index in row", "sample", "start", "length"].map(|name| (name, true));
    let columns = args.columns().into_iter().chain(columns).chain([("note", noted)]);
    let mut items = Items::some(columns, ["file", "row in file"].into_iter().chain(contents.columns()));
    for one in steps {
        for RankBatchOf { rank, batch, .. } in &one.ranks {
            for (part, &sample) in batch.parts().zip(&batch.samples) {
                let row = one.cells().into_iter().chain([(*rank).into()]).chain(part);
                items.push(row.chain(dataset.row(sample)).chain(contents.cells(sample)));
            }
        }
    }
    items
}

/// A row for each rank, with the sums of its batch.
fn sums(steps: &[StepRead<RankBatchOf>], args: &StepArgs, unit: &str) -> Items {
    let mut items = Items::some(args.columns(), ["rank", "rows", "items", unit, "padded length", "cost"]);
    for one in steps {
        for RankBatchOf { rank, batch, .. } in &one.ranks {
            let length = batch.lengths.iter().map(|&length| u64::from(length)).sum::<u64>();
            let (rows, count) = (batch.row_ends.len() as u64, batch.samples.len() as u64);
            let sums = [rows, count, length, batch.padded_length.into(), batch.cost].map(Cell::from);
            items.push(one.cells().into_iter().chain([(*rank).into()]).chain(sums));
        }
    }
    items
}
