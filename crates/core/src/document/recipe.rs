//! Members and checks that the recipes of all stages have in common.

use alloc::format;
use alloc::string::String;

use super::fields::Fields;
use super::json::MAX_TEXT;
use super::lists::{List, check_names};
use super::member::{Kind, Member, member, text};
use crate::base::failure::{Failure, at_most};
use crate::base::fingerprint::Fingerprint;

/// The version of the format.
pub(crate) const VERSION: u64 = 1;

pub(crate) const SAMEDEAL: Member = member!("samedeal", Kind::Natural { least: VERSION, most: VERSION })
    .or_number(VERSION)
    .text(text!("The version of the format."));
/// The seed of an order, or of what shuffles.
pub(crate) const SEED: Member = member!("seed", Kind::Integer).or_number(0).text(text!("The seed of all shuffles."));

/// Which kind of documents has a member that this one refuses.
pub(crate) const OF_STREAMS: &str = "none here: it belongs to a stream of chunks";
pub(crate) const OF_READERS: &str = "none here: it belongs to readers of a dataset in shards";

pub(crate) const STEPS_ELSEWHERE: Member =
    member!("steps", Kind::Elsewhere("none here: it belongs to a schedule of global steps"));
pub(crate) const SPLIT_ELSEWHERE: Member = member!("split", Kind::Elsewhere("none here: it belongs to a split"));

/// A document and its own members, and whether the lists that come beside it have names that they may have. Failures: `recipe` (no JSON
/// object, or more than 2^24 bytes), `recipe-member` and its like (an unknown one), `lists`, any member that is of another type,
/// `samedeal`, a section that is missing.
#[inline(never)]
pub(crate) fn fields<'a>(text: &'a str, sections: &'static [Member], lists: &[List]) -> Result<Fields<'a>, Failure> {
    if text.len() > MAX_TEXT {
        let value = format!("of {} bytes", text.len());
        return Err(Failure::out_of_range(
            "recipe",
            value,
            at_most(MAX_TEXT).and("; long lists come beside it, by their names"),
        ));
    }
    check_names(sections, lists)?;
    let fields = Fields::read(text, sections)?;
    fields.check(&[], &[])?;
    Ok(fields)
}

/// SHA-256 over a canonical text, in hexadecimal.
pub(crate) fn fingerprint(text: &str) -> String {
    let mut hash = Fingerprint::new();
    hash.add(text.as_bytes());
    hash.finish()
}
