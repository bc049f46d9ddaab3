//! Recipes of batches: every member, every default, every strategy, and every text that is refused.

use std::collections::BTreeMap;

use matrix::Engine;
use matrix::format::{BatchRecipe, BatchStream, Call, Case, Subject, U64};
use matrix::native::Native;

use super::batching::sets::uniform;
use super::{asked, numbers};

pub const LENGTHS: [u32; 8] = [12, 7, 30, 1, 64, 0, 25, 9];

pub fn cases() -> Vec<Case> {
    let all = samedeal_core::described();
    let table: Vec<_> =
        all.iter().filter(|own| (own.recipe, own.section) == ("batcher", "batch")).map(|own| own.name).collect();
    assert_eq!(MEMBERS.map(|(name, ..)| name)[..], table[..], "MEMBERS of batch_recipes.rs, and the table of the core");
    [
        wholes(),
        defaults(),
        orders(),
        lengths(),
        lists(),
        unused(),
        ranges(),
        types(),
        twice(),
        names(),
        together(),
        sections(),
        broken(),
        streams(),
    ]
    .concat()
}

fn recipe(text: &str, lengths: Option<&[u32]>, boundaries: Option<&[u64]>) -> Subject {
    let lists = boundaries.map(|list| ("boundaries".to_string(), numbers(list)));
    Subject::BatchRecipe(BatchRecipe {
        recipe: text.into(),
        lengths: lengths.map(<[u32]>::to_vec),
        lists: BTreeMap::from_iter(lists),
    })
}

fn look() -> Vec<Call> {
    vec![Call::Recipe, Call::RecipeFingerprint]
}

/// A case of a recipe, with `LENGTHS` passed beside its text.
fn case(text: &str) -> Case {
    asked(&format!("text: {text}"), recipe(text, Some(&LENGTHS), None), look())
}

fn batch(members: &str) -> String {
    format!("{{\"batch\":{{{members}}}}}")
}

/// The canonical text that the core writes for one that leaves members out.
fn canonical(subject: &Subject) -> String {
    let mut recipe = Native::create(subject).expect("a recipe");
    recipe.call(&Call::Recipe).expect("a text").as_str().expect("a text").to_string()
}

/// Each strategy with each counting, and all members that this pair uses, with values other than their defaults.
pub const WHOLES: [(&str, &str, &str); 12] = [
    (
        "budget",
        "padded",
        "\"max_batch_size\":9,\"max_length\":77,\"max_tokens\":512,\"batch_size_multiple\":3,\"batch_window\":40,\
         \"too_long\":\"single\",\"tail\":\"drop\"",
    ),
    (
        "budget",
        "unpadded",
        "\"max_batch_size\":9,\"max_length\":77,\"max_tokens\":512,\"packing\":\"optimal\",\"keep_order\":true,\
         \"too_long\":\"drop\",\"tail\":\"keep\"",
    ),
    (
        "budget",
        "weighted",
        "\"linear\":2,\"quadratic\":3,\"max_batch_size\":9,\"max_length\":77,\"max_cost\":65536,\"packing\":\"optimal\",\
         \"batch_window\":4294967295,\"too_long\":\"split\",\"tail\":\"duplicate\"",
    ),
    (
        "bucket",
        "padded",
        "\"max_batch_size\":9,\"max_length\":77,\"max_tokens\":512,\"batch_size_multiple\":3,\"bucket_width\":16,\
         \"batch_window\":40,\"too_long\":\"single\",\"tail\":\"drop\"",
    ),
    (
        "bucket",
        "unpadded",
        "\"max_batch_size\":9,\"max_length\":77,\"max_tokens\":512,\"batch_size_multiple\":3,\"boundaries\":[0,8,4294967295],\
         \"batch_window\":40,\"too_long\":\"truncate\",\"tail\":\"keep\"",
    ),
    (
        "bucket",
        "weighted",
        "\"linear\":2,\"quadratic\":3,\"max_batch_size\":9,\"max_length\":77,\"max_cost\":65536,\"batch_size_multiple\":3,\
         \"quantiles\":5,\"batch_window\":40,\"too_long\":\"split\",\"tail\":\"duplicate\"",
    ),
    (
        "pack",
        "padded",
        "\"max_batch_size\":2,\"max_length\":77,\"capacity\":64,\"packing\":\"optimal\",\"batch_window\":40,\
         \"too_long\":\"single\",\"tail\":\"drop\"",
    ),
    (
        "pack",
        "unpadded",
        "\"max_batch_size\":2,\"max_length\":77,\"capacity\":64,\"packing\":\"optimal\",\"batch_window\":40,\
         \"too_long\":\"truncate\",\"tail\":\"keep\"",
    ),
    (
        "pack",
        "weighted",
        "\"linear\":2,\"quadratic\":3,\"max_batch_size\":2,\"max_length\":77,\"capacity\":64,\"packing\":\"optimal\",\
         \"batch_window\":40,\"too_long\":\"split\",\"tail\":\"duplicate\"",
    ),
    ("pad-to-max", "padded", "\"max_batch_size\":3,\"max_length\":77,\"too_long\":\"single\",\"tail\":\"drop\""),
    ("pad-to-max", "unpadded", "\"max_batch_size\":3,\"max_length\":77,\"too_long\":\"drop\",\"tail\":\"keep\""),
    (
        "pad-to-max",
        "weighted",
        "\"linear\":2,\"quadratic\":3,\"max_batch_size\":3,\"max_length\":77,\"too_long\":\"split\",\"tail\":\"duplicate\"",
    ),
];

