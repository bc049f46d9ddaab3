use std::ops::RangeBounds;
use std::sync::Arc;

use wasmtime::component::ResourceAny;

use super::{EpochPosition, ScheduleBuilder, ScheduleSteps, StepPlace};
use crate::engine::{Object, Samedeal, Store, checked_state, steps, types};
use crate::iter::Of;
use crate::range::run;
use crate::recipe::Shared;
use crate::{Error, Layout, Order};

/// What every rank takes at every global step of a training, over the ends of epochs, with a global batch size that can change.
///
/// A global step takes the next samples of the order, as many as the global batch size of this step says. It goes on with the next epoch where
/// one ends, so no sample is padded or dropped. The samples of a step do not depend on the number of ranks, which only decides who gets what.
/// Use it where a trainer counts steps and not epochs, as for pre-training. A schedule never changes; threads may share it, and take turns.
///
/// ```
/// use samedeal::Schedule;
///
/// // 256 samples in each step, 512 from step 1,000 on, for rank 3 of 8.
/// let builder = Schedule::builder(100_000, 256).stages([(1_000, 512)]).seed(42);
/// let schedule = builder.rank(3).world_size(8).build()?;
/// for batch in schedule.iter().take(3) {
///     assert_eq!(batch?.len(), 256 / 8);
/// }
/// // Any step at once: step 1,200 is within epoch 3, and has 64 samples for this rank.
/// assert_eq!(schedule.samples_consumed(1_200)?, 1_000 * 256 + 200 * 512);
/// assert_eq!((schedule.place_of(1_200)?.epoch, schedule.place_of(1_200)?.position), (3, 58_400));
/// assert_eq!(schedule.batch(1_200)?.len(), 512 / 8);
///
/// // A checkpoint, and the training goes on with 4 ranks.
/// let state = schedule.state(1_200)?;
/// let resumed = schedule.to_builder()?.rank(0).world_size(4).build()?;
/// let step = resumed.resume(&state)?;
/// assert_eq!((step, resumed.batch(step)?.len()), (1_200, 512 / 4));
/// # Ok::<(), samedeal::Error>(())
/// ```
pub struct Schedule {
    schedule: Object,
    known: Known,
    /// The lists of the order, of which the recipe may have a hash only.
    lists: Arc<[Shared]>,
}

/// What the component says of the schedule, which never changes.
struct Known {
    samples: u64,
    seed: i64,
    order: String,
    rank: u32,
    world_size: u32,
    layout: Layout,
    unit: u32,
    num_steps: u64,
}

impl Known {
    fn ask(schedule: &Object) -> Result<Self, Error> {
        schedule.ask(|exports, store, schedule| {
            let methods = exports.samedeal_deal_steps().schedule();
            let layout = match methods.call_layout(&mut *store, schedule)?.parse() {
                Ok(layout) => layout,
                Err(failure) => return Ok(Err(failure)),
            };
            Ok(Ok(Self {
                samples: methods.call_samples(&mut *store, schedule)?,
                seed: methods.call_seed(&mut *store, schedule)?,
                order: methods.call_order(&mut *store, schedule)?,
                rank: methods.call_rank(&mut *store, schedule)?,
                world_size: methods.call_world_size(&mut *store, schedule)?,
                layout,
                unit: methods.call_unit(&mut *store, schedule)?,
                num_steps: methods.call_num_steps(&mut *store, schedule)?,
            }))
        })
    }
}

impl Schedule {
    /// A schedule of `samples` samples, which takes `batch_size` of them in each step, on all ranks together.
    pub fn builder(samples: u64, batch_size: u32) -> ScheduleBuilder {
        ScheduleBuilder::new(None).samples(samples).batch_size(batch_size)
    }

