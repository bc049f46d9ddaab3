//! Cases exactly at a limit, and of which failure comes first. A second implementation that was altered in each of
//! these places passed all other cases.

use matrix::format::{Body, Case};
use serde_json::{Value, json};

use super::asked;

/// The cases for a group of golden cases.
pub fn of(group: &str) -> Vec<Case> {
    match group {
        "batches-bucket" => vec![greatest_boundary()],
        "batches-index" => vec![other_lengths()],
        "batches-pack" => vec![bound_below_left_out()],
        "batches-state" => vec![greatest_width()],
        "batches-stream" => vec![padded_stream()],
        "ledger-client" => vec![refusals(), free_runs()],
        "orders-composed" => composed(),
        "readings" => vec![segments()],
        "shards-stream" => vec![two_cycles()],
        "splits" => splits(),
        "state" => vec![few_samples_of_a_step()],
        "steps" => vec![misfit_and_rank()],
        "texts" => texts(),
        _ => Vec::new(),
    }
}

/// A case in the form that the files of golden cases have, with the answers of the core.
fn case(name: &str, mut of: Value, calls: Value) -> Case {
    let Value::Array(mut calls) = calls else { panic!("{name}: no list of calls") };
    calls.iter_mut().for_each(|call| call["returns"] = Value::Null);
    of["name"] = name.into();
    of["calls"] = calls.into();
    let Case { subject, body: Body::Calls(steps), .. } =
        serde_json::from_value(of).unwrap_or_else(|error| panic!("{name}: {error}"))
    else {
        panic!("{name}: no calls")
    };
    asked(name, subject, steps.into_iter().map(|step| step.call))
}

fn sampler(recipe: &Value) -> Value {
    json!({"sampler": {"recipe": recipe.to_string(), "epoch": "0", "rank": 0}})
}

fn batcher(recipe: &Value) -> Value {
    json!({"batcher": {"recipe": recipe.to_string(), "lengths": recipe["batch"]["lengths"], "epoch": "0"}})
}

/// The greatest boundary of a bucket is no width to pad to.
fn greatest_boundary() -> Case {
    let batch = json!({
        "strategy": "bucket", "boundaries": [4, u32::MAX], "pad_to_bucket": true, "max_length": 100, "lengths": [3, 50]
    });
    let subject = batcher(&json!({"order": {"name": "sequential"}, "batch": batch}));
    case(
        "the greatest boundary, padded to",
        subject,
        json!([{"call": "take", "args": {"rank": 0, "start": "0", "count": 1}}]),
    )
}

/// Parts of an index that have different checksums of a window.
fn other_lengths() -> Case {
    let parts = [
        r#"{"samedeal":1,"kind":"index","fingerprint":"0000000000000000000000000000000000000000000000000000000000000000","epoch":0,"windows":3,"first":0,"steps":[2,2],"checksums":"00000000000000070000000000000008","metrics":{"steps":4,"items":0,"rows":0,"tokens":0,"padded":0,"slowest":0,"cost":0,"slowest_cost":0,"packs_bound":0,"over_budget":0,"empty":0,"repeated":0,"dropped":0,"truncated":0,"too_long":0,"split":0},"checksum":"83d8e184a267c10e99ebbb17ce915586ae88330c50ce5137d48f66122f6bfb31"}"#,
        r#"{"samedeal":1,"kind":"index","fingerprint":"0000000000000000000000000000000000000000000000000000000000000000","epoch":0,"windows":3,"first":1,"steps":[2],"checksums":"0000000000000009","metrics":{"steps":2,"items":0,"rows":0,"tokens":0,"padded":0,"slowest":0,"cost":0,"slowest_cost":0,"packs_bound":0,"over_budget":0,"empty":0,"repeated":0,"dropped":0,"truncated":0,"too_long":0,"split":0},"checksum":"0e82b222dd703003bd664fbc2302e6bb70dc4f407f1d1da0115c7737a625872f"}"#,
    ];
    let calls = json!([{"call": "join-indices", "args": {"parts": parts}}]);
    case("parts that were planned with other lengths", json!({"functions": {}}), calls)
}

/// The plan leaves out more packs than its bound has.
fn bound_below_left_out() -> Case {
    let batch = json!({"strategy": "pack", "capacity": 20, "tail": "drop", "lengths": [10, 4, 7, 6, 12, 11, 10]});
    let subject = batcher(&json!({"order": {"name": "sequential"}, "deal": {"world_size": 20}, "batch": batch}));
    case("more packs left out than the bound has", subject, json!([{"call": "metrics"}]))
}

