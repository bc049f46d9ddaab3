//! Batches in which each item has a row of its own: with a fixed number of items, of one bucket, or within a budget.

use alloc::vec::Vec;

use super::config::{BatchConfig, Strategy, Tail};
use super::items::Items;
use super::steps::Steps;
use crate::base::Failure;
use crate::base::memory::{collect, grow, has_room};
use crate::base::sort::sort_short;

/// Makes steps of items in their order, `rows` of them for each rank. Returns the items that do not fill a step.
pub(super) fn in_order(pool: Vec<u32>, rows: u32, steps: &mut Steps, world_size: u32) -> Result<Vec<u32>, Failure> {
    let mut chunks = pool.chunks_exact(full_step(rows, world_size, &pool));
    for step in &mut chunks {
        steps.strided(step, 0)?;
    }
    let rest = chunks.remainder();
    collect("batch_window", rest.len(), rest.iter().copied())
}

/// Makes steps of items of similar length, the longest first. Each rank gets as many items as a batch has room for if
/// all are as long as the longest item of the step. Returns the items that do not fill a step.
pub(super) fn by_length(
    config: &BatchConfig,
    items: &Items,
    pool: Vec<u32>,
    steps: &mut Steps,
    rows: &dyn Fn(u32) -> u32,
) -> Result<Vec<u32>, Failure> {
    let sorted = longest_first(items, pool)?;
    let mut at = 0;
    while at < sorted.len() {
        let full = u64::from(rows(items.length(sorted[at]))) * u64::from(config.world_size);
        if full > (sorted.len() - at) as u64 {
            break;
        }
        steps.strided(&sorted[at..at + full as usize], 0)?;
        at += full as usize;
    }
    collect("batch_window", sorted.len() - at, sorted[at..].iter().copied())
}

/// Makes steps that have items of one bucket each, in their order. Items that do not fill a step make steps of their
/// own: with `separate`, bucket by bucket; else of all buckets together. Returns how many items are left out.
pub(super) fn by_bucket(
    config: &BatchConfig,
    items: &Items,
    pool: Vec<u32>,
    steps: &mut Steps,
    rows: &dyn Fn(u32) -> u32,
) -> Result<u64, Failure> {
    // A key has a bucket and a place, so that the items of a bucket stay in their order.
    let mut keys = collect(
        "batch_window",
        pool.len(),
        (0_u64..).zip(&pool).map(|(place, &item)| u64::from(config.bucket(items.length(item))) << 32 | place),
    )?;
    samedeal_bulk::numbers(&mut keys);
    let (mut left, mut dropped) = (Vec::new(), 0);
    let item = |key: &u64| pool[*key as u32 as usize];
    for bucket in keys.chunk_by(|a, b| a >> 32 == b >> 32) {
        let before = steps.count();
        let first = items.length(item(&bucket[0]));
        let full = full_step(rows(first), config.world_size, &pool);
        let mut chunks = bucket.chunks_exact(full);
        for step in &mut chunks {
            let step = collect("batch_window", full, step.iter().map(item))?;
            steps.strided(&step, 0)?;
        }
        let rest = chunks.remainder();
        if config.separate {
            let rest = collect("batch_window", rest.len(), rest.iter().map(item))?;
            dropped += tail(config, items, rest, steps, rows, before)?;
        } else {
            grow("batch_window", rest.len(), &mut left)?;
            left.extend(rest.iter().map(|key| *key as u32));
        }
    }
    sort_short(&mut left);
    for place in &mut left {
        *place = pool[*place as usize];
    }
    Ok(dropped + tail(config, items, left, steps, rows, 0)?)
}

/// Makes batches of items in their order. A batch closes when the next item would exceed the budget or the most rows.
/// Every `world_size` batches are a step. Returns the items that do not fill a step.
pub(super) fn as_they_come(
    config: &BatchConfig,
    items: &Items,
    pool: Vec<u32>,
    steps: &mut Steps,
) -> Result<Vec<u32>, Failure> {
    let world_size = config.world_size as usize;
    let mut ends = collect("batch_window", world_size, [])?;
    let (mut begin, mut first, mut at, mut longest, mut cost) = (0, 0, 0, 0, 0_u128);
    while at < pool.len() || at > first {
        if let Some(&item) = pool.get(at) {
            let length = items.length(item);
            let (next_longest, next_cost) = (longest.max(length), cost + config.cost(length));
            let over = if config.is_padded() {
                at - first >= config.rows(next_longest) as usize
            } else {
                next_cost > config.budget.into() || at - first >= config.max_batch_size as usize
            };
            if at == first || !over {
                (longest, cost) = (next_longest, next_cost);
                at += 1;
                continue;
            }
        }
        let (count, multiple) = (at - first, config.multiple as usize);
        if config.is_padded() && count > multiple {
            // The items above the multiple come first in the next batch.
            at -= count % multiple;
        }
        ends.push(at);
        (first, longest, cost) = (at, 0, 0);
        if ends.len() == world_size {
            for &end in &ends {
                steps.row(&pool[begin..end])?;
                steps.end_batch(0)?;
                begin = end;
            }
            ends.clear();
        }
    }
    collect("batch_window", pool.len() - begin, pool[begin..].iter().copied())
}

