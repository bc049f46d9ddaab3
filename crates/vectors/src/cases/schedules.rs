//! Steps over epochs: stages of batch sizes, all layouts, composed orders, states, and every text that is refused.

use matrix::Engine;
use matrix::format::{Call, Case, Lists, Schedule, ScheduleCall, Subject, U64};
use matrix::native::Native;

use super::{MAX_COUNT, asked, count, numbers};

pub fn cases() -> Vec<Case> {
    [wholes(), bounded(), worlds(), large(), rare(), states(), refused()].concat()
}

fn subject(order: &str, deal: &str, steps: &str, rank: u32) -> Subject {
    let recipe = format!("{{\"order\":{order},\"deal\":{{{deal}}},\"steps\":{{{steps}}}}}");
    Subject::Schedule(Schedule { recipe, lists: Lists::new(), rank })
}

fn ask(call: ScheduleCall) -> Call {
    Call::Schedule(call)
}

fn indices(start: u64, count: u32) -> Call {
    ask(ScheduleCall::Indices { start: U64(start), count })
}

fn resume(state: &str) -> Call {
    ask(ScheduleCall::StepOfState { state: state.into() })
}

fn state_of(subject: &Subject, step: u64) -> String {
    let state = Native::create(subject).expect("a schedule").call(&ask(ScheduleCall::State { step: U64(step) }));
    state.ok().and_then(|state| state.as_str().map(String::from)).expect("a state")
}

/// The description of a schedule, and its answers about some steps, draws, positions and samples.
fn look(steps: &[u64]) -> Vec<Call> {
    let mut calls: Vec<Call> = [
        ScheduleCall::Recipe,
        ScheduleCall::RecipeFingerprint,
        ScheduleCall::Rank,
        ScheduleCall::WorldSize,
        ScheduleCall::DatasetSize,
        ScheduleCall::Seed,
        ScheduleCall::Order,
        ScheduleCall::Layout,
        ScheduleCall::Unit,
        ScheduleCall::NumSteps,
    ]
    .map(ask)
    .to_vec();
    for &step in steps {
        let step = U64(step);
        calls.extend(
            [
                ScheduleCall::GlobalBatchSize { step },
                ScheduleCall::SamplesConsumed { step },
                ScheduleCall::BeginOf { step },
                ScheduleCall::State { step },
                ScheduleCall::StepOfConsumed { samples_consumed: step },
                ScheduleCall::StepOf { epoch: step, position: U64(1) },
                ScheduleCall::Locate { sample: U64(2), step },
            ]
            .map(ask),
        );
        calls.push(indices(step.0, 1));
        for (first, count) in [(0, 1), (1, 1), (0, 4)] {
            calls.push(ask(ScheduleCall::Step { step, first, count }));
        }
    }
    calls
}

const ORDERS: [&str; 9] = [
    "{\"samples\":10,\"seed\":4}",
    "{\"name\":\"torch\",\"samples\":23,\"seed\":7}",
    "{\"name\":\"sequential\",\"samples\":1}",
    "{\"name\":\"sharded\",\"sizes\":[9,4,12],\"lanes\":2,\"shuffle_window\":3,\"seed\":1}",
    "{\"name\":\"blend\",\"seed\":3,\"samples\":14,\"sources\":[{\"name\":\"a\",\"samples\":20,\"weight\":3},{\"name\":\"b\",\"samples\":9}]}",
    "{\"name\":\"copies\",\"copies\":4,\"of\":{\"samples\":7,\"seed\":2}}",
    "{\"name\":\"grown\",\"samples\":9,\"growth\":[{\"epoch\":1,\"consumed\":4,\"samples\":15}],\"seed\":6}",
    "{\"name\":\"exclude\",\"indices\":[0,5],\"of\":{\"samples\":18,\"seed\":2}}",
    "{\"name\":\"balance\",\"classes\":[0,1,1,0,2],\"factors\":[1500000,400000,2000000],\"seed\":5}",
];
const STEPS: [&str; 4] = [
    "\"global_batch_size\":12",
    "\"global_batch_size\":4,\"stages\":[{\"from\":2,\"global_batch_size\":8},{\"from\":5,\"global_batch_size\":24}]",
    "\"global_batch_size\":24,\"stages\":[{\"from\":1,\"global_batch_size\":12}]",
    "\"global_batch_size\":48,\"stages\":[]",
];

