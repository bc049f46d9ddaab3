//! In what order an epoch is visited: from positions to samples.

pub(crate) mod compose;
mod dotnet;
mod feistel;
mod fisher_yates;
mod members;
mod mt19937;
mod part;
mod python;
mod sharded;
mod shards;
mod spans;
mod table;
mod torch;

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::failure::{known, range};
use crate::base::memory::collect;
use crate::document::fields::Fields;
use crate::document::lists::{List, beside};
use crate::{Failure, MAX_EXACT};
use compose::Epoch;
pub(crate) use compose::Stored;
pub(crate) use feistel::{Feistel, MULTIPLIERS, mix};
pub(crate) use fisher_yates::shuffle;
#[cfg(feature = "texts")]
pub(crate) use members::ANY_ORDER_MEMBERS;
pub(crate) use members::{ANY_ORDER, COMPOSED_MEMBERS, ORDERS};
pub(crate) use part::{OrderPart, check_sums};
pub(crate) use sharded::{MAX_LANES, Sharded, Sharding};
pub(crate) use shards::{Shards, total};
pub use spans::Spans;
use table::Table;
use torch::Release;

/// The name of an order, which is its definition: the same name means the same values for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderId {
    /// `feistel`: pseudo-random, random access and inverse in O(1) time and memory. The default.
    Feistel,
    /// `fisher-yates`: unbiased, every order as likely as any other up to the generator; 4 bytes of memory a sample.
    FisherYates,
    /// `sequential`: position p is sample p.
    Sequential,
    /// `torch`: `torch.randperm` on the CPU in PyTorch 2.6 and later, seeded as `DistributedSampler` does.
    Torch,
    /// `torch-2.5`: the same in PyTorch up to 2.5; differs from 214,748,364 samples upwards.
    Torch25,
    /// `python`: `random.Random(seed + epoch).shuffle(list(range(samples)))`.
    Python,
    /// `dotnet`: the shuffle from the last element down with .NET's seeded `System.Random`.
    Dotnet,
    /// `backward`: position p is sample `samples` - 1 - p.
    #[cfg(feature = "grown")]
    Backward,
    /// `sharded`: shuffled with locality, for datasets in shards; only from a recipe, which has their sizes.
    Sharded,
    // Composed orders; only from a recipe, which has what they are made of.
    /// `blend`: several orders in proportion to weights, with random access.
    Blend,
    /// `blend-exact`: the same with the least deviation from the weights, by a table of a period.
    BlendExact,
    /// `grown`: a dataset that got more samples.
    Grown,
    /// `exclude`: an order without some samples.
    Exclude,
    /// `subset`: an order with some samples alone.
    Subset,
    /// `skip`: an order without some positions.
    Skip,
    /// `copies`: every sample several times in a row.
    Copies,
    /// `windows`: parts of equal length of episodes.
    Windows,
    /// `balance`: samples as often as the factor of their class says.
    Balance,
}

/// The composed orders.
pub(crate) const COMPOSED: [OrderId; 9] = [
    OrderId::Blend,
    OrderId::BlendExact,
    OrderId::Grown,
    OrderId::Exclude,
    OrderId::Subset,
    OrderId::Skip,
    OrderId::Copies,
    OrderId::Windows,
    OrderId::Balance,
];

impl OrderId {
    /// Every order that a number of samples is enough for, the default first.
    pub const ALL: [Self; 7 + cfg!(feature = "grown") as usize] = [
        Self::Feistel,
        Self::FisherYates,
        Self::Sequential,
        Self::Torch,
        Self::Torch25,
        Self::Python,
        Self::Dotnet,
        #[cfg(feature = "grown")]
        Self::Backward,
    ];

