//! The recipe of a reading.
//!
//! Nothing here is asked often: it is kept out of line, since every host compiles the component when it starts.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;

use super::left::Positions;
use super::segment::Group;
use crate::base::failure::shorten;
use crate::base::names::named;
use crate::deal::{REMAINDERS, Rotation};
use crate::order::{OrderPart, Sharding, Shards, check_lists};
use crate::shard::{self, PlanConfig, Weight};
use crate::state::fields::{Fields, Key, Kind};
use crate::state::recipe::{self, List, VERSION};
use crate::{Failure, OrderId, Remainder};

const SECTIONS: &[Key] = &[
    recipe::SAMEDEAL,
    recipe::STEPS_ELSEWHERE,
    recipe::SPLIT_ELSEWHERE,
    recipe::ANY_ORDER,
    shard::SHARDS,
    Key { name: "deal", field: "deal", kind: Kind::Section(DEAL) },
    Key { name: "batch", field: "batch", kind: Kind::Section(BATCH) },
];
/// The sections of which a state has the one that it goes on with.
pub(super) const STATE_SECTIONS: &[Key] = &[recipe::ANY_ORDER, shard::SHARDS];

const DEAL: &[Key] = &[
    Key { name: "world_size", field: "world-size", kind: Kind::SHORT },
    Key { name: "workers", field: "workers", kind: Kind::SHORT },
    Key { name: "remainder", field: "remainder", kind: Kind::Text },
    Key {
        name: "layout",
        field: "layout",
        kind: Kind::Elsewhere("none in the recipe of readers: they take positions in turn"),
    },
    Key {
        name: "unit",
        field: "unit",
        kind: Kind::Elsewhere("none in the recipe of readers: they take positions in turn"),
    },
    Key { name: "readers", field: "readers", kind: recipe::OF_STREAMS },
];
const BATCH: &[Key] = &[
    Key { name: "batch_size", field: "batch-size", kind: Kind::SHORT },
    Key { name: "drop_last", field: "drop-last", kind: Kind::Flag },
];

/// Everything that decides the order of an epoch. It does not depend on the readers.
#[derive(Clone)]
pub(super) struct Recipe {
    pub(super) seed: i64,
    pub(super) dealt: Dealt,
    /// Its section in its canonical form, an object, once somebody asked: it has the hashes of long lists.
    text: Rc<OnceCell<String>>,
}

/// What is dealt to readers.
#[derive(Clone)]
pub(super) enum Dealt {
    /// Single positions of an order.
    Samples(Rc<OrderPart>, Files),
    Shards(Rc<PlanConfig>, Rc<Shards>),
}

/// The shards that the samples of an order lie in.
#[derive(Clone)]
pub(super) enum Files {
    /// Its own.
    Own(Rc<Sharding>),
    /// Those of all orders that it is made of.
    Joined(Rc<Shards>),
}

/// The names of the lists of a reading.
const LISTS: [&str; 8] = {
    let [sizes, bytes, holders, offsets, nodes] = shard::LISTS;
    [sizes, bytes, holders, offsets, nodes, "indices", "classes", "factors"]
};

impl Recipe {
    fn new(dealt: Dealt) -> Self {
        let seed = match &dealt {
            Dealt::Samples(order, _) => order.seed,
            Dealt::Shards(plan, _) => plan.seed,
        };
        Self { seed, dealt, text: Rc::default() }
    }

    pub(super) fn text(&self) -> &str {
        self.text.get_or_init(|| match &self.dealt {
            Dealt::Samples(order, _) => order.section(),
            Dealt::Shards(plan, _) => format!("{{\"shards\":{}}}", plan.section()),
        })
    }

    pub(super) fn shards(&self) -> &Shards {
        match &self.dealt {
            Dealt::Samples(_, Files::Own(sharding)) => &sharding.shards,
            Dealt::Samples(_, Files::Joined(shards)) => shards,
            Dealt::Shards(_, shards) => shards,
        }
    }

    pub(super) fn samples(&self) -> u64 {
        self.shards().samples()
    }

    /// The order of single positions, if these are dealt.
    pub(super) fn order(&self) -> Option<&Rc<OrderPart>> {
        if let Dealt::Samples(order, _) = &self.dealt { Some(order) } else { None }
    }

    /// The same, if it is made of other orders.
    pub(super) fn composed(&self) -> Option<&OrderPart> {
        self.order().map(|order| &**order).filter(|order| order.is_composed())
    }

    /// The positions of an epoch. Failures: `epoch`, `out-of-memory`.
    pub(super) fn positions(&self, epoch: u64) -> Result<Positions, Failure> {
        let Some(order) = self.composed() else { return Ok(Positions { length: self.samples(), rotation: None }) };
        let rotation = (!order.is_single()).then(|| Rotation::new(order.seed, epoch));
        Ok(Positions { length: order.length(epoch)?, rotation })
    }

    /// The lanes and the shuffle window, if samples are dealt, and shuffled by one order.
    pub(super) fn lanes(&self) -> Option<(u32, u32)> {
        match &self.dealt {
            Dealt::Samples(order, Files::Own(sharding)) if order.id == OrderId::Sharded => {
                Some((sharding.lanes, sharding.window))
            }
            _ => None,
        }
    }
}

