//! Plans, readings and streams of chunks by their recipes: every member, every default, and every text that is refused.

use matrix::format::{Call, Case, ChunkStream, Lists, Made, ReadCall, Subject, U64};
use serde_json::{Value, json};

use super::forms::wide;
use super::{asked, numbers};

pub fn cases() -> Vec<Case> {
    [plans(), plans_refused(), plan_lists(), readings(), readings_refused(), streams()].concat()
}

fn made(recipe: &str, lists: &[(&str, &[u64])]) -> Made {
    let lists = lists.iter().map(|(name, list)| ((*name).to_owned(), numbers(list)));
    Made { recipe: recipe.into(), lists: lists.collect::<Lists>(), epoch: U64(3) }
}

fn plan(recipe: &str, lists: &[(&str, &[u64])]) -> Case {
    let calls = [
        Call::Recipe,
        Call::RecipeFingerprint,
        Call::ConfigFingerprint,
        Call::Epoch,
        Call::Seed,
        Call::WorldSize,
        Call::Workers,
        Call::Sizes,
        Call::Bytes,
        Call::NumShards { rank: 0, worker: 0 },
        Call::Rows { shard: 0, start: U64(0), count: 3 },
        Call::Loads { tier: "ranks".into(), start: 0, count: 1 },
        Call::Loads { tier: "nodes".into(), start: 0, count: 1 },
        Call::LoadSummary { tier: "workers".into(), balance_by: "rows".into() },
        Call::Imbalance { tier: "rank".into(), balance_by: "samples".into() },
        Call::AtEpoch { epoch: U64(u64::MAX) },
        Call::Recipe,
        Call::Epoch,
        Call::Rows { shard: 0, start: U64(0), count: 3 },
    ];
    asked(&format!("plan, {} lists: {recipe}", lists.len()), Subject::Plan(made(recipe, lists)), calls)
}

fn reading(recipe: &str, lists: &[(&str, &[u64])]) -> Case {
    let (rank, worker) = (0, 0);
    let calls = [
        ReadCall::Recipe,
        ReadCall::RecipeFingerprint,
        ReadCall::Epoch,
        ReadCall::Seed,
        ReadCall::WorldSize,
        ReadCall::Workers,
        ReadCall::BatchSize,
        ReadCall::Sizes,
        ReadCall::NumSteps { rank },
        ReadCall::NumSamples { rank, worker },
        ReadCall::Indices { rank, worker, start: U64(0), count: 2 },
        ReadCall::State { steps: U64(1) },
        ReadCall::AtEpoch { epoch: U64(0) },
        ReadCall::Indices { rank, worker, start: U64(0), count: 2 },
    ];
    let name = format!("reading, {} lists: {recipe}", lists.len());
    asked(&name, Subject::Reading(made(recipe, lists)), calls.map(Call::Reading))
}

fn stream(recipe: &str) -> Case {
    let stream = ChunkStream { recipe: recipe.into(), epoch: U64(3), reader: 0 };
    let calls = [Call::Recipe, Call::Chunks { start: U64(0), count: 4 }];
    asked(&format!("stream: {recipe}"), Subject::ChunkStream(stream), calls)
}

/// The text of a recipe in which one member of `base` is added or changed.
fn with(base: &Value, section: &str, member: &str, value: Value) -> String {
    let mut document = base.clone();
    document[section][member] = value;
    document.to_string()
}

const SIZES: [u64; 5] = [13, 5, 0, 21, 9];

fn near() -> Value {
    json!({
        "shards": {
            "policy": "locality-aware", "sizes": SIZES, "holders": [0, 1, 1, 0, 1], "holder_offsets": [0, 1, 2, 3, 4, 5],
            "rank_nodes": [0, 1],
        },
        "deal": {"world_size": 2},
    })
}

