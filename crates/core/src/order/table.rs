use alloc::vec::Vec;

use super::index::Index;
use crate::base::Failure;
use crate::base::memory::{collect, has_headroom};

/// An order held in memory: the sample at every position.
pub(super) struct Table(Vec<u32>);

impl Table {
    /// Makes the list 0, 1, 2, ..., and lets `shuffle` permute it. Failures: `out-of-memory`.
    pub(super) fn new(samples: u32, shuffle: impl FnOnce(&mut [u32])) -> Result<Self, Failure> {
        let mut values = Vec::new();
        if values.try_reserve_exact(samples as usize).is_err() || !has_headroom() {
            drop(values);
            let allowed = "what fits into memory at 4 bytes a sample, or another order";
            return Err(Failure::out_of_memory("samples", samples, allowed));
        }
        values.extend(0..samples);
        shuffle(&mut values);
        Ok(Self(values))
    }

    pub(super) fn fill<T: Index>(&self, start: u64, stride: u64, out: &mut [T]) {
        if out.is_empty() {
            return;
        }
        // The casts lose nothing: the first position is in the table, and `stride` is below 2^32.
        let values = self.0[start as usize..].iter().step_by(stride as usize);
        for (place, value) in out.iter_mut().zip(values) {
            *place = T::from_u64(u64::from(*value));
        }
    }

    pub(super) fn sample(&self, position: u64) -> u64 {
        self.0[position as usize].into()
    }

    /// The position of each sample in `samples`. One pass over the table finds all of them; if there is no memory for
    /// the inverse, one pass for each sample. Failures: `out-of-memory`.
    pub(super) fn positions(&self, samples: &[u64]) -> Result<Vec<u64>, Failure> {
        let mut inverse =
            collect("samples", self.0.len(), core::iter::repeat_n(0_u32, self.0.len())).unwrap_or_default();
        if !inverse.is_empty() {
            (0..).zip(&self.0).for_each(|(position, &sample)| inverse[sample as usize] = position);
        }
        let position = |&sample: &u64| match inverse.get(sample as usize) {
            Some(&position) => position.into(),
            None => self.position(sample),
        };
        collect("samples", samples.len(), samples.iter().map(position))
    }

    pub(super) fn position(&self, sample: u64) -> u64 {
        // The sample is always found, because every sample below the length is in the table exactly once.
        self.0.iter().position(|&value| u64::from(value) == sample).unwrap_or_default() as u64
    }
}
