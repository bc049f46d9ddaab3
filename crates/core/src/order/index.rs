//! The integer types of sample indices.

use samedeal_bulk::Network;

use crate::base::Failure;
use crate::base::memory::collect;

/// An integer type of sample indices.
pub trait Index: Copy + Default + sealed::Sealed {
    /// Converts an index to this type, which must be wide enough.
    fn from_u64(index: u64) -> Self;

    /// The list itself if its elements are `u64`, so that orders can write into it without a copy; `None` for other
    /// types.
    #[doc(hidden)]
    fn wide(list: &mut [Self]) -> Option<&mut [u64]>;

    /// Writes the samples of a network at positions `start`, `start + stride`, ...
    #[doc(hidden)]
    fn of_network(network: &Network, start: u64, stride: u64, out: &mut [Self]);
}

impl Index for u32 {
    fn from_u64(index: u64) -> Self {
        index as Self
    }

    fn wide(_list: &mut [Self]) -> Option<&mut [u64]> {
        None
    }

    fn of_network(network: &Network, start: u64, stride: u64, out: &mut [Self]) {
        network.fill32(start, stride, out);
    }
}

impl Index for u64 {
    fn from_u64(index: u64) -> Self {
        index
    }

    fn wide(list: &mut [Self]) -> Option<&mut [u64]> {
        Some(list)
    }

    fn of_network(network: &Network, start: u64, stride: u64, out: &mut [Self]) {
        network.fill(start, stride, out);
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// The most positions that an order maps at once. In a block of this size, even a blend of thousands of sources has
/// several positions of each source.
const BLOCK: usize = 1 << 15;

/// Fills `out` block by block: `write` fills a block with 64-bit indices, which are then converted to the type of
/// `out`. Failures: those of `write`, `out-of-memory`.
pub(crate) fn in_blocks<T: Index>(
    out: &mut [T],
    mut write: impl FnMut(&mut [u64]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if let Some(indices) = T::wide(out) {
        return indices.chunks_mut(BLOCK).try_for_each(write);
    }
    let length = out.len().min(BLOCK);
    let mut indices = collect("count", length, core::iter::repeat_n(0, length))?;
    for block in out.chunks_mut(BLOCK) {
        let indices = &mut indices[..block.len()];
        write(indices)?;
        for (place, &index) in block.iter_mut().zip(&*indices) {
            *place = T::from_u64(index);
        }
    }
    Ok(())
}
