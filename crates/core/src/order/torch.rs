//! `torch` and `torch-2.5`: `torch.randperm` on the CPU under a generator seeded with seed + epoch, as
//! `torch.utils.data.DistributedSampler` calls it.

use super::mt19937::Mt19937;
use super::table::Table;
use crate::base::Failure;

/// The version of `randperm`, by the releases of PyTorch that have it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Release {
    UpTo25,
    From26,
}

/// The number of samples from which on PyTorch 2.6 draws 64 bits a sample: floor((2^32 - 1) / 20).
const WIDE: u32 = u32::MAX / 20;

pub(super) fn order(samples: u32, seed: i64, epoch: u64, release: Release) -> Result<Table, Failure> {
    // PyTorch seeds with 64 bits in two's complement and uses the lower 32.
    let mut random = Mt19937::new((seed as u32).wrapping_add(epoch as u32));
    Table::new(samples, |values| {
        if release == Release::From26 && samples >= WIDE {
            for i in 0..values.len() {
                let z = (random.next_u64() % (i as u64 + 1)) as usize;
                values[i] = values[z];
                values[z] = i as u32;
            }
        } else {
            for i in 0..values.len().saturating_sub(1) {
                let z = random.next() % (samples - i as u32);
                values.swap(i, i + z as usize);
            }
        }
    })
}
