//! The text of a state: the recipe, and how far the epoch has come.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::options::{Dealt, READ_DEALS, Recipe, policy_name, worker_policy_name};
use super::segment::{Group, Segment, check_history};
use crate::Failure;
use crate::base::failure::{at_least, at_most, only};
use crate::base::memory::collect;
use crate::state::numbers::{self, NAMED, Numbers, hash};
use crate::state::{MAX_STATE, ReadFields, ReadSegment, refused, same};

const WHY: &str = "as in the state; to use another value, begin a new epoch";

/// What a state says of the epoch.
pub(super) struct ReadState {
    pub(super) epoch: u64,
    pub(super) consumed: u64,
    pub(super) history: Vec<Segment>,
}

pub(super) fn write(recipe: &Recipe, epoch: u64, consumed: u64, history: &[Segment]) -> String {
    let mut text = format!("{{\"samedeal\":1,\"kind\":\"reading\",\"recipe\":{}", recipe_text(recipe));
    text += &format!(",\"epoch\":{epoch},\"consumed\":{consumed},\"history\":[");
    for (at, Segment { group, steps }) in history.iter().enumerate() {
        let Group { world_size, workers, batch_size, drop_last } = group;
        let comma = if at == 0 { "" } else { "," };
        text += &format!(
            "{comma}{{\"world_size\":{world_size},\"workers\":{workers},\"batch_size\":{batch_size},\
             \"drop_last\":{drop_last},\"steps\":{steps}}}"
        );
    }
    text + "]}"
}

/// JSON, in one line, with all that the options came to.
pub(super) fn recipe_text(recipe: &Recipe) -> String {
    let shards = recipe.shards();
    let mut text = format!("{{\"seed\":{},\"shuffle\":{},", recipe.seed, recipe.shuffle);
    match &recipe.dealt {
        Dealt::Samples => {
            text += "\"deal\":\"samples\",";
            if recipe.shuffle {
                text += &format!("\"lanes\":{},\"window\":{},", recipe.sharding.lanes, recipe.sharding.window);
            }
        }
        Dealt::Shards { shuffle_rows, reshuffle, policy, worker_policy, bytes } => {
            let (policy, worker_policy) = (policy_name(*policy), worker_policy_name(*worker_policy));
            text += &format!(
                "\"deal\":\"shards\",\"shuffle_rows\":{shuffle_rows},\"reshuffle\":{reshuffle},\
                 \"policy\":\"{policy}\",\"worker_policy\":\"{worker_policy}\","
            );
            match bytes {
                Some(bytes) => {
                    text += &format!("\"weight\":\"bytes\",\"bytes\":{},", numbers::text(bytes.iter().copied()))
                }
                None => text += "\"weight\":\"samples\",",
            }
        }
    }
    text += &format!("\"samples\":{},\"shards\":{},", shards.samples(), shards.count());
    text + &format!("\"sizes\":{}}}", numbers::text(recipe.sizes()))
}

/// Reads a state, which need not be trusted, and compares its recipe. Failures: `state`, or the field that differs.
pub(super) fn read(text: &str, recipe: &Recipe) -> Result<ReadState, Failure> {
    if text.len() > MAX_STATE {
        return Err(Failure::out_of_range("state", format!("of {} bytes", text.len()), at_most(MAX_STATE)));
    }
    let refused = || refused(text, "reading");
    let fields = ReadFields::read(text).ok_or_else(refused)?;
    if fields.samedeal != 1 || fields.kind != "reading" {
        return Err(refused());
    }
    compare(&fields, recipe).map_err(|failure| failure.unwrap_or_else(refused))?;
    let history = history(&fields.history)?;
    Ok(ReadState { epoch: fields.epoch, consumed: fields.consumed, history })
}

