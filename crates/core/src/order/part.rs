//! Orders over all epochs.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{OnceCell, RefCell};
use core::ops::Range;

use super::epoch::{Epoch, Order};
use super::id::OrderId;
use super::selection::Selection;
use super::sharded::Sharding;
use crate::base::MAX_EXACT;
use crate::base::failure::{Allowed, Failure, range};
use crate::document::{numbers, signed_text};

/// An order over all epochs, from which the [`Order`] of each epoch is built.
pub(crate) struct OrderPart {
    pub(crate) id: OrderId,
    /// The number of sample indices: every index is below it.
    pub(crate) samples: u64,
    pub(crate) seed: i64,
    /// The shards, for an order over shards. Lanes and window are used only with the order `sharded`.
    pub(crate) sharding: Option<Rc<Sharding>>,
    composed: Option<Rc<dyn Composed>>,
    /// If this order is a source of a blend, the seed that the blend derives for it.
    derived: Option<i64>,
    /// The canonical text, cached by the first call of `text`.
    text: OnceCell<String>,
    /// The last epoch in which `place` searched, and its order: a cache for the next search.
    recent: RefCell<Option<(u64, Order)>>,
}

impl OrderPart {
    pub(crate) fn new(id: OrderId, samples: u64, seed: i64, sharding: Option<Rc<Sharding>>) -> Self {
        let (composed, derived, text, recent) = (None, None, OnceCell::new(), RefCell::default());
        Self { id, samples, seed, sharding, composed, derived, text, recent }
    }

    /// A composed order.
    pub(super) fn composed(id: OrderId, samples: u64, seed: i64, composed: Rc<dyn Composed>) -> Self {
        Self { composed: Some(composed), ..Self::new(id, samples, seed, None) }
    }

    /// This order as a source of a blend, with the seed that the blend derives. The canonical text has a seed only if
    /// the seed is not the derived one.
    pub(super) fn deriving(self, derived: Option<i64>) -> Self {
        Self { derived, ..self }
    }

    /// The order of an epoch. Failures: `out-of-memory`, or a field that is out of its range.
    pub(crate) fn order(&self, epoch: u64) -> Result<Order, Failure> {
        match (self.parts(), self.id, &self.sharding) {
            (Some(composed), ..) => Rc::clone(composed).at(epoch).map(Order::composed),
            (None, OrderId::Sharded, Some(sharding)) => Order::sharded(Rc::clone(sharding), self.seed, epoch),
            (None, id, _) => Order::new(id, self.samples, self.seed, epoch),
        }
    }

    /// The definition of a composed order. Always `None` in a build without composed orders, so that the compiler
    /// removes their code.
    fn parts(&self) -> Option<&Rc<dyn Composed>> {
        self.composed.as_ref().filter(|_| cfg!(feature = "composed"))
    }

    pub(crate) fn is_composed(&self) -> bool {
        self.parts().is_some()
    }

    /// Whether the canonical text has a list of objects.
    pub(crate) fn has_objects(&self) -> bool {
        self.parts().is_some_and(|composed| composed.has_objects())
    }

    /// The blend, if this order is one.
    pub(crate) fn as_blend(&self) -> Option<&dyn Sources> {
        self.parts()?.as_blend()
    }

    /// The inner order number `place`, if there is one.
    pub(super) fn part(&self, place: usize) -> Option<&Self> {
        self.parts()?.part(place)
    }

    /// The epoch and the position of inner order `place` when this order is at `position` of `epoch`. Failures:
    /// `out-of-memory`.
    pub(super) fn inner(&self, place: usize, epoch: u64, position: u64) -> Result<(u64, u64), Failure> {
        match self.parts() {
            Some(composed) => composed.inner(place, epoch, position),
            None => Ok((epoch, position)),
        }
    }

    /// The number of positions of an epoch. Failures: `epoch`, if a composed order has too many positions up to the end
    /// of this epoch; `out-of-memory`.
    pub(crate) fn length(&self, epoch: u64) -> Result<u64, Failure> {
        let Some(composed) = self.parts() else { return Ok(self.samples) };
        let next = epoch.checked_add(1).map_or(Ok(None), |next| composed.begin(next))?;
        if next.is_none() {
            return Err(too_late(epoch, self.epochs()?));
        }
        composed.length(epoch)
    }

