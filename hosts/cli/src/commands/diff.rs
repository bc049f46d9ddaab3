//! `samedeal diff`: what differs between two recipes, states or checkpoints.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;
use samedeal::{Error, Reading, Sampler, Schedule, Split};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::format::{Format, Output};
use crate::read::checkpoint::{self, RecipeOf, Saved};
use crate::write::answer::print_json;
use crate::write::items::{Cell, Items};
use crate::write::output::{counted, note, verdict};
use crate::write::problem::Problem;

/// How much of a value a table shows.
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

/// What differs between two files.
#[derive(Serialize, JsonSchema)]
pub struct Difference<'a> {
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
    decides: Decides,
}

/// What a member decides.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Decides {
    Order,
    Deal,
    Batch,
    Steps,
    Split,
    Epoch,
    /// How far the epoch was read.
    Progress,
    /// What the state is of.
    Kind,
    Other,
}

/// `samedeal diff`: whether nothing differs.
pub fn run(args: &DiffArgs) -> Result<bool, Problem> {
    let [one, other] = [read(&args.one)?, read(&args.other)?];
    // Where a single state is in a file does not matter.
    let is_single = one.len() == 1 && other.len() == 1;
    let place = |saved: &Saved| if is_single { String::new() } else { saved.place.clone() };
    let [one, other] = [&one, &other].map(|all| all.iter().map(|it| (place(it), it)).collect::<BTreeMap<_, _>>());
    let mut found = Vec::new();
    for place in one.keys().chain(other.keys()).collect::<BTreeSet<_>>() {
        let members = [&one, &other].map(|all| all.get(place).map_or_else(Map::new, |saved| members(saved)));
        for member in members.iter().flat_map(Map::keys).collect::<BTreeSet<_>>() {
            let values = [0, 1].map(|of| members[of].get(member).cloned().unwrap_or_default());
            if values[0] != values[1] {
                let [one, other] = values;
                let (place, decides) = (place.clone(), Decides::of(member));
                found.push(Differing { place, member: member.clone(), one, other, decides });
            }
        }
    }
    verdict(show(args, &found), Some(found.is_empty()))
}

/// The states in a file. A file without any is no file that nothing differs from.
fn read(path: &Path) -> Result<Vec<Saved>, Problem> {
    match checkpoint::read(path)? {
        none if none.is_empty() => Err(Problem::of(path, "holds no state and no recipe of samedeal")),
        states => Ok(states),
    }
}

fn show(args: &DiffArgs, found: &[Differing]) -> Result<(), Problem> {
    let format = args.output.format();
    if format == Format::Json {
        return print_json(&Difference { equal: found.is_empty(), differing: found });
    }
    if found.is_empty() && format == Format::Table {
        return note("nothing differs");
    }
    let has_places = found.iter().any(|it| !it.place.is_empty()) || format != Format::Table;
    let place = |place: &str| has_places.then(|| Cell::from(place));
    let mut items =
        Items::new(has_places.then_some("place").into_iter().chain(["member", "one", "other", "what it decides"]));
    for Differing { place: its, member, one, other, decides } in found {
        let [one, other] = [one, other].map(|value| said(value, format == Format::Table));
        let row = [member, one.as_str(), &other, decides.told()].map(Cell::from);
        items.push(place(its).into_iter().chain(row));
    }
    items.print(format)?;
    if format == Format::Table { note(counted(found.len() as u64, "member differs", "members differ")) } else { Ok(()) }
}

/// A value in a line.
fn said(value: &Value, is_table: bool) -> String {
    let text = match value {
        Value::Null => return if is_table { "(not there)".to_owned() } else { String::new() },
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    match text.char_indices().nth(LETTERS).filter(|_| is_table) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

impl Decides {
    /// By the section of the member.
    fn of(member: &str) -> Self {
        let of_recipe = member.strip_prefix("recipe.").unwrap_or(member);
        match of_recipe.split(['.', '[']).next().unwrap_or_default() {
            "order" | "sizes" | "samples" | "seed" => Self::Order,
            "deal" | "shards" => Self::Deal,
            "batch" => Self::Batch,
            "steps" => Self::Steps,
            "split" => Self::Split,
            "epoch" => Self::Epoch,
            "consumed" | "history" | "steps_taken" | "turn" => Self::Progress,
            "kind" => Self::Kind,
            _ => Self::Other,
        }
    }

    /// For people.
    const fn told(self) -> &'static str {
        match self {
            Self::Order => "which samples come when",
            Self::Deal => "which rank or worker gets them",
            Self::Batch => "how samples become batches",
            Self::Steps => "how many samples a step takes",
            Self::Split => "which part a sample is in",
            Self::Epoch => "the epoch that is read",
            Self::Progress => "how far it was read",
            Self::Kind => "what the state is of",
            Self::Other => "",
        }
    }
}

/// The members with their paths. Recipes are in their full form, as far as they need nothing beside them.
fn members(saved: &Saved) -> Map<String, Value> {
    let full = |text: &str| -> Option<Result<String, Error>> {
        Some(match saved.recipe_of()? {
            RecipeOf::Sampler => Sampler::from_recipe(text).build().and_then(|it| it.recipe()),
            RecipeOf::Reading => Reading::from_recipe(text).build().and_then(|it| it.recipe()),
            RecipeOf::Steps => Schedule::from_recipe(text).build().and_then(|it| it.recipe()),
            RecipeOf::Split => Split::from_recipe(text).build().and_then(|it| it.recipe()),
            RecipeOf::Batches | RecipeOf::Plan | RecipeOf::Chunks => return None,
        })
    };
    let full = full(&saved.text).and_then(Result::ok).and_then(|text| serde_json::from_str(&text).ok());
    let mut members = Map::new();
    flatten(String::new(), &full.unwrap_or_else(|| Value::Object((*saved.fields).clone())), &mut members);
    members
}

/// Members of members, such as `order.seed`. Lists of objects are members with numbers.
fn flatten(path: String, value: &Value, members: &mut Map<String, Value>) {
    match value {
        Value::Object(own) => {
            let inner = |name: &String| if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            own.iter().for_each(|(name, value)| flatten(inner(name), value, members));
        }
        Value::Array(list) if list.iter().any(Value::is_object) => {
            (0..)
                .zip(list)
                .for_each(|(number, value): (usize, _)| flatten(format!("{path}[{number}]"), value, members));
        }
        value => drop(members.insert(path, value.clone())),
    }
}
