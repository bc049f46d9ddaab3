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
use crate::base::Failure;

/// The order of one epoch: the sample at each position. [`Order::new`] makes a bijection of the numbers below
/// `samples`. The methods do not check their arguments: beyond the range, they may panic or return meaningless values.
/// A [`Sampler`](crate::Sampler) checks arguments.
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

    /// Builds the order `sharded` of an epoch, in O(shards + lanes).
    pub(crate) fn sharded(sharding: Rc<Sharding>, seed: i64, epoch: u64) -> Result<Self, Failure> {
        Ok(Self(Kind::Sharded(Sharded::new(sharding, seed, epoch)?)))
    }

    /// Wraps one epoch of a composed order.
    pub(crate) fn composed(epoch: Box<dyn Epoch>) -> Self {
        Self(Kind::Composed(epoch))
    }

    /// The order `sharded`, if this order is one.
    pub(crate) fn as_sharded(&self) -> Option<&Sharded> {
        if let Kind::Sharded(sharded) = &self.0 { Some(sharded) } else { None }
    }

    /// Writes the samples at positions `start`, `start + stride`, ..., one for each place in `out`. All of these
    /// positions must be below the length of the epoch, and `stride` from 1 to 2^32 - 1. Failures, of composed orders
    /// only: `out-of-memory`; `epoch`, if a position needs an epoch of an inner order that cannot be used.
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

    /// Replaces each position in `places` by its sample. All positions must be below the length of the epoch. Failures:
    /// as `fill`.
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

    /// Replaces each sample in `samples` by its position, and returns true. If the order has a table or is composed,
    /// leaves `samples` unchanged and returns false.
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

    /// The storage place of the sample at a position. Failures: as `fill`.
    pub(crate) fn stored(&self, position: u64) -> Result<Stored, Failure> {
        match &self.0 {
            Kind::Sharded(sharded) => Ok(sharded.stored(position)),
            Kind::Composed(epoch) => epoch.stored(position),
            _ => self.sample(position).map(Stored::alone),
        }
    }

    /// The first position at or after `from` that has `sample`, which is below the number of samples. Costs O(1) for
    /// `feistel` and `sequential`, one pass over the table for orders with a table. Failures: as `fill`.
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

    /// The position of each sample in `samples`, by one pass over the table, or, if memory is short, by one pass for
    /// each sample; `None` if the order has no table. Failures: `out-of-memory`.
    pub(crate) fn in_table(&self, samples: &[u64]) -> Result<Option<Vec<u64>>, Failure> {
        if let Kind::Table(table) = &self.0 { table.positions(samples).map(Some) } else { Ok(None) }
    }
}

/// One epoch of a composed order.
pub(crate) trait Epoch {
    /// The sample at a position below the length of the epoch. Failures: as [`Order::fill`].
    fn sample(&self, position: u64) -> Result<u64, Failure>;

    /// Replaces each position in `places` by its sample. Failures: as `sample`.
    fn map(&self, places: &mut [u64]) -> Result<(), Failure> {
        for place in places {
            *place = self.sample(*place)?;
        }
        Ok(())
    }

    /// The storage place of the sample at a position; lane 0 for orders without shards. Failures: as `sample`.
    fn stored(&self, position: u64) -> Result<Stored, Failure> {
        self.sample(position).map(Stored::alone)
    }

    /// The first position at or after `from` that has `sample`, if there is one. Failures: as `sample`.
    fn next(&self, sample: u64, from: u64) -> Result<Option<u64>, Failure>;
}
