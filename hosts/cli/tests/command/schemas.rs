//! The JSON Schema of the answers. It is published, and every JSON answer in these tests is checked against it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use jsonschema::Validator;
use samedeal::Sampler;
use samedeal::ledger::{FileLog, Ledger};
use serde_json::{Value, json as value};

use crate::files::{self, Dataset};
use crate::{command, text};

/// The schema of all answers, as the command prints it.
fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| serde_json::from_slice(&command("schema").output().unwrap().stdout).unwrap())
}

/// A form that an answer may have, and its validator.
type Form = (Value, Validator);

/// The forms that the answers of a subcommand have.
fn forms(subcommand: &str) -> Arc<Vec<Form>> {
    static FORMS: Mutex<BTreeMap<String, Arc<Vec<Form>>>> = Mutex::new(BTreeMap::new());
    let mut all = FORMS.lock().unwrap_or_else(PoisonError::into_inner);
    let read = || {
        let printed = command(&format!("schema {subcommand}")).output().unwrap().stdout;
        let own: Value = serde_json::from_slice(&printed).unwrap_or_else(|_| panic!("{subcommand} has no schema"));
        let form = |form: &Value| {
            let mut whole = form.clone();
            whole["$defs"] = own["$defs"].clone();
            (form.clone(), jsonschema::validator_for(&whole).unwrap())
        };
        Arc::new(own["anyOf"].as_array().unwrap().iter().map(form).collect())
    };
    Arc::clone(all.entry(subcommand.to_owned()).or_insert_with(read))
}

/// Checks the output of the command against the schema, if it is an answer in JSON.
#[track_caller]
pub fn check(arguments: &str, output: &Output) {
    let words = arguments.split_whitespace().collect::<Vec<_>>();
    let is_json = words.contains(&"--json") || words.windows(2).any(|pair| pair == ["--format", "json"]);
    if is_json && !output.stdout.is_empty() {
        let answer = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments}: {error}"));
        assert!(
            !fitting(words[0], &answer).is_empty(),
            "{arguments} prints what its schema does not have: {}",
            why(words[0], &answer)
        );
    }
}

/// The numbers of the forms that an answer fits.
fn fitting(subcommand: &str, answer: &Value) -> Vec<usize> {
    let forms = forms(subcommand);
    (0..forms.len()).filter(|&number| forms[number].1.is_valid(answer)).collect()
}

fn why(subcommand: &str, answer: &Value) -> String {
    let told = |(form, validator): &(Value, Validator)| match validator.validate(answer) {
        Ok(()) => String::new(),
        Err(error) => format!("\n{form}: {error} at {}", error.instance_path()),
    };
    forms(subcommand).iter().map(told).collect()
}

