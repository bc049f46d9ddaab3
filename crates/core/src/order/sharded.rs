//! `sharded`: one order over a dataset in shards, with locality. The shards, in an order of their own, are laid end to
//! end and cut into lanes of equal length; within a lane, windows of neighbouring samples are shuffled; positions go round
//! the lanes.

use alloc::format;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;

use super::Index;
use super::feistel::Feistel;
use super::fisher_yates::shuffle;
use crate::key::Words;
use crate::memory::{collect, has_headroom};
use crate::shards::Shards;
use crate::{Failure, MAX_WINDOW};

/// The most lanes: each keeps its window at hand.
pub(crate) const MAX_LANES: u32 = 1 << 12;

/// How a dataset in shards is ordered.
pub(crate) struct Sharding {
    pub(crate) shards: Shards,
    pub(crate) lanes: u32,
    pub(crate) window: u32,
}

impl Sharding {
    /// Failures: `lanes`, `window`.
    pub(crate) fn new(shards: Shards, lanes: u32, window: u32) -> Result<Self, Failure> {
        if lanes == 0 || lanes > MAX_LANES {
            return Err(Failure::out_of_range("lanes", lanes, format!("1 to {MAX_LANES}")));
        }
        if window == 0 || window > MAX_WINDOW {
            return Err(Failure::out_of_range("window", window, format!("1 to {MAX_WINDOW}")));
        }
        Ok(Self { shards, lanes, window })
    }

    /// How many positions have windows of the same number.
    pub(crate) fn round(&self) -> u64 {
        u64::from(self.lanes) * u64::from(self.window)
    }

    /// Where a lane begins in the row of all samples, and how many it has.
    fn lane(&self, lane: u32) -> (u64, u64) {
        let (share, extra) =
            (self.shards.samples() / u64::from(self.lanes), self.shards.samples() % u64::from(self.lanes));
        let lane = u64::from(lane);
        (lane * share + lane.min(extra), share + u64::from(lane < extra))
    }
}

/// The order of one epoch.
pub(crate) struct Sharded {
    sharding: Rc<Sharding>,
    seed: i64,
    epoch: u64,
    /// The shards in the order of the epoch.
    order: Vec<u32>,
    /// The place of each shard in that order.
    places: Vec<u32>,
    /// The shards of the epoch end to end.
    row: Shards,
    /// For each lane, the window that was read last, and its permutation.
    recent: RefCell<Vec<Option<(u64, Feistel)>>>,
}

impl Sharded {
    pub(crate) fn new(sharding: Rc<Sharding>, seed: i64, epoch: u64) -> Result<Self, Failure> {
        let count = sharding.shards.count() as usize;
        let mut order = collect("sizes", count, 0..count as u32)?;
        shuffle(&mut order, &mut Words::new("sharded", seed, epoch, 0));
        let mut places = collect("sizes", count, order.iter().copied())?;
        for (place, &shard) in (0..).zip(&order) {
            places[shard as usize] = place;
        }
        let sizes = collect("sizes", count, order.iter().map(|&shard| sharding.shards.size(shard)))?;
        let recent = collect("lanes", sharding.lanes as usize, (0..sharding.lanes).map(|_| None))?;
        Ok(Self { sharding, seed, epoch, order, places, row: Shards::new(&sizes)?, recent: RefCell::new(recent) })
    }

    pub(crate) fn fill<T: Index>(&self, start: u64, stride: u64, out: &mut [T]) {
        for (i, place) in (0..).zip(out) {
            *place = T::from_u64(self.sample(start + i * stride));
        }
    }

    pub(crate) fn sample(&self, position: u64) -> u64 {
        let lane = (position % u64::from(self.sharding.lanes)) as u32;
        let element = position / u64::from(self.sharding.lanes);
        let (start, _) = self.sharding.lane(lane);
        let window = element / u64::from(self.sharding.window);
        let within =
            self.permute(lane, window, |permutation| permutation.sample(element % u64::from(self.sharding.window)));
        let (place, offset) = self.row.find(start + window * u64::from(self.sharding.window) + within);
        self.sharding.shards.start(self.order[place as usize]) + offset
    }

    pub(crate) fn position(&self, sample: u64) -> u64 {
        let (shard, offset) = self.sharding.shards.find(sample);
        let at = self.row.start(self.places[shard as usize]) + offset;
        // Lanes differ by one at most: the first ones are the longer.
        let lanes = u64::from(self.sharding.lanes);
        let (share, extra) = (self.sharding.shards.samples() / lanes, self.sharding.shards.samples() % lanes);
        let wide = extra * (share + 1);
        let lane = if at < wide { at / (share + 1) } else { extra + (at - wide) / share };
        let element = at - self.sharding.lane(lane as u32).0;
        let window = element / u64::from(self.sharding.window);
        let within = self.permute(lane as u32, window, |permutation| {
            permutation.position(element % u64::from(self.sharding.window))
        });
        (window * u64::from(self.sharding.window) + within) * lanes + lane
    }

    /// Adds where a window of a lane is stored, in order: lane, shard, first sample within it, count. The lane must have
    /// that window. Failures: `out-of-memory`.
    pub(crate) fn add_spans(&self, lane: u32, window: u64, spans: &mut Vec<u64>) -> Result<(), Failure> {
        let (start, samples) = self.sharding.lane(lane);
        let first = window * u64::from(self.sharding.window);
        let mut at = start + first;
        let end = at + u64::from(self.sharding.window).min(samples - first);
        while at < end {
            let (place, first) = self.row.find(at);
            let count = (self.row.size(place) - first).min(end - at);
            self.add_span([lane.into(), self.order[place as usize].into(), first, count], spans)?;
            at += count;
        }
        Ok(())
    }

    /// Adds where a position is stored, as [`Sharded::add_spans`]. Failures: `out-of-memory`.
    pub(crate) fn add_span_of(&self, position: u64, spans: &mut Vec<u64>) -> Result<(), Failure> {
        let (shard, offset) = self.sharding.shards.find(self.sample(position));
        self.add_span([position % u64::from(self.sharding.lanes), shard.into(), offset, 1], spans)
    }

    fn add_span(&self, span: [u64; 4], spans: &mut Vec<u64>) -> Result<(), Failure> {
        if spans.try_reserve(span.len()).is_err() || !has_headroom() {
            return Err(Failure::out_of_memory("window", self.sharding.window, "a smaller window"));
        }
        spans.extend(span);
        Ok(())
    }

    fn permute<R>(&self, lane: u32, window: u64, ask: impl FnOnce(&Feistel) -> R) -> R {
        let mut recent = self.recent.borrow_mut();
        let recent = &mut recent[lane as usize];
        if let Some((number, permutation)) = recent
            && *number == window
        {
            return ask(permutation);
        }
        let (_, lane_samples) = self.sharding.lane(lane);
        let samples = u64::from(self.sharding.window).min(lane_samples - window * u64::from(self.sharding.window));
        let index = window * u64::from(self.sharding.lanes) + u64::from(lane);
        let mut words = Words::new("sharded window", self.seed, self.epoch, index);
        ask(&recent.insert((window, Feistel::from_words(samples, &mut words))).1)
    }
}
