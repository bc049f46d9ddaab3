//! Cases exactly at a limit, and of which failure comes first. A second implementation that was altered in each of
//! these places passed all other cases.

use matrix::format::{Body, Case, Outcome};
use serde_json::{Value, json};

use super::asked;

/// The cases for a group of golden cases.
pub fn of(group: &str) -> Vec<Case> {
    match group {
        "batches-bucket" => vec![greatest_boundary(), ends_of_truncated(), ends_at_a_border()],
        "batches-index" => vec![other_lengths()],
        "batches-pack" => vec![bound_below_left_out(), two_halves()],
        "batches-state" => vec![greatest_width(), many_groups(), without_history(), wider_than_counts()],
        "batches-stream" => vec![padded_stream(), buckets_of_stream(), stream_of_ranks()],
        "batches-window" => vec![half_of_an_odd_window()],
        "ledger-client" => vec![refusals(), free_runs()],
        "orders-composed" => composed(),
        "readings" => vec![segments(), readers_of_all_segments()],
        "shards-stream" => vec![two_cycles()],
        "splits" => splits(),
        "state" => vec![few_samples_of_a_step()],
        "steps" => vec![misfit_and_rank()],
        "texts" => texts(),
        _ => Vec::new(),
    }
}

/// A case in the form that the files of golden cases have, with the answers of the core.
pub(super) fn case(name: &str, mut of: Value, calls: Value) -> Case {
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

fn in_buckets(mut batch: Value) -> Value {
    batch["strategy"] = "bucket".into();
    batch["pad_to_bucket"] = true.into();
    batcher(&json!({"order": {"name": "sequential"}, "batch": batch}))
}

/// The ends of buckets by default follow from lengths as they are after truncation.
fn ends_of_truncated() -> Case {
    let lengths = [3, 4, 22, 0, 118, 71, 5, 5, 1, 4, 229, 211, 4, 0, 3, 6, 2, 11, 126, 5];
    let subject =
        in_buckets(json!({"max_batch_size": 1, "max_length": 20, "too_long": "truncate", "lengths": lengths}));
    case("ends of buckets by default, some lengths truncated", subject, json!([{"call": "metrics"}]))
}

/// A sum of lengths that is a 64th part of all, but for the fraction of this part.
fn ends_at_a_border() -> Case {
    let lengths = [
        76, 70, 17, 48, 78, 61, 81, 75, 9, 78, 2, 61, 34, 71, 30, 25, 61, 70, 71, 61, 51, 82, 20, 30, 82, 20, 67, 50,
        2, 86, 9, 21, 76, 6, 39, 4, 35, 61, 77, 50, 55, 51, 74, 57, 18, 47, 13, 5, 18, 64, 28, 34, 87, 56, 81, 39, 54,
        65, 50, 74, 45, 69, 75, 53, 75, 30, 44, 88, 4, 36,
    ];
    let subject = in_buckets(json!({"max_batch_size": 1, "max_length": 100, "lengths": lengths.to_vec()}));
    case("ends of buckets by default, a sum that is a share rounded down", subject, json!([{"call": "metrics"}]))
}

/// Four samples in windows of three: one and a half windows are five samples, since halves are rounded up.
fn half_of_an_odd_window() -> Case {
    let batch = json!({"max_tokens": 10, "batch_window": 3, "lengths": [9, 4, 7, 8]});
    let subject = batcher(&json!({"order": {"name": "sequential"}, "batch": batch}));
    case("the half of an odd window", subject, json!([{"call": "num-windows"}]))
}

/// Parts of an index that have different checksums of a window.
fn other_lengths() -> Case {
    let parts = [
        r#"{"samedeal":1,"kind":"index","recipe_fingerprint":"0000000000000000000000000000000000000000000000000000000000000000","epoch":0,"windows":3,"first":0,"steps":[2,2],"checksums":"00000000000000070000000000000008","metrics":{"steps":4,"items":0,"rows":0,"tokens":0,"padded":0,"slowest":0,"cost":0,"slowest_cost":0,"packs_bound":0,"over_budget":0,"empty":0,"repeated":0,"dropped":0,"truncated":0,"too_long":0,"split":0},"checksum":"83d8e184a267c10e99ebbb17ce915586ae88330c50ce5137d48f66122f6bfb31"}"#,
        r#"{"samedeal":1,"kind":"index","recipe_fingerprint":"0000000000000000000000000000000000000000000000000000000000000000","epoch":0,"windows":3,"first":1,"steps":[2],"checksums":"0000000000000009","metrics":{"steps":2,"items":0,"rows":0,"tokens":0,"padded":0,"slowest":0,"cost":0,"slowest_cost":0,"packs_bound":0,"over_budget":0,"empty":0,"repeated":0,"dropped":0,"truncated":0,"too_long":0,"split":0},"checksum":"0e82b222dd703003bd664fbc2302e6bb70dc4f407f1d1da0115c7737a625872f"}"#,
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

/// Samples of exactly half a row share one, and so the bound of packs is one.
fn two_halves() -> Case {
    let batch = json!({"strategy": "pack", "capacity": 10, "lengths": [5, 5]});
    case(
        "two halves of a row",
        batcher(&json!({"order": {"name": "sequential"}, "batch": batch})),
        json!([{"call": "metrics"}]),
    )
}

/// A default window of more than 2^53 - 1 positions.
fn greatest_width() -> Case {
    let batch =
        json!({"max_tokens": "1099511627776000000", "max_length": 1, "too_long": "single", "lengths": [5, 5, 5, 5]});
    let subject = batcher(&json!({"order": {"name": "sequential"}, "batch": batch}));
    case("the greatest width of a default window", subject, json!([{"call": "state", "args": {"steps": "1"}}]))
}

/// The state of a batcher after some steps.
fn state_after(subject: &Value, steps: u64) -> String {
    let call = json!([{"call": "state", "args": {"steps": steps.to_string()}}]);
    let Case { body: Body::Calls(steps), .. } = case("a state", subject.clone(), call) else { panic!("no calls") };
    match &steps[0].outcome {
        Outcome::Returns(state) => state.as_str().expect("a text").into(),
        Outcome::Fails(failure) => panic!("no state: {failure:?}"),
    }
}

/// A history of one segment fewer than there may be, and of as many. A step adds one.
fn many_groups() -> Case {
    let of = |world: u32| {
        let batch = json!({"strategy": "pad-to-max", "max_batch_size": 1, "lengths": vec![1; 400]});
        batcher(&json!({"order": {"name": "sequential"}, "deal": {"world_size": world}, "batch": batch}))
    };
    let one = r#"{"world_size":1,"steps":1}"#;
    let state = state_after(&of(1), 1);
    let resume = |groups: u32| {
        let segments: Vec<_> = (0..groups).map(|group| one.replace(":1,", &format!(":{},", 1 + group % 2))).collect();
        json!({"call": "resume", "args": {"state": state.replace(one, &segments.join(","))}})
    };
    let state = json!({"call": "state", "args": {"steps": "1"}});
    case("as many groups as a history may have", of(3), json!([resume(255), state, resume(256), state]))
}

/// Of a state without a history, `window` is refused before `checksum`.
fn without_history() -> Case {
    let batch = json!({"max_tokens": 10, "lengths": [9, 4, 7, 8]});
    let subject = batcher(&json!({"order": {"name": "sequential"}, "batch": batch}));
    let state = state_after(&subject, 0);
    let state = format!("{},\"window\":40,\"checksum\":\"0000000000000007\"}}", state.trim_end_matches('}'));
    let calls = json!([{"call": "resume", "args": {"state": state}}]);
    case("a window and a checksum without a history", subject, calls)
}

/// A default window of more than 2^53 - 1 positions, in a state.
fn wider_than_counts() -> Case {
    let batch = json!({
        "strategy": "bucket", "boundaries": [1], "max_batch_size": u32::MAX, "max_length": 1, "too_long": "single",
        "lengths": [5, 5, 1, 1]
    });
    let subject =
        batcher(&json!({"order": {"name": "sequential"}, "deal": {"world_size": (1 << 18) + 1}, "batch": batch}));
    let calls = json!([{"call": "state", "args": {"steps": "1"}}]);
    Case { slow: true, ..case("a default window that is wider than counts", subject, calls) }
}

/// By default, buckets of a stream have a width of 64.
fn buckets_of_stream() -> Case {
    let recipe = json!({"batch": {"strategy": "bucket", "max_batch_size": 2}}).to_string();
    let subject = json!({"batch-stream": {"recipe": recipe, "epoch": "0", "rank": 0, "lengths": null}});
    let push = json!({"call": "push", "args": {"samples": ["0", "1", "2"], "lengths": [65, 128, 62]}});
    let calls = json!([push, {"call": "flush"}, {"call": "take", "args": {}}]);
    case("buckets of a stream by default", subject, calls)
}

/// The default window of a stream follows from the strategy.
fn padded_stream() -> Case {
    let recipe = json!({"batch": {"strategy": "pad-to-max", "max_batch_size": 10}}).to_string();
    let subject = json!({"batch-stream": {"recipe": recipe, "epoch": "0", "rank": 0, "lengths": null}});
    let (samples, lengths) = (vec!["1"; 12_295], vec![1; 12_295]);
    let push = json!({"call": "push", "args": {"samples": samples, "lengths": lengths}});
    case("the default window of pad-to-max, not quite full", subject, json!([push, {"call": "take", "args": {}}]))
}

/// The default window of a stream grows with the world size.
fn stream_of_ranks() -> Case {
    let recipe = json!({"deal": {"world_size": 5}, "batch": {"max_tokens": 10}}).to_string();
    let subject = json!({"batch-stream": {"recipe": recipe, "epoch": "0", "rank": 0, "lengths": null}});
    let (samples, lengths) = (vec!["1"; 12_295], vec![1; 12_295]);
    let push = json!({"call": "push", "args": {"samples": samples, "lengths": lengths}});
    case("the default window of a stream of five ranks", subject, json!([push, {"call": "take", "args": {}}]))
}

fn client(samples: u64, members: Value) -> Value {
    let order = json!({"name": "feistel", "samples": samples, "seed": 0});
    let state = json!({"samedeal": 1, "kind": "sampler", "recipe": {"order": order}, "epoch": 0, "consumed": 0});
    let mut client = json!({"state": state.to_string(), "reader": 0, "session": "1"});
    client.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
    json!({"ledger-client": client})
}

/// The first entry of a ledger.
fn header(samples: u64, block_size: u64) -> String {
    let order = format!("{{\"name\":\"feistel\",\"samples\":{samples},\"seed\":0}}");
    format!(
        "{{\"samedeal\":1,\"kind\":\"ledger\",\"recipe\":{{\"order\":{order}}},\"epoch\":0,\"consumed\":0,\"block_size\":{block_size},\
         \"lease_ms\":60000}}"
    )
}

fn tell(entries: &[String]) -> Value {
    json!({"call": "tell-entries", "args": {"entries": entries, "now-ms": "0"}})
}

/// A client whose entries are refused more than a hundred times in a row.
fn refusals() -> Case {
    let mut calls = vec![json!({"call": "open", "args": {"now-ms": "0"}})];
    calls.push(json!({"call": "tell-checkpoint", "args": {"checkpoint": null, "now-ms": "0"}}));
    calls.extend([tell(&[header(10, 1024)]), tell(&[])]);
    for number in 1..106 {
        calls.push(json!({"call": "tell-appended", "args": {"appended": false, "now-ms": "0"}}));
        calls.push(tell(&[format!("{{\"event\":\"lease\",\"reader\":1,\"lease_ms\":{}}}", 60_000 + number)]));
        calls.push(tell(&[]));
    }
    case("more refusals than the pause follows", client(10, json!({})), calls.into())
}

/// A checkpoint with one free run more than there may be.
fn free_runs() -> Case {
    let free: Vec<u64> = (0..65_537).flat_map(|run| [2 * run, 1]).collect();
    let free = json!(free);
    let checkpoint = format!(
        "{{\"event\":\"checkpoint\",\"number\":300000,\"next\":131074,\"committed\":65537,\"lease_ms\":60000,\"free\":{free},\"held\":[]}}"
    );
    let calls = json!([
        {"call": "open", "args": {"now-ms": "0"}},
        {"call": "tell-checkpoint", "args": {"checkpoint": checkpoint, "now-ms": "0"}},
        tell(&[header(200_000, 1)])
    ]);
    case("a checkpoint of too many free runs", client(200_000, json!({"block-size": 1, "lease-ms": "60000"})), calls)
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
    let far_apart = json!([{"name": "a", "samples": 1_u64 << 40}, {"name": "b", "samples": 1}]);
    let few = json!({"order": {"name": "blend", "exhaustion": "renormalize", "sources": sources(300)}});
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
        case("renormalize: many sources, few with a weight", sampler(&few), json!([{"call": "epoch-length"}])),
        case(
            "stop: two passes of a large source, in the last epoch and after it",
            sampler(&json!({"order": {"name": "blend", "exhaustion": "stop", "max_passes": 2, "sources": far_apart}})),
            json!([
                {"call": "at-epoch", "args": {"epoch": "4094"}}, {"call": "epoch"},
                {"call": "at-epoch", "args": {"epoch": "4095"}}
            ]),
        ),
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

/// The most readers of all segments of a history together, with those that go on, and more. A last segment of the
/// readers that go on does not count.
fn readers_of_all_segments() -> Case {
    let order = json!({
        "name": "sharded", "samples": 1_000, "seed": 0, "lanes": 64, "shuffle_window": 256, "shards": 1, "sizes": [1_000]
    });
    let of = |batch_size: u8| json!({"world_size": 64, "workers": 1 << 16, "batch_size": batch_size, "drop_last": false, "steps": 1});
    let resume = |history: &[Value]| {
        let state = json!({
            "samedeal": 1, "kind": "reading", "recipe": {"order": order}, "epoch": 0, "consumed": 0, "history": history
        });
        json!({"call": "resume", "args": {"state": state.to_string()}})
    };
    let deal = json!({"world_size": 64, "workers": 1 << 16});
    let recipe = json!({"order": {"sizes": [1_000]}, "deal": deal, "batch": {"batch_size": 2}}).to_string();
    let subject = json!({"reading": {"recipe": recipe, "epoch": "0"}});
    let calls = json!([resume(&[of(1), of(1), of(1)]), resume(&[of(1), of(1), of(1), of(2)]), resume(&vec![of(1); 4])]);
    case("the most readers of all segments", subject, calls)
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
    let args = json!({"step": "0", "batch-size": 1 << 20, "drop-last": false, "first": 0, "count": 4});
    let subject = sampler(&json!({"order": {"samples": 10}, "deal": {"world_size": 4}}));
    case("a step of few samples, with a large batch size", subject, json!([{"call": "step", "args": args}]))
}

fn misfit_and_rank() -> Case {
    let steps = json!({"global_batch_size": 3, "epochs": 4, "stages": [{"from": 2, "global_batch_size": 4}]});
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
