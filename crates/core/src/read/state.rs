//! States of readings: texts that say how far an epoch was read, and by which readers.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::left::{Left, Positions};
use super::recipe::{BATCH_SIZE, Dealt, Recipe, STATE_SECTIONS, WORKERS, WORLD_SIZE};
use super::segment::{Group, Segment, check_history};
use crate::base::Failure;
use crate::base::failure::range;
use crate::base::memory::collect;
use crate::deal::positions_of;
use crate::document::fields::{self, Fields};
use crate::document::member::{Kind, Member};
use crate::document::numbers;
use crate::document::recipe;
use crate::document::state::{self, AS_IN_STATE, CONSUMED, EPOCH, KIND, POSITIONS, history_of, recipe_of};

const STATE: &[Member] =
    &[recipe::SAMEDEAL, KIND, recipe_of(STATE_SECTIONS), EPOCH, CONSUMED, POSITIONS, history_of(SEGMENT)];
const SEGMENT: &[Member] = &[
    WORLD_SIZE,
    WORKERS,
    BATCH_SIZE,
    Member::new("drop_last", Kind::Flag),
    // A state has no segment without steps.
    Member::new("steps", Kind::POSITIVE),
];

/// The members of a state that say how far its epoch was read.
pub(super) struct ReadState {
    pub(super) epoch: u64,
    pub(super) consumed: u64,
    pub(super) history: Vec<Segment>,
}

/// The text of a state. `length` is the number of positions of the epoch.
pub(super) fn write(
    recipe: &Recipe,
    (epoch, length): (u64, u64),
    consumed: u64,
    history: &[Segment],
) -> Result<String, Failure> {
    let history = history.iter().map(|Segment { group, steps }| {
        let Group { world_size, workers, batch_size, drop_last } = group;
        format!(
            "{{\"world_size\":{world_size},\"workers\":{workers},\"batch_size\":{batch_size},\
             \"drop_last\":{drop_last},\"steps\":{steps}}}"
        )
    });
    let positions = recipe.composed().map_or(String::new(), |_| format!(",\"positions\":{length}"));
    let more = format!(",\"consumed\":{consumed}{positions},\"history\":{}", numbers::list(history));
    state::write("reading", &|each| recipe.section(each), epoch, &more)
}

/// Reads a state, which need not be trusted, and compares its recipe. Failures: `state`, or the member that differs;
/// `recipe` (the recipe deals samples and the state whole shards, or the reverse); `history`, or a member of a segment;
/// of a composed order also `consumed` and `epoch`.
pub(super) fn read(text: &str, recipe: &Recipe, group: Group) -> Result<ReadState, Failure> {
    let fields = state::read(text, "reading", STATE)?;
    let positions = positions_of(&fields, text, "reading")?;
    let [own, other] = match recipe.dealt {
        Dealt::Samples(..) => ["order", "shards"],
        Dealt::Shards(..) => ["shards", "order"],
    };
    let of = fields.section("recipe");
    if of.has(other) && !of.has(own) {
        let value = format!("the section {own}");
        return Err(Failure::contradiction("recipe", value, format!("the section {other}, {AS_IN_STATE}")));
    }
    let (epoch, consumed) = (fields.count("epoch").unwrap_or_default(), fields.count("consumed").unwrap_or_default());
    let Some(order) = recipe.composed() else {
        state::check_recipe(&fields, recipe.text(), STATE_SECTIONS)?;
        return Ok(ReadState { epoch, consumed, history: history(fields.objects("history"), group)? });
    };
    let history = history(fields.objects("history"), group)?;
    // The number of positions that the epoch had when the state was taken. The order may have been extended since then,
    // which may change the positions after those that were read.
    let here = recipe.positions(epoch)?;
    let length = positions.or_else(|| of.section("order").count("samples")).unwrap_or(here.length);
    if consumed > length {
        return Err(Failure::out_of_range("consumed", consumed, range(0, length)));
    }
    let read = Left::new(Positions { length, ..here }, consumed, &history)?.plain;
    order.check_resumes(of, (epoch, read), AS_IN_STATE)?;
    fields::compare(&Fields::read(recipe.text(), STATE_SECTIONS)?, of, &STATE_SECTIONS[1..], AS_IN_STATE)?;
    Ok(ReadState { epoch, consumed, history })
}

fn history(found: &[Fields], here: Group) -> Result<Vec<Segment>, Failure> {
    let mut history = collect("history", found.len(), [])?;
    for (index, segment) in found.iter().enumerate() {
        let within = |failure: Failure| failure.in_element("history", index);
        let segment = segment.check(&[], &[]).map_err(within)?;
        let group = Group {
            world_size: segment.short("world_size"),
            workers: segment.short("workers"),
            batch_size: segment.short("batch_size"),
            drop_last: segment.is("drop_last"),
        };
        group.check().map_err(within)?;
        history.push(Segment { group, steps: segment.number("steps") });
    }
    check_history(&history, here)?;
    Ok(history)
}
