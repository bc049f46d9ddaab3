//! Splits by weight, by size and of texts; and every text that is refused.

use matrix::format::{Call, Case, Split, SplitCall, Subject, U64};

use super::forms::wide;
use super::{MAX_COUNT, asked, numbers};

pub fn cases() -> Vec<Case> {
    [wholes(), escapes(), refused(), refused_calls(), among()].concat()
}

fn subject(split: &str) -> Subject {
    Subject::Split(Split { recipe: format!("{{\"split\":{{{split}}}}}") })
}

fn parts(kind: &str, shares: &[u64]) -> String {
    let parts: Vec<String> =
        (0..).zip(shares).map(|(at, share)| format!("{{\"name\":\"part {at}\",\"{kind}\":{share}}}")).collect();
    format!("\"parts\":[{}]", parts.join(","))
}

fn run(start: u64, count: u32) -> Call {
    Call::Split(SplitCall::PartOfRun { start: U64(start), count })
}

fn members(part: u32, start: u64, count: u32) -> Call {
    Call::Split(SplitCall::Members { part, start: U64(start), count })
}

fn ids(list: &[u64]) -> Call {
    Call::Split(SplitCall::PartOf { ids: numbers(list) })
}

fn keys(list: &[&str]) -> Call {
    Call::Split(SplitCall::PartOfKeys { keys: list.iter().map(|key| key.to_string()).collect() })
}

fn what() -> [Call; 3] {
    [Call::Split(SplitCall::Recipe), Call::Split(SplitCall::RecipeFingerprint), Call::Split(SplitCall::Parts)]
}

/// Names of parts with every escape of JSON, and texts that are no escapes.
fn escapes() -> Vec<Case> {
    let names = [
        r#"M\u00fcnchen"#,
        r#"\uD83C\udf0d \u20ac\u007f"#,
        r#"C:\\data\"train\"\/new"#,
        r#"\b\f\n\r\t\u0000\u001F\u001f"#,
        r#"\u0061\u0022\u005C"#,
        r#"\ud83c"#,
        r#"\udf0d"#,
        r#"\ud83c\u0041"#,
        r#"\ud83c\ud83c\udf0d"#,
        r#"\ud83c "#,
        r#"\ud83c\n"#,
        r#"\x41"#,
        r#"\u00g0"#,
        r#"\u+041"#,
        r#"\u41"#,
        r#"\U0041"#,
        r#"\0"#,
        r#"\"#,
        "\n",
        "\u{7f}\u{2028}",
    ];
    let case = |name: &str| {
        let text = format!("\"parts\":[{{\"name\":\"{name}\",\"weight\":1}},{{\"name\":\"b\",\"w\\u0065ight\":1}}]");
        asked(&format!("name {name}"), subject(&text), what().to_vec())
    };
    let mut cases: Vec<Case> = names.into_iter().map(case).collect();
    let twice = r#""parts":[{"name":"\u0061","weight":1},{"name":"a","weight":2}]"#;
    cases.push(asked("a name that is another one with escapes", subject(twice), what().to_vec()));
    cases
}

/// Weights with a fraction or an exponent: exact proportions, rounded proportions, and texts that are no weights.
const DECIMALS: &[&[&str]] = &[
    &["0.7", "0.3"],
    &["0.80", "1e-1", "0.1"],
    &["7.0", "3"],
    &["1e3", "250.0", "0"],
    &["0.0", "5", "0e9"],
    &["0.3333333333333333", "0.3333333333333333", "0.3333333333333333"],
    &["0.14285714285714285", "0.2857142857142857", "0.5714285714285714"],
    &["0.14285714285714286", "0.2857142857142857", "0.5714285714285714"],
    // Equal remainders: the first parts get what is missing to the whole.
    &["0.1234567890123456789", "0.1234567890123456789", "0.1234567890123456789", "0.6296296329629629633"],
    &["9.6e-9", "0.9999999904"],
    &["1.1e-8", "1.21e-8", "1.331e-8", "1.4641e-8", "1.61051e-8", "1.771561e-8"],
    &["1e300", "3e300", "3E+300"],
    &["1e4000000000", "3e4000000000"],
    &["9007199254740990.0", "1"],
    &["9007199254740991.5", "1"],
    &["1", "1e-14"],
    &["0.33333333333333331", "0.66666666666666663", "4e-16"],
    &["0.33333333333333331", "0.66666666666666663", "6e-16"],
    &["1e-40000000000000000000", "1"],
    &["1.0000000000000000001", "1"],
    &["9999999999999999999e-19", "0.5"],
    &["-0.5", "1"],
    &["-0.0", "1"],
    &["0.0", "0.0"],
    &[".5", "1"],
    &["5.", "1"],
    &["1e", "1"],
    &["1.5.5", "1"],
    &["01.5", "1"],
    &["\"0.5\"", "1"],
    &["1.5x", "1"],
];