    /// The number of epochs that can be used: together they have at most 2^53 - 1 positions. Failures: `out-of-memory`.
    pub(crate) fn epochs(&self) -> Result<u64, Failure> {
        let (mut low, mut high) = (0, u64::MAX);
        while low < high {
            let middle = low.midpoint(high);
            if self.begin(middle + 1)?.is_some() { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    /// The number of draws (positions of all epochs) that can be used. Failures: `out-of-memory`.
    pub(crate) fn draws(&self) -> Result<u64, Failure> {
        Ok(self.begin(self.epochs()?)?.unwrap_or_default())
    }

    /// The length of every epoch, if all epochs have the same length.
    pub(super) fn steady(&self) -> Option<u64> {
        self.parts().map_or(Some(self.samples), |composed| composed.steady())
    }

    /// Whether the first epoch has no positions. Failures: as `length`.
    pub(super) fn is_empty(&self) -> Result<bool, Failure> {
        self.length(0).map(|length| length == 0)
    }

    /// Whether no epoch has a sample twice.
    pub(crate) fn is_single(&self) -> bool {
        self.parts().is_none_or(|composed| composed.is_single())
    }

    /// The lanes, if this order is in lanes: if it is `sharded`, or `exclude` or `subset` of an order in lanes.
    pub(super) fn in_lanes(&self) -> Option<InLanes<'_>> {
        match (self.parts(), self.id, &self.sharding) {
            (Some(composed), ..) => composed.in_lanes(),
            (None, OrderId::Sharded, Some(sharding)) => Some(InLanes { whole: sharding, left: None, dense: sharding }),
            (None, ..) => None,
        }
    }

    /// The number of lanes, if this order keeps lanes apart: if it is in lanes, a blend `by_lane`, or a `skip` that moves
    /// no position to another lane. Position p of such an order is in lane p modulo this number, and a lane has samples
    /// only from the same lane of each `sharded` order, or of the `dense` order of a view ([`InLanes`]).
    pub(crate) fn lanes_apart(&self) -> Option<u32> {
        self.in_lanes().map(|lanes| lanes.dense.lanes).or_else(|| self.parts()?.lanes_apart())
    }

    /// Whether positions are dealt with rotation, if the recipe has no layout: a hash chooses the reader with which
    /// each row (one unit for each reader) begins. Without rotation, an order with a period, such as a blend, could
    /// give a reader the samples of some sources only.
    pub(crate) fn is_rotated(&self) -> bool {
        !self.is_single() && !self.is_by_lane()
    }

    /// Whether this order is a blend `by_lane`, or `skip` of one: then each lane goes through the weights on its own.
    pub(super) fn is_by_lane(&self) -> bool {
        self.parts().is_some_and(|composed| composed.is_by_lane())
    }

    /// Whether an epoch needs a table of all samples.
    pub(super) fn has_table(&self) -> bool {
        self.id.has_table() || self.part(0).is_some_and(Self::has_table)
    }

    /// The text of the failure if this order cannot be a source of a blend; else `None`.
    pub(crate) fn no_source(&self) -> Option<&'static str> {
        self.parts()?.no_source()
    }

    /// The number of draws before an epoch; `None` above 2^53 - 1. Failures: `out-of-memory`.
    pub(crate) fn begin(&self, epoch: u64) -> Result<Option<u64>, Failure> {
        match self.parts() {
            Some(composed) => composed.begin(epoch),
            None => Ok(epoch.checked_mul(self.samples).filter(|&draws| draws <= MAX_EXACT)),
        }
    }

    /// The epoch and the position of a draw below 2^53. For a steady order without positions: epoch 0 and position 0.
    /// Failures: `out-of-memory`.
    pub(crate) fn find(&self, draw: u64) -> Result<(u64, u64), Failure> {
        if let Some(length) = self.steady() {
            return Ok((draw.checked_div(length).unwrap_or(0), draw.checked_rem(length).unwrap_or(0)));
        }
        // The last epoch that begins at or before the draw: empty epochs before it begin at the same draw.
        let epoch = last(MAX_EXACT, |epoch| Ok(self.begin(epoch)?.is_some_and(|begin| begin <= draw)))?;
        Ok((epoch, draw - self.begin(epoch)?.unwrap_or(draw)))
    }

    /// The epoch of a draw, and the draws of this epoch. `before` is an epoch that was read before, and the end of its
    /// draws: if the draw is in the next epoch, it is found without a search. Failures: `epoch`, if the epoch cannot be
    /// used; `out-of-memory`.
    pub(crate) fn epoch_of(&self, draw: u64, before: Option<(u64, u64)>) -> Result<(u64, Range<u64>), Failure> {
        if let Some((number, begin)) = before.map(|(last, end)| (last + 1, end))
            && self.steady().is_none()
            && draw >= begin
        {
            let end = begin + self.length(number)?;
            if draw < end {
                return Ok((number, begin..end));
            }
        }
        let (number, position) = self.find(draw)?;
        let begin = draw - position;
        Ok((number, begin..begin + self.length(number)?))
    }

    /// The number of occurrences of a sample before a position, earlier epochs included. Failures: `out-of-memory`.
    pub(crate) fn seen(&self, sample: u64, epoch: u64, position: u64) -> Result<u64, Failure> {
        if let Some(composed) = self.parts() {
            return composed.seen(sample, epoch, position);
        }
        Ok(epoch + u64::from(position > 0 && self.place(sample, epoch)? < position))
    }

    /// The number of occurrences of some samples before an epoch, all together. The samples ascend. Failures:
    /// `out-of-memory`.
    pub(super) fn seen_of_all(&self, samples: &[u64], epoch: u64) -> Result<u64, Failure> {
        match self.parts() {
            Some(composed) => composed.seen_of_all(samples, epoch),
            None => Ok(epoch * samples.len() as u64),
        }
    }

    /// The epoch and the position of occurrence number `number` of a sample, if there is one. Failures:
    /// `out-of-memory`.
    pub(crate) fn occurrence(&self, sample: u64, number: u64) -> Result<Option<(u64, u64)>, Failure> {
        match self.parts() {
            Some(composed) => composed.occurrence(sample, number),
            None if number > MAX_EXACT => Ok(None),
            None => Ok(Some((number, self.place(sample, number)?))),
        }
    }

    /// The position of a sample in an epoch of an order that is not composed.
    fn place(&self, sample: u64, epoch: u64) -> Result<u64, Failure> {
        let mut recent = self.recent.borrow_mut();
        let order = match recent.take() {
            Some((of, order)) if of == epoch => order,
            _ => self.order(epoch)?,
        };
        let position = order.next(sample, 0)?.unwrap_or_default();
        *recent = Some((epoch, order));
        Ok(position)
    }

    /// The canonical text: a JSON object.
    pub(crate) fn text(&self) -> &str {
        self.text.get_or_init(|| self.written())
    }

    /// An object with the section `order`, as a state stores it.
    pub(crate) fn section(&self) -> String {
        format!("{{\"order\":{}}}", self.text())
    }

    /// Calls `each` with the pieces of the member `order`, as a state stores it.
    pub(crate) fn pieces(&self, each: &mut dyn FnMut(&str)) {
        ["\"order\":", self.text()].into_iter().for_each(each);
    }

    #[inline(never)]
    fn written(&self) -> String {
        let Self { id, samples, seed, sharding, derived, .. } = self;
        // A derived seed is left out, because a reader of the text derives the same seed again.
        let seed = match *derived == Some(*seed) {
            true => String::new(),
            false => format!(",\"seed\":{}", signed_text(*seed)),
        };
        if let Some(composed) = self.parts() {
            return format!("{{\"name\":\"{}\"{}}}", id.name(), composed.members(&seed));
        }
        let mut text = format!("{{\"name\":\"{}\",\"samples\":{samples}{seed}", id.name());
        if let Some(sharding) = sharding {
            let Sharding { shards, lanes, window } = &**sharding;
            if *id == OrderId::Sharded {
                text += &format!(",\"lanes\":{lanes},\"shuffle_window\":{window}");
            }
            text += &format!(",\"shards\":{},\"sizes\":{}", shards.count(), numbers::text(shards.sizes()));
        }
        text + "}"
    }
}

/// The lanes of an order in lanes.
#[derive(Clone, Copy)]
pub(super) struct InLanes<'a> {
    /// The dataset with all samples.
    pub(super) whole: &'a Rc<Sharding>,
    /// The samples that are left; all if none.
    pub(super) left: Option<&'a Selection>,
    /// The dataset as if it had only the samples that are left: it is this one that is cut into lanes.
    pub(super) dense: &'a Rc<Sharding>,
}

