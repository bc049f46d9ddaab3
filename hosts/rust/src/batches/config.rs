use crate::Failure;
use crate::engine::{batches, check_room, cut};
use crate::named::named;

/// How samples become batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// `max_batch_size` of them in the order of the epoch.
    PadToMax,
    /// `max_batch_size` of one bucket of lengths ([`Buckets`]), or fewer where `budget` says so. The last steps of the epoch
    /// join what is left of several buckets.
    Bucket,
    /// As many of similar length as `budget` allows. The default.
    #[default]
    Budget,
    /// `max_batch_size` rows of `capacity` tokens, which samples share.
    Pack,
}
named!(Strategy in batches, "strategy", {
    PadToMax = "pad-to-max", Bucket = "bucket", Budget = "budget", Pack = "pack"
});

/// What a sample costs of the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Counting {
    /// The length of the longest sample of its batch. The default.
    #[default]
    Padded,
    /// Its own length.
    Unpadded,
    /// `linear` * length + `quadratic` * length^2.
    Weighted,
}
named!(Counting in batches, "counting", { Padded = "padded", Unpadded = "unpadded", Weighted = "weighted" });

/// What happens to samples that are longer than `max_length`, or than a budget or a capacity alone allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TooLong {
    /// There is no plan. The default.
    #[default]
    Error,
    /// Their beginning is kept.
    Truncate,
    /// They are left out.
    Drop,
    /// They become several items.
    Split,
    /// Each is a batch by itself, whatever it costs.
    Single,
}
named!(TooLong in batches, "too-long", {
    Error = "error", Truncate = "truncate", Drop = "drop", Split = "split", Single = "single"
});

/// What happens at the end of the epoch to samples that do not fill a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tail {
    /// They are left out.
    Drop,
    /// They make a smaller step; where there are fewer than ranks, some batches are empty.
    Keep,
    /// The same, but where there are fewer than ranks, another step gives some of its own, or packs are split: no batch is
    /// empty where there are as many samples as ranks. The default.
    #[default]
    EvenSplit,
    /// Some are given again, until every rank has as many rows.
    Duplicate,
}
named!(Tail in batches, "tail", {
    Drop = "drop", Keep = "keep", EvenSplit = "even-split", Duplicate = "duplicate"
});

/// How hard to look for few packs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Packing {
    /// About as fast as sorting. The default.
    #[default]
    Fast,
    /// The best of several ways, with a bound that no other can be better than
    /// ([`Metrics::packs_bound`](crate::Metrics::packs_bound)).
    Optimal,
}
named!(Packing in batches, "packing", { Fast = "fast", Optimal = "optimal" });

/// Which lengths are a bucket.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Buckets {
    /// As many lengths each: 0 to so many tokens, the next ones up to twice as many, and so on. Range: from 1.
    Width(u32),
    /// Those up to each of these, ascending, and above the one before it; what is longer is in one more.
    Boundaries(Vec<u32>),
    /// So many of as many samples each, as far as equal lengths allow. Range: 1 to 2^20. A stream has none.
    Quantiles(u32),
}

/// Everything that decides batches. [`Batcher::config`](crate::Batcher::config) says it, with what a strategy takes where
/// nothing is set; [`BatchBuilder::from`](crate::BatchBuilder) makes a batcher of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BatchConfig {
    /// The length of every sample, in tokens: up to 2^32 - 2 samples. A stream does not look at them.
    pub lengths: Vec<u32>,
    /// Seed of the order, and of the order of steps. Range: any; with the order `dotnet`, -2^31 to 2^31 - 1.
    pub seed: i64,
    /// Number of the epoch. Range: any.
    pub epoch: u64,
    /// Name of the order, one of [`orders`](crate::orders).
    pub order: String,
    /// How many data-parallel ranks there are. Range: 1 to 2^20.
    pub world: u32,
    /// How samples become batches.
    pub strategy: Strategy,
    /// The most rows of a batch. Range: from 1; 0 for no bound with [`Strategy::Budget`].
    pub max_batch_size: u32,
    /// The most tokens of a sample, or of a part of one.
    pub max_length: u32,
    /// What a batch may cost: 1 or more with [`Strategy::Budget`]; with [`Strategy::Bucket`], 0 for no bound.
    pub budget: u64,
    /// What is counted.
    pub counting: Counting,
    /// What a token costs, with [`Counting::Weighted`].
    pub linear: u32,
    /// What a pair of tokens costs, with [`Counting::Weighted`].
    pub quadratic: u32,
    /// Batches have a multiple of so many samples where they have more than that, with [`Strategy::Bucket`], and with a budget
    /// that counts padding; not at the end of the epoch. Range: from 1.
    pub multiple: u32,
    /// Tokens of a row, with [`Strategy::Pack`]. Range: from 1.
    pub capacity: u32,
    /// How hard to look for few packs, with [`Strategy::Pack`], and with budgets that do not count padding.
    pub packing: Packing,
    /// Which lengths are a bucket, with [`Strategy::Bucket`]. None is 64 of as many tokens each, and a width
    /// of 64 for a stream.
    pub buckets: Option<Buckets>,
    /// How many samples are looked at together. 0 takes them as they come. None follows the world: as many as 64 steps of
    /// average batches take, and at least 8,192; 8,192 for a stream.
    pub window: Option<u32>,
    /// What happens to samples that are too long.
    pub too_long: TooLong,
    /// What happens to the last ones.
    pub tail: Tail,
    /// What was taken of the epoch before, by one world after the other: what it leaves is planned. Up to 64 of them; a
    /// stream has none.
    pub history: Vec<Stretch>,
}

