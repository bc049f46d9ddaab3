//! A window of items to steps.

use alloc::vec::Vec;

use super::config::{BatchConfig, Strategy, Tail, TooLong};
use super::items::Items;
use super::pack::{Shape, steps_of_packs};
use super::padded::{as_they_come, by_bucket, by_length, in_order, tail};
use super::steps::Steps;
use crate::Failure;
use crate::base::key::Words;
use crate::base::memory::{collect, has_room};

/// What a window becomes.
pub(super) struct Planned {
    pub(super) steps: Steps,
    /// Items for the next window.
    pub(super) left: Vec<u32>,
    /// How many items are left out.
    pub(super) dropped: u64,
    /// How few packs there might be at best, where there are packs.
    pub(super) packs_bound: u64,
}

/// The steps of a window, which is number `window` and maybe the last one. Failures: `out-of-memory`.
pub(super) fn plan_window(
    config: &BatchConfig,
    items: &Items,
    pool: Vec<u32>,
    window: u64,
    last: bool,
) -> Result<Planned, Failure> {
    let mut steps = Steps::new(config.world);
    let (alone, pool) = singles(config, items, pool)?;
    let all = |_| config.max_batch_size;
    let rows = |longest| config.rows(longest);
    let bucket_rows = |longest| config.rows(config.bucket_end(longest));
    let mut packs_bound = 0;
    let (mut left, mut dropped) = match config.strategy {
        Strategy::PadToMax => (in_order(pool, config.max_batch_size, &mut steps, config.world)?, 0),
        Strategy::Bucket => (by_bucket(config, items, pool, &mut steps)?, 0),
        Strategy::Budget if config.takes_in_order() => (as_they_come(config, items, pool, &mut steps, last)?, 0),
        Strategy::Budget if config.is_padded() => (by_length(config, items, pool, &mut steps, rows)?, 0),
        Strategy::Budget | Strategy::Pack => {
            let (left, dropped, bound) = steps_of_packs(config, items, pool, &shape(config), last, &mut steps)?;
            packs_bound = bound;
            (left, dropped)
        }
    };
    if last {
        dropped += match config.strategy {
            Strategy::PadToMax => tail(config, items, left, &mut steps, all)?,
            Strategy::Bucket => tail(config, items, left, &mut steps, bucket_rows)?,
            Strategy::Budget => tail(config, items, left, &mut steps, rows)?,
            Strategy::Pack => 0,
        };
        left = Vec::new();
    }
    let (more, lost) = steps_of_singles(config, alone, last, &mut steps)?;
    dropped += lost;
    if !has_room(&mut left, more.len()) {
        return Err(Failure::out_of_memory("window", config.width(), "a smaller window"));
    }
    left.extend(more);
    if config.strategy != Strategy::PadToMax && !config.takes_in_order() {
        steps.shuffle(&mut Words::new("batch steps", config.seed, config.epoch, window))?;
    }
    Ok(Planned { steps, left, dropped, packs_bound })
}

fn shape(config: &BatchConfig) -> Shape {
    let BatchConfig { strategy, max_batch_size, capacity, budget, packing, .. } = *config;
    if strategy == Strategy::Pack {
        return Shape {
            capacity: capacity.into(),
            slots: u32::MAX,
            rows: max_batch_size,
            shared: true,
            method: packing,
        };
    }
    let slots = if max_batch_size == 0 { u32::MAX } else { max_batch_size };
    Shape { capacity: budget, slots, rows: 1, shared: false, method: packing }
}

/// The items that are batches by themselves, and the others.
fn singles(config: &BatchConfig, items: &Items, mut pool: Vec<u32>) -> Result<(Vec<u32>, Vec<u32>), Failure> {
    if config.too_long != TooLong::Single {
        return Ok((Vec::new(), pool));
    }
    let most = config.longest();
    let count = pool.iter().filter(|&&item| items.length(item) > most).count();
    let alone = collect("window", count, pool.iter().copied().filter(|&item| items.length(item) > most))?;
    pool.retain(|&item| items.length(item) <= most);
    Ok((alone, pool))
}

/// Steps of one item for each rank; what is left over, and how many are left out.
fn steps_of_singles(
    config: &BatchConfig,
    alone: Vec<u32>,
    last: bool,
    steps: &mut Steps,
) -> Result<(Vec<u32>, u64), Failure> {
    let world = config.world as usize;
    let mut chunks = alone.chunks_exact(world);
    for step in &mut chunks {
        steps.strided(step, 0)?;
    }
    let rest = chunks.remainder();
    if rest.is_empty() {
        return Ok((Vec::new(), 0));
    }
    if !last {
        return Ok((collect("window", rest.len(), rest.iter().copied())?, 0));
    }
    match config.tail {
        Tail::Drop => return Ok((Vec::new(), rest.len() as u64)),
        Tail::Keep | Tail::EvenSplit => steps.strided(rest, 0)?,
        Tail::Duplicate => {
            let full = collect("window", world, rest.iter().copied().chain(rest.iter().rev().copied().cycle()))?;
            steps.strided(&full, world - rest.len())?;
        }
    }
    Ok((Vec::new(), 0))
}