fn plans() -> Vec<Case> {
    let base = json!({"shards": {"sizes": SIZES}});
    let mut texts = vec![base.to_string(), near().to_string()];
    texts.push(
        json!({
            "samedeal": 1,
            "shards": {
                "shuffle": false, "shuffle_rows": true, "reshuffle": true, "seed": wide(i64::MIN.into()), "policy": "round-robin",
                "worker_policy": "round-robin", "balance_by": "bytes", "samples": 48, "shards": 5, "sizes": SIZES,
                "bytes": [1, 2, 3, 4, 5],
            },
            "deal": {"world_size": 3, "workers": 2},
        })
        .to_string(),
    );
    for (member, value) in [
        ("shuffle", json!(false)),
        ("shuffle", json!(true)),
        ("shuffle_rows", json!(false)),
        ("reshuffle", json!(true)),
        ("seed", json!(-1)),
        ("policy", json!("size-aware")),
        ("policy", json!("round-robin")),
        ("worker_policy", json!("round-robin")),
        ("balance_by", json!("samples")),
        ("bytes", json!([5, 4, 3, 2, 1])),
        ("sizes", json!([])),
        ("sizes", json!([7])),
    ] {
        texts.push(with(&base, "shards", member, value));
    }
    texts.push(with(&near(), "shards", "tolerance", json!(0)));
    texts.push(with(&near(), "shards", "bytes", json!([1, 1, 1, 1, 1])));
    texts.iter().map(|text| plan(text, &[])).collect()
}

fn plans_refused() -> Vec<Case> {
    let base = json!({"shards": {"sizes": SIZES}});
    let mut texts: Vec<String> =
        ["", "{", "[]", "{}", "{\"deal\":{}}", "{\"shards\":[]}", "{\"shards\":{}}", "{\"shards\":{\"sizes\":[1]}} "]
            .map(Into::into)
            .to_vec();
    for (section, member, value) in [
        ("shards", "shuffle", json!(1)),
        ("shards", "shuffle", json!("true")),
        ("shards", "shuffle", Value::Null),
        ("shards", "reshuffle", json!([])),
        ("shards", "seed", json!(1.5)),
        ("shards", "seed", json!(u64::MAX)),
        ("shards", "seed", json!(i64::MAX)),
        ("shards", "seed", json!("7")),
        ("shards", "policy", json!("random")),
        ("shards", "policy", json!(7)),
        ("shards", "worker_policy", json!("locality-aware")),
        ("shards", "balance_by", json!("rows")),
        ("shards", "balance_by", json!("bytes")),
        ("shards", "samples", json!(47)),
        ("shards", "shards", json!(4)),
        ("shards", "bytes", json!([1, 2])),
        ("shards", "bytes", json!([u64::MAX, 1, 1, 1, 1])),
        ("shards", "tolerance", json!(50)),
        ("shards", "holders", json!([0])),
        ("shards", "holder_offsets", json!([0])),
        ("shards", "rank_nodes", json!([])),
        ("shards", "sizes", json!([MAX_SUM, 1])),
        ("shards", "sizes", json!([-1])),
        ("shards", "sizes", json!("6d1a")),
        ("shards", "lanes", json!(4)),
        ("shards", "more", json!(4)),
        ("deal", "world_size", json!(0)),
        ("deal", "world_size", json!((1_u64 << 22) + 1)),
        ("deal", "world_size", json!(1_u64 << 32)),
        ("deal", "workers", json!(0)),
        ("deal", "workers", json!((1_u64 << 22) + 1)),
        ("deal", "remainder", json!("pad")),
        ("deal", "layout", json!("strided")),
        ("deal", "readers", json!(2)),
        ("deal", "rank", json!(2)),
        ("order", "samples", json!(48)),
        ("batch", "batch_size", json!(8)),
        ("more", "batch_size", json!(8)),
    ] {
        texts.push(with(&base, section, member, value));
    }
    for (member, value) in [
        ("holders", Value::Null),
        ("holders", json!([0, 1, 1, 0])),
        ("holders", json!([0, 1, 1, 0, 1_u64 << 32])),
        ("holder_offsets", json!([0, 1, 2, 3, 4])),
        ("rank_nodes", json!([0])),
        ("tolerance", json!(1_u64 << 32)),
    ] {
        texts.push(with(&near(), "shards", member, value));
    }
    for member in ["holders", "holder_offsets", "rank_nodes", "sizes"] {
        let mut document = near();
        document["shards"].as_object_mut().expect("a section").remove(member);
        texts.push(document.to_string());
    }
    texts.push("{\"shards\":{\"sizes\":[1],\"seed\":1,\"seed\":1}}".into());
    texts.push("{\"samedeal\":2,\"shards\":{\"sizes\":[1]}}".into());
    texts.iter().map(|text| plan(text, &[])).collect()
}

const MAX_SUM: u64 = (1 << 53) - 1;

