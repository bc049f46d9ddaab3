//! Texts of other formats, and texts with members or events that this version does not know. A user has to be told that
//! the text is of a later version, not that one of its members is wrong.

use matrix::format::Case;
use serde_json::{Value, json};

use super::limits::case;

/// The cases for a group of golden cases.
pub fn of(group: &str) -> Vec<Case> {
    match group {
        "recipes" => recipes("sampler", "{\"order\":{\"samples\":10}", json!({"epoch": "0", "rank": 0})),
        "recipes-batch" => recipes("batch-recipe", "{\"batch\":{\"max_tokens\":9}", json!({"lengths": [1, 2]})),
        "recipes-shards" => [
            recipes("plan", "{\"shards\":{\"sizes\":[1]}", json!({"epoch": "3"})),
            recipes("chunk-stream", "{\"order\":{}", json!({"epoch": "3", "reader": 0})),
        ]
        .concat(),
        "readings" => [
            recipes("reading", "{\"order\":{\"sizes\":[4]}", json!({"epoch": "0"})),
            vec![states("resume", json!({"reading": {"recipe": READING, "epoch": "0"}}), READING_STATE)],
        ]
        .concat(),
        "splits" => recipes("split", "{\"split\":{\"parts\":[{\"name\":\"a\",\"weight\":1}]}", json!({})),
        "steps" => [
            recipes("schedule", "{\"order\":{\"samples\":8},\"steps\":{\"global_batch_size\":4}", json!({"rank": 0})),
            vec![states("step-of-state", json!({"schedule": {"recipe": SCHEDULE, "rank": 0}}), SCHEDULE_STATE)],
        ]
        .concat(),
        "state" => {
            let subject = json!({"sampler": {"recipe": SAMPLER, "epoch": "0", "rank": 0}});
            vec![states("resume", subject.clone(), SAMPLER_STATE), hidden(subject)]
        }
        "batches-state" => {
            let subject = json!({"batcher": {"recipe": BATCHER, "lengths": [3, 1, 2], "epoch": "0"}});
            vec![states("resume", subject.clone(), BATCHER_STATE), states("replan", subject, BATCHER_STATE)]
        }
        "batches-index" => vec![indices(), joined()],
        "ledger" => vec![ledgers(), header(), events()],
        "texts" => vec![looked_at()],
        _ => Vec::new(),
    }
}

const SAMPLER: &str = r#"{"order":{"samples":10}}"#;
const SAMPLER_STATE: &str = r#"{"samedeal":1,"kind":"sampler","recipe":{"order":{"name":"feistel","samples":10,"seed":0}},"epoch":0,"consumed":4}"#;
const BATCHER: &str = r#"{"order":{"name":"sequential"},"batch":{"max_tokens":3,"lengths":[3,1,2]}}"#;
const BATCHER_STATE: &str = r#"{"samedeal":1,"kind":"batcher","recipe":{"order":{"name":"sequential","samples":3,"seed":0},"batch":{"strategy":"budget","max_tokens":3,"lengths":[3,1,2]}},"epoch":0,"consumed":0,"history":[{"world_size":1,"steps":1}],"window":3,"checksum":"0000000000000007"}"#;
const READING: &str = r#"{"order":{"sizes":[4]}}"#;
const READING_STATE: &str = r#"{"samedeal":1,"kind":"reading","recipe":{"order":{"name":"sharded","samples":4,"seed":0,"lanes":64,"shuffle_window":256,"shards":1,"sizes":[4]}},"epoch":0,"consumed":0,"history":[{"world_size":1,"workers":1,"batch_size":1,"drop_last":false,"steps":1}]}"#;
const SCHEDULE: &str = r#"{"order":{"samples":8},"steps":{"global_batch_size":4}}"#;
const SCHEDULE_STATE: &str = r#"{"samedeal":1,"kind":"schedule","recipe":{"order":{"name":"feistel","samples":8,"seed":0},"steps":{"global_batch_size":4}},"epoch":0,"consumed":4,"step":1}"#;

