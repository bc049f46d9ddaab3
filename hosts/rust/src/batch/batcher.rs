use std::fmt;
use std::ops::Bound;
use std::ops::RangeBounds;
use std::sync::{Arc, Mutex, PoisonError};

use super::lengths::Source;
use super::{Batch, BatchBuilder, BatchRecipe, Lengths, Metrics, RankBatches};
use crate::engine::{Object, batches};
use crate::generated::BatcherValues;
use crate::iter::Of;
use crate::{BatchShape, Error, Failure, range};

/// The batches of an epoch of sequences of different length: every rank takes the same number of steps, and by default
/// no batch has more than `max_tokens`.
///
/// A step is one batch on every rank; the batches of a step have similar lengths and costs. An epoch is planned window
/// by window, when a batch of the window is asked for: the first batch of a billion samples takes milliseconds. A rank
/// computes its own batches, without communication. All methods except [`set_epoch`](Self::set_epoch),
/// [`resume`](Self::resume) and [`replan`](Self::replan) take `&self`, and threads may share a batcher: their calls run
/// one after the other. Because of the borrow checker, no iterator outlives its epoch.
///
/// ```
/// use samedeal::Batcher;
///
/// // 10,000 sequences of 0 to 499 tokens, for rank 1 of 4; a batch may have 4,096 tokens, padding included.
/// let lengths = (0..10_000).map(|i| i * 7_919 % 500).collect::<Vec<u32>>();
/// let batcher = Batcher::builder(lengths).max_tokens(4_096).seed(42).rank(1).world_size(4).build()?;
/// for batch in &batcher {
///     let batch = batch?;
///     let (rows, width) = batch.shape();
///     assert!(rows * width <= 4_096 && batch.lengths.iter().all(|&length| length as usize <= width));
/// }
/// assert_eq!(batcher.iter().count() as u64, batcher.num_steps()?);
/// assert!(batcher.metrics()?.padding_ratio() < 0.05);
/// # Ok::<(), samedeal::Error>(())
/// ```
pub struct Batcher {
    recipe: Arc<BatchRecipe>,
    pub(crate) object: Object<batches::Batcher>,
    pub(crate) values: BatcherValues,
    /// The source of lengths. None if the recipe contains all lengths.
    lengths: Option<Source>,
    /// A lock around each call that may ask for lengths.
    turn: Mutex<()>,
    rank: u32,
    world_size: u32,
}

impl Batcher {
    /// Batches of samples of these lengths, in tokens: a list, or the [`Lengths`] of each source of a blend.
    /// [`max_tokens`](BatchBuilder::max_tokens), or the option that the strategy needs in its place, has to be set as
    /// well.
    pub fn builder(lengths: impl Into<Lengths>) -> BatchBuilder<Self> {
        BatchBuilder::new(None, Some(lengths.into()))
    }

    /// Batches of a recipe, for samples of these lengths. The recipe decides everything but the epoch and the rank. An
    /// option that is set afterwards, such as `world_size`, replaces the option of the recipe.
    ///
    /// ```
    /// use samedeal::Batcher;
    /// let recipe = r#"{"order": {"seed": 42}, "deal": {"world_size": 2}, "batch": {"max_tokens": 64}}"#;
    /// let batcher = Batcher::from_recipe(recipe, [10, 30, 20, 7, 12]).rank(1).build()?;
    /// assert_eq!(
    ///     batcher.recipe()?,
    ///     concat!(
    ///         r#"{"samedeal":1,"order":{"name":"feistel","samples":5,"seed":42},"deal":{"world_size":2},"#,
    ///         r#""batch":{"strategy":"budget","counting":"padded","max_tokens":64,"#,
    ///         r#""batch_size_multiple":1,"too_long":"error","tail":"even-split","lengths":[10,30,20,7,12]}}"#,
    ///     )
    /// );
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn from_recipe(recipe: impl Into<String>, lengths: impl Into<Lengths>) -> BatchBuilder<Self> {
        BatchBuilder::new(Some(recipe.into()), Some(lengths.into()))
    }

    pub(super) fn build(recipe: BatchRecipe, lengths: Option<Source>, epoch: u64, rank: u32) -> Result<Self, Error> {
        let object = Object::<batches::Batcher>::new(&recipe.object, epoch)?;
        let batcher = Self::of(Arc::new(recipe), object, lengths, rank)?;
        if rank > 0 {
            // A call without batches lets the component check the rank.
            batcher.batches_window(rank, 0, 0)?;
        }
        Ok(batcher)
    }

