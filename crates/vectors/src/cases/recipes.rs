//! Samplers by their recipes: every field, every default, and every text that is refused.

use std::collections::BTreeMap;

use matrix::Engine;
use matrix::format::{Call, Case, Lists, Made, Sampler, Subject, U64};
use matrix::native::Native;

use super::{asked, indices, numbers};

pub fn cases() -> Vec<Case> {
    [wholes(), defaults(), lists(), sizes_in_order(), refused(), of_batches(), broken()].concat()
}

fn subject(text: &str, lists: Lists) -> Subject {
    let made = Made { recipe: text.into(), lists, epoch: U64(0) };
    Subject::Sampler(Sampler { made, rank: 0 })
}

fn recipe(text: &str, sizes: Option<&[u64]>) -> Subject {
    let lists = sizes.map(|sizes| ("sizes".to_string(), numbers(sizes)));
    subject(text, BTreeMap::from_iter(lists))
}

/// The description of a sampler, and some of the samples that it deals.
fn look() -> Vec<Call> {
    vec![
        Call::Recipe,
        Call::RecipeFingerprint,
        Call::Epoch,
        Call::Rank,
        Call::Consumed,
        Call::DatasetSize,
        Call::Seed,
        Call::Order,
        Call::WorldSize,
        Call::Remainder,
        Call::Layout,
        Call::Sizes,
        Call::Lanes,
        Call::ShuffleWindow,
        Call::ConfigFingerprint,
        Call::NumSamples,
        indices(0, 2),
        Call::AtEpoch { epoch: U64(3) },
        Call::Recipe,
        Call::RecipeFingerprint,
        indices(0, 2),
    ]
}

fn case(text: &str) -> Case {
    asked(&format!("text: {text}"), recipe(text, None), look())
}

/// The canonical text of every order, remainder and layout.
fn wholes() -> Vec<Case> {
    let mut cases = Vec::new();
    let orders = ["feistel", "fisher-yates", "sequential", "torch", "torch-2.5", "python", "dotnet"];
    for (at, order) in orders.into_iter().enumerate() {
        let remainder = ["pad", "drop", "uneven"][at % 3];
        let layout = ["strided", "contiguous"][at % 2];
        cases.push(case(&format!(
            "{{\"samedeal\":1,\"order\":{{\"name\":\"{order}\",\"samples\":29,\"seed\":-5}},\
             \"deal\":{{\"world_size\":4,\"remainder\":\"{remainder}\",\"layout\":\"{layout}\"}}}}"
        )));
    }
    cases.push(case(
        "{\"samedeal\":1,\"order\":{\"name\":\"sharded\",\"samples\":39,\"seed\":7,\"lanes\":4,\"shuffle_window\":3,\"shards\":4,\
         \"sizes\":[13,0,5,21]},\"deal\":{\"world_size\":2,\"remainder\":\"drop\",\"layout\":\"strided\"}}",
    ));
    cases
}

/// Recipes that leave members out, whose defaults then hold.
fn defaults() -> Vec<Case> {
    [
        "{\"order\":{\"samples\":10}}",
        "{\"order\":{\"sizes\":[4,6]}}",
        "{\"order\":{\"name\":\"sharded\",\"sizes\":[4,6],\"lanes\":2}}",
        "{\"order\":{\"sizes\":[4,6],\"samples\":10,\"shards\":2,\"seed\":1}}",
        "{\"order\":{\"samples\":10},\"deal\":{}}",
        "{\"order\":{\"samples\":10},\"deal\":{\"world_size\":5}}",
        " {\n\t\"deal\" : { \"world_size\" : 5 } ,\r\n \"order\" : { \"seed\" : \"-9223372036854775808\" , \"samples\" : 10 } } \n",
        "{\"order\":{\"samples\":9007199254740991,\"seed\":\"9223372036854775807\"},\"samedeal\":1}",
        "{\"order\":{\"samples\":10,\"seed\":-9007199254740991}}",
        "{\"order\":{\"samples\":10,\"seed\":\"9007199254740992\"}}",
        "{\"order\":{\"samples\":10,\"seed\":\"-90071992547409\\u00393\"}}",
        "{\"order\":{\"samples\":10,\"name\":\"feistel\"},\"deal\":{\"remainder\":\"uneven\",\"layout\":\"contiguous\"}}",
    ]
    .into_iter()
    .map(case)
    .collect()
}

