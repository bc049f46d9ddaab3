//! JSON tools that read every number as a 64-bit float: jq, JavaScript, R. A text that such a tool has written gives
//! the same samples, or is refused.
#![cfg(feature = "composed")]

use samedeal_core::{Failure, Recipe, Sampler, Schedule};
use serde_json::{Number, Value};

/// A value whose numbers were rounded to 64-bit floats, and are integers again where they are whole.
fn rounded(value: Value) -> Value {
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap();
            let is_whole = number.fract() == 0.0 && number.abs() < 1e19;
            let whole = if number < 0.0 { Number::from(number as i64) } else { Number::from(number as u64) };
            Value::Number(if is_whole { whole } else { Number::from_f64(number).unwrap() })
        }
        Value::Array(items) => items.into_iter().map(rounded).collect(),
        Value::Object(members) => members.into_iter().map(|(name, value)| (name, rounded(value))).collect(),
        value => value,
    }
}

/// A text as a tool with 64-bit floats writes it, in two forms.
fn by_tools(text: &str) -> [String; 2] {
    let value = rounded(serde_json::from_str(text).unwrap());
    [value.to_string(), serde_json::to_string_pretty(&value).unwrap()]
}

fn sampler(recipe: &str) -> Result<Sampler, Failure> {
    Sampler::from_recipe(&Recipe::read(recipe, &[])?, 3, 1)
}

const BLEND: &str = r#"{"name":"blend","seed":SEED,"sources":[
    {"name":"web","samples":400,"weight":3},
    {"name":"code","order":{"name":"grown","samples":50,"growth":[{"epoch":2,"consumed":7,"samples":60}]}},
    {"name":"own","order":{"samples":90,"seed":SEED}},
    {"name":"more","order":{"name":"blend","sources":[{"name":"a","samples":9},{"name":"b","samples":5}]}},
    {"name":"less","order":{"name":"exclude","of":{"samples":30},"indices":[2,4]}},
    {"name":"episodes","order":{"name":"windows","sizes":[8,9],"length":4}},
    {"name":"classes","order":{"name":"balance","classes":[0,1,1],"factors":[1000000,2000000]}}]}"#;

#[test]
fn recipes_and_states_survive_tools_with_rounded_numbers() {
    for seed in
        ["0", "42", "\"9223372036854775807\"", "\"-9223372036854775808\"", "\"9007199254740993\"", "9007199254740991"]
    {
        let plain = r#"{"samples":100,"seed":SEED}"#;
        let views = r#"{"name":"skip","of":{"name":"copies","copies":2,"of":ORDER},"ranges":[{"epoch":"9007199254740993","start":0,"count":1}]}"#;
        for order in [plain, BLEND, &views.replace("ORDER", plain).replace("\"9007199254740993\"", "3")] {
            let order = order.replace("SEED", seed);
            let sampler = sampler(&format!(r#"{{"order":{order},"deal":{{"world_size":2}}}}"#)).unwrap();
            let (recipe, state) = (sampler.recipe().text().unwrap(), sampler.state(20).unwrap());
            let wanted = sampler.resume(&state).unwrap().indices::<u64>(0, 30).unwrap();
            for text in by_tools(&recipe) {
                let read = Recipe::read(&text, &[]).unwrap();
                assert_eq!(read.text().unwrap(), recipe, "{text}");
                let again = Sampler::from_recipe(&read, 0, 1).unwrap();
                for state in by_tools(&state) {
                    let resumed = again.resume(&state).unwrap();
                    assert_eq!(resumed.indices::<u64>(0, 30).unwrap(), wanted);
                    assert_eq!(resumed.state(0).unwrap(), sampler.state(20).unwrap());
                }
            }
        }
    }
}

#[test]
fn an_epoch_beyond_2_53_survives_too() {
    let recipe = Recipe::read(r#"{"order":{"samples":10}}"#, &[]).unwrap();
    let sampler = Sampler::from_recipe(&recipe, u64::MAX, 0).unwrap();
    let state = sampler.state(4).unwrap();
    assert!(state.contains(r#""epoch":"18446744073709551615""#), "{state}");
    for text in by_tools(&state) {
        let resumed = Sampler::from_recipe(&recipe, 0, 0).unwrap().resume(&text).unwrap();
        assert_eq!(resumed.state(0).unwrap(), state);
    }
}

#[test]
fn a_derived_seed_is_not_written_and_another_one_is() {
    let text = |source: &str| format!(r#"{{"order":{{"name":"blend","seed":7,"sources":[{{"name":"a",{source}}}]}}}}"#);
    let short = Recipe::read(&text(r#""samples":10"#), &[]).unwrap().text().unwrap();
    assert!(short.contains(r#""order":{"name":"feistel","samples":10}"#), "{short}");
    let own = Recipe::read(&text(r#""order":{"samples":10,"seed":7}"#), &[]).unwrap().text().unwrap();
    assert!(own.contains(r#""order":{"name":"feistel","samples":10,"seed":7}"#), "{own}");
}

#[test]
fn a_rounded_number_is_refused_by_its_name() {
    let recipe = r#"{"order":{"samples":10,"seed":SEED},"steps":{"global_batch_size":2}}"#;
    for seed in ["9007199254740992", "-9007199254740992", "9223372036854775807"] {
        let failure = Schedule::read(&recipe.replace("SEED", seed), &[], 0).err().unwrap();
        assert_eq!((failure.kind.name(), failure.field, &*failure.value), ("out-of-range", "seed", seed));
        assert!(failure.allowed.contains("in quotes, because JSON tools round such numbers"), "{failure}");
        let quoted = recipe.replace("SEED", &format!("\"{seed}\""));
        assert_eq!(Schedule::read(&quoted, &[], 0).unwrap().seed().to_string(), seed);
    }
    for (seed, kind) in [
        ("\"7\"", "wrong-type"),
        ("\"9223372036854775808\"", "out-of-range"),
        ("1e3", "wrong-type"),
        ("7.0", "wrong-type"),
    ] {
        let failure = Schedule::read(&recipe.replace("SEED", seed), &[], 0).err().unwrap();
        assert_eq!((failure.kind.name(), failure.field), (kind, "seed"), "{seed}");
    }
}