/// The members that each strategy requires, with each counting.
const LEAST: [(&str, &str, &str); 12] = [
    ("budget", "padded", "\"max_tokens\":512"),
    ("budget", "unpadded", "\"max_tokens\":512"),
    ("budget", "weighted", "\"max_cost\":512"),
    ("bucket", "padded", ""),
    ("bucket", "unpadded", ""),
    ("bucket", "weighted", ""),
    ("pack", "padded", "\"capacity\":64"),
    ("pack", "unpadded", "\"capacity\":64"),
    ("pack", "weighted", "\"capacity\":64"),
    ("pad-to-max", "padded", ""),
    ("pad-to-max", "unpadded", ""),
    ("pad-to-max", "weighted", ""),
];

/// Every member of the section, a valid value, and its default. If no default can be written, the valid value stands in
/// its place.
const MEMBERS: [(&str, &str, &str); 22] = [
    ("strategy", "\"budget\"", "\"budget\""),
    ("counting", "\"padded\"", "\"padded\""),
    ("linear", "3", "1"),
    ("quadratic", "3", "0"),
    ("max_batch_size", "3", "32"),
    ("max_length", "77", "4294967295"),
    ("max_tokens", "999", "999"),
    ("max_cost", "999", "999"),
    ("batch_size_multiple", "2", "1"),
    ("capacity", "99", "99"),
    ("packing", "\"optimal\"", "\"fast\""),
    ("bucket_width", "8", "8"),
    ("boundaries", "[8,16]", "[]"),
    ("quantiles", "4", "64"),
    ("separate_buckets", "true", "false"),
    ("pad_to_bucket", "true", "false"),
    ("batch_window", "100", "8192"),
    ("mean_length", "30", "30"),
    ("keep_order", "true", "false"),
    ("too_long", "\"drop\"", "\"error\""),
    ("tail", "\"drop\"", "\"even-split\""),
    ("lengths", "[12,7,30,1,64,0,25,9]", "[12,7,30,1,64,0,25,9]"),
];

fn chosen(strategy: &str, counting: &str, members: &str) -> String {
    let comma = if members.is_empty() { "" } else { "," };
    batch(&format!("\"strategy\":\"{strategy}\",\"counting\":\"{counting}\"{comma}{members}"))
}

/// Every strategy with every counting and all members of this pair. Then the canonical text of each, which must be read
/// as the same recipe.
fn wholes() -> Vec<Case> {
    let mut cases = Vec::new();
    for (strategy, counting, members) in WHOLES {
        let text = chosen(strategy, counting, members);
        cases.push(case(&text));
        let text = canonical(&recipe(&text, Some(&LENGTHS), None));
        cases.push(asked(&format!("text: {text}"), recipe(&text, None, None), look()));
    }
    cases
}

