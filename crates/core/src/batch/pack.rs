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
use crate::base::memory::collect;
use crate::base::sort::sort_short;

/// Rows and what they hold, as lists end to end.
struct Packs {
    items: Vec<u32>,
    ends: Vec<u32>,
    /// How few there might be at best.
    bound: u64,
}

impl Packs {
    fn new(pool: &[u32], sizes: &[u64], shape: &Shape) -> Result<Self, Failure> {
        let classes = histogram(sizes)?;
        let packing = Patterns::new(&classes, shape.capacity, shape.slots, shape.method)?;
        let places = places(sizes, &classes)?;
        // Within a class, items are taken as they came: the shapes of the packs are fixed, their members random.
        let mut next = collect(
            "batch-window",
            classes.len(),
            classes.iter().scan(0, |at, class| {
                let first = *at;
                *at += class.count;
                Some(first)
            }),
        )?;
        let mut packs = Self {
            items: collect("batch-window", pool.len(), [])?,
            ends: collect("batch-window", packing.count() as usize, [])?,
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

    fn items(&self, pack: usize) -> &[u32] {
        let start = if pack == 0 { 0 } else { self.ends[pack - 1] };
        &self.items[start as usize..self.ends[pack] as usize]
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
    let sizes = collect("batch-window", pool.len(), pool.iter().map(|&item| size(item)))?;
    let packs = Packs::new(&pool, &sizes, shape)?;
    let world = config.world as usize;
    let full = (shape.rows as u64 * u64::from(config.world)).min(packs.count() as u64 + 1) as usize;
    // Packs come with the least free space first; those that are left over are the emptiest.
    let mut given = packs.count() / full * full;
    let rest = packs.count() - given;
    let closes = rest > 0 && config.tail != Tail::Drop;
    if closes && rest < world && config.tail == Tail::EvenSplit {
        // Together with another step's they are enough for two.
        given = given.saturating_sub(full);
    }
    let cost = |pack: usize| packs.items(pack).iter().map(|&item| config.cost(items.length(item))).sum::<u128>();
    let costs = dearest_first(given, (0..given).map(cost))?;
    let rows = if given == 0 { 0 } else { shape.rows as usize };
    let mut balance = Balance::new(world, rows)?;
    for step in costs.chunks_exact(full) {
        for part in balance.divide(step.iter().map(|&key| cost_of(key))).chunks_exact(rows) {
            part.iter().try_for_each(|&place| steps.row(packs.items(place_of(step[place as usize]))))?;
            steps.end_batch(0)?;
        }
    }
    if closes {
        close(config, items, &packs, given, shape, steps, size)?;
        return Ok((0, packs.bound));
    }
    let start = if given == 0 { 0 } else { packs.ends[given - 1] as usize };
    Ok(((packs.items.len() - start) as u64, packs.bound.saturating_sub(rest as u64)))
}

/// The last packs of a window, from number `first` on: at most two steps, as even as the packs allow.
fn close(
    config: &BatchConfig,
    items: &Items,
    packs: &Packs,
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
    let held = if first == 0 { &packs.items[..] } else { &packs.items[packs.ends[first - 1] as usize..] };
    let (rows, ends) = if there < wanted
        && let Some(even) = evenly(config, items, held, wanted, shape, size)?
    {
        even
    } else {
        let ends = (first..packs.count()).map(|pack| packs.ends[pack] - (packs.items.len() - held.len()) as u32);
        (
            collect("batch-window", held.len(), held.iter().copied())?,
            halved(collect("batch-window", there, ends)?, wanted)?,
        )
    };
    let row = |row: usize| &rows[if row == 0 { 0 } else { ends[row - 1] as usize }..ends[row] as usize];
    let many = ends.len().div_ceil(full);
    for step in 0..many {
        let (begin, end) = (ends.len() * step / many, ends.len() * (step + 1) / many);
        let count = end - begin;
        let again = if config.tail == Tail::Duplicate { count.next_multiple_of(world) } else { count };
        for rank in 0..world {
            let mut repeated = 0;
            for place in (rank..again).step_by(world) {
                let held = row(begin + place % count);
                steps.row(held)?;
                repeated += match place < count {
                    true => 0,
                    false if shape.shared => 1,
                    false => held.len() as u32,
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
    let mut keys = collect("batch-window", count, keys)?;
    samedeal_sort::numbers128(&mut keys);
    Ok(keys)
}

const DEAREST: u128 = u128::MAX >> 32;

fn cost_of(key: u128) -> u128 {
    DEAREST - (key >> 32)
}

fn place_of(key: u128) -> usize {
    key as u32 as usize
}

/// Items row by row, and where each row ends.
type Rows = (Vec<u32>, Vec<u32>);

/// The items of some packs in so many rows of nearly equal cost: the dearest first, each into the row of least
/// cost. None if one does not fit there.
fn evenly(
    config: &BatchConfig,
    items: &Items,
    held: &[u32],
    rows: usize,
    shape: &Shape,
    size: impl Fn(u32) -> u64,
) -> Result<Option<Rows>, Failure> {
    let cost = |item: u32| config.cost(items.length(item));
    let keys = dearest_first(held.len(), held.iter().map(|&item| cost(item)))?;
    let empty = (0..rows).map(|row| Reverse((0_u128, row)));
    let mut loads = BinaryHeap::from(collect("batch-window", rows, empty)?);
    let mut filled = collect("batch-window", rows, core::iter::repeat_n((0_u64, 0_u32), rows))?;
    let mut chosen = collect("batch-window", held.len(), [])?;
    for &key in &keys {
        let item = held[place_of(key)];
        let Some(Reverse((load, row))) = loads.pop() else { return Ok(None) };
        let (sum, count) = &mut filled[row];
        if size(item) > shape.capacity - *sum || *count == shape.slots {
            return Ok(None);
        }
        *sum += size(item);
        *count += 1;
        chosen.push(row as u32);
        loads.push(Reverse((load + cost(item), row)));
    }
    let mut end = 0;
    let ends = filled.iter().map(|&(_, count)| {
        end += count;
        end
    });
    let ends = collect("batch-window", rows, ends)?;
    let mut next = collect("batch-window", rows, core::iter::once(0).chain(ends.iter().copied()))?;
    let mut sorted = collect("batch-window", held.len(), core::iter::repeat_n(0, held.len()))?;
    for (&key, &row) in keys.iter().zip(&chosen) {
        let next = &mut next[row as usize];
        sorted[*next as usize] = held[place_of(key)];
        *next += 1;
    }
    Ok(Some((sorted, ends)))
}

/// Where packs end once there are so many: again and again, the one of most items is two of half as many, as long as it has two.
fn halved(ends: Vec<u32>, wanted: usize) -> Result<Vec<u32>, Failure> {
    let start = |pack: usize| if pack == 0 { 0 } else { ends[pack - 1] };
    let counts = ends.iter().enumerate().map(|(pack, &end)| (end - start(pack), Reverse(start(pack))));
    let mut sizes = BinaryHeap::from(collect("batch-window", ends.len().max(wanted), counts)?);
    while sizes.len() < wanted {
        let Some((count, Reverse(begin))) = sizes.pop() else { break };
        if count < 2 {
            sizes.push((count, Reverse(begin)));
            break;
        }
        sizes.push((count.div_ceil(2), Reverse(begin)));
        sizes.push((count / 2, Reverse(begin + count.div_ceil(2))));
    }
    let mut ends =
        collect("batch-window", sizes.len(), sizes.into_iter().map(|(count, Reverse(begin))| begin + count))?;
    sort_short(&mut ends);
    Ok(ends)
}
