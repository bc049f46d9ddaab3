//! The options of JavaScript classes, generated from the core's descriptions of the members of recipes.

use std::collections::BTreeSet;

use samedeal_core::{Described, LIMITS, Limit, OrderId, Value, meaning};

use super::MADE;
use super::text::{Text, comment};
use crate::members::{self, object, only_with};
use crate::words::{WIDTH, camel, pascal, small, spread};

/// The members of a section that become options of a group.
enum Members {
    All,
    /// Only the listed members. The other members have another form in JavaScript.
    Only(&'static [&'static str]),
    But(&'static [&'static str]),
    /// The members of the order of this name.
    OfOrder(&'static str),
}
use Members::{All, But, OfOrder, Only};

/// Groups of options: the section of the members, the kind of recipe, the TypeScript interface, the constant with the
/// names of the options, and the members.
const GROUPS: [(&str, &str, &str, &str, Members); 14] = [
    ("deal", "sampler", "DealOptions", "DEAL", All),
    ("order", "sampler", "LaneOptions", "LANES", OfOrder("sharded")),
    ("order", "sampler", "SourceOptions", "SOURCES", OfOrder("blend")),
    ("order", "sampler", "EpisodeOptions", "EPISODES", OfOrder("windows")),
    ("order", "sampler", "DrawOptions", "DRAWS", OfOrder("weighted")),
    ("shards", "plan", "ShardingOptions", "SHARDING", But(SHARDS)),
    ("deal", "plan", "PlanDealOptions", "PLAN_DEAL", All),
    ("deal", "reading", "ReadingDealOptions", "READING_DEAL", All),
    ("batch", "reading", "ReadingBatchOptions", "READING_BATCH", All),
    ("order", "chunk-stream", "ChunkOptions", "CHUNKS", Only(&["chunks", "seed"])),
    ("deal", "batcher", "BatchDealOptions", "BATCH_DEAL", All),
    // `quantiles` is left out: a stream does not have them.
    ("batch", "batcher", "BatchingOptions", "BATCHING", But(&["lengths", "quantiles"])),
    ("deal", "schedule", "ScheduleDealOptions", "SCHEDULE_DEAL", All),
    ("steps", "schedule", "EpochOptions", "EPOCHS", Only(&["epochs"])),
];

/// Members of a plan that describe its shards. JavaScript takes them in another form.
const SHARDS: &[&str] = &["samples", "shards", "sizes", "bytes", "holders", "holder_offsets", "rank_nodes"];

/// The module of all options.
pub fn module(text: &Text) -> Result<String, String> {
    let all = samedeal_core::described();
    let mut body = String::new();
    let mut types = BTreeSet::new();
    for (section, recipe, name, names, wanted) in &GROUPS {
        let own = members::of(&all, section, recipe);
        let own: Vec<_> = match wanted {
            All => own.collect(),
            Only(these) => own.filter(|member| these.contains(&member.name)).collect(),
            But(these) => own.filter(|member| !these.contains(&member.name)).collect(),
            OfOrder(order) => members::of_order(&all, order).collect(),
        };
        let object = object(section, recipe);
        if own.is_empty() {
            return Err(format!("there is no member of {object}"));
        }
        body += &format!("\n/** {object}, as options. */\nexport interface {name} {{\n");
        for member in &own {
            let ty = ty(member)?;
            body += &comment(&text.of(&described(member)), 2);
            body += &format!("  {}?: {ty};\n", camel(member.name));
            types.insert(ty);
        }
        let listed: Vec<_> = own.iter().map(|member| format!("'{}'", camel(member.name))).collect();
        body += &spread(&format!("}}\nexport const {names} = ["), &listed, "] as const;\n", 2);
    }
    let types: Vec<_> = types.into_iter().filter(|ty| ty.starts_with(char::is_uppercase)).collect();
    Ok(format!("{MADE}\n") + &spread("import type {", &types, "} from '../values.js';\n", 2) + &body)
}

