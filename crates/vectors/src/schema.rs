//! docs/recipe.schema.json: the rules for each member, which come from the core, and the rules for several members,
//! which are here.

use std::io;

use serde_json::{Map, Value, json};

/// The path of the schema, from the root of the repository.
pub const PATH: &str = "docs/recipe.schema.json";

/// The schema, as the core is now.
pub fn text() -> io::Result<String> {
    let mut schema = Map::new();
    let kinds = ["sampler", "batcher", "plan", "reading", "chunk-stream", "schedule", "split"];
    schema.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("title".into(), "Recipes of samedeal".into());
    schema.insert("description".into(), DESCRIPTION.into());
    schema.insert("anyOf".into(), kinds.map(|kind| json!({"$ref": format!("#/$defs/{kind}")})).to_vec().into());
    let Value::Object(mut own) = serde_json::from_str(&samedeal_core::schema())? else {
        return Err(io::Error::other("the schema of the core is no object"));
    };
    for (place, rule) in rules() {
        let at = own.get_mut("$defs").and_then(|defs| defs.pointer_mut(place));
        let at =
            at.and_then(Value::as_object_mut).ok_or_else(|| io::Error::other(format!("the schema has no {place}")))?;
        let all = at.entry("allOf").or_insert_with(|| json!([]));
        all.as_array_mut().into_iter().for_each(|all| all.push(rule.clone()));
    }
    schema.append(&mut own);
    let mut text = String::new();
    write(&Value::Object(schema), 0, &mut text);
    Ok(text + "\n")
}

/// Writes each member of a definition on a line of its own.
fn write(value: &Value, depth: usize, text: &mut String) {
    match value {
        Value::Object(members) if depth < 4 && members.values().any(Value::is_object) => {
            text.push('{');
            for (number, (name, member)) in members.iter().enumerate() {
                *text += if number == 0 { "\n" } else { ",\n" };
                *text += &format!("{}{}: ", "  ".repeat(depth + 1), json!(name));
                write(member, depth + 1, text);
            }
            *text += &format!("\n{}}}", "  ".repeat(depth));
        }
        other => *text += &other.to_string(),
    }
}

const DESCRIPTION: &str = "Everything that decides a run, as one document. SPEC.md, sections 14 to 17, define it. Each kind of recipe has a \
definition of its own: `#/$defs/sampler`, `batcher`, `plan`, `reading`, `chunk-stream`, `schedule`, `split`. The schema does not look at what comes \
beside a recipe, and does not compare lists with each other.";

/// Rules for several members, each with its place in the definitions: members that exclude each other, and members of
/// which one is required.
fn rules() -> Vec<(&'static str, Value)> {
    let is = |member: &str, names: &[&str]| json!({"required": [member], "properties": {member: {"enum": names}}});
    let not_both = |members: [&str; 2]| json!({"not": {"required": members}});
    let unless = |place: Value, then: Value| json!({"if": place, "else": then});
    let when = |place: Value, then: Value| json!({"if": place, "then": then});
    let leaves = ["windows", "balance", "weighted"];
    let no_samples = is(
        "name",
        &[&["sharded", "blend", "blend-exact", "exclude", "subset", "skip", "copies"][..], &leaves].concat(),
    );
    let of_shards = json!({"not": {"required": ["name"]}, "required": ["sizes"]});
    let (budget, weighted) = (json!({"properties": {"strategy": {"const": "budget"}}}), is("counting", &["weighted"]));
    let room = json!({"required": ["max_batch_size", "max_length"]});
    let sources = "/order/properties/sources/items";
    let sources_of_batches = "/order-of-batcher/properties/sources/items";
    let sources_of_reading = "/order-of-reading/properties/sources/items";
    let mut rules = vec![
        ("/order", unless(json!({"anyOf": [no_samples, of_shards]}), json!({"required": ["samples"]}))),
        ("/reading", json!({"oneOf": [{"required": ["order"]}, {"required": ["shards"]}]})),
        (
            "/reading",
            when(
                json!({"required": ["shards"]}),
                json!({"properties": {"deal": {"properties": {"remainder": false}}}}),
            ),
        ),
        ("/reading/properties/shards", json!({"properties": {"policy": {"enum": ["size-aware", "round-robin"]}}})),
        ("/reading/properties/shards", unless(is("balance_by", &["bytes"]), json!({"properties": {"bytes": false}}))),
        (
            "/chunk-stream/properties/order",
            unless(json!({"required": ["chunks"]}), json!({"properties": {"name": {"const": "sequential"}}})),
        ),
        (
            "/split/properties/split",
            when(
                json!({"properties": {"parts": {"items": {"required": ["weight"]}}}}),
                json!({"properties": {"samples": false}}),
            ),
        ),
        (
            "/split/properties/split/properties/parts",
            json!({"oneOf": [
                {"items": {"required": ["weight"], "properties": {"size": false}}},
                {"items": {"required": ["size"], "properties": {"weight": false}}}
            ]}),
        ),
    ];
    let batch = "/batcher/properties/batch";
    rules.extend([
        (batch, not_both(["bucket_width", "boundaries"])),
        (batch, not_both(["bucket_width", "quantiles"])),
        (batch, not_both(["boundaries", "quantiles"])),
        (batch, when(json!({"required": ["batch_window"]}), json!({"properties": {"keep_order": {"const": false}}}))),
        (
            batch,
            when(
                is("strategy", &["pack"]),
                json!({"anyOf": [{"required": ["capacity"]}, {"required": ["max_length"]}]}),
            ),
        ),
        (batch, when(json!({"allOf": [budget, weighted]}), json!({"required": ["max_cost"]}))),
        (
            batch,
            when(json!({"allOf": [budget, {"not": weighted}]}), json!({"anyOf": [{"required": ["max_tokens"]}, room]})),
        ),
    ]);
    for place in [sources, sources_of_batches, sources_of_reading] {
        rules.push((place, json!({"oneOf": [{"required": ["samples"]}, {"required": ["order"]}]})));
        rules.push((place, json!({"properties": {"name": {"pattern": "^[^/]+$"}}})));
    }
    rules
}
