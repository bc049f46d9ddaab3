//! Batches and collation of the Rust host.

use matrix::format::{self, AllRanks, Call, U64, record, strings};
use samedeal::collate::{self, Padding};
use samedeal::{Batch, BatchRecipe, BatchShape, BatchStream, Batcher, Error, Metrics};
use serde_json::Value;

use super::Answer;

/// The memory limit of objects without a limit.
const MEMORY: usize = 2 << 30;

pub fn recipe(format::BatchRecipe { recipe, lengths, lists }: &format::BatchRecipe) -> Result<BatchRecipe, Error> {
    BatchRecipe::new(recipe, lengths.as_deref(), super::beside(lists), MEMORY)
}

pub fn batcher(given: &format::Batcher) -> Result<Batcher, Error> {
    let format::Batcher { recipe: format::BatchRecipe { recipe, lengths, lists }, epoch } = given;
    Batcher::from_recipe(recipe, []).beside(lengths.clone(), super::beside(lists)).epoch(epoch.0).build()
}

pub fn stream(given: &format::BatchStream) -> Result<BatchStream, Error> {
    let format::BatchStream { recipe: format::BatchRecipe { recipe, lengths, lists }, epoch, rank } = given;
    BatchStream::from_recipe(recipe).beside(lengths.clone(), super::beside(lists)).epoch(epoch.0).rank(*rank).build()
}

pub fn ask_recipe(recipe: &BatchRecipe, call: &Call) -> Answer {
    Ok(match call {
        Call::Recipe => recipe.recipe()?.into(),
        Call::RecipeFingerprint => recipe.recipe_fingerprint()?.into(),
        _ => panic!("no call of a recipe of batches: {call:?}"),
    })
}

pub fn ask_batcher(batcher: &mut Batcher, call: &Call) -> Answer {
    Ok(match *call {
        Call::AtEpoch { epoch } => super::replace(batcher, |batcher| batcher.at_epoch(epoch.0))?,
        Call::Resume { ref state } => batcher.resume(state).map(|()| Value::Null)?,
        Call::Replan { ref state } => batcher.replan(state).map(|()| Value::Null)?,
        Call::Consumed => super::number(batcher.consumed()),
        Call::NumWindows => super::number(batcher.num_windows()),
        Call::NumSteps => super::number(batcher.num_steps()?),
        Call::Index { first, count } => batcher.index(first.0, count.0)?.into(),
        Call::UseIndex { ref index } => batcher.use_index(index).map(|()| Value::Null)?,
        Call::Shapes { filled } => {
            let shapes = if filled { batcher.filled_shapes() } else { batcher.shapes() };
            shapes?.iter().map(write_shape).collect()
        }
        Call::Metrics => write_metrics(&batcher.metrics()?),
        Call::Ratio { ref name } => ratio(&batcher.metrics()?, name),
        Call::State { taken: None, steps: Some(steps) } => batcher.state(steps.0)?.into(),
        Call::Locate { sample, batch_size: None } => batcher.locate(sample.0)?.iter().map(write_place).collect(),
        Call::Take { steps: Some(format::Window { rank, start, count }) } => {
            let batches = batcher.batches_window(rank, start.0, count)?;
            let iterated = batcher.batches_of(rank, start.0..start.0 + u64::from(count))?;
            assert_eq!(iterated.collect::<Result<Vec<_>, _>>()?, batches);
            write_run(&batches)
        }
        Call::Step(AllRanks::Batcher { step, first, count }) => {
            write_run(&batcher.step(step.0, first..first.saturating_add(count))?)
        }
        Call::Fingerprint => batcher.fingerprint()?.into(),
        _ => panic!("no call of a batcher: {call:?}"),
    })
}

fn write_place(&samedeal::BatchPlace { step, rank, row, index_in_row, start, .. }: &samedeal::BatchPlace) -> Value {
    record(format::BatchPlace { step: U64(step), rank, row, index_in_row, start })
}

fn write_shape(&BatchShape { rows, padded_length, batches, .. }: &BatchShape) -> Value {
    record(format::BatchShape { rows, padded_length, batches: U64(batches) })
}