    /// A schedule of any order, such as a blend of several datasets: see [`Order`](crate::Order).
    ///
    /// ```
    /// use samedeal::{Order, Schedule, Source};
    /// let blend = Order::blend([Source::new("web", 10_000, 70), Source::new("books", 500, 30)]).samples(1_000).seed(42);
    /// let schedule = Schedule::from_order(blend, 64).world_size(4).build()?;
    /// // An epoch has 1,000 positions: step 15 has the last 40 of epoch 0, and the first 24 of epoch 1.
    /// assert_eq!(schedule.place_of(15)?.position, 960);
    /// assert_eq!((schedule.place_of(16)?.epoch, schedule.place_of(16)?.position), (1, 24));
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn from_order(order: Order, batch_size: u32) -> ScheduleBuilder {
        ScheduleBuilder::new(None).order(order).batch_size(batch_size)
    }

    /// The schedule of a recipe, which decides everything but the rank. An option that is set afterwards replaces that of the recipe, such as
    /// `world_size`. A recipe has only a hash of a list of more than 256 numbers: set this list too, with
    /// [`list`](ScheduleBuilder::list). SPEC.md, section 17, has the grammar.
    ///
    /// ```
    /// use samedeal::Schedule;
    /// let recipe = r#"{"order": {"samples": 1000}, "deal": {"world_size": 2}, "steps": {"batch_size": 8}}"#;
    /// let schedule = Schedule::from_recipe(recipe).rank(1).build()?;
    /// assert_eq!(
    ///     schedule.recipe()?,
    ///     concat!(
    ///         r#"{"samedeal":1,"order":{"name":"feistel","samples":1000,"seed":0},"#,
    ///         r#""deal":{"world_size":2,"layout":"strided"},"steps":{"batch_size":8}}"#,
    ///     )
    /// );
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn from_recipe(recipe: impl Into<String>) -> ScheduleBuilder {
        ScheduleBuilder::new(Some(recipe.into()))
    }

    pub(super) fn of(schedule: Object, lists: Arc<[Shared]>) -> Result<Self, Error> {
        Ok(Self { known: Known::ask(&schedule)?, schedule, lists })
    }

