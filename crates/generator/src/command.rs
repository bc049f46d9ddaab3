//! The options of the command that set members of recipes: a type with a table of options for each section, generated
//! from the tables of members in the core.

use std::fmt::Write;

use samedeal_core::{Described, Needed, OrderId, Value, meaning};

use crate::Files;
use crate::wit::Wit;
use crate::words::{either, small, spelled};

/// A section whose members are options of a subcommand.
struct Table {
    /// The generated type that holds the table.
    name: &'static str,
    recipe: &'static str,
    section: &'static str,
    /// Members that take a name, each with the names that the command accepts. A member that is valid only with other
    /// names gets no option.
    only: &'static [(&'static str, &'static [&'static str])],
    /// Members without a generated option: the command reads them from files, or has a hand-written option.
    by_hand: &'static [&'static str],
    /// Pairs of a member and the name of its option, where another option has the member's name.
    called: &'static [(&'static str, &'static str)],
    /// Pairs of a member and the help of its option. This help replaces the text of the core. If it begins with `+`, it
    /// is added after that text instead.
    help: &'static [(&'static str, &'static str)],
    /// Members whose option may be given several times; each is a number.
    repeated: &'static [&'static str],
    /// The option without which the options of this table may not be given.
    requires: Option<&'static str>,
}

const ORDER: Table = Table {
    name: "Order",
    recipe: "sampler",
    section: "order",
    // Composed orders are left out: the command takes them from a recipe.
    only: &[("name", &["feistel", "sharded"])],
    by_hand: &["samples", "shards", "sizes"],
    called: &[("name", "order")],
    help: &[("name", "The name of the order; `samedeal orders` lists them. `sharded` needs files [default: feistel]")],
    repeated: &[],
    requires: None,
};

const DEAL: Table = Table { name: "Deal", section: "deal", only: &[], by_hand: &[], called: &[], help: &[], ..ORDER };

const TABLES: &[Table] = &[
    ORDER,
    DEAL,
    Table {
        name: "Batch",
        recipe: "batcher",
        section: "batch",
        by_hand: &["lengths"],
        help: &[(
            "max_tokens",
            "+If it is there several times, `batches` shows what each limit makes of the lengths, in a row for each",
        )],
        repeated: &["max_tokens"],
        requires: Some("lengths"),
        ..DEAL
    },
    Table {
        name: "Blend",
        only: &[("name", &["blend", "blend-exact"])],
        by_hand: &["name", "sources", "stages"],
        called: &[],
        help: &[],
        ..ORDER
    },
    Table {
        name: "Shards",
        recipe: "plan",
        section: "shards",
        // `locality-aware` is left out: files do not say which node stores them.
        only: &[("policy", &["size-aware", "round-robin"])],
        // `shuffle_rows` is left out: the command deals whole files.
        by_hand: &["samples", "shards", "sizes", "bytes", "shuffle_rows"],
        ..DEAL
    },
    Table { name: "Readers", recipe: "plan", ..DEAL },
    Table {
        name: "Steps",
        recipe: "schedule",
        section: "steps",
        by_hand: &["global_batch_size", "stages"],
        called: &[("epochs", "max-epochs")],
        ..DEAL
    },
    Table { name: "StepsDeal", recipe: "schedule", ..DEAL },
    Table { name: "Parts", recipe: "split", section: "split", by_hand: &["samples", "parts"], ..DEAL },
];

/// The generated files: one module, `mod.rs`, with all tables.
pub fn modules(_: Wit<'_>) -> Result<Files, String> {
    let all = samedeal_core::described();
    let mut text = String::from(
        "//! The options that are members of recipes.
// Written by `cargo xtask build` from the tables of members in `samedeal-core`. Changes here are lost.

use crate::args::member::{Kind, Member, Section};
",
    );
    for table in TABLES {
        let Table { name, requires, .. } = table;
        let rows: String = table.members(&all).map(|member| table.row(member, &all)).collect();
        let _ = write!(
            text,
            "
pub struct {name};

impl Section for {name} {{
    const REQUIRES: Option<&'static str> = {requires:?};
    const MEMBERS: &'static [Member] = &[
{rows}    ];
}}
"
        );
    }
    let orders = OrderId::ALL.into_iter().chain([OrderId::Sharded]);
    let orders = orders.map(|order| format!("    ({:?}, {:?}),\n", order.name(), order.text()));
    let orders: String = orders.collect();
    let is_list = |member: &Described| member.value == Value::Numbers;
    let lists = names(&all, &[("sampler", "order")], is_list);
    let is_shown = |member: &Described| !is_list(member) && member.value != Value::Objects;
    let shown = names(&all, &[("sampler", "order"), ("plan", "shards")], is_shown);
    let _ = write!(
        text,
        "
/// The orders that have a name of their own, and what they are.
pub const ORDERS: &[(&str, &str)] = &[
{orders}];

/// The lists of orders, by their names in recipes.
pub const LISTS: &[&str] = &{lists:?};

/// The members of orders and of plans of whole shards that are one value: a number, a name, a text or a flag.
pub const VALUES: &[&str] = &{shown:?};
"
    );
    Ok(Files::from([("mod.rs".to_owned(), text)]))
}

/// The names of the members of these sections (recipe, section) that are wanted, each once.
fn names<'a>(all: &'a [Described], sections: &[(&str, &str)], is_wanted: impl Fn(&Described) -> bool) -> Vec<&'a str> {
    let mut names = Vec::new();
    for member in all.iter().filter(|member| sections.contains(&(member.recipe, member.section)) && is_wanted(member)) {
        if !names.contains(&member.name) {
            names.push(member.name);
        }
    }
    names
}