const LAST: u64 = (1 << 53) - 2;

fn wholes() -> Vec<Case> {
    let mut cases = Vec::new();
    let weights: [&[u64]; 8] = [
        &[1],
        &[10, 10, 80],
        &[10, 20, 70],
        &[1, 1, 1, 1, 1],
        &[0, 3, 0, 5, 0],
        &[1, (1 << 53) - 2],
        &[(1 << 53) - 1],
        &[1, 1 << 40, 12_345_678_901],
    ];
    for (at, weights) in (0_i64..).zip(weights) {
        for seed in [at - 3, i64::MAX, i64::MIN] {
            let text = format!("\"seed\":{},{}", wide(seed.into()), parts("weight", weights));
            let mut calls = what().to_vec();
            calls.extend([
                run(0, 200),
                run(1 << 40, 30),
                run(LAST - 9, 10),
                run(LAST + 1, 0),
                ids(&[0, LAST, 7, 7, 1 << 52]),
                ids(&[]),
            ]);
            calls.extend((0..weights.len() as u32).map(|part| members(part, 1_000, 60)));
            calls.push(keys(&["", "a", "images/0001.png", "\u{e4}\u{1f600}", "speaker-17"]));
            calls.push(keys(&[]));
            cases.push(asked(&format!("weights {weights:?}, seed {seed}"), subject(&text), calls));
        }
    }
    for sizes in [&[3, 7][..], &[0, 5, 0], &[100, 200, 700], &[1], &[1_000_000, 9_000_000, (1 << 53) - 10_000_001]] {
        let total: u64 = sizes.iter().sum();
        for seed in [0, 42] {
            let text = format!("\"seed\":{seed},{}", parts("size", sizes));
            let mut calls = what().to_vec();
            calls.extend([
                run(0, total.min(300) as u32),
                run(total - 1, 1),
                run(total, 0),
                run(total, 1),
                ids(&[total - 1]),
                ids(&[0, total]),
            ]);
            calls.extend((0..sizes.len() as u32).map(|part| members(part, 0, total.min(500) as u32)));
            // The part is checked before the start: both are out of range here.
            calls.push(members(sizes.len() as u32 + 4, total + 6, 2));
            calls.push(keys(&["a"]));
            cases.push(asked(&format!("sizes {sizes:?}, seed {seed}"), subject(&text), calls));
        }
    }
    for weights in DECIMALS {
        let parts =
            weights.iter().enumerate().map(|(at, weight)| format!("{{\"name\":\"p{at}\",\"weight\":{weight}}}"));
        let text = format!("\"parts\":[{}]", parts.collect::<Vec<_>>().join(","));
        let mut calls = what().to_vec();
        calls.push(run(0, 60));
        cases.push(asked(&format!("decimal weights {}", weights.join(", ")), subject(&text), calls));
    }
    let many: Vec<u64> = (0..300).map(|part| part % 7).collect();
    cases.push(asked("many parts", subject(&parts("weight", &many)), [run(0, 400), members(299, 0, 1_000)]));
    cases.push(asked(
        "one hundred thousand ids",
        subject(&parts("weight", &[1, 9])),
        [members(0, 0, 3_000), run(99_000, 1_000)],
    ));
    cases
}

