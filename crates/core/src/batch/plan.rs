use alloc::vec::Vec;
use core::cell::RefCell;

use super::config::{BatchConfig, Strategy, TooLong};
use super::items::Items;
use super::metrics::Metrics;
use super::steps::Steps;
use super::window::{Planned, plan_window};
use crate::base::memory::{collect, has_room};
use crate::{Failure, Order};

/// Steps of items in a row, for one world: where windows begin, so that any of them is planned again when it is asked for.
pub(super) struct Plan {
    /// The items, in the order of the epoch; none where these are all.
    row: Option<Vec<u32>>,
    windows: Vec<Window>,
    /// What windows take over from the ones before, end to end.
    carried: Vec<u32>,
    steps: u64,
    /// Of the steps from the first one on that counts.
    pub(super) metrics: Metrics,
    /// The window that was asked for last.
    recent: RefCell<Option<(usize, Steps)>>,
}

/// What a plan is of.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) config: &'a BatchConfig,
    pub(super) items: &'a Items,
    pub(super) order: &'a Order,
}

/// Where a window begins and ends.
struct Window {
    step: u64,
    /// Up to which place of the row it takes items.
    end: u32,
    /// Where in the carried items; or how many of them, where these are the last ones before it.
    carried: usize,
}

/// Whether what a window leaves are its last items: then they need not be held.
fn leaves_the_last(config: &BatchConfig) -> bool {
    let in_order =
        config.strategy == Strategy::PadToMax || config.strategy == Strategy::Budget && config.takes_in_order();
    in_order && config.too_long != TooLong::Single
}

impl Plan {
    /// Plans a row, or all items. Steps below `first` do not count. Failures: `out-of-memory`.
    pub(super) fn new(source: Source, row: Option<Vec<u32>>, first: u64) -> Result<Self, Failure> {
        Self::up_to(source, row, first, u64::MAX)
    }

    /// The first windows of a row, or of all items: those with more steps than `steps`, if there are so many. Failures: `out-of-memory`.
    pub(super) fn beyond(source: Source, row: Option<Vec<u32>>, steps: u64) -> Result<Self, Failure> {
        Self::up_to(source, row, 0, steps)
    }

    fn up_to(source: Source, row: Option<Vec<u32>>, first: u64, last: u64) -> Result<Self, Failure> {
        let (metrics, recent) = (Metrics::default(), RefCell::new(None));
        let mut plan = Self { row, windows: Vec::new(), carried: Vec::new(), steps: 0, metrics, recent };
        let all = plan.num_items(source);
        let (mut end, mut carry) = (0_u32, Vec::new());
        for window in 0.. {
            end = u64::from(all).min(u64::from(end) + source.config.width_after(carry.len())) as u32;
            let held = if leaves_the_last(source.config) { 0 } else { carry.len() };
            if !has_room(&mut plan.carried, held) || !has_room(&mut plan.windows, 1) {
                let allowed = "a larger window, or fewer ranks";
                return Err(Failure::out_of_memory("window", source.config.width(), allowed));
            }
            let carried = if held == 0 && leaves_the_last(source.config) { carry.len() } else { plan.carried.len() };
            plan.windows.push(Window { step: plan.steps, end, carried });
            plan.carried.extend(&carry[..held]);
            let planned = plan.planned(source, window)?;
            carry = planned.left;
            plan.metrics.dropped += planned.dropped;
            plan.metrics.packs_bound += planned.packs_bound;
            let skipped = first.saturating_sub(plan.steps).min(planned.steps.count() as u64);
            plan.metrics.add(source.config, source.items, &planned.steps, skipped as usize);
            plan.steps += planned.steps.count() as u64;
            if end == all || plan.steps > last {
                if window == 0 {
                    // Whatever is asked for next is here.
                    plan.recent = RefCell::new(Some((window, planned.steps)));
                }
                break;
            }
        }
        if first > 0 {
            plan.metrics.packs_bound = 0;
        }
        Ok(plan)
    }

    /// How many steps there are.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// The items that the first steps leave, in the order of the epoch. Failures: `out-of-memory`.
    pub(super) fn rest(&self, source: Source, steps: u64) -> Result<Vec<u32>, Failure> {
        if steps == self.steps {
            // What is left out at the end is left out.
            return Ok(Vec::new());
        }
        let count = self.num_items(source) as usize;
        let all = source.items.count() as usize;
        let mut taken = collect("lengths", all, core::iter::repeat_n(false, all))?;
        let mut left = count;
        for step in 0..steps {
            self.within(source, step, |steps, step| {
                for rank in 0..source.config.world as usize {
                    for &item in steps.batch(step, rank).0.flat_map(|row| steps.items(row)) {
                        left -= usize::from(!taken[item as usize]);
                        taken[item as usize] = true;
                    }
                }
                Ok(())
            })?;
        }
        let mut rest = collect("lengths", left, [])?;
        self.find(source, |_, run| {
            rest.extend(run.iter().copied().filter(|&item| !taken[item as usize]));
            None::<()>
        })?;
        Ok(rest)
    }