/// A default window of more than 2^53 - 1 positions.
fn greatest_width() -> Case {
    let batch =
        json!({"max_tokens": "1099511627776000000", "max_length": 1, "too_long": "single", "lengths": [5, 5, 5, 5]});
    let subject = batcher(&json!({"order": {"name": "sequential"}, "batch": batch}));
    case("the greatest width of a default window", subject, json!([{"call": "state", "args": {"steps": "1"}}]))
}

/// The default window of a stream follows from the strategy.
fn padded_stream() -> Case {
    let recipe = json!({"batch": {"strategy": "pad-to-max", "max_batch_size": 10}}).to_string();
    let subject = json!({"batch-stream": {"recipe": recipe, "epoch": "0", "rank": 0, "lengths": null}});
    let (samples, lengths) = (vec!["1"; 12_295], vec![1; 12_295]);
    let push = json!({"call": "push", "args": {"samples": samples, "lengths": lengths}});
    case("the default window of pad-to-max, not quite full", subject, json!([push, {"call": "take", "args": {}}]))
}

fn client(samples: u64, members: Value) -> Value {
    let order = json!({"name": "feistel", "samples": samples, "seed": 0});
    let state = json!({"samedeal": 1, "kind": "sampler", "recipe": {"order": order}, "epoch": 0, "consumed": 0});
    let mut client = json!({"state": state.to_string(), "reader": 0, "session": "1"});
    client.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
    json!({"ledger-client": client})
}

/// The first entry of a ledger.
fn header(samples: u64, block: u64) -> String {
    let order = format!("{{\"name\":\"feistel\",\"samples\":{samples},\"seed\":0}}");
    format!(
        "{{\"samedeal\":1,\"kind\":\"ledger\",\"recipe\":{{\"order\":{order}}},\"epoch\":0,\"consumed\":0,\"block\":{block},\
         \"lease\":60000}}"
    )
}

fn tell(entries: &[String]) -> Value {
    json!({"call": "tell-entries", "args": {"entries": entries, "now": "0"}})
}

/// A client whose entries are refused more than a hundred times in a row.
fn refusals() -> Case {
    let mut calls = vec![json!({"call": "open", "args": {"now": "0"}})];
    calls.push(json!({"call": "tell-checkpoint", "args": {"checkpoint": null, "now": "0"}}));
    calls.extend([tell(&[header(10, 1024)]), tell(&[])]);
    for number in 1..106 {
        calls.push(json!({"call": "tell-appended", "args": {"appended": false, "now": "0"}}));
        calls.push(tell(&[format!("{{\"event\":\"lease\",\"reader\":1,\"lease\":{}}}", 60_000 + number)]));
        calls.push(tell(&[]));
    }
    case("more refusals than the pause follows", client(10, json!({})), calls.into())
}

/// A checkpoint with one free run more than there may be.
fn free_runs() -> Case {
    let free: Vec<u64> = (0..65_537).flat_map(|run| [2 * run, 1]).collect();
    let free = json!(free);
    let checkpoint = format!(
        "{{\"event\":\"checkpoint\",\"number\":300000,\"next\":131074,\"committed\":65537,\"lease\":60000,\"free\":{free},\"held\":[]}}"
    );
    let calls = json!([
        {"call": "open", "args": {"now": "0"}},
        {"call": "tell-checkpoint", "args": {"checkpoint": checkpoint, "now": "0"}},
        tell(&[header(200_000, 1)])
    ]);
    case("a checkpoint of too many free runs", client(200_000, json!({"block": 1, "lease": "60000"})), calls)
}

fn composed() -> Vec<Case> {
    let sources = |count: usize| {
        let source = |number| json!({"name": format!("s{number}"), "samples": 2, "weight": u8::from(number < 2)});
        (0..count).map(source).collect::<Vec<_>>()
    };
    let grown = json!({
        "name": "grown", "samples": 1, "growth": [{"epoch": 1, "consumed": 0, "samples": 9_007_199_254_740_990_u64}]
    });
    let mut of_state = grown.clone();
    of_state["seed"] = 0.into();
    let state = json!({
        "samedeal": 1, "kind": "sampler", "recipe": {"order": of_state}, "epoch": 1, "consumed": 2,
        "positions": 9_007_199_254_740_990_u64
    });
    let fail = |samples: u64, sources: Value| json!({"order": {"name": "blend", "exhaustion": "fail", "samples": samples, "sources": sources}});
    let large = json!([{"name": "a", "samples": 7}, {"name": "b", "samples": 1_u64 << 52, "weight": 0}]);
    let few = json!({"order": {"name": "blend", "exhaustion": "renormalise", "sources": sources(300)}});
    let weights: Vec<u8> = (0..257).map(|source| u8::from(source == 0)).collect();
    let stages: Vec<Value> = (1..256).map(|from| json!({"from": from, "weights": weights})).collect();
    let staged = json!({"order": {"name": "blend", "sources": sources(257), "stages": stages}});
    let factors: Vec<String> = vec!["1".into(); 65_537];
    let mut balance = sampler(&json!({"order": {"name": "balance"}}));
    balance["sampler"]["lists"] = json!({"classes": ["70000"], "factors": factors});
    vec![
        case(
            "a state of which the rest fits, but not the epoch",
            sampler(&json!({"order": grown, "deal": {"world_size": 4}})),
            json!([{"call": "resume", "args": {"state": state.to_string()}}, {"call": "consumed"}]),
        ),
        case(
            "fail: many samples of a source without a weight",
            sampler(&fail(4, large)),
            json!([{"call": "at-epoch", "args": {"epoch": "1"}}]),
        ),
        case(
            "fail: as many samples as the sources have",
            sampler(&fail(7, json!([{"name": "a", "samples": 7}]))),
            json!([{"call": "indices", "args": {"start": "0", "count": 7}}]),
        ),
        case("renormalise: many sources, few with a weight", sampler(&few), json!([{"call": "epoch-length"}])),
        case("255 stages of 257 sources", sampler(&staged), json!([])),
        case("balance: too many factors, and a class beyond them", balance, json!([])),
    ]
}

