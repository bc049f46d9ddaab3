use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use super::config::{BatchConfig, Strategy};
use super::items::Items;
use super::pack::{Shape, steps_of_packs};
use super::padded::{as_they_come, by_bucket, by_length, in_order, tail};
use super::steps::Steps;
use crate::fingerprint::Fingerprint;
use crate::key::Words;
use crate::memory::{collect, has_headroom};
use crate::sampler::check_below;
use crate::{Failure, Order};

/// A batch of one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The sample of every item, row by row.
    pub samples: Vec<u32>,
    /// Where in its sample each item begins: 0 unless it is a part.
    pub starts: Vec<u32>,
    /// The tokens of each item.
    pub lengths: Vec<u32>,
    /// Where the items of each row end.
    pub row_ends: Vec<u32>,
    /// Tokens of a row, padding included.
    pub padded_length: u32,
    /// What the batch costs.
    pub cost: u64,
    /// How many rows at its end are there to fill the step: other batches hold them too.
    pub repeated: u32,
}

/// What a plan amounts to. Tokens, unless it says otherwise; all ranks together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Steps of every rank.
    pub steps: u64,
    /// Items in batches, repetitions included.
    pub items: u64,
    /// Rows in batches.
    pub rows: u64,
    /// Tokens of the items.
    pub tokens: u64,
    /// The same with padding.
    pub padded: u64,
    /// For every step, the tokens with padding of the rank with the most of them, summed up.
    pub slowest: u64,
    /// The cost of all batches.
    pub cost: u64,
    /// For every step, the cost of the rank with the most of it, summed up.
    pub slowest_cost: u64,
    /// Batches without an item.
    pub empty: u64,
    /// Items that are there to fill a step.
    pub repeated: u64,
    /// Items that are left out at the end.
    pub dropped: u64,
    /// Samples that were cut.
    pub truncated: u64,
    /// Samples that were left out because of their length.
    pub too_long: u64,
    /// Samples that became several items.
    pub split: u64,
}

/// The batches of all ranks in one epoch.
pub struct Batches {
    config: BatchConfig,
    items: Items,
    order: Order,
    windows: Vec<Window>,
    /// What windows take over from the ones before, end to end.
    carried: Vec<u32>,
    metrics: Metrics,
    /// The window that was asked for last.
    recent: RefCell<Option<(usize, Steps)>>,
}

/// Where a window begins.
struct Window {
    step: u64,
    /// In the carried items.
    carried: usize,
}

/// How many items are taken at a time where nothing looks at several of them.
const PIECE: u32 = 1 << 13;

impl Batches {
    /// Plans an epoch. Failures: any field of the configuration, `out-of-memory`.
    pub fn new(config: BatchConfig) -> Result<Self, Failure> {
        config.check()?;
        let items = Items::new(&config)?;
        config.order.check(items.count().into(), config.seed)?;
        let order = Order::new(config.order, items.count().into(), config.seed, config.epoch)?;
        let metrics =
            Metrics { truncated: items.truncated, too_long: items.dropped, split: items.split, ..Metrics::default() };
        let recent = RefCell::new(None);
        let mut plan = Self { config, items, order, windows: Vec::new(), carried: Vec::new(), metrics, recent };
        let count = plan.items.count().div_ceil(plan.width()).max(1);
        plan.windows = collect("window", count as usize, [])?;
        let mut carry = Vec::new();
        for window in 0..count as usize {
            plan.windows.push(Window { step: plan.metrics.steps, carried: plan.carried.len() });
            if plan.carried.try_reserve(carry.len()).is_err() || !has_headroom() {
                return Err(Failure::out_of_memory("window", plan.config.window, "a larger window"));
            }
            plan.carried.extend(&carry);
            let (steps, left, dropped) = plan.steps_of(window)?;
            carry = left;
            plan.metrics.dropped += dropped;
            plan.measure(&steps);
        }
        Ok(plan)
    }

