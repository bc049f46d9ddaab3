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
            "window",
            classes.len(),
            classes.iter().scan(0, |at, class| {
                let first = *at;
                *at += class.count;
                Some(first)
            }),
        )?;
        let mut packs = Self {
            items: collect("window", pool.len(), [])?,
            ends: collect("window", packing.count() as usize, [])?,
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

/// Steps of packs of similar cost. The emptiest packs, which fill no step, are handed back as items. Also gives how many
/// items are left out, and how many packs there would be at best if as many were handed back.
pub(super) fn steps_of_packs(
    config: &BatchConfig,
    items: &Items,
    pool: Vec<u32>,
    shape: &Shape,
    last: bool,
    steps: &mut Steps,
) -> Result<(Vec<u32>, u64, u64), Failure> {
    // Sizes are at most the capacity, which is a u64.
    let size = |item: u32| {
        if shape.shared { u64::from(items.length(item)) } else { config.cost(items.length(item)) as u64 }
    };
    let sizes = collect("window", pool.len(), pool.iter().map(|&item| size(item)))?;
    let packs = Packs::new(&pool, &sizes, shape)?;
    let world = config.world as usize;
    let full = (shape.rows as u64 * u64::from(config.world)).min(packs.count() as u64 + 1) as usize;
    // Packs come with the least free space first; those that are left over are the emptiest.
    let mut given = packs.count() / full * full;
    let rest = packs.count() - given;
    let finish = last && rest > 0 && config.tail != Tail::Drop;
    if finish && rest < world && config.tail == Tail::EvenSplit {
        // Together with another step's they are enough for two.
        given = given.saturating_sub(full);
    }
    let cost = |pack: usize| packs.items(pack).iter().map(|&item| config.cost(items.length(item))).sum::<u128>();
    let mut costs = collect("window", given, (0..given).map(|pack| (u128::MAX - cost(pack), pack as u32)))?;
    samedeal_sort::costs_with_places(&mut costs);
    let rows = if given == 0 { 0 } else { shape.rows as usize };
    let mut balance = Balance::new(world, rows)?;
    for step in costs.chunks_exact(full) {
        for part in balance.divide(step.iter().map(|cost| u128::MAX - cost.0)).chunks_exact(rows) {
            part.iter()
                .try_for_each(|&place| add(steps, packs.items(step[place as usize].1 as usize), shape.shared))?;
            steps.end_batch(0)?;
        }
    }
    if finish {
        add_tail(config, &packs, given, shape, steps)?;
        return Ok((Vec::new(), 0, packs.bound));
    }
    let start = if given == 0 { 0 } else { packs.ends[given - 1] as usize };
    let left = collect("window", packs.items.len() - start, packs.items[start..].iter().copied())?;
    let bound = packs.bound.saturating_sub(rest as u64);
    Ok(if last { (Vec::new(), left.len() as u64, bound) } else { (left, 0, bound) })
}

/// The last packs of the epoch, from number `first` on: at most two steps, as even as the packs allow.
fn add_tail(
    config: &BatchConfig,
    packs: &Packs,
    first: usize,
    shape: &Shape,
    steps: &mut Steps,
) -> Result<(), Failure> {
    let world = config.world as usize;
    let there = packs.count() - first;
    let full = usize::try_from(u64::from(shape.rows) * u64::from(config.world)).unwrap_or(usize::MAX);
    let wanted = if config.tail == Tail::EvenSplit { there.div_ceil(full) * world } else { 0 };
    let whole = (first..packs.count()).map(|pack| (pack, 0, packs.items(pack).len()));
    let mut rows = collect("window", there.max(wanted), whole)?;
    let sizes = rows.iter().enumerate().map(|(row, &(_, _, count))| (count, Reverse(row)));
    let mut sizes = BinaryHeap::from(collect("window", there.max(wanted), sizes)?);
    while rows.len() < wanted {
        // The pack of most items gives half of them.
        let Some((count, Reverse(most))) = sizes.pop().filter(|&(count, _)| count > 1) else { break };
        let (pack, begin, _) = rows[most];
        rows[most].2 = count.div_ceil(2);
        sizes.push((count.div_ceil(2), Reverse(most)));
        sizes.push((count / 2, Reverse(rows.len())));
        rows.push((pack, begin + count.div_ceil(2), count / 2));
    }
    let many = rows.len().div_ceil(full);
    for step in 0..many {
        let rows = &rows[rows.len() * step / many..rows.len() * (step + 1) / many];
        let again = if config.tail == Tail::Duplicate { rows.len().next_multiple_of(world) } else { rows.len() };
        for rank in 0..world {
            let mut repeated = 0;
            for place in (rank..again).step_by(world) {
                let (pack, begin, count) = rows[place % rows.len()];
                add(steps, &packs.items(pack)[begin..begin + count], shape.shared)?;
                repeated += if place < rows.len() {
                    0
                } else if shape.shared {
                    1
                } else {
                    count as u32
                };
            }
            steps.end_batch(repeated)?;
        }
    }
    Ok(())
}

fn add(steps: &mut Steps, items: &[u32], shared: bool) -> Result<(), Failure> {
    if shared {
        return steps.row(items.iter().copied());
    }
    items.iter().try_for_each(|&item| steps.row([item]))
}
