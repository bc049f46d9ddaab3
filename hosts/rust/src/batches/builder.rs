use std::fmt;
use std::marker::PhantomData;

use super::{BatchRecipe, BatchStream, Batcher, Counting, Lengths, Packing, Segment, Strategy, Tail, TooLong};
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
    choice: Choice,
    made: PhantomData<fn() -> T>,
}

#[derive(Clone, Debug)]
struct Choice {
    draft: Draft,
    lengths: Option<Lengths>,
    epoch: u64,
    history: Vec<Segment>,
    rank: u32,
    memory_limit: usize,
}

/// For batchers and streams.
impl<T> BatchBuilder<T> {
    pub(super) fn new(recipe: Option<String>, lengths: Option<Lengths>) -> Self {
        let draft = Draft::new(recipe);
        let choice = Choice { draft, lengths, epoch: 0, history: Vec::new(), rank: 0, memory_limit: MOST_MEMORY };
        Self { choice, made: PhantomData }
    }

    fn set(mut self, section: &str, member: &str, value: impl Into<serde_json::Value>) -> Self {
        self.choice.draft.set(section, member, value);
        self
    }

    /// The seed of the order, and of the order of steps; 0 unless set. Range: any; with the order `dotnet`, -2^31 to
    /// 2^31 - 1.
    pub fn seed(self, seed: i64) -> Self {
        self.set("order", "seed", seed)
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

    /// How many data-parallel ranks there are; 1 unless set. Range: 1 to 2^20.
    pub fn world_size(self, world_size: u32) -> Self {
        self.set("deal", "world_size", world_size)
    }

    /// How samples become batches; [`Strategy::Budget`] unless set.
    pub fn strategy(self, strategy: Strategy) -> Self {
        self.set("batch", "strategy", strategy.name())
    }

    /// What a sample costs; [`Counting::Padded`] unless set.
    pub fn counting(self, counting: Counting) -> Self {
        self.set("batch", "counting", counting.name())
    }

    /// With [`Counting::Weighted`]: what a token costs; 1 unless set.
    pub fn linear(self, cost: u32) -> Self {
        self.set("batch", "linear", cost)
    }

    /// With [`Counting::Weighted`]: what a pair of tokens costs; 0 unless set.
    pub fn quadratic(self, cost: u32) -> Self {
        self.set("batch", "quadratic", cost)
    }

    /// The most rows of a batch. Unless set: 32; 1 with [`Strategy::Pack`]; no limit with `max_tokens` or `max_cost`. 0 means no
    /// limit, and is allowed with `max_tokens` or `max_cost`.
    pub fn max_batch_size(self, rows: u32) -> Self {
        self.set("batch", "max_batch_size", rows)
    }

    /// The most tokens of a sample; no limit unless set.
    pub fn max_length(self, tokens: u32) -> Self {
        self.set("batch", "max_length", tokens)
    }

    /// With [`Strategy::Budget`] and [`Strategy::Bucket`]: the most tokens of a batch; with [`Counting::Padded`], padding is counted.
    /// Unless set: `max_batch_size` * `max_length` with [`Strategy::Budget`]; no limit with [`Strategy::Bucket`]. Range: from 1.
    pub fn max_tokens(self, tokens: u64) -> Self {
        self.set("batch", "max_tokens", tokens)
    }

    /// With [`Counting::Weighted`] in place of [`max_tokens`](Self::max_tokens): the most that a batch may cost. Range: from 1.
    pub fn max_cost(self, cost: u64) -> Self {
        self.set("batch", "max_cost", cost)
    }

    /// With [`Strategy::Bucket`], or [`Strategy::Budget`] and [`Counting::Padded`]: a batch with more samples than this has a
    /// multiple of it, but for the last steps of the epoch; 1 unless set. Range: from 1.
    pub fn batch_size_multiple(self, samples: u32) -> Self {
        self.set("batch", "batch_size_multiple", samples)
    }

    /// With [`Strategy::Pack`]: tokens of a row; `max_length` unless set. Range: from 1.
    pub fn capacity(self, tokens: u32) -> Self {
        self.set("batch", "capacity", tokens)
    }

    /// With [`Strategy::Pack`], or [`Strategy::Budget`] and another counting than [`Counting::Padded`]: how much work goes into
    /// finding few packs; [`Packing::Fast`] unless set.
    pub fn packing(self, packing: Packing) -> Self {
        self.set("batch", "packing", packing.name())
    }

    /// With [`Strategy::Bucket`]: buckets of equal width w, which are 0 to w tokens, w + 1 to 2 w tokens, and so on. Without this,
    /// `boundaries` and `quantiles`, there are 64 buckets that have the same number of tokens each; in a stream, buckets of 64
    /// lengths each. Range: from 1.
    pub fn bucket_width(self, lengths: u32) -> Self {
        self.set("batch", "bucket_width", lengths)
    }

    /// With [`Strategy::Bucket`]: the greatest length of each bucket, ascending. Longer samples are in one more bucket.
    pub fn boundaries(mut self, ends: impl IntoIterator<Item = u32>) -> Self {
        self.choice.draft.list(BOUNDARIES, ends.into_iter().map(u64::from).collect::<Vec<_>>());
        self
    }

    /// With [`Strategy::Bucket`]: the number of buckets. Each gets the same number of samples, as far as equal lengths allow.
    /// Range: 1 to 2^20. A stream has none.
    pub fn quantiles(self, buckets: u32) -> Self {
        self.set("batch", "quantiles", buckets)
    }

    /// With all strategies but [`Strategy::PadToMax`]: how many samples are looked at together. A larger window makes fuller
    /// batches, a smaller one keeps more of the random order, and 0 takes samples as they come. Unless set: the samples of 64 steps of
    /// average batches, at least 8,192, so that it follows the world size; after a resume with another one, each segment has its own. In a
    /// stream, it is 8,192 unless set, and 2^24 at most.
    pub fn batch_window(self, samples: u32) -> Self {
        self.set("batch", "batch_window", samples)
    }

    /// What happens to samples that are too long; [`TooLong::Error`] unless set.
    pub fn too_long(self, too_long: TooLong) -> Self {
        self.set("batch", "too_long", too_long.name())
    }

    /// What happens to the last samples of the epoch, if they do not fill a step; [`Tail::EvenSplit`] unless set.
    pub fn tail(self, tail: Tail) -> Self {
        self.set("batch", "tail", tail.name())
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
        self.choice.draft.set_lists(lists);
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
    /// assert_eq!(batcher.metrics().items, 2_000);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn order(mut self, order: impl Into<OrderOption>) -> Self {
        match order.into() {
            OrderOption::Name(name) => self.choice.draft.set("order", "name", cut(name)),
            OrderOption::Order(order) => self.choice.draft.order_beside(order, &[BOUNDARIES]),
        }
        self
    }

    /// A list of which a recipe has only the hash, because it has more than 256 numbers, by its path: see
    /// [`Builder::list`](crate::Builder::list).
    pub fn list(mut self, path: impl AsRef<str>, numbers: impl Into<Vec<u64>>) -> Self {
        self.choice.draft.list(path.as_ref(), numbers);
        self
    }

    /// The steps of this epoch that were taken before, segment by segment: the plan is of what they leave. Nothing unless set. Up to
    /// 4,096 segments. [`Batcher::resume`] takes them from a state.
    pub fn history(mut self, history: impl Into<Vec<Segment>>) -> Self {
        self.choice.history = history.into();
        self
    }

    /// Plans the epoch: a million samples take less than a second. The first plan on a machine also compiles the component, in about 0.4
    /// seconds (several in a debug build); later processes load what it compiled.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (any number; `lengths` if a sample is too long; `recipe`: more than 2^24 bytes),
    /// [`Missing`](crate::FailureKind::Missing) (`max-tokens`, `max-cost` or `capacity`, if the strategy needs it; `lengths`),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (any option that the strategy does not use, `boundaries` that do not ascend,
    /// `samples`, `lengths`), [`UnknownName`](crate::FailureKind::UnknownName), [`WrongType`](crate::FailureKind::WrongType) (`recipe`, and
    /// its members), [`OutOfMemory`](crate::FailureKind::OutOfMemory).
    pub fn build(mut self) -> Result<Batcher, Error> {
        let (epoch, history, rank) = (self.choice.epoch, std::mem::take(&mut self.choice.history), self.choice.rank);
        let recipe = self.choice.recipe()?;
        Batcher::build(recipe, epoch, history, rank)
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
        BatchStream::build(self.choice.recipe()?, epoch, rank)
    }
}

impl Choice {
    fn recipe(self) -> Result<BatchRecipe, Error> {
        let Self { draft, lengths, memory_limit, .. } = self;
        let lengths = lengths.map(|lengths| lengths.joined(&draft, &[BOUNDARIES], memory_limit)).transpose()?;
        BatchRecipe::sharing(&draft.text()?, lengths.as_deref(), draft.lists(), memory_limit)
    }
}

// Derived, these would ask the same of what is made.
impl<T> Clone for BatchBuilder<T> {
    fn clone(&self) -> Self {
        Self { choice: self.choice.clone(), made: PhantomData }
    }
}

impl<T> fmt::Debug for BatchBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BatchBuilder").field(&self.choice).finish()
    }
}
