//! The section `order` of a recipe.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;

use crate::base::failure::only;
use crate::order::{DEFAULT_LANES, DEFAULT_WINDOW, Order, Sharding, Shards};
use crate::state::fields::Fields;
use crate::state::numbers;
use crate::state::recipe::{self, List};
use crate::{Failure, OrderId};

/// The order of every epoch.
pub(crate) struct OrderPart {
    pub(crate) id: OrderId,
    pub(crate) samples: u64,
    pub(crate) seed: i64,
    /// The shards, if there are some; their lanes and windows are those of the order `sharded`.
    pub(crate) sharding: Option<Rc<Sharding>>,
    /// Its canonical text, once somebody asked.
    text: OnceCell<String>,
}

impl OrderPart {
    pub(super) fn new(id: OrderId, samples: u64, seed: i64, sharding: Option<Rc<Sharding>>) -> Self {
        Self { id, samples, seed, sharding, text: OnceCell::new() }
    }

    /// The order of single samples. Failures: any field.
    #[inline(never)]
    pub(super) fn read(fields: &Fields, lists: &[List]) -> Result<Self, Failure> {
        // A list does not choose the order: a recipe is of one deal, whatever comes with it.
        let id = match fields.text("order") {
            Some(name) => OrderId::from_name(name)?,
            None if fields.numbers("sizes").is_some() => OrderId::Sharded,
            None => OrderId::Feistel,
        };
        if id == OrderId::Sharded {
            return Self::stored(fields, lists, id).map(|(order, _)| order);
        }
        recipe::refuse_sharding(fields, id.name())?;
        if let Some(sizes) = sizes(fields, lists)? {
            return Err(recipe::not_sharded("sizes", &format!("{} numbers", sizes.len()), id.name()));
        }
        match fields.count("samples") {
            Some(samples) => Ok(Self::new(id, samples, fields.signed("seed").unwrap_or(0), None)),
            None => Err(Failure::missing("samples", "the number of samples in the dataset")),
        }
    }

    /// The order of samples that are read from shards: `sharded`, or as they are stored. Failures: any field.
    #[inline(never)]
    pub(crate) fn of_shards(fields: &Fields, lists: &[List]) -> Result<(Self, Rc<Sharding>), Failure> {
        let id = fields.text("order").map_or(Ok(OrderId::Sharded), OrderId::from_name)?;
        if !matches!(id, OrderId::Sharded | OrderId::Sequential) {
            let allowed = "sharded or sequential: readers of shards need neighbouring rows";
            return Err(Failure::contradiction("order", id.name(), allowed));
        }
        Self::stored(fields, lists, id)
    }

    fn stored(fields: &Fields, lists: &[List], id: OrderId) -> Result<(Self, Rc<Sharding>), Failure> {
        if id != OrderId::Sharded {
            recipe::refuse(fields, &["lanes", "shuffle-window"], id.name())?;
        }
        let Some(sizes) = sizes(fields, lists)? else {
            return Err(Failure::missing("sizes", "the samples of each shard"));
        };
        let shards = Shards::new(&sizes)?;
        check_sums(fields, shards.count().into(), shards.samples())?;
        let samples = shards.samples();
        let lanes = fields.u32("lanes")?.unwrap_or(DEFAULT_LANES);
        let window = fields.u32("shuffle-window")?.unwrap_or(DEFAULT_WINDOW);
        let sharding = Rc::new(Sharding::new(shards, lanes, window)?);
        let order = Self::new(id, samples, fields.signed("seed").unwrap_or(0), Some(Rc::clone(&sharding)));
        Ok((order, sharding))
    }

    /// The order of an epoch. Failures: `out-of-memory`, or a field that is out of its range.
    pub(super) fn order(&self, epoch: u64) -> Result<Order, Failure> {
        match (self.id, &self.sharding) {
            (OrderId::Sharded, Some(sharding)) => Order::sharded(Rc::clone(sharding), self.seed, epoch),
            (id, _) => Order::new(id, self.samples, self.seed, epoch),
        }
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
        let Self { id, samples, seed, sharding, .. } = self;
        let mut text = format!("{{\"name\":\"{}\",\"samples\":{samples},\"seed\":{seed}", id.name());
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

/// The sizes of the shards. Failures: `sizes`, `out-of-memory`.
fn sizes(fields: &Fields, lists: &[List]) -> Result<Option<Vec<u64>>, Failure> {
    recipe::list("sizes", "the samples of each shard", fields, lists)
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