/// Schedules of a limited number of epochs.
fn bounded() -> Vec<Case> {
    let mut cases = Vec::new();
    for (at, order) in ORDERS.into_iter().enumerate() {
        for epochs in [1, 2, 5] {
            let steps = format!("\"epochs\":{epochs},{}", STEPS[at % 3].replace("24", "8"));
            let here = subject(order, "\"world_size\":2", &steps, 1);
            let last = count(&here, &ask(ScheduleCall::NumSteps)).expect("a number");
            let mut calls = look(&[0, 1]);
            calls.extend([
                indices(0, last as u32),
                indices(0, last as u32 + 1),
                indices(last, 1),
                indices(last + 1, 0),
            ]);
            for epoch in 0..epochs + 1 {
                calls.push(ask(ScheduleCall::StepOf { epoch: U64(epoch), position: U64(0) }));
            }
            for sample in 0..4 {
                calls.push(ask(ScheduleCall::Locate { sample: U64(sample), step: U64(last.saturating_sub(1)) }));
            }
            let own = state_of(&here, last);
            let other = state_of(&subject(order, "", &steps.replace(&format!("\"epochs\":{epochs},"), ""), 0), last);
            calls.extend([ask(ScheduleCall::State { step: U64(last) }), resume(&own), resume(&other)]);
            let beyond = state_of(
                &subject(order, "", &steps.replace(&format!("\"epochs\":{epochs}"), "\"epochs\":9"), 0),
                last + 1,
            );
            calls.push(resume(&beyond));
            cases.push(asked(&format!("order {at}, {epochs} epochs"), here, calls));
        }
    }
    for epochs in
        ["0", "900719925474099", "900719925474100", "9007199254740992", "18446744073709551616", "-1", "1.5", "\"1\""]
    {
        let steps = format!("\"global_batch_size\":4,\"epochs\":{epochs}");
        cases.push(asked(&format!("epochs {epochs}"), subject(ORDERS[0], "", &steps, 0), look(&[])));
    }
    cases
}

fn wholes() -> Vec<Case> {
    let mut cases = Vec::new();
    for (at, order) in ORDERS.into_iter().enumerate() {
        for (number, steps) in STEPS.into_iter().enumerate() {
            let world = [1, 2, 4, 2][(at + number) % 4];
            let layout = ["strided", "rotated", "contiguous"][(at + number) % 3];
            let unit = if number == 1 && world == 4 { 1 } else { [1, 2][number % 2] };
            let deal = format!("\"world_size\":{world},\"layout\":\"{layout}\",\"unit\":{unit}");
            let mut calls = look(&[0, 1, 2, 3, 5, 6, 11, 40]);
            for rank in 0..world {
                calls.extend([ask(ScheduleCall::AtRank { rank }), indices(0, 9)]);
            }
            let name = format!("order {at}, {steps}, {world} ranks, {layout}, units of {unit}");
            cases.push(asked(&name, subject(order, &deal, steps, 0), calls));
        }
    }
    for (name, exhaustion) in [
        ("stop", "\"exhaustion\":\"stop\""),
        ("two passes", "\"exhaustion\":\"stop\",\"max_passes\":2"),
        ("fail", "\"exhaustion\":\"fail\",\"samples\":6"),
    ] {
        let order = format!(
            "{{\"name\":\"blend\",\"seed\":3,{exhaustion},\"sources\":[{{\"name\":\"a\",\"order\":{{\"name\":\"sequential\",\"samples\":4}}}},\
             {{\"name\":\"b\",\"samples\":10}}]}}"
        );
        for order in [
            order.clone(),
            format!("{{\"name\":\"skip\",\"ranges\":[{{\"epoch\":1,\"start\":2,\"count\":3}}],\"of\":{order}}}"),
        ] {
            let here = subject(&order, "\"world_size\":2", "\"global_batch_size\":4", 0);
            let last = count(&here, &ask(ScheduleCall::NumSteps)).expect("a number");
            let mut calls = vec![ask(ScheduleCall::NumSteps)];
            for sample in 0..14 {
                for step in [0, 3, last - 1, last] {
                    calls.push(ask(ScheduleCall::Locate { sample: U64(sample), step: U64(step) }));
                }
            }
            calls.extend([indices(last - 2, 2), ask(ScheduleCall::State { step: U64(last) })]);
            cases.push(asked(&format!("a blend that ends: {name}, {}", &order[9..14]), here, calls));
        }
    }
    cases.extend([end_of_search(), largest_batch()]);
    let lists: Lists = [("indices".to_string(), numbers(&[1, 4, 6]))].into();
    let recipe = "{\"order\":{\"name\":\"subset\",\"of\":{\"samples\":8}},\"steps\":{\"global_batch_size\":2}}".into();
    let lists = Subject::Schedule(Schedule { recipe, lists, rank: 0 });
    cases.push(asked("lists", lists, look(&[0, 1, 2, 3])));
    cases
}

