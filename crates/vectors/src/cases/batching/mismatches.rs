//! States of other recipes: every member of a recipe that may differ.

use std::collections::BTreeMap;

use matrix::Engine;
use matrix::format::{BatchRecipe, Batcher, Call, Case, Subject, U64};
use matrix::native::Native;
use serde_json::{Value, json};

use super::super::asked;
use super::super::batch_recipes::{LENGTHS, WHOLES};

pub fn cases() -> Vec<Case> {
    let mut cases = vec![lists(), texts(), widths()];
    for (strategy, counting, members) in WHOLES {
        let mut batch: Value = serde_json::from_str(&format!("{{{members}}}")).expect("JSON");
        batch["strategy"] = json!(strategy);
        batch["counting"] = json!(counting);
        cases.push(case(strategy, counting, &batch));
    }
    cases
}

fn batcher(order: &Value, batch: &Value, lengths: &[u32], world_size: u32) -> Subject {
    let recipe = json!({"order": order, "deal": {"world_size": world_size}, "batch": batch});
    let recipe = BatchRecipe { recipe: recipe.to_string(), lengths: Some(lengths.to_vec()), lists: BTreeMap::new() };
    Subject::Batcher(Batcher { recipe, epoch: U64(0) })
}

fn state_after(steps: u64) -> Call {
    Call::State { taken: None, steps: Some(U64(steps)) }
}

fn state(subject: &Subject, steps: u64) -> String {
    text_of(subject, &state_after(steps))
}

fn text_of(subject: &Subject, call: &Call) -> String {
    let mut batcher = Native::create(subject).expect("a plan");
    batcher.call(call).expect("an answer").as_str().expect("a text").to_string()
}

/// States of recipes that differ in one member: it has another value, or is left out.
fn case(strategy: &str, counting: &str, batch: &Value) -> Case {
    let order = json!({"name": "fisher-yates", "seed": 9});
    let mut others = vec![
        (json!({"name": "feistel", "seed": 9}), batch.clone(), LENGTHS.to_vec()),
        (json!({"name": "fisher-yates", "seed": -9}), batch.clone(), LENGTHS.to_vec()),
        (order.clone(), batch.clone(), LENGTHS[..7].to_vec()),
        (order.clone(), batch.clone(), [&LENGTHS[..7], &[8]].concat()),
    ];
    for (member, value) in batch.as_object().expect("an object") {
        let other = match value {
            Value::Number(number) => json!(number.as_u64().expect("a natural") ^ 1),
            Value::Array(_) => json!([0, 8, 4_294_967_294_u32]),
            Value::Bool(flag) => json!(!flag),
            _ => match (member.as_str(), value.as_str().expect("a name")) {
                ("packing", _) => json!("fast"),
                ("too_long", _) => json!("error"),
                ("tail", _) => json!("even-split"),
                // The strategy and the counting decide which members there are: they differ in `others` below.
                _ => continue,
            },
        };
        let mut changed = batch.clone();
        changed[member] = other;
        others.push((order.clone(), changed, LENGTHS.to_vec()));
        let mut without = batch.clone();
        without.as_object_mut().expect("an object").remove(member);
        others.push((order.clone(), without, LENGTHS.to_vec()));
    }
    for (other, of_counting, members) in WHOLES {
        if (other == strategy) != (of_counting == counting) {
            let mut changed: Value = serde_json::from_str(&format!("{{{members}}}")).expect("JSON");
            changed["strategy"] = json!(other);
            changed["counting"] = json!(of_counting);
            others.push((order.clone(), changed, LENGTHS.to_vec()));
        }
    }
    let here = batcher(&order, batch, &LENGTHS, 1);
    let mut calls: Vec<Call> = others
        .iter()
        .map(|(order, batch, lengths)| batcher(order, batch, lengths, 1))
        // Recipes that are not valid without the member, or with these lengths, are left out.
        .filter(|subject| Native::create(subject).is_ok())
        .map(|subject| Call::Resume { state: state(&subject, 0) })
        .collect();
    calls.push(Call::Metrics);
    // Another world size is no mismatch: it is not among the values that are compared.
    calls.push(Call::Resume { state: state(&batcher(&order, batch, &LENGTHS, 2), 0) });
    calls.push(state_after(0));
    asked(&format!("states of other recipes than {strategy}, {counting}"), here, calls)
}

/// Lists and hashes of lists.
fn lists() -> Case {
    let lengths: Vec<u32> = (0..300).map(|sample| sample % 50).collect();
    let boundaries: Vec<u32> = (0..300).collect();
    let of = |boundaries: &[u32], lengths: &[u32]| {
        batcher(&json!({}), &json!({"strategy": "bucket", "boundaries": boundaries}), lengths, 1)
    };
    let mut other = lengths.clone();
    other[299] = 7;
    let width = batcher(&json!({}), &json!({"strategy": "bucket", "bucket_width": 1}), &lengths, 1);
    let none = batcher(&json!({}), &json!({"strategy": "bucket"}), &lengths, 1);
    let calls = [
        of(&boundaries, &other),
        of(&boundaries[..299], &lengths),
        of(&boundaries[..256], &lengths),
        of(&boundaries, &lengths[..256]),
        width,
        none,
        of(&boundaries, &lengths),
    ]
    .map(|subject| Call::Resume { state: state(&subject, 0) });
    asked("states of other lists", of(&boundaries, &lengths), calls.into_iter().chain([state_after(0)]))
}