/// Lists beside the text.
fn plan_lists() -> Vec<Case> {
    let many: Vec<u64> = (0..300).map(|shard| shard % 11).collect();
    let text = json!({"shards": {"balance_by": "bytes"}, "deal": {"world_size": 4}}).to_string();
    let whole = plan(&text, &[("sizes", &many), ("bytes", &many)]);
    let canonical = {
        let matrix::format::Body::Calls(calls) = &whole.body else { panic!("a plan") };
        let matrix::format::Outcome::Returns(text) = &calls[0].outcome else { panic!("a recipe") };
        text.as_str().expect("a text").to_owned()
    };
    let mut near = near();
    for member in ["sizes", "holders", "holder_offsets", "rank_nodes"] {
        near["shards"].as_object_mut().expect("a section").remove(member);
    }
    let beside: [(&str, &[u64]); 4] = [
        ("sizes", &SIZES),
        ("holders", &[0, 1, 1, 0, 1]),
        ("holder_offsets", &[0, 1, 2, 3, 4, 5]),
        ("rank_nodes", &[0, 1]),
    ];
    vec![
        whole,
        plan(&canonical, &[("sizes", &many), ("bytes", &many)]),
        plan(&canonical, &[("sizes", &many)]),
        plan(&canonical, &[("sizes", &many), ("bytes", &many[1..])]),
        plan(&canonical, &[]),
        plan(&near.to_string(), &beside),
        plan(&near.to_string(), &beside[..3]),
        plan(&json!({"shards": {}}).to_string(), &beside),
        plan(&json!({"shards": {}}).to_string(), &[("sizes", &[1, 2]), ("lengths", &[1])]),
        plan(&json!({"shards": {"sizes": [1, 2]}}).to_string(), &[("sizes", &[2, 1])]),
    ]
}

fn readings() -> Vec<Case> {
    let order = json!({"order": {"sizes": SIZES}});
    let whole = json!({"shards": {"sizes": SIZES}});
    let mut texts = vec![order.to_string(), whole.to_string()];
    for (section, member, value) in [
        ("order", "name", json!("sharded")),
        ("order", "name", json!("sequential")),
        ("order", "lanes", json!(4)),
        ("order", "shuffle_window", json!(4)),
        ("order", "seed", json!(-9)),
        ("order", "samples", json!(48)),
        ("order", "shards", json!(5)),
        ("deal", "world_size", json!(2)),
        ("deal", "workers", json!(3)),
        ("deal", "remainder", json!("uneven")),
        ("batch", "batch_size", json!(4)),
        ("batch", "drop_last", json!(true)),
    ] {
        texts.push(with(&order, section, member, value));
    }
    for (section, member, value) in [
        ("shards", "shuffle", json!(false)),
        ("shards", "shuffle_rows", json!(false)),
        ("shards", "reshuffle", json!(true)),
        ("shards", "seed", json!(9)),
        ("shards", "policy", json!("round-robin")),
        ("shards", "worker_policy", json!("round-robin")),
        ("deal", "workers", json!(3)),
        ("batch", "batch_size", json!(4)),
        ("batch", "drop_last", json!(true)),
    ] {
        texts.push(with(&whole, section, member, value));
    }
    let weighed =
        json!({"shards": {"sizes": SIZES, "balance_by": "bytes", "bytes": [1, 2, 3, 4, 5]}, "deal": {"world_size": 2}});
    texts.push(weighed.to_string());
    let mut cases: Vec<Case> = texts.iter().map(|text| reading(text, &[])).collect();
    let many: Vec<u64> = (0..300).map(|shard| shard % 11).collect();
    for text in
        ["{\"order\":{}}", "{\"shards\":{}}", "{\"order\":{\"name\":\"sequential\"},\"batch\":{\"batch_size\":32}}"]
    {
        cases.push(reading(text, &[("sizes", &many)]));
        cases.push(reading(text, &[]));
    }
    cases.push(reading("{\"shards\":{\"balance_by\":\"bytes\"}}", &[("sizes", &many), ("bytes", &many)]));
    cases.push(reading("{\"shards\":{}}", &[("sizes", &many), ("bytes", &many)]));
    cases.push(reading("{\"order\":{}}", &[("sizes", &many), ("bytes", &many)]));
    cases.push(reading("{\"order\":{}}", &[("sizes", &many), ("rank_nodes", &[1])]));
    cases
}