/// Epoch e has sample e of each source, and no other sample. A search ends 4,096 epochs after the first one, because
/// the sources of a shared index space may never have a sample.
fn end_of_search() -> Case {
    let source = |name: &str| format!("{{\"name\":\"{name}\",\"order\":{{\"name\":\"sequential\",\"samples\":5000}}}}");
    let sources = [source("a"), source("b")].join(",");
    let order = format!("{{\"name\":\"blend\",\"index_space\":\"shared\",\"samples\":2,\"sources\":[{sources}]}}");
    let calls = [(4_096, 0), (4_097, 0), (4_097, 1), (4_099, 3), (4_100, 3)]
        .map(|(sample, step)| ask(ScheduleCall::Locate { sample: U64(sample), step: U64(step) }));
    asked("the end of a search for a sample", subject(&order, "", "\"global_batch_size\":2", 0), calls)
}

/// A batch with as many samples for each rank as a call may return, and one with one sample more. The larger batch
/// cannot be divided among the ranks, so that the answer stays short.
fn largest_batch() -> Case {
    let most = 3 * u64::from(MAX_COUNT);
    let steps = format!(
        "\"global_batch_size\":{},\"stages\":[{{\"from\":1,\"global_batch_size\":{}}},{{\"from\":2,\"global_batch_size\":3}}]",
        most + 1,
        most + 4
    );
    let calls = [indices(0, 1), indices(1, 1), indices(0, 2), indices(2, 1)];
    asked("as many samples as a call may give", subject("{\"samples\":40}", "\"world_size\":3", &steps, 0), calls)
}

/// The samples of a step are the same for any number of ranks.
fn worlds() -> Vec<Case> {
    let steps = "\"global_batch_size\":12,\"stages\":[{\"from\":3,\"global_batch_size\":60}]";
    [1, 2, 3, 4, 6, 12]
        .map(|world| {
            let deal = format!("\"world_size\":{world}");
            let mut calls = Vec::new();
            for rank in 0..world {
                calls.extend([ask(ScheduleCall::AtRank { rank }), indices(2, 2)]);
            }
            asked(&format!("{world} ranks"), subject("{\"samples\":40,\"seed\":12}", &deal, steps, 0), calls)
        })
        .to_vec()
}

/// Samples that come again only after many epochs: the search counts how often they were seen before an epoch.
fn rare() -> Vec<Case> {
    let mut cases = Vec::new();
    for more in ["\"samples\":3", "\"samples\":3,\"replacement\":false", "\"samples\":1000,\"seed\":2"] {
        let order = format!(
            "{{\"name\":\"weighted\",{more},\"weights\":[1,700000001,0,40000,900000000,3,250000,123456789,5000]}}"
        );
        let mut calls = Vec::new();
        for sample in [0, 2, 3, 5, 6, 8] {
            for step in [0, 1, 3_000, 1_000_000_007, 4_000_000_000_000] {
                calls.push(ask(ScheduleCall::Locate { sample: U64(sample), step: U64(step) }));
            }
        }
        cases.push(asked(
            &format!("rare samples, {more}"),
            subject(&order, "\"world_size\":2", "\"global_batch_size\":2", 0),
            calls,
        ));
    }
    cases
}