/// States whose open window has another width than the windows of the batcher that resumes them.
fn widths() -> Case {
    let made =
        |width: u64| batcher(&json!({"seed": 0}), &json!({"max_tokens": 70, "batch_window": width}), &LENGTHS, 1);
    let (here, of) = (made(2), made(3));
    let index = text_of(&here, &Call::Index { first: U64(0), count: U64(4) });
    let goes_on = |steps| Call::Resume { state: state(&of, steps).replace("\"batch_window\":3", "\"batch_window\":2") };
    let asked_of_rest = || [Call::NumWindows, Call::NumSteps, Call::Fingerprint, state_after(1), state_after(2)];
    let calls = [goes_on(1)]
        .into_iter()
        .chain(asked_of_rest())
        .chain([Call::UseIndex { index }, goes_on(2)])
        .chain(asked_of_rest());
    asked("windows of another width", here, calls)
}

/// States with changes in their texts.
fn texts() -> Case {
    let here = batcher(&json!({"seed": 0}), &json!({"max_tokens": 99, "batch_window": 40}), &LENGTHS, 1);
    let state = state(&here, 1);
    let change = |from: &str, to: &str| {
        assert!(state.contains(from), "{from} in {state}");
        Call::Resume { state: state.replacen(from, to, 1) }
    };
    let checksum = state.split("\"checksum\":").nth(1).expect("a checksum").trim_end_matches('}');
    let taken = format!("[{{\"world_size\":1,\"steps\":1}}],\"window\":40,\"checksum\":{checksum}");
    let calls = [
        // Texts that are no states.
        change("\"kind\":\"batcher\"", "\"kind\":\"batchers\""),
        change("\"samedeal\":1", "\"samedeal\":2"),
        change("\"samedeal\":1,", ""),
        change("\"epoch\":0,", ""),
        change("\"epoch\":0", "\"epoch\":-1"),
        change("\"epoch\":0", "\"epoch\":18446744073709551616"),
        change("\"epoch\":0", "\"epoch\":0,\"epoch\":0"),
        change("\"epoch\":0", "\"epoch\":0,\"rank\":0"),
        change("\"history\":[", "\"history\":[1,"),
        change("\"steps\":1", "\"steps\":1.0"),
        change("\"steps\":1", "\"steps\":1,\"steps\":1"),
        change("\"steps\":1", "\"steps\":1,\"world\":1"),
        change(",\"steps\":1", ""),
        change("\"window\":40,", ""),
        change("\"window\":40", "\"window\":\"40\""),
        change("\"window\":40", "\"window\":0"),
        change("\"recipe\":{", "\"recipe\":{\"deal\":{\"world_size\":1},"),
        change("\"recipe\":{", "\"recipe\":{\"samedeal\":1,"),
        change("\"batch\":{", "\"batch\":{\"budget\":3,"),
        change("\"batch\":{", "\"batch\":{\"tail\":\"keep\","),
        change("\"batch\":{", "\"batch\":3,\"more\":{"),
        change("\"max_tokens\":99", "\"max_tokens\":\"99\""),
        change("\"max_tokens\":99", "\"max_tokens\":99.0"),
        change("\"max_tokens\":99", "\"max_tokens\":18446744073709551616"),
        change("\"max_tokens\":99", "\"max_tokens\":-99"),
        change("\"seed\":0", "\"seed\":9223372036854775808"),
        change("\"lengths\":[", "\"lengths\":[-1,"),
        change("\"lengths\":[", "\"lengths\":[\"1\","),
        change("[12,7,30,1,64,0,25,9]", "\"6d1a\""),
        // States of other recipes.
        change("\"max_tokens\":99,", ""),
        change("\"order\":{\"name\":\"feistel\",\"samples\":8,\"seed\":0},", ""),
        change("\"name\":\"feistel\"", "\"name\":\"sharded\""),
        change("\"name\":\"feistel\",", ""),
        change("\"samples\":8", "\"samples\":9"),
        change("\"seed\":0", "\"seed\":0,\"lanes\":64"),
        change("\"seed\":0", "\"seed\":1"),
        change("\"strategy\":\"budget\"", "\"strategy\":\"x\""),
        change("\"max_tokens\":99", "\"max_tokens\":99,\"capacity\":7"),
        change("\"max_tokens\":99", "\"max_tokens\":99,\"max_length\":4294967295"),
        change("\"batch_window\":40,", ""),
        change("[12,7,30,1,64,0,25,9]", "[12,7,30,1,64,0,25]"),
        change("[12,7,30,1,64,0,25,9]", "[12,7,30,1,64,0,25,18446744073709551615]"),
        change("[12,7,30,1,64,0,25,9]", &format!("\"{}\"", "6d".repeat(32))),
        // The state in another spelling, then states with other numbers.
        change("\"seed\":0", "\"seed\":-0"),
        change("\"max_tokens\":99", " \"max_tokens\" :\t99\r\n "),
        change("\"epoch\":0", "\"epoch\":7"),
        state_after(0),
        change("\"steps\":1", "\"steps\":99"),
        change("\"world_size\":1", "\"world_size\":1048577"),
        change("\"world_size\":1", "\"world_size\":4294967296"),
        state_after(0),
        // Checksums that are missing, not valid, or of other lengths.
        change(&format!(",\"checksum\":{checksum}"), ""),
        change(checksum, &checksum.replace('"', "")),
        change(checksum, "\"7\""),
        change(checksum, &checksum.to_uppercase()),
        change(checksum, "\"0000000000000007\""),
        state_after(0),
        Call::Metrics,
        change(&taken, "[],\"checksum\":\"0000000000000007\""),
        change(&taken, "[],\"window\":40,\"checksum\":\"0000000000000000\""),
        change(&taken, "[],\"checksum\":7"),
        state_after(0),
        Call::Metrics,
        // A history after which no samples are left.
        change("\"consumed\":0", "\"consumed\":8"),
        state_after(0),
    ];
    asked("states that are changed", here, calls)
}
