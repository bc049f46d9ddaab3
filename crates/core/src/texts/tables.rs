//! The tables of members, for documents and schemas.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::base::MAX_EXACT;
use crate::document::member::{Default, Kind, Member, Need, joined};
use crate::document::quoted;
use crate::order::{ANY_ORDER_MEMBERS, COMPOSED, OrderId};
use crate::{batch, deal, read, shard, split, steps};

/// All kinds of recipes, and their sections.
pub(super) const RECIPES: [(&str, &[Member]); 7] = [
    ("sampler", deal::SECTIONS),
    ("plan", shard::SECTIONS),
    ("reading", read::SECTIONS),
    ("chunk-stream", shard::SECTIONS_OF_STREAMS),
    ("batcher", batch::SECTIONS),
    ("schedule", steps::SECTIONS),
    ("split", split::SECTIONS),
];

/// A member of a section of a recipe, for generators of documents and code.
pub struct Described {
    /// The kind of recipe.
    pub recipe: &'static str,
    /// The section.
    pub section: &'static str,
    /// The member.
    pub name: &'static str,
    /// The type and the range of the member.
    pub value: Value,
    /// When the member may be given: a list of alternatives. An alternative holds if all its needs hold. An empty list:
    /// always.
    pub needs: Vec<Vec<Needed>>,
    /// Whether the member is required wherever it may be given.
    pub is_required: bool,
    /// The default, in Markdown; empty if the member has none, or if another member decides it.
    pub default: String,
    /// The description of the member, for people.
    pub text: String,
}

/// A condition on the name that another member of the section has.
pub struct Needed {
    /// The other member.
    pub name: &'static str,
    /// The names of the condition.
    pub names: &'static [&'static str],
    /// True if the other member must have one of the names; false if it must have none of them.
    pub is_one: bool,
}

/// The type and the range of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A whole number.
    Natural {
        /// The largest number.
        most: u64,
        /// The range, for people.
        range: String,
    },
    /// A whole number of 64 bits, of either sign.
    Integer,
    /// `true` or `false`.
    Flag,
    /// One of these names.
    Name(&'static [&'static str]),
    /// Any text.
    Text,
    /// A list of numbers. They are whole, except for weights.
    Numbers,
    /// An object, or several.
    Objects,
}

/// All members of the sections of all recipes.
pub fn described() -> Vec<Described> {
    let mut all = Vec::new();
    for (recipe, sections) in RECIPES {
        for section in sections {
            let Kind::Section(members) = section.kind else { continue };
            for member in members.iter().filter(|member| !matches!(member.kind, Kind::Elsewhere(_))) {
                let need = |need: &Need| Needed { name: need.member, names: need.names, is_one: need.is_one };
                let value = match member.kind {
                    Kind::Natural { least, most } => {
                        Value::Natural { most, range: format!("{} to {}", number(least), number(most)) }
                    }
                    Kind::Integer => Value::Integer,
                    Kind::Flag => Value::Flag,
                    Kind::Name(names) => Value::Name(names),
                    Kind::Text { .. } => Value::Text,
                    Kind::Weight => Value::Natural { most: MAX_EXACT, range: format!("0 to {}", number(MAX_EXACT)) },
                    Kind::Numbers { .. } | Kind::Lengths | Kind::Weights => Value::Numbers,
                    Kind::Section(_) | Kind::Objects { .. } | Kind::Elsewhere(_) => Value::Objects,
                };
                let needs = member.place.iter().map(|all| all.iter().map(need).collect()).collect();
                let (default, text) = (default(member), described_as(member));
                let is_required = matches!(member.default, Default::Required(_));
                let (section, name) = (section.name, member.name);
                all.push(Described { recipe, section, name, value, needs, is_required, default, text });
            }
        }
    }
    all
}

/// The page for which tables of members are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// The specification, with the rules of each member.
    Specification,
    /// The reference of recipes, which has the text of each member too.
    Reference,
}

