//! What texts are: recipes of every kind, states, logs, and what is none of them; and what goes on after a state.

use matrix::format::{Call, Case, Subject};

use super::asked;

const ORDER: &str = r#"{"name":"feistel","samples":1000,"seed":42}"#;

const RECIPES: [&str; 14] = [
    r#"{"order":{"samples":1000}}"#,
    r#"{"samedeal":1,"order":{"name":"blend","sources":[{"name":"a","samples":3}]},"deal":{"world_size":4}}"#,
    r#" { "deal" : { } , "order" : { "sizes" : [ 1 , 2 ] } } "#,
    r#"{"order":{"samples":10},"batch":{"strategy":"pack","capacity":8}}"#,
    r#"{"order":{"samples":10},"batch":{}}"#,
    r#"{"order":{"sizes":[4,5]},"deal":{"workers":2}}"#,
    r#"{"shards":{"sizes":[4,5]},"deal":{"workers":2},"batch":{"batch_size":4}}"#,
    r#"{"shards":{"sizes":[4,5]},"batch":{"drop_last":true}}"#,
    r#"{"shards":{"sizes":[4,5]},"deal":{"workers":2}}"#,
    r#"{"order":{"chunks":7}}"#,
    r#"{"order":{"name":"sequential"},"deal":{"readers":7}}"#,
    r#"{"order":{"samples":10},"steps":{"batch_size":4}}"#,
    r#"{"split":{"parts":[{"name":"test","weight":1}]}}"#,
    r#"{"deal":{"world_size":2},"future":[{"a":null,"b":[1.5e-3,true,"\u00e9"]}]}"#,
];

const STATES: [(&str, &str); 5] = [
    ("sampler", r#","epoch":3,"consumed":400"#),
    ("batcher", r#","epoch":3,"consumed":0,"history":[]"#),
    ("reading", r#","epoch":3,"consumed":0,"history":[]"#),
    ("steps", r#","epoch":3,"step":7,"consumed":28"#),
    ("ledger", r#","epoch":0,"consumed":0,"block":64,"lease":60000"#),
];

const NONE: [&str; 14] = [
    "",
    "null",
    "[]",
    "{}",
    "{\"order\":{}",
    "{\"order\":{}} {}",
    "{\"order\":[]}",
    "{\"order\":{\"samples\":}}",
    "{\"lengths\":[1,2]}",
    "{\"samedeal\":2,\"order\":{}}",
    "{\"samedeal\":\"1\",\"order\":{}}",
    "{\"samedeal\":1,\"kind\":\"future\",\"recipe\":{}}",
    "{\"kind\":7}",
    "{\"event\":\"claim\",\"reader\":1}",
];

pub fn cases() -> Vec<Case> {
    let inspect = |text: &str| Call::Inspect { text: text.into() };
    let after = |state: &str, sections: &str| Call::RecipeAfter { state: state.into(), sections: sections.into() };
    let states = STATES
        .map(|(kind, more)| format!("{{\"samedeal\":1,\"kind\":\"{kind}\",\"recipe\":{{\"order\":{ORDER}}}{more}}}"));
    let mut long = String::from("{\"order\":{}}");
    long.push_str(&" ".repeat(40));
    let nested = |depth: usize| format!("{{\"order\":{{}},\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    let mut none: Vec<Call> = NONE.iter().map(|text| inspect(text)).collect();
    none.extend([inspect(&long), inspect(&nested(64)), inspect(&nested(65)), inspect(RECIPES[0])]);
    let mut goes_on = Vec::new();
    for state in &states {
        for sections in ["{}", "{\"deal\":{\"world_size\":3}}", " {\"deal\":{},\"batch\":{\"batch_size\":2}} "] {
            goes_on.push(after(state, sections));
        }
    }
    for state in ["", "{}", RECIPES[0], "{\"recipe\":{}}", "{\"kind\":\"sampler\",\"recipe\":7}"] {
        goes_on.push(after(state, "{}"));
    }
    for sections in ["", "[]", "{} x", "{\"deal\":"] {
        goes_on.push(after(&states[0], sections));
    }
    goes_on.push(after("{\"kind\":\"sampler\",\"recipe\":{ }}", "{\"deal\":{}}"));
    vec![
        asked("recipes", Subject::Functions {}, RECIPES.map(inspect)),
        asked("states and logs", Subject::Functions {}, states.iter().map(|text| inspect(text))),
        asked("none of them", Subject::Functions {}, none),
        asked("what goes on after a state", Subject::Functions {}, goes_on),
    ]
}
