//! A host that is compiled against the copy of the interface, run against a component with a larger interface. `cargo
//! xtask test` builds this component, and passes its path.

use std::path::{Path, PathBuf};

use serde_json::Value;
use wasmtime::component::{Component, Linker, ResourceAny};
use wasmtime::{Engine, Store};

mod bindings {
    #![allow(missing_docs, unsafe_code)]
    wasmtime::component::bindgen!({ path: "wit", world: "samedeal" });
}
use bindings::Samedeal;
use bindings::exports::samedeal::deal::types;

/// The path of the component that was built with the feature `grown`.
fn grown() -> PathBuf {
    std::env::var_os("SAMEDEAL_GROWN").expect("SAMEDEAL_GROWN: run `cargo xtask check growth`").into()
}

fn component(engine: &Engine) -> Component {
    Component::from_file(engine, grown().join("samedeal.wasm")).unwrap()
}

struct Sampling {
    store: Store<()>,
    exports: Samedeal,
}

impl Sampling {
    fn new(engine: &Engine, component: &Component) -> Self {
        let mut store = Store::new(engine, ());
        let exports = Samedeal::instantiate(&mut store, component, &Linker::new(engine)).unwrap();
        Self { store, exports }
    }

    fn sampler(&mut self, recipe: &str, epoch: u64, rank: u32) -> Result<ResourceAny, types::Failure> {
        let sampler = self.exports.samedeal_deal_sampling().sampler();
        sampler.call_constructor(&mut self.store, recipe, &[], epoch, rank).unwrap()
    }

    /// The sampler of a golden case.
    fn sampler_of(&mut self, of: &Value) -> Result<ResourceAny, types::Failure> {
        self.sampler(of["recipe"].as_str().unwrap(), number(&of["epoch"]), number(&of["rank"]))
    }

    fn indices(&mut self, sampler: ResourceAny, start: u64, count: u32) -> Result<Vec<u64>, types::Failure> {
        self.exports.samedeal_deal_sampling().sampler().call_indices(&mut self.store, sampler, start, count).unwrap()
    }
}

fn number<T: std::str::FromStr>(value: &Value) -> T
where
    T::Err: std::fmt::Debug,
{
    value.as_str().map_or_else(|| value.to_string(), str::to_owned).parse().unwrap()
}

fn is_told(failure: &types::Failure, expected: &Value) -> bool {
    let is_named = failure.kind == "unknown-name" && failure.path.ends_with("order.name");
    // The component allows one more name than the copy's golden cases expect.
    assert_eq!(failure.allowed.contains(", backward"), is_named);
    let found = failure.allowed.replace(", backward", "");
    [(&failure.kind, &expected["kind"]), (&failure.field, &expected["field"]), (&failure.value, &expected["value"])]
        .iter()
        .all(|(found, expected)| found.as_str() == expected.as_str().unwrap())
        && found == expected["allowed"].as_str().unwrap()
}

#[test]
#[ignore = "needs a component that has more: `cargo xtask check growth` builds it"]
fn golden_cases_of_samplers_are_as_they_were() {
    let engine = Engine::default();
    let component = component(&engine);
    let (mut made, mut refused, mut runs) = (0, 0, 0);
    for group in ["order-feistel", "order-torch", "deal-strided", "failures"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../vectors/{group}.json"));
        let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        for case in file["cases"].as_array().unwrap() {
            if case["slow"] == true || case["sampler"].is_null() || !case["sampler"]["lists"].is_null() {
                continue;
            }
            let mut host = Sampling::new(&engine, &component);
            let sampler = match host.sampler_of(&case["sampler"]) {
                Ok(sampler) => sampler,
                Err(failure) => {
                    assert!(is_told(&failure, &case["fails"]), "{}: {failure:?}", case["name"]);
                    refused += 1;
                    continue;
                }
            };
            made += 1;
            for step in case["calls"].as_array().unwrap() {
                match step["call"].as_str().unwrap() {
                    "at-epoch" | "at-rank" | "rest" | "resume" => break,
                    "indices" => {}
                    _ => continue,
                }
                runs += 1;
                let args = &step["args"];
                match host.indices(sampler, number(&args["start"]), number(&args["count"])) {
                    Ok(indices) => {
                        let expected: Vec<u64> = step["returns"].as_array().unwrap().iter().map(number).collect();
                        assert_eq!(indices, expected, "{}", case["name"]);
                    }
                    Err(failure) => assert!(is_told(&failure, &step["fails"]), "{}: {failure:?}", case["name"]),
                }
            }
        }
    }
    assert!(made > 30 && refused > 10 && runs > 30, "{made} made, {refused} refused, {runs} runs");
}

