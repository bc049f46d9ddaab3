//! The plan of a window: the steps of its items. A plan depends on no other window: items that do not fill a step make
//! the last steps of their window, or are left out.

use alloc::vec::Vec;

use super::config::{BatchConfig, Strategy, Tail, TooLong};
use super::items::Items;
use super::pack::{Shape, steps_of_packs};
use super::padded::{as_they_come, by_bucket, by_length, in_order, tail};
use super::steps::Steps;
use crate::base::Failure;
use crate::base::key::Words;
use crate::base::memory::collect;

/// The plan of a window.
pub(super) struct Planned {
    pub(super) steps: Steps,
    /// How many items are left out.
    pub(super) dropped: u64,
    /// A lower bound on the number of packs; 0 if nothing is packed.
    pub(super) packs_bound: u64,
}

/// Plans a window that begins at a position. Failures: `out-of-memory`.
pub(super) fn plan_window(config: &BatchConfig, epoch: u64, items: &Items, position: u64) -> Result<Planned, Failure> {
    let mut steps = Steps::new(config.world_size, config.strategy == Strategy::Pack);
    let (alone, pool) = singles(config, items)?;
    let all = |_| config.max_batch_size;
    let rows = |longest| config.rows(longest);
    let bucket_rows = |longest| config.rows(config.bucket_end(longest));
    let mut packs_bound = 0;
    let mut dropped = match config.strategy {
        Strategy::PadToMax => {
            let left = in_order(pool, config.max_batch_size, &mut steps, config.world_size)?;
            tail(config, items, left, &mut steps, &all, 0)?
        }
        Strategy::Bucket => by_bucket(config, items, pool, &mut steps, &bucket_rows)?,
        Strategy::Budget if config.keeps_order() => {
            let left = as_they_come(config, items, pool, &mut steps)?;
            tail(config, items, left, &mut steps, &rows, 0)?
        }
        Strategy::Budget if config.is_padded() => {
            let left = by_length(config, items, pool, &mut steps, &rows)?;
            tail(config, items, left, &mut steps, &rows, 0)?
        }
        Strategy::Budget | Strategy::Pack => {
            let (dropped, bound) = steps_of_packs(config, items, pool, &shape(config), &mut steps)?;
            packs_bound = bound;
            dropped
        }
    };
    dropped += steps_of_singles(config, alone, &mut steps)?;
    if !config.keeps_order() {
        steps.shuffle(&mut Words::new("batch steps", config.seed, epoch, position))?;
    }
    Ok(Planned { steps, dropped, packs_bound })
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
    Shape { capacity: budget, slots: config.max_batch_size, rows: 1, shared: false, method: packing }
}

/// Two lists: the items that are batches by themselves, longest first, so that the batches of a step have similar
/// costs; and the other items.
fn singles(config: &BatchConfig, items: &Items) -> Result<(Vec<u32>, Vec<u32>), Failure> {
    let all = items.count() as usize;
    let most = if config.too_long == TooLong::Single { config.longest() } else { u32::MAX };
    let is_alone = |&item: &u32| items.length(item) > most;
    let count = if most == u32::MAX { 0 } else { (0..items.count()).filter(is_alone).count() };
    if count == 0 {
        return Ok((Vec::new(), collect("batch_window", all, 0..items.count())?));
    }
    // Each item becomes one number to sort by: the longest item first, equal ones in their order. Sorting values of
    // another type would make the component 6 kB larger.
    let key = |item: u32| u64::from(!items.length(item)) << 32 | u64::from(item);
    let mut keys = collect("batch_window", count, (0..items.count()).filter(is_alone).map(key))?;
    keys.sort_unstable();
    let alone = collect("batch_window", count, keys.into_iter().map(|key| key as u32))?;
    let pool = collect("batch_window", all - count, (0..items.count()).filter(|item| !is_alone(item)))?;
    Ok((alone, pool))
}

/// Makes steps with one item for each rank. Returns how many items are left out.
fn steps_of_singles(config: &BatchConfig, alone: Vec<u32>, steps: &mut Steps) -> Result<u64, Failure> {
    let world_size = config.world_size as usize;
    let mut chunks = alone.chunks_exact(world_size);
    for step in &mut chunks {
        steps.strided(step, 0)?;
    }
    let rest = chunks.remainder();
    match config.tail {
        _ if rest.is_empty() => {}
        Tail::Drop => return Ok(rest.len() as u64),
        Tail::Keep | Tail::EvenSplit => steps.strided(rest, 0)?,
        Tail::Duplicate => {
            let again = rest.iter().rev().copied().cycle();
            let full = collect("batch_window", world_size, rest.iter().copied().chain(again))?;
            steps.strided(&full, world_size - rest.len())?;
        }
    }
    Ok(0)
}