    /// Asks the window of a step.
    pub(super) fn within<R>(
        &self,
        source: Source,
        step: u64,
        ask: impl FnOnce(&Steps, usize) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let window = self.windows.partition_point(|window| window.step <= step) - 1;
        self.in_window(source, window, |first, steps| ask(steps, (step - first) as usize))
    }

    /// Calls `ask` with the steps of a window, and the number of the first one. Only the last window is kept: another one is planned again.
    pub(super) fn in_window<R>(
        &self,
        source: Source,
        window: usize,
        ask: impl FnOnce(u64, &Steps) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let first = self.windows[window].step;
        let mut recent = self.recent.borrow_mut();
        if let Some((known, steps)) = &*recent
            && *known == window
        {
            return ask(first, steps);
        }
        *recent = None;
        let steps = self.planned(source, window)?.steps;
        ask(first, &recent.insert((window, steps)).1)
    }

    /// How many windows there are.
    pub(super) fn num_windows(&self) -> usize {
        self.windows.len()
    }

    /// The first window that takes an item of a sample; the number of windows where none does.
    pub(super) fn first_window(&self, source: Source, sample: u32) -> Result<usize, Failure> {
        let position = match source.items.only_one(sample) {
            Some(item) if self.row.is_none() => source.order.next(item.into(), 0)?,
            // One pass, where an order that holds a table would take one for each.
            _ => self.find(source, |first, run| {
                let place = run.iter().position(|&item| source.items.part(item).0 == sample);
                place.map(|place| first + place as u64)
            })?,
        };
        Ok(position.map_or(self.windows.len(), |position| {
            self.windows.partition_point(|window| u64::from(window.end) <= position)
        }))
    }

    fn planned(&self, source: Source, window: usize) -> Result<Planned, Failure> {
        let Window { end, carried, .. } = self.windows[window];
        let first = if window == 0 { 0 } else { u64::from(self.windows[window - 1].end) };
        let (end, all) = (u64::from(end), u64::from(self.num_items(source)));
        let (begin, held) = if leaves_the_last(source.config) {
            (first - carried as u64, &[][..])
        } else {
            let next = self.windows.get(window + 1).map_or(self.carried.len(), |next| next.carried);
            (first, &self.carried[carried..next])
        };
        let count = held.len() + (end - begin) as usize;
        let mut pool = collect("window", count, held.iter().copied())?;
        pool.resize(count, 0);
        self.fill(source, begin, &mut pool[held.len()..])?;
        plan_window(source.config, source.items, pool, window as u64, end == all)
    }

    fn num_items(&self, source: Source) -> u32 {
        self.row.as_ref().map_or(source.items.count(), |row| row.len() as u32)
    }

    /// Goes through the row, run by run, each with the place of its first item, until something is found.
    fn find<R>(&self, source: Source, mut look: impl FnMut(u64, &[u32]) -> Option<R>) -> Result<Option<R>, Failure> {
        let (all, mut run) = (u64::from(self.num_items(source)), [0_u32; 1024]);
        for first in (0..all).step_by(run.len()) {
            let run = &mut run[..(all - first).min(1024) as usize];
            self.fill(source, first, run)?;
            if let Some(found) = look(first, run) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn fill(&self, source: Source, first: u64, out: &mut [u32]) -> Result<(), Failure> {
        match &self.row {
            Some(row) => {
                out.copy_from_slice(&row[first as usize..][..out.len()]);
                Ok(())
            }
            None => source.order.fill(first, 1, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::batcher::Batcher;
    use super::super::config::{BatchConfig, Strategy};

    /// A step takes all of 4,000 items or many windows: what is left over is not planned again for each window.
    #[test]
    fn leftovers_are_planned_a_bounded_number_of_times() {
        let lengths = (0..4_000).map(|sample| sample * 31 % 60 + 1).collect::<Vec<_>>();
        for strategy in [Strategy::Bucket, Strategy::Budget, Strategy::Pack] {
            for (world, rows) in [(64, 4), (500, 8), (1 << 20, 1)] {
                for window in [1, 7] {
                    let batcher = Batcher::of(BatchConfig {
                        world,
                        max_batch_size: rows,
                        budget: if strategy == Strategy::Budget { 120 } else { 0 },
                        capacity: 64,
                        window: Some(window),
                        ..BatchConfig::new(lengths.clone(), strategy)
                    })
                    .unwrap();
                    let carried = batcher.plan().carried.len();
                    assert!(carried <= 9 * lengths.len(), "{strategy:?} {world} {window}: {carried}");
                }
            }
        }
    }
}
