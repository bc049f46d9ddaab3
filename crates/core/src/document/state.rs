//! States: texts that say how far an epoch was read.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

use super::fields::{self, Fields};
use super::json::{MAX_TEXT, find, unsigned_text};
use super::member::{Kind, Member};
use super::recipe::{VERSION, other_format};
use crate::base::failure::{Failure, Kind as FailureKind, at_most};
use crate::base::memory::{Pieces, joined};

/// The words in failures for the reason why a value must be as in the state.
pub(crate) const AS_IN_STATE: &str = "as in the state; to use another value, begin a new epoch";

/// Members that not every state has, or not every segment.
const OPTIONAL: [&str; 4] = ["positions", "batch", "window", "checksum"];

// Members that several kinds of states have. Each kind lists its own members, in the order of its text.
pub(crate) const KIND: Member = Member::new("kind", Kind::TEXT);
pub(crate) const EPOCH: Member = Member::new("epoch", Kind::LONG);
pub(crate) const CONSUMED: Member = Member::new("consumed", Kind::COUNT);
/// The member `recipe` of a state, with the sections that do not depend on the world size.
pub(crate) const fn recipe_of(sections: &'static [Member]) -> Member {
    Member::new("recipe", Kind::Section(sections))
}
pub(crate) const fn history_of(segment: &'static [Member]) -> Member {
    Member::new("history", Kind::objects(segment))
}

pub(crate) const POSITIONS: Member = Member::new("positions", Kind::COUNT);

/// The text of a state: JSON, in one line. `recipe` is the text of the members of the recipe, without braces; `more` is
/// the text of the members that follow `epoch`, each with a comma before it. Failures: `out-of-memory`, of `state`.
pub(crate) fn write(kind: &str, recipe: &Pieces, epoch: u64, more: &str) -> Result<String, Failure> {
    let begin = format!("{{\"samedeal\":{VERSION},\"kind\":\"{kind}\",\"recipe\":{{");
    let epoch = format!("}},\"epoch\":{}", unsigned_text(epoch));
    joined("state", &|each| {
        each(&begin);
        recipe(each);
        [&*epoch, more, "}"].into_iter().for_each(each);
    })
}

/// Reads a state, which need not be trusted. All of `members` must be there, except for `OPTIONAL`. Failures: `samedeal`;
/// an unknown member, of `state` or of the object that has it; `state`; `out-of-memory`, of any member. The failures of
/// an index have the field `index` in place of `state`.
pub(crate) fn read<'a>(text: &'a str, kind: &str, members: &'static [Member]) -> Result<Fields<'a>, Failure> {
    if text.len() > MAX_TEXT {
        return Err(Failure::out_of_range(field_of(kind), format!("of {} bytes", text.len()), at_most(MAX_TEXT)));
    }
    let fields = Fields::read(text, members).map_err(|failure| explained(failure, text, kind))?;
    let has_all =
        |fields: &Fields, keys: &[Member]| keys.iter().all(|key| fields.has(key.name) || OPTIONAL.contains(&key.name));
    let is_whole = members.iter().all(|key| match key.kind {
        Kind::Objects { of: keys, .. } => fields.objects(key.name).iter().all(|object| has_all(object, keys)),
        _ => true,
    }) && has_all(&fields, members);
    if is_whole && fields.count("samedeal") == Some(VERSION) && fields.text("kind") == Some(kind) {
        return Ok(fields);
    }
    Err(refused(text, kind))
}

/// The failure of a state for which the failure of its first wrong member is `failure`.
#[cold]
#[inline(never)]
fn explained(failure: Failure, text: &str, kind: &str) -> Failure {
    // If memory ran out, the text may still be a state, so it is not refused.
    if failure.kind == FailureKind::OutOfMemory {
        return failure;
    }
    let refused = refused(text, kind);
    if refused.kind == FailureKind::OutOfRange || kind_in(text).as_deref() != Some(kind) {
        return refused;
    }
    // A failure of the whole text has the field `recipe`, because `Fields` mostly reads recipes. The member `recipe` of
    // a state has the same field, if it is there twice or is no object.
    let is_of_member = match failure.kind {
        FailureKind::UnknownMember => false,
        FailureKind::Contradiction => true,
        _ => find(text, "recipe").is_some_and(|mut value| !value.is_at(b'{')),
    };
    let is_of_text = failure.field == "recipe" && !failure.has_path() && !is_of_member;
    let failure = if is_of_text { failure.of(field_of(kind)) } else { failure };
    match failure.kind {
        FailureKind::UnknownMember => failure,
        _ => refused.and(&format!("; in this text, {failure}")),
    }
}

/// Checks that the recipe of a state equals the recipe of the text `here`. Failures: the first member that differs.
pub(crate) fn check_recipe(state: &Fields, here: &str, sections: &'static [Member]) -> Result<(), Failure> {
    let of = state.section("recipe");
    fields::compare(&Fields::read(here, sections)?, of, sections, AS_IN_STATE)
}

/// The values of the member `kind`: the kinds of states, and `index` for an index of batches.
const KINDS: [&str; 6] = ["sampler", "batcher", "ledger", "reading", "schedule", "index"];

/// The failure of a text that is no state of a kind: `samedeal` if the text has another format, else `state`, or `index`.
/// If the text looks like a state of another kind, the failure says so.
#[cold]
#[inline(never)]
pub(crate) fn refused(text: &str, kind: &str) -> Failure {
    if let Some(failure) = other_format(text) {
        return failure;
    }
    let wanted = format!("{}, version {VERSION}", text_of(kind));
    let written = kind_in(text);
    let other = KINDS.into_iter().find(|&other| other != kind && written.as_deref() == Some(other));
    Failure::wrong_type(
        field_of(kind),
        text,
        match other {
            Some(other) => format!("{wanted}; this is {}", text_of(other)),
            None => wanted,
        },
    )
}

/// The first member `kind` of a text, if it is a text.
fn kind_in(text: &str) -> Option<Cow<'_, str>> {
    find(text, "kind")?.string()
}

/// The field of failures of a whole text.
fn field_of(kind: &str) -> &'static str {
    if kind == "index" { "index" } else { "state" }
}

/// The words for a state of a kind, in a failure.
fn text_of(kind: &str) -> String {
    match kind {
        "index" => "an index of batches".into(),
        _ => format!("a state of a {kind}"),
    }
}
