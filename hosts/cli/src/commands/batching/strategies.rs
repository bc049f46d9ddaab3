//! The strategies that are compared, with options that make them comparable.

use samedeal::{BatchBuilder, Batcher, Counting, Packing, Strategy};

use crate::commands::numbers::BatchesArgs;

/// A strategy, with its options.
#[derive(Clone, Copy)]
pub struct Candidate {
    pub strategy: Strategy,
    pub counting: Counting,
    pub packing: Packing,
    rows: u32,
    budget: u64,
    capacity: u32,
}

/// What a batch may have, in all of them.
pub struct Room {
    /// Rows, where all are as long as can be, and their tokens.
    pub rows: u32,
    pub width: u32,
    /// Tokens.
    pub tokens: u64,
    /// Rows where options say so even for a budget.
    bound: u32,
    /// Cost, where that is not tokens.
    cost: Option<u64>,
    capacity: u32,
}

impl Room {
    /// The room that the options give, or 32 rows as long as the longest sample.
    pub fn new(args: &BatchesArgs, longest: u32) -> Self {
        let options = &args.by_length;
        let longest = options.max_length.map_or(longest, |most| most.min(longest)).max(1);
        let is_weighted = options.counting == Some(Counting::Weighted);
        let budget = if is_weighted { None } else { options.budget };
        let capacity = options.capacity.or(options.max_length).unwrap_or(longest);
        let width = options.max_length.unwrap_or(longest).max(1);
        let rows = options.max_batch_size.filter(|&rows| rows > 0);
        let rows = rows.unwrap_or_else(|| budget.map_or(32, |budget| fitting(budget, width)));
        let tokens = budget.unwrap_or(u64::from(rows) * u64::from(width));
        let (linear, quadratic) = (options.linear.unwrap_or(1), options.quadratic.unwrap_or(0));
        let each = u64::from(linear).saturating_add(u64::from(quadratic).saturating_mul(width.into()));
        let cost = each.saturating_mul(width.into()).saturating_mul(rows.into()).max(1);
        Self {
            rows,
            width,
            tokens,
            bound: budget.and(options.max_batch_size).unwrap_or(0),
            cost: is_weighted.then(|| options.budget.unwrap_or(cost)),
            capacity,
        }
    }

    pub fn candidates(&self) -> Vec<Candidate> {
        let padded = Candidate {
            strategy: Strategy::PadToMax,
            counting: Counting::Padded,
            packing: Packing::Fast,
            rows: self.rows,
            budget: self.tokens,
            capacity: self.capacity,
        };
        let budget = Candidate { strategy: Strategy::Budget, rows: self.bound, ..padded };
        let packs = fitting(self.tokens, self.capacity);
        let pack = Candidate { strategy: Strategy::Pack, rows: packs, ..padded };
        let weighted = |cost| Candidate { counting: Counting::Weighted, budget: cost, ..budget };
        let mut all = vec![padded, Candidate { strategy: Strategy::Bucket, ..padded }, budget];
        all.push(Candidate { counting: Counting::Unpadded, ..budget });
        all.extend(self.cost.map(weighted));
        all.extend([pack, Candidate { packing: Packing::Optimal, ..pack }]);
        all
    }
}

/// How many rows of so many tokens a budget allows, at least 1.
fn fitting(budget: u64, width: u32) -> u32 {
    budget.checked_div(width.into()).map_or(1, |rows| u32::try_from(rows).unwrap_or(u32::MAX).max(1))
}

impl Candidate {
    /// What tells it from the others.
    pub fn name(&self) -> String {
        match self.strategy {
            Strategy::PadToMax | Strategy::Bucket => self.strategy.to_string(),
            Strategy::Budget => format!("{} {}", self.strategy, self.counting),
            Strategy::Pack => format!("{} {}", self.strategy, self.packing),
        }
    }

    /// Sets what decides the size of batches.
    pub fn sized(&self, builder: BatchBuilder<Batcher>) -> BatchBuilder<Batcher> {
        let builder = builder.strategy(self.strategy).counting(self.counting).packing(self.packing);
        let builder = builder.max_batch_size(self.rows).budget(self.budget);
        if self.strategy == Strategy::Pack { builder.capacity(self.capacity) } else { builder }
    }
}
