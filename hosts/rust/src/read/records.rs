use crate::Span;
use crate::engine::read;
use crate::place;

/// A run of a reader's samples, and the rows to read for it; see [`Reading::round`](crate::Reading::round).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct ReadRound {
    /// Number of the first sample of the round. The samples of a reader are counted from 0.
    pub start: u64,
    /// Number of samples in the round.
    pub count: u64,
    /// The rows to read. Every sample of the round is a row of one of these spans. Spans of padding come last and have
    /// one row each.
    pub spans: Vec<Span>,
}

/// A batch of a loader worker; see [`Reading::batch`](crate::Reading::batch).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct ReadBatch {
    /// The worker that makes this batch.
    pub worker: u32,
    /// Number of this batch among the batches of its worker.
    pub number: u64,
    /// Step at which the loader of the rank takes this batch.
    pub step: u64,
    /// Number of its first sample among the samples of the reader.
    pub start: u64,
    /// Number of samples.
    pub count: u32,
    /// How many of these samples are padding. They are the last ones.
    pub padding: u32,
}

/// For some samples of a round, the rows that hold them; see [`Reading::round_rows`](crate::Reading::round_rows).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct RoundRows {
    /// For each sample, the number of its row. The rows of all spans of the round are counted from 0, span after span.
    pub rows: Vec<u64>,
    /// How many of these samples are padding. They are the last ones.
    pub padding: u32,
}

/// A number of lanes and a window with which batches are closer to random ones; see
/// [`Reading::mixing_advice`](crate::Reading::mixing_advice).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct MixingAdvice {
    /// Number of lanes that each reader has now. The rows of a batch come from this many places of the dataset.
    pub lanes_per_reader: u32,
    /// Variance of a batch mean, divided by its variance in random batches, if neighbouring rows have similar values:
    /// batch size / `lanes_per_reader`, rounded to the nearest integer.
    pub variance_ratio: u32,
    /// The number of lanes to use instead.
    pub lanes: u32,
    /// The shuffle window to use with these lanes. A reader then holds about as many rows in memory as now.
    pub shuffle_window: u32,
}

impl From<read::ReadRound> for ReadRound {
    fn from(read::ReadRound { start, count, spans }: read::ReadRound) -> Self {
        Self { start, count, spans: place::spans(spans) }
    }
}

impl From<read::ReadBatch> for ReadBatch {
    fn from(batch: read::ReadBatch) -> Self {
        let read::ReadBatch { worker, number, step, start, count, padding } = batch;
        Self { worker, number, step, start, count, padding }
    }
}

impl From<read::RoundRows> for RoundRows {
    fn from(read::RoundRows { rows, padding }: read::RoundRows) -> Self {
        Self { rows, padding }
    }
}

impl From<read::MixingAdvice> for MixingAdvice {
    fn from(advice: read::MixingAdvice) -> Self {
        let read::MixingAdvice { lanes_per_reader, variance_ratio, lanes, shuffle_window } = advice;
        Self { lanes_per_reader, variance_ratio, lanes, shuffle_window }
    }
}
