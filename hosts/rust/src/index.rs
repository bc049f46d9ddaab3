use wasmtime::component::ResourceAny;

use crate::engine::{Store, sampling, types};

/// A type that indices are read as: `u64`, or `u32` in half the memory for at most 2^32 samples.
pub trait Index: Copy + sealed::Read {}

impl Index for u32 {}
impl Index for u64 {}

type Read<T> = wasmtime::Result<Result<Vec<T>, types::Failure>>;

pub(crate) mod sealed {
    use super::*;

    /// The two widths of the interface.
    pub trait Read: Sized {
        fn indices(
            exports: &sampling::Guest,
            store: &mut Store,
            sampler: ResourceAny,
            start: u64,
            count: u32,
        ) -> super::Read<Self>;

        fn batch(
            exports: &sampling::Guest,
            store: &mut Store,
            sampler: ResourceAny,
            batch: u64,
            batch_size: u32,
            drop_last: bool,
        ) -> super::Read<Self>;
    }
}

macro_rules! read {
    ($width:ty, $indices:ident, $batch:ident) => {
        impl sealed::Read for $width {
            fn indices(
                exports: &sampling::Guest,
                store: &mut Store,
                sampler: ResourceAny,
                start: u64,
                count: u32,
            ) -> Read<Self> {
                exports.sampler().$indices(store, sampler, start, count)
            }

            fn batch(
                exports: &sampling::Guest,
                store: &mut Store,
                sampler: ResourceAny,
                batch: u64,
                batch_size: u32,
                drop_last: bool,
            ) -> Read<Self> {
                exports.sampler().$batch(store, sampler, batch, batch_size, drop_last)
            }
        }
    };
}

read!(u32, call_indices32, call_batch32);
read!(u64, call_indices, call_batch);
