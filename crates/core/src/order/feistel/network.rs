//! The network over the cells of a grid, one position at a time.

use crate::base::divide::Divisor;
use crate::base::key::Words;

/// The permutation of a grid of `rows` x `columns` cells, at most about the square root of `samples` more than there
/// are samples. A walk that leaves the samples goes on until it is back among them.
pub(crate) struct Network {
    pub(super) samples: u64,
    pub(super) rows: u32,
    pub(super) columns: u32,
    by_columns: Divisor,
    pub(super) keys: [[u32; 2]; ROUNDS],
}

const ROUNDS: usize = 8;

impl Network {
    pub(super) fn new(samples: u64, words: &mut Words) -> Self {
        let root = samples.isqrt();
        let rows = root + u64::from(root * root < samples);
        let columns = samples.div_ceil(rows);
        let keys = core::array::from_fn(|_| [words.next(), words.next()]);
        // Both are at most ceil(sqrt(2^53)), less than 2^27.
        Self { samples, rows: rows as u32, columns: columns as u32, by_columns: Divisor::new(columns), keys }
    }

    pub(super) fn sample(&self, position: u64) -> u64 {
        let mut cell = position;
        loop {
            let (mut row, mut column) = self.split(cell);
            for keys in self.keys.as_chunks::<2>().0 {
                row = add(row, mix(column, keys[0], self.rows), self.rows);
                column = add(column, mix(row, keys[1], self.columns), self.columns);
            }
            cell = self.join(row, column);
            if cell < self.samples {
                return cell;
            }
        }
    }

    pub(super) fn position(&self, sample: u64) -> u64 {
        let mut cell = sample;
        loop {
            let (mut row, mut column) = self.split(cell);
            for keys in self.keys.as_chunks::<2>().0.iter().rev() {
                column = add(column, self.columns - mix(row, keys[1], self.columns), self.columns);
                row = add(row, self.rows - mix(column, keys[0], self.rows), self.rows);
            }
            cell = self.join(row, column);
            if cell < self.samples {
                return cell;
            }
        }
    }

    /// The row and the column of a cell.
    pub(super) fn split(&self, cell: u64) -> (u32, u32) {
        let (row, column) = self.by_columns.divide(cell);
        (row as u32, column as u32)
    }

    pub(super) fn join(&self, row: u32, column: u32) -> u64 {
        u64::from(row) * u64::from(self.columns) + u64::from(column)
    }
}

/// 2^32 divided by the golden ratio (Knuth), and the first multiplier of MurmurHash3's finaliser: odd, with bits spread evenly.
pub(crate) const MULTIPLIERS: [u32; 2] = [0x9e37_79b1, 0x85eb_ca6b];

/// The round function: a keyed hash of `x`, brought below `bound` by its upper bits.
pub(crate) fn mix(x: u32, key: [u32; 2], bound: u32) -> u32 {
    let mut hash = (x ^ key[0]).wrapping_mul(MULTIPLIERS[0]);
    hash ^= hash >> 16;
    hash = hash.wrapping_add(key[1]).wrapping_mul(MULTIPLIERS[1]);
    ((u64::from(hash) * u64::from(bound)) >> 32) as u32
}

/// x + y modulo `modulus`, for x below it, y at most equal to it, and both below 2^31.
pub(super) fn add(x: u32, y: u32, modulus: u32) -> u32 {
    let sum = x.wrapping_add(y);
    // One of the two wraps around, and is the greater then.
    sum.min(sum.wrapping_sub(modulus))
}