/// Recipes of other formats, each as a case of its own. `begin` is a recipe without its last brace.
fn recipes(kind: &str, begin: &str, others: Value) -> Vec<Case> {
    let rest = &begin[1..];
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    [
        format!("{{\"samedeal\":2,{rest}}}"),
        format!("{{\"samedeal\":2,\"new\":[1.5e3,null],{rest}}}"),
        format!("{{\"new\":{{\"a\":[-0.5,null,true]}},{rest},\"samedeal\":3}}"),
        // The text ends early, or is no JSON behind its format.
        format!("{{\"samedeal\":18446744073709551615,{rest}"),
        format!("{{\"samedeal\":0;{rest}}}"),
        format!("{{\"s\\u0061medeal\" : 2,\"new\":1,{rest}}}"),
        format!("{{\"new\":{},\"samedeal\":2,{rest}}}", deep(64)),
        // Texts whose format is not known: it is no number, or what stands before it is no JSON.
        format!("{{\"new\":{},\"samedeal\":2,{rest}}}", deep(65)),
        format!("{{\"new\":01,\"samedeal\":2,{rest}}}"),
        format!("{{\"new\":1,\"samedeal\":\"2\",{rest}}}"),
        format!("{{\"samedeal\":-1,\"new\":1,{rest}}}"),
        format!("{{\"samedeal\":18446744073709551616,\"new\":1,{rest}}}"),
        format!("{{\"samedeal\":2.0,\"new\":1,{rest}}}"),
        // The first one counts.
        format!("{{\"samedeal\":1,{rest},\"samedeal\":2}}"),
        format!("{{\"samedeal\":2,{rest},\"samedeal\":1}}"),
        format!("{{{rest},\"new\":{{\"samedeal\":2}}}}"),
        // -0 is the format 0, also before a fault.
        format!("{{\"samedeal\":-0,\"new\":1,{rest}}}"),
        format!("{{\"samedeal\":-00,\"new\":1,{rest}}}"),
    ]
    .into_iter()
    .enumerate()
    .map(|(number, text)| {
        let mut own = others.clone();
        own["recipe"] = text.into();
        if number == 0 && kind != "batch-recipe" && kind != "split" && kind != "chunk-stream" {
            own["lists"] = json!({"other": ["1"]});
        }
        case(&format!("a {kind} of another format, text {number}"), json!({kind: own}), json!([]))
    })
    .collect()
}

/// Changes of a text with the format 1, of which some have a failure of its format and some one of their first unknown
/// member. `text` begins with its format, and then has its kind.
fn changed(text: &str) -> Vec<String> {
    let other = if text.contains("\"kind\":\"sampler\"") { "batcher" } else { "sampler" };
    let kind = text.split('"').nth(5).expect("a kind");
    let with = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} in {text}");
        text.replacen(from, to, 1)
    };
    let mut texts = vec![
        with("\"samedeal\":1", "\"samedeal\":2"),
        with("\"samedeal\":1", "\"samedeal\":2,\"new\":null"),
        with("\"samedeal\":1", "\"new\":[0.5],\"samedeal\":3"),
        with("\"samedeal\":1", "\"samedeal\":2;"),
        with("\"samedeal\":1", "\"samedeal\":2").replacen(kind, other, 1),
        with("\"samedeal\":1", "\"new\":01,\"samedeal\":2"),
        with("\"samedeal\":1", "\"samedeal\":\"2\""),
        with("\"samedeal\":1", "\"samedeal\":1,\"samedeal\":2"),
        // Members that are unknown, in a text of this kind.
        with("\"samedeal\":1", "\"samedeal\":1,\"new\":null"),
        with("\"samedeal\":1", &format!("\"{}\":7,\"samedeal\":1", "long".repeat(20))),
        with("\"epoch\":0", "\"epoch\":0,\"new\":{},\"newer\":{}"),
        // The first fault decides, and another kind comes before both.
        with("\"epoch\":0", "\"epoch\":-1,\"new\":{}"),
        with("\"epoch\":0", "\"new\":{},\"epoch\":-1"),
        with("\"epoch\":0", "\"new\":{},\"epoch\":0").replacen(kind, other, 1),
        with("\"epoch\":0", "\"new\":{},\"epoch\":0").replacen(kind, "future", 1),
        with("\"epoch\":0", "\"new\":{},\"epoch\":0").replacen("\"kind\"", "\"kinds\"", 1),
        with("\"epoch\":0", "\"kind\":\"future\",\"epoch\":0"),
    ];
    for (object, inner) in [
        ("recipe", "\"recipe\":{"),
        ("order", "\"order\":{"),
        ("order.chunks", "\"order\":{"),
        ("batch", "\"batch\":{"),
        ("steps", "\"steps\":{"),
        ("history", "\"history\":[{"),
        ("metrics", "\"metrics\":{"),
    ] {
        if text.contains(inner) {
            // `chunks` is a member of another kind of recipe.
            let new = object.split_once('.').map_or("new", |(_, new)| new);
            texts.push(with(inner, &format!("{inner}\"{new}\":1,")));
        }
    }
    // -0 is 0, as a format, as a number of a state, and in a list. A `recipe` that is no object, or is there
    // twice, is no unknown member.
    texts.push(with("\"samedeal\":1", "\"samedeal\":-0;"));
    texts.push(with("\"epoch\":0", "\"epoch\":-0"));
    texts.push(with("\"epoch\":0", "\"epoch\":\"-0\""));
    if text.contains("\"recipe\":{") {
        texts.push(with("\"recipe\":{", "\"recipe\":5,\"recipes\":{"));
        texts.push(with("\"recipe\":{", "\"recipe\":[],\"recipe\":{"));
    }
    texts
}

fn states(call: &str, subject: Value, text: &str) -> Case {
    let calls: Vec<Value> =
        changed(text).into_iter().map(|text| json!({"call": call, "args": {"state": text}})).collect();
    case(&format!("{call} of states of other formats and with unknown members"), subject, calls.into())
}

