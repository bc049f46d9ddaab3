//! Batches of composed orders, and of datasets in shards.

use matrix::Engine;
use matrix::format::{BatchRecipe, Batcher, Call, Case, Lists, Subject, U64};
use matrix::native::Native;

use super::sets::uniform;
use super::{asked, num_steps, state_after, state_of, take};

pub fn cases() -> Vec<Case> {
    [wholes(), states(), refused()].concat()
}

/// Orders, each with the number of samples in its dataset.
const ORDERS: [(&str, usize); 7] = [
    ("{\"name\":\"sharded\",\"sizes\":[40,30,20],\"lanes\":4,\"shuffle_window\":5,\"seed\":1}", 90),
    (
        "{\"name\":\"blend\",\"seed\":3,\"samples\":70,\"sources\":[{\"name\":\"a\",\"samples\":60,\"weight\":3},{\"name\":\"b\",\"samples\":9}]}",
        69,
    ),
    ("{\"name\":\"copies\",\"copies\":3,\"of\":{\"samples\":30,\"seed\":2}}", 30),
    ("{\"name\":\"grown\",\"samples\":50,\"growth\":[{\"epoch\":1,\"consumed\":20,\"samples\":80}],\"seed\":6}", 80),
    ("{\"name\":\"exclude\",\"indices\":[0,5,17,40],\"of\":{\"samples\":60,\"seed\":2}}", 60),
    ("{\"name\":\"balance\",\"classes\":[0,1,1,0,2,2,1,0,2,1],\"factors\":[1500000,400000,2000000],\"seed\":5}", 10),
    ("{\"name\":\"subset\",\"indices\":[],\"of\":{\"samples\":10}}", 10),
];

/// Strategies, some of them with a limit of 37 tokens and a treatment of longer samples.
const BATCHES: [&str; 9] = [
    "\"max_tokens\":120",
    "\"max_tokens\":120,\"keep_order\":true,\"counting\":\"unpadded\"",
    "\"strategy\":\"pack\",\"capacity\":64,\"max_batch_size\":2",
    "\"strategy\":\"pack\",\"capacity\":64,\"max_length\":37,\"too_long\":\"split\",\"tail\":\"keep\"",
    "\"strategy\":\"bucket\",\"max_batch_size\":4,\"tail\":\"duplicate\"",
    "\"strategy\":\"bucket\",\"quantiles\":3,\"max_batch_size\":4,\"max_length\":37,\"too_long\":\"truncate\",\"batch_window\":20",
    "\"strategy\":\"pad-to-max\",\"max_batch_size\":4,\"tail\":\"drop\"",
    "\"max_tokens\":90,\"max_length\":37,\"too_long\":\"drop\",\"batch_window\":16",
    "\"max_tokens\":90,\"max_length\":37,\"too_long\":\"single\",\"counting\":\"unpadded\"",
];

fn subject(order: &str, world: u32, batch: &str, samples: usize, epoch: u64) -> Subject {
    let recipe = format!("{{\"order\":{order},\"deal\":{{\"world_size\":{world}}},\"batch\":{{{batch}}}}}");
    let recipe = BatchRecipe { recipe, lengths: Some(uniform(samples, 7, 0, 60)), lists: Lists::new() };
    Subject::Batcher(Batcher { recipe, epoch: U64(epoch) })
}

fn locate(sample: u64) -> Call {
    Call::Locate { sample: U64(sample), batch_size: None }
}

fn wholes() -> Vec<Case> {
    let mut cases = Vec::new();
    for (at, (order, samples)) in ORDERS.into_iter().enumerate() {
        for (number, batch) in BATCHES.into_iter().enumerate() {
            let (world, epoch) = ([1, 2, 3][(at + number) % 3], [0, 1, 4][number % 3]);
            let here = subject(order, world, batch, samples, epoch);
            let steps = num_steps(&mut Native::create(&here).expect("a plan"));
            let mut calls = vec![Call::Metrics, take(0, 0, steps), take(world - 1, 0, steps), Call::Fingerprint];
            calls.extend([0, 5, samples as u64 / 2, samples as u64 - 1, samples as u64].map(locate));
            calls.extend([Call::AtEpoch { epoch: U64(epoch + 1) }, Call::Metrics, Call::Fingerprint, state_after(0)]);
            cases.push(asked(&format!("order {at}, {batch}, {world} ranks, epoch {epoch}"), here, calls));
        }
    }
    cases
}