/// Recipes that leave out members: the default applies, or the recipe is refused.
fn defaults() -> Vec<Case> {
    let mut cases: Vec<_> =
        LEAST.iter().map(|(strategy, counting, members)| case(&chosen(strategy, counting, members))).collect();
    let texts = [
        "\"max_tokens\":512",
        "\"max_tokens\":\"18446744073709551615\"",
        "\"max_tokens\":\"18446744073709551616\"",
        "\"max_tokens\":18446744073709551615",
        "\"max_batch_size\":4,\"max_length\":100",
        "\"max_batch_size\":4294967295,\"max_length\":4294967295",
        "\"max_batch_size\":4294967295,\"max_length\":4294967294",
        "\"max_batch_size\":4",
        "\"max_length\":100",
        "\"max_batch_size\":0,\"max_length\":100",
        "\"max_batch_size\":4,\"max_length\":0",
        "\"max_batch_size\":4,\"max_length\":0,\"max_tokens\":5",
        "\"max_batch_size\":0,\"max_tokens\":512",
        "\"max_batch_size\":4294967295,\"max_tokens\":512",
        "\"max_length\":4294967295,\"max_tokens\":512",
        "\"counting\":\"unpadded\",\"max_batch_size\":4,\"max_length\":100",
        "\"counting\":\"weighted\",\"max_batch_size\":4,\"max_length\":100",
        "\"counting\":\"weighted\",\"quadratic\":1,\"max_batch_size\":4,\"max_length\":100",
        "\"counting\":\"weighted\",\"linear\":0,\"max_cost\":7",
        "\"counting\":\"weighted\",\"max_cost\":\"18446744073709551615\"",
        "\"counting\":\"weighted\"",
        "\"counting\":\"unpadded\"",
        "\"strategy\":\"bucket\",\"max_tokens\":512",
        "\"strategy\":\"bucket\",\"max_tokens\":512,\"max_batch_size\":0",
        "\"strategy\":\"bucket\",\"max_batch_size\":7,\"max_length\":64",
        "\"strategy\":\"bucket\",\"counting\":\"weighted\",\"max_cost\":512",
        "\"strategy\":\"bucket\",\"max_batch_size\":0",
        "\"strategy\":\"bucket\",\"boundaries\":[]",
        "\"strategy\":\"bucket\",\"boundaries\":[0]",
        "\"strategy\":\"bucket\",\"quantiles\":1048576",
        "\"strategy\":\"pack\",\"max_length\":64",
        "\"strategy\":\"pack\",\"max_length\":64,\"capacity\":32",
        "\"strategy\":\"pack\",\"max_length\":4294967295",
        "\"strategy\":\"pack\",\"max_length\":0",
        "\"strategy\":\"pack\"",
        "\"strategy\":\"pack\",\"capacity\":64,\"max_batch_size\":0",
        "\"strategy\":\"pack\",\"capacity\":64,\"max_batch_size\":4294967295",
        "\"strategy\":\"pad-to-max\",\"max_batch_size\":0",
        "\"strategy\":\"pad-to-max\",\"max_batch_size\":4294967295",
        "",
    ];
    cases.extend(texts.iter().map(|members| case(&batch(members))));
    cases
}

/// The section `order`. A recipe of batches needs none of its members.
fn orders() -> Vec<Case> {
    let order = |members: &str| format!("{{\"order\":{{{members}}},\"batch\":{{\"max_tokens\":512}}}}");
    let mut texts: Vec<String> = ["feistel", "fisher-yates", "sequential", "torch", "torch-2.5", "python", "dotnet"]
        .into_iter()
        .map(|name| order(&format!("\"name\":\"{name}\",\"seed\":-5")))
        .collect();
    texts.extend(
        [
            "",
            "\"samples\":8",
            "\"seed\":7,\"samples\":8,\"name\":\"feistel\"",
            "\"seed\":\"-9223372036854775808\"",
            "\"seed\":\"9223372036854775807\"",
            "\"seed\":9223372036854775807",
            "\"seed\":9223372036854775808",
            "\"seed\":1.5",
            "\"samples\":7",
            "\"samples\":9",
            "\"samples\":0",
            "\"samples\":\"8\"",
            "\"name\":\"sharded\"",
            "\"name\":\"sharded\",\"sizes\":[3,5]",
            "\"sizes\":[3,5]",
            "\"lanes\":4",
            "\"shuffle_window\":4",
            "\"shards\":1",
            "\"name\":\"random\"",
            "\"name\":\"Feistel\"",
            "\"name\":3",
            "\"epoch\":0",
            "\"name\":\"dotnet\",\"seed\":2147483648",
            "\"name\":\"dotnet\",\"seed\":-2147483648",
        ]
        .map(order),
    );
    texts.iter().map(|text| case(text)).collect()
}

