//! The text of a state: the recipe, and how far the epoch has come.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::left::{Left, Positions};
use super::recipe::{Dealt, Recipe, STATE_SECTIONS};
use super::segment::{Group, Segment, check_history};
use crate::Failure;
use crate::base::failure::{at_least, range};
use crate::base::memory::collect;
use crate::state::fields::{self, Fields, Key, Kind};
use crate::state::numbers;
use crate::state::{self, AS_IN_STATE, CONSUMED, EPOCH, KIND, POSITIONS, history_of, recipe, recipe_of};

const STATE: &[Key] =
    &[recipe::SAMEDEAL, KIND, recipe_of(STATE_SECTIONS), EPOCH, CONSUMED, POSITIONS, history_of(SEGMENT)];
const SEGMENT: &[Key] = &[
    Key { name: "world_size", field: "world-size", kind: Kind::SHORT },
    Key { name: "workers", field: "workers", kind: Kind::SHORT },
    Key { name: "batch_size", field: "batch-size", kind: Kind::SHORT },
    Key { name: "drop_last", field: "drop-last", kind: Kind::Flag },
    Key { name: "steps", field: "steps", kind: Kind::COUNT },
];

/// What a state says of the epoch.
pub(super) struct ReadState {
    pub(super) epoch: u64,
    pub(super) consumed: u64,
    pub(super) history: Vec<Segment>,
}

/// `length` is the number of positions of the epoch.
pub(super) fn write(recipe: &Recipe, (epoch, length): (u64, u64), consumed: u64, history: &[Segment]) -> String {
    let history = history.iter().map(|Segment { group, steps }| {
        let Group { world_size, workers, batch_size, drop_last } = group;
        format!(
            "{{\"world_size\":{world_size},\"workers\":{workers},\"batch_size\":{batch_size},\
             \"drop_last\":{drop_last},\"steps\":{steps}}}"
        )
    });
    let positions = recipe.composed().map_or(String::new(), |_| format!(",\"positions\":{length}"));
    let more = format!(",\"consumed\":{consumed}{positions},\"history\":{}", numbers::list(history));
    state::write("reading", recipe.text(), epoch, &more)
}

/// Reads a state, which need not be trusted, and compares its recipe. Failures: `state`, or the member that differs; `recipe`, where
/// it deals something else; of a composed order also `consumed`, `epoch`, `history` or a member of a segment.
pub(super) fn read(text: &str, recipe: &Recipe, group: Group) -> Result<ReadState, Failure> {
    let fields = state::read(text, "reading", STATE)?;
    let positions = state::positions_of(&fields, text, "reading")?;
    let [own, other] = match recipe.dealt {
        Dealt::Samples(..) => ["order", "shards"],
        Dealt::Shards(..) => ["shards", "order"],
    };
    if fields.section("recipe").is_some_and(|of| of.has(other) && !of.has(own)) {
        let value = format!("the section {own}");
        return Err(Failure::contradiction("recipe", value, format!("the section {other}, {AS_IN_STATE}")));
    }
    let (epoch, consumed) = (fields.count("epoch").unwrap_or_default(), fields.count("consumed").unwrap_or_default());
    let Some(order) = recipe.composed() else {
        state::check_recipe(&fields, recipe.text(), STATE_SECTIONS)?;
        return Ok(ReadState { epoch, consumed, history: history(fields.objects("history"), group)? });
    };
    let history = history(fields.objects("history"), group)?;
    let empty = Fields::default();
    let of = fields.section("recipe").unwrap_or(&empty);
    // What the epoch was when the state was taken: it can have other positions behind those that were read.
    let here = recipe.positions(epoch)?;
    let length = positions.or_else(|| of.section("order")?.count("samples")).unwrap_or(here.length);
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
    for segment in found {
        let number = |field| segment.u32(field).map(Option::unwrap_or_default);
        let group = Group {
            world_size: number("world-size")?,
            workers: number("workers")?,
            batch_size: number("batch-size")?,
            drop_last: segment.flag("drop-last").unwrap_or_default(),
        };
        group.check()?;
        let steps = segment.count("steps").unwrap_or_default();
        if steps == 0 {
            return Err(Failure::out_of_range("steps", 0, at_least(1)));
        }
        history.push(Segment { group, steps });
    }
    check_history(&history, here)?;
    Ok(history)
}