    /// The configuration.
    pub fn config(&self) -> &BatchConfig {
        &self.config
    }

    /// How many steps every rank takes, and what they amount to.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The batch of a rank at a step. Failures: `step`, `rank`, `out-of-memory`.
    pub fn batch(&self, step: u64, rank: u32) -> Result<Batch, Failure> {
        check_below("step", step, self.metrics.steps)?;
        check_below("rank", rank.into(), self.config.world.into())?;
        let window = self.windows.partition_point(|window| window.step <= step) - 1;
        let mut recent = self.recent.borrow_mut();
        if recent.as_ref().is_none_or(|(known, _)| *known != window) {
            *recent = None;
            let (steps, ..) = self.steps_of(window)?;
            *recent = Some((window, steps));
        }
        let Some((_, steps)) = &*recent else { return Ok(Batch::default()) };
        self.read(steps, (step - self.windows[window].step) as usize, rank as usize)
    }

    /// SHA-256 over all batches, in hexadecimal: for every step and every rank the number of its items, then sample and
    /// start of each, as 8 bytes, little-endian. Failures: `out-of-memory`.
    pub fn fingerprint(&self) -> Result<String, Failure> {
        let mut hash = Fingerprint::new();
        for window in 0..self.windows.len() {
            let (steps, ..) = self.steps_of(window)?;
            for step in 0..steps.count() {
                for rank in 0..self.config.world as usize {
                    let (rows, _) = steps.batch(step, rank);
                    hash.update(&[rows.clone().map(|row| steps.items(row).len() as u64).sum()]);
                    for row in rows {
                        for &item in steps.items(row) {
                            let (sample, start) = self.items.part(item);
                            hash.update(&[sample.into(), start.into()]);
                        }
                    }
                }
            }
        }
        Ok(hash.finish())
    }

    /// How many items of the epoch's order a window takes.
    fn width(&self) -> u32 {
        match (self.config.strategy, self.config.window) {
            (Strategy::PadToMax, _) | (_, 0) => PIECE,
            (_, window) => window,
        }
    }

    /// The steps of a window, what they leave to the next one, and how many items are left out.
    fn steps_of(&self, window: usize) -> Result<(Steps, Vec<u32>, u64), Failure> {
        let config = &self.config;
        let width = self.width();
        let first = window as u64 * u64::from(width);
        let count = u64::from(width).min(u64::from(self.items.count()) - first) as usize;
        let end = self.windows.get(window + 1).map_or(self.carried.len(), |next| next.carried);
        let carried = &self.carried[self.windows[window].carried..end];
        let mut pool = collect("window", carried.len() + count, carried.iter().copied())?;
        pool.resize(carried.len() + count, 0);
        self.order.fill(first, 1, &mut pool[carried.len()..]);

        let last = first + count as u64 == u64::from(self.items.count());
        let mut steps = Steps::new(config.world);
        let all = |_| config.max_batch_size;
        let rows = |longest| config.rows(longest);
        let bucket_rows = |longest| config.rows(config.bucket_end(longest));
        let (mut left, mut dropped) = match config.strategy {
            Strategy::PadToMax => (in_order(pool, config.max_batch_size, &mut steps, config.world)?, 0),
            Strategy::Bucket => (by_bucket(config, &self.items, pool, &mut steps)?, 0),
            Strategy::Budget if config.window == 0 => (as_they_come(config, &self.items, pool, &mut steps, last)?, 0),
            Strategy::Budget if config.is_padded() => (by_length(config, &self.items, pool, &mut steps, rows)?, 0),
            Strategy::Budget | Strategy::Pack => {
                steps_of_packs(config, &self.items, pool, &self.shape(), last, &mut steps)?
            }
        };
        if last {
            dropped += match config.strategy {
                Strategy::PadToMax => tail(config, &self.items, left, &mut steps, all)?,
                Strategy::Bucket => tail(config, &self.items, left, &mut steps, bucket_rows)?,
                Strategy::Budget => tail(config, &self.items, left, &mut steps, rows)?,
                Strategy::Pack => 0,
            };
            left = Vec::new();
        }
        if config.strategy != Strategy::PadToMax && config.window > 0 {
            steps.shuffle(&mut Words::new("batch steps", config.seed, config.epoch, window as u64))?;
        }
        Ok((steps, left, dropped))
    }

