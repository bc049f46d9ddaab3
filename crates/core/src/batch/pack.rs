//! Packs: groups of items that fit into a capacity. With the strategy `pack`, a pack is a row that its items share.
//! With a budget that does not count padding, a pack is a batch.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::balance::Balance;
use super::config::{BatchConfig, Tail};
use super::items::Items;
use super::packing::{Packing, Patterns, histogram, places};
use super::steps::Steps;
use crate::base::Failure;
use crate::base::memory::{collect, grow};
use crate::base::sort::sort_short;

/// Packs as two lists: the items of all packs, pack after pack; and for each pack, the number of items up to its end.
struct Packs {
    items: Vec<u32>,
    ends: Vec<u32>,
    /// A lower bound on the number of packs.
    bound: u64,
}

impl Packs {
    fn new(pool: &[u32], sizes: &[u64], shape: &Shape) -> Result<Self, Failure> {
        let classes = histogram(sizes)?;
        let packing = Patterns::new(&classes, shape.capacity, shape.slots, shape.method)?;
        let places = places(sizes, &classes)?;
        // Items of equal size are taken in the order of the epoch. So the lengths decide the shapes of packs, and the
        // random order decides which items are in a pack.
        let mut next = collect(
            "batch_window",
            classes.len(),
            classes.iter().scan(0, |at, class| {
                let first = *at;
                *at += class.count;
                Some(first)
            }),
        )?;
        let mut packs = Self {
            items: collect("batch_window", pool.len(), [])?,
            ends: collect("batch_window", packing.count() as usize, [])?,
            bound: packing.bound(),
        };
        for pattern in packing.patterns() {
            for _ in 0..pattern.bins {
                for (class, count) in pattern.content() {
                    let next = &mut next[class as usize];
                    let taken = &places[*next as usize..(*next + count) as usize];
                    packs.items.extend(taken.iter().map(|&place| pool[place as usize]));
                    *next += count;
                }
                packs.ends.push(packs.items.len() as u32);
            }
        }
        Ok(packs)
    }

    fn count(&self) -> usize {
        self.ends.len()
    }

    fn start(&self, pack: usize) -> usize {
        if pack == 0 { 0 } else { self.ends[pack - 1] as usize }
    }

    fn items(&self, pack: usize) -> &[u32] {
        &self.items[self.start(pack)..self.ends[pack] as usize]
    }

    fn cost(&self, pack: usize, config: &BatchConfig, items: &Items) -> u128 {
        self.items(pack).iter().map(|&item| config.cost(items.length(item))).sum()
    }

    /// Spreads the items of the packs from number `first` on over `wanted` packs of nearly equal cost. Before the call,
    /// there must be at most `wanted` such packs. Each item, the costliest first, goes into the pack with the least
    /// cost so far. Returns false, and changes nothing, if an item does not fit into that pack; or if there are exactly
    /// `wanted` packs already, and the costliest one would not become cheaper.
    fn even(
        &mut self,
        first: usize,
        wanted: usize,
        config: &BatchConfig,
        items: &Items,
        shape: &Shape,
        size: impl Fn(u32) -> u64,
    ) -> Result<bool, Failure> {
        let cost = |item: u32| config.cost(items.length(item));
        let limit = match self.count() - first < wanted {
            true => None,
            false => (first..self.count()).map(|pack| self.cost(pack, config, items)).max(),
        };
        let start = self.start(first);
        let held = &self.items[start..];
        let keys = dearest_first(held.len(), held.iter().map(|&item| cost(item)))?;
        let empty = (0..wanted).map(|pack| Reverse((0_u128, pack)));
        let mut loads = BinaryHeap::from(collect("batch_window", wanted, empty)?);
        let mut filled = collect("batch_window", wanted, core::iter::repeat_n((0_u64, 0_u32), wanted))?;
        let mut chosen = collect("batch_window", held.len(), [])?;
        for &key in &keys {
            let item = held[place_of(key)];
            let Some(Reverse((load, pack))) = loads.pop() else { return Ok(false) };
            let load = load + cost(item);
            let (sum, count) = &mut filled[pack];
            if size(item) > shape.capacity - *sum || *count == shape.slots || limit.is_some_and(|limit| load >= limit) {
                return Ok(false);
            }
            *sum += size(item);
            *count += 1;
            chosen.push(pack as u32);
            loads.push(Reverse((load, pack)));
        }
        let mut end = start as u32;
        let ends = filled.iter().map(|&(_, count)| {
            end += count;
            end
        });
        let ends = collect("batch_window", wanted, ends)?;
        let mut next = collect("batch_window", wanted, core::iter::once(start as u32).chain(ends.iter().copied()))?;
        let sorted = collect("batch_window", held.len(), keys.iter().map(|&key| held[place_of(key)]))?;
        for (item, &pack) in sorted.into_iter().zip(&chosen) {
            let next = &mut next[pack as usize];
            self.items[*next as usize] = item;
            *next += 1;
        }
        self.replace(first, ends)?;
        Ok(true)
    }