/// Failures: the first field that differs; none where one is missing, or is there and should not be.
fn compare(fields: &ReadFields, recipe: &Recipe) -> Result<(), Option<Failure>> {
    let differs = |failure| Some(failure);
    let by_samples = matches!(recipe.dealt, Dealt::Samples);
    same("deal", fields.deal, READ_DEALS[usize::from(!by_samples)], WHY).map_err(differs)?;
    same("seed", fields.seed, recipe.seed, WHY).map_err(differs)?;
    same("shuffle", fields.shuffle, recipe.shuffle, WHY).map_err(differs)?;
    let flag = |field, of: Option<bool>, here| same(field, of.ok_or(None)?, here, WHY).map_err(differs);
    let name = |field, of: Option<&str>, here| same(field, of.ok_or(None)?, here, WHY).map_err(differs);
    let number = |field, of: Option<u64>, here: u32| same(field, of.ok_or(None)?, here.into(), WHY).map_err(differs);
    let mut weighed = false;
    match &recipe.dealt {
        Dealt::Samples => {
            if recipe.shuffle {
                number("lanes", fields.lanes, recipe.sharding.lanes)?;
                number("window", fields.window, recipe.sharding.window)?;
            }
        }
        Dealt::Shards { shuffle_rows, reshuffle, policy, worker_policy, bytes } => {
            flag("shuffle-rows", fields.shuffle_rows, *shuffle_rows)?;
            flag("reshuffle", fields.reshuffle, *reshuffle)?;
            name("policy", fields.policy, policy_name(*policy))?;
            name("worker-policy", fields.worker_policy, worker_policy_name(*worker_policy))?;
            weighed = bytes.is_some();
            name("weight", fields.weight, if weighed { "bytes" } else { "samples" })?;
        }
    }
    let has = |there: bool, needed: bool| if there == needed { Ok(()) } else { Err(None) };
    has(fields.lanes.is_some() && fields.window.is_some(), by_samples && recipe.shuffle)?;
    has(fields.lanes.is_some() || fields.window.is_some(), by_samples && recipe.shuffle)?;
    has(fields.policy.is_some() || fields.worker_policy.is_some() || fields.weight.is_some(), !by_samples)?;
    has(fields.shuffle_rows.is_some() || fields.reshuffle.is_some(), !by_samples)?;
    has(fields.bytes.is_some(), weighed)?;
    let shards = recipe.shards();
    same("shards", fields.shards, u64::from(shards.count()), WHY).map_err(differs)?;
    same_numbers("sizes", "samples", &fields.sizes, recipe.sizes())?;
    same("samples", fields.samples, shards.samples(), WHY).map_err(differs)?;
    if let (Dealt::Shards { bytes: Some(bytes), .. }, Some(of)) = (&recipe.dealt, &fields.bytes) {
        same_numbers("bytes", "bytes", of, bytes.iter().copied())?;
    }
    Ok(())
}

/// Failures: the first shard that differs, or, of hashes, that they do.
fn same_numbers(
    field: &'static str,
    unit: &str,
    of: &Numbers,
    here: impl Iterator<Item = u64> + Clone,
) -> Result<(), Option<Failure>> {
    match of {
        Numbers::Hash(of) => {
            if here.clone().count() <= NAMED {
                return Err(None);
            }
            if *of != hash(here) {
                let allowed = format!("those {WHY}");
                return Err(Some(Failure::contradiction(field, format!("other {unit} in some shards"), allowed)));
            }
        }
        Numbers::All(of) => {
            if here.clone().count() != of.len() || of.len() > NAMED {
                return Err(None);
            }
            if let Some((shard, (here, of))) = here.zip(of).enumerate().find(|(_, (here, of))| here != *of) {
                let allowed = only(of).and(format_args!(", {WHY}"));
                return Err(Some(Failure::contradiction(field, format!("{here} {unit} in shard {shard}"), allowed)));
            }
        }
    }
    Ok(())
}

fn history(found: &[ReadSegment]) -> Result<Vec<Segment>, Failure> {
    let mut history = collect("history", found.len(), [])?;
    for segment in found {
        let &ReadSegment { world_size, workers, batch_size, drop_last, steps } = segment;
        let group = Group { world_size, workers, batch_size, drop_last };
        group.check()?;
        if steps == 0 {
            return Err(Failure::out_of_range("steps", 0, at_least(1)));
        }
        history.push(Segment { group, steps });
    }
    check_history(&history)?;
    Ok(history)
}