    /// The name of the order.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Feistel => "feistel",
            Self::FisherYates => "fisher-yates",
            Self::Sequential => "sequential",
            Self::Torch => "torch",
            Self::Torch25 => "torch-2.5",
            Self::Python => "python",
            Self::Dotnet => "dotnet",
            #[cfg(feature = "grown")]
            Self::Backward => "backward",
            Self::Sharded => "sharded",
            Self::Blend => "blend",
            Self::BlendExact => "blend-exact",
            Self::Grown => "grown",
            Self::Exclude => "exclude",
            Self::Subset => "subset",
            Self::Skip => "skip",
            Self::Copies => "copies",
            Self::Windows => "windows",
            Self::Balance => "balance",
        }
    }

    /// The same with the composed ones. An unknown name is a failure that lists those that go with the other members of the order: of
    /// shards, these are `stored`.
    pub(crate) fn of_any_name(name: &str, order: &Fields, lists: &[List], stored: &[Self]) -> Result<Self, Failure> {
        let found = Self::ALL.iter().chain(&[Self::Sharded]).chain(&COMPOSED).find(|id| id.name() == name);
        found.copied().ok_or_else(|| {
            let fit: &[Self] = if order.first_of(COMPOSED_MEMBERS).is_some() {
                &COMPOSED
            } else if order.has("sizes") || beside("sizes", lists).is_some() {
                stored
            } else {
                &Self::ALL
            };
            Failure::unknown_name("order", name, known(fit.iter().map(|id| id.name())))
        })
    }

    /// Whether it is made of others.
    pub(crate) fn is_composed(self) -> bool {
        COMPOSED.contains(&self)
    }

    /// Whether it has one other order, in `of`.
    pub(crate) fn is_view(self) -> bool {
        matches!(self, Self::Exclude | Self::Subset | Self::Skip | Self::Copies)
    }

    /// Whether it has sources.
    pub(crate) fn is_blend(self) -> bool {
        matches!(self, Self::Blend | Self::BlendExact)
    }

    /// The order of a name, `sharded` among them, but no composed one. An unknown name is a failure that lists those that need no more
    /// than one.
    pub fn from_name(name: &str) -> Result<Self, Failure> {
        Self::ALL
            .into_iter()
            .chain([Self::Sharded])
            .find(|id| id.name() == name)
            .ok_or_else(|| Failure::unknown_name("order", name, known(Self::ALL.map(Self::name))))
    }

    /// Whether an epoch needs a table of all samples: any position costs as much as all of them.
    pub(crate) const fn has_table(self) -> bool {
        match self {
            Self::FisherYates | Self::Torch | Self::Torch25 | Self::Python | Self::Dotnet => true,
            #[cfg(feature = "grown")]
            Self::Backward => true,
            _ => false,
        }
    }

    /// Whether `samples` and `seed` are within the range of this order.
    pub(crate) fn check(self, samples: u64, seed: i64) -> Result<(), Failure> {
        let most = match self {
            Self::FisherYates | Self::Torch | Self::Torch25 | Self::Python => u64::from(u32::MAX),
            Self::Dotnet => i32::MAX as u64,
            #[cfg(feature = "grown")]
            Self::Backward => u64::from(u32::MAX),
            _ => MAX_EXACT,
        };
        if samples > most {
            let allowed = range(0, most).and(format_args!(" with the order {}", self.name()));
            return Err(Failure::out_of_range("samples", samples, allowed));
        }
        if self == Self::Dotnet && i32::try_from(seed).is_err() {
            let allowed = range(i32::MIN, i32::MAX).and(" with the order dotnet");
            return Err(Failure::out_of_range("seed", seed, allowed));
        }
        Ok(())
    }
}

/// A type that indices are written as.
pub trait Index: Copy + Default + sealed::Sealed {
    /// The index as this type, which must be wide enough for it.
    fn from_u64(index: u64) -> Self;
}

impl Index for u32 {
    fn from_u64(index: u64) -> Self {
        index as Self
    }
}

impl Index for u64 {
    fn from_u64(index: u64) -> Self {
        index
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// Positions that are handed to an order at once: enough that each of many sources has some of them.
const BLOCK: usize = 4096;

/// Has 64-bit indices written block by block, and hands them on. Failures: those of `write`, `out-of-memory`.
pub(crate) fn in_blocks<T: Index>(
    out: &mut [T],
    mut write: impl FnMut(&mut [u64]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let length = out.len().min(BLOCK);
    let mut indices = collect("count", length, core::iter::repeat_n(0, length))?;
    for block in out.chunks_mut(BLOCK) {
        let indices = &mut indices[..block.len()];
        write(indices)?;
        for (place, &index) in block.iter_mut().zip(&*indices) {
            *place = T::from_u64(index);
        }
    }
    Ok(())
}

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
