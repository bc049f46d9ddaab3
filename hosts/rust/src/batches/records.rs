use super::{BatchConfig, Counting, Strategy};
use crate::engine::batches;
use crate::{Error, of_millionths};

/// Where an item of a sample is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BatchPlace {
    /// Number of the step.
    pub step: u64,
    /// Whose batch it is.
    pub rank: u32,
    /// Number of the row in that batch.
    pub row: u32,
    /// Number of the item in that row.
    pub slot: u32,
    /// Where in the sample the item begins, in tokens: 0 unless it is a part.
    pub start: u32,
}

impl From<batches::BatchPlace> for BatchPlace {
    fn from(batches::BatchPlace { step, rank, row, slot, start }: batches::BatchPlace) -> Self {
        Self { step, rank, row, slot, start }
    }
}

/// One batch of one rank.
///
/// An *item* is a sample, or a part of one with [`TooLong::Split`](crate::TooLong::Split). A *row* is an item, or several
/// with [`Strategy::Pack`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Batch {
    /// The sample of every item.
    pub samples: Vec<u64>,
    /// Where in its sample each item begins, in tokens: 0 unless it is a part.
    pub starts: Vec<u32>,
    /// The tokens of each item.
    pub lengths: Vec<u32>,
    /// Where the items of each row end: row i holds those from `row_ends[i - 1]` (0 for the first) on.
    pub row_ends: Vec<u32>,
    /// Tokens of each row, padding included.
    pub padded_length: u32,
    /// What the batch costs of its budget.
    pub cost: u64,
    /// How many rows at its end are there to fill the step: another batch holds them too.
    pub repeated: u32,
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

    /// Rows and their length, padding included.
    pub fn shape(&self) -> (usize, usize) {
        (self.row_ends.len(), self.padded_length as usize)
    }

    /// The batches of a run, one by one.
    pub(super) fn all_of(run: batches::Run) -> Vec<Self> {
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
            });
            (row, item) = (last, end);
        }
        batches
    }
}

/// What batches amount to: tokens, unless it says otherwise, of all ranks together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Metrics {
    /// Steps of every rank.
    pub steps: u64,
    /// Items in batches, repetitions included.
    pub items: u64,
    /// Rows in batches.
    pub rows: u64,
    /// Tokens of the items.
    pub tokens: u64,
    /// The same with padding.
    pub padded: u64,
    /// For every step, the tokens with padding of the rank with the most of them, summed up.
    pub slowest: u64,
    /// The cost of all batches.
    pub cost: u64,
    /// For every step, the cost of the rank with the most of it, summed up.
    pub slowest_cost: u64,
    /// A number of packs that no packing of the same windows goes below; 0 where nothing is packed, or some of them were
    /// taken before.
    pub packs_bound: u64,
    /// Batches that cost more than the budget: samples by themselves.
    pub over_budget: u64,
    /// Batches without an item.
    pub empty: u64,
    /// Items that are there again to fill a step.
    pub repeated: u64,
    /// Items that are left out at the end.
    pub dropped: u64,
    /// Samples that were cut.
    pub truncated: u64,
    /// Samples that were left out because of their length.
    pub too_long: u64,
    /// Samples that became several items.
    pub split: u64,
    /// How many ranks there are.
    pub world: u32,
    /// What a batch may cost; with [`Strategy::Pack`], the tokens of its rows; 0 for no bound.
    pub budget: u64,
    /// What is counted.
    pub counting: Counting,
    padding: u64,
    budget_utilisation: u64,
    slowest_rank_utilisation: u64,
    cost_imbalance: u64,
}

impl Metrics {
    /// Of what the component says of the plan, and of its ratios by their names.
    pub(super) fn of(
        metrics: batches::Metrics,
        config: &BatchConfig,
        ratio: impl Fn(&str) -> Result<u64, Error>,
    ) -> Result<Self, Error> {
        let (budget, counting) = match config.strategy {
            // What rows have room for is counted in tokens.
            Strategy::Pack => (u64::from(config.max_batch_size) * u64::from(config.capacity), Counting::Unpadded),
            _ => (config.budget, config.counting),
        };
        Ok(Self {
            steps: metrics.steps,
            items: metrics.items,
            rows: metrics.rows,
            tokens: metrics.tokens,
            padded: metrics.padded,
            slowest: metrics.slowest,
            cost: metrics.cost,
            slowest_cost: metrics.slowest_cost,
            packs_bound: metrics.packs_bound,
            over_budget: metrics.over_budget,
            empty: metrics.empty,
            repeated: metrics.repeated,
            dropped: metrics.dropped,
            truncated: metrics.truncated,
            too_long: metrics.too_long,
            split: metrics.split,
            world: config.world,
            budget,
            counting,
            padding: ratio("padding")?,
            budget_utilisation: ratio("budget-utilisation")?,
            slowest_rank_utilisation: ratio("slowest-rank-utilisation")?,
            cost_imbalance: ratio("cost-imbalance")?,
        })
    }

    /// What part of the padded tokens is padding, to six places: 0 where there are none.
    pub fn padding_ratio(&self) -> f64 {
        of_millionths(self.padding)
    }

    /// Tokens, or with [`Counting::Weighted`] the cost, divided by the budget of all batches, to six places: 1 where there is
    /// none.
    pub fn budget_utilisation(&self) -> f64 {
        of_millionths(self.budget_utilisation)
    }

    /// Tokens divided by what all ranks compute while they wait for the slowest of each step, to six places: 1 for no tokens.
    pub fn slowest_rank_utilisation(&self) -> f64 {
        of_millionths(self.slowest_rank_utilisation)
    }

    /// The greatest cost of a step divided by the mean, to six places: 1 where all ranks cost the same, or nothing.
    pub fn cost_imbalance(&self) -> f64 {
        of_millionths(self.cost_imbalance)
    }
}
