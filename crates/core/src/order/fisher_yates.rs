//! `fisher-yates`: the textbook shuffle (Durstenfeld 1964) with unbiased draws: every permutation is equally likely, as
//! far as the generator allows.

use super::table::Table;
use crate::base::Failure;
use crate::base::key::Words;

pub(super) fn order(samples: u32, seed: i64, epoch: u64) -> Result<Table, Failure> {
    Table::new(samples, |values| shuffle(values, &mut Words::new("fisher-yates", seed, epoch, 0)))
}

/// Shuffles at most 2^32 - 1 values. Up to 512 draws are made before their swaps, in the same order, so that the
/// processor can load several places of a large list at once.
pub(crate) fn shuffle<T>(values: &mut [T], words: &mut Words) {
    let mut ahead = [0; 512];
    let mut end = values.len();
    while end > 1 {
        let count = ahead.len().min(end - 1);
        for (draw, bound) in ahead[..count].iter_mut().zip((1..=end).rev()) {
            *draw = words.below(bound as u32);
        }
        for (&draw, i) in ahead[..count].iter().zip((0..end).rev()) {
            values.swap(i, draw as usize);
        }
        end -= count;
    }
}
