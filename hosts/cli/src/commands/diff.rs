//! `samedeal diff`: what differs between two recipes, states or checkpoints.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;
use samedeal::{Difference, differences};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::args::format::{Format, Output};
use crate::read::checkpoint::{self, Saved};
use crate::write::{Cell, Items, Problem, counted, note, show, verdict};

/// The most letters of a value that a table shows.
const LETTERS: usize = 60;

#[derive(Args)]
pub struct DiffArgs {
    /// A recipe, a state, or a checkpoint that `samedeal explain` can read. - is standard input
    #[arg(value_name = "FILE")]
    one: PathBuf,
    /// Another one
    #[arg(value_name = "OTHER")]
    other: PathBuf,
    #[command(flatten)]
    output: Output,
}

/// The differences of two files.
#[derive(Serialize, JsonSchema)]
pub struct Differences<'a> {
    equal: bool,
    differing: &'a [Differing],
}

/// A member that differs.
#[derive(Serialize, JsonSchema)]
struct Differing {
    /// Where the state is, if a file has several.
    place: String,
    /// The path of the member, such as `order.seed`.
    member: String,
    /// Its value in each file; null where it is not there.
    one: Value,
    other: Value,
    /// The part of a run that the member decides, such as `order` or `progress`; empty if that has no name.
    decides: String,
}

/// `samedeal diff`: whether nothing differs.
pub fn run(args: &DiffArgs) -> Result<bool, Problem> {
    let [one, other] = [read(&args.one)?, read(&args.other)?];
    // If both files have a single state, its place in the file does not matter.
    let is_single = one.len() == 1 && other.len() == 1;
    let place = |saved: &Saved| if is_single { String::new() } else { saved.place.clone() };
    let [one, other] = [&one, &other].map(|all| all.iter().map(|it| (place(it), it)).collect::<BTreeMap<_, _>>());
    let mut found = Vec::new();
    for place in one.keys().chain(other.keys()).collect::<BTreeSet<_>>() {
        let [one, other] = [&one, &other].map(|all| all.get(place).map_or("{}", |saved| &*saved.text));
        for Difference { path: member, one, other, decides, .. } in differences(one, other).map_err(Problem::worded)? {
            let value = |text: Option<String>| text.and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_default();
            found.push(Differing { place: place.clone(), member, one: value(one), other: value(other), decides });
        }
    }
    verdict(print(args, &found), Some(found.is_empty()))
}

/// The states in a file. A file without states is refused: it must not pass for a file that equals the other one.
fn read(path: &Path) -> Result<Vec<Saved>, Problem> {
    match checkpoint::read(path)? {
        none if none.is_empty() => Err(Problem::of(path, "holds no state and no recipe of samedeal")),
        states => Ok(states),
    }
}

fn print(args: &DiffArgs, found: &[Differing]) -> Result<(), Problem> {
    let format = args.output.format();
    let is_table = format == Format::Table;
    if found.is_empty() && is_table {
        return note("nothing differs");
    }
    let has_places = found.iter().any(|it| !it.place.is_empty()) || !is_table;
    let items = || {
        let mut items = Items::some([("place", has_places)], ["member", "one", "other", "what it decides"]);
        for Differing { place, member, one, other, decides } in found {
            let [one, other] = [one, other].map(|value| Cell::Told(value.clone(), said(value)));
            items.push([place.as_str().into(), member.as_str().into(), one, other, told(decides).into()]);
        }
        items
    };
    let differ = || Ok(counted(found.len() as u64, "member differs", "members differ"));
    show(format, items, differ, || Ok(Differences { equal: found.is_empty(), differing: found }))
}

/// A value in a line of a table, cut after [`LETTERS`].
fn said(value: &Value) -> String {
    let text = match value {
        Value::Null => return "(not there)".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    match text.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// The part of a run that a member decides, for people.
fn told(decides: &str) -> &'static str {
    match decides {
        "order" => "which samples come when",
        "deal" => "which rank or worker gets them",
        "batch" => "how samples become batches",
        "steps" => "how many samples a step takes",
        "split" => "which part a sample is in",
        "epoch" => "the epoch that is read",
        "progress" => "how far it was read",
        "kind" => "what the state is of",
        _ => "",
    }
}
