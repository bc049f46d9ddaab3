//! Schedules: a whole training as one sequence of global steps. A step may take the last positions of an epoch and the
//! first ones of the next epoch. SPEC.md, section 17.

mod recipe;
mod stage;
mod state;

use alloc::format;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::ops::Range;

use crate::base::check::{check_below, check_ranks};
use crate::base::failure::range;
use crate::base::memory::collect;
use crate::base::{Failure, MAX_COUNT};
use crate::deal::{Deal, Layout, Remainder, Rotation};
use crate::order::{Order, OrderPart};
#[cfg(feature = "texts")]
pub(crate) use recipe::SECTIONS;
use stage::Stage;

/// A schedule: the samples that a rank takes at every global step. It is immutable.
///
/// ```
/// use samedeal_core::Schedule;
/// let recipe = r#"{"order": {"name": "sequential", "samples": 10}, "deal": {"world_size": 2}, "steps": {"global_batch_size": 4}}"#;
/// let schedule = Schedule::read(recipe, &[], 1)?;
/// assert_eq!(schedule.indices(0, 3)?, [1, 3, 5, 7, 9, 1]);
/// # Ok::<(), samedeal_core::Failure>(())
/// ```
pub struct Schedule {
    order: Rc<OrderPart>,
    rank: u32,
    world_size: u32,
    layout: Layout,
    unit: u32,
    /// The rotation of rows, with the layout `Rotated`.
    rotation: Rotation,
    stages: Rc<Vec<Stage>>,
    /// The number of epochs, if the recipe has it.
    epochs: Option<u64>,
    num_steps: u64,
    /// The first step from which on all batch sizes fit the world size. Earlier steps need not fit, since another
    /// number of ranks may have taken them.
    dealt_from: u64,
    /// The last epoch that was read. Schedules that `at_rank` makes for other ranks share it, since its order may have
    /// a large table.
    recent: Rc<RefCell<Option<Epoch>>>,
}

/// The number of later epochs in which `locate` searches for a sample, if epochs can leave samples out.
const MAX_EPOCHS: u64 = 1 << 12;

/// An epoch: its number, the range of its draws, and its order.
struct Epoch {
    number: u64,
    draws: Range<u64>,
    order: Order,
}

/// The place of a sample in a training: step, epoch, rank and position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepPlace {
    /// The number of samples that all ranks took before this one.
    pub samples_consumed: u64,
    /// Number of the epoch.
    pub epoch: u64,
    /// The position in this epoch.
    pub position: u64,
    /// Number of the global step.
    pub step: u64,
    /// The rank that takes the sample.
    pub rank: u32,
    /// The place of the sample among the samples of this rank at this step.
    pub index_in_batch: u32,
}

impl Schedule {
    fn new(
        (order, epochs): (Rc<OrderPart>, Option<u64>),
        (rank, world_size): (u32, u32),
        layout: Layout,
        unit: u32,
        stages: Rc<Vec<Stage>>,
    ) -> Result<Self, Failure> {
        let rotation = Rotation::new(order.seed, 0);
        let draws = match epochs {
            Some(epochs) => order.begin(epochs)?.unwrap_or_default(),
            None => order.draws()?,
        };
        let last = stages.partition_point(|stage| stage.before <= draws) - 1;
        let num_steps = stages[last].from + (draws - stages[last].before) / u64::from(stages[last].global_batch_size);
        let unfit = stages.iter().rposition(|stage| !stage::fits(stage.global_batch_size, world_size, unit));
        let dealt_from = unfit.map_or(0, |last| stages.get(last + 1).map_or(u64::MAX, |stage| stage.from));
        let recent = Rc::default();
        let made =
            Self { order, rank: 0, world_size, layout, unit, rotation, stages, epochs, num_steps, dealt_from, recent };
        made.at_rank(rank)
    }

    /// The schedule of another rank. Failures: `rank`.
    pub fn at_rank(&self, rank: u32) -> Result<Self, Failure> {
        check_below("rank", rank.into(), self.world_size.into())?;
        let (order, stages, recent) = (Rc::clone(&self.order), Rc::clone(&self.stages), Rc::clone(&self.recent));
        Ok(Self { order, stages, rank, recent, ..*self })
    }

    /// The rank.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The number of ranks.
    pub fn world_size(&self) -> u32 {
        self.world_size
    }

    /// The number of sample indices: every index is below it.
    pub fn dataset_size(&self) -> u64 {
        self.order.samples
    }

    /// Seed of the order.
    pub fn seed(&self) -> i64 {
        self.order.seed
    }