pub fn ask_stream(stream: &mut BatchStream, call: &Call) -> Answer {
    Ok(match call {
        Call::Push { samples, lengths } => stream.push(&super::numbers(samples), lengths).map(|()| Value::Null)?,
        Call::Flush => stream.flush().map(|()| Value::Null)?,
        Call::Take { steps: None } => stream.take()?.map_or(Value::Null, |batches| write_run(&batches)),
        Call::Metrics => write_metrics(&stream.metrics()?),
        Call::Ratio { name } => ratio(&stream.metrics()?, name),
        _ => panic!("no call of a batch stream: {call:?}"),
    })
}

pub fn pad(lengths: &[u32], width: Option<u32>, multiple: u32, side: &str) -> Answer {
    let padding = Padding::new(u32::MAX).pad_to_multiple_of(multiple).side(side.parse()?);
    let padding = width.map_or(padding, |width| padding.width(width));
    let collate::Padded { rows, width, values, attention_mask, .. } = collate::pad(&tokens(lengths), lengths, padding)?;
    assert_eq!((rows, rows * width), (lengths.len(), values.len()));
    assert!(attention_mask.iter().copied().eq(values.iter().map(|&source| source != u32::MAX)));
    Ok(record(format::Padded { width: width as u32, token_indices: values }))
}

pub fn pack(lengths: &[u32], row_ends: &[u32], width: u32) -> Answer {
    let packed = collate::pack(&tokens(lengths), lengths, row_ends, width, u32::MAX)?;
    let collate::Packed { rows, width: wide, values, position_ids, segment_ids, cu_seqlens, max_seqlen, .. } = packed;
    assert_eq!((rows, wide, rows * wide), (row_ends.len(), width as usize, values.len()));
    Ok(record(format::Packed { token_indices: values, position_ids, segment_ids, cu_seqlens, max_seqlen }))
}

/// Tokens that are their own numbers, so that each cell of a batch shows its origin. None if they would exceed the
/// memory limit.
fn tokens(lengths: &[u32]) -> Vec<u32> {
    let count = lengths.iter().map(|&length| u64::from(length)).sum::<u64>();
    if count > 1 << 26 { Vec::new() } else { (0..count as u32).collect() }
}

fn ratio(metrics: &Metrics, name: &str) -> Value {
    let ratio = match name {
        "padding" => metrics.padding_ratio(),
        "budget-utilization" => metrics.budget_utilization(),
        "slowest-rank-utilization" => metrics.slowest_rank_utilization(),
        "cost-imbalance" => metrics.cost_imbalance(),
        other => panic!("no ratio: {other}"),
    };
    super::number(super::millionths(ratio))
}

fn write_metrics(metrics: &Metrics) -> Value {
    metrics.named().map(|(name, value)| (name.to_owned(), super::number(value))).collect()
}

/// The batches joined end to end, in the notation of the interface.
fn write_run(batches: &[Batch]) -> Value {
    let all = |of: fn(&Batch) -> &[u32]| batches.iter().flat_map(of).copied().collect::<Vec<_>>();
    let (mut items, mut rows) = (0, 0);
    let (mut row_ends, mut batch_ends) = (Vec::new(), Vec::new());
    for batch in batches {
        row_ends.extend(batch.row_ends.iter().map(|end| items + end));
        items += batch.samples.len() as u32;
        rows += batch.row_ends.len() as u32;
        batch_ends.push(rows);
    }
    record(format::BatchColumns {
        samples: strings(&batches.iter().flat_map(|batch| &batch.samples).copied().collect::<Vec<_>>()),
        starts: all(|batch| &batch.starts),
        lengths: all(|batch| &batch.lengths),
        row_ends,
        batch_ends,
        padded_lengths: batches.iter().map(|batch| batch.padded_length).collect(),
        costs: strings(&batches.iter().map(|batch| batch.cost).collect::<Vec<_>>()),
        repeated: batches.iter().map(|batch| batch.repeated).collect(),
        full_rows: batches.iter().map(|batch| batch.full_rows).collect(),
    })
}
