//! Readings of the core.

use samedeal_core::read::{Options, ReadRound, Reading};
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
        ReadCall::Indices { rank, worker, start, count } => strings(&reading.indices(rank, worker, start.0, count)?),
        ReadCall::NumRounds { rank, worker } => number(reading.num_rounds(rank, worker)?),
        ReadCall::Round { rank, worker, number } => {
            let ReadRound { start, count, spans } = reading.round(rank, worker, number.0)?;
            record(format::Round { start: U64(start), count: U64(count), spans: strings(&spans) })
        }
        ReadCall::RoundOf { rank, worker, index } => number(reading.round_of(rank, worker, index.0)?),
        ReadCall::Shards { rank, worker } => reading.shards(rank, worker)?.into(),
    })
}
