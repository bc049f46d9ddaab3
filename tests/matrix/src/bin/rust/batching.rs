//! Batches and collation of the Rust host.

use matrix::format::{self, BatchConfig, Call, U64, record, strings};
use samedeal::collate::{self, Padding};
use samedeal::{Batch, BatchBuilder, BatchStream, Batcher, Buckets, Error, Metrics, Stretch};
use serde_json::Value;

use super::Answer;

pub fn batcher(config: &BatchConfig) -> Result<Batcher, Error> {
    BatchBuilder::<Batcher>::from(read_config(config)?).build()
}

pub fn stream(config: &BatchConfig, rank: u32) -> Result<BatchStream, Error> {
    BatchBuilder::<BatchStream>::from(read_config(config)?).rank(rank).build()
}

pub fn ask_batcher(batcher: &mut Batcher, call: &Call) -> Answer {
    Ok(match *call {
        Call::SetEpoch { epoch } => batcher.set_epoch(epoch.0).map(|()| Value::Null)?,
        Call::Metrics => write_metrics(batcher.metrics()),
        Call::Ratio { ref name } => ratio(batcher.metrics(), name),
        Call::State { taken } => batcher.state(taken.0)?.into(),
        Call::Resume { ref state } => batcher.resume(state).map(|()| Value::Null)?,
        Call::Locate { sample, batch_size: None } => batcher.locate(sample.0)?.iter().map(write_place).collect(),
        Call::Take { steps: Some(format::Window { rank, start, count }) } => {
            let batches = batcher.batches_window(rank, start.0, count)?;
            let iterated = batcher.batches_of(rank, start.0..start.0 + u64::from(count))?;
            assert_eq!(iterated.collect::<Result<Vec<_>, _>>()?, batches);
            write_run(&batches)
        }
        Call::Fingerprint => batcher.fingerprint()?.into(),
        _ => panic!("no call of a batcher: {call:?}"),
    })
}

fn write_place(&samedeal::BatchPlace { step, rank, row, slot, start, .. }: &samedeal::BatchPlace) -> Value {
    record(format::BatchPlace { step: U64(step), rank, row, slot, start })
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

pub fn pad(lengths: &[u32], width: u32, multiple: u32, side: &str) -> Answer {
    let padding = Padding::new(u32::MAX).width(width).multiple(multiple).side(side.parse()?);
    let collate::Padded { rows, width, values, attention_mask, .. } = collate::pad(&tokens(lengths), lengths, padding)?;
    assert_eq!((rows, rows * width), (lengths.len(), values.len()));
    assert!(attention_mask.iter().copied().eq(values.iter().map(|&source| source != u32::MAX)));
    Ok(record(format::Padded { width: width as u32, sources: values }))
}

pub fn pack(lengths: &[u32], row_ends: &[u32], width: u32) -> Answer {
    let packed = collate::pack(&tokens(lengths), lengths, row_ends, width, u32::MAX)?;
    let collate::Packed { rows, width: wide, values, position_ids, segment_ids, cu_seqlens, max_seqlen, .. } = packed;
    assert_eq!((rows, wide, rows * wide), (row_ends.len(), width as usize, values.len()));
    Ok(record(format::Packed { sources: values, position_ids, segment_ids, cu_seqlens, max_seqlen }))
}

/// Tokens that are their own numbers, so that a cell holds where it comes from. Of more than there may be, none.
fn tokens(lengths: &[u32]) -> Vec<u32> {
    let count = lengths.iter().map(|&length| u64::from(length)).sum::<u64>();
    if count > 1 << 26 { Vec::new() } else { (0..count as u32).collect() }
}

fn read_config(config: &BatchConfig) -> Result<samedeal::BatchConfig, Error> {
    // A configuration as a whole, since a case may contradict itself.
    let mut whole = Batcher::builder([]).budget(1).build()?.config().clone();
    whole.lengths = config.lengths.clone();
    whole.seed = config.seed.0;
    whole.epoch = config.epoch.0;
    whole.order = config.order.clone();
    whole.world = config.world;
    whole.strategy = config.strategy.parse()?;
    whole.max_batch_size = config.max_batch_size;
    whole.max_length = config.max_length;
    whole.budget = config.budget.0;
    whole.counting = config.counting.parse()?;
    whole.linear = config.linear;
    whole.quadratic = config.quadratic;
    whole.multiple = config.multiple;
    whole.capacity = config.capacity;
    whole.packing = config.packing.parse()?;
    whole.buckets = config.buckets.as_ref().map(|buckets| match *buckets {
        format::Buckets::BucketWidth(width) => Buckets::Width(width),
        format::Buckets::Boundaries(ref ends) => Buckets::Boundaries(ends.clone()),
        format::Buckets::Quantiles(count) => Buckets::Quantiles(count),
    });
    whole.window = config.window;
    whole.too_long = config.too_long.parse()?;
    whole.tail = config.tail.parse()?;
    whole.history = config.history.iter().map(|past| Stretch { world: past.world, steps: past.steps.0 }).collect();
    Ok(whole)
}

fn ratio(metrics: &Metrics, name: &str) -> Value {
    let ratio = match name {
        "padding" => metrics.padding_ratio(),
        "budget-utilisation" => metrics.budget_utilisation(),
        "slowest-rank-utilisation" => metrics.slowest_rank_utilisation(),
        "cost-imbalance" => metrics.cost_imbalance(),
        other => panic!("no ratio: {other}"),
    };
    super::number(super::millionths(ratio))
}

fn write_metrics(metrics: &Metrics) -> Value {
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

/// The batches end to end, as they cross.
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
    record(format::Run {
        samples: strings(&batches.iter().flat_map(|batch| &batch.samples).copied().collect::<Vec<_>>()),
        starts: all(|batch| &batch.starts),
        lengths: all(|batch| &batch.lengths),
        row_ends,
        batch_ends,
        padded_lengths: batches.iter().map(|batch| batch.padded_length).collect(),
        costs: strings(&batches.iter().map(|batch| batch.cost).collect::<Vec<_>>()),
        repeated: batches.iter().map(|batch| batch.repeated).collect(),
    })
}