    fn of(
        recipe: Arc<BatchRecipe>,
        object: Object<batches::Batcher>,
        lengths: Option<Source>,
        rank: u32,
    ) -> Result<Self, Error> {
        let (world_size, values) = (recipe.world_size()?, BatcherValues::ask(&object)?);
        Ok(Self { recipe, object, values, lengths, turn: Mutex::default(), rank, world_size })
    }

    /// Makes a call that may ask for lengths. If it does, supplies them and makes the call again.
    pub(crate) fn waiting<R>(&self, call: impl Fn(&Object<batches::Batcher>) -> Result<R, Error>) -> Result<R, Error> {
        // One call at a time: otherwise another thread's call could replace the request for lengths before they are
        // supplied.
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match call(&self.object) {
                Err(Error::Failure(failure)) if failure.kind.name() == "wanted" => {
                    let wanted = self.raw_wanted()?;
                    let lengths = self.lengths.as_ref().ok_or(*failure)?.ask(&wanted)?;
                    drop(wanted);
                    self.raw_supply(&lengths)?;
                }
                answer => return answer,
            }
        }
    }

    /// The recipe of these batches: everything that decides the batches of every epoch, with all defaults, as JSON in
    /// one line. The text is the same on all ranks, in all epochs and in every host. In place of more than 256 lengths,
    /// it has their hash. [`from_recipe`](Self::from_recipe) makes the batches again.
    ///
    /// # Errors
    ///
    /// Only errors of the engine.
    pub fn recipe(&self) -> Result<String, Error> {
        self.recipe.recipe()
    }

    /// SHA-256 over the recipe, in hexadecimal. It identifies the training run.
    ///
    /// # Errors
    ///
    /// Only errors of the engine.
    pub fn recipe_fingerprint(&self) -> Result<String, Error> {
        self.recipe.recipe_fingerprint()
    }

    /// How many data-parallel ranks there are.
    pub fn world_size(&self) -> u32 {
        self.world_size
    }

    /// The rank whose batches [`iter`](Self::iter), [`batches`](Self::batches) and [`batch`](Self::batch) return.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Metrics of the batches of all ranks. The call plans all windows, unless they are planned already or there is an
    /// index of the whole epoch ([`use_index`](Self::use_index)).
    ///
    /// # Errors
    ///
    /// The errors of [`num_steps`](Self::num_steps).
    pub fn metrics(&self) -> Result<Metrics, Error> {
        Metrics::of(self.raw_metrics()?, |name| self.raw_ratio(name))
    }

    /// The shapes of all batches of all ranks, by rows and then by padded length, and how many batches have each. The
    /// call plans all windows, unless they are planned already.
    ///
    /// # Errors
    ///
    /// The errors of [`num_steps`](Self::num_steps).
    pub fn shapes(&self) -> Result<Vec<BatchShape>, Error> {
        self.raw_shapes(false)
    }

    /// The [`shapes`](Self::shapes) of batches to which rows of padding are added up to [`Batch::full_rows`].
    ///
    /// # Errors
    ///
    /// The errors of [`num_steps`](Self::num_steps).
    pub fn filled_shapes(&self) -> Result<Vec<BatchShape>, Error> {
        self.raw_shapes(true)
    }

    /// Moves to the beginning of another epoch. If the epoch is the current one, nothing changes, even if a part of it
    /// was taken.
    ///
    /// # Errors
    ///
    /// Out of range (`epoch`: the order has too many positions before the end of this epoch), out of memory. After an
    /// error, the batcher stays at its epoch.
    pub fn set_epoch(&mut self, epoch: u64) -> Result<(), Error> {
        if epoch != self.epoch() {
            *self = self.at_epoch(epoch)?;
        }
        Ok(())
    }

    /// Continues from a state: moves to its epoch, to the samples that were not taken. Steps are counted from 0 again.
    /// With the world size of the state, the remaining steps have the same batches as before; with another world size,
    /// the rest of the open window is planned again. A composed order may have been extended since the state was taken,
    /// for example by stages and sources of a blend. If a part of the epoch was taken, such a change must begin in the
    /// next epoch or later. After an error, nothing has changed.
    ///
    /// # Errors
    ///
    /// [`WrongType`](crate::FailureKind::WrongType) (`state`: no state of batches of this version),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (any member of the recipe but `world_size`: not as in the
    /// state; `window`, `checksum`: there in a state without a history), out of range (`state`: more than 2^24 bytes;
    /// `consumed`, `world_size`, `history`, `window`), out of memory.
    pub fn resume(&mut self, state: &str) -> Result<(), Error> {
        *self = self.raw_resume(state)?;
        Ok(())
    }

    /// Resumes with other options than those of the state, such as a smaller `max_tokens` after an out-of-memory error:
    /// the rest of the epoch is planned with the options of this batcher. The lengths must be the same.
    ///
    /// # Errors
    ///
    /// The errors of [`resume`](Self::resume).
    pub fn replan(&mut self, state: &str) -> Result<(), Error> {
        *self = self.raw_replan(state)?;
        Ok(())
    }

    pub(crate) fn another(&self, object: Object<batches::Batcher>) -> Result<Self, Error> {
        Self::of(Arc::clone(&self.recipe), object, self.lengths.clone(), self.rank)
    }

    /// The batch of this rank at a step. Any step can be asked for; the call plans the windows that it needs.
    ///
    /// # Errors
    ///
    /// Out of range (`step` at or above [`num_steps`](Self::num_steps)), and the errors of
    /// [`num_steps`](Self::num_steps).
    pub fn batch(&self, step: u64) -> Result<Batch, Error> {
        self.batch_of(self.rank, step)
    }

    /// The batch of any rank at a step.
    ///
    /// # Errors
    ///
    /// Out of range (`step`, `rank`), and the errors of [`num_steps`](Self::num_steps).
    pub fn batch_of(&self, rank: u32, step: u64) -> Result<Batch, Error> {
        match self.batches_window(rank, step, 1) {
            // The step may be past the end of the epoch: the call has planned all windows, so that `num_steps` costs
            // nothing more.
            Err(Error::Failure(failure)) if matches!(&*failure.field, "start" | "count") => {
                Err(Failure::not_below("step", step, self.num_steps()?).into())
            }
            batches => batches.map(|mut batches| batches.remove(0)),
        }
    }

    /// The batches of a range of ranks at a step, one for each rank. `..` means all ranks.
    ///
    /// # Errors
    ///
    /// Out of range (`step`; `first`, `count`: there are no such ranks, or they are more than 2^20), and the errors of
    /// [`num_steps`](Self::num_steps).
    pub fn step(&self, step: u64, ranks: impl RangeBounds<u32>) -> Result<Vec<Batch>, Error> {
        let (first, count) = range::ranks(ranks, self.world_size())?;
        self.raw_step(step, first, count).map(Batch::all_of)
    }

    /// Iterates over this rank's batches of the epoch.
    pub fn iter(&self) -> RankBatches<'_> {
        RankBatches::new(Of::Borrowed(self), self.rank, 0, None)
    }

    /// Iterates over this rank's batches of a range of steps, such as `100..`. If the range goes beyond the end of the
    /// epoch, the iterator returns an error after the last step.
    ///
    /// # Errors
    ///
    /// Out of range (`start` above the number of steps), and the errors of [`num_steps`](Self::num_steps).
    pub fn batches(&self, steps: impl RangeBounds<u64>) -> Result<RankBatches<'_>, Error> {
        self.batches_of(self.rank, steps)
    }

    /// The batches of any rank.
    ///
    /// # Errors
    ///
    /// Out of range (`rank`, `start`), and the errors of [`num_steps`](Self::num_steps).
    pub fn batches_of(&self, rank: u32, steps: impl RangeBounds<u64>) -> Result<RankBatches<'_>, Error> {
        let start = match steps.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match steps.end_bound() {
            Bound::Included(&last) => Some(last.saturating_add(1)),
            Bound::Excluded(&end) => Some(end),
            Bound::Unbounded => None,
        };
        // A call without batches lets the component check the rank and the start.
        self.batches_window(rank, start, 0)?;
        Ok(RankBatches::new(Of::Borrowed(self), rank, start, end))
    }

    /// The batches of a rank at the steps number `start` to `start + count - 1`, in one call of the component.
    ///
    /// # Errors
    ///
    /// Out of range (`rank`, `start`, `count` above 2^20 or past the end), and the errors of
    /// [`num_steps`](Self::num_steps).
    pub fn batches_window(&self, rank: u32, start: u64, count: u32) -> Result<Vec<Batch>, Error> {
        self.raw_take(rank, start, count).map(Batch::all_of)
    }
}

impl<'a> IntoIterator for &'a Batcher {
    type Item = Result<Batch, Error>;
    type IntoIter = RankBatches<'a>;

    fn into_iter(self) -> RankBatches<'a> {
        self.iter()
    }
}

impl IntoIterator for Batcher {
    type Item = Result<Batch, Error>;
    type IntoIter = RankBatches<'static>;

    fn into_iter(self) -> RankBatches<'static> {
        let rank = self.rank;
        RankBatches::new(Of::Owned(Box::new(self)), rank, 0, None)
    }
}

impl fmt::Debug for Batcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rank, world_size, .. } = self;
        let mut shown = f.debug_struct("Batcher");
        shown.field("rank", rank).field("world_size", world_size).field("epoch", &self.epoch()).finish_non_exhaustive()
    }
}
