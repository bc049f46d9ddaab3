use std::fmt;
use std::marker::PhantomData;

use super::lengths::Source;
use super::{BatchRecipe, BatchStream, Batcher, Lengths};
use crate::Error;
use crate::engine::MOST_MEMORY;
use crate::members::List;
use crate::recipe::{BOUNDARIES, Draft};
use crate::setters::setters;

/// The options of a new [`Batcher`] or [`BatchStream`]; see [`Batcher::builder`], [`Batcher::from_recipe`] and
/// [`BatchStream::builder`]. An option that is not set has its default, which may depend on the strategy. An option
/// that the strategy does not use is refused by `build`.
///
/// With a composed order, a sample may come several times in an epoch: each time it is an item of its own. With
/// [`TooLong::Split`](crate::TooLong::Split), the parts of a sample follow each other.
///
/// ```
/// use samedeal::{Batcher, Order, Source};
/// // Seven parts of web pages, three parts of books.
/// let blend = Order::blend([Source::new("web", 10_000, 70), Source::new("books", 500, 30)]).samples(2_000).seed(42);
/// let lengths = (0..10_500).map(|i| 1 + i * 7_919 % 500).collect::<Vec<u32>>();
/// let batcher = Batcher::builder(lengths).order(blend).max_tokens(4_096).world_size(4).build()?;
/// assert_eq!(batcher.metrics()?.items, 2_000);
/// # Ok::<(), samedeal::Error>(())
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct BatchBuilder<T> {
    pub(crate) draft: Draft,
    lengths: Option<Lengths>,
    epoch: u64,
    rank: u32,
    memory_limit: usize,
    made: PhantomData<fn() -> T>,
}

/// Options of batchers and of streams.
impl<T> BatchBuilder<T> {
    pub(super) fn new(recipe: Option<String>, lengths: Option<Lengths>) -> Self {
        Self { draft: Draft::new(recipe), lengths, epoch: 0, rank: 0, memory_limit: MOST_MEMORY, made: PhantomData }
    }

    setters!(epoch rank memory_limit);

    /// With [`Strategy::Bucket`](crate::Strategy::Bucket): the greatest length of each bucket, ascending. Longer samples are in one more bucket.
    pub fn boundaries(mut self, ends: impl IntoIterator<Item = u32>) -> Self {
        self.draft.list(BOUNDARIES, ends.into_iter().map(u64::from).collect::<Vec<_>>());
        self
    }

    /// Sets the lists beside a recipe: the lengths, if there are any, and the other lists, by name.
    #[doc(hidden)]
    pub fn beside(mut self, lengths: Option<Vec<u32>>, lists: Vec<List>) -> Self {
        self.lengths = lengths.map(Lengths::from);
        self.draft.set_lists(lists);
        self
    }

    fn recipe(self) -> Result<(BatchRecipe, Option<Source>), Error> {
        let Self { draft, lengths, memory_limit, .. } = self;
        let lengths = lengths.map(|lengths| lengths.joined(&draft, memory_limit)).transpose()?;
        let count = lengths.as_ref().map(|lengths| lengths.count);
        let recipe = BatchRecipe::sharing(&draft.text()?, count, draft.lists(), memory_limit)?;
        if let Some(lengths) = &lengths {
            recipe.give(|samples| lengths.ask(samples))?;
        }
        Ok((recipe, lengths))
    }
}

/// Options of a batcher.
impl BatchBuilder<Batcher> {
    setters!(order list);

    /// Checks the options. A window is planned when one of its batches is asked for. The first object compiles the
    /// component, in about 0.4 s (in a debug build, in seconds), unless the cache has its machine code.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (any number; `recipe`: more than 2^24 bytes),
    /// [`Missing`](crate::FailureKind::Missing) (`max_tokens`, `max_cost` or `capacity`, if the strategy needs it;
    /// `lengths`), [`Contradiction`](crate::FailureKind::Contradiction) (any option that the strategy does not use,
    /// `boundaries` that do not ascend, `samples`, `lengths`), [`UnknownName`](crate::FailureKind::UnknownName), of a
    /// recipe [`UnknownMember`](crate::FailureKind::UnknownMember) and [`WrongType`](crate::FailureKind::WrongType)
    /// (`recipe`, and its members), [`OutOfMemory`](crate::FailureKind::OutOfMemory).
    pub fn build(self) -> Result<Batcher, Error> {
        let (epoch, rank) = (self.epoch, self.rank);
        let (recipe, lengths) = self.recipe()?;
        Batcher::build(recipe, lengths, epoch, rank)
    }
}

/// Options of a stream.
impl BatchBuilder<BatchStream> {
    /// Checks the options.
    ///
    /// # Errors
    ///
    /// The errors of a batcher; contradiction (`quantiles`), out of range (`rank`; `batch_window` above 2^24).
    pub fn build(self) -> Result<BatchStream, Error> {
        let (epoch, rank) = (self.epoch, self.rank);
        BatchStream::build(self.recipe()?.0, epoch, rank)
    }
}

// Written by hand: a derived `Clone` or `Debug` would require the same trait of `T`.
impl<T> Clone for BatchBuilder<T> {
    fn clone(&self) -> Self {
        let Self { draft, lengths, epoch, rank, memory_limit, made } = self;
        let (draft, lengths) = (draft.clone(), lengths.clone());
        Self { draft, lengths, epoch: *epoch, rank: *rank, memory_limit: *memory_limit, made: *made }
    }
}

impl<T> fmt::Debug for BatchBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { draft, lengths, epoch, rank, memory_limit, made: _ } = self;
        let mut text = f.debug_struct("BatchBuilder");
        text.field("draft", draft).field("lengths", lengths).field("epoch", epoch).field("rank", rank);
        text.field("memory_limit", memory_limit).finish()
    }
}