    fn shape(&self) -> Shape {
        let BatchConfig { strategy, max_batch_size, capacity, budget, .. } = self.config;
        if strategy == Strategy::Pack {
            return Shape { capacity: capacity.into(), slots: u32::MAX, rows: max_batch_size, shared: true };
        }
        let slots = if max_batch_size == 0 { u32::MAX } else { max_batch_size };
        Shape { capacity: budget, slots, rows: 1, shared: false }
    }

    /// Tokens of a row, and what the batch costs.
    fn weigh(&self, steps: &Steps, rows: core::ops::Range<usize>) -> (u32, u64) {
        let items = || rows.clone().flat_map(|row| steps.items(row)).map(|&item| self.items.length(item));
        let width = match self.config.strategy {
            Strategy::Pack => self.config.capacity,
            _ => items().max().unwrap_or(0),
        };
        let cost = if self.config.is_padded() {
            rows.len() as u64 * u64::from(width)
        } else {
            u64::try_from(items().map(|length| self.config.cost(length)).sum::<u128>()).unwrap_or(u64::MAX)
        };
        (width, cost)
    }

    fn measure(&mut self, steps: &Steps) {
        let mut total = self.metrics;
        for step in 0..steps.count() {
            let (mut slowest, mut slowest_cost) = (0, 0);
            for rank in 0..self.config.world as usize {
                let (rows, repeated) = steps.batch(step, rank);
                let (width, cost) = self.weigh(steps, rows.clone());
                let padded = rows.len() as u64 * u64::from(width);
                let items = rows.clone().flat_map(|row| steps.items(row));
                let tokens: u64 = items.clone().map(|&item| u64::from(self.items.length(item))).sum();
                total.items += items.count() as u64;
                total.rows += rows.len() as u64;
                total.tokens += tokens;
                total.padded += padded;
                total.cost = total.cost.saturating_add(cost);
                total.empty += u64::from(rows.is_empty());
                let again = rows.clone().skip(rows.len() - repeated as usize);
                total.repeated += again.map(|row| steps.items(row).len() as u64).sum::<u64>();
                slowest = padded.max(slowest);
                slowest_cost = cost.max(slowest_cost);
            }
            total.slowest += slowest;
            total.slowest_cost = total.slowest_cost.saturating_add(slowest_cost);
        }
        total.steps += steps.count() as u64;
        self.metrics = total;
    }

    fn read(&self, steps: &Steps, step: usize, rank: usize) -> Result<Batch, Failure> {
        let (rows, repeated) = steps.batch(step, rank);
        let count = rows.clone().map(|row| steps.items(row).len()).sum::<usize>();
        let items = || rows.clone().flat_map(|row| steps.items(row).iter().copied());
        let (padded_length, cost) = self.weigh(steps, rows.clone());
        let ends = rows.clone().scan(0, |end, row| {
            *end += steps.items(row).len() as u32;
            Some(*end)
        });
        Ok(Batch {
            samples: collect("step", count, items().map(|item| self.items.part(item).0))?,
            starts: collect("step", count, items().map(|item| self.items.part(item).1))?,
            lengths: collect("step", count, items().map(|item| self.items.length(item)))?,
            row_ends: collect("step", rows.len(), ends)?,
            padded_length,
            cost,
            repeated,
        })
    }
}

impl core::fmt::Debug for Batches {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&format!("Batches({:?}, {} steps)", self.config.strategy, self.metrics.steps))
    }
}
