//! Packs: rows that several items share.

use alloc::vec::Vec;

use super::bins::{Bins, classes};
use super::config::{BatchConfig, Tail};
use super::items::Items;
use super::steps::Steps;
use crate::Failure;
use crate::memory::collect;

/// Rows and what they hold, as lists end to end.
struct Packs {
    items: Vec<u32>,
    ends: Vec<u32>,
}

impl Packs {
    fn new(pool: &[u32], sizes: &[u64], capacity: u64, slots: u32) -> Result<Self, Failure> {
        let (classes, places) = classes(sizes)?;
        let bins = Bins::pack(&classes, capacity, slots)?;
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
        let mut packs =
            Self { items: collect("window", pool.len(), [])?, ends: collect("window", bins.count() as usize, [])? };
        bins.each(|content| {
            for (class, count) in content {
                for _ in 0..count {
                    packs.items.push(pool[places[next[class as usize] as usize] as usize]);
                    next[class as usize] += 1;
                }
            }
            packs.ends.push(packs.items.len() as u32);
            Ok(())
        })?;
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
}

/// Steps of packs of similar cost. The emptiest packs, which fill no step, are handed back as items.
pub(super) fn steps_of_packs(
    config: &BatchConfig,
    items: &Items,
    pool: Vec<u32>,
    shape: &Shape,
    last: bool,
    steps: &mut Steps,
) -> Result<(Vec<u32>, u64), Failure> {
    // Sizes are at most the capacity, which is a u64.
    let size = |item: u32| {
        if shape.shared { u64::from(items.length(item)) } else { config.cost(items.length(item)) as u64 }
    };
    let sizes = collect("window", pool.len(), pool.iter().map(|&item| size(item)))?;
    let packs = Packs::new(&pool, &sizes, shape.capacity, shape.slots)?;
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
    costs.sort_unstable();
    for step in costs.chunks_exact(full) {
        for rank in 0..world {
            for row in 0..shape.rows as usize {
                // There and back again, so that no rank has the dearest pack of every row.
                let place = row * world + if row % 2 == 0 { rank } else { world - 1 - rank };
                add(steps, packs.items(step[place].1 as usize), shape.shared)?;
            }
            steps.end_batch(0)?;
        }
    }
    if finish {
        add_tail(config, &packs, given, shape, steps)?;
        return Ok((Vec::new(), 0));
    }
    let start = if given == 0 { 0 } else { packs.ends[given - 1] as usize };
    let left = collect("window", packs.items.len() - start, packs.items[start..].iter().copied())?;
    Ok(if last { (Vec::new(), left.len() as u64) } else { (left, 0) })
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
    while rows.len() < wanted {
        // The pack of most items gives half of them.
        let several = (0..rows.len()).filter(|&row| rows[row].2 > 1);
        let Some(most) = several.max_by_key(|&row| (rows[row].2, usize::MAX - row)) else { break };
        let (pack, begin, count) = rows[most];
        rows[most].2 = count.div_ceil(2);
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
