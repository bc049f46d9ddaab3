//! `sharded`: one order over a dataset in shards, with locality. The shards are laid end to end in a random order. This
//! row is cut into lanes whose lengths differ by one sample at most, and the lanes are numbered at random. Within a
//! lane, each window of neighbouring samples is shuffled. Positions go round the lanes: position p is in lane p mod
//! `lanes`.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;

use super::feistel::Feistel;
use super::fisher_yates::shuffle;
use super::index::Index;
use super::shards::Shards;
use super::spans::Spans;
use super::stored::Stored;
use crate::base::failure::range;
use crate::base::key::Words;
use crate::base::memory::collect;
use crate::base::{Failure, MAX_COUNT};

/// The most lanes. More would take too much memory: an order stores the permutation of one window of each lane.
pub(crate) const MAX_LANES: u32 = 1 << 16;

/// The largest shuffle window, so that one list has the rows of a whole window.
pub(crate) const MAX_WINDOW: u32 = MAX_COUNT;

/// The shards of a dataset, and the options of the order `sharded`.
pub(crate) struct Sharding {
    pub(crate) shards: Shards,
    pub(crate) lanes: u32,
    pub(crate) window: u32,
}

impl Sharding {
    /// Failures: `lanes`, `shuffle_window`.
    pub(crate) fn new(shards: Shards, lanes: u32, window: u32) -> Result<Self, Failure> {
        if lanes == 0 || lanes > MAX_LANES {
            return Err(Failure::out_of_range("lanes", lanes, range(1, MAX_LANES)));
        }
        if window == 0 || window > MAX_WINDOW {
            return Err(Failure::out_of_range("shuffle_window", window, range(1, MAX_WINDOW)));
        }
        Ok(Self { shards, lanes, window })
    }

    /// The number of positions in a round: one window of each lane.
    pub(crate) fn round(&self) -> u64 {
        u64::from(self.lanes) * u64::from(self.window)
    }

    /// The number of samples in a lane.
    pub(crate) fn lane_size(&self, lane: u32) -> u64 {
        let lanes = u64::from(self.lanes);
        self.shards.samples() / lanes + u64::from(u64::from(lane) < self.shards.samples() % lanes)
    }
}

/// Items of different sizes (shards or lanes), laid end to end in a random order.
struct Row {
    /// The items in the order of the row.
    order: Vec<u32>,
    /// The place of each item in `order`.
    places: Vec<u32>,
    /// The sizes of the items, in the order of the row.
    laid: Shards,
}

impl Row {
    /// Failures: `out-of-memory`, of `field`.
    fn new(field: &'static str, count: u32, words: &mut Words, size: impl Fn(u32) -> u64) -> Result<Self, Failure> {
        let many = count as usize;
        let mut order = collect(field, many, 0..count)?;
        shuffle(&mut order, words);
        let mut places = collect(field, many, order.iter().copied())?;
        for (place, &item) in (0..).zip(&order) {
            places[item as usize] = place;
        }
        let sizes = collect(field, many, order.iter().map(|&item| size(item)))?;
        Ok(Self { order, places, laid: Shards::new(&sizes)? })
    }

    /// The place in the row where `item` begins.
    fn start(&self, item: u32) -> u64 {
        self.laid.start(self.places[item as usize])
    }

    /// The item at a place of the row, and the distance of the place from the beginning of the item.
    fn find(&self, at: u64) -> (u32, u64) {
        let (place, offset) = self.laid.find(at);
        (self.order[place as usize], offset)
    }
}

/// The order `sharded` of one epoch.
pub(crate) struct Sharded {
    sharding: Rc<Sharding>,
    seed: i64,
    epoch: u64,
    /// The shards end to end.
    shards: Row,
    /// The lanes that the row of shards is cut into, in random order. If lanes were numbered along the row, the samples
    /// of a batch that is smaller than the number of lanes would come from one part of the row.
    lanes: Row,
    /// For each lane, the window that was read last, and its permutation.
    recent: RefCell<Vec<Option<(u64, Feistel)>>>,
}

