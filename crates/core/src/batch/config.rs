use alloc::format;
use alloc::vec::Vec;

use super::buckets::Buckets;
use super::items::Items;
use super::packing::Packing;
use crate::base::failure::{at_most, range};
use crate::state::MAX_SEGMENTS;
use crate::{Failure, OrderId};

/// How items become batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// `max_batch_size` items in the order of the epoch.
    PadToMax,
    /// `max_batch_size` items of one bucket of lengths.
    Bucket,
    /// As many items as the budget allows.
    Budget,
    /// `max_batch_size` rows of `capacity` each, which items share.
    Pack,
}

impl Strategy {
    /// The name of the strategy in the WIT interface.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::PadToMax => "pad-to-max",
            Self::Bucket => "bucket",
            Self::Budget => "budget",
            Self::Pack => "pack",
        }
    }
}

/// What an item costs of the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// The length of the longest item of the batch.
    Padded,
    /// Its own length.
    Unpadded,
    /// linear * length + quadratic * length^2.
    Weighted {
        /// Of a token.
        linear: u32,
        /// Of a pair of tokens.
        quadratic: u32,
    },
}

/// What happens to a sample that is longer than `max_length`, or than the budget or the capacity alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLong {
    /// There is no plan.
    Error,
    /// Its beginning is kept.
    Truncate,
    /// It is left out.
    Drop,
    /// It becomes several items.
    Split,
    /// It is a batch by itself, whatever it costs.
    Single,
}

/// What happens at the end of the epoch to items that do not fill a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// They are left out.
    Drop,
    /// They make a shorter step; where there are fewer of them than ranks, some batches are empty.
    Keep,
    /// The same, and where there are fewer than ranks, another step gives them some of its items.
    EvenSplit,
    /// Some of them are given again until the step is full, marked.
    Duplicate,
}

/// Everything that decides a plan of batches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchConfig {
    /// The length of every sample, in tokens.
    pub lengths: Vec<u32>,
    /// Seed of the order, and of the order of steps.
    pub seed: i64,
    /// Number of the epoch.
    pub epoch: u64,
    /// The order of the epoch.
    pub order: OrderId,
    /// How many data-parallel readers there are.
    pub world: u32,
    /// How items become batches.
    pub strategy: Strategy,
    /// The most items in a batch, or rows with [`Strategy::Pack`]; 0 for no bound where there is a budget.
    pub max_batch_size: u32,
    /// The most tokens of an item.
    pub max_length: u32,
    /// The most a batch may cost, with [`Strategy::Budget`]; with [`Strategy::Bucket`] too, unless 0.
    pub budget: u64,
    /// What is counted.
    pub counting: Counting,
    /// Batches have a multiple of so many items wherever they have at least as many, with [`Counting::Padded`].
    pub multiple: u32,
    /// Tokens of a row, with [`Strategy::Pack`].
    pub capacity: u32,
    /// How hard to look for few packs, with [`Strategy::Pack`] and budgets that count real tokens.
    pub packing: Packing,
    /// Which lengths are a bucket, with [`Strategy::Bucket`]. None is 64 of as many tokens each, and a width of 64 for a
    /// stream, which does not know lengths up front.
    pub buckets: Option<Buckets>,
    /// How many items are looked at together; 0 takes them as they come. None: it follows from the items and the world size.
    pub window: Option<u32>,
    /// What happens to items that are too long.
    pub too_long: TooLong,
    /// What happens to the last ones.
    pub tail: Tail,
    /// What was taken of the epoch before, by one world after the other: what is left is planned.
    pub history: Vec<Segment>,
}

/// Steps that a group of ranks took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// How many ranks there were.
    pub world_size: u32,
    /// How many steps each of them took.
    pub steps: u64,
}

/// How many items are taken at a time where nothing looks at several of them, and the least default window.
const PIECE: u32 = 1 << 13;