/// Lists that are not in the text, or are there as a hash.
fn lists() -> Vec<Case> {
    let many: Vec<u64> = (0..300).map(|shard| shard % 7).collect();
    let named = |text: &str, sizes: &[u64], name: &str| asked(name, recipe(text, Some(sizes)), look());
    let sharded = |more: &str| format!("{{\"order\":{{\"name\":\"sharded\",\"lanes\":4,\"shuffle_window\":8{more}}}}}");
    // For more than 256 shards, the canonical text has a hash in place of the sizes.
    let mut sampler = Native::create(&recipe(&sharded(""), Some(&many))).expect("a sampler");
    let canonical = sampler.call(&Call::Recipe).expect("a text").as_str().expect("a text").to_string();
    let lists = [("sizes".into(), numbers(&[3])), ("lengths".into(), numbers(&[3]))].into();
    let unknown = subject(&sharded(""), lists);
    vec![
        named(&sharded(""), &[3, 4], "sizes from a list"),
        named(&sharded(",\"sizes\":[3,4]"), &[3, 4], "sizes in the text and in a list"),
        named(&sharded(",\"sizes\":[3,4]"), &[4, 3], "other sizes in the text than in a list"),
        named(&sharded(""), &many, "300 shards from a list"),
        named(&canonical, &many, "300 shards by their hash"),
        named(&canonical, &many[1..], "a shard less than the hash is of"),
        named(&canonical, &[&many[1..], &[0]].concat(), "other shards than the hash is of"),
        asked("a hash without its list", recipe(&canonical, None), look()),
        named(&sharded(",\"sizes\":\"6d1a\""), &many, "no hash"),
        named("{\"order\":{\"samples\":7,\"name\":\"feistel\"}}", &[3, 4], "sizes for another order"),
        named("{\"order\":{\"samples\":7}}", &[3, 4], "a list does not make the order sharded"),
        named("{\"order\":{\"samples\":8,\"name\":\"sharded\"}}", &[3, 4], "other samples than the sizes have"),
        named(&sharded(",\"shards\":3"), &[3, 4], "other shards than the sizes have"),
        named(&sharded(""), &[1 << 53, 1], "more samples than there may be"),
        asked("a list of another name", unknown, look()),
    ]
}

/// The sizes of 256 shards are listed; those of 257 become a hash.
fn sizes_in_order() -> Vec<Case> {
    [256_u64, 257]
        .into_iter()
        .map(|count| {
            let sizes: Vec<u64> = (0..count).collect();
            asked(&format!("{count} shards"), recipe("{\"order\":{\"name\":\"sharded\"}}", Some(&sizes)), look())
        })
        .collect()
}

/// Fields that are refused.
fn refused() -> Vec<Case> {
    let order = |more: &str| format!("{{\"order\":{{\"samples\":10,{more}}}}}");
    let deal = |more: &str| format!("{{\"order\":{{\"samples\":10}},\"deal\":{{{more}}}}}");
    [
        "{}".into(),
        "{\"deal\":{}}".into(),
        "{\"order\":{}}".into(),
        "{\"order\":{\"name\":\"sharded\"}}".into(),
        "{\"order\":{\"name\":\"sharded\",\"samples\":4}}".into(),
        "{\"samedeal\":2,\"order\":{\"samples\":10}}".into(),
        "{\"samedeal\":\"1\",\"order\":{\"samples\":10}}".into(),
        "{\"order\":{\"samples\":10},\"order\":{\"samples\":10}}".into(),
        "{\"order\":[]}".into(),
        "{\"order\":\"feistel\"}".into(),
        order("\"samples\":11"),
        order("\"epoch\":0"),
        order("\"name\":\"shuffled\""),
        order("\"name\":7"),
        order("\"name\":null"),
        order("\"seed\":1.5"),
        order("\"seed\":9223372036854775808"),
        order("\"seed\":9223372036854775807"),
        order("\"seed\":9007199254740992"),
        order("\"seed\":-9007199254740992"),
        order("\"seed\":\"9223372036854775808\""),
        order("\"seed\":\"-9223372036854775809\""),
        order("\"seed\":\"9007199254740991\""),
        order("\"seed\":\"09007199254740993\""),
        order("\"seed\":\"9007199254740993.0\""),
        order("\"seed\":\" 9007199254740993\""),
        order("\"seed\":\"\""),
        order("\"seed\":1."),
        order("\"seed\":1.05"),
        order("\"seed\":1.0e0"),
        "{\"order\":{\"samples\":\"10\"}}".into(),
        "{\"order\":{\"samples\":\"9007199254740993\"}}".into(),
        "{\"order\":{\"samples\":\"18446744073709551616\"}}".into(),
        "{\"order\":{\"samples\":9007199254740992}}".into(),
        order("\"seed\":\"1\""),
        order("\"seed\":1e3"),
        order("\"seed\":3.0"),
        order("\"sizes\":[10,5.5]"),
        "{\"order\":{\"samples\":1e6}}".into(),
        order("\"seed\":true"),
        order("\"lanes\":4"),
        order("\"shuffle_window\":4"),
        order("\"shards\":1"),
        order("\"name\":\"feistel\",\"sizes\":[10]"),
        order("\"sizes\":[9]"),
        order("\"sizes\":[10,-1]"),
        order("\"sizes\":[10,\"0\"]"),
        order("\"sizes\":10"),
        order("\"sizes\":{}"),
        order("\"sizes\":[10],\"lanes\":0"),
        order("\"sizes\":[10],\"lanes\":65537"),
        order("\"sizes\":[10],\"lanes\":4294967296"),
        order("\"sizes\":[10],\"shuffle_window\":0"),
        order("\"sizes\":[10],\"shuffle_window\":1048577"),
        order("\"sizes\":[10],\"shards\":2"),
        order("\"name\":\"dotnet\",\"seed\":2147483648"),
        "{\"order\":{\"samples\":4294967296,\"name\":\"torch\"}}".into(),
        "{\"order\":{\"samples\":9007199254740992}}".into(),
        "{\"order\":{\"samples\":-1}}".into(),
        "{\"order\":{\"samples\":18446744073709551616}}".into(),
        "{\"order\":{\"samples\":9007199254740991},\"deal\":{\"world_size\":2}}".into(),
        deal("\"world_size\":0"),
        deal("\"world_size\":4294967296"),
        deal("\"world_size\":\"2\""),
        deal("\"world\":2"),
        deal("\"rank\":0"),
        deal("\"remainder\":\"wrap\""),
        deal("\"remainder\":0"),
        deal("\"layout\":\"random\""),
        deal("\"layout\":\"strided\",\"layout\":\"strided\""),
        // -0 is 0; in quotes it is no number.
        "{\"samedeal\":1,\"order\":{\"samples\":-0}}".into(),
        order("\"sizes\":[10,-0]"),
        order("\"sizes\":[10,-00]"),
        order("\"seed\":\"-0\""),
        deal("\"world_size\":-0"),
    ]
    .iter()
    .map(|text| case(text))
    .collect()
}