/// The module `names.ts`: a union type for each member that takes a name, and the tables of members that the host
/// needs.
pub fn names(text: &Text) -> String {
    let all = samedeal_core::described();
    let mut body = format!("{MADE}\n");
    let mut written = BTreeSet::new();
    let mut options = BTreeSet::new();
    for member in &all {
        let Value::Name(names) = member.value else { continue };
        if !written.insert(member.name) {
            continue;
        }
        options.insert(format!("'{}'", camel(member.name)));
        let told = names.iter().map(|&name| (name, meaning(member.name, name)));
        body += &union(text, &pascal(member.name), &member.text, told, &[]);
    }
    let orders = || OrderId::ALL.into_iter();
    let about = "Name of an order, one of `plainOrders()`. A later component may have others.";
    let told = orders().map(|id| (id.name(), id.text()));
    body += &union(text, "OrderName", about, told, &["(string & {})".to_owned()]);
    let quoted = |name: &str| format!("'{name}'");
    let tables: Vec<_> = orders().filter(|id| id.has_table()).map(|id| quoted(id.name())).collect();
    body += "\n/** Orders with a table of all samples of an epoch: 4 bytes a sample. */\n";
    body += &spread("export const TABLES: readonly unknown[] = [", &tables, "];\n", 2);
    body += "\n/** Options whose values are names. */\n";
    let options: Vec<_> = options.into_iter().collect();
    body += &spread("export const NAMES: readonly string[] = [", &options, "];\n", 2);
    body += "\n/** Options of orders that are true or false. */\n";
    let flags = members::of(&all, "order", "sampler").filter(|member| matches!(member.value, Value::Flag));
    let flags: Vec<_> = flags.map(|member| quoted(&camel(member.name))).collect();
    body += &spread("export const FLAGS: readonly string[] = [", &flags, "];\n", 2);
    body += "\n/** Defaults of the members of an order that are numbers. */\n";
    let defaults = members::of(&all, "order", "sampler").filter(|member| member.default.parse::<u64>().is_ok());
    let defaults: Vec<_> = defaults.map(|member| format!("{}: {}", member.name, member.default)).collect();
    body + &format!("export const DEFAULTS = {{ {} }} as const;\n", defaults.join(", "))
}

/// The module `limits.ts`: limits of the core. Hosts check some of them, and divide long calls by others.
pub fn limits() -> String {
    let one = |limit: Limit| format!("\n/** {} */\nexport const {} = {};\n", limit.text, limit.name, limit.most);
    format!("{MADE}\n") + &LIMITS.map(one).concat()
}

/// A union type of names, which come with their descriptions. Its comment has the descriptions.
fn union(
    text: &Text,
    name: &str,
    about: &str,
    names: impl Iterator<Item = (&'static str, &'static str)> + Clone,
    more: &[String],
) -> String {
    let meanings = names.clone().filter(|(_, meaning)| !meaning.is_empty());
    let meanings = meanings.map(|(name, meaning)| format!(" `{name}`: {}", small(meaning)));
    let docs = about.to_owned() + &meanings.collect::<String>();
    let parts: Vec<_> = names.map(|(name, _)| format!("'{name}'")).chain(more.iter().cloned()).collect();
    let line = format!("export type {name} = {};\n", parts.join(" | "));
    let lines = || format!("export type {name} =\n  | {};\n", parts.join("\n  | "));
    format!("\n{}{}", comment(&text.of(&docs), 0), if line.len() <= WIDTH { line } else { lines() })
}

/// The TypeScript type of an option. For a member that takes a name, it is the union type in `names.ts`, which
/// documents each name.
fn ty(member: &Described) -> Result<String, String> {
    Ok(match member.value {
        Value::Natural { .. } | Value::Integer => "Integer".into(),
        Value::Numbers => "Integers".into(),
        Value::Flag => "boolean".into(),
        Value::Text => "string".into(),
        Value::Name(_) => pascal(member.name),
        Value::Objects => return Err(format!("the option {} has no form in TypeScript yet", member.name)),
    })
}

/// The documentation of a member: its text, range, condition and default.
fn described(member: &Described) -> String {
    let mut text = member.text.clone();
    let wide = ", as a `bigint` beyond 2^53 - 1";
    match &member.value {
        Value::Natural { most, range } => {
            text += &format!(" Range: {range}{}.", if *most == u64::MAX { wide } else { "" });
        }
        Value::Integer => text += &format!(" Any 64-bit signed integer{wide}."),
        _ => {}
    }
    // A condition on the order is not shown: such an option exists only in the functions that make these orders.
    if !member.needs.iter().flatten().any(|need| need.name == "name") {
        text += &only_with(&member.needs);
    }
    if !member.default.is_empty() {
        text += &format!(" Default: {}.", member.default);
    }
    text
}
