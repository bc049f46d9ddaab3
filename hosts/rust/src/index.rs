use crate::{BatchSize, Error, Sampler};

/// The integer type of sample indices in results: `u64`, or `u32`, which needs half the memory and allows at most 2^32
/// samples.
pub trait Index: Copy + sealed::Read {}

impl Index for u32 {}
impl Index for u64 {}

pub(crate) mod sealed {
    use super::*;

    /// The calls of the interface that return this integer type.
    pub trait Read: Sized {
        fn indices(sampler: &Sampler, start: u64, count: u32) -> Result<Vec<Self>, Error>;

        fn batch(sampler: &Sampler, batch: u64, size: BatchSize) -> Result<Vec<Self>, Error>;
    }
}

macro_rules! read {
    ($width:ty, $indices:ident, $batch:ident) => {
        impl sealed::Read for $width {
            fn indices(sampler: &Sampler, start: u64, count: u32) -> Result<Vec<Self>, Error> {
                sampler.$indices(start, count)
            }

            fn batch(sampler: &Sampler, batch: u64, size: BatchSize) -> Result<Vec<Self>, Error> {
                sampler.$batch(batch, size.samples, size.drop_last)
            }
        }
    };
}

read!(u32, raw_indices32, raw_batch32);
read!(u64, raw_indices, raw_batch);
