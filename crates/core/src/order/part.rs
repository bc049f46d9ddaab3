//! The order of all epochs: the section `order` of a recipe.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use core::cell::{OnceCell, RefCell};

use super::compose::{self, Blend, Composed, read};
use super::members::{ANY_ORDER_MEMBERS, MAX_ORDER};
use super::{Order, Sharding, Shards};
use crate::base::failure::{at_most, only};
use crate::document::check::Checked;
use crate::document::fields::Fields;
use crate::document::lists::{List, check_lists};
use crate::document::numbers;
use crate::document::signed_text;
use crate::{Failure, MAX_EXACT, OrderId};

/// The order of every epoch.
pub(crate) struct OrderPart {
    pub(crate) id: OrderId,
    /// Sample indices are below this.
    pub(crate) samples: u64,
    pub(crate) seed: i64,
    /// The shards, if there are some; their lanes and windows are those of the order `sharded`.
    pub(crate) sharding: Option<Rc<Sharding>>,
    composed: Option<Rc<dyn Composed>>,
    /// The seed that follows from the blend around it, if there is one.
    derived: Option<i64>,
    /// Its canonical text, once somebody asked.
    text: OnceCell<String>,
    /// The epoch that was asked for last, if inverses of several epochs are asked for.
    recent: RefCell<Option<(u64, Order)>>,
}

impl OrderPart {
    pub(crate) fn new(id: OrderId, samples: u64, seed: i64, sharding: Option<Rc<Sharding>>) -> Self {
        let (composed, derived, text, recent) = (None, None, OnceCell::new(), RefCell::default());
        Self { id, samples, seed, sharding, composed, derived, text, recent }
    }

    /// An order that is made of others.
    pub(super) fn composed(id: OrderId, samples: u64, seed: i64, composed: Rc<dyn Composed>) -> Self {
        Self { composed: Some(composed), ..Self::new(id, samples, seed, None) }
    }

    /// The order of a recipe of a sampler or a schedule. Failures: any field.
    pub(crate) fn of_recipe(fields: &Fields, lists: &[List]) -> Result<Self, Failure> {
        Self::read(fields.section("order"), lists)
    }

    /// The order of a sampler. Failures: any field.
    pub(crate) fn read(fields: &Fields, lists: &[List]) -> Result<Self, Failure> {
        let part = Self::nested(fields, lists, None)?;
        let size = if part.is_composed() { part.text().len() } else { 0 };
        if size > MAX_ORDER {
            let value = format!("of {size} bytes in its canonical form");
            let allowed =
                at_most(MAX_ORDER).and(" for an order, so that its states can be read; give sources shorter names");
            return Err(Failure::out_of_range("recipe", value, allowed));
        }
        Ok(part)
    }

    /// An order that may be part of another one. `derived` is the seed that a blend around it gives, if there is one. Failures: any field.
    #[inline(never)]
    pub(super) fn nested(fields: &Fields, lists: &[List], derived: Option<i64>) -> Result<Self, Failure> {
        Self::with_default(fields, lists, derived).map(|part| part.deriving(derived))
    }

    /// The same order as a source of a blend, which derives a seed for it. The canonical text has a seed only if it differs from that.
    pub(super) fn deriving(self, derived: Option<i64>) -> Self {
        Self { derived, ..self }
    }

    fn with_default(fields: &Fields, lists: &[List], derived: Option<i64>) -> Result<Self, Failure> {
        // A list does not choose the order: a recipe is of one deal, whatever comes with it.
        let id = match fields.text("order") {
            Some(name) => OrderId::of_any_name(name, fields, lists, &[OrderId::Sharded])?,
            None if fields.numbers("sizes").is_some() => OrderId::Sharded,
            None => OrderId::Feistel,
        };
        if id.is_composed() && !cfg!(feature = "composed") {
            let allowed = "an order that is not made of others: samedeal/light has no others, samedeal has all";
            return Err(Failure::contradiction("order", id.name(), allowed));
        }
        let order = Self::checked(fields, lists, id)?;
        if id.is_composed() && cfg!(feature = "composed") {
            return read::read(id, &order, lists, derived);
        }
        if id == OrderId::Sharded {
            return Self::stored(&order, id, derived).map(|(order, _)| order);
        }
        match order.count("samples") {
            Some(samples) => {
                let seed = order.signed("seed").or(derived).unwrap_or(0);
                id.check(samples, seed)?;
                Ok(Self::new(id, samples, seed, None))
            }
            None => Err(Failure::missing("samples", "the number of samples in the dataset")),
        }
    }

