//! Options of JavaScript, from the table of members of recipes, which is the core's.

use super::facades::MADE;
use super::text::{Text, comment};
use super::{camel, pascal};
use crate::members::{Member, rows};

/// Options that come together: the object that has the members, the interface, and the constant with their names.
struct Group {
    object: &'static str,
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

const fn group(object: &'static str, name: &'static str, names: &'static str, members: Members) -> Group {
    Group { object, name, names, members }
}

const GROUPS: [Group; 12] = [
    group("`deal` of a sampler", "DealOptions", "DEAL", But(&[])),
    group("`order` of a sampler", "LaneOptions", "LANES", Only(&["lanes", "shuffle_window"])),
    group(
        "`order` of a sampler",
        "SourceOptions",
        "SOURCES",
        Only(&["exhaustion", "max_passes", "run_length", "index_space"]),
    ),
    group(
        "`shards` of a plan",
        "ShardingOptions",
        "SHARDING",
        But(&["samples", "shards", "sizes", "bytes", "holders", "holder_offsets", "rank_nodes"]),
    ),
    group("`deal` of a plan", "PlanDealOptions", "PLAN_DEAL", But(&[])),
    group("`deal` of a reading", "ReadingDealOptions", "READING_DEAL", But(&[])),
    group("`batch` of a reading", "ReadingBatchOptions", "READING_BATCH", But(&[])),
    group("`order` of a chunk stream", "ChunkOptions", "CHUNKS", Only(&["chunks", "seed"])),
    group("`deal` of batches", "BatchDealOptions", "BATCH_DEAL", But(&[])),
    // A stream has no quantiles.
    group("`batch` of batches", "BatchingOptions", "BATCHING", But(&["lengths", "quantiles"])),
    group("`deal` of a schedule", "ScheduleDealOptions", "SCHEDULE_DEAL", But(&[])),
    group("`steps` of a schedule", "EpochOptions", "EPOCHS", Only(&["epochs"])),
];

/// The module of all options; `table` is what the core makes of its members.
pub fn module(table: &str, text: &Text) -> Result<String, String> {
    let members = rows(table);
    let mut body = String::new();
    for Group { object, name, names, members: wanted } in &GROUPS {
        let own = members.iter().filter(|(of, member)| {
            of == object
                && match wanted {
                    Only(these) => these.contains(&member.name),
                    But(these) => !these.contains(&member.name),
                }
        });
        let own: Vec<&Member> = own.map(|(_, member)| member).collect();
        if own.is_empty() {
            return Err(format!("the table has no member of {object}"));
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

fn ty(member: &Member) -> Result<String, String> {
    let name = pascal(&member.name.replace('_', "-"));
    let kind = member.kind.split(',').next().unwrap_or_default();
    Ok(match kind {
        "natural" | "integer" => "Integer".into(),
        "numbers" => "Integers".into(),
        "flag" => "boolean".into(),
        "string" => "string".into(),
        _ if TYPES.contains(&&*name) => name,
        _ => return Err(format!("the option {} has no form in TypeScript yet", member.name)),
    })
}

/// What a member says, its range, where it belongs, and its default.
fn described(member: &Member) -> String {
    let mut text = member.text.to_owned();
    let wide = ", as a `bigint` beyond 2^53 - 1";
    if let Some(range) = member.kind.strip_prefix("natural, ") {
        text += &format!(" Range: {range}{}.", if range.ends_with("2^64 - 1") { wide } else { "" });
    } else if member.kind == "integer" {
        text += &format!(" Any 64-bit signed integer{wide}.");
    }
    if !member.place.is_empty() && !member.place.starts_with("`name`") {
        text += &format!(" Only with {}.", member.place.replace("; ", ", or with "));
    }
    if !["", "missing", "by the order"].contains(&member.default) {
        text += &format!(" Default: {}.", member.default);
    }
    text
}
