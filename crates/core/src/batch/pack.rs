//! Packs: rows that several items share.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::balance::Balance;
use super::config::{BatchConfig, Tail};
use super::items::Items;
use super::packing::{Packing, Patterns, histogram, places};
use super::steps::Steps;
use crate::Failure;
use crate::base::memory::{collect, grow};
use crate::base::sort::sort_short;

/// Rows and what they hold, as lists end to end.
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
        // Within a class, items are taken as they came: the shapes of the packs are fixed, their members random.
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

    /// Makes so many packs of nearly equal cost of those from number `first` on, which are not more: the dearest item first, each into the pack
    /// of least cost. Whether it did: not if an item does not fit there, or if there are so many packs already and these are no dearer.
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

    /// Makes so many packs of those from number `first` on: again and again, the one of most items is two of half as many, as long as it has
    /// two.
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

    /// Puts other ends in the place of those from number `first` on.
    fn replace(&mut self, first: usize, ends: Vec<u32>) -> Result<(), Failure> {
        self.ends.truncate(first);
        grow("batch_window", ends.len(), &mut self.ends)?;
        self.ends.extend(ends);
        Ok(())
    }
}

/// How packs become batches.
pub(super) struct Shape {
    /// Of a pack, in what `size` counts.
    pub(super) capacity: u64,
    /// The most items of a pack.
    pub(super) slots: u32,
    /// Packs of a batch; a batch whose items have rows of their own is one pack.
    pub(super) rows: u32,
    /// Whether the items of a pack share a row.
    pub(super) shared: bool,
    /// How packs are filled.
    pub(super) method: Packing,
}

/// Steps of packs of similar cost; the last ones have the items of the emptiest packs, which fill no step. Also gives how many items are
/// left out, and how many packs there would be at best.
pub(super) fn steps_of_packs(
    config: &BatchConfig,
    items: &Items,
    pool: Vec<u32>,
    shape: &Shape,
    steps: &mut Steps,
) -> Result<(u64, u64), Failure> {
    // Sizes are at most the capacity, which is a u64.
    let size = |item: u32| {
        if shape.shared { u64::from(items.length(item)) } else { config.cost(items.length(item)) as u64 }
    };
    let sizes = collect("batch_window", pool.len(), pool.iter().map(|&item| size(item)))?;
    let mut packs = Packs::new(&pool, &sizes, shape)?;
    let bound = packs.bound;
    let world = config.world as usize;
    let full = (shape.rows as u64 * u64::from(config.world)).min(packs.count() as u64 + 1) as usize;
    // Packs come with the least free space first; those that are left over are the emptiest.
    let mut given = packs.count() / full * full;
    let rest = packs.count() - given;
    let closes = rest > 0 && config.tail != Tail::Drop;
    if rest == 0 && given > 0 && shape.rows == 1 {
        // The emptiest packs are a step of their own, where one rank may have a single item.
        packs.even(given - full, world, config, items, shape, size)?;
    }
    if closes && rest < world && config.tail == Tail::EvenSplit {
        // There are fewer packs than ranks: with those of one full step, they are enough for two steps.
        given = given.saturating_sub(full);
    }
    let costs = dearest_first(given, (0..given).map(|pack| packs.cost(pack, config, items)))?;
    let rows = if given == 0 { 0 } else { shape.rows as usize };
    let mut balance = Balance::new(world, rows)?;
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

/// The last packs of a window, from number `first` on: at most two steps, as even as the packs allow.
fn close(
    config: &BatchConfig,
    items: &Items,
    mut packs: Packs,
    first: usize,
    shape: &Shape,
    steps: &mut Steps,
    size: impl Fn(u32) -> u64,
) -> Result<(), Failure> {
    let world = config.world as usize;
    let there = packs.count() - first;
    let full = usize::try_from(u64::from(shape.rows) * u64::from(config.world)).unwrap_or(usize::MAX);
    // With repetitions, every rank has one of the packs that there are.
    let wanted = if config.tail == Tail::Duplicate { 0 } else { there.div_ceil(full) * world };
    if there <= wanted && !packs.even(first, wanted, config, items, shape, size)? {
        packs.halve(first, wanted)?;
    }
    let rows = packs.count() - first;
    let many = rows.div_ceil(full);
    for step in 0..many {
        let (begin, end) = (rows * step / many, rows * (step + 1) / many);
        let count = end - begin;
        let again = if config.tail == Tail::Duplicate { count.next_multiple_of(world) } else { count };
        for rank in 0..world {
            let mut repeated = 0;
            for place in (rank..again).step_by(world) {
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

/// Costs with their places as one number each, the dearest first, earlier ones first among equals. A row has fewer than 2^32 tokens, so that
/// it costs less than 2^96: fewer than 2^32 each, and no more than 2^32 for each of them squared.
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
