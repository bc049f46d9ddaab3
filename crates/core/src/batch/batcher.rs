use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::config::{BatchConfig, Segment, check_history};
use super::items::Items;
use super::metrics::Metrics;
use super::plan::{Plan, Source};
use super::recipe::{BatchRecipe, Samples};
use super::run::Run;
use crate::base::check::{check_below, check_ranks, check_run};
use crate::base::failure::at_most;
use crate::base::fingerprint::Fingerprint;
use crate::state::MAX_SEGMENTS;
use crate::{Failure, Order, OrderId};

/// The batches of all ranks in one epoch, or in what is left of it. They never change.
pub struct Batcher {
    recipe: Rc<BatchRecipe>,
    samples: Rc<Samples>,
    /// That of the recipe, with this epoch and what was taken of it before.
    config: BatchConfig,
    /// The items of this epoch, if they are not those of the samples.
    items: Option<Items>,
    /// Of the items.
    order: Order,
    plan: Plan,
    /// How many steps of the plan were taken before.
    first: u64,
}

impl Batcher {
    /// Plans what a history leaves of an epoch. Failures: `lengths` (the recipe has none), `history`, `out-of-memory`.
    pub fn new(recipe: &Rc<BatchRecipe>, epoch: u64, mut history: Vec<Segment>) -> Result<Self, Failure> {
        let samples = Rc::clone(recipe.samples()?);
        let items = &samples.items;
        let own = recipe.config();
        check_history(&history)?;
        merge(&mut history);
        check_next(&history, own.world)?;
        let config = BatchConfig { epoch, history, buckets: own.buckets.clone(), ..own.bare() };
        let (own, order) = match recipe.order() {
            Some(part) => {
                // First the length: it fails for an epoch that cannot be used, for which an order is not made.
                let length = part.length(epoch)?;
                let own = items.of_epoch(&config, samples.lengths(), &part.order(epoch)?, length)?;
                let order = Order::new(OrderId::Sequential, own.count().into(), 0, 0)?;
                (Some(own), order)
            }
            None => (None, Order::new(config.order, items.count().into(), config.seed, epoch)?),
        };
        let (plan, first) = planned(&config, recipe.follows(), items, own.as_ref().unwrap_or(items), &order)?;
        Ok(Self { recipe: Rc::clone(recipe), samples, config, items: own, order, plan, first })
    }

    /// Plans what the configuration says of its epoch. Failures: any field of it, `out-of-memory`.
    pub fn of(mut config: BatchConfig) -> Result<Self, Failure> {
        let history = core::mem::take(&mut config.history);
        let epoch = config.epoch;
        Self::new(&Rc::new(BatchRecipe::of(config)?), epoch, history)
    }

    /// The whole of another epoch. Failures: `out-of-memory`.
    pub fn at_epoch(&self, epoch: u64) -> Result<Self, Failure> {
        Self::new(&self.recipe, epoch, Vec::new())
    }

    /// What decides these batches in every epoch.
    pub fn recipe(&self) -> &Rc<BatchRecipe> {
        &self.recipe
    }

    /// The configuration, without lengths, with the boundaries that buckets come to, and with the window of this world.
    pub fn config(&self) -> &BatchConfig {
        &self.config
    }

    pub(super) fn items(&self) -> &Items {
        self.items.as_ref().unwrap_or(&self.samples.items)
    }

    pub(super) fn num_samples(&self) -> u64 {
        self.samples.count()
    }

    /// How many steps every rank takes, and what they amount to.
    pub fn metrics(&self) -> Metrics {
        Metrics {
            truncated: self.items().truncated,
            too_long: self.items().dropped,
            split: self.items().split,
            ..self.plan.metrics
        }
    }

    /// A ratio of the metrics, in parts per million: see [`Metrics::ratio`]. Failures: `ratio`.
    pub fn ratio(&self, name: &str) -> Result<u64, Failure> {
        self.metrics().ratio(&self.config, name)
    }

    /// The batches of a rank at steps number `start` to `start + count - 1`. A step costs no more than planning its window.
    /// Failures: `rank`, `start`, `count`, `out-of-memory`.
    pub fn take(&self, rank: u32, start: u64, count: u32) -> Result<Run, Failure> {
        check_below("rank", rank.into(), self.config.world.into())?;
        check_run(start, count, self.plan.metrics.steps)?;
        let mut run = Run::default();
        for step in self.first + start..self.first + start + u64::from(count) {
            self.plan.within(self.source(), step, |steps, step| {
                run.add(&self.config, self.items(), steps, step, rank as usize)
            })?;
        }
        Ok(run)
    }

