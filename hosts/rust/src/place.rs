use crate::engine::{sampling, types};
use crate::named::names;

/// What happens if `world_size` does not divide the number of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Remainder {
    /// Every rank gets floor(samples / world size); the last (samples mod world size) positions are not dealt.
    Drop,
    /// Every rank gets ceil(samples / world size); the missing ones repeat the order from its beginning. The default.
    Pad,
    /// Every sample is dealt exactly once; ranks may differ by one sample, and so by one batch.
    Uneven,
}
names!(Remainder, "remainder", { Drop = "drop", Pad = "pad", Uneven = "uneven" });

/// Which positions belong to a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Rank r of W takes the positions r, r + W, r + 2 W, ... The default for orders that have each sample once.
    Strided,
    /// Each rank takes one run of neighbouring positions, in the order of the ranks.
    Contiguous,
    /// As [`Strided`](Self::Strided), but each row of W positions begins with another rank. The default for orders that can have a sample
    /// twice in an epoch: a blend has a period, and with `Strided` a rank could get the samples of some sources only.
    Rotated,
}
names!(Layout, "layout", { Strided = "strided", Contiguous = "contiguous", Rotated = "rotated" });

/// When and where a sample is seen in the epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct Place {
    /// The global position: counted from the beginning of the epoch, also after a resume.
    pub position: u64,
    /// The rank that it is dealt to.
    pub rank: u32,
    /// 0-based number within that rank's samples; after a resume, within those of the rest.
    pub index: u64,
    /// 0-based number of that rank's batch: index / batch size; after a resume, counted from the state on.
    pub batch: u64,
    /// 0-based place in that batch: index mod batch size.
    pub index_in_batch: u32,
    /// How many times the sample is dealt again as padding, the k-th time (k from 1) at `position` + k * `length`.
    pub copies: u32,
}

impl From<sampling::Place> for Place {
    fn from(place: sampling::Place) -> Self {
        let sampling::Place { position, rank, index, batch, index_in_batch, copies } = place;
        Self { position, rank, index, batch, index_in_batch, copies }
    }
}

/// What becomes of a sample in an epoch, once every rank has taken a number of its samples.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct Fate {
    /// `seen`: it was taken at least once. `to come`: it was not, and will be. `dropped`: the epoch has it at a position that no rank gets.
    /// `absent`: this epoch has it at no position, as with `exclude`, or with a blend that did not draw it.
    pub status: String,
    /// The positions where it was taken before `consumed` of the sampler, ascending: a state does not say by which rank.
    pub before: Vec<u64>,
    /// Where the ranks of this deal take it, by ascending position, padding included.
    pub places: Vec<Place>,
    /// How many of `places`, the first ones, were taken.
    pub num_seen: u32,
    /// How many of `places`, the last ones, are padding.
    pub num_padding: u32,
    /// Whether these are all: at most 65,536 positions are given.
    pub complete: bool,
}

impl From<sampling::Fate> for Fate {
    fn from(fate: sampling::Fate) -> Self {
        let sampling::Fate { status, before, places, num_seen, num_padding, complete } = fate;
        let places = places.into_iter().map(Place::from).collect();
        Self { status, before, places, num_seen, num_padding, complete }
    }
}

/// The source of a sample of a blend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct SourcePlace {
    /// Number of the source, in their order.
    pub source: u32,
    /// Number of the sample within the source.
    pub index: u64,
}

/// The place where a sample is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct ShardPlace {
    /// Number of the shard.
    pub shard: u32,
    /// Number of the sample within the shard.
    pub offset: u64,
}

/// The rows that a rank reads for a run of its samples; see [`Sampler::round`](crate::Sampler::round).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct Round {
    /// Number of the first of these samples, among the rank's ([`Sampler::indices`](crate::Sampler::indices)).
    pub start: u64,
    /// Number of these samples; 0 if the rank has no position in this round.
    pub count: u64,
    /// The rows that hold them: whole windows, lane by lane, in the order in which they are stored. A lane continues in
    /// the next round where it ends in this one. When it enters a shard, it never returns to the one before. If the
    /// world size divides the lanes, every row of the spans is one of these samples, or is dropped. Padding comes
    /// last, in spans of one row.
    pub spans: Vec<Span>,
}

/// Neighbouring rows of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct Span {
    /// Number of the lane. The spans of a lane come in the order in which their rows are stored: one open file for each lane is
    /// enough.
    pub lane: u32,
    /// Number of the shard.
    pub shard: u32,
    /// The first row. A row is the 0-based number of a sample within its shard.
    pub first_row: u64,
    /// Number of rows, at least 1.
    pub num_rows: u64,
}

pub(crate) fn spans(types::Spans { lane, shard, first_row, num_rows }: types::Spans) -> Vec<Span> {
    let span = |(((lane, shard), first_row), num_rows)| Span { lane, shard, first_row, num_rows };
    lane.into_iter().zip(shard).zip(first_row).zip(num_rows).map(span).collect()
}
