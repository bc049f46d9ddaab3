//! What the recipes of all stages have in common.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::MAX_TEXT;
use super::fields::{Fields, Key, Kind};
use super::numbers::{self, Chosen};
use crate::Failure;
use crate::base::failure::{at_most, known as one_of};
use crate::base::fingerprint::Fingerprint;
use crate::base::memory::collect;

/// The version of the format.
pub(crate) const VERSION: u64 = 1;

/// The most bytes of the canonical text of an order. It leaves room for the rest of a recipe, and for all that a state has besides.
pub(crate) const MAX_ORDER: usize = MAX_TEXT - (1 << 22);

/// Numbers that a recipe may have as a hash alone, by the name of their field.
pub type List<'a> = (&'a str, &'a [u64]);

pub(crate) const SAMEDEAL: Key = Key { name: "samedeal", field: "samedeal", kind: Kind::COUNT };
/// An order, which may be composed.
pub(crate) const ANY_ORDER: Key = Key { name: "order", field: "order", kind: Kind::Section(ANY_ORDER_MEMBERS) };
pub(crate) const DEAL: Key = Key { name: "deal", field: "deal", kind: Kind::Section(DEAL_MEMBERS) };

/// Which kind of documents has a member that this one refuses.
pub(crate) const OF_STREAMS: Kind = Kind::Elsewhere("none here: it belongs to a stream of chunks");
pub(crate) const OF_READERS: Kind = Kind::Elsewhere("none here: it belongs to readers of a dataset in shards");

pub(crate) const STEPS_ELSEWHERE: Key =
    Key { name: "steps", field: "steps", kind: Kind::Elsewhere("none here: it belongs to a schedule of global steps") };
pub(crate) const SPLIT_ELSEWHERE: Key =
    Key { name: "split", field: "split", kind: Kind::Elsewhere("none here: it belongs to a split") };

/// Those of orders that are made of others.
pub(crate) const COMPOSED: &[Key] = MEMBERS.split_at(8).1;

/// The members of all orders.
pub(crate) const ANY_ORDER_MEMBERS: &[Key] = &MEMBERS;

// Orders lie in one another, so that this refers to itself.
static MEMBERS: [Key; 23] = [
    Key { name: "name", field: "order", kind: Kind::Text },
    Key { name: "samples", field: "samples", kind: Kind::COUNT },
    Key { name: "seed", field: "seed", kind: Kind::Signed },
    Key { name: "lanes", field: "lanes", kind: Kind::SHORT },
    Key { name: "shuffle_window", field: "shuffle-window", kind: Kind::SHORT },
    Key { name: "shards", field: "shards", kind: Kind::COUNT },
    Key { name: "sizes", field: "sizes", kind: Kind::Numbers },
    Key { name: "chunks", field: "chunks", kind: OF_STREAMS },
    Key { name: "exhaustion", field: "exhaustion", kind: Kind::Text },
    Key { name: "max_passes", field: "max-passes", kind: Kind::COUNT },
    Key { name: "run_length", field: "run-length", kind: Kind::COUNT },
    Key { name: "index_space", field: "index-space", kind: Kind::Text },
    Key { name: "sources", field: "sources", kind: Kind::Objects(SOURCE_MEMBERS) },
    Key { name: "stages", field: "stages", kind: Kind::Objects(STAGE_MEMBERS) },
    Key { name: "growth", field: "growth", kind: Kind::Objects(GROWTH_MEMBERS) },
    Key { name: "of", field: "of", kind: Kind::Section(&MEMBERS) },
    Key { name: "indices", field: "indices", kind: Kind::Numbers },
    Key { name: "ranges", field: "ranges", kind: Kind::Objects(RANGE_MEMBERS) },
    Key { name: "copies", field: "copies", kind: Kind::SHORT },
    Key { name: "length", field: "length", kind: Kind::COUNT },
    Key { name: "stride", field: "stride", kind: Kind::COUNT },
    Key { name: "classes", field: "classes", kind: Kind::Numbers },
    Key { name: "factors", field: "factors", kind: Kind::Numbers },
];
static SOURCE_MEMBERS: &[Key] = &[
    Key { name: "name", field: "source", kind: Kind::Text },
    Key { name: "weight", field: "weight", kind: Kind::COUNT },
    Key { name: "samples", field: "samples", kind: Kind::COUNT },
    Key { name: "order", field: "order", kind: Kind::Section(&MEMBERS) },
];
static STAGE_MEMBERS: &[Key] = &[
    Key { name: "from", field: "from", kind: Kind::COUNT },
    Key { name: "weights", field: "weights", kind: Kind::Numbers },
];
static GROWTH_MEMBERS: &[Key] = &[
    Key { name: "epoch", field: "epoch", kind: Kind::LONG },
    Key { name: "consumed", field: "consumed", kind: Kind::COUNT },
    Key { name: "samples", field: "samples", kind: Kind::COUNT },
];
static RANGE_MEMBERS: &[Key] = &[
    Key { name: "epoch", field: "epoch", kind: Kind::LONG },
    Key { name: "start", field: "start", kind: Kind::COUNT },
    Key { name: "count", field: "count", kind: Kind::COUNT },
];
const DEAL_MEMBERS: &[Key] = &[
    Key { name: "world_size", field: "world-size", kind: Kind::SHORT },
    Key { name: "remainder", field: "remainder", kind: Kind::Text },
    Key { name: "layout", field: "layout", kind: Kind::Text },
    Key { name: "unit", field: "unit", kind: Kind::COUNT },
    Key { name: "workers", field: "workers", kind: OF_READERS },
    Key { name: "readers", field: "readers", kind: OF_STREAMS },
];