    /// The options of this schedule, with its rank, for another one that differs in some of them. The memory limit is 2 GiB again.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn to_builder(&self) -> Result<ScheduleBuilder, Error> {
        Ok(Self::from_recipe(self.recipe()?).rank(self.rank()).share_lists(self.lists.to_vec()))
    }

    /// The same for another rank. It shares the memory of this schedule. Costs O(1).
    ///
    /// # Errors
    ///
    /// Out of range (`rank`), out of memory.
    pub fn at_rank(&self, rank: u32) -> Result<Self, Error> {
        let make = |exports: &Samedeal, store: &mut Store, schedule| {
            exports.samedeal_deal_steps().schedule().call_at_rank(store, schedule, rank)
        };
        Self::of(self.schedule.another(make)?, Arc::clone(&self.lists))
    }

    /// The recipe of this schedule: JSON in one line, with every member that there is, the defaults too. It is the same on all ranks, and
    /// the same text in every host. [`from_recipe`](Self::from_recipe) makes the schedule again.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn recipe(&self) -> Result<String, Error> {
        self.call(|methods, store, schedule| methods.call_recipe(store, schedule))
    }

    /// SHA-256 over the recipe, in hexadecimal: it names the run.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn recipe_fingerprint(&self) -> Result<String, Error> {
        self.call(|methods, store, schedule| methods.call_recipe_fingerprint(store, schedule))
    }

    /// Which of the data-parallel ranks this is.
    pub fn rank(&self) -> u32 {
        self.known.rank
    }

    /// How many data-parallel ranks there are.
    pub fn world_size(&self) -> u32 {
        self.known.world_size
    }

    /// Number of sample indices: they are 0 to `samples - 1`.
    pub fn samples(&self) -> u64 {
        self.known.samples
    }

    /// Seed of the order. Of an order that has none, that of the order which it is made of.
    pub fn seed(&self) -> i64 {
        self.known.seed
    }

    /// Name of the order: one of [`orders`](crate::orders), `sharded`, or that of a composed order.
    pub fn order(&self) -> &str {
        &self.known.order
    }

    /// Which samples of a step belong to a rank.
    pub fn layout(&self) -> Layout {
        self.known.layout
    }

    /// How many neighbouring positions always go to the same rank.
    pub fn unit(&self) -> u32 {
        self.known.unit
    }

    /// How many steps there are until the positions of all epochs together are 2^53 - 1: more than any training takes.
    pub fn num_steps(&self) -> u64 {
        self.known.num_steps
    }

    /// The global batch size of a step: of all ranks together.
    ///
    /// # Errors
    ///
    /// Out of range (`step`).
    pub fn batch_size(&self, step: u64) -> Result<u32, Error> {
        self.ask(|methods, store, schedule| methods.call_batch_size(store, schedule, step))
    }

    /// How many samples all ranks together took before a step.
    ///
    /// # Errors
    ///
    /// Out of range (`step`).
    pub fn samples_consumed(&self, step: u64) -> Result<u64, Error> {
        self.ask(|methods, store, schedule| methods.call_samples_consumed(store, schedule, step))
    }

    /// The epoch and the position at which a step begins.
    ///
    /// # Errors
    ///
    /// Out of range (`step`), out of memory.
    pub fn place_of(&self, step: u64) -> Result<EpochPosition, Error> {
        self.ask(|methods, store, schedule| methods.call_place_of(store, schedule, step)).map(Into::into)
    }

    /// The step that takes a sample before which all ranks together took `draw` samples.
    ///
    /// # Errors
    ///
    /// Out of range (`draw`).
    pub fn step_of_draw(&self, draw: u64) -> Result<u64, Error> {
        self.ask(|methods, store, schedule| methods.call_step_of_draw(store, schedule, draw))
    }

    /// The step that takes a position of an epoch.
    ///
    /// # Errors
    ///
    /// Out of range (`epoch`, `position`), out of memory.
    pub fn step_of(&self, epoch: u64, position: u64) -> Result<u64, Error> {
        self.ask(|methods, store, schedule| methods.call_step_of(store, schedule, epoch, position))
    }

    /// This rank's samples at the steps number `start` to `start + count - 1`, one step after the other, in one call of the component. A
    /// step has `batch_size` / `world_size` of them.
    ///
    /// # Errors
    ///
    /// Out of range (`start`; `count` past the end, or where there are more than 2^20 samples),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`batch-size`: that of a step from `start` on, however late, is no multiple of
    /// `world_size` * `unit`), out of memory.
    pub fn indices(&self, start: u64, count: u32) -> Result<Vec<u64>, Error> {
        self.ask(|methods, store, schedule| methods.call_indices(store, schedule, start, count))
    }

    /// This rank's samples at a step.
    ///
    /// # Errors
    ///
    /// Those of [`indices`](Self::indices): out of range (`start`, `count`: there is no such step, or this rank has more than 2^20 samples
    /// at it), contradiction (`batch-size`), out of memory.
    pub fn batch(&self, step: u64) -> Result<Vec<u64>, Error> {
        self.indices(step, 1)
    }

    /// Iterates over this rank's batches, step by step, from step 0 on. It ends after [`num_steps`](Self::num_steps): `take` what is needed.
    pub fn iter(&self) -> ScheduleSteps<'_> {
        ScheduleSteps::new(Of::Borrowed(self), (0, self.num_steps()))
    }

    /// Iterates over this rank's batches of a range of steps, such as `1_000..`.
    ///
    /// # Errors
    ///
    /// Out of range (`start`, `count` where the range ends after [`num_steps`](Self::num_steps)).
    pub fn steps(&self, steps: impl RangeBounds<u64>) -> Result<ScheduleSteps<'_>, Error> {
        Ok(ScheduleSteps::new(Of::Borrowed(self), run(steps, self.num_steps())?))
    }

    /// When and where a sample is seen first, on any rank, from a step on. `None` if it is not seen again.
    ///
    /// ```
    /// use samedeal::Schedule;
    /// let schedule = Schedule::builder(1_000, 32).seed(42).world_size(4).build()?;
    /// // The first two times that sample 7 is seen: once in each epoch.
    /// let first = schedule.locate(7, 0)?.expect("every epoch has it");
    /// let second = schedule.locate(7, first.step + 1)?.expect("every epoch has it");
    /// assert_eq!((first.epoch, second.epoch), (0, 1));
    /// let batch = schedule.at_rank(second.rank)?.batch(second.step)?;
    /// assert_eq!(batch[second.index_in_batch as usize], 7);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Out of range (`sample`, `step`), contradiction (`batch-size`, as with [`indices`](Self::indices)), out of memory.
    pub fn locate(&self, sample: u64, step: u64) -> Result<Option<StepPlace>, Error> {
        let place = self.ask(|methods, store, schedule| methods.call_locate(store, schedule, sample, step))?;
        Ok(place.map(Into::into))
    }

    /// The state before a step: JSON in one line, for a checkpoint. It is the same on all ranks. [`resume`](Self::resume) continues there,
    /// in any host, with any number of ranks.
    ///
    /// # Errors
    ///
    /// Out of range (`step`), out of memory.
    pub fn state(&self, step: u64) -> Result<String, Error> {
        self.ask(|methods, store, schedule| methods.call_state(store, schedule, step))
    }

    /// The step to go on with after a state. The world size may be another one, and stages from this step on may be others. A recipe of
    /// composed orders may have got more, as with [`Sampler::resume`](crate::Sampler::resume). The schedule does not change.
    ///
    /// # Errors
    ///
    /// [`WrongType`](crate::FailureKind::WrongType) (`state`: no state of a schedule of this version),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (the first member of the order that differs; `batch-size`, `stages`;
    /// `consumed`: not that of the step; `batch-size`, as with [`indices`](Self::indices)), out of range (`state`: more than 2^24 bytes;
    /// `step`), out of memory.
    pub fn resume(&self, state: &str) -> Result<u64, Error> {
        let state = checked_state(state, self.schedule.room())?;
        self.ask(|methods, store, schedule| methods.call_resume(store, schedule, state))
    }

    fn call<T>(
        &self,
        call: impl FnOnce(&steps::GuestSchedule<'_>, &mut Store, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        self.schedule.call(|exports, store, schedule| call(&exports.samedeal_deal_steps().schedule(), store, schedule))
    }

    fn ask<T>(
        &self,
        call: impl FnOnce(&steps::GuestSchedule<'_>, &mut Store, ResourceAny) -> wasmtime::Result<Result<T, types::Failure>>,
    ) -> Result<T, Error> {
        self.schedule.ask(|exports, store, schedule| call(&exports.samedeal_deal_steps().schedule(), store, schedule))
    }
}

impl std::fmt::Debug for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Schedule");
        shown.field("order", &self.order()).field("samples", &self.samples()).field("seed", &self.seed());
        shown.field("rank", &self.rank()).field("world_size", &self.world_size());
        shown.field("layout", &self.layout()).field("unit", &self.unit()).finish_non_exhaustive()
    }
}

impl IntoIterator for Schedule {
    type Item = Result<Vec<u64>, Error>;
    type IntoIter = ScheduleSteps<'static>;

    fn into_iter(self) -> ScheduleSteps<'static> {
        let steps = self.num_steps();
        ScheduleSteps::new(Of::Owned(Box::new(self)), (0, steps))
    }
}

impl<'a> IntoIterator for &'a Schedule {
    type Item = Result<Vec<u64>, Error>;
    type IntoIter = ScheduleSteps<'a>;

    fn into_iter(self) -> ScheduleSteps<'a> {
        self.iter()
    }
}
