//! Costs of batches, and metrics of a plan.

use core::ops::Range;

use super::config::{BatchConfig, Counting, Strategy};
use super::items::{Items, Tally};
use super::steps::Steps;
use crate::base::Failure;
use crate::base::failure::known;
use crate::base::ratio::millionths;

/// The names of the ratios of [`Metrics::ratio`].
const RATIOS: [&str; 4] = ["padding", "budget-utilization", "slowest-rank-utilization", "cost-imbalance"];

/// The metrics of a plan, of all ranks together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// The number of steps, which is the same on every rank.
    pub steps: u64,
    /// Items in batches, repetitions included.
    pub items: u64,
    /// Rows in batches.
    pub rows: u64,
    /// Tokens of the items.
    pub tokens: u64,
    /// Tokens of the batches, padding included.
    pub padded: u64,
    /// The greatest number of tokens of a rank in a step, padding included; summed over all steps.
    pub slowest: u64,
    /// The cost of all batches.
    pub cost: u64,
    /// The greatest cost of a rank in a step, summed over all steps.
    pub slowest_cost: u64,
    /// A lower bound on the number of packs: no packing of the same windows has fewer. A window adds 0 if nothing is
    /// packed, or if steps of it were taken before.
    pub packs_bound: u64,
    /// Batches that cost more than the budget. Each of them has one sample.
    pub over_budget: u64,
    /// Batches without an item.
    pub empty: u64,
    /// Items that are repeated to fill a step.
    pub repeated: u64,
    /// Items that are left out at the end of windows.
    pub dropped: u64,
    /// Samples that were cut.
    pub truncated: u64,
    /// Samples that were left out because of their length.
    pub too_long: u64,
    /// Samples that became several items.
    pub split: u64,
}