/// All members of the sections of all recipes, with their types and defaults: a table in Markdown for each kind of
/// recipe, in the order in which members are checked.
pub fn members(page: Page) -> String {
    let mut text = String::new();
    let mut seen: Vec<&[Member]> = Vec::new();
    for (kind, sections) in RECIPES {
        let kind = format!("a {}", kind.replace('-', " "));
        text += &format!(
            "\n### Members of a recipe of {kind}\n\n\
             | object | member | type and range | belongs with | without it |{}\n|---|---|---|---|---|{}\n",
            if page == Page::Reference { " text |" } else { "" },
            if page == Page::Reference { "---|" } else { "" }
        );
        rows(page, &mut text, "the recipe", sections);
        for section in sections {
            if let Kind::Section(members) = section.kind {
                below(page, &mut text, &mut seen, &format!("`{}` of {kind}", section.name), members);
            }
        }
    }
    text
}

/// Adds the rows of an object, and of the objects in its lists. A table that several recipes share, as for orders,
/// comes once.
fn below(page: Page, text: &mut String, seen: &mut Vec<&'static [Member]>, section: &str, members: &'static [Member]) {
    if seen.iter().any(|other| core::ptr::eq(*other, members)) {
        return;
    }
    seen.push(members);
    rows(page, text, section, members);
    for member in members {
        if let Kind::Objects { of, .. } = member.kind {
            below(page, text, seen, &format!("an object of its `{}`", member.name), of);
        }
    }
}

fn rows(page: Page, out: &mut String, section: &str, members: &[Member]) {
    let mut section = section;
    for member in members {
        if let Kind::Elsewhere(_) = member.kind {
            continue;
        }
        let text = if page == Page::Reference { format!(" {} |", described_as(member)) } else { String::new() };
        *out += &format!(
            "| {section} | `{}` | {} | {} | {} |{text}\n",
            member.name,
            kind(member.kind),
            belongs(member),
            without(member)
        );
        section = "";
    }
}

fn kind(kind: Kind) -> String {
    match kind {
        Kind::Natural { least, most } => format!("natural, {} to {}", number(least), number(most)),
        Kind::Weight => "weight".into(),
        Kind::Weights => "weights".into(),
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
            let but = if need.is_one { "" } else { "all but " };
            let names = joined(&mut need.names.iter().map(|name| format!("`{name}`")), ", ", ", ");
            format!("`{}` {but}{names}", need.member)
        });
        joined(&mut needs, " and ", " and ")
    });
    joined(&mut any, "; ", "; ")
}

fn without(member: &Member) -> String {
    match (member.default, member.kind, default(member)) {
        (Default::Required(_), ..) => "missing".into(),
        (Default::None, Kind::Name(_), default) if default.is_empty() => "by the order".into(),
        (.., default) => default,
    }
}

/// The default of a member, if it depends on no other member.
fn default(member: &Member) -> String {
    match member.default {
        Default::Number(of) => number(of),
        Default::Flag(flag) => flag.to_string(),
        Default::Empty => "`{}`".into(),
        Default::None => first_name(member).map_or(String::new(), |name| format!("`{name}`")),
        Default::Required(_) => String::new(),
    }
}

/// The default name of a member: the first one. `layout` has none here, because its default depends on the order.
fn first_name(member: &Member) -> Option<&'static str> {
    match member.kind {
        Kind::Name([first, ..]) if member.name != "layout" => Some(first),
        _ => None,
    }
}

