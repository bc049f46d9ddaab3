use std::fmt;
use std::marker::PhantomData;

use super::{BatchConfig, BatchStream, Batcher, Buckets, Counting, Packing, Strategy, Stretch, Tail, TooLong};
use crate::engine::MOST_MEMORY;
use crate::{Error, Failure};

/// What a new [`Batcher`] or [`BatchStream`] is to be; see [`Batcher::builder`] and [`BatchStream::builder`].
/// `BatchBuilder::from` begins with a whole [`BatchConfig`], such as that of another one.
#[must_use = "a builder does nothing until `build`"]
pub struct BatchBuilder<T> {
    choice: Choice,
    made: PhantomData<fn() -> T>,
}

/// What was chosen. What is none depends on the strategy.
#[derive(Clone, Debug)]
struct Choice {
    config: BatchConfig,
    max_batch_size: Option<u32>,
    max_length: Option<u32>,
    budget: Option<u64>,
    capacity: Option<u32>,
    rank: u32,
    memory_limit: usize,
    /// Whether it began with a whole configuration, which has a value for options that have no effect, too.
    whole: bool,
}

/// For batchers and streams.
impl<T> BatchBuilder<T> {
    pub(super) fn new(lengths: Vec<u32>, order: &str) -> Self {
        let choice = Choice {
            config: BatchConfig::new(lengths, order),
            max_batch_size: None,
            max_length: None,
            budget: None,
            capacity: None,
            rank: 0,
            memory_limit: MOST_MEMORY,
            whole: false,
        };
        Self { choice, made: PhantomData }
    }

    /// The seed of the order, and of the order of steps; 0 unless set. Range: any; with the order `dotnet`, -2^31 to
    /// 2^31 - 1.
    pub fn seed(mut self, seed: i64) -> Self {
        self.choice.config.seed = seed;
        self
    }

    /// The number of the epoch; 0 unless set.
    pub fn epoch(mut self, epoch: u64) -> Self {
        self.choice.config.epoch = epoch;
        self
    }

    /// Which rank it answers for; 0 unless set. Range: 0 to `world` - 1.
    pub fn rank(mut self, rank: u32) -> Self {
        self.choice.rank = rank;
        self
    }

    /// How many data-parallel ranks there are; 1 unless set. Range: 1 to 2^20.
    pub fn world(mut self, world: u32) -> Self {
        self.choice.config.world = world;
        self
    }

    /// How samples become batches; [`Strategy::Budget`] unless set.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.choice.config.strategy = strategy;
        self
    }

    /// The most rows of a batch; 32 unless set, 1 with [`Strategy::Pack`], 0 for no bound where there is a budget.
    pub fn max_batch_size(mut self, rows: u32) -> Self {
        self.choice.max_batch_size = Some(rows);
        self
    }

    /// The most tokens of a sample; 2^32 - 1 unless set.
    pub fn max_length(mut self, tokens: u32) -> Self {
        self.choice.max_length = Some(tokens);
        self
    }

    /// What a batch may cost. Unless set, `max_batch_size` * `max_length` with [`Strategy::Budget`], where both are set; no
    /// bound with [`Strategy::Bucket`]. Range: from 1; 0 for no bound.
    pub fn budget(mut self, budget: u64) -> Self {
        self.choice.budget = Some(budget);
        self
    }

    /// What a sample costs of the budget; [`Counting::Padded`] unless set.
    pub fn counting(mut self, counting: Counting) -> Self {
        self.choice.config.counting = counting;
        self
    }

    /// What a token costs, with [`Counting::Weighted`]; 1 unless set.
    pub fn linear(mut self, cost: u32) -> Self {
        self.choice.config.linear = cost;
        self
    }

    /// What a pair of tokens costs, with [`Counting::Weighted`]; 0 unless set.
    pub fn quadratic(mut self, cost: u32) -> Self {
        self.choice.config.quadratic = cost;
        self
    }

    /// Batches have a multiple of so many samples where they have more than that, with [`Strategy::Bucket`], and with a budget that
    /// counts padding; not at the end of the epoch; 1 unless set.
    /// Range: from 1.
    pub fn multiple(mut self, samples: u32) -> Self {
        self.choice.config.multiple = samples;
        self
    }

    /// Tokens of a row, with [`Strategy::Pack`]; `max_length` unless set. Range: from 1.
    pub fn capacity(mut self, tokens: u32) -> Self {
        self.choice.capacity = Some(tokens);
        self
    }

    /// How hard to look for few packs, with [`Strategy::Pack`], and with budgets that do not count padding;
    /// [`Packing::Fast`] unless set.
    pub fn packing(mut self, packing: Packing) -> Self {
        self.choice.config.packing = packing;
        self
    }

    /// Which lengths are a bucket, with [`Strategy::Bucket`]; 64 of as many tokens each unless set; for a
    /// stream, those of 64 lengths each.
    pub fn buckets(mut self, buckets: Buckets) -> Self {
        self.choice.config.buckets = Some(buckets);
        self
    }

    /// How many samples are looked at together: more of them make batches fuller, fewer leave more of the order. Unless set, as
    /// many as 64 steps of average batches take, and at least 8,192: it follows the world, and after a resume on another
    /// world each of the worlds has its own; 8,192 for a stream. 0 takes them as they come. Range: any; up to 2^24 of a
    /// stream.
    pub fn window(mut self, samples: u32) -> Self {
        self.choice.config.window = Some(samples);
        self
    }

    /// What happens to samples that are longer than `max_length`, or than a budget or a capacity alone allows;
    /// [`TooLong::Error`] unless set.
    pub fn too_long(mut self, too_long: TooLong) -> Self {
        self.choice.config.too_long = too_long;
        self
    }

    /// What happens at the end of the epoch to samples that do not fill a step; [`Tail::EvenSplit`] unless set.
    pub fn tail(mut self, tail: Tail) -> Self {
        self.choice.config.tail = tail;
        self
    }

    /// The most memory, in bytes, that it may take; 2 GiB unless set, which is also the most that the component can use.
    /// Range: from 32 MiB.
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.choice.memory_limit = bytes;
        self
    }
}