fn readings_refused() -> Vec<Case> {
    let order = json!({"order": {"sizes": SIZES}});
    let whole = json!({"shards": {"sizes": SIZES}});
    let mut texts: Vec<String> =
        ["{}", "{\"deal\":{\"workers\":2}}", "{\"order\":{},\"shards\":{}}", "{\"order\":7}"].map(Into::into).to_vec();
    for (section, member, value) in [
        ("order", "name", json!("feistel")),
        ("order", "name", json!("random")),
        ("order", "samples", json!(47)),
        ("order", "lanes", json!(0)),
        ("order", "shuffle_window", json!(0)),
        ("order", "chunks", json!(4)),
        ("shards", "policy", json!("round-robin")),
        ("shards", "sizes", json!(SIZES)),
        ("deal", "world_size", json!(0)),
        ("deal", "workers", json!(65_537)),
        ("deal", "layout", json!("strided")),
        ("deal", "readers", json!(4)),
        ("deal", "remainder", json!("even")),
        ("batch", "batch_size", json!(0)),
        ("batch", "batch_size", json!(1_u64 << 32)),
        ("batch", "drop_last", json!(0)),
        ("batch", "strategy", json!("pack")),
        ("batch", "max_tokens", json!(512)),
    ] {
        texts.push(with(&order, section, member, value));
    }
    texts.push("{\"order\":{\"sizes\":[3],\"name\":\"sequential\",\"lanes\":4}}".into());
    texts.push("{\"order\":{\"sizes\":[3],\"name\":\"sequential\",\"shuffle_window\":4}}".into());
    texts.push("{\"order\":{\"name\":\"sharded\",\"sizes\":[3]},\"shards\":{}}".into());
    texts.push(
        "{\"order\":{\"name\":\"sharded\",\"sizes\":[3]},\"shards\":{\"reshuffle\":true,\"policy\":\"x\"}}".into(),
    );
    texts.push("{\"order\":{\"lanes\":4},\"shards\":{\"sizes\":[3]}}".into());
    texts.push("{\"order\":{\"seed\":4,\"lanes\":4},\"shards\":{\"sizes\":[3]}}".into());
    for (section, member, value) in [
        ("shards", "policy", json!("locality-aware")),
        ("shards", "tolerance", json!(50)),
        ("shards", "rank_nodes", json!([1])),
        ("shards", "bytes", json!([1, 2, 3, 4, 5])),
        ("shards", "balance_by", json!("bytes")),
        ("shards", "lanes", json!(4)),
        ("deal", "remainder", json!("pad")),
        ("deal", "remainder", json!("x")),
        ("order", "shuffle_window", json!(4)),
    ] {
        texts.push(with(&whole, section, member, value));
    }
    texts.iter().map(|text| reading(text, &[])).collect()
}

fn streams() -> Vec<Case> {
    [
        "{}",
        "{\"order\":{}}",
        "{\"order\":{\"chunks\":5}}",
        "{\"order\":{\"chunks\":5,\"name\":\"sequential\"},\"deal\":{\"readers\":2}}",
        "{\"samedeal\":1,\"order\":{\"name\":\"torch\",\"chunks\":9,\"seed\":-3},\"deal\":{\"readers\":4}}",
        "{\"order\":{\"name\":\"feistel\"}}",
        "{\"order\":{\"name\":\"x\"}}",
        "{\"order\":{\"chunks\":0}}",
        "{\"order\":{\"chunks\":-1}}",
        "{\"order\":{\"chunks\":1.5}}",
        "{\"order\":{\"chunks\":9007199254740992}}",
        "{\"order\":{\"samples\":5}}",
        "{\"order\":{\"sizes\":[5]}}",
        "{\"order\":{\"more\":5}}",
        "{\"deal\":{\"readers\":0}}",
        "{\"deal\":{\"readers\":4294967296}}",
        "{\"deal\":{\"world_size\":2}}",
        "{\"deal\":{\"remainder\":\"pad\"}}",
        "{\"deal\":{\"more\":1}}",
        "{\"shards\":{}}",
        "{\"batch\":{}}",
        "{\"more\":{}}",
        "{\"samedeal\":0}",
        "[]",
        "",
    ]
    .into_iter()
    .map(stream)
    .collect()
}