/// The description of a member. A required member without one is described by the text of its failure.
fn described_as(member: &Member) -> String {
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

/// A JSON Schema of recipes. Rules between members that the tables do not have are added where golden cases are
/// written. Each kind of recipe has a definition, and orders have one, because they nest. The outermost order of a
/// batcher and of a reading has a definition of its own, because other rules are added to it.
pub fn schema() -> String {
    let mut definitions = String::new();
    for (kind, sections) in RECIPES {
        definitions += &format!(",{}:{}", quoted(kind), object(sections, kind));
    }
    for (name, kind) in [("order", ""), ("order-of-batcher", "batcher"), ("order-of-reading", "reading")] {
        definitions += &format!(",{}:{}", quoted(name), object(ANY_ORDER_MEMBERS, kind));
    }
    let hash = "\"hash\":{\"description\":\"SHA-256 of a list of numbers, each as 8 bytes, little-endian.\",\"type\":\"string\",\"pattern\":\"^[0-9a-f]{64}$\"}";
    format!("{{\"$defs\":{{{hash}{definitions}}}}}")
}

/// The schema of an object in a recipe. The kind of the recipe decides which orders it may have.
fn object(members: &[Member], recipe: &str) -> String {
    let known = members.iter().filter(|member| !matches!(member.kind, Kind::Elsewhere(_)));
    let (mut properties, mut required, mut conditions) = (Vec::new(), Vec::new(), Vec::new());
    for member in known {
        properties.push(format!("{}:{}", quoted(member.name), value(member, members, recipe)));
        // A list may come beside the recipe, so it is not required here.
        let has_to_be = matches!(member.default, Default::Required(_))
            && !matches!(member.kind, Kind::Numbers { beside: true, .. });
        let there = format!("{{\"required\":[{}]}}", quoted(member.name));
        match member.place {
            [] if has_to_be => required.push(quoted(member.name)),
            [] => {}
            place => {
                let place =
                    any(place.iter().map(|all| every(all.iter().map(|need| holds(need, member, members, recipe)))));
                let then = if has_to_be { format!(",\"then\":{there}") } else { String::new() };
                conditions.push(format!("{{\"if\":{place}{then},\"else\":{{\"not\":{there}}}}}"));
            }
        }
    }
    let required = if required.is_empty() { String::new() } else { format!(",\"required\":[{}]", required.join(",")) };
    let conditions =
        if conditions.is_empty() { String::new() } else { format!(",\"allOf\":[{}]", conditions.join(",")) };
    format!(
        "{{\"type\":\"object\",\"additionalProperties\":false{required},\"properties\":{{{}}}{conditions}}}",
        properties.join(",")
    )
}

fn any(schemas: impl Iterator<Item = String>) -> String {
    format!("{{\"anyOf\":[{}]}}", schemas.collect::<Vec<_>>().join(","))
}

fn every(schemas: impl Iterator<Item = String>) -> String {
    format!("{{\"allOf\":[{}]}}", schemas.collect::<Vec<_>>().join(","))
}

/// The schema of a need. A need also holds if the other member is not there, but has a default that is one of the
/// names.
fn holds(need: &Need, of: &Member, members: &[Member], recipe: &str) -> String {
    let Some(member) = members.iter().find(|member| member.name == need.member) else { return "true".into() };
    let name = quoted(member.name);
    // A reading with the order `sequential` has shards, too, but no lanes.
    let is_stored = recipe == "reading" && need.names.contains(&"sharded") && matches!(of.name, "sizes" | "shards");
    let names = one_of(need.names.iter().copied().chain(is_stored.then_some("sequential")));
    let mut ways = Vec::from([format!("{{\"required\":[{name}],\"properties\":{{{name}:{names}}}}}")]);
    let nameless = format!("{{\"not\":{{\"required\":[{name}]}}}}");
    match member.kind {
        Kind::Name([first, ..]) if need.names.contains(first) => ways.push(nameless),
        Kind::Name(_) => {}
        // The name of an order: with `sizes`, its default is `sharded`.
        _ => {
            let sizes = "{\"required\":[\"sizes\"]}";
            let unnamed = if recipe == "reading" { "sharded" } else { "feistel" };
            if need.names.contains(&unnamed) {
                ways.push(every([nameless.clone(), format!("{{\"not\":{sizes}}}")].into_iter()));
            }
            if need.names.contains(&"sharded") {
                ways.push(every([nameless, sizes.into()].into_iter()));
            }
        }
    }
    let one = any(ways.into_iter());
    if need.is_one { one } else { format!("{{\"not\":{one}}}") }
}

fn value(member: &Member, siblings: &[Member], recipe: &str) -> String {
    let own = match member.kind {
        Kind::Natural { least, most } if most <= MAX_EXACT => natural(least, most),
        Kind::Natural { least, .. } => any([natural(least, MAX_EXACT), in_quotes("")].into_iter()),
        Kind::Weight => weight(),
        Kind::Weights => format!("{{\"type\":\"array\",\"items\":{}}}", weight()),
        Kind::Integer => {
            let number = format!("{{\"type\":\"integer\",\"minimum\":-{MAX_EXACT},\"maximum\":{MAX_EXACT}}}");
            any([number, in_quotes("-?")].into_iter())
        }
        // The name of an order.
        Kind::Text { least: 0, .. } if member.name == "name" => {
            let all = OrderId::ALL.iter().chain(&[OrderId::Sharded]).chain(&COMPOSED);
            let fits = |id: &&OrderId| match recipe {
                // Only orders of samples in shards.
                "reading" => matches!(id, OrderId::Sequential | OrderId::Sharded) || id.is_blend() || id.is_view(),
                "chunk-stream" => OrderId::ALL.contains(id),
                _ => true,
            };
            one_of(all.filter(fits).map(|id| id.name()))
        }
        Kind::Text { least: 0, .. } => "{\"type\":\"string\"}".into(),
        // The range is in bytes. A text has at least as many bytes as characters, so `maxLength` allows every text in
        // the range.
        Kind::Text { least, most } => format!("{{\"type\":\"string\",\"minLength\":{least},\"maxLength\":{most}}}"),
        Kind::Name(names) => one_of(names.iter().copied()),
        Kind::Flag => "{\"type\":\"boolean\"}".into(),
        Kind::Numbers { most, .. } => numbers(most),
        Kind::Lengths => numbers(u32::MAX.into()),
        Kind::Section(members) if core::ptr::eq(members, ANY_ORDER_MEMBERS) => {
            // The outermost order, which stands beside `samedeal`.
            let is_own = siblings.iter().any(|other| other.name == "samedeal");
            let own =
                if is_own && matches!(recipe, "batcher" | "reading") { format!("-of-{recipe}") } else { String::new() };
            format!("{{\"$ref\":\"#/$defs/order{own}\"}}")
        }
        Kind::Section(members) => object(members, recipe),
        Kind::Objects { of, most } => {
            let least = u8::from(matches!(member.default, Default::Required(_)));
            let most = if most == usize::MAX { String::new() } else { format!(",\"maxItems\":{most}") };
            format!("{{\"type\":\"array\",\"minItems\":{least}{most},\"items\":{}}}", object(of, recipe))
        }
        Kind::Elsewhere(_) => "false".into(),
    };
    let default = match (member.default, member.kind) {
        (Default::Number(of), _) => format!("\"default\":{of},"),
        (Default::Flag(flag), _) => format!("\"default\":{flag},"),
        (Default::None, _) => first_name(member).map_or(String::new(), |name| format!("\"default\":{},", quoted(name))),
        _ => String::new(),
    };
    let text = described_as(member);
    let text = if text.is_empty() { String::new() } else { format!("\"description\":{},", quoted(&text)) };
    own.replacen('{', &format!("{{{text}{default}"), 1)
}

fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    format!("{{\"enum\":[{}]}}", names.map(quoted).collect::<Vec<_>>().join(","))
}

