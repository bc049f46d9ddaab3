//! The names of orders.

use crate::base::MAX_EXACT;
use crate::base::failure::{Failure, known, range};
use crate::document::member::text;

/// Defines `OrderId` from the table of all orders. A row has the variant, the name, the most samples of an epoch, and the
/// description. An order of fewer than 2^53 - 1 samples needs a table of all of them. Everything else that names orders
/// reads this table: recipes, help, types of hosts, documents.
macro_rules! orders {
    (
        simple { $($(#[$on:meta])* $simple:ident, $simple_name:literal, $most:expr, $simple_text:literal;)* }
        stored { $stored:ident, $stored_name:literal, $stored_text:literal; }
        composed { $($composed:ident, $composed_name:literal, $composed_text:literal;)* }
    ) => {
        /// The name of an order, which is its definition: the same name means the same values for ever.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum OrderId {
            $($(#[$on])* #[doc = $simple_text] $simple,)*
            #[doc = $stored_text]
            $stored,
            $(#[doc = $composed_text] $composed,)*
        }

        /// The composed orders. Only a recipe can have them, since they need sources, lists or inner orders.
        pub(crate) const COMPOSED: [OrderId; [$($composed_name),*].len()] = [$(OrderId::$composed),*];

        impl OrderId {
            /// All plain orders, which need only a number of samples and a seed, the default first.
            pub const ALL: [Self; [$($(#[$on])* $simple_name),*].len()] = [$($(#[$on])* Self::$simple),*];

            /// The name of the order.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(#[$on])* Self::$simple => $simple_name,)*
                    Self::$stored => $stored_name,
                    $(Self::$composed => $composed_name,)*
                }
            }

            /// The description of the order, for people.
            pub const fn text(self) -> &'static str {
                match self {
                    $($(#[$on])* Self::$simple => text!($simple_text),)*
                    Self::$stored => text!($stored_text),
                    $(Self::$composed => text!($composed_text),)*
                }
            }

            /// The most samples of an epoch, as far as the order alone decides.
            const fn most_samples(self) -> u64 {
                match self {
                    $($(#[$on])* Self::$simple => $most,)*
                    _ => MAX_EXACT,
                }
            }
        }
    };
}

/// The most samples of an order whose table has 4 bytes a sample.
const OF_TABLE: u64 = u32::MAX as u64;

orders! {
    simple {
        Feistel, "feistel", MAX_EXACT, "Pseudo-random, any number of samples without memory; the default.";
        FisherYates, "fisher-yates", OF_TABLE, "Unbiased: every order is as likely as any other, up to the generator. 4 bytes of memory a sample.";
        Sequential, "sequential", MAX_EXACT, "The samples in their own order.";
        Torch, "torch", OF_TABLE, "`DistributedSampler` and `randperm` of PyTorch 2.6 and later. 4 bytes a sample.";
        Torch25, "torch-2.5", OF_TABLE, "That of PyTorch up to 2.5, which differs from 214,748,364 samples upwards. 4 bytes a sample.";
        Python, "python", OF_TABLE, "`random.Random(seed + epoch).shuffle` of CPython. 4 bytes a sample.";
        Dotnet, "dotnet", i32::MAX as u64, "A shuffle with the seeded `System.Random` of .NET. 4 bytes a sample.";
        #[cfg(feature = "grown")]
        Backward, "backward", OF_TABLE, "The samples from the last one to the first one.";
    }
    stored {
        Sharded, "sharded", "Of datasets in files: shuffled windows of neighbouring samples.";
    }
    composed {
        Blend, "blend", "Several orders in proportion to weights.";
        BlendExact, "blend-exact", "Several orders in proportion to weights, within one sample, by a table of one period.";
        Grown, "grown", "The order of a dataset that got more samples.";
        Exclude, "exclude", "An order without some samples.";
        Subset, "subset", "An order of some of its samples.";
        Skip, "skip", "An order without some positions.";
        Copies, "copies", "An order with every sample several times in a row.";
        Windows, "windows", "Windows of equal length in episodes.";
        Balance, "balance", "Every sample as often as the factor of its class says.";
        Weighted, "weighted", "Every sample in proportion to its weight.";
    }
}

/// The views: composed orders of one inner order, their member `of`.
pub(super) const VIEWS: &[&str] =
    &[OrderId::Exclude.name(), OrderId::Subset.name(), OrderId::Skip.name(), OrderId::Copies.name()];

impl OrderId {
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
        self.most_samples() < MAX_EXACT
    }

    /// Checks that `samples` and `seed` are in the range of this order. Failures: `samples`, `seed`.
    pub(crate) fn check(self, samples: u64, seed: i64) -> Result<(), Failure> {
        let most = self.most_samples();
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
