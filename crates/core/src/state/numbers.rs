//! A number for each shard: a few as they are, many as a hash.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::base::fingerprint::Fingerprint;

/// The most numbers that a text names; of more, it has a hash.
pub(crate) const NAMED: usize = 256;

/// What a text has of such numbers.
pub(crate) enum Numbers<'a> {
    All(Vec<u64>),
    Hash(&'a str),
}

/// As they stand in a canonical text.
pub(crate) fn text(numbers: impl Iterator<Item = u64> + Clone) -> String {
    if numbers.clone().nth(NAMED).is_some() {
        return format!("\"{}\"", hash(numbers));
    }
    let mut text = String::from("[");
    for (at, number) in numbers.enumerate() {
        let comma = if at == 0 { "" } else { "," };
        text += &format!("{comma}{number}");
    }
    text + "]"
}

/// SHA-256 over all of them, each as 8 bytes, little-endian; in hexadecimal.
pub(crate) fn hash(numbers: impl Iterator<Item = u64>) -> String {
    let mut hash = Fingerprint::new();
    for number in numbers {
        hash.add(&number.to_le_bytes());
    }
    hash.finish()
}

/// Whether a text is such a hash.
pub(crate) fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