    /// Splits the packs from number `first` on until there are `wanted` of them, or until no pack has two items. Each
    /// time, the pack with the most items is cut into two halves.
    fn halve(&mut self, first: usize, wanted: usize) -> Result<(), Failure> {
        let there = (first..self.count()).map(|pack| (self.items(pack).len() as u32, Reverse(self.start(pack) as u32)));
        let mut sizes = BinaryHeap::from(collect("batch_window", wanted, there)?);
        while sizes.len() < wanted {
            let Some((count, Reverse(begin))) = sizes.pop() else { break };
            if count < 2 {
                sizes.push((count, Reverse(begin)));
                break;
            }
            sizes.push((count.div_ceil(2), Reverse(begin)));
            sizes.push((count / 2, Reverse(begin + count.div_ceil(2))));
        }
        let ends = sizes.into_iter().map(|(count, Reverse(begin))| begin + count);
        let mut ends = collect("batch_window", wanted, ends)?;
        sort_short(&mut ends);
        self.replace(first, ends)
    }

    /// Replaces the ends of the packs from number `first` on.
    fn replace(&mut self, first: usize, ends: Vec<u32>) -> Result<(), Failure> {
        self.ends.truncate(first);
        grow("batch_window", ends.len(), &mut self.ends)?;
        self.ends.extend(ends);
        Ok(())
    }
}

/// How packs become batches.
pub(super) struct Shape {
    /// The capacity of a pack: in tokens if its items share a row, else as a cost.
    pub(super) capacity: u64,
    /// The most items of a pack.
    pub(super) slots: u32,
    /// The most packs of a batch. It is 1 if every item has its own row, because then a pack is a batch.
    pub(super) rows: u32,
    /// Whether the items of a pack share a row.
    pub(super) shared: bool,
    /// How packs are filled.
    pub(super) method: Packing,
}

