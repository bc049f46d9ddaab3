use std::fmt;
use std::iter::FusedIterator;
use std::vec;

use super::{Batch, BatchBuilder, BatchRecipe, Metrics};
use crate::Error;
use crate::engine::{Object, batches};

/// Batches of one rank from samples that arrive one after the other. They equal the batches of a
/// [`Batcher`](crate::Batcher) with the order `sequential` and the same epoch and `batch_window`.
///
/// Push samples as they arrive, and take the batches that are ready. The batches of a window are ready when at least
/// 1.5 times as many samples wait as the window has, or after [`flush`](Self::flush). Every rank pushes all samples.
/// Samples that wait are in memory: fewer than 1.5 windows of them, if ready batches are taken after each push. By
/// default, a window has 8,192 samples or more, depending on the strategy and on the number of ranks.
///
/// ```
/// use samedeal::BatchStream;
///
/// let mut stream = BatchStream::builder().max_tokens(1_000).batch_window(100).build()?;
/// let mut seen = 0;
/// for sample in 0..950 {
///     stream.push(&[sample], &[sample as u32 * 7_919 % 90])?;
///     for batch in stream.ready() {
///         seen += batch?.samples.len();
///     }
/// }
/// assert!(seen > 800);
/// stream.flush()?;
/// for batch in stream.ready() {
///     seen += batch?.samples.len();
/// }
/// assert_eq!((seen, stream.metrics()?.items), (950, 950));
/// # Ok::<(), samedeal::Error>(())
/// ```
pub struct BatchStream {
    recipe: BatchRecipe,
    pub(crate) object: Object<batches::BatchStream>,
    rank: u32,
}

impl BatchStream {
    /// A stream of batches. [`max_tokens`](BatchBuilder::max_tokens), or the option that the strategy needs in its
    /// place, has to be set.
    pub fn builder() -> BatchBuilder<Self> {
        BatchBuilder::new(None, None)
    }

    /// A stream of batches of a recipe without lengths. An option that is set afterwards replaces the option of the
    /// recipe.
    pub fn from_recipe(recipe: impl Into<String>) -> BatchBuilder<Self> {
        BatchBuilder::new(Some(recipe.into()), None)
    }

    pub(super) fn build(recipe: BatchRecipe, epoch: u64, rank: u32) -> Result<Self, Error> {
        let object = Object::<batches::BatchStream>::new(&recipe.object, epoch, rank)?;
        Ok(Self { recipe, object, rank })
    }

    /// The recipe of these batches, without lengths: JSON in one line, the same on all ranks and in every host.
    ///
    /// # Errors
    ///
    /// Only errors of the engine.
    pub fn recipe(&self) -> Result<String, Error> {
        self.recipe.recipe()
    }

    /// SHA-256 over the recipe, in hexadecimal.
    ///
    /// # Errors
    ///
    /// Only errors of the engine.
    pub fn recipe_fingerprint(&self) -> Result<String, Error> {
        self.recipe.recipe_fingerprint()
    }

    /// The rank whose batches this stream gives.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Adds samples: their indices (0 to 2^53 - 1), and as many lengths, in tokens. After an error, none of them was
    /// added.
    ///
    /// # Errors
    ///
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`lengths`: not as many as samples; `samples`: after
    /// [`flush`](Self::flush)), out of range (`samples`; `lengths`: a sample is too long; `max_length`, `max_tokens`,
    /// `max_cost`: not one token of a sample that is too long has room), out of memory.
    pub fn push(&mut self, samples: &[u64], lengths: &[u32]) -> Result<(), Error> {
        let bytes = size_of_val(samples).saturating_add(size_of_val(lengths));
        self.object.check_room("samples", samples.len(), bytes)?;
        self.raw_push(samples, lengths)
    }

    /// Ends the stream: samples that still wait for a full window become batches too.
    ///
    /// # Errors
    ///
    /// Only errors of the engine.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.raw_flush()
    }

    /// Plans the next window that is ready, and returns its batches, at least one. None if no window is ready.
    ///
    /// # Errors
    ///
    /// Out of range (`max_length`: a window has 2^32 - 1 parts of samples or more), out of memory. After an error, all
    /// samples still wait.
    pub fn take(&mut self) -> Result<Option<Vec<Batch>>, Error> {
        Ok(self.raw_take()?.map(Batch::all_of))
    }

    /// Iterates over all batches that are ready, window by window. Call it after each [`push`](Self::push).
    pub fn ready(&mut self) -> ReadyBatches<'_> {
        ReadyBatches { stream: self, window: Vec::new().into_iter(), done: false }
    }

    /// Metrics of the batches of all windows that were taken, for all ranks together. Samples that were pushed and still
    /// wait are in none of the numbers.
    ///
    /// # Errors
    ///
    /// Only errors of the engine.
    pub fn metrics(&self) -> Result<Metrics, Error> {
        Metrics::of(self.raw_metrics()?, |name| self.raw_ratio(name))
    }
}

impl fmt::Debug for BatchStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchStream").field("rank", &self.rank).finish_non_exhaustive()
    }
}

/// The batches that are ready; see [`BatchStream::ready`]. After an error, the iterator ends. If it is dropped, the
/// remaining batches of the window that it took are lost.
#[derive(Debug)]
pub struct ReadyBatches<'a> {
    stream: &'a mut BatchStream,
    /// Batches that were taken and not yet returned.
    window: vec::IntoIter<Batch>,
    done: bool,
}

impl Iterator for ReadyBatches<'_> {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(batch) = self.window.next() {
            return Some(Ok(batch));
        }
        if self.done {
            return None;
        }
        let taken = self.stream.take();
        self.done = !matches!(taken, Ok(Some(_)));
        match taken {
            Ok(window) => {
                self.window = window.unwrap_or_default().into_iter();
                self.window.next().map(Ok)
            }
            Err(error) => Some(Err(error)),
        }
    }
}

impl FusedIterator for ReadyBatches<'_> {}
