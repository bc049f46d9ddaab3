//! In what order an epoch is visited: from positions to samples.

mod dotnet;
mod feistel;
mod fisher_yates;
mod mt19937;
mod python;
mod sharded;
mod shards;
mod spans;
mod table;
mod torch;

use alloc::rc::Rc;

use crate::base::failure::{known, range};
use crate::{Failure, MAX_EXACT};
pub(crate) use feistel::Feistel;
pub(crate) use fisher_yates::shuffle;
pub(crate) use sharded::{DEFAULT_LANES, DEFAULT_WINDOW, MAX_LANES, Sharded, Sharding};
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
}

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
        }
    }

    /// The order of a name, `sharded` among them. An unknown name is a failure that lists those that need no more than one.
    pub fn from_name(name: &str) -> Result<Self, Failure> {
        Self::ALL
            .into_iter()
            .chain([Self::Sharded])
            .find(|id| id.name() == name)
            .ok_or_else(|| Failure::unknown_name("order", name, known(Self::ALL.map(Self::name))))
    }

    /// Whether an epoch needs a table of all samples: any position costs as much as all of them.
    pub(crate) const fn has_table(self) -> bool {
        !matches!(self, Self::Feistel | Self::Sequential | Self::Sharded)
    }

    /// Whether `samples` and `seed` are within the range of this order.
    pub(crate) fn check(self, samples: u64, seed: i64) -> Result<(), Failure> {
        let most = match self {
            Self::Feistel | Self::Sequential | Self::Sharded => MAX_EXACT,
            Self::FisherYates | Self::Torch | Self::Torch25 | Self::Python => u64::from(u32::MAX),
            Self::Dotnet => i32::MAX as u64,
            #[cfg(feature = "grown")]
            Self::Backward => u64::from(u32::MAX),
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

/// The order of one epoch: a bijection of positions and samples, both 0 to samples - 1. Its methods do not check what
/// they are given, and may panic, or answer without meaning, beyond that range; a [`Sampler`](crate::Sampler) checks.
pub struct Order(Kind);

enum Kind {
    Sequential,
    Feistel(Feistel),
    Table(Table),
    Sharded(Sharded),
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
        }))
    }

    /// Builds the order `sharded` of an epoch, in O(shards).
    pub(crate) fn sharded(sharding: Rc<Sharding>, seed: i64, epoch: u64) -> Result<Self, Failure> {
        Ok(Self(Kind::Sharded(Sharded::new(sharding, seed, epoch)?)))
    }

    /// The order `sharded`, if it is that.
    pub(crate) fn as_sharded(&self) -> Option<&Sharded> {
        if let Kind::Sharded(sharded) = &self.0 { Some(sharded) } else { None }
    }

    /// Writes the samples at positions `start`, `start + stride`, ..., one for each place in `out`. All of these
    /// positions must be below the number of samples, and `stride` at most 2^32 - 1.
    pub fn fill<T: Index>(&self, start: u64, stride: u64, out: &mut [T]) {
        match &self.0 {
            Kind::Sequential => {
                for (i, place) in (0..).zip(out) {
                    *place = T::from_u64(start + i * stride);
                }
            }
            Kind::Feistel(feistel) => feistel.fill(start, stride, out),
            Kind::Table(table) => table.fill(start, stride, out),
            Kind::Sharded(sharded) => sharded.fill(start, stride, out),
        }
    }

    /// The sample at a position below the number of samples.
    pub fn sample(&self, position: u64) -> u64 {
        match &self.0 {
            Kind::Sequential => position,
            Kind::Feistel(feistel) => feistel.sample(position),
            Kind::Table(table) => table.sample(position),
            Kind::Sharded(sharded) => sharded.sample(position),
        }
    }

    /// The position of a sample below the number of samples: O(1) for `feistel` and `sequential`, one pass over the
    /// table for the others.
    pub fn position(&self, sample: u64) -> u64 {
        match &self.0 {
            Kind::Sequential => sample,
            Kind::Feistel(feistel) => feistel.position(sample),
            Kind::Table(table) => table.position(sample),
            Kind::Sharded(sharded) => sharded.position(sample),
        }
    }
}
