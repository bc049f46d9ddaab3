//! The methods of builders: one for each member of a kind of recipes, from the tables of the core.

use std::fmt::Write;

use samedeal_core::{Described, Needed, Value};

use super::docs::{comments, wrapped};
use super::facades::{BUILDERS, Builder};
use super::names::enumeration;
use crate::members::is_option;
use crate::words::{either, pascal, spelled};

pub const MADE: &str =
    "// Written by `cargo xtask build` from the tables of members in `samedeal-core`. Changes here are lost.\n";

/// The modules of all builders.
pub fn modules() -> impl Iterator<Item = (&'static str, String)> {
    BUILDERS.iter().map(|builder| (builder.module, module(builder)))
}

/// The methods of `Order`: one for each option of any order.
pub fn order() -> String {
    let all = samedeal_core::described();
    let members: Vec<_> = crate::members::of(&all, "order", "sampler").filter(|member| is_option(member)).collect();
    let mut text = format!("{MADE}impl crate::Order {{\n");
    for member in &members {
        text += &docs(&[], member, &members);
        let (name, (ty, of)) = (member.name, parameter(member));
        let _ = writeln!(
            text,
            "#[must_use] pub fn {name}(self, {name}: {ty}) -> Self {{ self.with(\"{name}\", {name}{of}) }}\n"
        );
    }
    text + "}\n"
}

/// The type of the parameter of a method, and the call that makes a value for JSON of it.
fn parameter(member: &Described) -> (String, &'static str) {
    match &member.value {
        Value::Name(_) if let Some(class) = enumeration(member.name) => (format!("crate::{class}"), ".name()"),
        Value::Numbers => ("impl Into<Vec<u64>>".into(), ""),
        Value::Natural { most, .. } if *most <= u32::MAX.into() => ("u32".into(), ""),
        Value::Natural { .. } => ("u64".into(), ""),
        Value::Integer => ("i64".into(), ""),
        Value::Flag => ("bool".into(), ""),
        _ => ("&str".into(), ""),
    }
}

fn module(builder: &Builder) -> String {
    let all = samedeal_core::described();
    let members: Vec<_> = all
        .iter()
        .filter(|member| member.recipe == builder.recipe && !builder.by_hand.contains(&member.name))
        .filter(|member| match member.section {
            "order" => builder.order.contains(&member.name),
            section => builder.sections.contains(&section),
        })
        .collect();
    let mut text = format!("{MADE}impl{0} crate::{1}{0} {{\n", builder.generic, builder.class);
    for member in &members {
        text += &docs(builder.only, member, &members);
        let Described { section, name, .. } = member;
        let (ty, of) = parameter(member);
        let set = if member.value == Value::Numbers { "list(" } else { &format!("set(\"{section}\", ") };
        let _ = writeln!(
            text,
            "pub fn {name}(mut self, {name}: {ty}) -> Self {{ self.draft.{set}\"{name}\", {name}{of}); self }}\n"
        );
    }
    text + "}\n"
}

/// The documentation of a member: its text, range, default and conditions.
fn docs(only: &[(&str, &str)], member: &Described, members: &[&Described]) -> String {
    let mut facts = Vec::new();
    match &member.value {
        Value::Natural { range, .. } => facts.push(format!("Range: {range}.")),
        Value::Integer => facts.push("Range: any.".to_owned()),
        _ => {}
    }
    if !member.default.is_empty() {
        facts.push(format!("Default: {}.", shown(member.name, member.default.trim_matches('`'))));
    }
    let all = |all: &Vec<Needed>| all.iter().map(needed).collect::<Vec<_>>().join(", and ");
    let (without, with): (Vec<_>, Vec<_>) = member.needs.iter().partition(|all| all.iter().all(|need| !need.is_one));
    let only = only.iter().find(|(section, _)| *section == member.section).map(|(_, only)| (*only).to_owned());
    let with = (!with.is_empty()).then(|| with.into_iter().map(all).collect::<Vec<_>>().join("; or "));
    let with: Vec<_> = only.into_iter().chain(with).collect();
    if !with.is_empty() {
        facts.push(format!("Only with {}.", with.join(", and ")));
    }
    facts.extend(without.into_iter().map(|needs| format!("Not with {}.", all(needs))));
    // The text, in which the names of other members are links to their methods.
    let linked = spelled(&member.text, str::to_owned, |part| {
        let is_other = part != member.name && members.iter().any(|member| member.name == part);
        if is_other { format!("[`{part}`](Self::{part})") } else { format!("`{part}`") }
    });
    let mut lines = wrapped(&linked, 4);
    if !facts.is_empty() {
        lines.push(String::new());
        lines.extend(wrapped(&facts.join(" "), 4));
    }
    comments(&lines, 4)
}

fn needed(need: &Needed) -> String {
    let names: Vec<_> = need.names.iter().map(|name| shown(need.name, name)).collect();
    if need.name == "name" { format!("the order {}", either(&names)) } else { either(&names) }
}

/// A value of a member, in Markdown: a link to the variant if the member has an enum.
fn shown(member: &str, value: &str) -> String {
    match enumeration(member) {
        Some(class) => format!("[`{class}::{0}`](crate::{class}::{0})", pascal(value)),
        None if value.starts_with(|first: char| first.is_ascii_digit()) || matches!(value, "true" | "false") => {
            value.to_owned()
        }
        None => format!("`{value}`"),
    }
}
