//! Streams of random words, each with a key of its own. The key is a hash of the purpose, so that streams of different
//! purposes are independent.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// A stream of uniform 32-bit words: ChaCha8 (64-bit block counter and nonce, both from 0) under a derived key.
pub(crate) struct Words(ChaCha8Rng);

impl Words {
    /// The stream of a purpose. `index` is the number of the stream, if the purpose has several.
    pub(crate) fn new(purpose: &str, seed: i64, epoch: u64, index: u64) -> Self {
        let key = Sha256::new()
            .chain_update(b"samedeal key 1\0")
            .chain_update(purpose.as_bytes())
            .chain_update([0])
            .chain_update(seed.to_le_bytes())
            .chain_update(epoch.to_le_bytes())
            .chain_update(index.to_le_bytes())
            .finalize();
        Self(ChaCha8Rng::from_seed(key.into()))
    }

    pub(crate) fn next(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// A number of 64 bits: the next two words, the lower half first.
    pub(crate) fn next_long(&mut self) -> u64 {
        u64::from(self.next()) | u64::from(self.next()) << 32
    }

    /// A uniform number below `bound` (at least 1), without bias: Lemire's multiplication with rejection
    /// (<https://arxiv.org/abs/1805.10941>).
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        let mut product = u64::from(self.next()) * u64::from(bound);
        if (product as u32) < bound {
            let reject = bound.wrapping_neg() % bound;
            while (product as u32) < reject {
                product = u64::from(self.next()) * u64::from(bound);
            }
        }
        (product >> 32) as u32
    }
}
