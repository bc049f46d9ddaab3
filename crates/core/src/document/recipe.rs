//! Members and checks that the recipes of all stages have in common.

use alloc::format;
use alloc::string::String;

use super::fields::Fields;
use super::json::{MAX_TEXT, find, unsigned};
use super::lists::{List, check_names};
use super::member::{Kind, Member, text};
use crate::base::failure::{Failure, at_most, range};
use crate::base::fingerprint::Fingerprint;
use crate::base::memory::{Pieces, joined};

/// The version of the format.
pub(crate) const VERSION: u64 = 1;

pub(crate) const SAMEDEAL: Member = Member::new("samedeal", Kind::Natural { least: VERSION, most: VERSION })
    .or_number(VERSION)
    .text(text!("The version of the format."));
/// The seed of a recipe, for its order and its shuffles.
pub(crate) const SEED: Member =
    Member::new("seed", Kind::Integer).or_number(0).text(text!("The seed of all shuffles."));

/// Texts of failures: the kind of documents that a refused member belongs to.
pub(crate) const OF_STREAMS: &str = "none here: it belongs to a stream of chunks";
pub(crate) const OF_READERS: &str = "none here: it belongs to readers of a dataset in shards";

pub(crate) const STEPS_ELSEWHERE: Member =
    Member::new("steps", Kind::Elsewhere("none here: it belongs to a schedule of global steps"));
pub(crate) const SPLIT_ELSEWHERE: Member = Member::new("split", Kind::Elsewhere("none here: it belongs to a split"));

/// The failure of a text of another format: the first member `samedeal` of its object is another number than `VERSION`.
/// None for any other text. A later format may have members that this version does not know, so this failure comes
/// before all others that a text has. It is looked for only after another failure, since a text of another format always
/// has one.
#[cold]
#[inline(never)]
pub(crate) fn other_format(text: &str) -> Option<Failure> {
    let version = find(text, "samedeal").and_then(|mut reader| reader.number()).and_then(unsigned)?;
    let allowed = || range(VERSION, VERSION).and("; for a text of a later format, update samedeal");
    (version != VERSION).then(|| Failure::out_of_range("samedeal", version, allowed()))
}

/// Reads a document, and checks the names of the lists beside it and the members of the document itself. Failures:
/// `recipe` (no JSON object, more than 2^24 bytes, or too many levels of objects), `samedeal`, `lists`, any member that is
/// unknown, there twice, of another type or of another kind of documents, a section that is missing.
#[inline(never)]
fn fields<'a>(text: &'a str, sections: &'static [Member], lists: &[List]) -> Result<Fields<'a>, Failure> {
    if text.len() > MAX_TEXT {
        let value = format!("of {} bytes", text.len());
        return Err(Failure::out_of_range(
            "recipe",
            value,
            at_most(MAX_TEXT).and("; long lists come beside it, by their names"),
        ));
    }
    let read = || {
        check_names(sections, lists)?;
        let fields = Fields::read(text, sections)?;
        fields.check(&[], &[])?;
        Ok(fields)
    };
    read().map_err(|failure| other_format(text).unwrap_or(failure))
}

/// Reads a document of these sections. Returns the value that `made` makes of its fields. Failures: those of `fields`,
/// and those of `made`, with the path of the member.
pub(crate) fn read<'a, T>(
    text: &'a str,
    sections: &'static [Member],
    lists: &[List],
    made: impl FnOnce(&Fields<'a>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let fields = fields(text, sections, lists)?;
    made(&fields).map_err(|failure| located(failure, &fields))
}

/// Adds the path of the member to a failure without a path, if a section of the document has this member.
#[cold]
#[inline(never)]
fn located(failure: Failure, fields: &Fields) -> Failure {
    if failure.has_path() {
        return failure;
    }
    let has_member = |section: &&Member| {
        let members = fields.given_section(section.name).map_or(&[][..], |section| section.known);
        members.iter().any(|member| member.name == failure.field)
    };
    match fields.known.iter().find(has_member) {
        Some(section) => failure.below(section.name, true),
        None => failure,
    }
}

/// SHA-256 over a canonical text, in hexadecimal. It needs no memory for the whole text.
#[inline(never)]
pub(crate) fn fingerprint(pieces: &Pieces) -> String {
    let mut hash = Fingerprint::new();
    pieces(&mut |piece| hash.add(piece.as_bytes()));
    hash.finish()
}

/// The canonical text of a recipe, joined from its pieces. Failures: `out-of-memory`, with the field `recipe`.
pub(crate) fn canonical(pieces: &Pieces) -> Result<String, Failure> {
    joined("recipe", pieces)
}