fn refused() -> Vec<Case> {
    let text = |recipe: &str| Subject::Split(Split { recipe: recipe.into() });
    let mut cases: Vec<Case> = [
        "",
        "{}",
        "[]",
        "{\"samedeal\":2,\"split\":{}}",
        "{\"split\":{}}",
        "{\"split\":[]}",
        "{\"split\":{\"parts\":[]}}",
        "{\"order\":{\"samples\":3}}",
        "{\"split\":{\"parts\":[{\"name\":\"a\",\"weight\":1}]},\"deal\":{}}",
        "{\"split\":{\"parts\":[{\"name\":\"a\",\"weight\":1}]},\"steps\":{}}",
        "{\"split\":{\"parts\":[{\"name\":\"a\",\"weight\":1}]},\"other\":{}}",
        "{\"split\":{\"parts\":[{\"name\":\"a\",\"weight\":1}]}} ",
        "{\"split\":{\"parts\":[{\"name\":\"a\",\"weight\":1}]}},",
    ]
    .map(|recipe| asked(&format!("refused: {recipe}"), text(recipe), what()))
    .to_vec();
    for split in [
        "\"salt\":1,\"parts\":[{\"name\":\"a\",\"weight\":1}]",
        "\"seed\":9223372036854775808,\"parts\":[{\"name\":\"a\",\"weight\":1}]",
        "\"seed\":9007199254740992,\"parts\":[{\"name\":\"a\",\"weight\":1}]",
        "\"parts\":[{\"name\":\"a\",\"weight\":1,\"share\":1}]",
        "\"parts\":[{\"weight\":1}]",
        "\"parts\":[{\"name\":\"\",\"weight\":1}]",
        "\"parts\":[{\"name\":\"a\",\"weight\":1},{\"name\":\"a\",\"weight\":1}]",
        "\"parts\":[{\"name\":\"a\",\"weight\":1,\"size\":1}]",
        "\"parts\":[{\"name\":\"a\"}]",
        "\"parts\":[{\"name\":\"a\",\"weight\":1},{\"name\":\"b\"}]",
        "\"parts\":[{\"name\":\"a\",\"size\":1},{\"name\":\"b\"}]",
        "\"parts\":[{\"name\":\"a\",\"size\":1},{\"name\":\"b\",\"weight\":1}]",
        "\"parts\":[{\"name\":\"a\",\"weight\":1},{\"name\":\"b\",\"size\":1}]",
        "\"parts\":[{\"name\":\"a\",\"weight\":0},{\"name\":\"b\",\"weight\":0}]",
        "\"parts\":[{\"name\":\"a\",\"size\":0}]",
        "\"parts\":[{\"name\":\"a\",\"weight\":9007199254740991},{\"name\":\"b\",\"weight\":1}]",
        "\"parts\":[{\"name\":\"a\",\"weight\":18446744073709551615},{\"name\":\"b\",\"weight\":18446744073709551615}]",
        "\"parts\":[{\"name\":\"a\",\"size\":5},{\"name\":\"b\",\"size\":9007199254740991}]",
        "\"samples\":4,\"parts\":[{\"name\":\"a\",\"weight\":4}]",
        "\"samples\":4,\"parts\":[{\"name\":\"a\",\"size\":5}]",
        "\"samples\":5,\"parts\":[{\"name\":\"a\",\"size\":5}]",
        "\"parts\":[{\"name\":\"a\",\"weight\":1.5}]",
        "\"parts\":[{\"name\":\"a\\n\",\"weight\":1}]",
        "\"parts\":{\"a\":1}",
        "\"parts\":[[\"a\",1]]",
    ] {
        cases.push(asked(&format!("refused: {split}"), subject(split), what()));
    }
    for length in [256, 257] {
        let split = format!("\"parts\":[{{\"name\":\"{}\",\"weight\":1}}]", "n".repeat(length));
        cases.push(asked(&format!("a name of {length} bytes"), subject(&split), what()));
    }
    let split = format!("\"parts\":[{{\"name\":\"{}\",\"weight\":1}}]", "\u{e4}".repeat(129));
    cases.push(asked("a name of 129 characters and 258 bytes", subject(&split), what()));
    cases
}