#[test]
#[ignore = "needs a component that has more: `cargo xtask check growth` builds it"]
fn another_order_is_a_name() {
    let engine = Engine::default();
    let mut host = Sampling::new(&engine, &component(&engine));
    let recipe = |order: &str| format!(r#"{{"order":{{"name":"{order}","samples":5}}}}"#);
    let sampler = host.sampler(&recipe("backward"), 0, 0).unwrap();
    assert_eq!(host.indices(sampler, 0, 5).unwrap(), [4, 3, 2, 1, 0]);
    let failure = host.sampler(&recipe("sideways"), 0, 0).unwrap_err();
    assert_eq!(failure.kind, "unknown-name");
    assert!(failure.facts.iter().any(|fact| fact.name == "known" && fact.value == "backward"), "{failure:?}");
}

/// The component, with another version of its interface in the names of its exports.
fn of_version(engine: &Engine, version: &str) -> Component {
    let mut bytes = std::fs::read(grown().join("samedeal.wasm")).unwrap();
    let (own, mut renamed) = (b"@0.1.0", 0);
    assert_eq!(own.len(), version.len());
    for at in 0..bytes.len() - own.len() {
        if bytes[at..].starts_with(own) {
            bytes[at..at + own.len()].copy_from_slice(version.as_bytes());
            renamed += 1;
        }
    }
    assert!(renamed > 100, "{renamed}");
    Component::new(engine, bytes).unwrap()
}

#[test]
#[ignore = "needs a component that has more: `cargo xtask check growth` builds it"]
fn the_exports_of_a_later_version_are_found() {
    let engine = Engine::default();
    let mut host = Sampling::new(&engine, &of_version(&engine, "@0.1.9"));
    let sampler = host.sampler(r#"{"order":{"name":"sequential","samples":3}}"#, 0, 0).unwrap();
    assert_eq!(host.indices(sampler, 0, 3).unwrap(), [0, 1, 2]);
    // A version with another second number is another interface, so its exports are not found.
    let mut store = Store::new(&engine, ());
    assert!(Samedeal::instantiate(&mut store, &of_version(&engine, "@0.2.0"), &Linker::new(&engine)).is_err());
}

#[test]
#[ignore = "needs a component that has more: `cargo xtask check growth` builds it"]
fn recipes_metrics_and_failures_grow() {
    let engine = Engine::default();
    let component = component(&engine);
    let mut store = Store::new(&engine, ());
    let exports = Samedeal::instantiate(&mut store, &component, &Linker::new(&engine)).unwrap();
    let batches = exports.samedeal_deal_batches();
    let read =
        |store: &mut Store<()>, text: &str| batches.batch_recipe().call_constructor(store, text, Some(4), &[]).unwrap();
    // A recipe of the earlier interface, and one with additions.
    let earlier = r#"{"batch": {"strategy": "pad-to-max", "max_batch_size": 2}, "order": {"name": "sequential"}}"#;
    let later = r#"{"batch": {"strategy": "as-they-come", "max_batch_size": 2, "latest_epoch": 99}, "order": {"name": "sequential"}}"#;
    let mut numbers = Vec::new();
    for text in [earlier, later] {
        let recipe = read(&mut store, text).unwrap();
        batches.batch_recipe().call_supply(&mut store, recipe, &[1, 3, 2, 2]).unwrap().unwrap();
        let batcher = batches.batcher().call_constructor(&mut store, recipe, 0).unwrap().unwrap();
        let run = batches.batcher().call_take(&mut store, batcher, 0, 0, 2).unwrap().unwrap();
        let mut lengths = run.lengths.clone();
        lengths.sort_unstable();
        assert_eq!((lengths, run.batch_ends.len()), (vec![1, 2, 2, 3], 2));
        let metrics = batches.batcher().call_metrics(&mut store, batcher).unwrap().unwrap();
        let metric = |name: &str| metrics.iter().find(|metric| metric.name == name).map(|metric| metric.number);
        assert_eq!((metric("items"), metric("tokens"), metric("padded")), (Some(4), Some(8), Some(10)));
        assert_eq!(metric("padding-tokens"), Some(2));
        numbers.push(metrics.len());
    }
    assert_eq!(numbers, [17, 17]);
    // The canonical text only has the later member if its value is not the default, so the fingerprints of earlier
    // recipes stay.
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/recipes-batch.json");
    let file: Value = serde_json::from_slice(&std::fs::read(vectors).unwrap()).unwrap();
    let mut same = 0;
    for case in file["cases"].as_array().unwrap().iter().filter(|case| case["fails"].is_null()) {
        let of = &case["batch-recipe"];
        if of.is_null() || !of["lengths"].is_null() || !of["lists"].is_null() {
            continue;
        }
        let text = of["recipe"].as_str().unwrap();
        let recipe = batches.batch_recipe().call_constructor(&mut store, text, None, &[]).unwrap().unwrap();
        for step in case["calls"].as_array().unwrap() {
            let found = match step["call"].as_str().unwrap() {
                "recipe" => batches.batch_recipe().call_recipe(&mut store, recipe).unwrap().unwrap(),
                "recipe-fingerprint" => batches.batch_recipe().call_recipe_fingerprint(&mut store, recipe).unwrap(),
                _ => continue,
            };
            assert_eq!(found, step["returns"], "{}", case["name"]);
            same += 1;
        }
    }
    assert!(same > 20, "{same}");
    for (given, is_there) in [("", false), (r#","latest_epoch":99"#, false), (r#","latest_epoch":7"#, true)] {
        let text = format!(r#"{{"batch":{{"strategy":"pad-to-max"{given}}}}}"#);
        let recipe = read(&mut store, &text).unwrap();
        batches.batch_recipe().call_supply(&mut store, recipe, &[1, 3, 2, 2]).unwrap().unwrap();
        let written = batches.batch_recipe().call_recipe(&mut store, recipe).unwrap().unwrap();
        assert_eq!(written.contains("latest_epoch"), is_there, "{written}");
    }
    // The copy does not know this kind of failure. The host gets it like any other.
    let types::Failure { kind, path, value, allowed, facts, .. } =
        read(&mut store, r#"{"batch": {"max_tokens": 9, "latest_epoch": 100}}"#).unwrap_err();
    assert_eq!([kind, path, value, allowed], ["too-late", "batch.latest_epoch", "100", "0 to 99"].map(str::to_owned));
    let facts: Vec<_> = facts.iter().map(|fact| (fact.name.as_str(), fact.value.as_str())).collect();
    assert_eq!(facts, [("min", "0"), ("max", "99")]);
}
