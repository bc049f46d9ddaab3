//! Kinds of texts: recipes of every kind, states, logs, and texts of no kind; and recipes that go on after a state.

use std::iter;

use matrix::format::{Call, Case, Subject, U64};
use samedeal_core::MAX_EXACT;

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
    r#"{"order":{"samples":10},"steps":{"global_batch_size":4}}"#,
    r#"{"split":{"parts":[{"name":"test","weight":1}]}}"#,
    r#"{"deal":{"world_size":2},"future":[{"a":null,"b":[1.5e-3,true,"\u00e9"]}]}"#,
];

const STATES: [(&str, &str); 5] = [
    ("sampler", r#","epoch":3,"consumed":400"#),
    ("batcher", r#","epoch":3,"consumed":0,"history":[]"#),
    ("reading", r#","epoch":3,"consumed":0,"history":[]"#),
    ("schedule", r#","epoch":3,"step":7,"consumed":28"#),
    ("ledger", r#","epoch":0,"consumed":0,"block_size":64,"lease_ms":60000"#),
];

const NONE: [&str; 19] = [
    "",
    "null",
    "[]",
    "{}",
    "{\"order\":{}",
    "{\"order\":{}} {}",
    "{\"order\":[]}",
    "{\"order\":{\"samples\":}}",
    "{\"lengths\":[1,2]}",
    // Values that are not numbers in JSON.
    "{\"order\":{\"samples\":01}}",
    "{\"order\":{\"samples\":+1}}",
    "{\"order\":{\"samples\":1.}}",
    "{\"order\":{\"samples\":-}}",
    "{\"order\":{\"samples\":1e+}}",
    "{\"samedeal\":2,\"order\":{}}",
    "{\"samedeal\":\"1\",\"order\":{}}",
    "{\"samedeal\":1,\"kind\":\"future\",\"recipe\":{}}",
    "{\"kind\":7}",
    "{\"event\":\"claim\",\"reader\":1}",
];

/// Texts with two faults: invalid JSON is reported first, then the first member of a wrong type.
const TWO_FAULTS: [&str; 6] = [
    "{\"samedeal\":\"1\",\"order\":{}} x",
    "{\"kind\":7,\"order\":{\"samples\":01}}",
    "{\"kind\":7,\"samedeal\":\"1\"}",
    "{\"samedeal\":-1,\"kind\":[]}",
    "{\"samedeal\":2,\"kind\":false}",
    "{\"samedeal\":1.5,\"order\":{}}",
];

/// Members that occur twice: the last one counts.
const TWICE: [&str; 9] = [
    "{\"samedeal\":2,\"samedeal\":1,\"order\":{}}",
    "{\"samedeal\":1,\"samedeal\":2,\"order\":{}}",
    "{\"samedeal\":\"2\",\"samedeal\":1,\"order\":{}}",
    "{\"kind\":\"future\",\"kind\":\"sampler\"}",
    "{\"order\":{\"chunks\":7},\"order\":{\"samples\":7}}",
    "{\"deal\":{\"readers\":7},\"order\":{},\"deal\":7}",
    "{\"split\":{},\"order\":{},\"split\":[]}",
    "{\"order\":[],\"order\":{}}",
    "{\"order\":{\"chunks\":7,\"chunks\":8}}",
];

/// Pairs of texts that are compared.
const DIFFERING: [(&str, &str); 21] = [
    // A default that is left out or written, members in another order, and another spelling.
    (
        r#"{"order":{"samples":1000}}"#,
        r#"{"deal":{"remainder":"p\u0061d"},"samedeal":1,"order":{"seed":0,"samples" : 1000,"name":"feistel"}}"#,
    ),
    (
        r#"{"order":{"samples":1000},"deal":{"remainder":"drop"}}"#,
        r#"{"deal":{"unit":2},"order":{"samples":1000,"seed":"-9007199254740993"}}"#,
    ),
    (
        r#"{"order":{"name":"blend","sources":[{"name":"a","samples":3},{"name":"b","samples":4,"weight":2}]}}"#,
        r#"{"order":{"name":"blend","sources":[{"name":"a","samples":3},{"name":"c","samples":4}],"run_length":2}}"#,
    ),
    // Lists that are not in the text, or are there as a hash; and a recipe that is not valid.
    (r#"{"order":{"name":"sharded","samples":9}}"#, r#"{"order":{"name":"sharded","sizes":[4,5],"lanes":2}}"#),
    (
        r#"{"shards":{"sizes":"00000000000000000000000000000000000000000000000000000000000000aa"}}"#,
        r#"{"shards":{"sizes":"00000000000000000000000000000000000000000000000000000000000000ab"}}"#,
    ),
    (r#"{"order":{"samples":10,"sead":3}}"#, r#"{"order":{"samples":10,"seed":3}}"#),
    (
        r#"{"order":{"samples":10},"batch":{"max_tokens":64}}"#,
        r#"{"order":{"samples":10},"batch":{"strategy":"pack","capacity":64}}"#,
    ),
    // A recipe and a state: the recipe in the state is compared.
    (
        r#"{"order":{"samples":1000,"seed":3},"deal":{"world_size":4}}"#,
        r#"{"samedeal":1,"kind":"sampler","recipe":{"order":{"name":"feistel","samples":1000,"seed":4}},"epoch":1,"consumed":8}"#,
    ),
    (
        r#"{"samedeal":1,"kind":"batcher","recipe":{"order":{"name":"feistel","samples":10,"seed":0},"batch":{"strategy":"budget"}},"epoch":1}"#,
        r#"{"order":{"samples":10},"batch":{"max_tokens":64},"deal":{"world_size":4}}"#,
    ),
    (r#"{"order":{"samples":10}}"#, r#"{"kind":"sampler","recipe":{},"epoch":1}"#),
    // In states, objects in lists are numbered. An object without members counts as a value.
    (
        r#"{"kind":"batcher","epoch":3,"history":[{"steps":2,"batch":{}},{"steps":1}],"a":[[{"b" : 1}]]}"#,
        r#"{"history":[{"steps":2}],"kind":"batcher","x\u002fy":[true,null,"\u0041\n\u00e9"],"epoch":4,"z":-0.50E+3}"#,
    ),
    (r#"{"":{"a":1,"":[{}]},"b":[2]}"#, r#"{"":3,"b":[ 2 ]}"#),
    (r#"{"a":{"b":{"c":[]}}}"#, r#"{"a":{"b":{},"b.c":[]}}"#),
    (r#"{"event":"claim","reader":1,"start":0,"count":64}"#, r#"{"event":"claim","reader":2,"start":0,"count":64}"#),
    ("{}", " { } "),
    // Texts that are not objects, and members that occur twice.
    ("", "{}"),
    ("{}", "[]"),
    ("{\"a\":1} {}", "{}"),
    (r#"{"a":1,"b":2,"a":1}"#, "{}"),
    ("{}", r#"{"a.b":1,"a":{"b":2}}"#),
    (r#"{"kind":7}"#, "{}"),
];

/// Weights that are floats: decimals up to each limit, numbers that are rounded, and numbers that are no weights.
fn floats() -> Vec<Call> {
    let bits = |bits: &[u64]| Call::WholeWeights { bits: bits.iter().map(|&bits| U64(bits)).collect() };
    let of = |weights: &[f64]| bits(&weights.iter().map(|weight| weight.to_bits()).collect::<Vec<_>>());
    let (least, most, exact) = (f64::from_bits(1), f64::MAX, MAX_EXACT as f64);
    let geometric: Vec<f64> = iter::successors(Some(1e-8), |weight| Some(weight * 0.83)).take(30).collect();
    let many: Vec<f64> = (1..=300).map(|k| 1.0 / f64::from(k)).collect();
    vec![
        of(&[]),
        of(&[0.0, -0.0]),
        of(&[0.7, 0.3]),
        of(&[0.1 + 0.2, 0.7]),
        of(&[2.0, 0.0, 6.0]),
        of(&[9.6e-9, 0.5]),
        of(&[1e-15, 1.0]),
        of(&[1e-16, 1.0]),
        of(&[1.0 / 3.0, 2.0 / 3.0]),
        of(&[exact - 1.0, 1.0]),
        of(&[exact, 1.0]),
        of(&[exact + 1.0, 3.0]),
        of(&[exact + 1.0, 0.0]),
        of(&[0.1, exact]),
        of(&[least, 2.0 * least]),
        of(&[least, 3.0 * least, 0.0]),
        of(&[most, most / 3.0, most / 7.0]),
        of(&[f64::MIN_POSITIVE, f64::MIN_POSITIVE / 3.0]),
        of(&[2.0_f64.powi(-57), 1e-17]),
        of(&[1.0, 2.0_f64.powi(-53)]),
        of(&[1.0, 2.0_f64.powi(-54)]),
        of(&[1.0, 2.0_f64.powi(-55) * 1.1, 1.0 / 3.0]),
        of(&[most, least]),
        of(&geometric),
        of(&many),
        of(&[0.5, -1.0]),
        of(&[0.5, -least, f64::NAN]),
        of(&[f64::NAN, -1.0]),
        of(&[1.0, f64::INFINITY]),
        of(&[1.0, 0.5, f64::NEG_INFINITY]),
        bits(&[1 << 63]),
        bits(&[u64::MAX]),
        bits(&[0x7ff0_0000_0000_0001, 0]),
        // Sums of decimals from 2^52 on are rounded.
        of(&[4.5, 1e-15]),
        of(&[4.503_599_627_370_495, 1e-15]),
        of(&[8.3, 1e-15]),
        of(&[67.1, 1e-14]),
        of(&[562_949_953_421_312.0 + 0.25, 0.1]),
        of(&[2.0_f64.powi(52) - 1.0, 1.0]),
    ]
}

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
    // Nested objects and lists, with a value in the innermost one.
    let deep = |member: &str, depth: usize, [open, close]: [&str; 2]| {
        format!("{{\"deal\":{{}},\"{member}\":{}7{}}}", open.repeat(depth), close.repeat(depth))
    };
    for member in ["a", "recipe", "order"] {
        for depth in [63, 64, 65] {
            none.extend([["[", "]"], ["{\"x\":", "}"]].map(|signs| inspect(&deep(member, depth, signs))));
        }
    }
    none.extend(TWO_FAULTS.map(inspect));
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
    let states_twice = [
        "{\"kind\":\"sampler\",\"recipe\":{\"order\":{}},\"recipe\":{\"batch\":{}}}",
        "{\"kind\":\"sampler\",\"recipe\":{\"order\":{}},\"recipe\":7}",
        "{\"kind\":\"sampler\",\"recipe\":7,\"recipe\":{\"order\":{}}}",
    ];
    let twice = states_twice.map(|state| after(state, "{\"deal\":{}}"));
    let differences = |one: &str, other: &str| Call::Differences { one: one.into(), other: other.into() };
    let mut differing: Vec<Call> = RECIPES.iter().map(|text| differences(text, "{}")).collect();
    differing.extend(states.windows(2).map(|pair| differences(&pair[0], &pair[1])));
    differing.extend(DIFFERING.iter().map(|(one, other)| differences(one, other)));
    vec![
        asked("what differs", Subject::Functions {}, differing),
        asked("recipes", Subject::Functions {}, RECIPES.map(inspect)),
        asked("states and logs", Subject::Functions {}, states.iter().map(|text| inspect(text))),
        asked("none of them", Subject::Functions {}, none),
        asked("members that are there twice", Subject::Functions {}, TWICE.map(inspect).into_iter().chain(twice)),
        asked("what goes on after a state", Subject::Functions {}, goes_on),
        asked("weights that are floats", Subject::Functions {}, floats()),
    ]
}