fn refused_calls() -> Vec<Case> {
    let calls = [
        members(2, 0, 1),
        members(u32::MAX, 0, 1),
        members(0, LAST + 1, 1),
        members(0, LAST + 2, 0),
        members(0, 0, (1 << 20) + 1),
        run(0, (1 << 20) + 1),
        run(u64::MAX, 1),
        run(LAST, 2),
        ids(&[3, LAST + 1, LAST + 2]),
        ids(&[u64::MAX]),
        run(0, 3),
    ];
    let here = || subject(&parts("weight", &[1, 1]));
    // The largest number of ids for a call. They do not exist, so that the answer is short. Then one more, of ids and
    // of keys.
    let most = MAX_COUNT as usize;
    let many = [ids(&vec![LAST + 1; most]), ids(&vec![LAST + 1; most + 1]), keys(&vec!["a"; most + 1]), run(0, 3)];
    vec![asked("ids that are not there", here(), calls), asked("as many ids as a call takes", here(), many)]
}

/// Two texts with the same id, and other second numbers of their hashes.
const SAME_ID: [&str; 2] = ["k4560557", "k125374070"];

/// Exact sizes among ids and among texts.
fn among() -> Vec<Case> {
    let among_ids =
        |list: &[u64], rest: &str| Call::Split(SplitCall::AmongIds { ids: numbers(list), rest: rest.into() });
    let among_keys = |list: &[&str], rest: &str| {
        let keys = list.iter().map(|key| key.to_string()).collect();
        Call::Split(SplitCall::AmongKeys { keys, rest: rest.into() })
    };
    let run: Vec<u64> = (0..600).collect();
    let backward: Vec<u64> = run.iter().rev().flat_map(|&id| [id, id / 7]).collect();
    let far: Vec<u64> = (0..300).map(|i| LAST - i * i * 1_000_003).collect();
    let names: Vec<String> = (0..500).map(|i| format!("images/{i:04}.png")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let again: Vec<&str> = names.iter().rev().chain(&names[..100]).copied().collect();
    let words = ["", "a", "7", "\u{e4}\u{1f600}", "speaker-17", "a", "anna", "Anna", "boris", ""];
    let mut cases = Vec::new();
    let sizes: [&[u64]; 9] = [&[1], &[3], &[5, 3], &[0, 2, 0, 4, 0], &[8], &[100, 50, 250], &[299], &[300], &[599, 1]];
    for sizes in sizes {
        for seed in [0, -9, i64::MAX] {
            let text = format!("\"seed\":{},{}", wide(seed.into()), parts("size", sizes));
            let calls = [
                among_ids(&run, "rest"),
                among_ids(&backward, "rest"),
                among_ids(&far, "train"),
                among_keys(&names, "rest"),
                among_keys(&again, "rest"),
                among_keys(&words, "\u{e4} \"r\""),
                among_ids(&[], ""),
            ];
            cases.push(asked(&format!("exact sizes {sizes:?}, seed {seed}"), subject(&text), calls));
        }
    }
    // Among these two texts and ids around them: sizes that have both, none, or one of the two.
    let [one, other] = SAME_ID;
    let around = ["x", "y", "z", "u", "v", one, other, one];
    for size in 1..8 {
        let calls = [among_keys(&around, "rest"), among_keys(&[other, one], "rest")];
        cases.push(asked(&format!("two texts with the same id, size {size}"), subject(&parts("size", &[size])), calls));
    }
    let many = MAX_COUNT as usize;
    cases.push(asked(
        "exact sizes that are refused",
        subject(&parts("size", &[2, 1])),
        [
            among_ids(&[3, LAST + 1, LAST + 2], "rest"),
            among_ids(&vec![LAST + 1; many + 1], "rest"),
            among_keys(&vec!["a"; many + 1], "rest"),
            among_keys(&vec!["a"; many], "rest"),
            among_ids(&[1, 2, 2], "rest"),
            among_ids(&[1, 2, 3], "part 1"),
            among_ids(&[1, 2, 3], ""),
            among_ids(&[1, 2, 3], &"n".repeat(257)),
            among_ids(&[1, 2, 3], &"n".repeat(256)),
            among_ids(&[1, 2, LAST], "rest"),
        ],
    ));
    let weights = subject(&parts("weight", &[2, 1]));
    let calls = [among_ids(&[1, 2, 3], "rest"), among_keys(&vec!["a"; many + 1], "rest")];
    cases.push(asked("exact sizes of weights", weights, calls));
    let large = subject(&parts("size", &[1 << 40, (1 << 53) - (1 << 40) - 1]));
    cases.push(asked("exact sizes of more keys than there are", large, [among_ids(&run, "rest")]));
    cases
}