impl Sharded {
    pub(crate) fn new(sharding: Rc<Sharding>, seed: i64, epoch: u64) -> Result<Self, Failure> {
        let mut words = Words::new("sharded", seed, epoch, 0);
        let shards = Row::new("sizes", sharding.shards.count(), &mut words, |shard| sharding.shards.size(shard))?;
        let mut words = Words::new("sharded lanes", seed, epoch, 0);
        let lanes = Row::new("lanes", sharding.lanes, &mut words, |lane| sharding.lane_size(lane))?;
        let recent = collect("lanes", sharding.lanes as usize, (0..sharding.lanes).map(|_| None))?;
        Ok(Self { sharding, seed, epoch, shards, lanes, recent: RefCell::new(recent) })
    }

    pub(crate) fn fill<T: Index>(&self, start: u64, stride: u64, out: &mut [T]) {
        for (i, place) in (0..).zip(out) {
            *place = T::from_u64(self.sample(start + i * stride));
        }
    }

    pub(crate) fn sample(&self, position: u64) -> u64 {
        self.stored(position).sample
    }

    /// The storage place of the sample at a position.
    pub(crate) fn stored(&self, position: u64) -> Stored {
        let Sharding { shards, lanes, window } = &*self.sharding;
        let (lane, window) = ((position % u64::from(*lanes)) as u32, u64::from(*window));
        let place = position / u64::from(*lanes);
        let number = place / window;
        let within = self.permute(lane, number, |permutation| permutation.sample(place % window));
        let element = number * window + within;
        let (shard, offset) = self.shards.find(self.lanes.start(lane) + element);
        Stored { sample: shards.start(shard) + offset, lane, pass: self.epoch, element }
    }

    pub(crate) fn position(&self, sample: u64) -> u64 {
        let (shard, offset) = self.sharding.shards.find(sample);
        let (lane, element) = self.lanes.find(self.shards.start(shard) + offset);
        let window = element / u64::from(self.sharding.window);
        let within =
            self.permute(lane, window, |permutation| permutation.position(element % u64::from(self.sharding.window)));
        (window * u64::from(self.sharding.window) + within) * u64::from(self.sharding.lanes) + u64::from(lane)
    }

    /// Adds the spans of rows of a window of a lane, in the order of the lane. The lane must have the window. Failures:
    /// `shuffle_window` (more than 2^20 spans), `out-of-memory`.
    pub(crate) fn add_spans(&self, lane: u32, window: u64, spans: &mut Spans) -> Result<(), Failure> {
        let first = window * u64::from(self.sharding.window);
        let mut at = self.lanes.start(lane) + first;
        let end = at + u64::from(self.sharding.window).min(self.sharding.lane_size(lane) - first);
        while at < end {
            let (shard, first) = self.shards.find(at);
            let count = (self.sharding.shards.size(shard) - first).min(end - at);
            self.add_span((lane, shard, first, count), spans)?;
            at += count;
        }
        Ok(())
    }

    /// Adds the row of the sample at a position as a span. Failures: as [`Sharded::add_spans`].
    pub(crate) fn add_span_of(&self, position: u64, spans: &mut Spans) -> Result<(), Failure> {
        let (shard, offset) = self.sharding.shards.find(self.sample(position));
        self.add_span(((position % u64::from(self.sharding.lanes)) as u32, shard, offset, 1), spans)
    }

    fn add_span(&self, (lane, shard, first, count): (u32, u32, u64, u64), spans: &mut Spans) -> Result<(), Failure> {
        self.check_spans(spans.len() as u64 + 1)?;
        spans.push(lane, shard, first, count)
    }

    /// Checks that the number of spans in one list is at most 2^20. Failures: `shuffle_window`.
    pub(crate) fn check_spans(&self, count: u64) -> Result<(), Failure> {
        if count <= MAX_COUNT.into() {
            return Ok(());
        }
        Err(Failure::out_of_range(
            "shuffle_window",
            self.sharding.window,
            "a smaller window, fewer lanes or larger shards",
        )
        .at("order.shuffle_window"))
    }

    fn permute<R>(&self, lane: u32, window: u64, ask: impl FnOnce(&Feistel) -> R) -> R {
        let mut recent = self.recent.borrow_mut();
        let recent = &mut recent[lane as usize];
        if let Some((number, permutation)) = recent
            && *number == window
        {
            return ask(permutation);
        }
        let left = self.sharding.lane_size(lane) - window * u64::from(self.sharding.window);
        let samples = u64::from(self.sharding.window).min(left);
        let index = window * u64::from(self.sharding.lanes) + u64::from(lane);
        let mut words = Words::new("sharded window", self.seed, self.epoch, index);
        ask(&recent.insert((window, Feistel::from_words(samples, &mut words))).1)
    }
}
