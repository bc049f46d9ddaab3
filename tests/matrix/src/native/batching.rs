//! Batches and collation of the core.

use samedeal_core::batch::{self, collate};
use samedeal_core::{Failure, OrderId};
use serde_json::Value;

use super::Answer;
use crate::format::{self, Call, U64, record, strings};

pub(super) fn ask_batcher(batcher: &mut batch::Batcher, call: &Call) -> Answer {
    Ok(match *call {
        Call::SetEpoch { epoch } => batcher.set_epoch(epoch.0).map(|()| Value::Null)?,
        Call::Metrics => write_metrics(&batcher.metrics()),
        Call::Ratio { ref name } => super::number(batcher.ratio(name)?),
        Call::State { taken } => batcher.state(taken.0)?.into(),
        Call::Resume { ref state } => batcher.resume(state).map(|()| Value::Null)?,
        Call::Locate { sample, batch_size: None } => batcher.locate(sample.0)?.into_iter().map(write_place).collect(),
        Call::Take { steps: Some(format::Window { rank, start, count }) } => {
            write_run(batcher.take(rank, start.0, count)?)
        }
        Call::Fingerprint => batcher.fingerprint()?.into(),
        _ => panic!("no call of a batcher: {call:?}"),
    })
}

fn write_place(place: batch::BatchPlace) -> Value {
    let batch::BatchPlace { step, rank, row, slot, start } = place;
    record(format::BatchPlace { step: U64(step), rank, row, slot, start })
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
        Call::Pad { ref lengths, width, multiple, ref side } => collate::pad(lengths, width, multiple, read_side(side))
            .map(|collate::Padded { width, sources }| record(format::Padded { width, sources })),
        Call::Pack { ref lengths, ref row_ends, width } => collate::pack(lengths, row_ends, width).map(|packed| {
            let collate::Packed { sources, position_ids, segment_ids, cu_seqlens, max_seqlen } = packed;
            record(format::Packed { sources, position_ids, segment_ids, cu_seqlens, max_seqlen })
        }),
        _ => return None,
    })
}

pub(super) fn read_config(config: &format::BatchConfig) -> Result<batch::BatchConfig, Failure> {
    Ok(batch::BatchConfig {
        lengths: config.lengths.clone(),
        seed: config.seed.0,
        epoch: config.epoch.0,
        order: OrderId::from_name(&config.order)?,
        world: config.world,
        strategy: match config.strategy.as_str() {
            "pad-to-max" => batch::Strategy::PadToMax,
            "bucket" => batch::Strategy::Bucket,
            "budget" => batch::Strategy::Budget,
            "pack" => batch::Strategy::Pack,
            other => panic!("no strategy: {other}"),
        },
        max_batch_size: config.max_batch_size,
        max_length: config.max_length,
        budget: config.budget.0,
        counting: match config.counting.as_str() {
            "padded" => batch::Counting::Padded,
            "unpadded" => batch::Counting::Unpadded,
            "weighted" => batch::Counting::Weighted { linear: config.linear, quadratic: config.quadratic },
            other => panic!("no counting: {other}"),
        },
        multiple: config.multiple,
        capacity: config.capacity,
        packing: match config.packing.as_str() {
            "fast" => batch::Packing::Fast,
            "optimal" => batch::Packing::Optimal,
            other => panic!("no packing: {other}"),
        },
        buckets: config.buckets.as_ref().map(|buckets| match *buckets {
            format::Buckets::BucketWidth(width) => batch::Buckets::Width(width),
            format::Buckets::Boundaries(ref ends) => batch::Buckets::Boundaries(ends.clone()),
            format::Buckets::Quantiles(count) => batch::Buckets::Quantiles(count),
        }),
        window: config.window,
        too_long: match config.too_long.as_str() {
            "error" => batch::TooLong::Error,
            "truncate" => batch::TooLong::Truncate,
            "drop" => batch::TooLong::Drop,
            "split" => batch::TooLong::Split,
            "single" => batch::TooLong::Single,
            other => panic!("nothing to do with what is too long: {other}"),
        },
        tail: match config.tail.as_str() {
            "drop" => batch::Tail::Drop,
            "keep" => batch::Tail::Keep,
            "even-split" => batch::Tail::EvenSplit,
            "duplicate" => batch::Tail::Duplicate,
            other => panic!("no tail: {other}"),
        },
        history: config.history.iter().map(|past| batch::Stretch { world: past.world, steps: past.steps.0 }).collect(),
    })
}

fn read_side(side: &str) -> collate::Side {
    match side {
        "right" => collate::Side::Right,
        "left" => collate::Side::Left,
        other => panic!("no side: {other}"),
    }
}

fn write_metrics(metrics: &batch::Metrics) -> Value {
    record(format::Metrics {
        steps: U64(metrics.steps),
        items: U64(metrics.items),
        rows: U64(metrics.rows),
        tokens: U64(metrics.tokens),
        padded: U64(metrics.padded),
        slowest: U64(metrics.slowest),
        cost: U64(metrics.cost),
        slowest_cost: U64(metrics.slowest_cost),
        packs_bound: U64(metrics.packs_bound),
        over_budget: U64(metrics.over_budget),
        empty: U64(metrics.empty),
        repeated: U64(metrics.repeated),
        dropped: U64(metrics.dropped),
        truncated: U64(metrics.truncated),
        too_long: U64(metrics.too_long),
        split: U64(metrics.split),
    })
}

fn write_run(run: batch::Run) -> Value {
    let batch::Run { samples, starts, lengths, row_ends, batch_ends, padded_lengths, costs, repeated } = run;
    let (samples, costs) = (strings(&samples), strings(&costs));
    record(format::Run { samples, starts, lengths, row_ends, batch_ends, padded_lengths, costs, repeated })
}