/// Lengths beside the text, in the text, and as a hash in the text.
fn lengths() -> Vec<Case> {
    let with = |members: &str| batch(&format!("\"max_tokens\":512{members}"));
    let inline = with(",\"lengths\":[12,7,30,1,64,0,25,9]");
    let one = |name: &str, text: &str, lengths: Option<&[u32]>| asked(name, recipe(text, lengths, None), look());
    let many: Vec<u32> = (0..300).map(|sample| sample * 7 % 64).collect();
    let hashed = canonical(&recipe(&with(""), Some(&many), None));
    let mut other = many.clone();
    other[299] += 1;
    // More lengths than the sample of lengths has, from which defaults follow: 16,500 lengths are 1,031 runs of 16
    // neighbours and 4 more, and the core asks for 1,024 runs.
    let most = uniform(16_500, 31, 0, 9);
    let mut cases = vec![
        one("16,500 lengths", &with(""), Some(&most)),
        one("lengths in the text", &inline, None),
        one("lengths in the text and beside it", &inline, Some(&LENGTHS)),
        one("other lengths beside the text", &inline, Some(&[12, 7, 30, 1, 64, 0, 25, 8])),
        one("fewer lengths beside the text", &inline, Some(&LENGTHS[..7])),
        one("more lengths beside the text", &inline, Some(&[12, 7, 30, 1, 64, 0, 25, 9, 9])),
        one("no lengths beside the text", &inline, Some(&[])),
        one("no lengths at all", &with(""), None),
        one("lengths of nothing", &with(""), Some(&[])),
        one("lengths of nothing in the text", &with(",\"lengths\":[]"), None),
        one("300 lengths", &with(""), Some(&many)),
        one("300 lengths by their hash", &hashed, Some(&many)),
        one("lengths that the hash is not of", &hashed, Some(&other)),
        one("a length less than the hash is of", &hashed, Some(&many[..299])),
        one("a hash of lengths without the lengths", &hashed, None),
        one("no hash of lengths", &with(",\"lengths\":\"6d1a\""), Some(&LENGTHS)),
        one("a length of 32 bits", &with(",\"too_long\":\"single\",\"lengths\":[4294967295]"), None),
        one("a length of 33 bits", &with(",\"lengths\":[1,4294967296]"), None),
        one("a length of 64 bits", &with(",\"lengths\":[18446744073709551615]"), None),
        one("a length beyond 64 bits", &with(",\"lengths\":[18446744073709551616]"), None),
        one("a length below 0", &with(",\"lengths\":[-1]"), None),
        one("a length that is a text", &with(",\"lengths\":[\"1\"]"), None),
        one("a length with a fraction", &with(",\"lengths\":[1.0]"), None),
        one("a length that is longer than allowed", &with(",\"max_length\":8"), Some(&LENGTHS)),
        one(
            "other samples than lengths",
            "{\"order\":{\"samples\":9},\"batch\":{\"max_tokens\":5,\"lengths\":[1]}}",
            None,
        ),
        one("samples without lengths", "{\"order\":{\"samples\":9},\"batch\":{\"max_tokens\":5}}", None),
    ];
    for count in [256, 257] {
        let lengths: Vec<u32> = (0..count).collect();
        cases.push(one(&format!("{count} lengths beside the text"), &with(""), Some(&lengths)));
        let inline = lengths.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        cases.push(one(&format!("{count} lengths in the text"), &with(&format!(",\"lengths\":[{inline}]")), None));
    }
    cases
}

