//! Readings of the Rust host.

use matrix::format::{self, ReadCall, U64, record, strings};
use samedeal::{Error, MixingAdvice, ReadBatch, Reading, RoundRows};
use serde_json::Value;

use super::{Answer, number, numbers};

pub fn reading(format::Reading { sizes, options }: &format::Reading) -> Result<Reading, Error> {
    let mut builder = Reading::builder(numbers(sizes));
    macro_rules! set {
        ($($option:ident),*) => {
            $(if let Some(value) = options.$option.clone() {
                builder = builder.$option(value);
            })*
        };
    }
    set!(deal, shuffle, lanes, window, remainder, shuffle_rows, reshuffle, policy, worker_policy, weight);
    set!(world_size, workers, batch_size, drop_last);
    if let Some(seed) = options.seed {
        builder = builder.seed(seed.0);
    }
    if let Some(bytes) = &options.bytes {
        builder = builder.bytes(numbers(bytes));
    }
    builder.build()
}

pub fn ask(reading: &mut Reading, call: &ReadCall) -> Answer {
    Ok(match *call {
        ReadCall::AtEpoch { epoch } => {
            *reading = reading.at_epoch(epoch.0)?;
            Value::Null
        }
        ReadCall::Resume { ref state } => {
            *reading = reading.resume(state)?;
            Value::Null
        }
        ReadCall::State { steps } => reading.state(steps.0)?.into(),
        ReadCall::Recipe => reading.recipe()?.into(),
        ReadCall::ReadsPerRow => reading.reads_per_row()?.into(),
        ReadCall::LanesReadOnce => reading.lanes_read_once()?.into(),
        ReadCall::MixingAdvice => reading.mixing_advice()?.map_or(Value::Null, |advice| {
            let MixingAdvice { lanes_per_reader, variance_ratio, lanes, window, .. } = advice;
            record(format::MixingAdvice { lanes_per_reader, variance_ratio, lanes, window })
        }),
        ReadCall::Epoch => number(reading.epoch()?),
        ReadCall::IsRest => reading.is_rest()?.into(),
        ReadCall::NumSteps { rank } => number(reading.num_steps(rank)?),
        ReadCall::Steps => {
            let samedeal::Steps { least, most, .. } = reading.steps()?;
            record(format::Steps { least: U64(least), most: U64(most) })
        }
        ReadCall::NumIdleReaders => number(reading.num_idle_readers()?),
        ReadCall::NumSamples { rank, worker } => number(reading.num_samples(rank, worker)?),
        ReadCall::NumPadding { rank, worker } => number(reading.num_padding(rank, worker)?),
        ReadCall::NumBatches { rank, worker } => number(reading.num_batches(rank, worker)?),
        ReadCall::Batch { rank, worker, number } => batch(reading.batch(rank, worker, number.0)?),
        ReadCall::BatchAt { rank, step } => batch(reading.batch_at(rank, step.0)?),
        ReadCall::Indices { rank, worker, start, count } => {
            strings(&reading.indices_window(rank, worker, start.0, count)?)
        }
        ReadCall::NumRounds { rank, worker } => number(reading.num_rounds(rank, worker)?),
        ReadCall::Round { rank, worker, number } => {
            let round = reading.round(rank, worker, number.0)?;
            // The iterator gives the same.
            let at = usize::try_from(number.0).expect("a round that there is");
            assert_eq!(reading.rounds(rank, worker)?.nth(at).expect("this round")?, round);
            let numbers = |span: &samedeal::ReadSpan| [span.stream.into(), span.shard.into(), span.first, span.count];
            let spans = strings(&round.spans.iter().flat_map(numbers).collect::<Vec<u64>>());
            record(format::Round { start: U64(round.start), count: U64(round.count), spans })
        }
        ReadCall::RoundRows { rank, worker, number, start, count } => {
            let RoundRows { rows, padding, .. } = reading.round_rows(rank, worker, number.0, start.0, count)?;
            record(format::RoundRows { rows: strings(&rows), padding })
        }
        ReadCall::RoundOf { rank, worker, index } => number(reading.round_of(rank, worker, index.0)?),
        ReadCall::Shards { rank, worker } => reading.shards(rank, worker)?.into(),
    })
}

fn batch(batch: ReadBatch) -> Value {
    let ReadBatch { worker, number, step, start, count, padding, .. } = batch;
    let [number, step, start] = [number, step, start].map(U64);
    record(format::ReadBatch { worker, number, step, start, count, padding })
}
