use alloc::vec::Vec;

use super::buckets::Buckets;
use super::packing::Packing;
use crate::base::Failure;
use crate::base::failure::range;
use crate::order::OrderId;

/// The default of `latest_epoch`, a member that only tests have.
#[cfg(feature = "grown")]
pub(super) const LATEST_EPOCH: u64 = 99;

/// How items become batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// A batch has `max_batch_size` items, in the order of the epoch.
    PadToMax,
    /// A batch has `max_batch_size` items of one bucket of lengths, or as many as a budget allows. Unless `separate` is
    /// set, the last steps of a window mix buckets.
    Bucket,
    /// A batch has as many items as the budget allows.
    Budget,
    /// A batch has `max_batch_size` rows of `capacity` tokens. Several items can share a row.
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

/// How much of the budget an item costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// The length of the longest item of the batch.
    Padded,
    /// The length of the item.
    Unpadded,
    /// linear * length + quadratic * length^2.
    Weighted {
        /// The factor of the length.
        linear: u32,
        /// The factor of the squared length.
        quadratic: u32,
    },
}

/// The treatment of a sample that is too long: longer than `max_length`, or too long for the budget or the capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooLong {
    /// Planning fails.
    Error,
    /// The sample is cut after the greatest length that has room.
    Truncate,
    /// The sample is left out.
    Drop,
    /// The sample becomes several items.
    Split,
    /// The sample is a batch by itself, even if it costs more than the budget.
    Single,
}

/// The treatment of the items of a window that do not fill a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// The items are left out.
    Drop,
    /// The items make a shorter step. If there are fewer items than ranks, some batches are empty.
    Keep,
    /// The items make a smaller step. If there are fewer items than ranks, another step gives up some of its items.
    EvenSplit,
    /// Items are repeated until all ranks have equally many rows; with a budget that does not count padding, whole
    /// batches are repeated. Repetitions are marked.
    Duplicate,
}

/// Everything that decides a plan of batches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchConfig {
    /// The length of every sample, in tokens.
    pub lengths: Vec<u32>,
    /// Seed of the order, and of the shuffle of steps.
    pub seed: i64,
    /// Number of the epoch.
    pub epoch: u64,
    /// The order of the epoch.
    pub order: OrderId,
    /// The world size: the number of data-parallel ranks.
    pub world_size: u32,
    /// How items become batches.
    pub strategy: Strategy,
    /// The most items of a batch, 1 or more; with [`Strategy::Pack`], the most rows. No batch has [`NO_LIMIT`] of them.
    pub max_batch_size: u32,
    /// The most tokens of an item.
    pub max_length: u32,
    /// The greatest cost of a batch, with [`Strategy::Budget`] or [`Strategy::Bucket`]. With [`Strategy::Bucket`], 0
    /// means no budget.
    pub budget: u64,
    /// How much of the budget an item uses.
    pub counting: Counting,
    /// The number of items of a batch is rounded down to a multiple of this number; a batch with fewer items than this
    /// number keeps them all. [`Strategy::Bucket`] uses it, and [`Strategy::Budget`] if padding counts.
    pub multiple: u32,
    /// Tokens of a row, with [`Strategy::Pack`].
    pub capacity: u32,
    /// The method that looks for few packs, with [`Strategy::Pack`], or for few batches, with budgets without padding.
    pub packing: Packing,
    /// The division of lengths into buckets, with [`Strategy::Bucket`]. None: 64 buckets with equal sums of tokens; in
    /// a stream, where lengths are not known before, buckets that are 64 tokens wide.
    pub buckets: Option<Buckets>,
    /// Whether every step has items of one bucket only.
    pub separate: bool,
    /// Whether rows are padded to the greatest length of the bucket.
    pub pad_to_bucket: bool,
    /// The window width: how many samples are planned together. None: a default, which follows from the lengths and the
    /// world size.
    pub window: Option<u32>,
    /// Whether the steps of a window are not shuffled, and with [`Strategy::Budget`], items are taken in the order of the
    /// epoch.
    pub keep_order: bool,
    /// The tokens of an average sample, from which the default window follows. 0: it follows from a sample of all
    /// lengths.
    pub mean_length: u32,
    /// The treatment of items that are too long.
    pub too_long: TooLong,
    /// The treatment of the items of a window that do not fill a step.
    pub tail: Tail,
    /// A member that stands for one that a later release may add. Only the feature `grown` has it, for tests of how older
    /// hosts treat such a member.
    #[cfg(feature = "grown")]
    pub latest_epoch: u64,
}