/// Boundaries beside the text, in the text, and as a hash in the text.
fn lists() -> Vec<Case> {
    let bucket = |members: &str| batch(&format!("\"strategy\":\"bucket\"{members}"));
    let one = |name: &str, text: &str, list: Option<&[u64]>| asked(name, recipe(text, Some(&LENGTHS), list), look());
    let many: Vec<u64> = (0..300).map(|bucket| bucket * 3).collect();
    let inline = many.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let hashed = canonical(&recipe(&bucket(&format!(",\"boundaries\":[{inline}]")), Some(&LENGTHS), None));
    let unknown = |name: &str| {
        Subject::BatchRecipe(BatchRecipe {
            recipe: bucket(""),
            lengths: Some(LENGTHS.to_vec()),
            lists: [(name.to_string(), numbers(&[1]))].into(),
        })
    };
    vec![
        one("boundaries in the text", &bucket(",\"boundaries\":[8,16]"), None),
        one("boundaries from a list", &bucket(""), Some(&[8, 16])),
        one("boundaries in the text and in a list", &bucket(",\"boundaries\":[8,16]"), Some(&[8, 16])),
        one("other boundaries in the text than in a list", &bucket(",\"boundaries\":[8,16]"), Some(&[8, 17])),
        one("a list of no boundaries", &bucket(""), Some(&[])),
        one("a list beside a bucket width", &bucket(",\"bucket_width\":8"), Some(&[8, 16])),
        one("a list beside quantiles", &bucket(",\"quantiles\":8"), Some(&[8, 16])),
        one("a list that the strategy does not use", &batch("\"max_tokens\":512"), Some(&[8, 16])),
        one("300 boundaries from a list", &bucket(""), Some(&many)),
        one("300 boundaries in the text", &bucket(&format!(",\"boundaries\":[{inline}]")), None),
        one("300 boundaries by their hash", &hashed, Some(&many)),
        one("boundaries that the hash is not of", &hashed, Some(&many[1..])),
        one("a hash of boundaries without the boundaries", &hashed, None),
        one("no hash of boundaries", &bucket(",\"boundaries\":\"6d1a\""), Some(&many)),
        one("boundaries that descend", &bucket(",\"boundaries\":[8,16,15]"), None),
        one("boundaries that repeat", &bucket(",\"boundaries\":[8,8]"), None),
        one("a list of boundaries that descend", &bucket(""), Some(&[8, 16, 15])),
        one("a boundary of 33 bits", &bucket(",\"boundaries\":[8,4294967296]"), None),
        one("a boundary of 33 bits, and one that descends", &bucket(",\"boundaries\":[8,7,4294967296]"), None),
        one("a list with a boundary of 64 bits", &bucket(""), Some(&[u64::MAX])),
        one("a boundary beyond 64 bits", &bucket(",\"boundaries\":[18446744073709551616]"), None),
        one("256 boundaries", &bucket(""), Some(&many[..256])),
        one("257 boundaries", &bucket(""), Some(&many[..257])),
        asked("a list of lengths", unknown("lengths"), look()),
        asked("a list of sizes", unknown("sizes"), look()),
    ]
}

/// Every member with every strategy and counting that does not use it, also with its default value.
fn unused() -> Vec<Case> {
    let mut cases = Vec::new();
    for (strategy, counting, least) in LEAST {
        // Only for `budget`, `unpadded` uses other members than `padded` does.
        if strategy != "budget" && counting == "unpadded" {
            continue;
        }
        for (member, value, default) in &MEMBERS[2..] {
            if least.contains(member) {
                continue;
            }
            let comma = if least.is_empty() { "" } else { "," };
            let with = |value: &str| chosen(strategy, counting, &format!("{least}{comma}\"{member}\":{value}"));
            cases.push(case(&with(value)));
            if value != default && Native::create(&recipe(&with(value), Some(&LENGTHS), None)).is_err() {
                cases.push(case(&with(default)));
            }
        }
    }
    cases
}