fn large() -> Vec<Case> {
    let most = (1_u64 << 53) - 1;
    let mut cases = Vec::new();
    for (samples, batch, world) in
        [(most, 1 << 22, 1024), (1_000_000_000, 1 << 22, 1024), (most / 2 + 1, 4096, 8), (3, 4_294_967_295, 1)]
    {
        let order = format!("{{\"samples\":{samples},\"seed\":1}}");
        let (deal, steps) = (format!("\"world_size\":{world}"), format!("\"global_batch_size\":{batch}"));
        let here = subject(&order, &deal, &steps, world - 1);
        let last = count(&here, &ask(ScheduleCall::NumSteps)).expect("a number");
        let mut calls = Vec::new();
        for step in [0, last / 2, last - 1, last, last + 1, u64::MAX] {
            let step = U64(step);
            calls.extend(
                [
                    ScheduleCall::GlobalBatchSize { step },
                    ScheduleCall::SamplesConsumed { step },
                    ScheduleCall::BeginOf { step },
                    ScheduleCall::State { step },
                    ScheduleCall::StepOfConsumed { samples_consumed: U64(step.0.saturating_mul(batch)) },
                    ScheduleCall::Locate { sample: U64(1), step },
                ]
                .map(ask),
            );
            if batch < 1 << 24 {
                calls.push(ask(ScheduleCall::Indices { start: step, count: 0 }));
            }
        }
        // With large batches, these steps have more samples than one call may return.
        let many = if batch > 4096 { 1 << 10 } else { 3 };
        calls.extend([indices(last, 1), indices(last + 1, 0), indices(0, many), indices(0, u32::MAX)]);
        for epoch in [0, 1, most / samples - 1, most / samples, u64::MAX] {
            for position in [0, samples - 1, samples] {
                calls.push(ask(ScheduleCall::StepOf { epoch: U64(epoch), position: U64(position) }));
            }
        }
        if world == 1024 {
            calls.retain(|call| !matches!(call, Call::Schedule(ScheduleCall::Indices { count: 1024, .. })));
        }
        cases.push(asked(&format!("{samples} samples, batches of {batch}, {world} ranks"), here, calls));
    }
    let stages: Vec<String> =
        (1..2_000_u64).map(|at| format!("{{\"from\":{},\"global_batch_size\":{}}}", at * at, at + 1)).collect();
    let steps = format!("\"global_batch_size\":1,\"stages\":[{}]", stages.join(","));
    cases.push(asked(
        "many stages",
        subject("{\"samples\":1000}", "", &steps, 0),
        look(&[0, 1, 3, 4, 1_000, 3_996_001, 4_000_000]),
    ));
    cases
}