/// How many steps a default window has room for. A window of N steps leaves about 1 / N of its items for the next one, and
/// its batches are as even as if all items were sorted and cut into N.
const STEPS_OF_A_WINDOW: u128 = 1 << 6;

/// The width of a stream's buckets by default.
const WIDTH: u32 = 64;

/// The most readers.
pub(super) const MAX_WORLD: u32 = 1 << 20;

/// Failures: `history`.
pub(super) fn check_history(history: &[Segment]) -> Result<(), Failure> {
    if history.len() > MAX_SEGMENTS {
        let value = format!("of {} segments", history.len());
        return Err(Failure::out_of_range("history", value, at_most(MAX_SEGMENTS)));
    }
    let ranks = 1..=MAX_WORLD;
    if let Some(past) = history.iter().find(|past| !ranks.contains(&past.world_size)) {
        let value = format!("world size {}", past.world_size);
        return Err(Failure::out_of_range("history", value, range(1, MAX_WORLD)));
    }
    Ok(())
}

impl BatchConfig {
    /// A configuration with the given strategy; batches of 32, items of any length.
    pub fn new(lengths: Vec<u32>, strategy: Strategy) -> Self {
        Self {
            lengths,
            seed: 0,
            epoch: 0,
            order: OrderId::Feistel,
            world: 1,
            strategy,
            max_batch_size: 32,
            max_length: u32::MAX,
            budget: 0,
            counting: Counting::Padded,
            multiple: 1,
            capacity: 0,
            packing: Packing::Fast,
            buckets: None,
            window: None,
            too_long: TooLong::Error,
            tail: Tail::Keep,
            history: Vec::new(),
        }
    }

