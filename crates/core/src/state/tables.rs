//! The tables of members, as documents have them.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::member::{Default, Kind, Member, joined};
use crate::{MAX_EXACT, batch, deal, read, shard, split};

/// All members of the sections of all recipes, each with what is true of it by itself: a table in Markdown, in the order in which members
/// are checked.
pub fn members() -> String {
    let mut text = String::from(
        "| object | member | type and range | belongs with | without it | text |\n|---|---|---|---|---|---|\n",
    );
    let mut seen: Vec<&[Member]> = Vec::new();
    for (kind, sections) in [
        ("a sampler", deal::SECTIONS),
        ("a plan", shard::SECTIONS),
        ("a reading", read::SECTIONS),
        ("a chunk stream", shard::SECTIONS_OF_STREAMS),
        ("batches", batch::SECTIONS),
        ("a schedule", deal::SECTIONS_OF_STEPS),
        ("a split", split::SECTIONS),
    ] {
        rows(&mut text, &format!("a recipe of {kind}"), sections);
        for section in sections {
            if let Kind::Section(members) = section.kind {
                below(&mut text, &mut seen, &format!("`{}` of {kind}", section.name), members);
            }
        }
    }
    text
}

/// The rows of an object, and of the objects in its lists. Those of orders, which are the same in several recipes, come once.
fn below(text: &mut String, seen: &mut Vec<&'static [Member]>, section: &str, members: &'static [Member]) {
    if seen.iter().any(|other| core::ptr::eq(*other, members)) {
        return;
    }
    seen.push(members);
    rows(text, section, members);
    for member in members {
        if let Kind::Objects { of, .. } = member.kind {
            below(text, seen, &format!("an object of its `{}`", member.name), of);
        }
    }
}

fn rows(text: &mut String, section: &str, members: &[Member]) {
    let mut section = section;
    for member in members {
        if let Kind::Elsewhere(_) = member.kind {
            continue;
        }
        *text += &format!(
            "| {section} | `{}` | {} | {} | {} | {} |\n",
            member.name,
            kind(member.kind),
            belongs(member),
            without(member),
            described(member)
        );
        section = "";
    }
}

fn kind(kind: Kind) -> String {
    match kind {
        Kind::Natural { least, most } => format!("natural, {} to {}", number(least), number(most)),
        Kind::Integer => "integer".into(),
        Kind::Text { least: 0, most: usize::MAX } => "string".into(),
        Kind::Text { least, most } => format!("string, {} to {} bytes", number(least as u64), number(most as u64)),
        Kind::Name(names) => joined(&mut names.iter().map(|name| format!("`{name}`")), ", ", ", "),
        Kind::Flag => "flag".into(),
        Kind::Numbers { most: u64::MAX, .. } => "numbers".into(),
        Kind::Numbers { most, .. } => format!("numbers, 0 to {}", number(most)),
        Kind::Lengths => "numbers, 0 to 2^32 - 1".into(),
        Kind::Section(_) => "object".into(),
        Kind::Objects { most: usize::MAX, .. } => "objects".into(),
        Kind::Objects { most, .. } => format!("up to {} objects", number(most as u64)),
        Kind::Elsewhere(_) => String::new(),
    }
}

fn belongs(member: &Member) -> String {
    let mut any = member.place.iter().map(|all| {
        let mut needs = all.iter().map(|need| {
            let (field, but) =
                (if need.field == "order" { "name" } else { need.field }, if need.is_one { "" } else { "all but " });
            let names = joined(&mut need.names.iter().map(|name| format!("`{name}`")), ", ", ", ");
            format!("`{field}` {but}{names}")
        });
        joined(&mut needs, " and ", " and ")
    });
    joined(&mut any, "; ", "; ")
}

fn without(member: &Member) -> String {
    match (member.default, member.kind) {
        (Default::Required(_), _) => "missing".into(),
        (Default::Number(of), _) => number(of),
        (Default::Flag(flag), _) => flag.to_string(),
        (Default::Empty, _) => "`{}`".into(),
        (Default::None, Kind::Name([first, ..])) => format!("`{first}`"),
        (Default::None, _) => String::new(),
    }
}

/// What a member says: of one that has to be there, that may be what is missing without it.
fn described(member: &Member) -> String {
    let what = if let Default::Required(what) = member.default { what } else { "" };
    match (member.text, what.chars().next()) {
        ("", Some(first)) => format!("{}{}.", first.to_uppercase(), &what[first.len_utf8()..]),
        (text, _) => text.into(),
    }
}

fn number(number: u64) -> String {
    match number {
        MAX_EXACT => "2^53 - 1".into(),
        u64::MAX => "2^64 - 1".into(),
        _ if number == u64::from(u32::MAX) => "2^32 - 1".into(),
        _ if number >= 1 << 16 && number.is_power_of_two() => format!("2^{}", number.trailing_zeros()),
        _ => number.to_string(),
    }
}
