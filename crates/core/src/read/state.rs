//! The text of a state: the recipe, and how far the epoch has come.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::recipe::{Dealt, Recipe, STATE_SECTIONS};
use super::segment::{Group, Segment, check_history};
use crate::Failure;
use crate::base::failure::at_least;
use crate::base::memory::collect;
use crate::state::fields::{Fields, Key, Kind};
use crate::state::numbers;
use crate::state::{self, AS_IN_STATE, CONSUMED, EPOCH, KIND, history_of, recipe, recipe_of};

const STATE: &[Key] = &[recipe::SAMEDEAL, KIND, recipe_of(STATE_SECTIONS), EPOCH, CONSUMED, history_of(SEGMENT)];
const SEGMENT: &[Key] = &[
    Key { name: "world_size", field: "world-size", kind: Kind::Count },
    Key { name: "workers", field: "workers", kind: Kind::Count },
    Key { name: "batch_size", field: "batch-size", kind: Kind::Count },
    Key { name: "drop_last", field: "drop-last", kind: Kind::Flag },
    Key { name: "steps", field: "steps", kind: Kind::Count },
];

/// What a state says of the epoch.
pub(super) struct ReadState {
    pub(super) epoch: u64,
    pub(super) consumed: u64,
    pub(super) history: Vec<Segment>,
}

pub(super) fn write(recipe: &Recipe, epoch: u64, consumed: u64, history: &[Segment]) -> String {
    let history = history.iter().map(|Segment { group, steps }| {
        let Group { world_size, workers, batch_size, drop_last } = group;
        format!(
            "{{\"world_size\":{world_size},\"workers\":{workers},\"batch_size\":{batch_size},\
             \"drop_last\":{drop_last},\"steps\":{steps}}}"
        )
    });
    let more = format!(",\"consumed\":{consumed},\"history\":{}", numbers::list(history));
    state::write("reading", recipe.text(), epoch, &more)
}

/// Reads a state, which need not be trusted, and compares its recipe. Failures: `state`, or the member that differs; `recipe`, where
/// it deals something else.
pub(super) fn read(text: &str, recipe: &Recipe) -> Result<ReadState, Failure> {
    let fields = state::read(text, "reading", STATE)?;
    let [own, other] = match recipe.dealt {
        Dealt::Samples(..) => ["order", "shards"],
        Dealt::Shards(..) => ["shards", "order"],
    };
    if fields.section("recipe").is_some_and(|of| of.has(other) && !of.has(own)) {
        let value = format!("the section {own}");
        return Err(Failure::contradiction("recipe", value, format!("the section {other}, {AS_IN_STATE}")));
    }
    state::check_recipe(&fields, recipe.text(), STATE_SECTIONS)?;
    let (epoch, consumed) = (fields.count("epoch").unwrap_or_default(), fields.count("consumed").unwrap_or_default());
    Ok(ReadState { epoch, consumed, history: history(fields.objects("history"))? })
}

fn history(found: &[Fields]) -> Result<Vec<Segment>, Failure> {
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
    check_history(&history)?;
    Ok(history)
}