fn weight() -> String {
    "{\"type\":\"number\",\"minimum\":0}".into()
}

fn natural(least: u64, most: u64) -> String {
    format!("{{\"type\":\"integer\",\"minimum\":{least},\"maximum\":{most}}}")
}

/// A number beyond 2^53 - 1, as a text.
fn in_quotes(sign: &str) -> String {
    let digits = MAX_EXACT.to_string();
    // Numbers above 2^53 - 1: with as many digits, of which the first ones are equal and the next one is larger; or
    // with more digits.
    let same = (0..digits.len()).filter(|&at| digits.as_bytes()[at] < b'9').map(|at| {
        let (before, next, left) = (&digits[..at], digits.as_bytes()[at] + 1, digits.len() - 1 - at);
        format!("{before}[{}-9][0-9]{{{left}}}", char::from(next))
    });
    let all = same.chain([String::from("[1-9][0-9]{16,19}")]).collect::<Vec<_>>().join("|");
    format!("{{\"type\":\"string\",\"pattern\":\"^{sign}({all})$\"}}")
}

fn numbers(most: u64) -> String {
    let list = format!("{{\"type\":\"array\",\"items\":{}}}", natural(0, most.min(MAX_EXACT)));
    any([list, "{\"$ref\":\"#/$defs/hash\"}".into()].into_iter())
}
