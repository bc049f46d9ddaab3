/// How many samples a batch of a rank has, and what becomes of a last batch that would have fewer.
///
/// A `u32` stands for batches of which the last one may be shorter, as in `sampler.batches(32)`. A number of another type
/// is converted first: `sampler.batches(u32::try_from(size)?)`.
///
/// ```
/// use samedeal::{BatchSize, Sampler};
///
/// let sampler = Sampler::new(100)?;
/// assert_eq!(sampler.num_batches(32)?, 4);
/// assert_eq!(sampler.num_batches(BatchSize::full(32))?, 3);
/// # Ok::<(), samedeal::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BatchSize {
    pub(crate) samples: u32,
    pub(crate) drop_last: bool,
}

impl BatchSize {
    /// Batches of `samples` samples. The last one may be shorter.
    pub const fn new(samples: u32) -> Self {
        Self { samples, drop_last: false }
    }

    /// Batches of exactly `samples` samples. If fewer are left at the end of the epoch, these are left out.
    pub const fn full(samples: u32) -> Self {
        Self { samples, drop_last: true }
    }

    /// The number of samples of a full batch.
    pub const fn samples(self) -> u32 {
        self.samples
    }

    /// Whether a last batch that would have fewer samples is left out.
    pub const fn drops_last(self) -> bool {
        self.drop_last
    }

    /// Sets whether a last batch that would be shorter than the others is left out.
    #[must_use]
    pub const fn drop_last(mut self, drop_last: bool) -> Self {
        self.drop_last = drop_last;
        self
    }
}

impl From<u32> for BatchSize {
    fn from(samples: u32) -> Self {
        Self::new(samples)
    }
}
