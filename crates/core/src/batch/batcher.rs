use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use super::config::{BatchConfig, Strategy};
use super::items::Items;
use super::metrics::Metrics;
use super::run::Run;
use super::steps::Steps;
use super::window::{Planned, plan_window};
use crate::fingerprint::Fingerprint;
use crate::memory::{collect, has_room};
use crate::sampler::{check_below, check_run};
use crate::{Failure, Order};

/// The batches of all ranks in one epoch.
pub struct Batcher {
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

impl Batcher {
    /// Plans an epoch. Failures: any field of the configuration, `out-of-memory`.
    pub fn new(mut config: BatchConfig) -> Result<Self, Failure> {
        config.check()?;
        let items = Items::new(&config)?;
        if config.strategy == Strategy::Bucket {
            config.buckets = config.buckets.settled(items.lengths())?;
        }
        let order = Order::new(config.order, items.count().into(), config.seed, config.epoch)?;
        let recent = RefCell::new(None);
        let metrics = Metrics::default();
        let mut plan = Self { config, items, order, windows: Vec::new(), carried: Vec::new(), metrics, recent };
        plan.plan()?;
        Ok(plan)
    }

    /// Plans another epoch. After a failure the old one stands.
    pub fn set_epoch(&mut self, epoch: u64) -> Result<(), Failure> {
        if epoch == self.config.epoch {
            return Ok(());
        }
        let config = &self.config;
        let order = Order::new(config.order, self.items.count().into(), config.seed, epoch)?;
        let before = (core::mem::replace(&mut self.order, order), self.config.epoch, self.metrics);
        let lists = (core::mem::take(&mut self.windows), core::mem::take(&mut self.carried));
        self.config.epoch = epoch;
        self.recent.take();
        self.plan().inspect_err(|_| {
            (self.order, self.config.epoch, self.metrics) = before;
            (self.windows, self.carried) = lists;
        })
    }

    fn plan(&mut self) -> Result<(), Failure> {
        self.metrics = Metrics {
            truncated: self.items.truncated,
            too_long: self.items.dropped,
            split: self.items.split,
            ..Metrics::default()
        };
        let count = self.items.count().div_ceil(self.config.width()).max(1) as usize;
        self.windows = collect("window", count, [])?;
        self.carried = Vec::new();
        let mut carry = Vec::new();
        for window in 0..count {
            self.windows.push(Window { step: self.metrics.steps, carried: self.carried.len() });
            if !has_room(&mut self.carried, carry.len()) {
                return Err(Failure::out_of_memory("window", self.config.window, "a larger window"));
            }
            self.carried.extend(&carry);
            let planned = self.steps_of(window)?;
            carry = planned.left;
            self.metrics.dropped += planned.dropped;
            self.metrics.packs_bound += planned.packs_bound;
            self.metrics.add(&self.config, &self.items, &planned.steps);
        }
        Ok(())
    }

    /// The configuration, with the boundaries that quantiles come to.
    pub fn config(&self) -> &BatchConfig {
        &self.config
    }

    /// How many steps every rank takes, and what they amount to.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The batches of a rank at steps number `start` to `start + count - 1`. A step costs no more than planning its window.
    /// Failures: `rank`, `start`, `count`, `out-of-memory`.
    pub fn take(&self, rank: u32, start: u64, count: u32) -> Result<Run, Failure> {
        check_below("rank", rank.into(), self.config.world.into())?;
        check_run(start, count, self.metrics.steps)?;
        let mut run = Run::default();
        for step in start..start + u64::from(count) {
            self.within(step, |steps, step| run.add(&self.config, &self.items, steps, step, rank as usize))?;
        }
        Ok(run)
    }

    /// SHA-256 over all batches, in hexadecimal: for every step and every rank the number of its items, then sample and
    /// start of each, as 8 bytes, little-endian. Failures: `out-of-memory`.
    pub fn fingerprint(&self) -> Result<String, Failure> {
        let mut hash = Fingerprint::new();
        for step in 0..self.metrics.steps {
            self.within(step, |steps, step| {
                for rank in 0..self.config.world as usize {
                    let (rows, _) = steps.batch(step, rank);
                    hash.update(&[rows.clone().map(|row| steps.items(row).len() as u64).sum()]);
                    for &item in rows.flat_map(|row| steps.items(row)) {
                        let (sample, start) = self.items.part(item);
                        hash.update(&[sample.into(), start.into()]);
                    }
                }
                Ok(())
            })?;
        }
        Ok(hash.finish())
    }

    /// Asks the window of a step, which is planned again if another was asked for last.
    fn within<R>(&self, step: u64, ask: impl FnOnce(&Steps, usize) -> Result<R, Failure>) -> Result<R, Failure> {
        let window = self.windows.partition_point(|window| window.step <= step) - 1;
        let step = (step - self.windows[window].step) as usize;
        let mut recent = self.recent.borrow_mut();
        if let Some((known, steps)) = &*recent
            && *known == window
        {
            return ask(steps, step);
        }
        *recent = None;
        let steps = self.steps_of(window)?.steps;
        ask(&recent.insert((window, steps)).1, step)
    }

    fn steps_of(&self, window: usize) -> Result<Planned, Failure> {
        let (width, all) = (u64::from(self.config.width()), u64::from(self.items.count()));
        let first = window as u64 * width;
        let count = width.min(all - first) as usize;
        let end = self.windows.get(window + 1).map_or(self.carried.len(), |next| next.carried);
        let carried = &self.carried[self.windows[window].carried..end];
        let mut pool = collect("window", carried.len() + count, carried.iter().copied())?;
        pool.resize(carried.len() + count, 0);
        self.order.fill(first, 1, &mut pool[carried.len()..]);
        plan_window(&self.config, &self.items, pool, window as u64, first + count as u64 == all)
    }
}
