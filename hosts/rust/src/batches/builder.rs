use std::fmt;
use std::marker::PhantomData;

use super::lengths::Source;
use super::{BatchRecipe, BatchStream, Batcher, Lengths};
use crate::Error;
use crate::engine::{MOST_MEMORY, cut};
use crate::order::OrderOption;
use crate::recipe::{Draft, List};

/// The name of the list that is no part of the order.
const BOUNDARIES: &str = "boundaries";

/// What a new [`Batcher`] or [`BatchStream`] is to be; see [`Batcher::builder`], [`Batcher::from_recipe`] and
/// [`BatchStream::builder`]. An option that is not set has its default, which may depend on the strategy. An option that the strategy
/// does not use is refused by `build`.
#[must_use = "a builder does nothing until `build`"]
pub struct BatchBuilder<T> {
    pub(crate) draft: Draft,
    choice: Choice,
    made: PhantomData<fn() -> T>,
}

#[derive(Clone, Debug)]
struct Choice {
    lengths: Option<Lengths>,
    epoch: u64,
    rank: u32,
    memory_limit: usize,
}

/// For batchers and streams.
impl<T> BatchBuilder<T> {
    pub(super) fn new(recipe: Option<String>, lengths: Option<Lengths>) -> Self {
        let choice = Choice { lengths, epoch: 0, rank: 0, memory_limit: MOST_MEMORY };
        Self { draft: Draft::new(recipe), choice, made: PhantomData }
    }

    /// The number of the epoch; 0 unless set.
    pub fn epoch(mut self, epoch: u64) -> Self {
        self.choice.epoch = epoch;
        self
    }

    /// Which rank it answers for; 0 unless set. Range: 0 to `world_size` - 1.
    pub fn rank(mut self, rank: u32) -> Self {
        self.choice.rank = rank;
        self
    }

    /// With [`Strategy::Bucket`](crate::Strategy::Bucket): the greatest length of each bucket, ascending. Longer samples are in one more bucket.
    pub fn boundaries(mut self, ends: impl IntoIterator<Item = u32>) -> Self {
        self.draft.list(BOUNDARIES, ends.into_iter().map(u64::from).collect::<Vec<_>>());
        self
    }

    /// The most memory, in bytes, that it may take; 2 GiB unless set, which is also the most that the component can use.
    /// Range: from 32 MiB.
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.choice.memory_limit = bytes;
        self
    }

    /// What comes beside a recipe: lengths, or none, and other lists by their names.
    #[doc(hidden)]
    pub fn beside(mut self, lengths: Option<Vec<u32>>, lists: Vec<List>) -> Self {
        self.choice.lengths = lengths.map(Lengths::from);
        self.draft.set_lists(lists);
        self
    }
}

/// For a batcher.
impl BatchBuilder<Batcher> {
    /// The order of the epoch: an [`Order`](crate::Order), such as a blend or a dataset in files, or a name, which is one of
    /// [`orders`](crate::orders); `feistel` unless set. An `Order` replaces all that was set of the order, or that a recipe has. With an order
    /// that is made of others, a sample is in as many batches of an epoch as the order has it, and the parts of a split sample follow each
    /// other.
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
    pub fn order(mut self, order: impl Into<OrderOption>) -> Self {
        match order.into() {
            OrderOption::Name(name) => self.draft.set("order", "name", cut(name)),
            OrderOption::Order(order) => self.draft.order_beside(order, &[BOUNDARIES]),
        }
        self
    }

    /// A list of which a recipe has only the hash, because it has more than 256 numbers, by its path: see
    /// [`Builder::list`](crate::Builder::list).
    pub fn list(mut self, path: impl AsRef<str>, numbers: impl Into<Vec<u64>>) -> Self {
        self.draft.list(path.as_ref(), numbers);
        self
    }

    /// Checks the options. Each window is planned when it is asked for. The first batcher on a machine also compiles the component, in about
    /// 0.4 seconds (several in a debug build); later processes load what it compiled.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (any number; `recipe`: more than 2^24 bytes),
    /// [`Missing`](crate::FailureKind::Missing) (`max-tokens`, `max-cost` or `capacity`, if the strategy needs it; `lengths`),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (any option that the strategy does not use, `boundaries` that do not ascend,
    /// `samples`, `lengths`), [`UnknownName`](crate::FailureKind::UnknownName), [`WrongType`](crate::FailureKind::WrongType) (`recipe`, and
    /// its members), [`OutOfMemory`](crate::FailureKind::OutOfMemory).
    pub fn build(self) -> Result<Batcher, Error> {
        let (epoch, rank) = (self.choice.epoch, self.choice.rank);
        let (recipe, lengths) = self.choice.recipe(self.draft)?;
        Batcher::build(recipe, lengths, epoch, rank)
    }
}

/// For a stream.
impl BatchBuilder<BatchStream> {
    /// Checks the options.
    ///
    /// # Errors
    ///
    /// As those of a batcher; contradiction (`quantiles`), out of range (`rank`; `batch-window` above 2^24).
    pub fn build(self) -> Result<BatchStream, Error> {
        let Choice { epoch, rank, .. } = self.choice;
        BatchStream::build(self.choice.recipe(self.draft)?.0, epoch, rank)
    }
}

impl Choice {
    fn recipe(self, draft: Draft) -> Result<(BatchRecipe, Option<Source>), Error> {
        let Self { lengths, memory_limit, .. } = self;
        let lengths = lengths.map(|lengths| lengths.joined(&draft, &[BOUNDARIES], memory_limit)).transpose()?;
        let count = lengths.as_ref().map(|lengths| lengths.count);
        let recipe = BatchRecipe::sharing(&draft.text()?, count, draft.lists(), memory_limit)?;
        if let Some(lengths) = &lengths {
            recipe.give(|samples| lengths.ask(samples))?;
        }
        Ok((recipe, lengths))
    }
}

// Derived, these would ask the same of what is made.
impl<T> Clone for BatchBuilder<T> {
    fn clone(&self) -> Self {
        Self { draft: self.draft.clone(), choice: self.choice.clone(), made: PhantomData }
    }
}

impl<T> fmt::Debug for BatchBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchBuilder").field("draft", &self.draft).field("choice", &self.choice).finish()
    }
}
