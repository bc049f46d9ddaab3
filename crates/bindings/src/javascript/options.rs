//! Options of JavaScript, from the members of recipes, which the core describes.

use samedeal_core::{Described, Value};

use super::facades::MADE;
use super::text::{Text, comment};
use super::{camel, pascal};
use crate::members::{self, object, only_with};

/// Options that come together: the section that has the members, the kind of recipe, the interface, and the constant with their names.
struct Group {
    section: &'static str,
    recipe: &'static str,
    name: &'static str,
    names: &'static str,
    members: Members,
}

enum Members {
    /// These; the others have another form in JavaScript.
    Only(&'static [&'static str]),
    But(&'static [&'static str]),
}
use Members::{But, Only};

const fn group(
    section: &'static str,
    recipe: &'static str,
    name: &'static str,
    names: &'static str,
    members: Members,
) -> Group {
    Group { section, recipe, name, names, members }
}

const GROUPS: [Group; 12] = [
    group("deal", "sampler", "DealOptions", "DEAL", But(&[])),
    group("order", "sampler", "LaneOptions", "LANES", Only(&["lanes", "shuffle_window"])),
    group(
        "order",
        "sampler",
        "SourceOptions",
        "SOURCES",
        Only(&["exhaustion", "max_passes", "run_length", "index_space"]),
    ),
    group(
        "shards",
        "plan",
        "ShardingOptions",
        "SHARDING",
        But(&["samples", "shards", "sizes", "bytes", "holders", "holder_offsets", "rank_nodes"]),
    ),
    group("deal", "plan", "PlanDealOptions", "PLAN_DEAL", But(&[])),
    group("deal", "reading", "ReadingDealOptions", "READING_DEAL", But(&[])),
    group("batch", "reading", "ReadingBatchOptions", "READING_BATCH", But(&[])),
    group("order", "chunk-stream", "ChunkOptions", "CHUNKS", Only(&["chunks", "seed"])),
    group("deal", "batches", "BatchDealOptions", "BATCH_DEAL", But(&[])),
    // A stream has no quantiles.
    group("batch", "batches", "BatchingOptions", "BATCHING", But(&["lengths", "quantiles"])),
    group("deal", "schedule", "ScheduleDealOptions", "SCHEDULE_DEAL", But(&[])),
    group("steps", "schedule", "EpochOptions", "EPOCHS", Only(&["epochs"])),
];

/// The module of all options.
pub fn module(text: &Text) -> Result<String, String> {
    let all = samedeal_core::described();
    let mut body = String::new();
    for Group { section, recipe, name, names, members: wanted } in &GROUPS {
        let own = members::of(&all, section, recipe).filter(|member| match wanted {
            Only(these) => these.contains(&member.name),
            But(these) => !these.contains(&member.name),
        });
        let own: Vec<_> = own.collect();
        let object = object(section, recipe);
        if own.is_empty() {
            return Err(format!("there is no member of {object}"));
        }
        body += &format!("\n/** {object}, as options. */\nexport interface {name} {{\n");
        for member in &own {
            body += &comment(&text.of(&described(member)), 2);
            body += &format!("  {}?: {};\n", option(member.name), ty(member)?);
        }
        let listed: Vec<_> = own.iter().map(|member| format!("'{}'", option(member.name))).collect();
        body += &super::facades::spread(&format!("}}\nexport const {names} = ["), &listed, "] as const;", 0);
    }
    let mut types: Vec<_> = TYPES.iter().chain(&["Integer", "Integers"]).map(|name| (*name).to_owned()).collect();
    types.sort();
    let import = super::facades::spread("import type {", &types, "} from '../values.js';", 0);
    let head = format!("{MADE}\n{import}");
    Ok(head + &body)
}

/// Types of names, by their members; the host says what each name means.
const TYPES: [&str; 12] = [
    "Counting",
    "Exhaustion",
    "IndexSpace",
    "Layout",
    "Packing",
    "Policy",
    "Remainder",
    "Strategy",
    "Tail",
    "TooLong",
    "Weight",
    "WorkerPolicy",
];

fn option(name: &str) -> String {
    camel(&name.replace('_', "-"))
}

fn ty(member: &Described) -> Result<String, String> {
    let name = pascal(&member.name.replace('_', "-"));
    Ok(match member.value {
        Value::Natural { .. } | Value::Integer => "Integer".into(),
        Value::Numbers => "Integers".into(),
        Value::Flag => "boolean".into(),
        Value::Text => "string".into(),
        Value::Name(_) if TYPES.contains(&&*name) => name,
        Value::Name(_) | Value::Objects => {
            return Err(format!("the option {} has no form in TypeScript yet", member.name));
        }
    })
}

/// What a member says, its range, where it belongs, and its default.
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
    // What belongs to orders is an option where these orders are made.
    if !member.needs.iter().flatten().any(|need| need.name == "name") {
        text += &only_with(&member.needs);
    }
    if !member.default.is_empty() {
        text += &format!(" Default: {}.", member.default);
    }
    text
}
