//! `feistel`: a generalised Feistel network (Black and Rogaway 2002) over a grid that is hardly larger than the
//! dataset. The sample of a position, and the position of a sample, are computed without any other position, at the
//! same cost for every number of samples.

use samedeal_bulk::Network;
pub(crate) use samedeal_bulk::{MULTIPLIERS, mix};

use super::fisher_yates;
use super::index::Index;
use crate::base::key::Words;

pub(crate) enum Feistel {
    /// A shuffled list of up to 256 samples. A network is not used for so few samples, because it reaches only few of
    /// their permutations.
    Small([u8; SMALL]),
    /// A network over more than 256 samples.
    Large(Network),
}

const SMALL: usize = 256;

impl Feistel {
    pub(super) fn new(samples: u64, seed: i64, epoch: u64) -> Self {
        Self::from_words(samples, &mut Words::new("feistel", seed, epoch, 0))
    }

    /// The permutation of 0 to `samples` - 1 that is made from the first words of a stream.
    pub(crate) fn from_words(samples: u64, words: &mut Words) -> Self {
        if samples > SMALL as u64 {
            let keys = core::array::from_fn(|_| [words.next(), words.next()]);
            return Self::Large(Network::new(samples, keys));
        }
        let mut values = core::array::from_fn(|i| i as u8);
        fisher_yates::shuffle(&mut values[..samples as usize], words);
        Self::Small(values)
    }

    pub(crate) fn fill<T: Index>(&self, start: u64, stride: u64, out: &mut [T]) {
        match self {
            Self::Large(network) => T::of_network(network, start, stride, out),
            Self::Small(values) => {
                for (i, place) in (0..).zip(out) {
                    *place = T::from_u64(u64::from(values[(start + i * stride) as usize]));
                }
            }
        }
    }

    /// Replaces each position in `places` by its sample.
    pub(super) fn map(&self, places: &mut [u64]) {
        match self {
            Self::Large(network) => network.map(places),
            Self::Small(values) => places.iter_mut().for_each(|place| *place = values[*place as usize].into()),
        }
    }

    /// Replaces each sample in `samples` by its position.
    pub(super) fn map_back(&self, samples: &mut [u64]) {
        match self {
            Self::Large(network) => network.map_back(samples),
            Self::Small(_) => samples.iter_mut().for_each(|sample| *sample = self.position(*sample)),
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
