//! `exclude` and `subset` of the order `sharded`. The samples that are left are cut into lanes and windows as if the
//! dataset had no others, so that a reader that has some of the lanes reads no other lanes, as with `sharded` itself. If
//! the other positions stayed in their order, each sample that is left out would move all later ones to other lanes.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::view::members_of_list;
use crate::base::Failure;
use crate::base::memory::collect;
use crate::order::selection::Selection;
use crate::order::{Composed, Epoch, InLanes, Order, OrderId, OrderPart, Sharding, Shards, Stored};

/// A view of an order in lanes: of `sharded`, or of another view in lanes.
pub(super) struct LaneView {
    of: Rc<OrderPart>,
    indices: Vec<u64>,
    /// The samples that are left.
    left: Selection,
    /// The dataset with all samples.
    whole: Rc<Sharding>,
    /// The order `sharded` of the samples that are left, counted from 0.
    dense: OrderPart,
}

impl LaneView {
    /// The view with the samples `left` of the order `of`, which is in lanes. `whole` is its dataset. Failures:
    /// `out-of-memory`.
    pub(super) fn new(
        of: Rc<OrderPart>,
        indices: Vec<u64>,
        left: Selection,
        whole: Rc<Sharding>,
    ) -> Result<Self, Failure> {
        let Sharding { shards, lanes, window } = &*whole;
        let before = |shard| left.rank(shards.start(shard)).0;
        let sizes = (0..shards.count()).map(|shard| before(shard + 1) - before(shard));
        let dense = Shards::new(&collect("sizes", shards.count() as usize, sizes)?)?;
        let samples = dense.samples();
        let dense = Sharding { shards: dense, lanes: *lanes, window: *window };
        let dense = OrderPart::new(OrderId::Sharded, samples, of.seed, Some(Rc::new(dense)));
        Ok(Self { of, indices, left, whole, dense })
    }

    /// The place of a sample among those that are left; none if it is left out.
    fn place(&self, sample: u64) -> Option<u64> {
        let (place, is_left) = self.left.rank(sample);
        is_left.then_some(place)
    }
}

impl Composed for LaneView {
    fn length(&self, _: u64) -> Result<u64, Failure> {
        Ok(self.dense.samples)
    }

    fn steady(&self) -> Option<u64> {
        Some(self.dense.samples)
    }

    fn begin(&self, epoch: u64) -> Result<Option<u64>, Failure> {
        // The epoch must be one that can be used of the inner order, which has at least as many positions.
        Ok(self.of.begin(epoch)?.map(|_| epoch * self.dense.samples))
    }

    fn is_single(&self) -> bool {
        true
    }

    fn in_lanes(&self) -> Option<InLanes<'_>> {
        self.dense.sharding.as_ref().map(|dense| InLanes { whole: &self.whole, left: Some(&self.left), dense })
    }

    fn at(self: Rc<Self>, epoch: u64) -> Result<Box<dyn Epoch>, Failure> {
        let order = self.dense.order(epoch)?;
        Ok(Box::new(LaneViewEpoch { view: self, order }))
    }

    fn seen(&self, sample: u64, epoch: u64, position: u64) -> Result<u64, Failure> {
        self.place(sample).map_or(Ok(0), |place| self.dense.seen(place, epoch, position))
    }

    fn seen_of_all(&self, samples: &[u64], epoch: u64) -> Result<u64, Failure> {
        Ok(epoch * samples.iter().filter(|&&sample| self.place(sample).is_some()).count() as u64)
    }

    fn occurrence(&self, sample: u64, number: u64) -> Result<Option<(u64, u64)>, Failure> {
        self.place(sample).map_or(Ok(None), |place| self.dense.occurrence(place, number))
    }

    fn members(&self, _: &str) -> String {
        members_of_list(&self.of, &self.indices)
    }

    fn part(&self, place: usize) -> Option<&OrderPart> {
        (place == 0).then_some(&self.of)
    }
}

struct LaneViewEpoch {
    view: Rc<LaneView>,
    /// The order of the samples that are left, counted from 0.
    order: Order,
}

impl LaneViewEpoch {
    fn select(&self, place: u64) -> u64 {
        self.view.left.select(place, self.view.of.samples)
    }
}

impl Epoch for LaneViewEpoch {
    fn sample(&self, position: u64) -> Result<u64, Failure> {
        Ok(self.select(self.order.sample(position)?))
    }

    fn map(&self, places: &mut [u64]) -> Result<(), Failure> {
        self.order.map(places)?;
        self.view.left.select_all(places, self.view.of.samples);
        Ok(())
    }

    fn stored(&self, position: u64) -> Result<Stored, Failure> {
        let stored = self.order.stored(position)?;
        Ok(Stored { sample: self.select(stored.sample), ..stored })
    }

    fn next(&self, sample: u64, from: u64) -> Result<Option<u64>, Failure> {
        self.view.place(sample).map_or(Ok(None), |place| self.order.next(place, from))
    }
}
