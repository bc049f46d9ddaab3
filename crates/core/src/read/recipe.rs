//! The recipe of a reading.
//!
//! Functions here are not inlined: they are rarely called, and every host compiles the component when it starts.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;

use super::left::Positions;
use super::segment::{Group, MAX_READERS, MAX_WORKERS};
use crate::base::Failure;
use crate::base::failure::shorten;
use crate::base::memory::Pieces;
use crate::deal::{REMAINDERS, Remainder, Rotation};
use crate::document::fields::Fields;
use crate::document::lists::List;
use crate::document::member::{Default, Kind, Member, text};
use crate::document::recipe::{self, VERSION};
use crate::order::{OrderId, OrderPart, Sharding, Shards, of_order};
use crate::shard::{self, BalanceBy, PlanConfig};
use crate::{deal, order};

pub(crate) const SECTIONS: &[Member] = &[
    recipe::SAMEDEAL,
    recipe::STEPS_ELSEWHERE,
    recipe::SPLIT_ELSEWHERE,
    order::ANY_ORDER.or(Default::None),
    shard::SHARDS.or(Default::None),
    deal::DEAL.of(Kind::Section(DEAL)),
    Member::new("batch", Kind::Section(BATCH)).or(Default::Empty),
];
/// Sections that the recipe of a state may have: `order` if samples are dealt, `shards` if whole shards are. A state
/// has one of them.
pub(super) const STATE_SECTIONS: &[Member] = &[order::ANY_ORDER, shard::SHARDS];

const IN_TURN: &str = "none in the recipe of readers: they take positions in turn";
const DEAL: &[Member] = &[
    WORLD_SIZE,
    WORKERS,
    deal::REMAINDER,
    deal::LAYOUT.elsewhere(IN_TURN),
    deal::UNIT.elsewhere(IN_TURN),
    deal::READERS.elsewhere(recipe::OF_STREAMS),
];
pub(super) const WORLD_SIZE: Member = deal::WORLD_SIZE.of(Kind::Natural { least: 1, most: MAX_READERS });
pub(super) const WORKERS: Member = deal::WORKERS.of(Kind::from_one(MAX_WORKERS));
pub(super) const BATCH_SIZE: Member =
    Member::new("batch_size", Kind::SHORT_POSITIVE).or_number(1).text(text!("Number of samples in a batch."));
const BATCH: &[Member] = &[
    BATCH_SIZE,
    Member::new("drop_last", Kind::Flag)
        .or(Default::Flag(false))
        .text(text!("Whether the last batch of a reader is left out, if it is not full.")),
];

/// The part of a recipe that does not depend on the readers: it decides the order of an epoch.
#[derive(Clone)]
pub(super) struct Recipe {
    pub(super) seed: i64,
    pub(super) dealt: Dealt,
    /// A JSON object with the section `order` or `shards` in its canonical form. It is cached, because it has hashes of
    /// long lists, which take long to compute.
    text: Rc<OnceCell<String>>,
}

/// The things that are dealt to readers: samples, or whole shards.
#[derive(Clone)]
pub(super) enum Dealt {
    /// Single positions of an order.
    Samples(Rc<OrderPart>, Files),
    Shards(Rc<PlanConfig>, Rc<Shards>),
}

/// The shards that the samples of an order lie in.
#[derive(Clone)]
pub(super) enum Files {
    /// The shards of the order itself.
    Own(Rc<Sharding>),
    /// The shards of all orders that a composed order is made of, one after the other.
    Joined(Rc<Shards>),
}

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

    /// Calls `each` with each piece of the section in its canonical form.
    pub(super) fn section(&self, each: &mut dyn FnMut(&str)) {
        match &self.dealt {
            // The order has its text, which may be long. A copy of it would need memory.
            Dealt::Samples(order, _) => order.pieces(each),
            Dealt::Shards(..) => {
                let text = self.text();
                each(text.get(1..text.len() - 1).unwrap_or_default());
            }
        }
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

    /// The order, if single positions are dealt.
    pub(super) fn order(&self) -> Option<&Rc<OrderPart>> {
        if let Dealt::Samples(order, _) = &self.dealt { Some(order) } else { None }
    }

    /// The order, if it is made of other orders.
    pub(super) fn composed(&self) -> Option<&OrderPart> {
        self.order().map(|order| &**order).filter(|order| order.is_composed())
    }

    /// The positions of an epoch. Failures: `epoch`, `out-of-memory`.
    pub(super) fn positions(&self, epoch: u64) -> Result<Positions, Failure> {
        let Some(order) = self.composed() else { return Ok(Positions { length: self.samples(), rotation: None }) };
        let rotation = order.is_rotated().then(|| Rotation::new(order.seed, epoch));
        Ok(Positions { length: order.length(epoch)?, rotation })
    }

    /// The lanes and the shuffle window, if samples are dealt in the order `sharded`.
    pub(super) fn lanes(&self) -> Option<(u32, u32)> {
        match &self.dealt {
            Dealt::Samples(order, Files::Own(sharding)) if order.id == OrderId::Sharded => {
                Some((sharding.lanes, sharding.window))
            }
            _ => None,
        }
    }
}