fn states() -> Vec<Case> {
    let mut cases = Vec::new();
    let steps = "\"global_batch_size\":12,\"stages\":[{\"from\":3,\"global_batch_size\":24}]";
    let order = "{\"samples\":40,\"seed\":12}";
    let saved = subject(order, "\"world_size\":2", steps, 0);
    let [begin, early, late] = [0, 3, 5].map(|step| state_of(&saved, step));
    let others = [
        ("the same", order, "\"world_size\":2", steps),
        ("another world", order, "\"world_size\":3", steps),
        ("a world that the first stage does not fit", order, "\"world_size\":24", steps),
        ("another first size", order, "\"world_size\":2", "\"global_batch_size\":24"),
        (
            "another stage from step 3",
            order,
            "",
            "\"global_batch_size\":12,\"stages\":[{\"from\":3,\"global_batch_size\":36}]",
        ),
        (
            "another stage from step 2",
            order,
            "",
            "\"global_batch_size\":12,\"stages\":[{\"from\":2,\"global_batch_size\":24}]",
        ),
        ("no stage", order, "", "\"global_batch_size\":12"),
        (
            "a later stage",
            order,
            "",
            "\"global_batch_size\":12,\"stages\":[{\"from\":3,\"global_batch_size\":24},{\"from\":5,\"global_batch_size\":48}]",
        ),
        (
            "a stage within",
            order,
            "",
            "\"global_batch_size\":12,\"stages\":[{\"from\":3,\"global_batch_size\":24},{\"from\":4,\"global_batch_size\":48}]",
        ),
        ("another seed", "{\"samples\":40,\"seed\":13}", "", steps),
        ("another order", "{\"name\":\"sequential\",\"samples\":40,\"seed\":12}", "", steps),
        ("more samples", "{\"samples\":41,\"seed\":12}", "", steps),
        (
            "growth",
            "{\"name\":\"grown\",\"samples\":40,\"seed\":12,\"growth\":[{\"epoch\":2,\"consumed\":4,\"samples\":50}]}",
            "",
            steps,
        ),
        (
            "early growth",
            "{\"name\":\"grown\",\"samples\":40,\"seed\":12,\"growth\":[{\"epoch\":0,\"consumed\":4,\"samples\":50}]}",
            "",
            steps,
        ),
        ("units", order, "\"unit\":4,\"world_size\":3", steps),
    ];
    for (name, order, deal, steps) in others {
        let mut calls: Vec<Call> = [&begin, &early, &late].into_iter().map(|state| resume(state)).collect();
        calls.extend([indices(3, 1), indices(5, 2)]);
        cases.push(asked(&format!("states: {name}"), subject(order, deal, steps, 0), calls));
    }
    // Batch sizes 12, then 8 from step 3 on, then 9 from step 5 on. A state can be resumed if the world size divides
    // the batch sizes of its own stage and of all later stages. It need not divide those of earlier stages.
    let steps = "\"global_batch_size\":12,\"stages\":[{\"from\":3,\"global_batch_size\":8},{\"from\":5,\"global_batch_size\":9}]";
    let calls = || [0, 2, 3, 4, 5, 6].map(|step| resume(&state_of(&subject(order, "", steps, 0), step)));
    for world in [1, 3, 9, 4, 12] {
        let mut calls = calls().to_vec();
        for step in [0, 2, 3, 4, 5, 6] {
            calls.extend([indices(step, 0), indices(step, 2)]);
            calls.push(ask(ScheduleCall::Locate { sample: U64(7), step: U64(step) }));
        }
        let name = format!("states: another past, {world} ranks");
        cases.push(asked(&name, subject(order, &format!("\"world_size\":{world}"), steps, 0), calls));
    }
    let far = "\"global_batch_size\":4,\"stages\":[{\"from\":9007199254740990,\"global_batch_size\":5},{\"from\":9007199254740991,\"global_batch_size\":4}]";
    let last = count(&subject(order, "", far, 0), &ask(ScheduleCall::NumSteps)).expect("a number");
    let calls =
        [resume(&state_of(&subject(order, "", far, 0), last)), indices(last, 0), indices(last - 1, 1), indices(0, 1)];
    cases.push(asked(
        "states: the end, before a stage that does not fit",
        subject(order, "\"world_size\":2", far, 0),
        calls,
    ));
    let broken = [
        "".into(),
        "{}".into(),
        late.replace("\"step\":5", "\"step\":6"),
        late.replace("\"step\":5", "\"step\":4"),
        late.replace("\"step\":5", "\"step\":18446744073709551615"),
        late.replace("\"step\":5", "\"step\":-1"),
        late.replace("\"step\":5", "\"steps\":5"),
        late.replace(",\"step\":5", ""),
        late.replace("\"epoch\":2", "\"epoch\":1"),
        late.replace("\"kind\":\"schedule\"", "\"kind\":\"sampler\""),
        late.replace("\"global_batch_size\":12", "\"global_batch_size\":\"12\""),
        late.replace("\"steps\":{", "\"steps\":{\"more\":1,"),
        late.replace("{\"samedeal\":1", "{\"samedeal\":2"),
        late.replace("\"name\":\"feistel\",", ""),
        format!("{late} "),
        format!("{late}x"),
        state_of(&subject(ORDERS[4], "", "\"global_batch_size\":12", 0), 3),
    ];
    let mut calls: Vec<Call> = broken.iter().map(|state| resume(state)).collect();
    calls.push(indices(0, 1));
    cases.push(asked("texts that are no states", saved, calls));

    // A blend whose weights change after the state, and one whose weights change before it.
    let blend = |more: &str| ORDERS[4].replace("\"samples\":14,", &format!("\"samples\":14,{more}"));
    let saved = subject(&blend(""), "\"world_size\":2", "\"global_batch_size\":4", 0);
    let state = state_of(&saved, 5);
    let far = [("5", "14"), ("5", "15"), ("5", "9007199254740991"), ("700000000000000", "0")];
    let far = far.map(|(epoch, consumed)| {
        resume(&state.replace("\"epoch\":1,\"consumed\":6", &format!("\"epoch\":{epoch},\"consumed\":{consumed}")))
    });
    cases.push(asked("positions that an epoch has not", saved, far));
    for from in [19, 20, 21, 28] {
        let order = blend(&format!("\"stages\":[{{\"from\":{from},\"weights\":[1,1]}}],"));
        let calls = [resume(&state), indices(4, 6)];
        cases.push(asked(
            &format!("weights that change at {from}"),
            subject(&order, "\"world_size\":4", "\"global_batch_size\":4", 1),
            calls,
        ));
    }
    cases
}