/// States with unknown members inside of lists, and of orders within orders.
fn hidden(subject: Value) -> Case {
    let state = |order: &str| {
        let recipe = format!("{{\"order\":{order}}}");
        json!({"call": "resume", "args": {"state":
            format!("{{\"samedeal\":1,\"kind\":\"sampler\",\"recipe\":{recipe},\"epoch\":0,\"consumed\":0,\"positions\":4}}")}})
    };
    let calls = [
        state(r#"{"name":"subset","of":{"samples":9,"new":1},"indices":[0,1]}"#),
        state(r#"{"name":"blend","sources":[{"name":"a","samples":4},{"name":"b","samples":4,"new":1}]}"#),
        state(r#"{"name":"blend","sources":[{"name":"a","order":{"samples":4,"new":1}}]}"#),
    ];
    case("states with unknown members far inside", subject, calls.to_vec().into())
}

const INDEX: &str = r#"{"samedeal":1,"kind":"index","recipe_fingerprint":"0","epoch":0,"windows":1,"first":0,"steps":[1],"checksums":"0000000000000007","metrics":{"steps":1},"checksum":"0"}"#;

fn indices() -> Case {
    let calls: Vec<Value> =
        changed(INDEX).into_iter().map(|text| json!({"call": "use-index", "args": {"index": text}})).collect();
    let subject = json!({"batcher": {"recipe": BATCHER, "lengths": [3, 1, 2], "epoch": "0"}});
    case("indices of other formats and with unknown members", subject, calls.into())
}

fn joined() -> Case {
    let part = INDEX.replace("\"samedeal\":1", "\"samedeal\":2");
    let calls = json!([{"call": "join-indices", "args": {"parts": [part]}}]);
    case("a part of another format", json!({"functions": {}}), calls)
}

const HEADER: &str = r#"{"samedeal":1,"kind":"ledger","recipe":{"order":{"name":"feistel","samples":10,"seed":0}},"epoch":0,"consumed":0,"block_size":4,"lease_ms":60000}"#;

fn ledgers() -> Case {
    let mut calls: Vec<Value> =
        changed(HEADER).into_iter().map(|text| json!({"call": "apply", "args": {"entry": text}})).collect();
    calls.push(json!({"call": "apply", "args": {"entry": HEADER.replace("\"samedeal\":1", "\"samedeal\":2\n")}}));
    case("first entries of other formats and with unknown members", json!({"ledger": {"header": HEADER}}), calls.into())
}

fn header() -> Case {
    let state = SAMPLER_STATE.replace("\"samedeal\":1", "\"samedeal\":2");
    let calls = json!([{"call": "header", "args": {"state": state, "block-size": 0, "lease-ms": "0"}}]);
    case("a state of another format for a log", json!({"functions": {}}), calls)
}

/// Events that a later version may add. They are told by their names, also with members that are not known.
fn events() -> Case {
    let entries = [
        HEADER.into(),
        r#"{"event":"pause","reader":1}"#.into(),
        r#"{"new":[1.5],"event":"pause"}"#.into(),
        r#"{"event":"pause""#.into(),
        format!("{{\"event\":\"{}\"}}", "pause".repeat(20)),
        // These are no events, or are other entries that are wrong.
        r#"{"event":7,"reader":1}"#.into(),
        r#"{"new":01,"event":"pause"}"#.into(),
        r#"{"event":"join","event":"pause"}"#.into(),
        r#"{"event":"join","reader":1,"session":"00000000000000a0","new":1}"#.into(),
        "{\"event\":\"pause\",\n\"reader\":1}".into(),
    ];
    let calls: Vec<Value> =
        entries.iter().map(|entry: &String| json!({"call": "apply", "args": {"entry": entry}})).collect();
    case("events that are unknown", json!({"ledger": {"header": HEADER}}), calls.into())
}

/// Other formats come before everything else that is wrong with a text.
fn looked_at() -> Case {
    let mut calls = Vec::new();
    for text in [
        r#"{"samedeal":2,"kind":["new"]}"#,
        r#"{"kind":["new"],"samedeal":2"#,
        r#"{"samedeal":2,"kind":"future"}"#,
        r#"{"samedeal":2}"#,
        r#"{"order":{"samples":01},"samedeal":2}"#,
        r#"{"samedeal":0}"#,
    ] {
        calls.push(json!({"call": "inspect", "args": {"text": text}}));
        calls.push(json!({"call": "recipe-after", "args": {"state": text, "sections": "{}"}}));
    }
    let later = SAMPLER_STATE.replace("\"samedeal\":1", "\"samedeal\":2");
    calls.push(json!({"call": "recipe-after", "args": {"state": later, "sections": "{}"}}));
    calls.push(json!({"call": "differences", "args": {"one": SAMPLER_STATE, "other": later}}));
    for text in [r#"{"samedeal":-0,"order":{}}"#, r#"{"order":{},"samedeal":-0"#, r#"{"order":{},"samedeal":-00}"#] {
        calls.push(json!({"call": "inspect", "args": {"text": text}}));
    }
    // An index is no state, and has no recipe.
    calls.push(json!({"call": "inspect", "args": {"text": INDEX}}));
    calls.push(json!({"call": "recipe-after", "args": {"state": INDEX, "sections": "{}"}}));
    case("texts of other formats", json!({"functions": {}}), calls.into())
}
