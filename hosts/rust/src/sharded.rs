use std::sync::Arc;

use crate::engine::sampling;
use crate::{Builder, Config, Error, Sampler};

/// A dataset that is stored in shards, for the order `sharded`; see [`Sampler::sharded`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sharding {
    /// Number of samples in each shard. Their sum is `samples` of the configuration. Sample index 0 is the first sample
    /// of the first shard; indices go on through the shards in this order. Shards may be empty.
    pub sizes: Arc<[u64]>,
    /// Number of lanes, which are parallel streams that the dataset is cut into. Range: 1 to 4,096. Choose a multiple
    /// of every number of readers that may read the dataset.
    pub lanes: u32,
    /// How many neighbouring samples of a lane are shuffled together. Range: 1 to 2^20.
    pub window: u32,
}

impl From<&Sharding> for sampling::Sharding {
    fn from(Sharding { sizes, lanes, window }: &Sharding) -> Self {
        Self { sizes: sizes.to_vec(), lanes: *lanes, window: *window }
    }
}

/// The rows that a rank reads for a run of its samples; see [`Sampler::round`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Round {
    /// Number of the first of these samples, among the rank's ([`Sampler::indices`]).
    pub start: u64,
    /// Number of these samples; 0 if the rank has no position in this round.
    pub count: u64,
    /// The rows that hold them: whole windows, lane by lane, in the order in which they are stored. A lane continues in
    /// the next round where it ends in this one. When it enters a shard, it never returns to the one before. If the
    /// world size divides the lanes, every sample of the spans is one of these samples, or is dropped. Padding comes
    /// last, sample by sample.
    pub spans: Vec<Span>,
}

/// Neighbouring samples of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Span {
    /// Number of the lane.
    pub lane: u32,
    /// Number of the shard.
    pub shard: u32,
    /// The first sample, counted within the shard.
    pub first: u64,
    /// How many samples, at least 1.
    pub count: u64,
}

/// The place where a sample is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ShardPlace {
    /// Number of the shard.
    pub shard: u32,
    /// Number of the sample within the shard.
    pub offset: u64,
}

/// With the order `sharded`.
impl Sampler {
    /// A sampler with the order `sharded`, for a dataset in shards of `sizes` samples. The shards are shuffled, laid
    /// end to end, and cut into `lanes` of equal length (1 to 4,096). Within a lane, windows of `window` neighbouring
    /// samples (1 to 2^20) are shuffled. Successive positions come from successive lanes. The order does not depend on
    /// the number of ranks. If that number divides the lanes, each rank reads its own lanes, holds one window of each
    /// in memory, and ends on the same step.
    ///
    /// ```
    /// let sampler = samedeal::Sampler::sharded([300, 0, 500, 200], 4, 16).seed(42).rank(1).world(2).build()?;
    /// assert_eq!((sampler.num_samples(), sampler.num_rounds()?), (500, 16));
    /// // Rank 1 of 2 reads the lanes 1 and 3: what to open for its samples 32 to 63, and what they are.
    /// let round = sampler.round(1)?;
    /// assert_eq!((round.start, round.count), (32, 32));
    /// assert!(round.spans.iter().all(|span| span.lane == 1 || span.lane == 3));
    /// for sample in sampler.indices(32..64)? {
    ///     let place = sampler.shard_of(sample)?;
    ///     let mut of_shard = round.spans.iter().filter(|span| span.shard == place.shard);
    ///     assert!(of_shard.any(|span| (span.first..span.first + span.count).contains(&place.offset)));
    /// }
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    pub fn sharded(sizes: impl Into<Vec<u64>>, lanes: u32, window: u32) -> Builder {
        let sizes: Arc<[u64]> = sizes.into().into();
        // A sum beyond all numbers is as much beyond what is allowed as the largest one, and refused as that.
        let samples = sizes.iter().fold(0, |sum: u64, &size| sum.saturating_add(size));
        let sharding = Some(Sharding { sizes, lanes, window });
        Config { order: "sharded".to_owned(), sharding, ..Config::new(samples) }.into()
    }

    /// Samples in each shard; `None` with another order.
    pub fn sizes(&self) -> Option<&[u64]> {
        self.config().sharding.as_ref().map(|sharding| &*sharding.sizes)
    }

    /// Number of lanes; `None` with another order.
    pub fn lanes(&self) -> Option<u32> {
        self.config().sharding.as_ref().map(|sharding| sharding.lanes)
    }

    /// Number of neighbouring samples of a lane that are shuffled together; `None` with another order.
    pub fn lane_window(&self) -> Option<u32> {
        self.config().sharding.as_ref().map(|sharding| sharding.window)
    }

    /// How many rounds the epoch has. Errors: [`Contradiction`](crate::FailureKind::Contradiction) (`order` is another
    /// one).
    pub fn num_rounds(&self) -> Result<u64, Error> {
        self.ask(|methods, store, sampler| methods.call_num_rounds(store, sampler))
    }

    /// The rows that this rank reads for a run of its samples. Round k of a whole epoch has the positions k * lanes *
    /// window to (k + 1) * lanes * window - 1: window k of every lane. Errors:
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`order` is another one), out of range (`number` at or
    /// above [`num_rounds`](Self::num_rounds)), out of memory.
    pub fn round(&self, number: u64) -> Result<Round, Error> {
        let round = self.ask(|methods, store, sampler| methods.call_round(store, sampler, number))?;
        let (spans, _) = round.spans.as_chunks();
        let span =
            |&[lane, shard, first, count]: &[u64; 4]| Span { lane: lane as u32, shard: shard as u32, first, count };
        Ok(Round { start: round.start, count: round.count, spans: spans.iter().map(span).collect() })
    }

    /// Where a sample is stored, in O(log shards). Errors: out of range (`sample` at or above `samples`),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`order` is another one).
    pub fn shard_of(&self, sample: u64) -> Result<ShardPlace, Error> {
        let place = self.ask(|methods, store, it| methods.call_shard_of(store, it, sample))?;
        Ok(ShardPlace { shard: place.shard, offset: place.offset })
    }
}