/// Numbers at both ends of their ranges, and beyond.
fn ranges() -> Vec<Case> {
    let mut cases = Vec::new();
    let least = |member: &str| match member {
        "linear" | "quadratic" | "max_cost" => "\"counting\":\"weighted\"",
        "capacity" => "\"strategy\":\"pack\"",
        "bucket_width" | "quantiles" => "\"strategy\":\"bucket\"",
        _ => "\"strategy\":\"budget\"",
    };
    let is_number = |(_, value, _): &(&str, &str, &str)| value.as_bytes()[0].is_ascii_digit();
    for (member, ..) in MEMBERS.into_iter().filter(is_number) {
        let budget = match member {
            "linear" | "quadratic" => ",\"max_cost\":512",
            "max_tokens" | "max_cost" | "capacity" | "bucket_width" | "quantiles" => "",
            _ => ",\"max_tokens\":512",
        };
        for value in ["0", "1", "4294967295", "4294967296", "18446744073709551615", "18446744073709551616", "-1", "-0"]
        {
            cases.push(case(&batch(&format!("{}{budget},\"{member}\":{value}", least(member)))));
        }
    }
    cases.push(case(&batch("\"strategy\":\"bucket\",\"quantiles\":1048577")));
    // Characters after a number that is out of range: they end the number, or belong to it.
    for end in ["\t", "\r\n", " ", ".5", "e3", "-1", "x", &"9".repeat(70)] {
        cases.push(case(&batch(&format!("\"max_tokens\":18446744073709551616{end}"))));
    }
    cases.push(case(&batch("\"max_tokens\":-")));
    cases.push(case(&batch("\"max_tokens\":-01")));
    // Two numbers are out of range: the rule that is checked first decides which one the failure names.
    cases.push(case(&batch("\"max_tokens\":0,\"max_length\":4294967296")));
    cases.push(case(&batch("\"max_tokens\":0,\"batch_size_multiple\":0")));
    cases.push(case("{\"deal\":{\"world_size\":0},\"batch\":{\"max_tokens\":0}}"));
    cases
}

/// Values of a type that the member does not have.
fn types() -> Vec<Case> {
    let mut cases = Vec::new();
    for (member, value, _) in MEMBERS {
        let others: &[&str] = match value.as_bytes()[0] {
            b'"' => &["1", "null", "[]", "{}", "true", "\"a\\u0062\""],
            b'[' => &["1", "null", "{}", "\"even\"", "[1,\"2\"]", "[1,2.5]", "[[1]]"],
            b't' => &["1", "null", "[]", "{}", "\"true\""],
            _ => &["\"1\"", "null", "[1]", "{}", "false", "1.5", "1e3", "1.0"],
        };
        cases.extend(others.iter().map(|other| case(&batch(&format!("\"{member}\":{other}")))));
    }
    cases
}

fn twice() -> Vec<Case> {
    MEMBERS
        .iter()
        .map(|(member, value, _)| case(&batch(&format!("\"{member}\":{value},\"{member}\":{value}"))))
        .collect()
}

/// Unknown names, as values and as members.
fn names() -> Vec<Case> {
    let long = "\u{1F0A1}".repeat(70);
    let names = ["", "Budget", "pad_to_max", "even_split", "budget ", &long];
    let mut cases = Vec::new();
    for member in ["strategy", "counting", "packing", "too_long", "tail"] {
        let counting = if member == "packing" { ",\"counting\":\"unpadded\"" } else { "" };
        cases.extend(
            names.iter().map(|name| case(&batch(&format!("\"max_tokens\":512{counting},\"{member}\":\"{name}\"")))),
        );
    }
    for member in ["budget", "multiple", "window", "world", "history", "epoch", "Lengths", "max-tokens", ""] {
        cases.push(case(&batch(&format!("\"{member}\":1"))));
    }
    // Several wrong names in one recipe: the member that is checked first decides.
    cases.push(case(&batch(
        "\"tail\":\"x\",\"too_long\":\"x\",\"packing\":\"x\",\"counting\":\"x\",\"strategy\":\"x\"",
    )));
    cases.push(case(&batch("\"tail\":\"x\",\"too_long\":\"x\",\"packing\":\"x\",\"counting\":\"x\"")));
    cases.push(case(&batch("\"tail\":\"x\",\"too_long\":\"x\",\"packing\":\"x\"")));
    cases.push(case(&batch("\"tail\":\"x\",\"too_long\":\"x\"")));
    cases.push(case(&batch("\"tail\":\"x\",\"capacity\":0,\"max_tokens\":0")));
    cases
}

