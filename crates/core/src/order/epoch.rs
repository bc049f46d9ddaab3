//! The order of one epoch.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::feistel::Feistel;
use super::id::OrderId;
use super::index::{Index, in_blocks};
use super::sharded::{Sharded, Sharding};
use super::stored::Stored;
use super::table::Table;
use super::torch::Release;
use super::{dotnet, fisher_yates, python, torch};
use crate::Failure;

/// The order of one epoch: a bijection of positions and samples, both 0 to samples - 1. Its methods do not check what
/// they are given, and may panic, or answer without meaning, beyond that range; a [`Sampler`](crate::Sampler) checks.
pub struct Order(Kind);

enum Kind {
    Sequential,
    Feistel(Feistel),
    Table(Table),
    Sharded(Sharded),
    Composed(Box<dyn Epoch>),
}

impl Order {
    /// Builds the order of an epoch: O(1) for `feistel` and `sequential`, O(samples) in time and memory for the others.
    pub fn new(id: OrderId, samples: u64, seed: i64, epoch: u64) -> Result<Self, Failure> {
        id.check(samples, seed)?;
        Ok(Self(match id {
            OrderId::Sequential => Kind::Sequential,
            OrderId::Feistel => Kind::Feistel(Feistel::new(samples, seed, epoch)),
            OrderId::FisherYates => Kind::Table(fisher_yates::order(samples as u32, seed, epoch)?),
            OrderId::Torch => Kind::Table(torch::order(samples as u32, seed, epoch, Release::From26)?),
            OrderId::Torch25 => Kind::Table(torch::order(samples as u32, seed, epoch, Release::UpTo25)?),
            OrderId::Python => Kind::Table(python::order(samples as u32, seed, epoch)?),
            OrderId::Dotnet => Kind::Table(dotnet::order(samples as u32, seed, epoch)?),
            #[cfg(feature = "grown")]
            OrderId::Backward => Kind::Table(Table::new(samples as u32, <[u32]>::reverse)?),
            OrderId::Sharded => {
                return Err(Failure::missing("sizes", "the samples of each shard, with the order sharded"));
            }
            _ => return Err(Failure::missing("recipe", "what a composed order is made of")),
        }))
    }

    /// Builds the order `sharded` of an epoch, in O(shards).
    pub(crate) fn sharded(sharding: Rc<Sharding>, seed: i64, epoch: u64) -> Result<Self, Failure> {
        Ok(Self(Kind::Sharded(Sharded::new(sharding, seed, epoch)?)))
    }

    /// One epoch of a composed order.
    pub(crate) fn composed(epoch: Box<dyn Epoch>) -> Self {
        Self(Kind::Composed(epoch))
    }

    /// The order `sharded`, if it is that.
    pub(crate) fn as_sharded(&self) -> Option<&Sharded> {
        if let Kind::Sharded(sharded) = &self.0 { Some(sharded) } else { None }
    }

    /// Writes the samples at positions `start`, `start + stride`, ..., one for each place in `out`. All of these
    /// positions must be below the number of samples, and `stride` at most 2^32 - 1. Failures: `out-of-memory`, of composed orders.
    pub fn fill<T: Index>(&self, start: u64, stride: u64, out: &mut [T]) -> Result<(), Failure> {
        match &self.0 {
            Kind::Sequential => {
                for (i, place) in (0..).zip(out) {
                    *place = T::from_u64(start + i * stride);
                }
            }
            Kind::Feistel(feistel) => feistel.fill(start, stride, out),
            Kind::Table(table) => table.fill(start, stride, out),
            Kind::Sharded(sharded) => sharded.fill(start, stride, out),
            Kind::Composed(epoch) => {
                let mut positions = (0..).map(|i| start + i * stride);
                in_blocks(out, |block| {
                    for (place, position) in block.iter_mut().zip(&mut positions) {
                        *place = position;
                    }
                    epoch.map(block)
                })?;
            }
        }
        Ok(())
    }

    /// Writes the sample of each of these positions, which are below the number of positions, in its place. Failures: as `fill`.
    pub(crate) fn map(&self, places: &mut [u64]) -> Result<(), Failure> {
        match &self.0 {
            Kind::Sequential => {}
            Kind::Feistel(feistel) => feistel.map(places),
            Kind::Table(table) => places.iter_mut().for_each(|place| *place = table.sample(*place)),
            Kind::Sharded(sharded) => places.iter_mut().for_each(|place| *place = sharded.sample(*place)),
            Kind::Composed(epoch) => epoch.map(places)?,
        }
        Ok(())
    }

    /// Writes the position of each of these samples in its place. Only orders do so that find a sample without the others and are not made
    /// of others; whether it is one of them.
    pub(crate) fn map_back(&self, samples: &mut [u64]) -> bool {
        match &self.0 {
            Kind::Sequential => {}
            Kind::Feistel(feistel) => feistel.map_back(samples),
            Kind::Sharded(sharded) => samples.iter_mut().for_each(|sample| *sample = sharded.position(*sample)),
            Kind::Table(_) | Kind::Composed(_) => return false,
        }
        true
    }

    /// The sample at a position below the number of positions. Failures: as `fill`.
    pub fn sample(&self, position: u64) -> Result<u64, Failure> {
        Ok(match &self.0 {
            Kind::Sequential => position,
            Kind::Feistel(feistel) => feistel.sample(position),
            Kind::Table(table) => table.sample(position),
            Kind::Sharded(sharded) => sharded.sample(position),
            Kind::Composed(epoch) => epoch.sample(position)?,
        })
    }

    /// Where the sample at a position is stored. Failures: as `fill`.
    pub(crate) fn stored(&self, position: u64) -> Result<Stored, Failure> {
        match &self.0 {
            Kind::Sharded(sharded) => Ok(sharded.stored(position)),
            Kind::Composed(epoch) => epoch.stored(position),
            _ => self.sample(position).map(Stored::alone),
        }
    }

    /// The first position from `from` on of a sample below the number of samples: O(1) for `feistel` and `sequential`, one pass over
    /// the table for orders that have one. Failures: as `fill`.
    pub fn next(&self, sample: u64, from: u64) -> Result<Option<u64>, Failure> {
        let position = match &self.0 {
            Kind::Sequential => sample,
            Kind::Feistel(feistel) => feistel.position(sample),
            Kind::Table(table) => table.position(sample),
            Kind::Sharded(sharded) => sharded.position(sample),
            Kind::Composed(epoch) => return epoch.next(sample, from),
        };
        Ok(Some(position).filter(|&position| position >= from))
    }

    /// If the order has a table: the position of each of these samples, in one pass. Failures: `out-of-memory`.
    pub(crate) fn in_table(&self, samples: &[u64]) -> Result<Option<Vec<u64>>, Failure> {
        if let Kind::Table(table) = &self.0 { table.positions(samples).map(Some) } else { Ok(None) }
    }
}

/// One epoch of an order that is made of others.
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