    /// Failures: `world-size`, `max-batch-size`, `max-tokens` or `max-cost`, `capacity`, `batch-size-multiple`, `lengths` (too many),
    /// `history`, those of [`Buckets`].
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.world == 0 || self.world > MAX_WORLD {
            return Err(Failure::out_of_range("world-size", self.world, range(1, MAX_WORLD)));
        }
        if self.lengths.len() >= u32::MAX as usize {
            let value = format!("{} of them", self.lengths.len());
            return Err(Failure::out_of_range("lengths", value, at_most(u32::MAX - 1)));
        }
        let has_budget = self.strategy == Strategy::Budget || self.strategy == Strategy::Bucket && self.budget > 0;
        if self.max_batch_size == 0 && !has_budget {
            return Err(Failure::out_of_range("max-batch-size", 0, range(1, u32::MAX)));
        }
        if self.strategy == Strategy::Budget && self.budget == 0 {
            return Err(Failure::out_of_range(self.limit(), 0, range(1, u64::MAX)));
        }
        if self.strategy == Strategy::Pack && self.capacity == 0 {
            return Err(Failure::out_of_range("capacity", 0, range(1, u32::MAX)));
        }
        if self.multiple == 0 {
            return Err(Failure::out_of_range("batch-size-multiple", 0, range(1, u32::MAX)));
        }
        self.buckets.as_ref().map_or(Ok(()), Buckets::check)?;
        check_history(&self.history)
    }

    /// The name of the budget: what it limits.
    pub(super) fn limit(&self) -> &'static str {
        if matches!(self.counting, Counting::Weighted { .. }) { "max-cost" } else { "max-tokens" }
    }

    /// How many items of the epoch's order a window takes, at least.
    pub(super) fn width(&self) -> u32 {
        match (self.strategy, self.window) {
            (Strategy::PadToMax, _) | (_, None | Some(0)) => PIECE,
            (_, Some(window)) => window,
        }
    }

    /// How many items of the epoch's order a window takes that comes after one which left so many. Where these are many, a
    /// window takes several widths: what is left is planned again each time, which would otherwise cost the square of the
    /// number of items.
    pub(super) fn width_after(&self, left: usize) -> u64 {
        let width = u64::from(self.width());
        width * (left as u64).div_ceil(8 * width).max(1)
    }

    /// Whether items are taken as they come.
    pub(super) fn takes_in_order(&self) -> bool {
        self.window == Some(0)
    }

    /// The window where none is given: items for [`STEPS_OF_A_WINDOW`] steps of average batches, and at least 8,192. It
    /// follows from the items and the world alone, so that every world of a history has its own.
    pub(super) fn default_window(&self, items: &Items) -> u32 {
        let most = if self.max_batch_size == 0 { u32::MAX } else { self.max_batch_size };
        // Each sum is below 2^96: fewer than 2^32 items, each at most 2^64.
        let total =
            |cost: &dyn Fn(u32) -> u128| items.lengths().iter().map(|&length| cost(length)).sum::<u128>().max(1);
        let count = u128::from(items.count());
        let each = match self.strategy {
            Strategy::PadToMax => return PIECE,
            Strategy::Pack => count * u128::from(most) * u128::from(self.capacity) / total(&|length| length.into()),
            Strategy::Bucket if self.budget == 0 => most.into(),
            Strategy::Bucket | Strategy::Budget => {
                let budget = u128::from(self.budget);
                (count * budget / total(&|length| self.cost(length).min(budget))).min(most.into())
            }
        };
        let window = STEPS_OF_A_WINDOW * u128::from(self.world) * each.max(1);
        u32::try_from(window).unwrap_or(u32::MAX).max(PIECE)
    }

    /// The same without lists.
    pub(super) fn bare(&self) -> Self {
        Self { lengths: Vec::new(), buckets: None, history: Vec::new(), ..*self }
    }

    fn known_buckets(&self) -> &Buckets {
        self.buckets.as_ref().unwrap_or(&Buckets::Width(WIDTH))
    }

    /// The number of the bucket of a length.
    pub(super) fn bucket(&self, length: u32) -> u32 {
        self.known_buckets().of(length)
    }

    /// The most tokens of an item that a batch has room for.
    pub(super) fn longest(&self) -> u32 {
        match self.strategy {
            Strategy::PadToMax => self.max_length,
            Strategy::Bucket if self.budget == 0 => self.max_length,
            Strategy::Pack => self.max_length.min(self.capacity),
            Strategy::Bucket | Strategy::Budget => self.max_length.min(self.affordable()),
        }
    }

    /// The longest item that the budget has room for.
    fn affordable(&self) -> u32 {
        let (mut low, mut high) = (0_u32, u32::MAX);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.cost(middle) <= self.budget.into() {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }

    /// Whether a batch costs as much as all its items would at the length of the longest.
    pub(super) fn is_padded(&self) -> bool {
        self.counting == Counting::Padded && self.strategy != Strategy::Pack
    }

    /// What an item costs by itself.
    pub(super) fn cost(&self, length: u32) -> u128 {
        let tokens = u128::from(length);
        match self.counting {
            Counting::Padded | Counting::Unpadded => tokens,
            // At most 2^32 * (2^32 + 2^64).
            Counting::Weighted { linear, quadratic } => tokens * (u128::from(linear) + u128::from(quadratic) * tokens),
        }
    }

    /// How many items of at most this length a batch has room for, at least 1.
    pub(super) fn rows(&self, longest: u32) -> u32 {
        let most = if self.max_batch_size == 0 { u32::MAX } else { self.max_batch_size };
        let rows = if self.budget == 0 {
            most
        } else {
            // Dearer than any budget is too dear.
            let each = u64::try_from(self.cost(longest)).unwrap_or(u64::MAX).max(1);
            u32::try_from(self.budget / each).unwrap_or(u32::MAX).clamp(1, most)
        };
        if rows > self.multiple { rows - rows % self.multiple } else { rows }
    }

    /// The greatest length of the bucket that a length is in, but at most that of the longest item.
    pub(super) fn bucket_end(&self, length: u32) -> u32 {
        self.known_buckets().end(length).min(self.longest()).max(length)
    }
}
