use crate::engine::read;

/// Samples of a reader that come together, and what has to be read for them; see [`Reading::round`](crate::Reading::round).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ReadRound {
    /// The first of the samples, by its number among the reader's.
    pub start: u64,
    /// How many samples there are.
    pub count: u64,
    /// What to read. Every sample of the round is a row of one of these, and padding comes last, row by row.
    pub spans: Vec<ReadSpan>,
}

/// Neighbouring rows of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ReadSpan {
    /// A stream is read onwards: one open file for each stream is enough.
    pub stream: u32,
    /// Number of the shard.
    pub shard: u32,
    /// The first row, counted within the shard.
    pub first: u64,
    /// How many rows, at least 1.
    pub count: u64,
}

/// A batch of a loader worker; see [`Reading::batch`](crate::Reading::batch).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ReadBatch {
    /// The worker whose batch it is.
    pub worker: u32,
    /// Its number among the batches of this worker.
    pub number: u64,
    /// The number of the rank's step at which the loader takes it.
    pub step: u64,
    /// The first of its samples, by its number among the reader's.
    pub start: u64,
    /// How many samples it has.
    pub count: u32,
    /// How many of them, the last ones, are padding.
    pub padding: u32,
}

/// Samples of a round, by the rows that hold them; see [`Reading::round_rows`](crate::Reading::round_rows).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RoundRows {
    /// For each sample, the number of its row among the rows of the round's spans, laid end to end.
    pub rows: Vec<u64>,
    /// How many of these samples, the last ones, are padding.
    pub padding: u32,
}

/// Lanes from which batches mix better; see [`Reading::mixing_advice`](crate::Reading::mixing_advice).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct MixingAdvice {
    /// How many lanes each reader has now. The rows of a batch come from as many places of the dataset.
    pub lanes_per_reader: u32,
    /// How much the mean of a batch varies if neighbouring rows are alike, as a multiple of its variance by chance: batch size /
    /// `lanes_per_reader`, to the nearest integer.
    pub variance_ratio: u32,
    /// The lanes to use instead.
    pub lanes: u32,
    /// The window to use with them. About as many rows are in memory then.
    pub window: u32,
}

impl From<read::ReadRound> for ReadRound {
    fn from(read::ReadRound { start, count, spans }: read::ReadRound) -> Self {
        let (spans, _) = spans.as_chunks();
        let span = |&[stream, shard, first, count]: &[u64; 4]| ReadSpan {
            stream: stream as u32,
            shard: shard as u32,
            first,
            count,
        };
        Self { start, count, spans: spans.iter().map(span).collect() }
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
        let read::MixingAdvice { lanes_per_reader, variance_ratio, lanes, window } = advice;
        Self { lanes_per_reader, variance_ratio, lanes, window }
    }
}
