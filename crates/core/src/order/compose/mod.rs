//! Orders that are made of other orders: each has a length, random access and an inverse, so that whatever deals an order deals them.

mod balance;
mod blend;
mod chairman;
mod copies;
mod grown;
mod pattern;
pub(crate) mod read;
mod same;
mod stored;
#[cfg(all(test, feature = "composed"))]
mod tests;
mod tree;
mod view;
mod windows;

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;

use crate::{Failure, MAX_EXACT};
pub(crate) use blend::{Blend, Drawn, EXHAUSTIONS, INDEX_SPACES};
pub(crate) use read::MAX_SOURCES;
pub(crate) use stored::Stored;

/// An order of all epochs that is made of others. Draws are its positions over all epochs, from 0.
pub(crate) trait Composed {
    /// The number of positions of an epoch. Failures: `out-of-memory`.
    fn length(&self, epoch: u64) -> Result<u64, Failure>;

    /// The number of positions of every epoch, if it is the same.
    fn steady(&self) -> Option<u64>;

    /// How many draws there are before an epoch; none where it is above 2^53 - 1. Failures: `out-of-memory`.
    fn begin(&self, epoch: u64) -> Result<Option<u64>, Failure> {
        Ok(self.steady().and_then(|length| epoch.checked_mul(length)).filter(|&draws| draws <= MAX_EXACT))
    }

    /// Whether no epoch has a sample twice.
    fn is_single(&self) -> bool;

    /// Why it cannot be a source of a blend, if it cannot.
    fn no_source(&self) -> Option<&'static str>;

    /// The order of an epoch. Failures: `out-of-memory`.
    fn at(self: Rc<Self>, epoch: u64) -> Result<Box<dyn Epoch>, Failure>;

    /// How many occurrences of a sample come before a position. Failures: `out-of-memory`.
    fn seen(&self, sample: u64, epoch: u64, position: u64) -> Result<u64, Failure>;

    /// Where occurrence number `number` of a sample is: an epoch and a position. None if there are not so many, or if it is
    /// beyond the last epoch that can be used. Failures: `out-of-memory`.
    fn occurrence(&self, sample: u64, number: u64) -> Result<Option<(u64, u64)>, Failure>;

    /// Its members, but the name, as the canonical text has them: each with a comma before it. `seed` is that of the seed, or empty.
    fn members(&self, seed: &str) -> String;

    /// The blend, if it is one.
    fn as_blend(&self) -> Option<&Blend> {
        None
    }

    /// For each order that it is made of, by its place: how far that one is when this one is at a position. Failures: `out-of-memory`.
    fn inner(&self, place: usize, epoch: u64, position: u64) -> Result<(u64, u64), Failure>;

    /// The order at a place.
    fn part(&self, place: usize) -> Option<&super::OrderPart>;
}

/// One epoch of such an order.
pub(crate) trait Epoch {
    /// The sample at a position below the length of the epoch. Failures: `out-of-memory`.
    fn sample(&self, position: u64) -> Result<u64, Failure>;

    /// Writes the sample of each of these positions in its place. Failures: as `sample`.
    fn map(&self, places: &mut [u64]) -> Result<(), Failure> {
        for place in places {
            *place = self.sample(*place)?;
        }
        Ok(())
    }

    /// Where the sample at a position is stored. Orders that are not in shards have no lanes. Failures: as `sample`.
    fn stored(&self, position: u64) -> Result<Stored, Failure> {
        self.sample(position).map(Stored::alone)
    }

    /// The first position from `from` on that has a sample. Failures: `out-of-memory`.
    fn next(&self, sample: u64, from: u64) -> Result<Option<u64>, Failure>;
}