impl InLanes<'_> {
    /// Whether a sample of the dataset is left.
    pub(super) fn has(&self, sample: u64) -> bool {
        self.left.is_none_or(|left| left.rank(sample).1)
    }
}

/// A composed order over all epochs. Draws are its positions, numbered from 0 over all epochs.
pub(crate) trait Composed {
    /// The number of positions of an epoch. Failures: `out-of-memory`.
    fn length(&self, epoch: u64) -> Result<u64, Failure>;

    /// The length of every epoch, if all epochs have the same length.
    fn steady(&self) -> Option<u64>;

    /// The number of draws before an epoch; `None` above 2^53 - 1. Failures: `out-of-memory`.
    fn begin(&self, epoch: u64) -> Result<Option<u64>, Failure> {
        Ok(self.steady().and_then(|length| epoch.checked_mul(length)).filter(|&draws| draws <= MAX_EXACT))
    }

    /// Whether no epoch has a sample twice.
    fn is_single(&self) -> bool;

    /// See [`OrderPart::in_lanes`].
    fn in_lanes(&self) -> Option<InLanes<'_>> {
        None
    }

    /// See [`OrderPart::lanes_apart`].
    fn lanes_apart(&self) -> Option<u32> {
        None
    }

    /// See [`OrderPart::is_by_lane`].
    fn is_by_lane(&self) -> bool {
        false
    }

    /// Whether the canonical text has a list of objects, such as sources or ranges. Objects are written in full, so
    /// that the text may be long; a long list of numbers is written as a hash.
    fn has_objects(&self) -> bool {
        false
    }

    /// The text of the failure if this order cannot be a source of a blend; else `None`.
    fn no_source(&self) -> Option<&'static str> {
        None
    }

    /// The order of an epoch. Failures: `out-of-memory`.
    fn at(self: Rc<Self>, epoch: u64) -> Result<Box<dyn Epoch>, Failure>;

    /// The number of occurrences of a sample before a position, earlier epochs included. Failures: `out-of-memory`.
    fn seen(&self, sample: u64, epoch: u64, position: u64) -> Result<u64, Failure>;

    /// See [`OrderPart::seen_of_all`].
    fn seen_of_all(&self, samples: &[u64], epoch: u64) -> Result<u64, Failure> {
        samples.iter().try_fold(0, |seen, &sample| Ok(seen + self.seen(sample, epoch, 0)?))
    }

    /// The epoch and the position of occurrence number `number` of a sample. `None` if the sample has fewer
    /// occurrences, or if the epoch cannot be used. Failures: `out-of-memory`.
    fn occurrence(&self, sample: u64, number: u64) -> Result<Option<(u64, u64)>, Failure>;

    /// The members of the order without `name`, as in the canonical text, each with a comma before it. `seed` is the
    /// text of the member `seed`, or empty.
    fn members(&self, seed: &str) -> String;

    /// The blend, if this order is one.
    fn as_blend(&self) -> Option<&dyn Sources> {
        None
    }

    /// The epoch and the position of inner order `place` when this order is at `position` of `epoch`. Failures:
    /// `out-of-memory`.
    fn inner(&self, _place: usize, epoch: u64, position: u64) -> Result<(u64, u64), Failure> {
        Ok((epoch, position))
    }

    /// The inner order number `place`, if there is one.
    fn part(&self, _place: usize) -> Option<&OrderPart> {
        None
    }
}