    /// The members of an order, each by itself. Failures: any of them; `lists`, where one is of no member.
    pub(crate) fn checked<'f, 'a>(
        fields: &'f Fields<'a>,
        lists: &[List<'f>],
        id: OrderId,
    ) -> Result<Checked<'f, 'a>, Failure> {
        let order = fields.check(lists, &[("order", id.name())])?;
        let below = if id.is_blend() { Some("sources/") } else { id.is_view().then_some("of/") };
        check_lists(lists, ANY_ORDER_MEMBERS, |name| below.is_some_and(|path| name.starts_with(path)))?;
        Ok(order)
    }

    /// The order of samples that are read from shards: `sharded`, or as they are stored; none of a composed one, which has its shards in
    /// other orders. Failures: any field.
    #[inline(never)]
    pub(crate) fn of_shards(fields: &Fields, lists: &[List]) -> Result<(Self, Option<Rc<Sharding>>), Failure> {
        let stored = [OrderId::Sharded, OrderId::Sequential];
        let named = |name| OrderId::of_any_name(name, fields, lists, &stored);
        let id = fields.text("order").map_or(Ok(OrderId::Sharded), named)?;
        if id.is_composed() {
            return Ok((Self::read(fields, lists)?, None));
        }
        if !matches!(id, OrderId::Sharded | OrderId::Sequential) {
            let allowed =
                "sharded, sequential or one that is made of sharded ones: readers of shards need neighbouring rows";
            return Err(Failure::contradiction("order", id.name(), allowed));
        }
        // As it is stored, an order of shards has no lanes.
        for field in ["lanes", "shuffle-window"] {
            if let (Some(value), OrderId::Sequential) = (fields.shown(field), id) {
                return Err(Failure::contradiction(
                    field,
                    value,
                    "none with the order sequential; it goes with order sharded",
                ));
            }
        }
        let order = Self::checked(fields, lists, OrderId::Sharded)?;
        Self::stored(&order, id, None).map(|(order, sharding)| (order, Some(sharding)))
    }

    fn stored(order: &Checked, id: OrderId, derived: Option<i64>) -> Result<(Self, Rc<Sharding>), Failure> {
        let shards = Shards::new(order.found("sizes").unwrap_or_default())?;
        check_sums(order, shards.count().into(), shards.samples())?;
        let samples = shards.samples();
        let sharding = Rc::new(Sharding::new(shards, order.short("lanes"), order.short("shuffle-window"))?);
        let seed = order.signed("seed").or(derived).unwrap_or(0);
        Ok((Self::new(id, samples, seed, Some(Rc::clone(&sharding))), sharding))
    }

    /// The order of an epoch. Failures: `out-of-memory`, or a field that is out of its range.
    pub(crate) fn order(&self, epoch: u64) -> Result<Order, Failure> {
        match (self.parts(), self.id, &self.sharding) {
            (Some(composed), ..) => Rc::clone(composed).at(epoch).map(Order::composed),
            (None, OrderId::Sharded, Some(sharding)) => Order::sharded(Rc::clone(sharding), self.seed, epoch),
            (None, id, _) => Order::new(id, self.samples, self.seed, epoch),
        }
    }

    /// What it is made of. Without composed orders nothing of them stays in a component.
    fn parts(&self) -> Option<&Rc<dyn Composed>> {
        self.composed.as_ref().filter(|_| cfg!(feature = "composed"))
    }

    /// Whether it is made of others.
    pub(crate) fn is_composed(&self) -> bool {
        self.parts().is_some()
    }

    /// The blend, if it is one.
    pub(crate) fn as_blend(&self) -> Option<&Blend> {
        self.parts()?.as_blend()
    }

    /// The order at a place among those that it is made of.
    pub(super) fn part(&self, place: usize) -> Option<&Self> {
        self.parts()?.part(place)
    }

    /// How far the order at a place is when this one is at a position. Failures: `out-of-memory`.
    pub(super) fn inner(&self, place: usize, epoch: u64, position: u64) -> Result<(u64, u64), Failure> {
        match self.parts() {
            Some(composed) => composed.inner(place, epoch, position),
            None => Ok((epoch, position)),
        }
    }

    /// The number of positions of an epoch. Failures: `epoch`, of a composed order that has too many before its end; `out-of-memory`.
    pub(crate) fn length(&self, epoch: u64) -> Result<u64, Failure> {
        let Some(composed) = self.parts() else { return Ok(self.samples) };
        let next = epoch.checked_add(1).map_or(Ok(None), |next| composed.begin(next))?;
        if next.is_none() {
            return Err(compose::read::too_late(epoch, self.epochs()?));
        }
        composed.length(epoch)
    }

    /// How many epochs of a composed order can be used. Failures: `out-of-memory`.
    pub(crate) fn epochs(&self) -> Result<u64, Failure> {
        let (mut low, mut high) = (0, u64::MAX);
        while low < high {
            let middle = low.midpoint(high);
            if self.begin(middle + 1)?.is_some() { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    /// The number of positions of all epochs that can be used. Failures: `out-of-memory`.
    pub(crate) fn draws(&self) -> Result<u64, Failure> {
        Ok(self.begin(self.epochs()?)?.unwrap_or_default())
    }

    /// The number of positions of every epoch, if it is the same.
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

    /// Whether an epoch needs a table of all samples.
    pub(super) fn has_table(&self) -> bool {
        self.id.has_table() || self.part(0).is_some_and(Self::has_table)
    }

    /// Why it cannot be a source of a blend, if it cannot.
    pub(crate) fn no_source(&self) -> Option<&'static str> {
        self.parts()?.no_source()
    }

    /// How many draws there are before an epoch, if they are at most 2^53 - 1. Failures: `out-of-memory`.
    pub(crate) fn begin(&self, epoch: u64) -> Result<Option<u64>, Failure> {
        match self.parts() {
            Some(composed) => composed.begin(epoch),
            None => Ok(epoch.checked_mul(self.samples).filter(|&draws| draws <= MAX_EXACT)),
        }
    }

    /// The epoch and the position of a draw below 2^53. An order without positions has none: this is its beginning. Failures:
    /// `out-of-memory`.
    pub(crate) fn find(&self, draw: u64) -> Result<(u64, u64), Failure> {
        if let Some(length) = self.steady() {
            return Ok((draw.checked_div(length).unwrap_or(0), draw.checked_rem(length).unwrap_or(0)));
        }
        // The last epoch that begins at or before the draw: empty epochs before it begin there too.
        let (mut low, mut high) = (0, MAX_EXACT);
        while low + 1 < high {
            let middle = low.midpoint(high);
            if self.begin(middle)?.is_some_and(|begin| begin <= draw) { low = middle } else { high = middle }
        }
        Ok((low, draw - self.begin(low)?.unwrap_or(draw)))
    }

    /// How many occurrences of a sample come before a position. Failures: `out-of-memory`.
    pub(crate) fn seen(&self, sample: u64, epoch: u64, position: u64) -> Result<u64, Failure> {
        if let Some(composed) = self.parts() {
            return composed.seen(sample, epoch, position);
        }
        Ok(epoch + u64::from(position > 0 && self.place(sample, epoch)? < position))
    }

    /// Where occurrence number `number` of a sample is, if it can be reached. Failures: `out-of-memory`.
    pub(crate) fn occurrence(&self, sample: u64, number: u64) -> Result<Option<(u64, u64)>, Failure> {
        match self.parts() {
            Some(composed) => composed.occurrence(sample, number),
            None if number > MAX_EXACT => Ok(None),
            None => Ok(Some((number, self.place(sample, number)?))),
        }
    }

    /// The position of a sample, of an order that is not composed.
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

    /// Its canonical text: an object.
    pub(crate) fn text(&self) -> &str {
        self.text.get_or_init(|| self.written())
    }

    /// The section as a recipe has it: what states hold.
    pub(crate) fn section(&self) -> String {
        format!("{{\"order\":{}}}", self.text())
    }

    #[inline(never)]
    fn written(&self) -> String {
        let Self { id, samples, seed, sharding, derived, .. } = self;
        // A seed that follows from the blend around it is found again.
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

/// Whether the numbers of shards and of samples, if they are there, are those of the sizes. Failures: `shards`, `samples`.
pub(crate) fn check_sums(fields: &Fields, shards: u64, samples: u64) -> Result<(), Failure> {
    for (field, here) in [("shards", shards), ("samples", samples)] {
        match fields.count(field) {
            Some(given) if given != here => {
                return Err(Failure::contradiction(field, given, only(here).and(", as sizes has")));
            }
            _ => {}
        }
    }
    Ok(())
}
