//! `fisher-yates`: every permutation equally likely, up to the generator. The textbook loop (Durstenfeld 1964) with
//! unbiased draws.

use super::table::Table;
use crate::Failure;
use crate::key::Words;

pub(super) fn order(samples: u32, seed: i64, epoch: u64) -> Result<Table, Failure> {
    Table::new(samples, |values| shuffle(values, &mut Words::new("fisher-yates", seed, epoch, 0)))
}

/// Shuffles at most 2^32 - 1 values.
pub(super) fn shuffle<T>(values: &mut [T], words: &mut Words) {
    for i in (1..values.len()).rev() {
        values.swap(i, words.below(i as u32 + 1) as usize);
    }
}
