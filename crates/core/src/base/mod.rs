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

/// 2^53 - 1, the largest number up to which a JavaScript `number` is exact: the most samples, positions and counts.
pub const MAX_EXACT: u64 = (1 << 53) - 1;

/// The most indices, or other items, that one call takes or returns.
pub const MAX_COUNT: u32 = 1 << 20;

/// The greatest common divisor of two numbers. If one number is 0, the other number.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
