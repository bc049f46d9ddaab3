//! Methods of a sampler about the shards and rounds of the order `sharded`.

use alloc::vec::Vec;

use super::Sampler;
use crate::base::check::check_below;
use crate::base::failure::only;
use crate::base::memory::collect;
use crate::base::{Failure, gcd};
use crate::deal::Layout;
use crate::order::{OrderId, Sharding, Spans};

/// A round of a rank: a run of its samples, and the rows that it reads for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Number of the first sample of the run, among the rank's samples.
    pub start: u64,
    /// Number of samples in the run.
    pub count: u64,
    /// The rows in which the samples are stored.
    pub spans: Spans,
}

impl Sampler {
    /// The sizes of the shards; none with another order. Failures: `out-of-memory`.
    pub fn sizes(&self) -> Result<Option<Vec<u64>>, Failure> {
        let Some(Sharding { shards, .. }) = self.sharding() else { return Ok(None) };
        collect("sizes", shards.count() as usize, shards.sizes()).map(Some)
    }

    /// The lanes and the shuffle window; none with another order.
    pub fn lanes(&self) -> Option<(u32, u32)> {
        self.sharding().map(|sharding| (sharding.lanes, sharding.window))
    }

    fn sharding(&self) -> Option<&Sharding> {
        self.part.sharding.as_deref().filter(|_| self.part.id == OrderId::Sharded)
    }

    /// How many rounds this deal has. Failures: `name` (not `sharded`), `layout`, `unit`.
    pub fn num_rounds(&self) -> Result<u64, Failure> {
        let (sharding, ..) = self.lanes_in_turn()?;
        Ok(self.deal.end().div_ceil(sharding.round()).saturating_sub(self.deal.consumed() / sharding.round()))
    }

    /// A round: the positions of one window of every lane, of which this rank has some. `number` counts the rounds of
    /// this deal. The spans are the windows of the rank's lanes, lane by lane, in the order in which the rows are
    /// stored; then a span for each sample of the padding. Failures: `name` (not `sharded`), `layout`, `unit`,
    /// `number`, `shuffle_window` (more than 2^20 spans), `out-of-memory`.
    pub fn round(&self, number: u64) -> Result<Round, Failure> {
        let (sharding, first, stride) = self.lanes_in_turn()?;
        check_below("number", number, self.num_rounds()?)?;
        let Some(sharded) = self.order()?.as_sharded() else { return Err(self.not_sharded()) };
        let lanes = u64::from(sharding.lanes);
        // The index, among this rank's samples, of its first one at this position or later.
        let index = |position: u64| position.saturating_sub(first).div_ceil(stride).min(self.num_samples());
        // The round begins and ends at most one round above the last position, so that these products cannot overflow.
        let number = self.deal.consumed() / sharding.round() + number;
        let (start, end) = (index(number * sharding.round()), index((number + 1) * sharding.round()));
        let real = index(self.config.samples).clamp(start, end);
        // The lanes of the rank's positions repeat after this period, and all lanes within it are different.
        let period = lanes / gcd(stride, lanes);
        let hit = (start..real).take(period as usize).map(|i| (first + i * stride) % lanes);
        let mut hit = collect("lanes", period.min(real - start) as usize, hit)?;
        samedeal_bulk::numbers(&mut hit);
        let mut spans = Spans::default();
        for lane in hit {
            sharded.add_spans(lane as u32, number, &mut spans)?;
        }
        sharded.check_spans(spans.len() as u64 + (end - real))?;
        for i in real..end {
            sharded.add_span_of((first + i * stride) % self.config.samples, &mut spans)?;
        }
        Ok(Round { start, count: end - start, spans })
    }

    /// The shard of a sample, and the index of the sample in the shard. Failures: `name` (not `sharded`), `sample`.
    pub fn shard_of(&self, sample: u64) -> Result<(u32, u64), Failure> {
        check_below("sample", sample, self.config.samples)?;
        let Some(sharding) = self.sharding() else { return Err(self.not_sharded()) };
        Ok(sharding.shards.find(sample))
    }

    /// The sharding of the order, this rank's first position, and the distance between its positions. Failures: `name`,
    /// `layout`, `unit`.
    fn lanes_in_turn(&self) -> Result<(&Sharding, u64, u64), Failure> {
        let Some(sharding) = self.sharding() else { return Err(self.not_sharded()) };
        if self.config.layout == Layout::Rotated {
            let allowed = "strided or contiguous: a rank whose positions are rotated has no lanes of its own";
            return Err(Failure::contradiction("layout", "rotated", allowed).at("deal.layout"));
        }
        match self.deal.run() {
            Some((first, stride)) if self.config.unit == 1 => Ok((sharding, first, stride)),
            _ => {
                let allowed = only(1).and(", where rounds are asked for");
                Err(Failure::contradiction("unit", self.config.unit, allowed).at("deal.unit"))
            }
        }
    }

    fn not_sharded(&self) -> Failure {
        Failure::contradiction(
            "name",
            self.config.order.name(),
            only("sharded").and(", where rounds or shards are asked for"),
        )
        .at("order.name")
    }
}