/// Members that are valid alone, but not together.
fn together() -> Vec<Case> {
    [
        "\"strategy\":\"bucket\",\"bucket_width\":8,\"boundaries\":[8]",
        "\"strategy\":\"bucket\",\"bucket_width\":8,\"quantiles\":8",
        "\"strategy\":\"bucket\",\"boundaries\":[8],\"quantiles\":8",
        "\"strategy\":\"bucket\",\"quantiles\":0,\"boundaries\":[8,8],\"bucket_width\":0",
        "\"max_tokens\":512,\"max_cost\":512",
        "\"counting\":\"weighted\",\"max_tokens\":512,\"max_cost\":512",
        "\"max_tokens\":512,\"batch_size_multiple\":8,\"counting\":\"unpadded\"",
        "\"max_tokens\":512,\"packing\":\"fast\"",
        "\"max_tokens\":512,\"packing\":\"fast\",\"keep_order\":true,\"counting\":\"unpadded\"",
        "\"strategy\":\"pad-to-max\",\"keep_order\":true",
        "\"max_tokens\":512,\"batch_window\":40,\"keep_order\":true",
        "\"max_tokens\":512,\"batch_window\":40,\"keep_order\":false",
        "\"strategy\":\"bucket\",\"bucket_width\":8,\"quantiles\":8,\"batch_window\":40,\"keep_order\":true",
    ]
    .iter()
    .map(|members| case(&batch(members)))
    .collect()
}

/// Sections, white space, and the order of members.
fn sections() -> Vec<Case> {
    let deal = |members: &str| format!("{{\"deal\":{{{members}}},\"batch\":{{\"max_tokens\":512}}}}");
    [
        "{}".into(),
        "{\"batch\":{}}".into(),
        "{\"order\":{\"samples\":8}}".into(),
        "{\"samedeal\":1,\"batch\":{\"max_tokens\":512}}".into(),
        "{\"samedeal\":2,\"batch\":{\"max_tokens\":512}}".into(),
        "{\"samedeal\":18446744073709551616,\"batch\":{\"max_tokens\":512}}".into(),
        "{\"samedeal\":\"1\",\"batch\":{\"max_tokens\":512}}".into(),
        "{\"batch\":{\"max_tokens\":512},\"shards\":{}}".into(),
        "{\"batch\":{\"max_tokens\":512},\"batch\":{\"max_tokens\":512}}".into(),
        "{\"batch\":[]}".into(),
        "{\"batch\":\"budget\"}".into(),
        "{\"batch\":512}".into(),
        "{\"batch\":null}".into(),
        deal(""),
        deal("\"world_size\":1"),
        deal("\"world_size\":1048576"),
        deal("\"world_size\":1048577"),
        deal("\"world_size\":4294967296"),
        deal("\"world_size\":18446744073709551616"),
        deal("\"world_size\":0"),
        deal("\"world_size\":\"4\""),
        deal("\"world_size\":4,\"world_size\":4"),
        deal("\"remainder\":\"pad\""),
        deal("\"remainder\":\"wrap\""),
        deal("\"remainder\":3"),
        deal("\"layout\":\"strided\""),
        deal("\"layout\":\"strided\",\"remainder\":\"pad\""),
        deal("\"world_size\":0,\"layout\":\"strided\""),
        deal("\"rank\":0"),
        " {\n\t\"batch\" : { \"tail\" : \"keep\" ,\r\n \"max_tokens\" : 512 , \"lengths\" : [ 12 , 7, 30,1,64,0,25,9 ] } ,\
         \"deal\" : { \"world_size\" : 3 } , \"order\" : { } } \n"
            .into(),
        "{\"batch\":{\"lengths\":[12,7,30,1,64,0,25,9],\"tail\":\"drop\",\"too_long\":\"drop\",\"batch_window\":9,\
         \"batch_size_multiple\":2,\"max_tokens\":99,\"max_length\":64,\"max_batch_size\":7,\"counting\":\"padded\",\
         \"strategy\":\"budget\"},\"deal\":{\"world_size\":2},\"order\":{\"seed\":1,\"samples\":8,\"name\":\"python\"},\"samedeal\":1}"
            .into(),
    ]
    .iter()
    .map(|text| case(text))
    .collect()
}

