//! What the recipes of all stages have in common.

use alloc::format;
use alloc::string::String;

use super::fields::{Fields, Key, Kind};
use crate::Failure;
use crate::base::failure::{at_most, known as one_of};
use crate::base::fingerprint::Fingerprint;

/// The version of the format.
pub(crate) const VERSION: u64 = 1;

/// The most bytes of a recipe.
pub(crate) const MAX_RECIPE: usize = 1 << 20;

/// Numbers that a recipe may have as a hash alone, by the name of their field.
pub type List<'a> = (&'a str, &'a [u64]);

pub(crate) const SAMEDEAL: Key = Key { name: "samedeal", field: "samedeal", kind: Kind::Count };
pub(crate) const ORDER: Key = Key { name: "order", field: "order", kind: Kind::Section(ORDER_MEMBERS) };
pub(crate) const DEAL: Key = Key { name: "deal", field: "deal", kind: Kind::Section(DEAL_MEMBERS) };

const ORDER_MEMBERS: &[Key] = &[
    Key { name: "name", field: "order", kind: Kind::Text },
    Key { name: "samples", field: "samples", kind: Kind::Count },
    Key { name: "seed", field: "seed", kind: Kind::Signed },
    Key { name: "lanes", field: "lanes", kind: Kind::Count },
    Key { name: "shuffle_window", field: "shuffle-window", kind: Kind::Count },
    Key { name: "shards", field: "shards", kind: Kind::Count },
    Key { name: "sizes", field: "sizes", kind: Kind::Numbers },
];
const DEAL_MEMBERS: &[Key] = &[
    Key { name: "world_size", field: "world-size", kind: Kind::Count },
    Key { name: "remainder", field: "remainder", kind: Kind::Text },
    Key { name: "layout", field: "layout", kind: Kind::Text },
];

/// The sections of a document, and whether the lists that come beside it have names that they may have. Failures: `recipe` (no JSON
/// object, or more than 2^20 bytes), `recipe-member` and its like (an unknown one), `lists`, `samedeal`, or any field that is of
/// another type.
#[inline(never)]
pub(crate) fn fields<'a>(
    text: &'a str,
    sections: &'static [Key],
    lists: &[List],
    known: &[&'static str],
) -> Result<Fields<'a>, Failure> {
    if text.len() > MAX_RECIPE {
        let value = format!("of {} bytes", text.len());
        return Err(Failure::out_of_range(
            "recipe",
            value,
            at_most(MAX_RECIPE).and("; long lists come beside it, by their names"),
        ));
    }
    if let Some((name, _)) = lists.iter().find(|(name, _)| !known.contains(name)) {
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

/// Failures: a field that goes with the order `sharded`, and is there with the order of another name.
#[inline(never)]
pub(crate) fn refuse_sharding(order: &Fields, name: &str) -> Result<(), Failure> {
    for field in ["lanes", "shuffle-window", "shards", "sizes"] {
        if let Some(value) = order.shown(field) {
            return Err(not_sharded(field, &value, name));
        }
    }
    Ok(())
}

pub(crate) fn not_sharded(field: &'static str, value: &str, name: &str) -> Failure {
    Failure::contradiction(field, value, format!("none with the order {name}, since it goes with sharded"))
}
