//! Shared by all stages: failures, checks, memory limits, keyed randomness, hashes, names, ratios, sorts.

pub(crate) mod check;
pub(crate) mod failure;
pub(crate) mod fingerprint;
pub(crate) mod key;
pub(crate) mod memory;
pub(crate) mod names;
pub(crate) mod ratio;
pub(crate) mod sort;

pub use failure::{Fact, Failure, Kind, Parts};

/// 2^53 - 1, the largest number that a JavaScript `number` holds exactly: the end of every range of this crate.
pub const MAX_EXACT: u64 = (1 << 53) - 1;

/// The most indices that one call hands out.
pub const MAX_COUNT: u32 = 1 << 20;

/// The greatest common divisor; that of 0 and a number is this number.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
