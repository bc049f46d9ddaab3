//! Questions to a sampler that only the order `sharded` can answer.

use alloc::vec::Vec;

use super::Sampler;
use crate::base::check::check_below;
use crate::base::failure::only;
use crate::base::gcd;
use crate::base::memory::collect;
use crate::order::{Sharding, Spans};
use crate::{Failure, Layout, OrderId};

/// The rows that a rank reads for a run of its samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Number of the first of these samples, among the rank's.
    pub start: u64,
    /// How many there are.
    pub count: u64,
    /// Where they are stored.
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

    /// How many rounds this deal has. Failures: `order` (not `sharded`), `layout`, `unit`.
    pub fn num_rounds(&self) -> Result<u64, Failure> {
        let (sharding, ..) = self.lanes_in_turn()?;
        Ok(self.deal.end().div_ceil(sharding.round()).saturating_sub(self.deal.consumed() / sharding.round()))
    }

    /// A round: the positions that have the windows of one number in all lanes, of which this rank has some, from some
    /// lanes. The spans are those windows, lane by lane, in the order in which they are stored; then those of the
    /// padding, sample by sample. Failures: `order` (not `sharded`), `layout`, `unit`, `number`, `shuffle_window` (more than 2^20
    /// spans), `out-of-memory`.
    pub fn round(&self, number: u64) -> Result<Round, Failure> {
        let (sharding, first, stride) = self.lanes_in_turn()?;
        check_below("number", number, self.num_rounds()?)?;
        let Some(sharded) = self.order()?.as_sharded() else { return Err(self.not_sharded()) };
        let lanes = u64::from(sharding.lanes);
        // This rank's number for the first of its positions that is not below a position.
        let index = |position: u64| position.saturating_sub(first).div_ceil(stride).min(self.num_samples());
        // The round begins and ends at most one round above the last position, so that these products cannot overflow.
        let number = self.deal.consumed() / sharding.round() + number;
        let (start, end) = (index(number * sharding.round()), index((number + 1) * sharding.round()));
        let real = index(self.config.samples).clamp(start, end);
        // The lanes of neighbouring positions are all different until they begin again.
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

    /// The shard that holds a sample, and its place there. Failures: `order` (not `sharded`), `sample`.
    pub fn shard_of(&self, sample: u64) -> Result<(u32, u64), Failure> {
        check_below("sample", sample, self.config.samples)?;
        let Some(sharding) = self.sharding() else { return Err(self.not_sharded()) };
        Ok(sharding.shards.find(sample))
    }

    /// The lanes of this deal, and this rank's first position and how far apart its positions are. Failures: `order`, `layout`, `unit`.
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