/// A history of as many segments as a state may have, with readers of its own before them.
fn segments() -> Case {
    let order = json!({
        "name": "sharded", "samples": 100_000, "seed": 0, "lanes": 64, "shuffle_window": 256, "shards": 1, "sizes": [100_000]
    });
    let segment = json!({"world_size": 1, "workers": 1, "batch_size": 1, "drop_last": false, "steps": 1});
    let history = vec![segment; 4_096];
    let state = json!({
        "samedeal": 1, "kind": "reading", "recipe": {"order": order}, "epoch": 0, "consumed": 0, "history": history
    });
    let recipe = json!({"order": {"sizes": [100_000]}, "deal": {"world_size": 2}}).to_string();
    let calls = json!([{"call": "resume", "args": {"state": state.to_string()}}]);
    case(
        "as many segments of other readers as a state has",
        json!({"reading": {"recipe": recipe, "epoch": "0"}}),
        calls,
    )
}

/// Chunks of two cycles, of which each has a large table.
fn two_cycles() -> Case {
    let recipe = json!({"order": {"chunks": 8_388_609, "name": "torch"}}).to_string();
    let subject = json!({"chunk-stream": {"recipe": recipe, "epoch": "0", "reader": 0}});
    let calls = json!([{"call": "chunks", "args": {"start": "8388608", "count": 2}}]);
    Case { slow: true, ..case("two cycles whose tables are large", subject, calls) }
}

fn splits() -> Vec<Case> {
    let of = |parts: &str| json!({"split": {"recipe": format!("{{\"split\":{{\"parts\":{parts}}}}}")}});
    let twice = r#"[{"name":"a","weight":1},{"name":"a","weight":1,"size":2}]"#;
    let far = r#"[{"name":"a","weight":1e20},{"name":"b","weight":1048576}]"#;
    vec![
        case("a name that is there twice, with a weight and a size", of(twice), json!([])),
        case("weights far apart with a common divisor", of(far), json!([{"call": "recipe"}])),
    ]
}

/// A step with few samples, of a batch size that all ranks together could not have.
fn few_samples_of_a_step() -> Case {
    let args = json!({"batch": "0", "batch-size": 1 << 20, "drop-last": false, "first": 0, "count": 4});
    let subject = sampler(&json!({"order": {"samples": 10}, "deal": {"world_size": 4}}));
    case("a step of few samples, with a large batch size", subject, json!([{"call": "step", "args": args}]))
}

fn misfit_and_rank() -> Case {
    let steps = json!({"batch_size": 3, "epochs": 4, "stages": [{"from": 2, "batch_size": 4}]});
    let recipe = json!({"order": {"samples": 10}, "deal": {"world_size": 2}, "steps": steps}).to_string();
    let calls = json!([{"call": "step", "args": {"step": "0", "first": 2, "count": 1}}]);
    case("a batch size that does not fit, and no such rank", json!({"schedule": {"recipe": recipe, "rank": 0}}), calls)
}

fn texts() -> Vec<Case> {
    let recipe = r#"{"order":{"samples":10},"deal":{"workers":2},"batch":{}}"#;
    let objects = json!({"one": r#"{"a":{}}"#, "other": r#"{"a":{"b":1}}"#});
    vec![
        case(
            "workers beside batches",
            json!({"functions": {}}),
            json!([{"call": "inspect", "args": {"text": recipe}}]),
        ),
        case(
            "an object that is empty in one text",
            json!({"functions": {}}),
            json!([{"call": "differences", "args": objects}]),
        ),
    ]
}
