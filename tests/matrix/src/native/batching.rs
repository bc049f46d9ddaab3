//! Batches and collation of the core.

use std::rc::Rc;

use samedeal_core::Failure;
use samedeal_core::batch::{self, collate};
use serde_json::Value;

use super::Answer;
use crate::format::{self, AllRanks, Call, U64, record, strings};

pub(super) fn read_recipe(given: &format::BatchRecipe) -> Result<Rc<batch::BatchRecipe>, Failure> {
    let format::BatchRecipe { recipe, lengths, lists } = given;
    let lists: Vec<(&str, Vec<u64>)> = lists.iter().map(|(name, list)| (&**name, super::numbers(list))).collect();
    let lists: Vec<samedeal_core::List> = lists.iter().map(|(name, list)| (*name, &**list)).collect();
    let made = match lengths {
        Some(lengths) => batch::BatchRecipe::with_lengths(recipe, lengths.clone(), &lists),
        None => batch::BatchRecipe::read(recipe, None, &lists),
    };
    made.map(Rc::new)
}

pub(super) fn make_batcher(given: &format::Batcher) -> Result<batch::Batcher, Failure> {
    batch::Batcher::new(&read_recipe(&given.recipe)?, given.epoch.0)
}

pub(super) fn make_stream(given: &format::BatchStream) -> Result<batch::BatchStream, Failure> {
    let recipe = read_recipe(&given.recipe)?;
    batch::BatchStream::new(&recipe, given.epoch.0, given.rank)
}

pub(super) fn ask_recipe(recipe: &batch::BatchRecipe, call: &Call) -> Answer {
    Ok(match call {
        Call::Recipe => recipe.text()?.into(),
        Call::RecipeFingerprint => recipe.fingerprint().into(),
        _ => panic!("no call of a recipe of batches: {call:?}"),
    })
}

pub(super) fn ask_batcher(batcher: &mut batch::Batcher, call: &Call) -> Answer {
    Ok(match *call {
        Call::AtEpoch { epoch } => {
            *batcher = batcher.at_epoch(epoch.0)?;
            Value::Null
        }
        Call::Resume { ref state } => {
            *batcher = batcher.resume(state)?;
            Value::Null
        }
        Call::Replan { ref state } => {
            *batcher = batcher.replan(state)?;
            Value::Null
        }
        Call::Consumed => super::number(batcher.consumed()),
        Call::NumWindows => super::number(batcher.num_windows()),
        Call::NumSteps => super::number(batcher.num_steps()?),
        Call::Index { first, count } => batcher.index(first.0, count.0)?.into(),
        Call::UseIndex { ref index } => {
            batcher.use_index(index)?;
            Value::Null
        }
        Call::Shapes { filled } => batcher.shapes(filled)?.into_iter().map(write_shape).collect(),
        Call::Metrics => write_metrics(&batcher.metrics()?),
        Call::Ratio { ref name } => super::number(batcher.ratio(name)?),
        Call::State { taken: None, steps: Some(steps) } => batcher.state(steps.0)?.into(),
        Call::Locate { sample, batch_size: None } => batcher.locate(sample.0)?.into_iter().map(write_place).collect(),
        Call::Take { steps: Some(format::Window { rank, start, count }) } => {
            write_run(batcher.take(rank, start.0, count)?)
        }
        Call::Step(AllRanks::Batcher { step, first, count }) => write_run(batcher.step(step.0, first, count)?),
        Call::Fingerprint => batcher.fingerprint()?.into(),
        _ => panic!("no call of a batcher: {call:?}"),
    })
}

fn write_place(place: batch::BatchPlace) -> Value {
    let batch::BatchPlace { step, rank, row, index_in_row, start } = place;
    record(format::BatchPlace { step: U64(step), rank, row, index_in_row, start })
}

fn write_shape(batch::BatchShape { rows, padded_length, batches }: batch::BatchShape) -> Value {
    record(format::BatchShape { rows, padded_length, batches: U64(batches) })
}

pub(super) fn ask_stream(stream: &mut batch::BatchStream, call: &Call) -> Answer {
    Ok(match call {
        Call::Push { samples, lengths } => stream.push(&super::numbers(samples), lengths).map(|()| Value::Null)?,
        Call::Flush => {
            stream.flush();
            Value::Null
        }
        Call::Take { steps: None } => stream.take()?.map_or(Value::Null, write_run),
        Call::Metrics => write_metrics(stream.metrics()),
        Call::Ratio { name } => super::number(stream.ratio(name)?),
        _ => panic!("no call of a batch stream: {call:?}"),
    })
}

pub(super) fn ask_function(call: &Call) -> Option<Answer> {
    Some(match *call {
        Call::JoinIndices { ref parts } => batch::join_indices(parts).map(Value::from),
        Call::Pad { ref lengths, width, pad_to_multiple_of, ref side } => collate::Side::from_name(side)
            .and_then(|side| collate::pad(lengths, width, pad_to_multiple_of, side))
            .map(|collate::Padded { width, token_indices }| record(format::Padded { width, token_indices })),
        Call::Pack { ref lengths, ref row_ends, width } => collate::pack(lengths, row_ends, width).map(|packed| {
            let collate::Packed { token_indices, position_ids, segment_ids, cu_seqlens, max_seqlen } = packed;
            record(format::Packed { token_indices, position_ids, segment_ids, cu_seqlens, max_seqlen })
        }),
        _ => return None,
    })
}

fn write_metrics(metrics: &batch::Metrics) -> Value {
    let own = |(name, metric): (&str, u64)| (name.to_owned(), super::number(metric));
    metrics.named().into_iter().map(own).collect()
}

fn write_run(run: batch::Run) -> Value {
    let batch::Run { samples, starts, lengths, row_ends, batch_ends, padded_lengths, costs, repeated, full_rows } = run;
    let (samples, costs) = (strings(&samples), strings(&costs));
    record(format::BatchColumns {
        samples,
        starts,
        lengths,
        row_ends,
        batch_ends,
        padded_lengths,
        costs,
        repeated,
        full_rows,
    })
}