/// The last number below `end` for which a condition holds. The condition holds for 0, and for no number after one for
/// which it does not hold. Failures: those of the condition.
pub(super) fn last(end: u64, holds: impl Fn(u64) -> Result<bool, Failure>) -> Result<u64, Failure> {
    let (mut low, mut high) = (0, end);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if holds(middle)? { low = middle } else { high = middle }
    }
    Ok(low)
}

/// Operations on the sources of a blend.
pub(crate) trait Sources {
    /// Whether the sources are parts of one dataset, so that several sources may have the same sample.
    fn is_shared(&self) -> bool;

    /// The names of the sources.
    fn names(&self) -> Box<dyn Iterator<Item = &str> + '_>;

    /// The draws of each source at positions `from` to `to` - 1 of an epoch. Failures: `out-of-memory`.
    fn report(&self, epoch: u64, from: u64, to: u64) -> Result<Vec<Drawn>, Failure>;

    /// The greatest deviation of a source's count from exact proportion, in millionths of a sample.
    fn bound(&self, source: u32) -> u64;

    /// The source of a sample, and the index of the sample in the source; `None` if the sources are parts of one
    /// dataset (`shared`).
    fn source_of(&self, sample: u64) -> Option<(u32, u64)>;
}

/// The draws of one source at a run of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Drawn {
    /// The number of the first draw, counted over all epochs.
    pub(crate) first: u64,
    /// The number of draws.
    pub(crate) count: u64,
    /// The pass of the first draw, and its position in the pass.
    pub(crate) from: (u64, u64),
    /// The pass of the draw after the last one, and its position in the pass.
    pub(crate) to: (u64, u64),
}

/// The failure of an epoch that cannot be used: the positions of all epochs up to it are more than 2^53 - 1.
#[cold]
fn too_late(epoch: u64, epochs: u64) -> Failure {
    let allowed: Allowed = match epochs.checked_sub(1) {
        Some(last) => range(0, last).and(": all epochs together have at most 2^53 - 1 positions"),
        None => "none: an epoch has more than 2^53 - 1 positions".into(),
    };
    Failure::out_of_range("epoch", epoch, allowed)
}
