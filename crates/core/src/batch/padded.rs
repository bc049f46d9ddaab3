//! Batches whose items are padded to the longest: by number, by bucket, by budget.

use alloc::vec::Vec;

use super::config::{BatchConfig, Tail};
use super::items::Items;
use super::steps::Steps;
use crate::Failure;
use crate::base::memory::{collect, has_room};

/// Steps of items as they come: `rows` of them for each rank. What is left over is handed back.
pub(super) fn in_order(pool: Vec<u32>, rows: u32, steps: &mut Steps, world: u32) -> Result<Vec<u32>, Failure> {
    let mut chunks = pool.chunks_exact(full_step(rows, world, &pool));
    for step in &mut chunks {
        steps.strided(step, 0)?;
    }
    let rest = chunks.remainder();
    collect("window", rest.len(), rest.iter().copied())
}

/// Steps of similar lengths: the longest items first, as many for each rank as a batch of the longest has room for.
pub(super) fn by_length(
    config: &BatchConfig,
    items: &Items,
    pool: Vec<u32>,
    steps: &mut Steps,
    rows: impl Fn(u32) -> u32,
) -> Result<Vec<u32>, Failure> {
    let sorted = longest_first(items, pool)?;
    let mut at = 0;
    while at < sorted.len() {
        let full = u64::from(rows(items.length(sorted[at]))) * u64::from(config.world);
        if full > (sorted.len() - at) as u64 {
            break;
        }
        steps.strided(&sorted[at..at + full as usize], 0)?;
        at += full as usize;
    }
    collect("window", sorted.len() - at, sorted[at..].iter().copied())
}

/// Steps of one bucket each, as items come. What does not fill a step is handed back in the order in which it came.
pub(super) fn by_bucket(
    config: &BatchConfig,
    items: &Items,
    pool: Vec<u32>,
    steps: &mut Steps,
) -> Result<Vec<u32>, Failure> {
    // Stable: within a bucket, items stay as they came.
    let mut keys = collect(
        "window",
        pool.len(),
        (0_u64..).zip(&pool).map(|(place, &item)| u64::from(config.bucket(items.length(item))) << 32 | place),
    )?;
    samedeal_sort::numbers(&mut keys);
    let mut left = collect("window", pool.len(), [])?;
    for bucket in keys.chunk_by(|a, b| a >> 32 == b >> 32) {
        let place = |key: &u64| *key as u32;
        let first = items.length(pool[place(&bucket[0]) as usize]);
        let full = full_step(config.rows(config.bucket_end(first)), config.world, &pool);
        let mut chunks = bucket.chunks_exact(full);
        for step in &mut chunks {
            let step = collect("window", full, step.iter().map(|key| pool[place(key) as usize]))?;
            steps.strided(&step, 0)?;
        }
        left.extend(chunks.remainder().iter().map(place));
    }
    samedeal_sort::numbers32(&mut left);
    for place in &mut left {
        *place = pool[*place as usize];
    }
    Ok(left)
}

/// Batches that close when the next item would cost too much; so many as there are ranks are a step.
pub(super) fn as_they_come(
    config: &BatchConfig,
    items: &Items,
    pool: Vec<u32>,
    steps: &mut Steps,
    close_last: bool,
) -> Result<Vec<u32>, Failure> {
    let world = config.world as usize;
    let mut ends = collect("window", world, [])?;
    let (mut begin, mut first, mut at, mut longest, mut cost) = (0, 0, 0, 0, 0_u128);
    while at < pool.len() || close_last && at > first {
        if let Some(&item) = pool.get(at) {
            let length = items.length(item);
            let (next_longest, next_cost) = (longest.max(length), cost + config.cost(length));
            let over = if config.is_padded() {
                at - first >= config.rows(next_longest) as usize
            } else {
                let most = if config.max_batch_size == 0 { u32::MAX } else { config.max_batch_size };
                next_cost > config.budget.into() || at - first >= most as usize
            };
            if at == first || !over {
                (longest, cost) = (next_longest, next_cost);
                at += 1;
                continue;
            }
        }
        let (count, multiple) = (at - first, config.multiple as usize);
        if config.is_padded() && count > multiple {
            // The others come first in the next batch.
            at -= count % multiple;
        }
        ends.push(at);
        (first, longest, cost) = (at, 0, 0);
        if ends.len() == world {
            for &end in &ends {
                for &item in &pool[begin..end] {
                    steps.row([item])?;
                }
                steps.end_batch(0)?;
                begin = end;
            }
            ends.clear();
        }
    }
    collect("window", pool.len() - begin, pool[begin..].iter().copied())
}

/// The last items of the epoch, which fill no step.
pub(super) fn tail(
    config: &BatchConfig,
    items: &Items,
    left: Vec<u32>,
    steps: &mut Steps,
    rows: impl Fn(u32) -> u32,
) -> Result<u64, Failure> {
    // As long as there are full steps, lengths of several buckets make them.
    let mut left = by_length(config, items, left, steps, rows)?;
    let world = config.world as usize;
    match config.tail {
        _ if left.is_empty() => {}
        Tail::Drop => return Ok(left.len() as u64),
        Tail::EvenSplit if left.len() < world => {
            let spared = steps.spare(world - left.len())?;
            if !has_room(&mut left, spared.len()) {
                return Err(Failure::out_of_memory("window", spared.len(), "a smaller window"));
            }
            left.extend(spared);
            steps.strided(&longest_first(items, left)?, 0)?;
        }
        Tail::Keep | Tail::EvenSplit => steps.strided(&left, 0)?,
        Tail::Duplicate => {
            let there = left.len();
            let full = there.div_ceil(world) * world;
            let again = collect("window", full - there, left.iter().rev().cycle().copied())?;
            if !has_room(&mut left, again.len()) {
                return Err(Failure::out_of_memory("window", again.len(), "a smaller window"));
            }
            left.extend(again);
            steps.strided(&left, full - there)?;
        }
    }
    Ok(0)
}

/// How many items make a step; one more than there are if it is more than that.
fn full_step(rows: u32, world: u32, pool: &[u32]) -> usize {
    (u64::from(rows) * u64::from(world)).min(pool.len() as u64 + 1) as usize
}

/// The items, longest first, in the order in which they came among equals.
fn longest_first(items: &Items, pool: Vec<u32>) -> Result<Vec<u32>, Failure> {
    let mut keys = collect(
        "window",
        pool.len(),
        (0_u64..).zip(&pool).map(|(place, &item)| u64::from(u32::MAX - items.length(item)) << 32 | place),
    )?;
    samedeal_sort::numbers(&mut keys);
    let mut sorted = pool;
    let pool = collect("window", sorted.len(), sorted.iter().copied())?;
    for (to, key) in sorted.iter_mut().zip(keys) {
        *to = pool[key as u32 as usize];
    }
    Ok(sorted)
}