impl Table {
    fn members<'a>(&self, all: &'a [Described]) -> impl Iterator<Item = &'a Described> {
        all.iter().filter(move |member| {
            let is_own = member.recipe == self.recipe && member.section == self.section;
            let is_option = !matches!(member.value, Value::Objects) && !self.by_hand.contains(&member.name);
            is_own && is_option && (member.needs.is_empty() || member.needs.iter().any(|all| self.allows(all)))
        })
    }

    /// The needed names of another member that options can give. None if options can give that member any name.
    fn within(&self, need: &Needed) -> Option<Vec<&'static str>> {
        let (_, known) = self.only.iter().find(|(name, _)| *name == need.name)?;
        Some(known.iter().copied().filter(|name| need.names.contains(name)).collect())
    }

    fn allows(&self, all: &[Needed]) -> bool {
        all.iter().all(|need| self.within(need).is_none_or(|names| !need.is_one || !names.is_empty()))
    }

    fn row(&self, member: &Described, all: &[Described]) -> String {
        let &Described { name, ref value, ref default, ref text, .. } = member;
        let is_off = default == "true";
        let option = if is_off { format!("no-{name}") } else { self.option(name) };
        let mut help = joined(&self.told(text, all), &self.needed(member));
        if is_off {
            help = format!("Turn off: {}", small(&help));
        }
        let kind = match value {
            Value::Natural { range, most } => {
                // A range that ends at the largest value of the type is not shown, because it tells users nothing.
                if ![u32::MAX.into(), samedeal_core::MAX_EXACT, u64::MAX].contains(most) {
                    let _ = write!(help, " [range: {range}]");
                }
                let width = match () {
                    () if self.repeated.contains(&name) => "Longs",
                    () if *most <= u32::MAX.into() => "Short",
                    () => "Long",
                };
                format!("Kind::{width}({range:?})")
            }
            Value::Integer => "Kind::Integer".to_owned(),
            Value::Flag => format!("Kind::Flag({})", !is_off),
            Value::Name(names) => {
                let known = self.only.iter().find(|(other, _)| *other == name).map_or(*names, |(_, known)| known);
                let mut rows = String::new();
                for known in known {
                    let meaning = joined(&self.told(meaning(name, known), all), "");
                    let _ = writeln!(rows, "            ({known:?}, {meaning:?}),");
                }
                format!("Kind::Name(&[\n{rows}        ])")
            }
            Value::Text | Value::Objects => "Kind::Text".to_owned(),
            Value::Numbers => "Kind::Numbers".to_owned(),
        };
        if !default.is_empty() && *value != Value::Flag {
            let _ = write!(help, " [default: {}]", default.trim_matches('`'));
        }
        if let Some((_, own)) = self.help.iter().find(|(member, _)| *member == name) {
            help = own.strip_prefix('+').map_or_else(|| (*own).to_owned(), |more| format!("{help}. {more}"));
        }
        format!("        Member {{ name: {name:?}, option: {option:?}, kind: {kind}, help: {help:?} }},\n")
    }

    /// The name of a member's option.
    fn option(&self, name: &str) -> String {
        let called = self.called.iter().find(|(member, _)| *member == name);
        called.map_or(name, |(_, option)| option).replace('_', "-")
    }

    /// A text in the words of the command: the name of a member becomes the name of its option.
    fn told(&self, text: &str, all: &[Described]) -> String {
        let tables = TABLES.iter().filter(|table| table.recipe == self.recipe);
        let is_option = |name: &str| tables.clone().any(|table| table.members(all).any(|member| member.name == name));
        let told = |part: &str| if is_option(part) { format!("--{}", self.option(part)) } else { part.to_owned() };
        spelled(text, str::to_owned, told)
    }

    /// The condition of a member, as a sentence for the help: `Only with --option name` or `Not with ...`.
    fn needed(&self, member: &Described) -> String {
        let need = |need: &Needed| {
            let names = self.within(need).unwrap_or_else(|| need.names.to_vec());
            // No condition is shown if the need lists every name that the command accepts, or none of them: options
            // cannot violate it.
            let is_all = self.only.iter().any(|(name, known)| *name == need.name && names.len() == known.len());
            let option = self.option(need.name);
            (!names.is_empty() && !is_all).then(|| (need.is_one, format!("--{option} {}", either(&names))))
        };
        let ways = member.needs.iter().filter(|all| self.allows(all));
        let ways: Vec<Vec<_>> = ways.map(|all| all.iter().filter_map(need).collect()).collect();
        let told = |what: &str, is_one: bool| {
            let ways = ways.iter().filter(|way| !way.is_empty() && way.iter().all(|(is, _)| *is) == is_one);
            let words =
                |way: &Vec<(bool, String)>| way.iter().map(|(_, words)| &**words).collect::<Vec<_>>().join(" and ");
            let ways: Vec<_> = ways.map(words).collect();
            if ways.is_empty() { String::new() } else { format!("{what} with {}", ways.join(", or ")) }
        };
        joined(&told("Only", true), &told("Not", false))
    }
}

/// Two texts as sentences of one help text. Either may be empty. The full stop of the first one is removed.
fn joined(text: &str, more: &str) -> String {
    let text = text.trim_end_matches('.');
    let between = if text.is_empty() || more.is_empty() { "" } else { ". " };
    format!("{text}{between}{more}")
}
