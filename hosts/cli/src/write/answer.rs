//! The common parts of JSON answers. An answer is one object of numbers, names and lists. A member that may have
//! several items is always a list. Sentences are for people: they are only in tables and on standard error.

use std::borrow::Cow;
use std::io::Write;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::format::Format;
use crate::write::items::Items;
use crate::write::output::{Sink, note, print};
use crate::write::problem::Problem;

/// A recipe: everything that decides a deal or batches.
#[derive(Serialize)]
#[serde(transparent)]
pub struct Recipe(pub Map<String, Value>);

impl Recipe {
    /// The recipe in a text of the library.
    pub fn of(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap_or_default())
    }
}

impl JsonSchema for Recipe {
    fn schema_name() -> Cow<'static, str> {
        "Recipe".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Everything that decides a deal or batches. Its own schema is docs/recipe.schema.json.",
            "type": "object",
            "properties": { "samedeal": { "const": 1 } },
            "required": ["samedeal"],
            "additionalProperties": true,
        })
    }
}

/// The schema of the states that `samedeal state` and `samedeal steps --state` print.
pub enum State {}

impl JsonSchema for State {
    fn schema_name() -> Cow<'static, str> {
        "State".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        of_kind("How far an epoch or a training has come.", json_schema!({ "type": "string" }))
    }
}

/// The schema of the indices of batches that `samedeal index` prints.
pub enum Index {}

impl JsonSchema for Index {
    fn schema_name() -> Cow<'static, str> {
        "Index".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        of_kind("How many steps each window of batches by length has.", json_schema!({ "const": "index" }))
    }
}

/// The schema of a text that the library writes. `kind` is the schema of its member `kind`.
fn of_kind(what: &str, kind: Schema) -> Schema {
    json_schema!({
        "description": format!("{what} SPEC.md has its members."),
        "type": "object",
        "properties": { "samedeal": { "const": 1 }, "kind": kind },
        "required": ["samedeal", "kind"],
        "additionalProperties": true,
    })
}

/// A reader, and how much it reads.
#[derive(Serialize, JsonSchema)]
pub struct Head {
    pub recipe: Recipe,
    pub epoch: u64,
    /// The rank; not there for the rest of a dataset in files, where `reader` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Samples that were consumed before: by the state that is resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consumed: Option<u64>,
    /// Samples of this reader, with its padding.
    pub num_samples: u64,
    /// How many of them, the last ones, repeat others.
    pub num_padding: u64,
    /// Samples that no reader gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_dropped: Option<u64>,
    /// Which reader this is, if ranks have workers of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reader: Option<ReaderOf>,
}

/// A worker of a rank.
#[derive(Serialize, JsonSchema)]
pub struct ReaderOf {
    pub rank: u32,
    pub world_size: u32,
    pub worker: u32,
    /// Workers of each rank.
    pub workers: u32,
    /// Samples in a batch, if a state says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_size: Option<u32>,
}

/// Where a sample is stored.
#[derive(Serialize, JsonSchema)]
pub struct Stored {
    /// The path of the file.
    pub file: String,
    /// Number of the row in the file, from 0 on.
    pub row: u64,
}

/// The answer as one line of JSON.
pub fn json(answer: &impl Serialize) -> Result<String, Problem> {
    serde_json::to_string(answer).map_err(|error| Problem::message(format!("cannot write the answer: {error}")))
}

/// Prints an answer.
pub fn print_json(answer: &impl Serialize) -> Result<(), Problem> {
    print(json(answer)?)
}

/// Prints an answer: as JSON, or as rows, with a note below a table if there is something to say.
pub fn show<T: Serialize>(
    format: Format,
    items: impl FnOnce() -> Items,
    told: impl FnOnce() -> Result<String, Problem>,
    answer: impl FnOnce() -> Result<T, Problem>,
) -> Result<(), Problem> {
    match format {
        Format::Json => return print_json(&answer()?),
        Format::Table => items().print(format)?,
        _ => return items().print(format),
    }
    let told = told()?;
    if told.is_empty() { Ok(()) } else { note(told) }
}

/// Writes an answer as JSON, and finishes the sink.
pub fn write_json(mut sink: Sink, answer: &impl Serialize) -> Result<(), Problem> {
    writeln!(sink, "{}", json(answer)?)?;
    sink.finish()
}

/// Begins an answer in JSON whose last member is an empty list. The caller writes the items of the list, and then `]}`.
pub fn begin(sink: &mut Sink, answer: &impl Serialize) -> Result<(), Problem> {
    let text = json(answer)?;
    Ok(write!(sink, "{}", text.strip_suffix("]}").unwrap_or(&text))?)
}
