//! The names of orders.

use super::members::{COMPOSED_MEMBERS, VIEWS};
use crate::base::MAX_EXACT;
use crate::base::failure::{Failure, known, range};
use crate::document::fields::Fields;
use crate::document::lists::{List, beside};

/// The name of an order, which is its definition: the same name means the same values for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderId {
    /// `feistel`: pseudo-random, random access and inverse in O(1) time and memory. The default.
    Feistel,
    /// `fisher-yates`: unbiased, every permutation is equally likely as far as the generator allows; 4 bytes of memory
    /// a sample.
    FisherYates,
    /// `sequential`: position p is sample p.
    Sequential,
    /// `torch`: `torch.randperm` on the CPU in PyTorch 2.6 and later, seeded as `DistributedSampler` does.
    Torch,
    /// `torch-2.5`: `torch.randperm` in PyTorch up to 2.5; differs from `torch` from 214,748,364 samples upwards.
    Torch25,
    /// `python`: `random.Random(seed + epoch).shuffle(list(range(samples)))`.
    Python,
    /// `dotnet`: the shuffle from the last element down with .NET's seeded `System.Random`.
    Dotnet,
    /// `backward`: position p is sample `samples` - 1 - p.
    #[cfg(feature = "grown")]
    Backward,
    /// `sharded`: a shuffle with locality, for datasets in shards. Only a recipe can have this order, since it needs
    /// the sizes of the shards.
    Sharded,
    // Composed orders. Only a recipe can have them, since they need sources, lists or inner orders.
    /// `blend`: several orders in proportion to weights, with random access.
    Blend,
    /// `blend-exact`: a blend with the least deviation from the weights, by a table of one period.
    BlendExact,
    /// `grown`: the order of a dataset that got more samples.
    Grown,
    /// `exclude`: an order without some samples.
    Exclude,
    /// `subset`: an order reduced to some of its samples.
    Subset,
    /// `skip`: an order without some positions.
    Skip,
    /// `copies`: every sample several times in a row.
    Copies,
    /// `windows`: windows of equal length in episodes.
    Windows,
    /// `balance`: every sample as often as the factor of its class says.
    Balance,
    /// `weighted`: every sample in proportion to its weight.
    Weighted,
}

/// The composed orders.
pub(crate) const COMPOSED: [OrderId; 10] = [
    OrderId::Blend,
    OrderId::BlendExact,
    OrderId::Grown,
    OrderId::Exclude,
    OrderId::Subset,
    OrderId::Skip,
    OrderId::Copies,
    OrderId::Windows,
    OrderId::Balance,
    OrderId::Weighted,
];

impl OrderId {
    /// All orders that need only a number of samples, the default first.
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
            Self::Weighted => "weighted",
        }
    }

    /// The order with this name, also a composed one. The failure for an unknown name lists only names that fit the
    /// other members of the order: composed orders if there is a member of composed orders; `stored` if there are sizes
    /// of shards; else `ALL`.
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
            Failure::unknown_name("name", name, known(fit.iter().map(|id| id.name())))
        })
    }

    pub(crate) fn is_composed(self) -> bool {
        COMPOSED.contains(&self)
    }

    /// Whether the order is a view of one inner order, its member `of`.
    pub(crate) fn is_view(self) -> bool {
        VIEWS.contains(&self.name())
    }

    /// Whether the order is a blend, which has sources.
    pub(crate) fn is_blend(self) -> bool {
        matches!(self, Self::Blend | Self::BlendExact)
    }

    /// The order with this name: one of [`OrderId::ALL`], or `sharded`. The failure for an unknown name lists only the
    /// names of `ALL`.
    pub fn from_name(name: &str) -> Result<Self, Failure> {
        Self::ALL
            .into_iter()
            .chain([Self::Sharded])
            .find(|id| id.name() == name)
            .ok_or_else(|| Failure::unknown_name("name", name, known(Self::ALL.map(Self::name))))
    }

    /// Whether an epoch needs a table of all samples, so that one position costs as much as the whole epoch.
    pub const fn has_table(self) -> bool {
        match self {
            Self::FisherYates | Self::Torch | Self::Torch25 | Self::Python | Self::Dotnet => true,
            #[cfg(feature = "grown")]
            Self::Backward => true,
            _ => false,
        }
    }

    /// Checks that `samples` and `seed` are in the range of this order. Failures: `samples`, `seed`.
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