/// Recipes of batches, which a sampler refuses.
fn of_batches() -> Vec<Case> {
    [
        "{\"order\":{\"samples\":10},\"batch\":{}}",
        "{\"order\":{\"samples\":8},\"batch\":{\"max_tokens\":512}}",
        "{\"order\":{\"samples\":8},\"batch\":{\"tokens\":512}}",
        "{\"order\":{\"samples\":8},\"batch\":3}",
        "{\"order\":{\"samples\":8},\"batch\"",
        "{\"batch\":{\"max_tokens\":512}}",
        "{\"order\":{\"name\":\"x\"},\"batch\":{\"max_tokens\":512}}",
        "{\"order\":{\"name\":7},\"batch\":{\"max_tokens\":512}}",
        "{\"order\":{\"samples\":8,\"batch\":{}}}",
        "{\"order\":{\"samples\":8},\"deal\":{\"world_size\":0},\"batch\":{\"max_tokens\":512}}",
    ]
    .into_iter()
    .map(case)
    .collect()
}

/// Texts that are not a JSON object.
fn broken() -> Vec<Case> {
    let texts = [
        "",
        " ",
        "null",
        "[]",
        "7",
        "\"order\"",
        "{",
        "{\"order\"",
        "{\"order\":",
        "{\"order\":{\"samples\":10}",
        "{\"order\":{\"samples\":10}}}",
        "{\"order\":{\"samples\":10}} x",
        "{\"order\":{\"samples\":10},}",
        "{\"order\":{\"samples\":10,}}",
        "{\"order\":{\"samples\":10 \"seed\":1}}",
        "{\"order\":{\"samples\" 10}}",
        "{\"order\":{\"samples\":}}",
        "{\"order\":{\"samples\":010}}",
        "{\"order\":{\"samples\":+1}}",
        "{\"order\":{\"sizes\":[1,]}}",
        "{\"order\":{\"sizes\":[1 2]}}",
        "{\"order\":{\"sizes\":[[1]]}}",
        "{\"order\":{\"sizes\":[1",
        "{\"order\":{\"name\":\"feistel}}",
        "{\"order\":{\"n\\u0061me\":\"feistel\",\"samples\":1}}",
        "{order:{samples:10}}",
        "{'order':{'samples':10}}",
    ];
    let deep = ["{\"order\":".repeat(1_000), "[".repeat(2_000)];
    let mut cases: Vec<Case> = texts.into_iter().map(case).collect();
    for (at, text) in deep.iter().enumerate() {
        cases.push(asked(&format!("deep, {at}"), recipe(text, None), look()));
    }
    cases
}
