use crate::engine::{batches, types};
use crate::{Error, of_millionths};

/// One batch of one rank.
///
/// An *item* is a sample, or a part of one with [`TooLong::Split`](crate::TooLong::Split). A *row* is an item, or several
/// with [`Strategy::Pack`](crate::Strategy::Pack).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct Batch {
    /// The sample of every item.
    pub samples: Vec<u64>,
    /// For each item, the token of its sample at which it begins: 0 unless the item is a later part of a sample.
    pub starts: Vec<u32>,
    /// The number of tokens of each item.
    pub lengths: Vec<u32>,
    /// The end of each row, as a number of items: row i has the items from `row_ends[i - 1]` (0 for the first row) to
    /// `row_ends[i]` - 1.
    pub row_ends: Vec<u32>,
    /// The number of tokens of each row, padding included.
    pub padded_length: u32,
    /// The cost of the batch.
    pub cost: u64,
    /// Number of rows at the end of the batch that are repeated to fill the step: another batch has them too.
    pub repeated: u32,
    /// Number of rows of a full batch with this padded length. To give all batches of a bucket the same shape, add rows
    /// of padding up to this number.
    pub full_rows: u32,
}

impl Batch {
    /// The samples of each row.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u64]> {
        let mut start = 0;
        self.row_ends.iter().map(move |&end| {
            let row = &self.samples[start..end as usize];
            start = end as usize;
            row
        })
    }

    /// The number of rows, and the tokens of a row, padding included.
    pub fn shape(&self) -> (usize, usize) {
        (self.row_ends.len(), self.padded_length as usize)
    }

    /// The batches that one call of the component returned as columns: of a rank at successive steps, of several ranks
    /// at one step, or of a window of a stream.
    pub(super) fn all_of(run: batches::BatchColumns) -> Vec<Self> {
        let (mut row, mut item) = (0, 0);
        let mut batches = Vec::with_capacity(run.batch_ends.len());
        for (number, &last) in run.batch_ends.iter().enumerate() {
            let last = last as usize;
            let ends = &run.row_ends[row..last];
            let end = ends.last().map_or(item, |&end| end as usize);
            batches.push(Self {
                samples: run.samples[item..end].to_vec(),
                starts: run.starts[item..end].to_vec(),
                lengths: run.lengths[item..end].to_vec(),
                row_ends: ends.iter().map(|&end| end - item as u32).collect(),
                padded_length: run.padded_lengths[number],
                cost: run.costs[number],
                repeated: run.repeated[number],
                full_rows: run.full_rows[number],
            });
            (row, item) = (last, end);
        }
        batches
    }
}

/// Defines `Metrics`: a field for each metric, with the metric's name in the component.
macro_rules! metrics {
    ($($(#[$doc:meta])* $field:ident: $name:literal,)*) => {
        /// Metrics of the batches of all ranks. The unit is tokens, unless a field says otherwise.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
        #[non_exhaustive]
        pub struct Metrics {
            $($(#[$doc])* pub $field: u64,)*
            padding: u64,
            budget_utilization: u64,
            slowest_rank_utilization: u64,
            cost_imbalance: u64,
        }

        impl Metrics {
            /// Every metric by its name, such as `packs-bound`, which is the same in every language. Ratios are not among them.
            pub fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$(($name, self.$field)),*].into_iter()
            }

            fn set(&mut self, name: &str, number: u64) {
                match name {
                    $($name => self.$field = number,)*
                    // A later component may have more metrics.
                    _ => {}
                }
            }
        }
    };
}
metrics! {
    /// Number of steps, which is the same on every rank.
    steps: "steps",
    /// Items in batches, repetitions included.
    items: "items",
    /// Rows in batches.
    rows: "rows",
    /// Tokens of the items.
    tokens: "tokens",
    /// The tokens of the batches, padding included.
    padded: "padded",
    /// The sum over all steps of the greatest number of tokens, with padding, that a rank has in the step.
    slowest: "slowest",
    /// The cost of all batches.
    cost: "cost",
    /// The sum over all steps of the greatest cost of a rank in the step.
    slowest_cost: "slowest-cost",
    /// A lower bound on the number of packs: no packing of the same windows has fewer. 0 without packing. A window of
    /// which a part was taken before counts as 0.
    packs_bound: "packs-bound",
    /// Batches that cost more than `max_tokens` or `max_cost` allows. Each of them has one sample.
    over_budget: "over-budget",
    /// Batches without an item.
    empty: "empty",
    /// Items that are repeated to fill a step.
    repeated: "repeated",
    /// Items that are left out at the end of windows.
    dropped: "dropped",
    /// Samples that were cut.
    truncated: "truncated",
    /// Samples that were left out because of their length.
    too_long: "too-long",
    /// Samples that became several items.
    split: "split",
}

impl Metrics {
    /// Metrics from the named numbers of the component, and from a function that returns a ratio by its name.
    pub(super) fn of(
        named: Vec<types::NamedNumber>,
        ratio: impl Fn(&str) -> Result<u64, Error>,
    ) -> Result<Self, Error> {
        let mut metrics = Self {
            padding: ratio("padding")?,
            budget_utilization: ratio("budget-utilization")?,
            slowest_rank_utilization: ratio("slowest-rank-utilization")?,
            cost_imbalance: ratio("cost-imbalance")?,
            ..Self::default()
        };
        named.iter().for_each(|metric| metrics.set(&metric.name, metric.number));
        Ok(metrics)
    }

    /// The share of padding in all tokens, padding included, to six places: 0 if there are no tokens.
    pub fn padding_ratio(&self) -> f64 {
        of_millionths(self.padding)
    }

    /// Tokens divided by the sum of `max_tokens` over all batches, to six places: 1 without a limit. With
    /// [`Counting::Weighted`](crate::Counting::Weighted), cost divided by `max_cost`; with
    /// [`Strategy::Pack`](crate::Strategy::Pack), the limit of a batch is `max_batch_size` times `capacity`.
    pub fn budget_utilization(&self) -> f64 {
        of_millionths(self.budget_utilization)
    }

    /// [`tokens`](Self::tokens) divided by [`slowest`](Self::slowest) times the world size, to six places: 1 if there
    /// are no tokens. The rest is padding, and ranks that wait for the slowest one.
    pub fn slowest_rank_utilization(&self) -> f64 {
        of_millionths(self.slowest_rank_utilization)
    }

    /// The greatest cost of a rank in a step, divided by the mean cost of a rank, each summed over all steps, to six
    /// places: 1 if all ranks have equal costs or no cost.
    pub fn cost_imbalance(&self) -> f64 {
        of_millionths(self.cost_imbalance)
    }
}