/// Steps that a world took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stretch {
    /// How many ranks there were. Range: 1 to 2^20.
    pub world: u32,
    /// How many steps each of them took of its plan.
    pub steps: u64,
}

impl BatchConfig {
    /// What is set where nothing else is, and does not depend on the strategy.
    pub(super) fn new(lengths: Vec<u32>, order: &str) -> Self {
        Self {
            lengths,
            seed: 0,
            epoch: 0,
            order: order.to_owned(),
            world: 1,
            strategy: Strategy::default(),
            max_batch_size: 0,
            max_length: u32::MAX,
            budget: 0,
            counting: Counting::default(),
            linear: 1,
            quadratic: 0,
            multiple: 1,
            capacity: 0,
            packing: Packing::default(),
            buckets: None,
            window: None,
            too_long: TooLong::default(),
            tail: Tail::default(),
            history: Vec::new(),
        }
    }

    /// As it crosses, if its lists fit into a fresh instance.
    pub(super) fn crossing(mut self, memory_limit: usize) -> Result<batches::BatchConfig, Failure> {
        self.order = cut(self.order);
        let boundaries = if let Some(Buckets::Boundaries(ends)) = &self.buckets { ends.len() } else { 0 };
        let numbers = self.lengths.len().saturating_add(boundaries).saturating_add(4 * self.history.len());
        let bytes = numbers.saturating_mul(size_of::<u32>());
        check_room(memory_limit, "lengths", self.lengths.len(), bytes)?;
        Ok(self.into())
    }
}

/// As it crosses, and back: nothing is copied.
macro_rules! crossing {
    ($from:ty => $to:ty) => {
        impl From<$from> for $to {
            fn from(config: $from) -> Self {
                Self {
                    lengths: config.lengths,
                    seed: config.seed,
                    epoch: config.epoch,
                    order: config.order,
                    world: config.world,
                    strategy: config.strategy.into(),
                    max_batch_size: config.max_batch_size,
                    max_length: config.max_length,
                    budget: config.budget,
                    counting: config.counting.into(),
                    linear: config.linear,
                    quadratic: config.quadratic,
                    multiple: config.multiple,
                    capacity: config.capacity,
                    packing: config.packing.into(),
                    buckets: config.buckets.map(Into::into),
                    window: config.window,
                    too_long: config.too_long.into(),
                    tail: config.tail.into(),
                    history: config.history.into_iter().map(Into::into).collect(),
                }
            }
        }
    };
}
crossing!(BatchConfig => batches::BatchConfig);
crossing!(batches::BatchConfig => BatchConfig);

impl From<Stretch> for batches::Stretch {
    fn from(Stretch { world, steps }: Stretch) -> Self {
        Self { world, steps }
    }
}

impl From<batches::Stretch> for Stretch {
    fn from(batches::Stretch { world, steps }: batches::Stretch) -> Self {
        Self { world, steps }
    }
}

impl From<Buckets> for batches::Buckets {
    fn from(buckets: Buckets) -> Self {
        match buckets {
            Buckets::Width(width) => Self::BucketWidth(width),
            Buckets::Boundaries(ends) => Self::Boundaries(ends),
            Buckets::Quantiles(count) => Self::Quantiles(count),
        }
    }
}

impl From<batches::Buckets> for Buckets {
    fn from(buckets: batches::Buckets) -> Self {
        match buckets {
            batches::Buckets::BucketWidth(width) => Self::Width(width),
            batches::Buckets::Boundaries(ends) => Self::Boundaries(ends),
            batches::Buckets::Quantiles(count) => Self::Quantiles(count),
        }
    }
}
