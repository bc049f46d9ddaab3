//! Readings of the core.

use samedeal_core::read::{MixingAdvice, ReadBatch, ReadRound, Reading, RoundRows, SuggestedLanes};
use serde_json::Value;

use super::{Answer, number, replace, write_spans};
use crate::format::{self, ReadCall, U64, record, strings};

pub(super) fn ask(reading: &mut Reading, call: &ReadCall) -> Answer {
    Ok(match *call {
        ReadCall::AtEpoch { epoch } => replace(reading, |reading| reading.at_epoch(epoch.0))?,
        ReadCall::Resume { ref state } => replace(reading, |reading| reading.resume(state))?,
        ReadCall::State { steps } => reading.state(steps.0)?.into(),
        ReadCall::Recipe => reading.recipe()?.into(),
        ReadCall::RecipeFingerprint => reading.recipe_fingerprint().into(),
        ReadCall::Seed => reading.seed().to_string().into(),
        ReadCall::WorldSize => reading.group().world_size.into(),
        ReadCall::Workers => reading.group().workers.into(),
        ReadCall::BatchSize => reading.group().batch_size.into(),
        ReadCall::Sizes => strings(&reading.sizes()?),
        ReadCall::ReadsPerRow => reading.reads_per_row().into(),
        ReadCall::LanesReadOnce => reading.lanes_read_once().into(),
        ReadCall::MixingAdvice => reading.mixing_advice().map_or(Value::Null, |advice| {
            let MixingAdvice { lanes_per_reader, variance_ratio, lanes, shuffle_window } = advice;
            record(format::MixingAdvice { lanes_per_reader, variance_ratio, lanes, shuffle_window })
        }),
        ReadCall::SuggestedLanes { group_rows, readers, ref multiples } => {
            let multiples: Vec<u64> = multiples.iter().map(|number| number.0).collect();
            reading.suggested_lanes(group_rows.0, readers, &multiples).map_or(Value::Null, |found| {
                let SuggestedLanes { lanes, shuffle_window, variance_ratio } = found;
                record(format::SuggestedLanes { lanes, shuffle_window, variance_ratio })
            })
        }
        ReadCall::Epoch => number(reading.epoch()),
        ReadCall::IsRest => reading.is_rest().into(),
        ReadCall::NumSteps { rank } => number(reading.num_steps(rank)?),
        ReadCall::StepBounds => {
            let (min, max) = reading.steps()?;
            record(format::StepBounds { min: U64(min), max: U64(max) })
        }
        ReadCall::NumIdleReaders => number(reading.num_idle()?),
        ReadCall::NumSamples { rank, worker } => number(reading.num_samples(rank, worker)?),
        ReadCall::NumPadding { rank, worker } => number(reading.num_padding(rank, worker)?),
        ReadCall::NumBatches { rank, worker } => number(reading.num_batches(rank, worker)?),
        ReadCall::Batch { rank, worker, number } => batch(reading.batch(rank, worker, number.0)?),
        ReadCall::BatchAt { rank, step } => batch(reading.batch_at(rank, step.0)?),
        ReadCall::Step { step, first, count } => {
            let batches = reading.step(step.0, first, count)?.into_iter();
            batches.map(|found| found.map_or(Value::Null, batch)).collect()
        }
        ReadCall::Indices { rank, worker, start, count } => strings(&reading.indices(rank, worker, start.0, count)?),
        ReadCall::NumRounds { rank, worker } => number(reading.num_rounds(rank, worker)?),
        ReadCall::Round { rank, worker, number } => {
            let ReadRound { start, count, spans } = reading.round(rank, worker, number.0)?;
            record(format::Round { start: U64(start), count: U64(count), spans: write_spans(spans) })
        }
        ReadCall::RoundRows { rank, worker, number, start, count } => {
            let RoundRows { rows, num_padding } = reading.round_rows(rank, worker, number.0, start.0, count)?;
            record(format::RoundRows { rows: strings(&rows), num_padding })
        }
        ReadCall::RoundOf { rank, worker, index } => number(reading.round_of(rank, worker, index.0)?),
        ReadCall::Shards { rank, worker } => reading.shards(rank, worker)?.into(),
    })
}

fn batch(batch: ReadBatch) -> Value {
    let ReadBatch { worker, number, step, start, count, num_padding } = batch;
    let [number, step, start] = [number, step, start].map(U64);
    record(format::ReadBatch { worker, number, step, start, count, num_padding })
}