    /// The batches of the ranks `first` to `first + count - 1` at a step. Costs as much as planning its window. Failures: `step`, `first`,
    /// `count`, `out-of-memory`.
    pub fn step(&self, step: u64, first: u32, count: u32) -> Result<Run, Failure> {
        check_below("step", step, self.plan.metrics.steps)?;
        check_ranks(first, count, self.config.world, 1)?;
        let mut run = Run::default();
        self.plan.within(self.source(), self.first + step, |steps, step| {
            (first..first + count).try_for_each(|rank| run.add(&self.config, self.items(), steps, step, rank as usize))
        })?;
        Ok(run)
    }

    /// SHA-256 over all batches, in hexadecimal: for every step and every rank the number of its rows; for each row the number of its
    /// items, then sample, start and length of each; as 8 bytes, little-endian. Failures: `out-of-memory`.
    pub fn fingerprint(&self) -> Result<String, Failure> {
        let mut hash = Fingerprint::new();
        for step in self.first..self.plan.steps() {
            self.plan.within(self.source(), step, |steps, step| {
                for rank in 0..self.config.world as usize {
                    let (rows, _) = steps.batch(step, rank);
                    hash.update(&[rows.len() as u64]);
                    for row in rows {
                        hash.update(&[steps.items(row).len() as u64]);
                        for &item in steps.items(row) {
                            let (sample, start) = self.items().part(item);
                            hash.update(&[sample.into(), start.into(), self.items().length(item).into()]);
                        }
                    }
                }
                Ok(())
            })?;
        }
        Ok(hash.finish())
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The number of the plan's step that is number 0 here.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    pub(super) fn source(&self) -> Source<'_> {
        Source { config: &self.config, items: self.items(), order: &self.order }
    }
}

/// Whether a world can go on after a history: its steps are in the state then. Failures: `history`.
fn check_next(history: &[Segment], world: u32) -> Result<(), Failure> {
    match history.last() {
        Some(last) if history.len() == MAX_SEGMENTS && last.world_size != world => {
            let allowed = at_most(MAX_SEGMENTS - 1)
                .and(format_args!(", or a world size of {}, which took the last steps", last.world_size));
            Err(Failure::out_of_range("history", format!("of {} segments", history.len()), allowed))
        }
        _ => Ok(()),
    }
}

/// Leaves out segments without steps, and joins neighbours of one world size: their steps are of one plan.
fn merge(history: &mut Vec<Segment>) {
    history.retain(|past| past.steps > 0);
    history.dedup_by(|next, past| {
        let same = next.world_size == past.world_size;
        if same {
            past.steps = past.steps.saturating_add(next.steps);
        }
        same
    });
}

/// The plan of what the history leaves of the items of an epoch, and how many of its steps the history has taken. Windows follow from
/// the items of the dataset. Failures: `history`, `out-of-memory`.
fn planned(
    config: &BatchConfig,
    follows: bool,
    dataset: &Items,
    items: &Items,
    order: &Order,
) -> Result<(Plan, u64), Failure> {
    let mut past = &config.history[..];
    let mut row = None;
    while let Some((&Segment { world_size: world, steps }, others)) = past.split_first() {
        past = others;
        let last = past.is_empty() && world == config.world;
        let mut config = BatchConfig { world, buckets: config.buckets.clone(), ..config.bare() };
        if follows {
            // The window that this world had.
            config.window = Some(config.default_window(dataset));
        }
        let source = Source { config: &config, items, order };
        // Of a world that is gone, no more is planned than it took.
        let plan = if last { Plan::new(source, row, steps)? } else { Plan::beyond(source, row, steps)? };
        if steps > plan.steps() {
            let allowed = at_most(plan.steps()).and(format_args!(" steps with the world size {world}"));
            return Err(Failure::out_of_range("history", format!("{steps} steps"), allowed));
        }
        if last {
            return Ok((plan, steps));
        }
        row = Some(plan.rest(source, steps)?);
    }
    Ok((Plan::new(Source { config, items, order }, row, 0)?, 0))
}