/// Texts that are not a JSON object.
fn broken() -> Vec<Case> {
    let texts = [
        "",
        "null",
        "[]",
        "{\"batch\"",
        "{\"batch\":",
        "{\"batch\":{\"max_tokens\":512}",
        "{\"batch\":{\"max_tokens\":512}}}",
        "{\"batch\":{\"max_tokens\":512,}}",
        "{\"batch\":{\"max_tokens\":512 \"tail\":\"keep\"}}",
        "{\"batch\":{\"max_tokens\" 512}}",
        "{\"batch\":{\"max_tokens\":}}",
        "{\"batch\":{\"max_tokens\":0512}}",
        "{\"batch\":{\"max_tokens\":+512}}",
        "{\"batch\":{\"lengths\":[1,]}}",
        "{\"batch\":{\"lengths\":[1 2]}}",
        "{\"batch\":{\"lengths\":[1",
        "{\"batch\":{\"tail\":\"keep}}",
        "{\"batch\":{\"t\\u0061il\":\"keep\"}}",
        "{batch:{}}",
    ];
    let mut cases: Vec<Case> = texts.into_iter().map(case).collect();
    let deep = "{\"batch\":".repeat(1_000);
    cases.push(asked("deep", recipe(&deep, Some(&LENGTHS), None), look()));
    cases
}

/// Recipes without lengths, and the streams that use them.
fn streams() -> Vec<Case> {
    let mut cases = Vec::new();
    for (strategy, counting, members) in WHOLES {
        let text = format!("{{\"deal\":{{\"world_size\":2}},{}", &chosen(strategy, counting, members)[1..]);
        cases.push(asked(&format!("no lengths: {text}"), recipe(&text, None, None), look()));
        cases.push(asked(&format!("a stream: {text}"), stream(&text, None, 1), pushed()));
        cases.push(asked(&format!("a stream of no such rank: {text}"), stream(&text, None, 2), []));
    }
    for text in [
        batch("\"max_tokens\":512"),
        batch("\"max_tokens\":512,\"batch_window\":16777216"),
        batch("\"max_tokens\":512,\"batch_window\":16777217"),
        batch("\"max_tokens\":512,\"lengths\":[12,7,30]"),
        batch("\"strategy\":\"bucket\""),
        batch("\"strategy\":\"bucket\",\"boundaries\":[8]"),
        batch("\"strategy\":\"bucket\",\"quantiles\":8"),
        "{\"order\":{\"name\":\"sequential\"},\"batch\":{\"max_tokens\":512}}".into(),
        "{\"order\":{\"name\":\"python\"},\"batch\":{\"max_tokens\":512}}".into(),
        "{\"order\":{\"seed\":3},\"batch\":{\"max_tokens\":512}}".into(),
        "{\"order\":{\"samples\":3},\"batch\":{\"max_tokens\":512}}".into(),
        "{\"order\":{\"name\":\"dotnet\",\"seed\":2147483648},\"batch\":{\"max_tokens\":512}}".into(),
    ] {
        cases.push(asked(&format!("a stream: {text}"), stream(&text, None, 0), pushed()));
        cases.push(asked(&format!("no lengths: {text}"), recipe(&text, None, None), look()));
    }
    // A stream does not use the lengths of its recipe.
    let text = batch("\"strategy\":\"bucket\"");
    cases.push(asked("a stream of a recipe with lengths", stream(&text, Some(&LENGTHS), 0), pushed()));
    cases
}

fn stream(text: &str, lengths: Option<&[u32]>, rank: u32) -> Subject {
    let recipe = BatchRecipe { recipe: text.into(), lengths: lengths.map(<[u32]>::to_vec), lists: BTreeMap::new() };
    Subject::BatchStream(BatchStream { recipe, epoch: U64(0), rank })
}

fn pushed() -> Vec<Call> {
    vec![
        Call::Push { samples: numbers(&[0, 1, 2, 3, 4, 5]), lengths: vec![12, 7, 30, 1, 64, 0] },
        Call::Flush,
        Call::Take { steps: None },
        Call::Metrics,
    ]
}
