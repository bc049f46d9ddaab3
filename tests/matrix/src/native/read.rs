//! Readings of the core.

use samedeal_core::read::{MixingAdvice, Options, ReadBatch, ReadRound, Reading, RoundRows};
use serde_json::Value;

use super::{Answer, number, numbers};
use crate::format::{self, ReadCall, ReadOptions, U64, record, strings};

pub(super) fn read_options(format::Reading { sizes, options }: &format::Reading) -> Options {
    let ReadOptions { deal, remainder, policy, worker_policy, weight, .. } = options.clone();
    let &ReadOptions { shuffle, lanes, window, shuffle_rows, reshuffle, .. } = options;
    let &ReadOptions { world_size, workers, batch_size, drop_last, .. } = options;
    Options {
        sizes: numbers(sizes),
        bytes: options.bytes.as_deref().map(numbers),
        seed: options.seed.map_or(0, |seed| seed.0),
        deal,
        shuffle,
        lanes,
        window,
        remainder,
        shuffle_rows,
        reshuffle,
        policy,
        worker_policy,
        weight,
        world_size,
        workers,
        batch_size,
        drop_last,
    }
}

pub(super) fn ask(reading: &mut Reading, call: &ReadCall) -> Answer {
    Ok(match *call {
        ReadCall::AtEpoch { epoch } => {
            *reading = reading.at_epoch(epoch.0);
            Value::Null
        }
        ReadCall::Resume { ref state } => {
            *reading = reading.resume(state)?;
            Value::Null
        }
        ReadCall::State { steps } => reading.state(steps.0)?.into(),
        ReadCall::Recipe => reading.recipe().into(),
        ReadCall::ReadsPerRow => reading.reads_per_row().into(),
        ReadCall::LanesReadOnce => reading.lanes_read_once().into(),
        ReadCall::MixingAdvice => reading.mixing_advice().map_or(Value::Null, |advice| {
            let MixingAdvice { lanes_per_reader, variance_ratio, lanes, window } = advice;
            record(format::MixingAdvice { lanes_per_reader, variance_ratio, lanes, window })
        }),
        ReadCall::Epoch => number(reading.epoch()),
        ReadCall::IsRest => reading.is_rest().into(),
        ReadCall::NumSteps { rank } => number(reading.num_steps(rank)?),
        ReadCall::Steps => {
            let (least, most) = reading.steps()?;
            record(format::Steps { least: U64(least), most: U64(most) })
        }
        ReadCall::NumIdleReaders => number(reading.num_idle()?),
        ReadCall::NumSamples { rank, worker } => number(reading.num_samples(rank, worker)?),
        ReadCall::NumPadding { rank, worker } => number(reading.num_padding(rank, worker)?),
        ReadCall::NumBatches { rank, worker } => number(reading.num_batches(rank, worker)?),
        ReadCall::Batch { rank, worker, number } => batch(reading.batch(rank, worker, number.0)?),
        ReadCall::BatchAt { rank, step } => batch(reading.batch_at(rank, step.0)?),
        ReadCall::Indices { rank, worker, start, count } => strings(&reading.indices(rank, worker, start.0, count)?),
        ReadCall::NumRounds { rank, worker } => number(reading.num_rounds(rank, worker)?),
        ReadCall::Round { rank, worker, number } => {
            let ReadRound { start, count, spans } = reading.round(rank, worker, number.0)?;
            record(format::Round { start: U64(start), count: U64(count), spans: strings(&spans) })
        }
        ReadCall::RoundRows { rank, worker, number, start, count } => {
            let RoundRows { rows, padding } = reading.round_rows(rank, worker, number.0, start.0, count)?;
            record(format::RoundRows { rows: strings(&rows), padding })
        }
        ReadCall::RoundOf { rank, worker, index } => number(reading.round_of(rank, worker, index.0)?),
        ReadCall::Shards { rank, worker } => reading.shards(rank, worker)?.into(),
    })
}

fn batch(batch: ReadBatch) -> Value {
    let ReadBatch { worker, number, step, start, count, padding } = batch;
    let [number, step, start] = [number, step, start].map(U64);
    record(format::ReadBatch { worker, number, step, start, count, padding })
}