/// The text of a published file in `docs`.
fn docs(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_published_schema_is_fresh() {
    assert!(docs("answers.schema.json") == text("schema"), "samedeal schema > docs/answers.schema.json");
    let meta = jsonschema::meta::validate(schema());
    assert!(meta.is_ok(), "{meta:?}");
}

#[test]
fn a_subcommand_has_its_schema_alone() {
    for name in schema()["properties"].as_object().unwrap().keys() {
        let own: Value = serde_json::from_str(&text(&format!("schema {name}"))).unwrap();
        assert_eq!(own["title"], format!("samedeal {name} --json"));
        assert_eq!(own["anyOf"].as_array().map(Vec::len), Some(forms(name).len()), "{name}");
        assert!(jsonschema::validator_for(&own).is_ok(), "{name}");
    }
}

/// A part of the schema, with a reference to a named part resolved.
fn whole(of: &Value) -> &Value {
    of["$ref"].as_str().map_or(of, |name| &schema()["$defs"][name.strip_prefix("#/$defs/").unwrap()])
}

/// Whether other members are allowed, as in recipes and states: these are described elsewhere.
fn is_open(of: &Value) -> bool {
    whole(of)["additionalProperties"] == true
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

/// One answer of every form of every subcommand.
#[test]
fn every_form_is_met() {
    let folder = files::folder("schemas");
    let path = |name: &str| folder.join(name).display().to_string();
    let dataset = Dataset::write("schemas-files");
    let parquet = dataset.folder.display();
    let data = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name).display().to_string();
    let lengths = (0..400_u32).map(|number| 1 + number * 37 % 90).collect::<Vec<_>>();
    fs::write(path("lengths.json"), serde_json::to_string(&lengths).unwrap()).unwrap();
    let by_length = format!("{} --lengths --max-tokens 300 --world-size 2", path("lengths.json"));
    let batcher = samedeal::Batcher::builder(lengths).max_tokens(300).world_size(2).build().unwrap();
    fs::write(path("batcher.json"), batcher.state(3).unwrap()).unwrap();
    fs::write(path("run.json"), text("recipe --samples 100 --seed 9223372036854775807")).unwrap();
    fs::write(path("state.json"), text("state --samples 100 --taken 10 --world-size 2")).unwrap();
    let sampler = Sampler::builder(64).build().unwrap();
    let ledger = Ledger::builder(0).block(16).open(&sampler, FileLog::open(folder.join("epoch.log")).unwrap()).unwrap();
    ledger.claim().unwrap().unwrap().commit_rest().unwrap();
    let sources = "--source web:900:7 --source books:100:3 --samples 1000";
    let steps = "--samples 1000 --batch-size 16 --batch-size 32@40 --world-size 2";
    let log = path("epoch.log");
    let mut met = BTreeSet::new();
    for asked in [
        "batches --samples 100 --batch-size 8".to_owned(),
        format!("batches {by_length}"),
        format!("batches {by_length} --compare"),
        format!("batches {by_length} --max-tokens 400"),
        format!("blend {sources}"),
        format!("blend {sources} --plot"),
        format!("blend {sources} --recipe-out -"),
        format!("diff {} {}", path("run.json"), path("state.json")),
        format!("explain {}", data("trainer_state.json")),
        format!("explain {}", data("lightning.ckpt")),
        format!("explain {} --sample 3,5", data("state.json")),
        format!("explain {} --sample 3,5 --world-size 8 --batch-size 4", data("state.json")),
        format!("explain {} {by_length} --sample 3", path("batcher.json")),
        format!("explain {} --step 3 --world-size 8 --batch-size 4", data("state.json")),
        format!("explain {} {by_length} --step 3", path("batcher.json")),
        "fingerprint --samples 100".to_owned(),
        format!("fingerprint {parquet} --order sharded --workers 2"),
        format!("index {by_length}"),
        "indices --samples 100 --world-size 3".to_owned(),
        format!("indices {parquet} --order sharded --workers 2 --worker 1"),
        format!("ledger {log}"),
        format!("ledger {log} --reader 0 --readers 1"),
        "locate --samples 100 --sample 3,5 --batch-size 8 --epoch 0..2".to_owned(),
        format!("locate {parquet} --order sharded --workers 2 --sample 3"),
        format!("locate --samples 100 --world-size 2 --resume {} --sample 1,2,3,4", path("state.json")),
        format!("locate {by_length} --sample 3"),
        "mesh dp=2 tp=2 --shard dp".to_owned(),
        "orders".to_owned(),
        "rank --rank 1 --world-size 3".to_owned(),
        "recipe --samples 100".to_owned(),
        "recipe --samples 100 --fingerprint".to_owned(),
        format!("replay {parquet} --batch-size 8"),
        format!("shards {parquet} --world-size 2"),
        format!("shards {parquet} --world-size 2 --rank 1 --batch-size 4"),
        format!("shards {parquet} --world-size 2 --verify"),
        "split --samples 100 --part test:1 --part training:9".to_owned(),
        "split --samples 100 --size test:10 --size training:90".to_owned(),
        "split --samples 100 --part test:1 --part training:9 --members test".to_owned(),
        "split --samples 100 --part test:1 --part training:9 --others test".to_owned(),
        "split --samples 100 --part test:1 --part training:9 --each".to_owned(),
        "split --part test:1 --part training:9 --recipe-out -".to_owned(),
        "state --samples 100 --taken 10".to_owned(),
        "step 2 --samples 100 --batch-size 8".to_owned(),
        format!("step 0..2 {parquet} --order sharded --workers 2 --batch-size 8 --column number"),
        format!("step 2 {by_length}"),
        format!("steps {steps}"),
        format!("steps {steps} --step 3"),
        format!("steps {steps} --locate 3,5"),
        format!("steps {steps} --state 3"),
        "verify --samples 100 --world-size 3".to_owned(),
        format!("verify {parquet} --order sharded --workers 2 --batch-size 8"),
    ] {
        let output = command(&format!("{asked} --json")).output().unwrap();
        assert!(output.stderr.is_empty(), "{asked}: {}", String::from_utf8_lossy(&output.stderr));
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let name = asked.split(' ').next().unwrap();
        let fit = fitting(name, &answer);
        assert!(!fit.is_empty(), "{asked}: {}", why(name, &answer));
        met.extend(fit.into_iter().map(|form| (name.to_owned(), form)));
        // A member that the schema does not have is refused.
        let mut more = answer;
        more["told"] = "a sentence".into();
        assert!(
            fitting(name, &more).into_iter().all(|form| is_open(&schema()["properties"][name]["anyOf"][form])),
            "{asked}"
        );
    }
    let all = schema()["properties"].as_object().unwrap().keys();
    let all =
        all.flat_map(|name| (0..forms(name).len()).map(move |form| (name.clone(), form))).collect::<BTreeSet<_>>();
    assert_eq!(all.difference(&met).collect::<Vec<_>>(), Vec::<&(String, usize)>::new());
    assert!(fitting("step", &value!({ "steps": [{ "step": "the first one" }] })).is_empty());
}