/// For a batcher.
impl BatchBuilder<Batcher> {
    /// The name of the order of the epoch, one of [`orders`](crate::orders); `feistel` unless set.
    pub fn order(mut self, order: impl Into<String>) -> Self {
        self.choice.config.order = order.into();
        self
    }

    /// What was taken of this epoch before, by one world after the other: what it leaves is planned; nothing unless set. Up to
    /// 64 of them. [`Batcher::resume`] takes it from a state.
    pub fn history(mut self, history: impl Into<Vec<Stretch>>) -> Self {
        self.choice.config.history = history.into();
        self
    }

    /// Plans the epoch: a million samples take less than a second, and the first plan in a process compiles the component in
    /// about a tenth of a second. Errors: [`OutOfRange`](crate::FailureKind::OutOfRange) (any number; `lengths` where a sample
    /// is too long), [`Missing`](crate::FailureKind::Missing) (`budget` or `capacity`, where the strategy needs it),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`boundaries` that do not ascend),
    /// [`UnknownName`](crate::FailureKind::UnknownName) (`order`), [`OutOfMemory`](crate::FailureKind::OutOfMemory).
    pub fn build(self) -> Result<Batcher, Error> {
        let (rank, memory_limit) = (self.choice.rank, self.choice.memory_limit);
        Batcher::build(self.choice.settled()?, rank, memory_limit)
    }
}

/// For a stream.
impl BatchBuilder<BatchStream> {
    /// Checks the configuration. Errors: [`OutOfRange`](crate::FailureKind::OutOfRange) (any number),
    /// [`Missing`](crate::FailureKind::Missing) (`budget` or `capacity`, where the strategy needs it),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`boundaries` that do not ascend, `quantiles`),
    /// [`OutOfMemory`](crate::FailureKind::OutOfMemory).
    pub fn build(self) -> Result<BatchStream, Error> {
        let (rank, memory_limit) = (self.choice.rank, self.choice.memory_limit);
        BatchStream::build(self.choice.settled()?, rank, memory_limit)
    }
}