/// `max_batch_size` of a batch that only a budget limits: more rows than any batch has.
pub const NO_LIMIT: u32 = u32::MAX;

/// The least default window, in samples.
const LEAST_WINDOW: u64 = 1 << 13;

/// How many full steps a default window has room for. A window also ends with a step that is not full, which costs
/// about half a step; in a wide window, this is a small share.
const DEFAULT_STEPS: u128 = 1 << 7;

/// The greatest default window, in samples, which limits the time and the memory of a plan. A default window is greater
/// only if this number of samples is less than [`FEW_STEPS`] steps (with [`Strategy::PadToMax`], less than one step).
const MOST_WINDOW: u128 = 1 << 22;
const FEW_STEPS: u128 = 1 << 3;

/// The default window of a stream without `mean_length`, in samples for each rank.
const STREAM_WINDOW_PER_RANK: u64 = 1 << 11;

/// The default width of the buckets of a stream, in tokens.
const STREAM_BUCKET_WIDTH: u32 = 64;

/// The greatest world size.
pub(super) const MAX_WORLD: u32 = 1 << 20;

impl BatchConfig {
    /// A configuration with the given strategy, at most 32 rows in a batch, and items of any length.
    pub fn new(lengths: Vec<u32>, strategy: Strategy) -> Self {
        Self {
            lengths,
            seed: 0,
            epoch: 0,
            order: OrderId::Feistel,
            world_size: 1,
            strategy,
            max_batch_size: 32,
            max_length: u32::MAX,
            budget: 0,
            counting: Counting::Padded,
            multiple: 1,
            capacity: 0,
            packing: Packing::Fast,
            buckets: None,
            separate: false,
            pad_to_bucket: false,
            window: None,
            keep_order: false,
            mean_length: 0,
            too_long: TooLong::Error,
            tail: Tail::Keep,
            #[cfg(feature = "grown")]
            latest_epoch: LATEST_EPOCH,
        }
    }