    /// Name of the order.
    pub fn order(&self) -> &'static str {
        self.order.id.name()
    }

    /// The layout: which samples of a step belong to which rank.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The unit: the number of neighbouring positions that go to the same rank.
    pub fn unit(&self) -> u32 {
        self.unit
    }

    /// The number of steps.
    pub fn num_steps(&self) -> u64 {
        self.num_steps
    }

    /// The global batch size of a step. Failures: `step`.
    pub fn global_batch_size(&self, step: u64) -> Result<u32, Failure> {
        check_below("step", step, self.num_steps)?;
        Ok(self.stage(step).global_batch_size)
    }

    /// The number of samples that all ranks took before a step. Failures: `step`.
    pub fn samples_consumed(&self, step: u64) -> Result<u64, Failure> {
        self.check_step(step)?;
        Ok(self.before(step))
    }

    /// The epoch and the position at which a step begins. Failures: `step`, `out-of-memory`.
    pub fn begin_of(&self, step: u64) -> Result<(u64, u64), Failure> {
        check_below("step", step, self.num_steps)?;
        self.order.find(self.before(step))
    }

    /// The step that takes the next sample after all ranks took `samples_consumed` samples. Failures:
    /// `samples_consumed`.
    pub fn step_of_consumed(&self, samples_consumed: u64) -> Result<u64, Failure> {
        check_below("samples_consumed", samples_consumed, self.before(self.num_steps))?;
        Ok(self.taking(samples_consumed))
    }

    /// The step that takes a position of an epoch. Failures: `epoch`, `position`, `out-of-memory`.
    pub fn step_of(&self, epoch: u64, position: u64) -> Result<u64, Failure> {
        check_below("epoch", epoch, self.order.epochs()?)?;
        check_below("position", position, self.order.length(epoch)?)?;
        let draw = self.order.begin(epoch)?.unwrap_or_default() + position;
        let end = self.before(self.num_steps);
        if draw >= end {
            let allowed = format!("positions among the first {end} of all epochs, which the steps take");
            return Err(Failure::out_of_range("epoch", epoch, allowed));
        }
        Ok(self.taking(draw))
    }

    /// The samples of this rank at steps number `start` to `start + count - 1`. Failures: `start`, `count`,
    /// `global_batch_size`, `out-of-memory`.
    pub fn indices(&self, start: u64, count: u32) -> Result<Vec<u64>, Failure> {
        if start > self.num_steps {
            return Err(Failure::out_of_range("start", start, range(0, self.num_steps)));
        }
        let most = self.num_steps - start;
        if u64::from(count) > most {
            return Err(Failure::out_of_range("count", count, range(0, most).and(format_args!(" from {start}"))));
        }
        let end = start + u64::from(count);
        let total = (self.before(end) - self.before(start)) / u64::from(self.world_size);
        if total > MAX_COUNT.into() {
            let allowed = format!("steps that have at most {MAX_COUNT} samples of a rank together, from {start}");
            return Err(Failure::out_of_range("count", count, allowed));
        }
        if count > 0 {
            self.check_dealt(start)?;
        }
        let mut out = collect("count", total as usize, core::iter::repeat_n(0, total as usize))?;
        let mut rest = &mut out[..];
        for step in start..end {
            let deal = self.deal(step)?;
            let (own, others) = rest.split_at_mut(deal.num_samples() as usize);
            self.fill(&deal, own)?;
            rest = others;
        }
        Ok(out)
    }

    /// The samples of the ranks `first` to `first + count - 1` at a step, rank after rank, the same number for each
    /// rank. Failures: `step`, `first`, `count`, `global_batch_size`, `out-of-memory`.
    pub fn step(&self, step: u64, first: u32, count: u32) -> Result<Vec<u64>, Failure> {
        let each = u64::from(self.global_batch_size(step)?) / u64::from(self.world_size);
        self.check_dealt(step)?;
        check_ranks(first, count, self.world_size, each)?;
        let total = each as usize * count as usize;
        let mut out = collect("count", total, core::iter::repeat_n(0, total))?;
        let deal = self.deal(step)?;
        for (rank, own) in (first..).zip(out.chunks_mut(each as usize)) {
            self.fill(&deal.of_rank(rank), own)?;
        }
        Ok(out)
    }

    /// The first place of a sample at `step` or later; `None` if no place is found. Failures: `sample`, `step`,
    /// `global_batch_size`, `out-of-memory`.
    pub fn locate(&self, sample: u64, step: u64) -> Result<Option<StepPlace>, Failure> {
        check_below("sample", sample, self.order.samples)?;
        self.check_step(step)?;
        if step == self.num_steps {
            return Ok(None);
        }
        let from = self.order.find(self.before(step))?;
        let Some((epoch, position)) = self.next(sample, from)? else { return Ok(None) };
        let Some(begin) = self.order.begin(epoch)? else { return Ok(None) };
        let draw = begin + position;
        if draw >= self.before(self.num_steps) {
            return Ok(None);
        }
        let step = self.taking(draw);
        self.check_dealt(step)?;
        let deal = self.deal(step)?;
        let place = deal.place(draw, u32::MAX);
        let (rank, index_in_batch) = (place.rank, place.index_in_rank as u32);
        Ok(Some(StepPlace { samples_consumed: draw, epoch, position, step, rank, index_in_batch }))
    }

    /// The first epoch and position that have a sample, at or after the given ones.
    fn next(&self, sample: u64, (first, position): (u64, u64)) -> Result<Option<(u64, u64)>, Failure> {
        if self.order.no_source().is_none() {
            let seen = self.order.seen(sample, first, position)?;
            return self.order.occurrence(sample, seen);
        }
        // Every epoch may leave the sample out, so that a search without a limit might never end.
        for epoch in first..=first.saturating_add(MAX_EPOCHS) {
            if epoch.checked_add(1).map_or(Ok(None), |next| self.order.begin(next))?.is_none() {
                break;
            }
            let from = if epoch == first { position } else { 0 };
            if let Some(position) = self.order.order(epoch)?.next(sample, from)? {
                return Ok(Some((epoch, position)));
            }
        }
        Ok(None)
    }

    fn stage(&self, step: u64) -> &Stage {
        &self.stages[self.stages.partition_point(|stage| stage.from <= step) - 1]
    }

    /// The number of draws before a step, which is at most `num_steps`.
    fn before(&self, step: u64) -> u64 {
        let stage = self.stage(step);
        stage.before + (step - stage.from) * u64::from(stage.global_batch_size)
    }

    /// The step that takes a draw.
    fn taking(&self, draw: u64) -> u64 {
        let stage = &self.stages[self.stages.partition_point(|stage| stage.before <= draw) - 1];
        stage.from + (draw - stage.before) / u64::from(stage.global_batch_size)
    }

    fn check_step(&self, step: u64) -> Result<(), Failure> {
        if step > self.num_steps {
            return Err(Failure::out_of_range("step", step, range(0, self.num_steps)));
        }
        Ok(())
    }

    /// Checks that all ranks have equal shares of a step and of all later ones: a later step without equal shares would
    /// end a training that resumes here. Failures: `global_batch_size`.
    fn check_dealt(&self, step: u64) -> Result<(), Failure> {
        if step >= self.dealt_from {
            return Ok(());
        }
        let now = self.stages.partition_point(|stage| stage.from <= step) - 1;
        let (world_size, unit) = (self.world_size, self.unit);
        let mut later = self.stages.iter().enumerate().skip(now);
        let unfit = later.find(|(_, stage)| !stage::fits(stage.global_batch_size, world_size, unit));
        unfit.map_or(Ok(()), |(number, stage)| Err(stage::unfit(number, *stage, world_size, unit)))
    }

    /// The deal of a step: the rank that takes each of its positions.
    fn deal(&self, step: u64) -> Result<Deal, Failure> {
        let global_batch_size = self.stage(step).global_batch_size;
        let first = self.before(step);
        let end = first + u64::from(global_batch_size);
        let deal = Deal::new(end, first, (self.rank, self.world_size), Remainder::Uneven, self.layout, self.unit)?;
        Ok(deal.with_rotation(self.rotation))
    }

    /// Writes the samples of a rank at a step.
    fn fill(&self, deal: &Deal, mut out: &mut [u64]) -> Result<(), Failure> {
        let mut index = 0;
        let mut recent = self.recent.borrow_mut();
        while !out.is_empty() {
            // A run of draws of this rank: the first draw, the distance between draws, and the number of draws.
            let (first, stride, count) = match deal.run() {
                Some((first, stride)) => (first + index * stride, stride, out.len() as u64),
                None => {
                    let unit = u64::from(self.unit);
                    (deal.position(index), 1, (unit - index % unit).min(out.len() as u64))
                }
            };
            let epoch = self.epoch(first, &mut recent)?;
            let count = count.min((epoch.draws.end - first).div_ceil(stride));
            let run = out.split_off_mut(..count as usize).unwrap_or_default();
            epoch.order.fill(first - epoch.draws.start, stride, run)?;
            index += count;
        }
        Ok(())
    }

    /// The epoch of a draw.
    fn epoch<'a>(&self, draw: u64, recent: &'a mut Option<Epoch>) -> Result<&'a Epoch, Failure> {
        let epoch = match recent.take() {
            Some(epoch) if epoch.draws.contains(&draw) => epoch,
            last => {
                let last = last.map(|epoch| (epoch.number, epoch.draws.end));
                let (number, draws) = self.order.epoch_of(draw, last)?;
                Epoch { number, draws, order: self.order.order(number)? }
            }
        };
        Ok(recent.insert(epoch))
    }
}