/// The parts of a document: the recipe, the readers, what happens if the readers do not divide the samples, and whether short batches
/// are left out. Failures: any member.
#[inline(never)]
pub(super) fn read(text: &str, lists: &[List]) -> Result<(Recipe, Group, Remainder, bool), Failure> {
    let fields = recipe::fields(text, SECTIONS, lists, &LISTS)?;
    let empty = Fields::default();
    let [deal, batch] = ["deal", "batch"].map(|section| fields.section(section).unwrap_or(&empty));
    let dealt = match (fields.section("order"), fields.section("shards")) {
        (Some(order), None) => samples(order, lists)?,
        (None, Some(shards)) => whole(shards, lists)?,
        (Some(order), Some(shards)) if order.has("order") => {
            refuse(shards, shard::MEMBERS, "shards", "none, as single samples are dealt: the recipe has an order")?;
            samples(order, lists)?
        }
        (Some(order), Some(shards)) => {
            let allowed = "none, as whole shards are dealt: the recipe has the section shards";
            refuse(order, recipe::ANY_ORDER_MEMBERS, "order", allowed)?;
            whole(shards, lists)?
        }
        (None, None) => {
            return Err(Failure::missing(
                "order",
                "the section that has the samples, or the section shards for whole shards",
            ));
        }
    };
    let by_samples = matches!(dealt, Dealt::Samples(..));
    let remainder = named("remainder", deal.text("remainder"), &REMAINDERS)?;
    if let Some(value) = deal.text("remainder")
        && !by_samples
    {
        let allowed = "none, as whole shards are dealt: each of them has one reader";
        return Err(Failure::contradiction("remainder", shorten(value), allowed));
    }
    let short_left_out = batch.flag("drop-last").unwrap_or(false);
    let group = Group {
        world_size: deal.u32("world-size")?.unwrap_or(1),
        workers: deal.u32("workers")?.unwrap_or(1),
        batch_size: batch.u32("batch-size")?.unwrap_or(1),
        // Where samples are dealt, a reader's short batch is its last one in any case, and says nothing of other readers.
        drop_last: if by_samples { remainder == Remainder::Drop } else { short_left_out },
    };
    group.check()?;
    Ok((Recipe::new(dealt), group, remainder, short_left_out))
}

/// The whole recipe in its canonical form.
#[inline(never)]
pub(super) fn write(recipe: &Recipe, group: Group, remainder: Remainder, drop_last: bool) -> String {
    let Group { world_size, workers, batch_size, .. } = group;
    let remainder = match recipe.dealt {
        Dealt::Samples(..) => format!(",\"remainder\":\"{}\"", remainder.name()),
        Dealt::Shards(..) => String::new(),
    };
    let text = recipe.text();
    let sections = text.get(1..text.len() - 1).unwrap_or_default();
    format!(
        "{{\"samedeal\":{VERSION},{sections},\"deal\":{{\"world_size\":{world_size},\"workers\":{workers}{remainder}}},\
         \"batch\":{{\"batch_size\":{batch_size},\"drop_last\":{drop_last}}}}}"
    )
}

/// Failures: any member of the section.
fn samples(order: &Fields, lists: &[List]) -> Result<Dealt, Failure> {
    let of_shards = lists.iter().find_map(|&(name, list)| {
        let key = shard::MEMBERS.iter().find(|key| key.name == name && name != "sizes")?;
        Some((key.field, list))
    });
    if let Some((field, list)) = of_shards {
        let allowed = "none, as single samples are dealt: the recipe has an order";
        return Err(Failure::contradiction(field, format!("{} numbers", list.len()), allowed));
    }
    let (order, sharding) = OrderPart::of_shards(order, lists)?;
    let files = match sharding {
        Some(sharding) => Files::Own(sharding),
        None => {
            let mut sizes = Vec::new();
            order.add_shards(&mut sizes)?;
            Files::Joined(Rc::new(Shards::new(&sizes)?))
        }
    };
    Ok(Dealt::Samples(Rc::new(order), files))
}

/// Failures: any member of the section.
fn whole(fields: &Fields, lists: &[List]) -> Result<Dealt, Failure> {
    if fields.text("policy") == Some("locality-aware") {
        let allowed = "size-aware or round-robin: readers may go on with other ranks, whose nodes are not known";
        return Err(Failure::contradiction("policy", "locality-aware", allowed));
    }
    check_lists(lists, &shard::LISTS, |_| false)?;
    let plan = PlanConfig::read(fields, lists)?;
    if let (Weight::Samples, Some(bytes)) = (plan.weight, &plan.bytes) {
        let allowed = "none, as they go with the weight bytes";
        return Err(Failure::contradiction("bytes", format!("{} numbers", bytes.len()), allowed));
    }
    let shards = Shards::new(&plan.sizes)?;
    Ok(Dealt::Shards(Rc::new(plan), Rc::new(shards)))
}

/// Failures: the first member that is there; the section, if it is empty.
fn refuse(fields: &Fields, known: &'static [Key], section: &'static str, allowed: &'static str) -> Result<(), Failure> {
    let Some(field) = fields.first_of(known) else {
        return Err(Failure::contradiction(section, "there", allowed));
    };
    Err(Failure::contradiction(field, fields.shown(field).unwrap_or_default(), allowed))
}
