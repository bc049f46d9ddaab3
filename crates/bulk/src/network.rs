//! A Feistel network over the cells of a grid, one position at a time; `lanes` computes many at once.

use crate::divide::Divisor;

/// A permutation of samples, by a permutation of a grid of `rows` x `columns` cells. The grid has at most about the
/// square root of `samples` more cells than samples. A position that leads to a cell without a sample is mapped again,
/// until it leads to a sample.
pub struct Network {
    pub(crate) samples: u64,
    pub(crate) rows: u32,
    pub(crate) columns: u32,
    by_columns: Divisor,
    pub(crate) keys: [[u32; 2]; ROUNDS],
}

/// Number of rounds, each with a key of its own.
pub const ROUNDS: usize = 8;

impl Network {
    /// A permutation of 1 to 2^53 samples.
    pub fn new(samples: u64, keys: [[u32; 2]; ROUNDS]) -> Self {
        let root = samples.isqrt();
        let rows = root + u64::from(root * root < samples);
        let columns = samples.div_ceil(rows);
        // Both are at most ceil(sqrt(2^53)), less than 2^27.
        Self { samples, rows: rows as u32, columns: columns as u32, by_columns: Divisor::new(columns), keys }
    }

    /// The sample at a position.
    pub fn sample(&self, position: u64) -> u64 {
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

    /// The position of a sample.
    pub fn position(&self, sample: u64) -> u64 {
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
    pub(crate) fn split(&self, cell: u64) -> (u32, u32) {
        let (row, column) = self.by_columns.divide(cell);
        (row as u32, column as u32)
    }

    pub(crate) fn join(&self, row: u32, column: u32) -> u64 {
        u64::from(row) * u64::from(self.columns) + u64::from(column)
    }
}

/// The prime nearest to 2^32 divided by the golden ratio (Knuth), and the first multiplier of MurmurHash3's finaliser:
/// odd numbers with bits spread evenly.
pub const MULTIPLIERS: [u32; 2] = [0x9e37_79b1, 0x85eb_ca6b];

/// The round function: a keyed hash of `x`, brought below `bound` by its upper bits.
pub fn mix(x: u32, key: [u32; 2], bound: u32) -> u32 {
    let mut hash = (x ^ key[0]).wrapping_mul(MULTIPLIERS[0]);
    hash ^= hash >> 16;
    hash = hash.wrapping_add(key[1]).wrapping_mul(MULTIPLIERS[1]);
    ((u64::from(hash) * u64::from(bound)) >> 32) as u32
}

/// x + y modulo `modulus`, for x below it, y at most equal to it, and both below 2^31.
pub(crate) fn add(x: u32, y: u32, modulus: u32) -> u32 {
    let sum = x.wrapping_add(y);
    // If the sum is below `modulus`, the difference wraps around, and is greater than the sum.
    sum.min(sum.wrapping_sub(modulus))
}