/// Makes the last steps: those of the items that are left after the full steps of the strategy. Returns how many items
/// are left out. Steps before number `first` give up no items.
pub(super) fn tail(
    config: &BatchConfig,
    items: &Items,
    left: Vec<u32>,
    steps: &mut Steps,
    rows: &dyn Fn(u32) -> u32,
    first: usize,
) -> Result<u64, Failure> {
    // First, full steps, which may have items of several buckets.
    let mut left = by_length(config, items, left, steps, rows)?;
    let world_size = config.world_size as usize;
    match config.tail {
        _ if left.is_empty() => {}
        Tail::Drop => return Ok(left.len() as u64),
        Tail::EvenSplit if left.len() < world_size => {
            let spared = if steps.count() > first { steps.spare(world_size - left.len())? } else { Vec::new() };
            if !has_room(&mut left, spared.len()) {
                return Err(Failure::out_of_memory("batch_window", spared.len(), "a smaller window"));
            }
            left.extend(spared);
            steps.strided(&longest_first(items, left)?, 0)?;
        }
        Tail::Keep | Tail::EvenSplit if config.strategy == Strategy::Budget && config.is_padded() => {
            by_cost(config, items, &left, steps)?;
        }
        Tail::Keep | Tail::EvenSplit => steps.strided(&left, 0)?,
        Tail::Duplicate => {
            let there = left.len();
            let full = there.div_ceil(world_size) * world_size;
            let again = collect("batch_window", full - there, left.iter().rev().cycle().copied())?;
            if !has_room(&mut left, again.len()) {
                return Err(Failure::out_of_memory("batch_window", again.len(), "a smaller window"));
            }
            left.extend(again);
            steps.strided(&left, full - there)?;
        }
    }
    Ok(0)
}

/// Makes a step of all these items, which are sorted, longest first. Each rank gets consecutive items. The numbers of
/// items are chosen so that the greatest number of padded tokens of a rank is as small as possible. A batch must have
/// room for an even share of the items if all are as long as the longest one, because this is the upper limit of the
/// search.
fn by_cost(config: &BatchConfig, items: &Items, sorted: &[u32], steps: &mut Steps) -> Result<(), Failure> {
    let (world_size, most) = (config.world_size as usize, config.max_batch_size as usize);
    // How many items the batch of a rank gets if it begins at the place `at` and has at most `tokens` padded tokens.
    // One item is left for each later rank.
    let fits = |at: usize, rank: usize, tokens: u64| {
        let room = tokens / u64::from(items.length(sorted[at])).max(1);
        let spare = (sorted.len() - at).saturating_sub(world_size - 1 - rank).max(1);
        usize::try_from(room).unwrap_or(usize::MAX).min(most).min(spare).max(1)
    };
    let holds_all = |tokens: u64| {
        let mut at = 0;
        (0..world_size).any(|rank| {
            at += fits(at, rank, tokens);
            at >= sorted.len()
        })
    };
    let longest = sorted.first().map_or(0, |&item| u64::from(items.length(item)));
    let (mut low, mut high) = (longest, longest.max(1) * sorted.len().div_ceil(world_size) as u64);
    while low < high {
        let middle = low.midpoint(high);
        if holds_all(middle) { high = middle } else { low = middle + 1 }
    }
    let mut at = 0;
    for rank in 0..world_size {
        let count = if at < sorted.len() { fits(at, rank, low).min(sorted.len() - at) } else { 0 };
        steps.row(&sorted[at..at + count])?;
        steps.end_batch(0)?;
        at += count;
    }
    Ok(())
}

/// The number of items of a full step, but at most one more than the pool has, so that it fits into `usize`.
fn full_step(rows: u32, world_size: u32, pool: &[u32]) -> usize {
    (u64::from(rows) * u64::from(world_size)).min(pool.len() as u64 + 1) as usize
}

/// Sorts items, longest first. Items of equal length stay in their order.
fn longest_first(items: &Items, mut pool: Vec<u32>) -> Result<Vec<u32>, Failure> {
    let mut other = collect("batch_window", pool.len(), core::iter::repeat_n(0, pool.len()))?;
    samedeal_bulk::longest_first(&mut pool, &mut other, items.lengths());
    Ok(pool)
}