    /// Checks the ranges of the members. Failures: `world_size`, `max_batch_size`, `max_tokens` or `max_cost`,
    /// `capacity`, `batch_size_multiple`, `batch_window`, those of [`Buckets`].
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.world_size == 0 || self.world_size > MAX_WORLD {
            return Err(Failure::out_of_range("world_size", self.world_size, range(1, MAX_WORLD)));
        }
        if self.max_batch_size == 0 {
            return Err(Failure::out_of_range("max_batch_size", 0, range(1, u32::MAX)));
        }
        if self.strategy == Strategy::Budget && self.budget == 0 {
            return Err(Failure::out_of_range(self.budget_name(), 0, range(1, u64::MAX)));
        }
        if self.strategy == Strategy::Pack && self.capacity == 0 {
            return Err(Failure::out_of_range("capacity", 0, range(1, u32::MAX)));
        }
        if self.multiple == 0 {
            return Err(Failure::out_of_range("batch_size_multiple", 0, range(1, u32::MAX)));
        }
        if self.window == Some(0) {
            return Err(Failure::out_of_range("batch_window", 0, range(1, u32::MAX)));
        }
        self.buckets.as_ref().map_or(Ok(()), Buckets::check)
    }

    /// The name of the member that has the budget.
    pub(super) fn budget_name(&self) -> &'static str {
        if matches!(self.counting, Counting::Weighted { .. }) { "max_cost" } else { "max_tokens" }
    }

    /// Whether the steps of a window are not shuffled.
    pub(super) fn keeps_order(&self) -> bool {
        self.strategy == Strategy::PadToMax || self.keep_order
    }

    /// The width of a window, in samples: the option, or a default that has room for [`DEFAULT_STEPS`] steps of average
    /// batches of samples with these lengths. With separate buckets, the default has room for 32 steps of each bucket,
    /// if these are more.
    pub(super) fn width(&self, lengths: &[u32]) -> u64 {
        let world_size = u128::from(self.world_size);
        let step = match (self.strategy, self.window) {
            (Strategy::PadToMax, _) => {
                let step = world_size * u128::from(self.max_batch_size);
                return (step
                    * u128::from(LEAST_WINDOW).div_ceil(step).max(DEFAULT_STEPS).min(MOST_WINDOW / step).max(1))
                    as u64;
            }
            (_, Some(window)) => return window.into(),
            _ => world_size * self.average(lengths).max(1),
        };
        let mut steps = DEFAULT_STEPS;
        if self.separate {
            let mut buckets = lengths.iter().map(|&length| self.bucket(length.min(self.longest()))).collect::<Vec<_>>();
            buckets.sort_unstable();
            buckets.dedup();
            steps = steps.max(buckets.len() as u128 * 32);
        }
        let window = (step * steps).min(MOST_WINDOW.max(step * FEW_STEPS));
        u64::try_from(window).unwrap_or(u64::MAX).max(LEAST_WINDOW)
    }

    /// The width of a window of a stream, whose lengths are not known before.
    pub(super) fn width_of_a_stream(&self) -> u64 {
        match (self.strategy, self.window) {
            (Strategy::PadToMax, _) | (_, Some(_)) => self.width(&[]),
            _ if self.mean_length > 0 => self.width(&[]),
            _ => (STREAM_WINDOW_PER_RANK * u64::from(self.world_size)).clamp(LEAST_WINDOW, MOST_WINDOW as u64),
        }
    }

    /// How many samples a batch has room for, on average over these lengths, or if all have the length `mean_length`.
    fn average(&self, lengths: &[u32]) -> u128 {
        let one = [self.mean_length];
        let lengths = if self.mean_length == 0 { lengths } else { &one };
        let most = u128::from(self.max_batch_size);
        let (longest, budget) = (self.longest(), u128::from(self.budget));
        // A sample that is too long counts with the cost of the items that it becomes. The sum of all costs is below
        // 2^110.
        let total = |cost: &dyn Fn(u32) -> u128| {
            let of = |&length: &u32| match self.too_long {
                _ if length <= longest => cost(length),
                TooLong::Split if longest > 0 => u128::from(length / longest) * cost(longest) + cost(length % longest),
                TooLong::Drop => 0,
                _ => cost(longest),
            };
            lengths.iter().map(of).sum::<u128>().max(1)
        };
        let count = lengths.len() as u128;
        match self.strategy {
            Strategy::PadToMax => most,
            Strategy::Pack => count * most * u128::from(self.capacity) / total(&|length| length.into()),
            Strategy::Bucket if self.budget == 0 => most,
            Strategy::Bucket | Strategy::Budget => (count * budget / total(&|length| self.cost(length))).min(most),
        }
    }

    /// A copy for another world size, without the lengths: it is used to plan windows of given items.
    pub(super) fn for_world_size(&self, world_size: u32) -> Self {
        Self { lengths: Vec::new(), buckets: self.buckets.clone(), world_size, ..*self }
    }

    fn known_buckets(&self) -> &Buckets {
        self.buckets.as_ref().unwrap_or(&Buckets::Width(STREAM_BUCKET_WIDTH))
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

    /// Whether padding counts: each item costs as much as the longest item of its batch.
    pub(super) fn is_padded(&self) -> bool {
        self.counting == Counting::Padded && self.strategy != Strategy::Pack
    }

    /// The cost of an item by itself.
    pub(super) fn cost(&self, length: u32) -> u128 {
        let tokens = u128::from(length);
        match self.counting {
            Counting::Padded | Counting::Unpadded => tokens,
            // The cost fits: it is at most 2^32 * (2^32 + 2^64).
            Counting::Weighted { linear, quadratic } => tokens * (u128::from(linear) + u128::from(quadratic) * tokens),
        }
    }

    /// How many items of at most this length a batch has room for, at least 1.
    pub(super) fn rows(&self, longest: u32) -> u32 {
        let most = self.max_batch_size;
        let rows = if self.budget == 0 {
            most
        } else {
            // A cost above `u64::MAX` does not fit into any budget, so it is capped there.
            let each = u64::try_from(self.cost(longest)).unwrap_or(u64::MAX).max(1);
            u32::try_from(self.budget / each).unwrap_or(u32::MAX).clamp(1, most)
        };
        if rows > self.multiple { rows - rows % self.multiple } else { rows }
    }

    /// The greatest length of the bucket that `length` is in, but at most [`Self::longest`] and at least `length`. If
    /// the bucket has no greatest length, `length`.
    pub(super) fn known_end(&self, length: u32) -> u32 {
        match self.known_buckets().end(length) {
            u32::MAX => length,
            end => end.min(self.longest()).max(length),
        }
    }

    /// How many rows a full batch has if its rows have `width` tokens.
    pub(super) fn full_rows(&self, width: u32) -> u32 {
        match self.strategy {
            Strategy::PadToMax | Strategy::Pack => self.max_batch_size,
            Strategy::Bucket => self.rows(self.bucket_end(width)),
            Strategy::Budget => self.rows(width),
        }
    }

    /// The greatest length of the bucket that `length` is in, but at most [`Self::longest`] and at least `length`.
    pub(super) fn bucket_end(&self, length: u32) -> u32 {
        self.known_buckets().end(length).min(self.longest()).max(length)
    }
}