impl Choice {
    /// The configuration, with what the strategy takes where nothing was chosen.
    fn settled(self) -> Result<BatchConfig, Failure> {
        self.refuse_unused()?;
        let Self { config, max_batch_size, max_length, budget, capacity, .. } = self;
        let budget = match (config.strategy, budget, max_batch_size, max_length) {
            (Strategy::Budget, None, Some(rows), Some(tokens)) => u64::from(rows) * u64::from(tokens),
            (Strategy::Budget, None, ..) => {
                return Err(Failure::missing("budget", "what a batch may cost, or max_batch_size and max_length"));
            }
            (_, budget, ..) => budget.unwrap_or(0),
        };
        let capacity = match (config.strategy, capacity) {
            (Strategy::Pack, None) => {
                max_length.ok_or_else(|| Failure::missing("capacity", "the tokens of a row, or max_length"))?
            }
            (_, capacity) => capacity.unwrap_or(0),
        };
        let rows = match config.strategy {
            Strategy::Bucket if budget > 0 => 0,
            Strategy::PadToMax | Strategy::Bucket => 32,
            Strategy::Budget => 0,
            Strategy::Pack => 1,
        };
        Ok(BatchConfig {
            max_batch_size: max_batch_size.unwrap_or(rows),
            max_length: max_length.unwrap_or(config.max_length),
            budget,
            capacity,
            ..config
        })
    }
}

impl Choice {
    /// Fails where an option has no effect that is not what stands without it.
    fn refuse_unused(&self) -> Result<(), Failure> {
        if self.whole {
            return Ok(());
        }
        let config = &self.config;
        let bucket = config.buckets.as_ref().map(|buckets| match buckets {
            Buckets::Width(width) => ("bucket-width", width.to_string()),
            Buckets::Boundaries(ends) => ("boundaries", format!("{} of them", ends.len())),
            Buckets::Quantiles(count) => ("quantiles", count.to_string()),
        });
        let unless = |value: u32, usual: u32| (value != usual).then(|| value.to_string());
        let packing = (config.packing != Packing::default()).then(|| config.packing.to_string());
        let chosen = [
            ("linear", unless(config.linear, 1)),
            ("quadratic", unless(config.quadratic, 0)),
            ("multiple", unless(config.multiple, 1)),
            ("capacity", self.capacity.map(|tokens| tokens.to_string())),
            ("packing", packing),
        ];
        let chosen = chosen.into_iter().filter_map(|(option, value)| Some((option, value?)));
        for (option, value) in bucket.into_iter().chain(chosen) {
            let uses = uses(option);
            let is_used = |&(strategy, counting): &Use| {
                strategy.is_none_or(|it| it == config.strategy) && counting.is_none_or(|it| it == config.counting)
            };
            if !uses.iter().any(is_used) {
                let here = named((Some(config.strategy), Some(config.counting)));
                let there = uses.iter().map(|&it| named(it)).collect::<Vec<_>>().join(" or ");
                return Err(Failure::contradiction(option, value, format!("none with {here}; it is for {there}")));
            }
        }
        Ok(())
    }
}

/// A strategy and a counting that look at an option; none is any.
type Use = (Option<Strategy>, Option<Counting>);

/// Which strategies and countings look at an option.
fn uses(option: &str) -> &'static [Use] {
    const PACK: Use = (Some(Strategy::Pack), None);
    const BUCKET: Use = (Some(Strategy::Bucket), None);
    match option {
        "bucket-width" | "boundaries" | "quantiles" => &[BUCKET],
        "linear" | "quadratic" => &[(None, Some(Counting::Weighted))],
        "multiple" => &[BUCKET, (Some(Strategy::Budget), Some(Counting::Padded))],
        "capacity" => &[PACK],
        _ => &[
            PACK,
            (Some(Strategy::Budget), Some(Counting::Unpadded)),
            (Some(Strategy::Budget), Some(Counting::Weighted)),
        ],
    }
}

fn named((strategy, counting): Use) -> String {
    let strategy = strategy.map(|strategy| format!("strategy {strategy}"));
    let counting = counting.map(|counting| format!("counting {counting}"));
    strategy.into_iter().chain(counting).collect::<Vec<_>>().join(" with ")
}

/// The batches of a configuration. Rank and memory limit are no part of it: 0 and 2 GiB unless set.
impl<T> From<BatchConfig> for BatchBuilder<T> {
    fn from(config: BatchConfig) -> Self {
        let choice = Choice {
            max_batch_size: Some(config.max_batch_size),
            max_length: Some(config.max_length),
            budget: Some(config.budget),
            capacity: Some(config.capacity),
            config,
            rank: 0,
            memory_limit: MOST_MEMORY,
            whole: true,
        };
        Self { choice, made: PhantomData }
    }
}

// Derived, these would ask the same of what is made.
impl<T> Clone for BatchBuilder<T> {
    fn clone(&self) -> Self {
        Self { choice: self.choice.clone(), made: PhantomData }
    }
}

impl<T> fmt::Debug for BatchBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BatchBuilder").field(&self.choice).finish()
    }
}
