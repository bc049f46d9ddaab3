//! `feistel`: a generalised Feistel network (Black and Rogaway 2002) over a grid that is hardly larger than the
//! dataset, so that every position is found without the others, forwards and backwards, at the same cost for every
//! number of samples.

mod lanes;

use super::fisher_yates;
use super::index::Index;
use crate::base::divide::Divisor;
use crate::base::key::Words;

pub(crate) enum Feistel {
    /// A network over few samples reaches few of their permutations; up to 256 are shuffled outright.
    Small([u8; SMALL]),
    /// More than that.
    Large(Network),
}

const SMALL: usize = 256;

impl Feistel {
    pub(super) fn new(samples: u64, seed: i64, epoch: u64) -> Self {
        Self::from_words(samples, &mut Words::new("feistel", seed, epoch, 0))
    }

    /// The permutation that the first words of a stream make.
    pub(crate) fn from_words(samples: u64, words: &mut Words) -> Self {
        if samples > SMALL as u64 {
            return Self::Large(Network::new(samples, words));
        }
        let mut values = core::array::from_fn(|i| i as u8);
        fisher_yates::shuffle(&mut values[..samples as usize], words);
        Self::Small(values)
    }

    pub(crate) fn fill<T: Index>(&self, start: u64, stride: u64, out: &mut [T]) {
        match self {
            Self::Large(network) => lanes::fill(network, start, stride, out),
            Self::Small(values) => {
                for (i, place) in (0..).zip(out) {
                    *place = T::from_u64(u64::from(values[(start + i * stride) as usize]));
                }
            }
        }
    }

    /// Writes the sample of each of these positions in its place.
    pub(super) fn map(&self, places: &mut [u64]) {
        match self {
            Self::Large(network) => lanes::map(network, places),
            Self::Small(values) => places.iter_mut().for_each(|place| *place = values[*place as usize].into()),
        }
    }

    pub(crate) fn sample(&self, position: u64) -> u64 {
        match self {
            Self::Large(network) => network.sample(position),
            Self::Small(values) => values[position as usize].into(),
        }
    }

    pub(super) fn position(&self, sample: u64) -> u64 {
        match self {
            Self::Large(network) => network.position(sample),
            Self::Small(values) => {
                values.iter().position(|&value| u64::from(value) == sample).unwrap_or_default() as u64
            }
        }
    }
}

/// The permutation of a grid of `rows` x `columns` cells, at most about the square root of `samples` more than there
/// are samples. A walk that leaves the samples goes on until it is back among them.
pub(crate) struct Network {
    samples: u64,
    rows: u32,
    columns: u32,
    by_columns: Divisor,
    keys: [[u32; 2]; ROUNDS],
}

const ROUNDS: usize = 8;

impl Network {
    fn new(samples: u64, words: &mut Words) -> Self {
        let root = samples.isqrt();
        let rows = root + u64::from(root * root < samples);
        let columns = samples.div_ceil(rows);
        let keys = core::array::from_fn(|_| [words.next(), words.next()]);
        // Both are at most ceil(sqrt(2^53)), less than 2^27.
        Self { samples, rows: rows as u32, columns: columns as u32, by_columns: Divisor::new(columns), keys }
    }

    fn sample(&self, position: u64) -> u64 {
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

    fn position(&self, sample: u64) -> u64 {
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
    fn split(&self, cell: u64) -> (u32, u32) {
        let (row, column) = self.by_columns.divide(cell);
        (row as u32, column as u32)
    }

    fn join(&self, row: u32, column: u32) -> u64 {
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
fn add(x: u32, y: u32, modulus: u32) -> u32 {
    let sum = x.wrapping_add(y);
    // One of the two wraps around, and is the greater then.
    sum.min(sum.wrapping_sub(modulus))
}