/// The sections of a document, and whether the lists that come beside it have names that they may have. Failures: `recipe` (no JSON
/// object, or more than 2^24 bytes), `recipe-member` and its like (an unknown one), `lists`, `samedeal`, or any field that is of
/// another type.
#[inline(never)]
pub(crate) fn fields<'a>(
    text: &'a str,
    sections: &'static [Key],
    lists: &[List],
    known: &[&'static str],
) -> Result<Fields<'a>, Failure> {
    if text.len() > MAX_TEXT {
        let value = format!("of {} bytes", text.len());
        return Err(Failure::out_of_range(
            "recipe",
            value,
            at_most(MAX_TEXT).and("; long lists come beside it, by their names"),
        ));
    }
    // In the recipe of a sampler, a list of an order within another one has the path to it before its own name.
    let has_paths = known.contains(&"indices");
    let own =
        |name: &str| name.rsplit('/').next().is_some_and(|own| known.contains(&own) && (has_paths || own == name));
    if let Some((name, _)) = lists.iter().find(|(name, _)| !own(name)) {
        return Err(Failure::unknown_name("lists", name, one_of(known.iter().copied())));
    }
    for (at, (name, _)) in lists.iter().enumerate() {
        if lists.iter().take(at).any(|(before, _)| before == name) {
            return Err(Failure::contradiction("lists", format!("{name} twice"), "each name once"));
        }
    }
    let fields = Fields::read(text, sections)?;
    match fields.count("samedeal") {
        Some(version) if version != VERSION => {
            Err(Failure::out_of_range("samedeal", version, format!("{VERSION}, the version of recipes")))
        }
        _ => Ok(fields),
    }
}

/// SHA-256 over a canonical text, in hexadecimal.
pub(crate) fn fingerprint(text: &str) -> String {
    let mut hash = Fingerprint::new();
    hash.add(text.as_bytes());
    hash.finish()
}

/// The list of a field that comes beside the document. The names of lists have `_` where those of fields have `-`.
#[inline(never)]
pub(crate) fn beside<'a>(field: &str, lists: &[List<'a>]) -> Option<&'a [u64]> {
    let is_named = |name: &str| name.bytes().map(|byte| if byte == b'_' { b'-' } else { byte }).eq(field.bytes());
    lists.iter().find(|(name, _)| is_named(name)).map(|&(_, list)| list)
}

/// The numbers of a list: those of the document, or those beside it, which have to be what the document has, if it has both; `what`
/// says what they are. Failures: `field`, `out-of-memory`.
#[inline(never)]
pub(crate) fn list(
    field: &'static str,
    what: &str,
    fields: &Fields,
    lists: &[List],
) -> Result<Option<Vec<u64>>, Failure> {
    let list = beside(field, lists);
    let beside = list.map(|list| list.iter().copied());
    let numbers = match numbers::chosen(field, what, fields.numbers(field), beside)? {
        Chosen::Nowhere => return Ok(None),
        Chosen::Text(numbers) => numbers,
        Chosen::Beside => list.unwrap_or_default(),
    };
    collect(field, numbers.len(), numbers.iter().copied()).map(Some)
}

/// The same of a list of 32-bit numbers. Failures: as `list`.
#[inline(never)]
pub(crate) fn list32(
    field: &'static str,
    what: &str,
    fields: &Fields,
    lists: &[List],
) -> Result<Option<Vec<u32>>, Failure> {
    list(field, what, fields, lists)?.map(|numbers| numbers::narrow(field, &numbers)).transpose()
}

/// Failures: a field that goes with the order `sharded`, and is there with the order of another name.
pub(crate) fn refuse_sharding(order: &Fields, name: &str) -> Result<(), Failure> {
    refuse(order, &["lanes", "shuffle-window", "shards", "sizes"], name)
}

/// Failures: the first of these fields that is there, as it goes with the order `sharded`.
#[inline(never)]
pub(crate) fn refuse(order: &Fields, fields: &[&'static str], name: &str) -> Result<(), Failure> {
    for field in fields {
        if let Some(value) = order.shown(field) {
            return Err(not_sharded(field, &value, name));
        }
    }
    Ok(())
}

pub(crate) fn not_sharded(field: &'static str, value: &str, name: &str) -> Failure {
    Failure::contradiction(field, value, format!("none with the order {name}, since it goes with sharded"))
}