/// States, and states of orders that were changed afterwards, such as the weights of a blend.
fn states() -> Vec<Case> {
    let mut cases = Vec::new();
    for (at, (order, samples)) in ORDERS.into_iter().take(6).enumerate() {
        let batch = BATCHES[(at * 2) % 9];
        let mut saved = Native::create(&subject(order, 2, batch, samples, 1)).expect("a plan");
        let taken = u64::from(num_steps(&mut saved) / 2);
        let text = saved.call(&state_after(taken)).expect("a state");
        for world in [2, 3] {
            let mut calls = vec![Call::Resume { state: text.as_str().expect("a text").into() }, Call::Metrics];
            calls.extend((0..world).map(|rank| take(rank, 0, 0)));
            calls.extend([Call::Fingerprint, locate(3), locate(7)]);
            let here = subject(order, world, batch, samples, 0);
            cases.push(asked(&format!("order {at} after {taken} steps, on {world} ranks"), here, calls));
        }
        let state = state_of(&[(3, 1), (1, 1)], |world| subject(order, world, batch, samples, 1));
        let calls = [Call::Resume { state }, Call::Metrics, Call::Fingerprint];
        cases.push(asked(&format!("order {at} with a history"), subject(order, 2, batch, samples, 1), calls));
    }
    let (blend, samples) = ORDERS[1];
    let later = |from: u64| {
        blend.replace("\"samples\":70,", &format!("\"samples\":70,\"stages\":[{{\"from\":{from},\"weights\":[1,1]}}],"))
    };
    let mut saved = Native::create(&subject(blend, 2, BATCHES[0], samples, 1)).expect("a plan");
    let states = [0, 1].map(|taken| saved.call(&state_after(taken)).expect("a state"));
    for from in [69, 70, 139, 140] {
        let mut calls = Vec::new();
        for state in &states {
            calls.extend([
                Call::Resume { state: state.as_str().expect("a text").into() },
                Call::Metrics,
                Call::Fingerprint,
            ]);
        }
        let here = subject(&later(from), 2, BATCHES[0], samples, 1);
        cases.push(asked(&format!("a blend whose weights change at {from}"), here, calls));
        // A state between two windows, and a state of epoch 2^64 - 1: neither this epoch nor the next one can be used.
        let between = states[0].as_str().expect("a text").replace("\"consumed\":0", "\"consumed\":16");
        let last = between.replace("\"epoch\":1", &format!("\"epoch\":\"{}\"", u64::MAX));
        let calls = [between, last].map(|state| Call::Resume { state }).into_iter().chain([Call::Consumed]);
        let here = subject(&later(from), 2, BATCHES[0], samples, 1);
        cases.push(asked(&format!("a blend whose weights change at {from}, between windows"), here, calls));
    }
    cases
}

fn refused() -> Vec<Case> {
    let recipe = |text: &str, lengths: Option<usize>, lists: &[(&str, &[u64])]| {
        let lists = lists.iter().map(|&(name, list)| (name.to_string(), super::super::numbers(list))).collect();
        let recipe = BatchRecipe { recipe: text.into(), lengths: lengths.map(|count| uniform(count, 7, 0, 60)), lists };
        Subject::BatchRecipe(recipe)
    };
    let copies = "\"name\":\"copies\",\"copies\":3,\"of\":{\"samples\":30,\"seed\":2}";
    let with = |order: &str| format!("{{\"order\":{{{order}}},\"batch\":{{\"max_tokens\":90}}}}");
    let mut cases = Vec::new();
    for (order, lengths) in [
        (copies, Some(30)),
        (copies, Some(31)),
        (copies, None),
        ("\"name\":\"copies\",\"copies\":3", Some(30)),
        ("\"name\":\"blend\"", Some(30)),
        ("\"name\":\"sharded\"", Some(30)),
        ("\"name\":\"sharded\",\"sizes\":[10,20]", Some(30)),
        ("\"name\":\"sharded\",\"sizes\":[10,20]", Some(29)),
        ("\"name\":\"sharded\",\"sizes\":[10,20],\"copies\":2", Some(30)),
        ("\"sizes\":[10,20]", Some(30)),
        ("\"copies\":2", Some(30)),
        ("\"copies\":2,\"of\":{}", Some(30)),
        ("\"classes\":[],\"copies\":2,\"ranges\":[],\"indices\":[1]", Some(30)),
        ("\"sources\":[],\"index_space\":\"shared\",\"run_length\":2,\"max_passes\":2", Some(30)),
        ("\"lanes\":2", Some(30)),
        ("\"name\":\"torch\",\"of\":{}", Some(30)),
        ("\"name\":\"other\"", Some(30)),
    ] {
        let text = with(order);
        cases.push(asked(
            &format!("{text}, lengths: {lengths:?}"),
            recipe(&text, lengths, &[]),
            [Call::Recipe, Call::RecipeFingerprint],
        ));
    }
    let subset = with("\"name\":\"subset\",\"of\":{\"samples\":30}");
    let bucket = "{\"order\":{\"name\":\"subset\",\"of\":{\"samples\":30}},\"batch\":{\"strategy\":\"bucket\"}}";
    let plain = with("\"name\":\"feistel\"");
    type Lists<'a> = &'a [(&'a str, &'a [u64])];
    let lists: [(&str, Lists); 8] = [
        (&subset, &[("indices", &[1, 2, 29])]),
        (&subset, &[("indices", &[1, 2, 30])]),
        (&subset, &[("of/indices", &[1])]),
        (&subset, &[("indices", &[1]), ("boundaries", &[8])]),
        (bucket, &[("boundaries", &[8, 16]), ("indices", &[1, 2])]),
        (&plain, &[("indices", &[1])]),
        (&plain, &[("sizes", &[30])]),
        (&plain, &[("lengths", &[30])]),
    ];
    for (text, lists) in lists {
        cases.push(asked(&format!("{text}, lists: {lists:?}"), recipe(text, Some(30), lists), [Call::Recipe]));
    }
    // Epochs that are too large. In the last two, the length of the blend times the epoch does not even fit into 64
    // bits.
    let blend = "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"samples\":20},{\"name\":\"b\",\"samples\":10}]}";
    for epoch in [1 << 53, 1 << 60, u64::MAX] {
        cases.push(asked(&format!("a blend in epoch {epoch}"), subject(blend, 1, BATCHES[0], 30, epoch), []));
    }
    for deal in ["\"unit\":2", "\"unit\":1"] {
        let text = format!("{{\"deal\":{{{deal}}},\"batch\":{{\"max_tokens\":90}}}}");
        cases.push(asked(&format!("refused: {deal}"), recipe(&text, Some(30), &[]), [Call::Recipe]));
    }
    cases
}