/// Reads a document. Returns the value that `made` makes of its parts: the recipe, the group of readers, the remainder,
/// and whether short batches are left out. Failures: any member, those of `made`.
#[inline(never)]
pub(super) fn read<T>(
    text: &str,
    lists: &[List],
    made: impl FnOnce(Recipe, Group, Remainder, bool) -> Result<T, Failure>,
) -> Result<T, Failure> {
    recipe::read(text, SECTIONS, lists, |fields| {
        let dealt = match (fields.given_section("order"), fields.given_section("shards")) {
            (Some(order), None) => samples(order, lists).map_err(of_order)?,
            (None, Some(shards)) => whole(shards, lists)?,
            (Some(order), Some(shards)) => return Err(both(order, shards)),
            (None, None) => {
                let what = "the section that has the samples, or the section shards for whole shards";
                return Err(Failure::missing("order", what));
            }
        };
        let by_samples = matches!(dealt, Dealt::Samples(..));
        let deal = fields.check_section("deal", &[])?;
        let batch = fields.check_section("batch", &[])?;
        let remainder = deal.named("remainder", &REMAINDERS);
        if let Some(value) = deal.text("remainder")
            && !by_samples
        {
            let allowed = "none, as whole shards are dealt: each of them has one reader";
            return Err(Failure::contradiction("remainder", shorten(value), allowed));
        }
        let short_left_out = batch.is("drop_last");
        let group = Group {
            world_size: deal.short("world_size"),
            workers: deal.short("workers"),
            batch_size: batch.short("batch_size"),
            // If samples are dealt, a short batch is the last one of its reader. Leaving it out does not change which
            // samples other readers get, so this flag depends on the remainder alone.
            drop_last: if by_samples { remainder == Remainder::Drop } else { short_left_out },
        };
        group.check()?;
        made(Recipe::new(dealt), group, remainder, short_left_out)
    })
}

/// Calls `with` with the whole recipe in its canonical form.
#[inline(never)]
pub(super) fn write<T>(
    recipe: &Recipe,
    group: Group,
    remainder: Remainder,
    drop_last: bool,
    with: impl FnOnce(&Pieces) -> T,
) -> T {
    let Group { world_size, workers, batch_size, .. } = group;
    let remainder = match recipe.dealt {
        Dealt::Samples(..) => format!(",\"remainder\":\"{}\"", remainder.name()),
        Dealt::Shards(..) => String::new(),
    };
    let begin = format!("{{\"samedeal\":{VERSION},");
    let end = format!(
        ",\"deal\":{{\"world_size\":{world_size},\"workers\":{workers}{remainder}}},\
         \"batch\":{{\"batch_size\":{batch_size},\"drop_last\":{drop_last}}}}}"
    );
    with(&|each| {
        each(&begin);
        recipe.section(each);
        each(&end);
    })
}

/// The deal of samples, by the section `order`. Failures: any member of the section.
fn samples(order: &Fields, lists: &[List]) -> Result<Dealt, Failure> {
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

/// The deal of whole shards, by the section `shards`. Failures: any member of the section.
fn whole(fields: &Fields, lists: &[List]) -> Result<Dealt, Failure> {
    if fields.text("policy") == Some("locality-aware") {
        let allowed = "size-aware or round-robin: readers may go on with other ranks, whose nodes are not known";
        return Err(Failure::contradiction("policy", "locality-aware", allowed));
    }
    let plan = PlanConfig::read(fields, lists)?;
    if let (BalanceBy::Samples, Some(bytes)) = (plan.balance_by, &plan.bytes) {
        let allowed = "none, as they go with balance_by bytes";
        return Err(Failure::contradiction("bytes", format!("{} numbers", bytes.len()), allowed));
    }
    let shards = Shards::new(&plan.sizes)?;
    Ok(Dealt::Shards(Rc::new(plan), Rc::new(shards)))
}

/// The failure of a recipe that deals both samples and whole shards. It names the first member of the section that must
/// go, or that section, if it is empty.
#[cold]
fn both(order: &Fields, shards: &Fields) -> Failure {
    let (fields, section, allowed) = match order.has("name") {
        true => (shards, "shards", "none, as single samples are dealt: the recipe has an order"),
        false => (order, "order", "none, as whole shards are dealt: the recipe has the section shards"),
    };
    let Some((field, value)) = fields.first() else {
        return Failure::contradiction(section, "there", allowed).at(section);
    };
    Failure::contradiction(field, value, allowed).under(section, fields.known)
}
