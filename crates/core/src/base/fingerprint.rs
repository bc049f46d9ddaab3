use alloc::string::String;
use sha2::{Digest, Sha256};

/// A SHA-256 hash that takes bytes and indices.
pub(crate) struct Fingerprint(Sha256);

impl Fingerprint {
    pub(crate) fn new() -> Self {
        Self(Sha256::new())
    }

    /// Adds each index as 8 bytes, little-endian.
    pub(crate) fn update(&mut self, indices: &[u64]) {
        for index in indices {
            self.0.update(index.to_le_bytes());
        }
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash as 64 lower-case hexadecimal digits.
    pub(crate) fn finish(self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let nibbles = self.0.finalize().into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
        nibbles.map(|nibble| char::from(DIGITS[usize::from(nibble)])).collect()
    }
}
