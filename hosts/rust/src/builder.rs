use crate::engine::{MOST_MEMORY, Object, sampling};
use crate::recipe::Draft;
use crate::setters::setters;
use crate::{Error, Sampler};

/// The options of a new [`Sampler`]; see [`Sampler::builder`], [`Sampler::sharded`], [`Sampler::from_recipe`] and
/// [`Sampler::to_builder`]. An option that is not set has its default. An option that the order does not use is refused by `build`.
///
/// ```
/// use samedeal::{BatchSize, Order, Sampler};
/// // 8 answers to each of 1,000 questions. Every batch of 32 has all answers to 4 questions.
/// let answers = Order::new("feistel", 1_000).seed(42).copies(8);
/// let sampler = Sampler::from_order(answers).unit(8).rank(1).world_size(4).build()?;
/// let mut questions: Vec<u64> = sampler.batch(0, BatchSize::full(32))?;
/// questions.dedup();
/// assert_eq!(questions.len(), 4);
/// # Ok::<(), samedeal::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct Builder {
    pub(crate) draft: Draft,
    epoch: u64,
    rank: u32,
    consumed: u64,
    memory_limit: usize,
}

impl Builder {
    pub(crate) fn new(recipe: Option<String>) -> Self {
        Self::of(Draft::new(recipe))
    }

    pub(crate) fn of(draft: Draft) -> Self {
        Self { draft, epoch: 0, rank: 0, consumed: 0, memory_limit: MOST_MEMORY }
    }

    setters!(samples epoch order list rank memory_limit lists share_lists);

    /// Number of positions at the beginning of this epoch that were dealt before, maybe to another number of ranks. The
    /// sampler deals the other positions. Range: a multiple of [`unit`](Self::unit) up to the epoch length, or the
    /// epoch length. Default: 0. [`Sampler::resume`] takes the number from a state.
    pub fn consumed(mut self, positions: u64) -> Self {
        self.consumed = positions;
        self
    }

    /// Makes the sampler, in microseconds. The first object of a process takes longer: it loads the machine code of the
    /// component from the cache, or compiles the component.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (`rank`, `consumed`, `memory_limit`; `recipe`: more than 2^24
    /// bytes; `epoch` of a composed order: all epochs up to this one have more than 2^53 - 1 positions; any option),
    /// [`UnknownName`](crate::FailureKind::UnknownName) (`name`: there is no such order; of a recipe, any member),
    /// [`UnknownMember`](crate::FailureKind::UnknownMember) and [`WrongType`](crate::FailureKind::WrongType) (of a
    /// recipe), [`Missing`](crate::FailureKind::Missing) (`order`, `samples`, `sizes`),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (an option that the order does not use; `samples`,
    /// `shards`, `sizes`: not those of the recipe), [`OutOfMemory`](crate::FailureKind::OutOfMemory).
    pub fn build(self) -> Result<Sampler, Error> {
        let Self { draft, epoch, rank, consumed, memory_limit } = self;
        let lists = draft.lists().to_vec();
        let sampler = draft.make(memory_limit, |instance, recipe, lists| {
            Object::<sampling::Sampler>::new(instance, recipe, lists, epoch, rank)
        })?;
        let sampler = Sampler::of(sampler, lists.into())?;
        if consumed > 0 { sampler.rest(consumed) } else { Ok(sampler) }
    }
}
