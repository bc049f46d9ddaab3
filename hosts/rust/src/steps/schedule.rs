use std::ops::RangeBounds;
use std::sync::Arc;

use super::{ScheduleBuilder, ScheduleSteps};
use crate::engine::{Object, steps};
use crate::generated::ScheduleValues;
use crate::iter::Of;
use crate::members::Shared;
use crate::range::{self, equal_parts, reserved, run};
use crate::{Error, Order};

/// The samples that every rank takes at every global step of a training, over the ends of epochs, with a global batch size that can change.
///
/// The number of samples of a global step is its global batch size. A step takes the next samples of the order, and
/// continues in the next epoch if the epoch ends, so no sample is padded or dropped. The samples of a step do not
/// depend on the number of ranks; they are only divided among the ranks. Use a schedule if a trainer counts steps and
/// not epochs, as in pre-training. A schedule never changes. Threads may share it: their calls run one after the other.
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
///
/// // The first two times that sample 7 is seen: once in each epoch.
/// let first = schedule.locate(7, 0)?.expect("every epoch has it");
/// let second = schedule.locate(7, first.step + 1)?.expect("every epoch has it");
/// assert_eq!((first.epoch, second.epoch), (0, 1));
/// let batch = schedule.at_rank(second.rank)?.batch(second.step)?;
/// assert_eq!(batch[second.index_in_batch as usize], 7);
/// # Ok::<(), samedeal::Error>(())
/// ```
pub struct Schedule {
    pub(crate) object: Object<steps::Schedule>,
    pub(crate) values: ScheduleValues,
    /// The lists beside the recipe, which has only hashes of long lists.
    lists: Arc<[Shared]>,
}

impl Schedule {
    /// A schedule of `samples` samples, which takes `global_batch_size` of them in each step, on all ranks together.
    pub fn builder(samples: u64, global_batch_size: u32) -> ScheduleBuilder {
        ScheduleBuilder::new(None).samples(samples).global_batch_size(global_batch_size)
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
    pub fn from_order(order: Order, global_batch_size: u32) -> ScheduleBuilder {
        ScheduleBuilder::new(None).order(order).global_batch_size(global_batch_size)
    }

    /// The schedule of a recipe, which decides everything but the rank. An option that is set afterwards, such as
    /// `world_size`, replaces the option of the recipe. A recipe has only a hash of a list of more than 256 numbers:
    /// set this list too, with [`list`](ScheduleBuilder::list). SPEC.md, section 17, has the grammar.
    ///
    /// ```
    /// use samedeal::Schedule;
    /// let recipe = r#"{"order": {"samples": 1000}, "deal": {"world_size": 2}, "steps": {"global_batch_size": 8}}"#;
    /// let schedule = Schedule::from_recipe(recipe).rank(1).build()?;
    /// assert_eq!(
    ///     schedule.recipe()?,
    ///     concat!(
    ///         r#"{"samedeal":1,"order":{"name":"feistel","samples":1000,"seed":0},"#,
    ///         r#""deal":{"world_size":2,"layout":"strided"},"steps":{"global_batch_size":8}}"#,
    ///     )
    /// );
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn from_recipe(recipe: impl Into<String>) -> ScheduleBuilder {
        ScheduleBuilder::new(Some(recipe.into()))
    }

    pub(super) fn of(object: Object<steps::Schedule>, lists: Arc<[Shared]>) -> Result<Self, Error> {
        Ok(Self { values: ScheduleValues::ask(&object)?, object, lists })
    }

    pub(crate) fn another(&self, object: Object<steps::Schedule>) -> Result<Self, Error> {
        Self::of(object, Arc::clone(&self.lists))
    }

    /// A builder with the options and the rank of this schedule, for another schedule that differs in some of them. The
    /// memory limit is 2 GiB again.
    ///
    /// # Errors
    ///
    /// Only errors of the engine.
    pub fn to_builder(&self) -> Result<ScheduleBuilder, Error> {
        Ok(Self::from_recipe(self.recipe()?).rank(self.rank()).share_lists(self.lists.to_vec()))
    }

    /// This rank's samples at a step.
    ///
    /// # Errors
    ///
    /// The errors of [`indices_window`](Self::indices_window): out of range (`start`, `count`: there is no such step,
    /// or this rank has more than 2^20 samples at this step), contradiction (`global_batch_size`), out of memory.
    pub fn batch(&self, step: u64) -> Result<Vec<u64>, Error> {
        self.indices_window(step, 1)
    }

    /// This rank's samples of a range of steps of any length, one step after the other.
    ///
    /// # Errors
    ///
    /// The errors of [`steps`](Self::steps) and of [`batch`](Self::batch).
    pub fn indices(&self, steps: impl RangeBounds<u64>) -> Result<Vec<u64>, Error> {
        let (start, count) = run(steps, self.num_steps())?;
        let samples = self.samples_consumed(start + count)? - self.samples_consumed(start)?;
        let mut out = reserved(samples / u64::from(self.world_size()))?;
        for batch in ScheduleSteps::new(Of::Borrowed(self), (start, count)) {
            out.extend(batch?);
        }
        Ok(out)
    }

    /// The samples of a range of ranks at a step, one list for each rank. `..` means all ranks.
    ///
    /// # Errors
    ///
    /// Out of range (`step`; `first`, `count`: there are no such ranks, or they have more than 2^20 samples together),
    /// contradiction (`global_batch_size`), out of memory.
    pub fn step(&self, step: u64, ranks: impl RangeBounds<u32>) -> Result<Vec<Vec<u64>>, Error> {
        let (first, count) = range::ranks(ranks, self.world_size())?;
        let samples = self.raw_step(step, first, count)?;
        // All ranks have the same number of samples at a step.
        Ok(equal_parts(&samples, count))
    }

    /// Iterates over this rank's batches, step by step, from step 0 on. The iterator ends after
    /// [`num_steps`](Self::num_steps) steps, which may be very many: use `take`.
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