/// Makes steps of packs of similar cost. The emptiest packs, which do not fill a step, make the last steps, or are left
/// out with [`Tail::Drop`]. Returns how many items are left out, and a lower bound on the number of packs in steps.
pub(super) fn steps_of_packs(
    config: &BatchConfig,
    items: &Items,
    pool: Vec<u32>,
    shape: &Shape,
    steps: &mut Steps,
) -> Result<(u64, u64), Failure> {
    // The cast loses nothing: sizes are at most the capacity, which is a `u64`.
    let size = |item: u32| {
        if shape.shared { u64::from(items.length(item)) } else { config.cost(items.length(item)) as u64 }
    };
    let sizes = collect("batch_window", pool.len(), pool.iter().map(|&item| size(item)))?;
    let mut packs = Packs::new(&pool, &sizes, shape)?;
    let bound = packs.bound;
    let world_size = config.world_size as usize;
    let full = (shape.rows as u64 * u64::from(config.world_size)).min(packs.count() as u64 + 1) as usize;
    // Packs are sorted, the fullest first. So the packs that do not fill a step are the emptiest.
    let mut given = packs.count() / full * full;
    let rest = packs.count() - given;
    let closes = rest > 0 && config.tail != Tail::Drop;
    if rest == 0 && given > 0 && shape.rows == 1 {
        // All packs fill steps. But the last pack may have much less than the others, even a single item. So the items
        // of the emptiest step are spread evenly over its ranks.
        packs.even(given - full, world_size, config, items, shape, size)?;
    }
    if closes && rest < world_size && config.tail == Tail::EvenSplit {
        // Fewer packs than ranks are left. `close` makes the last two steps from these packs and the packs of one full
        // step, if there is a full step.
        given = given.saturating_sub(full);
    }
    let costs = dearest_first(given, (0..given).map(|pack| packs.cost(pack, config, items)))?;
    let rows = if given == 0 { 0 } else { shape.rows as usize };
    let mut balance = Balance::new(world_size, rows)?;
    for step in costs.chunks_exact(full) {
        for part in balance.divide(step.iter().map(|&key| cost_of(key))).chunks_exact(rows) {
            part.iter().try_for_each(|&place| steps.row(packs.items(place_of(step[place as usize]))))?;
            steps.end_batch(0)?;
        }
    }
    if closes {
        close(config, items, packs, given, shape, steps, size)?;
        return Ok((0, bound));
    }
    Ok(((packs.items.len() - packs.start(given)) as u64, bound.saturating_sub(rest as u64)))
}

/// Makes the last steps of a window from the packs from number `first` on: at most two steps, as even as the packs
/// allow.
fn close(
    config: &BatchConfig,
    items: &Items,
    mut packs: Packs,
    first: usize,
    shape: &Shape,
    steps: &mut Steps,
    size: impl Fn(u32) -> u64,
) -> Result<(), Failure> {
    let world_size = config.world_size as usize;
    let there = packs.count() - first;
    let full = usize::try_from(u64::from(shape.rows) * u64::from(config.world_size)).unwrap_or(usize::MAX);
    // With `duplicate`, packs are repeated until all ranks have equally many, so no pack has to be split.
    let wanted = if config.tail == Tail::Duplicate { 0 } else { there.div_ceil(full) * world_size };
    if there <= wanted && !packs.even(first, wanted, config, items, shape, size)? {
        packs.halve(first, wanted)?;
    }
    let rows = packs.count() - first;
    let many = rows.div_ceil(full);
    for step in 0..many {
        let (begin, end) = (rows * step / many, rows * (step + 1) / many);
        let count = end - begin;
        let again = if config.tail == Tail::Duplicate { count.next_multiple_of(world_size) } else { count };
        for rank in 0..world_size {
            let mut repeated = 0;
            for place in (rank..again).step_by(world_size) {
                let row = packs.items(first + begin + place % count);
                steps.row(row)?;
                repeated += match place < count {
                    true => 0,
                    false if shape.shared => 1,
                    false => row.len() as u32,
                };
            }
            steps.end_batch(repeated)?;
        }
    }
    Ok(())
}

/// A key for each cost, sorted: the greatest cost first, equal costs by their places. The low 32 bits of a key are the
/// place of the cost; the other 96 bits are [`DEAREST`] less the cost. A cost fits into 96 bits, because a row has L <
/// 2^32 tokens and costs at most (2^32 - 1) * (L + L^2).
fn dearest_first(count: usize, costs: impl Iterator<Item = u128>) -> Result<Vec<u128>, Failure> {
    let keys = (0_u128..).zip(costs).map(|(place, cost)| (DEAREST - cost.min(DEAREST)) << 32 | place);
    let mut keys = collect("batch_window", count, keys)?;
    samedeal_bulk::numbers128(&mut keys);
    Ok(keys)
}

const DEAREST: u128 = u128::MAX >> 32;

fn cost_of(key: u128) -> u128 {
    DEAREST - (key >> 32)
}

fn place_of(key: u128) -> usize {
    key as u32 as usize
}