impl Metrics {
    /// All metrics with their names.
    pub fn named(&self) -> [(&'static str, u64); 16 + cfg!(feature = "grown") as usize] {
        [
            ("steps", self.steps),
            ("items", self.items),
            ("rows", self.rows),
            ("tokens", self.tokens),
            ("padded", self.padded),
            ("slowest", self.slowest),
            ("cost", self.cost),
            ("slowest-cost", self.slowest_cost),
            ("packs-bound", self.packs_bound),
            ("over-budget", self.over_budget),
            ("empty", self.empty),
            ("repeated", self.repeated),
            ("dropped", self.dropped),
            ("truncated", self.truncated),
            ("too-long", self.too_long),
            ("split", self.split),
            #[cfg(feature = "grown")]
            ("padding-tokens", self.padded.saturating_sub(self.tokens)),
        ]
    }

    /// Metrics from the numbers of an index, in the order of `named`.
    pub(super) fn of_numbers(numbers: &[u64]) -> Option<Self> {
        let &[steps, items, rows, tokens, padded, slowest, cost, slowest_cost, packs_bound, ref others @ ..] = numbers
        else {
            return None;
        };
        let &[over_budget, empty, repeated, dropped, truncated, too_long, split] = others.get(..7)? else {
            return None;
        };
        Some(Self {
            steps,
            items,
            rows,
            tokens,
            padded,
            slowest,
            cost,
            slowest_cost,
            packs_bound,
            over_budget,
            empty,
            repeated,
            dropped,
            truncated,
            too_long,
            split,
        })
    }

    /// Adds the metrics of other windows.
    pub(super) fn join(&mut self, others: &Self) {
        let mut sums = [0; 16];
        for ((sum, (_, here)), (_, there)) in sums.iter_mut().zip(self.named()).zip(others.named()) {
            *sum = here.saturating_add(there);
        }
        if let Some(sum) = Self::of_numbers(&sums) {
            *self = sum;
        }
    }

    /// Adds the numbers of samples that were too long.
    pub(super) fn add_tally(&mut self, tally: &Tally) {
        self.truncated += tally.truncated;
        self.too_long += tally.dropped;
        self.split += tally.split;
    }

    /// A ratio by its name, in parts per million. Failures: `ratio`.
    ///
    /// - `padding`: the share of padding in the padded tokens.
    /// - `budget-utilization`: the tokens (with a weighted counting the cost), divided by the budget of all batches.
    /// - `slowest-rank-utilization`: the tokens, divided by the padded tokens of the slowest rank of each step times
    ///   the world size.
    /// - `cost-imbalance`: the greatest cost of a rank in each step, divided by the mean.
    pub fn ratio(&self, config: &BatchConfig, name: &str) -> Result<u64, Failure> {
        let world_size = u128::from(config.world_size);
        let packs = config.strategy == Strategy::Pack;
        let used = match config.counting {
            Counting::Weighted { .. } if !packs => self.cost,
            _ => self.tokens,
        };
        let budget = if packs { u64::from(config.max_batch_size) * u64::from(config.capacity) } else { config.budget };
        let (part, of, without) = match name {
            "padding" => (u128::from(self.padded.saturating_sub(self.tokens)), Some(self.padded.into()), 0),
            "budget-utilization" => {
                (used.into(), u128::from(budget).checked_mul(u128::from(self.steps) * world_size), 1_000_000)
            }
            "slowest-rank-utilization" => (self.tokens.into(), Some(world_size * u128::from(self.slowest)), 1_000_000),
            "cost-imbalance" => (world_size * u128::from(self.slowest_cost), Some(self.cost.into()), 1_000_000),
            _ => return Err(Failure::unknown_name("ratio", name, known(RATIOS))),
        };
        Ok(if of == Some(0) { without } else { millionths(part, of) })
    }

    /// Adds the steps of a window from number `first` on.
    pub(super) fn add(&mut self, config: &BatchConfig, items: &Items, steps: &Steps, first: usize) {
        for step in first..steps.count() {
            let (mut slowest, mut slowest_cost) = (0, 0);
            for rank in 0..config.world_size as usize {
                let (rows, repeated) = steps.batch(step, rank);
                let Weight { width, cost, tokens } = weigh(config, items, steps, rows.clone());
                let padded = rows.len() as u64 * u64::from(width);
                self.tokens += tokens;
                self.items += steps.held(rows.clone()).len() as u64;
                self.rows += rows.len() as u64;
                self.padded += padded;
                self.cost = self.cost.saturating_add(cost);
                self.over_budget += u64::from(config.budget > 0 && cost > config.budget);
                self.empty += u64::from(rows.is_empty());
                self.repeated += steps.held(rows.end - repeated as usize..rows.end).len() as u64;
                slowest = padded.max(slowest);
                slowest_cost = cost.max(slowest_cost);
            }
            self.slowest += slowest;
            self.slowest_cost = self.slowest_cost.saturating_add(slowest_cost);
        }
        self.steps += steps.count().saturating_sub(first) as u64;
    }
}

/// The size and the cost of a batch.
pub(super) struct Weight {
    /// Tokens of a row, padding included.
    pub(super) width: u32,
    pub(super) cost: u64,
    /// Tokens of the items.
    tokens: u64,
}

pub(super) fn weigh(config: &BatchConfig, items: &Items, steps: &Steps, rows: Range<usize>) -> Weight {
    let lengths = || steps.held(rows.clone()).iter().map(|&item| items.length(item));
    let (longest, tokens) =
        lengths().fold((0, 0), |(longest, tokens), length| (length.max(longest), tokens + u64::from(length)));
    let width = match config.strategy {
        Strategy::Pack => longest.max(config.capacity),
        Strategy::Bucket if config.pad_to_bucket && !rows.is_empty() => config.known_end(longest),
        _ => longest,
    };
    let cost = if config.is_padded() {
        rows.len() as u64 * u64::from(width)
    } else {
        u64::try_from(lengths().map(|length| config.cost(length)).sum::<u128>()).unwrap_or(u64::MAX)
    };
    Weight { width, cost, tokens }
}
