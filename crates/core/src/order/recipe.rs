//! Reads the section `order` of a recipe.

use alloc::format;
use alloc::rc::Rc;

use super::compose::read;
use super::id::OrderId;
use super::members::{ANY_ORDER_MEMBERS, MAX_ORDER, of_order};
use super::part::OrderPart;
use super::sharded::Sharding;
use super::shards::Shards;
use crate::base::failure::{Failure, at_most, only};
use crate::document::check::Checked;
use crate::document::fields::Fields;
use crate::document::lists::{List, check_lists};

impl OrderPart {
    /// The order of a recipe of a sampler or a schedule. Failures: any field.
    pub(crate) fn of_recipe(fields: &Fields, lists: &[List]) -> Result<Self, Failure> {
        Self::read(fields.section("order"), lists).map_err(of_order)
    }

    /// Reads the outermost order of a recipe. Failures: any field; `recipe`, if the canonical text is too long.
    pub(crate) fn read(fields: &Fields, lists: &[List]) -> Result<Self, Failure> {
        let part = Self::nested(fields, lists, None)?;
        // The canonical text is made here only if it can be long, because making it computes the hashes of long lists,
        // which would be most of the time of reading. There are two such orders. An order with a list of objects, which
        // is written in full, may have a text that is too long. A deeply nested order may have a list of up to 256
        // numbers at each level: its text is not too long, but is cached now, because later calls must not need much
        // memory.
        let is_deep = part.part(0).and_then(|of| of.part(0)).is_some_and(Self::is_composed);
        let size = if part.has_objects() || is_deep { part.text().len() } else { 0 };
        if size > MAX_ORDER {
            let value = format!("of {size} bytes in its canonical form");
            let allowed =
                at_most(MAX_ORDER).and(" for an order, so that its states can be read; give sources shorter names");
            return Err(Failure::out_of_range("recipe", value, allowed));
        }
        Ok(part)
    }

    /// Reads an order that may be in another one. `derived` is the seed that a blend derives for this order, if the
    /// order is a source of a blend. Failures: any field.
    #[inline(never)]
    pub(super) fn nested(fields: &Fields, lists: &[List], derived: Option<i64>) -> Result<Self, Failure> {
        Self::with_default(fields, lists, derived).map(|part| part.deriving(derived))
    }

    fn with_default(fields: &Fields, lists: &[List], derived: Option<i64>) -> Result<Self, Failure> {
        // Only the recipe chooses the order, not a list beside it: a recipe means one order, with or without lists.
        let id = match fields.text("name") {
            Some(name) => OrderId::of_any_name(name, fields, lists, &[OrderId::Sharded])?,
            None if fields.numbers("sizes").is_some() => OrderId::Sharded,
            None => OrderId::Feistel,
        };
        if id.is_composed() && !cfg!(feature = "composed") {
            let allowed = "an order that is not made of others: samedeal/light has no others, samedeal has all";
            return Err(Failure::contradiction("name", id.name(), allowed));
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

    /// Checks the members of an order, each by itself. Failures: any of the members; `lists`, if a list belongs to no
    /// member.
    pub(crate) fn checked<'f, 'a>(
        fields: &'f Fields<'a>,
        lists: &[List<'f>],
        id: OrderId,
    ) -> Result<Checked<'f, 'a>, Failure> {
        let order = fields.check(lists, &[("name", id.name())])?;
        let below = if id.is_blend() { Some("sources/") } else { id.is_view().then_some("of/") };
        check_lists(lists, ANY_ORDER_MEMBERS, |name| below.is_some_and(|path| name.starts_with(path)))?;
        Ok(order)
    }

    /// Reads the order of a reading of shards: `sharded`, `sequential` (stored order), or a composed order. Returns the
    /// order and its shards; `None` for a composed order, whose inner orders have the shards. Failures: any field.
    #[inline(never)]
    pub(crate) fn of_shards(fields: &Fields, lists: &[List]) -> Result<(Self, Option<Rc<Sharding>>), Failure> {
        let stored = [OrderId::Sharded, OrderId::Sequential];
        let named = |name| OrderId::of_any_name(name, fields, lists, &stored);
        let id = fields.text("name").map_or(Ok(OrderId::Sharded), named)?;
        if id.is_composed() {
            return Ok((Self::read(fields, lists)?, None));
        }
        if !matches!(id, OrderId::Sharded | OrderId::Sequential) {
            let allowed =
                "sharded, sequential or one that is made of sharded ones: readers of shards need neighbouring rows";
            return Err(Failure::contradiction("name", id.name(), allowed));
        }
        // With `sequential`, shards are read in stored order, without lanes and windows.
        for field in ["lanes", "shuffle_window"] {
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
        let sharding = Rc::new(Sharding::new(shards, order.short("lanes"), order.short("shuffle_window"))?);
        let seed = order.signed("seed").or(derived).unwrap_or(0);
        Ok((Self::new(id, samples, seed, Some(Rc::clone(&sharding))), sharding))
    }
}

/// Checks that the members `shards` and `samples`, if they are there, agree with the sizes. Failures: `shards`,
/// `samples`.
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
