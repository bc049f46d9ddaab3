//! `python`: `random.Random(seed + epoch).shuffle(list(range(samples)))` of CPython 3.

use super::mt19937::Mt19937;
use super::table::Table;
use crate::base::Failure;

pub(super) fn order(samples: u32, seed: i64, epoch: u64) -> Result<Table, Failure> {
    // CPython seeds with the 32-bit words of the absolute value, the lowest first, without leading zeros.
    let seed = (i128::from(seed) + i128::from(epoch)).unsigned_abs();
    let words = [seed as u32, (seed >> 32) as u32, (seed >> 64) as u32];
    let length = 1 + words.iter().rposition(|&word| word != 0).unwrap_or(0);
    let mut random = Mt19937::from_words(&words[..length]);
    Table::new(samples, |values| {
        for i in (1..values.len()).rev() {
            values.swap(i, below(&mut random, i as u32 + 1) as usize);
        }
    })
}

/// `Random._randbelow`: draws as many bits as `bound` (at least 1) has, until the value is below `bound`.
fn below(random: &mut Mt19937, bound: u32) -> u32 {
    loop {
        let draw = random.next() >> bound.leading_zeros();
        if draw < bound {
            return draw;
        }
    }
}
