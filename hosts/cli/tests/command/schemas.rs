//! The JSON Schema of the answers, as it is published. A test in `tests/docs` has a library for schemas, and checks
//! that answers fit the schema.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use serde_json::Value;

use crate::{command, text};

/// The schema of all answers, as the command prints it.
fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| serde_json::from_slice(&command("schema").output().unwrap().stdout).unwrap())
}

/// The text of a published file in `docs`.
fn docs(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_published_schema_is_fresh() {
    assert!(docs("answers.schema.json") == text("schema"), "samedeal schema > docs/answers.schema.json");
}

#[test]
fn a_subcommand_has_its_schema_alone() {
    for (name, of) in schema()["properties"].as_object().unwrap() {
        let own: Value = serde_json::from_str(&text(&format!("schema {name}"))).unwrap();
        assert_eq!(own["title"], format!("samedeal {name} --json"));
        // Within the whole schema, parts of one name are numbered, so their names differ from those here.
        let count = |of: &Value| of["anyOf"].as_array().map(Vec::len);
        assert_eq!(count(&own), count(of), "{name}");
    }
}

/// A part of the schema, with a reference to a named part resolved.
fn whole(of: &Value) -> &Value {
    of["$ref"].as_str().map_or(of, |name| &schema()["$defs"][name.strip_prefix("#/$defs/").unwrap()])
}

/// The names of the members, each with the members of its items if it is a list.
fn members(of: &Value) -> Vec<String> {
    let own = whole(of);
    let is_required = |name: &str| own["required"].as_array().is_some_and(|all| all.iter().any(|it| it == name));
    let member = |(name, of): (&String, &Value)| {
        let optional = if is_required(name) { "" } else { "?" };
        let inner = members(&whole(of)["items"]).join(", ");
        if inner.is_empty() { format!("{name}{optional}") } else { format!("{name}{optional} [{inner}]") }
    };
    own["properties"].as_object().into_iter().flatten().map(member).collect()
}

/// The page of the documentation names every member, in a table that is made from the schema.
#[test]
fn the_page_has_the_members() {
    let mut table = "| subcommand | members |\n|---|---|\n".to_owned();
    for (name, of) in schema()["properties"].as_object().unwrap() {
        for form in of["anyOf"].as_array().unwrap() {
            let told = match form["$ref"].as_str().unwrap() {
                "#/$defs/Recipe" => "the recipe".to_owned(),
                "#/$defs/State" => "the state".to_owned(),
                "#/$defs/Index" => "the index".to_owned(),
                _ => format!("`{}`", members(form).join(", ")),
            };
            table += &format!("| `{name}` | {told} |\n");
        }
    }
    assert!(docs("reference/command.md").contains(&table), "docs/reference/command.md lacks:\n{table}");
}
