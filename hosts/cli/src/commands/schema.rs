//! `samedeal schema`: the JSON Schema of the answers.

use clap::Args;
use clap::builder::PossibleValuesParser;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::{
    batches, blend, diff, explain, ledger, locate, mesh, numbers, rank, recipe, replay, shards, split, step, steps,
    summaries, verify,
};
use crate::write::answer::{Index, State};
use crate::write::{Problem, Recipe, print};

#[derive(Args)]
pub struct SchemaArgs {
    /// The subcommand whose answers are described [default: all of them, as members of one object]
    #[arg(value_name = "COMMAND", value_parser = PossibleValuesParser::new(ANSWERS.map(|(name, _)| name)))]
    command: Option<String>,
}

type Of = fn(&mut SchemaGenerator) -> Schema;

/// The types of the answers of each subcommand. The options decide which of them an answer has.
const ANSWERS: [(&str, &[Of]); 20] = [
    (
        "batches",
        &[of::<numbers::Batches>, of::<batches::BatchesOf>, of::<batches::Compared<'_>>, of::<batches::Swept<'_>>],
    ),
    ("blend", &[of::<blend::Blended<'_>>, of::<Recipe>]),
    ("diff", &[of::<diff::Differences<'_>>]),
    (
        "explain",
        &[
            of::<explain::Explained<'_>>,
            of::<locate::Located<'_, explain::Position>>,
            of::<locate::Located<'_, locate::Place>>,
            of::<locate::Located<'_, batches::PlaceInBatches>>,
            of::<step::StepsRead<'_, step::RankBatch>>,
            of::<step::StepsRead<'_, batches::RankBatchOf>>,
        ],
    ),
    ("fingerprint", &[of::<summaries::Fingerprints<'_>>]),
    ("index", &[of::<Index>]),
    ("indices", &[of::<numbers::Indices>]),
    ("ledger", &[of::<ledger::Log<'_>>, of::<ledger::Replayed>]),
    ("locate", &[of::<locate::Located<'_, locate::Place>>, of::<locate::Located<'_, batches::PlaceInBatches>>]),
    ("mesh", &[of::<mesh::Meshed<'_>>]),
    ("orders", &[of::<summaries::Orders<'_>>]),
    ("rank", &[of::<rank::Rank>]),
    ("recipe", &[of::<recipe::Fingerprint>, of::<Recipe>]),
    ("replay", &[of::<replay::Replayed<'_>>]),
    ("shards", &[of::<shards::Dealt>]),
    ("split", &[of::<split::Parts>, of::<split::Members>, of::<split::Each>, of::<Recipe>]),
    ("state", &[of::<State>]),
    ("step", &[of::<step::StepsRead<'_, step::RankBatch>>, of::<step::StepsRead<'_, batches::RankBatchOf>>]),
    ("steps", &[of::<steps::Begun<'_>>, of::<steps::Taken>, of::<steps::Found>, of::<State>]),
    ("verify", &[of::<verify::Verified<'_>>]),
];

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// `samedeal schema`
pub fn run(args: &SchemaArgs) -> Result<(), Problem> {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut forms = |(name, of): &(&str, &[Of])| {
        let forms = of.iter().map(|of| of(&mut generator)).collect::<Vec<_>>();
        ((*name).to_owned(), json_schema!({ "anyOf": forms }))
    };
    let mut schema = match &args.command {
        Some(command) => {
            let one = ANSWERS.iter().find(|(name, _)| name == command).map(&mut forms);
            let mut schema = one.map(|(_, schema)| schema).unwrap_or_default();
            schema.insert("title".to_owned(), format!("samedeal {command} --json").into());
            schema
        }
        None => {
            let answers = ANSWERS.iter().map(&mut forms).collect::<std::collections::BTreeMap<_, _>>();
            json_schema!({
                "title": "samedeal --json",
                "description": "The answers of the command samedeal in JSON: each member is of the subcommand of its name.",
                "type": "object",
                "properties": answers,
            })
        }
    };
    schema.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("$defs".to_owned(), generator.take_definitions(true).into());
    RecursiveTransform(closed).transform(&mut schema);
    print(serde_json::to_string_pretty(&schema).unwrap_or_default())
}

/// Allows only the named members in an object.
fn closed(schema: &mut Schema) {
    if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
}