fn refused() -> Vec<Case> {
    let order = "{\"samples\":40}";
    let mut cases = Vec::new();
    for recipe in [
        "",
        "{}",
        "{\"order\":{\"samples\":40}}",
        "{\"order\":{\"samples\":40},\"steps\":{}}",
        "{\"order\":{\"samples\":40},\"steps\":[]}",
        "{\"steps\":{\"global_batch_size\":4}}",
        "{\"order\":{},\"steps\":{\"global_batch_size\":4}}",
        "{\"order\":{\"samples\":0},\"steps\":{\"global_batch_size\":4}}",
        "{\"order\":{\"name\":\"exclude\",\"indices\":[0],\"of\":{\"samples\":1}},\"steps\":{\"global_batch_size\":4}}",
        "{\"order\":{\"samples\":4},\"steps\":{\"global_batch_size\":4},\"batch\":{}}",
        "{\"order\":{\"samples\":4},\"steps\":{\"global_batch_size\":4},\"split\":{}}",
        "{\"order\":{\"samples\":4},\"steps\":{\"global_batch_size\":4},\"shards\":{}}",
        "{\"order\":{\"samples\":4},\"steps\":{\"global_batch_size\":4},\"more\":{}}",
        "{\"samedeal\":2,\"order\":{\"samples\":4},\"steps\":{\"global_batch_size\":4}}",
    ] {
        let subject = Subject::Schedule(Schedule { recipe: recipe.into(), lists: Lists::new(), rank: 0 });
        cases.push(asked(&format!("refused: {recipe}"), subject, [ask(ScheduleCall::Recipe)]));
    }
    for (deal, steps) in [
        ("\"world_size\":0", "\"global_batch_size\":4"),
        ("\"world_size\":4294967296", "\"global_batch_size\":4"),
        ("\"world_size\":3", "\"global_batch_size\":4"),
        ("\"world_size\":2,\"unit\":4", "\"global_batch_size\":4"),
        ("\"unit\":3", "\"global_batch_size\":4"),
        ("\"unit\":0", "\"global_batch_size\":4"),
        ("\"remainder\":\"pad\"", "\"global_batch_size\":4"),
        ("\"layout\":\"other\"", "\"global_batch_size\":4"),
        ("\"workers\":2", "\"global_batch_size\":4"),
        ("", "\"global_batch_size\":0"),
        ("", "\"global_batch_size\":4294967296"),
        ("", "\"global_batch_size\":\"4\""),
        ("", "\"global_batch_size\":4,\"more\":1"),
        ("", "\"stages\":[]"),
        ("", "\"global_batch_size\":4,\"stages\":{}"),
        ("", "\"global_batch_size\":4,\"stages\":[{\"from\":0,\"global_batch_size\":4}]"),
        (
            "",
            "\"global_batch_size\":4,\"stages\":[{\"from\":3,\"global_batch_size\":4},{\"from\":3,\"global_batch_size\":8}]",
        ),
        ("", "\"global_batch_size\":4,\"stages\":[{\"from\":3}]"),
        ("", "\"global_batch_size\":4,\"stages\":[{\"global_batch_size\":3}]"),
        ("", "\"global_batch_size\":4,\"stages\":[{\"from\":3,\"global_batch_size\":0}]"),
        ("", "\"global_batch_size\":4,\"stages\":[{\"from\":3,\"global_batch_size\":4,\"more\":4}]"),
        ("", "\"global_batch_size\":4,\"stages\":[{\"from\":18446744073709551615,\"global_batch_size\":4}]"),
        ("", "\"global_batch_size\":4294967295,\"stages\":[{\"from\":9007199254740991,\"global_batch_size\":4}]"),
        ("\"world_size\":2", "\"global_batch_size\":4,\"stages\":[{\"from\":3,\"global_batch_size\":5}]"),
        ("\"world_size\":2", "\"global_batch_size\":5,\"stages\":[{\"from\":3,\"global_batch_size\":6}]"),
        (
            "\"world_size\":2",
            "\"global_batch_size\":4,\"stages\":[{\"from\":3,\"global_batch_size\":5},{\"from\":4,\"global_batch_size\":6}]",
        ),
    ] {
        let calls = [ask(ScheduleCall::Recipe), ask(ScheduleCall::NumSteps), indices(0, 1), indices(3, 1)];
        let past = ask(ScheduleCall::Locate { sample: U64(3), step: U64(0) });
        let calls = calls.into_iter().chain([past, ask(ScheduleCall::AtRank { rank: 7 })]);
        cases.push(asked(&format!("refused: {deal}; {steps}"), subject(order, deal, steps, 0), calls));
    }
    cases.push(asked("a rank that is not there", subject(order, "\"world_size\":2", "\"global_batch_size\":4", 2), []));
    cases
}
