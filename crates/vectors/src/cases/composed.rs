//! Composed orders: each of them, nested ones, additions after a state, and every text that is refused.

use std::collections::BTreeMap;

use matrix::Engine;
use matrix::format::{Call, Case, Lists, Made, Sampler, Subject, U64};
use matrix::native::Native;

use super::{asked, count, indices, numbers};

pub fn cases() -> Vec<Case> {
    [
        wholes(),
        weighted(),
        blends(),
        blends_by_lane(),
        layouts(),
        lists(),
        large(),
        nested(),
        additions(),
        other_states(),
        refused(),
    ]
    .concat()
}

pub(super) fn subject(order: &str, deal: &str, lists: &[(&str, &[u64])], epoch: u64) -> Subject {
    let recipe = format!("{{\"order\":{order}{}{deal}}}", if deal.is_empty() { "" } else { ",\"deal\":" });
    let lists: Lists = BTreeMap::from_iter(lists.iter().map(|&(name, list)| (name.to_string(), numbers(list))));
    Subject::Sampler(Sampler { made: Made { recipe, lists, epoch: U64(epoch) }, rank: 0 })
}

/// The description of a sampler, all that it deals in a few epochs, and the places of some samples.
fn look(subject: &Subject) -> Vec<Call> {
    let mut calls = vec![
        Call::Recipe,
        Call::RecipeFingerprint,
        Call::DatasetSize,
        Call::Seed,
        Call::Order,
        Call::Layout,
        Call::Lanes,
        Call::ConfigFingerprint,
    ];
    let Subject::Sampler(Sampler { made, rank }) = subject else { return calls };
    for epoch in [made.epoch.0, made.epoch.0 + 1, 3] {
        let there = Subject::Sampler(Sampler { made: Made { epoch: U64(epoch), ..made.clone() }, rank: *rank });
        let own = count(&there, &Call::NumSamples).unwrap_or(0);
        let (length, samples) =
            (count(&there, &Call::EpochLength).unwrap_or(0), count(&there, &Call::DatasetSize).unwrap_or(0));
        calls.extend([
            Call::AtEpoch { epoch: U64(epoch) },
            Call::EpochLength,
            Call::NumSamples,
            Call::NumPadding,
            Call::NumDropped,
            indices(0, own.min(40) as u32),
            indices(own.saturating_sub(3), own.min(3) as u32),
            Call::Fingerprint,
            Call::SampleAt { position: U64(length / 2) },
        ]);
        for sample in [0, samples / 3, samples.saturating_sub(1), samples] {
            calls.push(Call::Locate { sample: U64(sample), batch_size: Some(4) });
            calls.push(Call::LocateFrom { sample: U64(sample), position: U64(length / 2), batch_size: 3 });
        }
        let taken = U64(own.min(1));
        calls.push(Call::Fate { sample: U64(samples / 3), batch_size: 3, taken });
        calls.push(Call::LocateAll { samples: numbers(&[samples / 3, 0]), batch_size: 3 });
        calls.push(Call::LocateFrom { sample: U64(0), position: U64(u64::MAX), batch_size: 3 });
    }
    calls.extend([
        Call::State { taken: Some(U64(1)), steps: None },
        Call::Rest { consumed: U64(2) },
        Call::NumSamples,
        indices(0, 1),
    ]);
    calls
}

fn sources(subject: &Subject) -> Vec<Call> {
    let length = count(subject, &Call::EpochLength).unwrap_or(0);
    let samples = count(subject, &Call::DatasetSize).unwrap_or(0);
    let mut calls = vec![Call::Sources, Call::SourceBounds];
    for (start, count) in [
        (0, length),
        (0, length / 2),
        (length / 3, length / 2 - length / 3),
        (length, 0),
        (length + 1, 0),
        (0, length + 1),
        (length, 1),
    ] {
        calls.push(Call::SourceCounts { start: U64(start), count: U64(count) });
    }
    for sample in [0, samples / 2, samples.saturating_sub(1), samples] {
        calls.push(Call::SourceOf { sample: U64(sample) });
    }
    calls
}

fn case(order: &str) -> Case {
    let made = subject(order, "", &[], 0);
    let calls = look(&made);
    asked(&format!("order: {order}"), made, calls)
}

fn blend(order: &str) -> Case {
    let made = subject(order, "", &[], 0);
    let calls = [look(&made), sources(&made)].concat();
    asked(&format!("order: {order}"), made, calls)
}

const FEISTEL: &str = "{\"name\":\"feistel\",\"samples\":300,\"seed\":-4}";
const SMALL: &str = "{\"name\":\"feistel\",\"samples\":23,\"seed\":9}";
const STORED: &str = "{\"name\":\"sharded\",\"sizes\":[9,0,31,14],\"lanes\":3,\"shuffle_window\":4,\"seed\":2}";

/// Each composed order with its members, alone and around other orders.
fn wholes() -> Vec<Case> {
    let mut orders = vec![
        "{\"name\":\"grown\",\"samples\":30}".to_string(),
        "{\"name\":\"grown\",\"samples\":0,\"seed\":5,\"growth\":[{\"epoch\":1,\"consumed\":0,\"samples\":7}]}".into(),
        "{\"name\":\"grown\",\"samples\":300,\"seed\":-1,\"growth\":[{\"epoch\":0,\"consumed\":300,\"samples\":310},\
         {\"epoch\":1,\"consumed\":4,\"samples\":320},{\"epoch\":1,\"consumed\":5,\"samples\":321},{\"epoch\":1,\"consumed\":321,\"samples\":600},\
         {\"epoch\":3,\"consumed\":0,\"samples\":601}]}"
            .into(),
        "{\"name\":\"windows\",\"sizes\":[10,3,0,25,4],\"length\":4,\"stride\":3,\"seed\":8}".into(),
        "{\"name\":\"windows\",\"sizes\":[10,3,0,25,4],\"length\":4}".into(),
        "{\"name\":\"windows\",\"sizes\":[900,3,700],\"length\":3,\"stride\":1}".into(),
        "{\"name\":\"windows\",\"sizes\":[3],\"length\":4}".into(),
        "{\"name\":\"balance\",\"classes\":[0,1,0,2,2,0,1,0,0,0],\"factors\":[500000,2500000,1000000],\"seed\":3}".into(),
        "{\"name\":\"balance\",\"classes\":[0,1,0,0],\"factors\":[0,4000000000]}".into(),
        "{\"name\":\"balance\",\"classes\":[],\"factors\":[]}".into(),
        "{\"name\":\"balance\",\"classes\":[1,1,1],\"factors\":[7,333333,9]}".into(),
        "{\"name\":\"balance\",\"samples\":7,\"classes\":[0,1,0,2,2,0,1,0,0,0],\"factors\":[5,25,0],\"seed\":3}".into(),
        "{\"name\":\"balance\",\"samples\":1,\"classes\":[0,1,1,2,2],\"factors\":[9007199254740000,1,300]}".into(),
        "{\"name\":\"balance\",\"samples\":0,\"classes\":[0],\"factors\":[3]}".into(),
        // Fewer positions than samples, all of different weights.
        format!(
            "{{\"name\":\"balance\",\"samples\":5,\"classes\":{:?},\"factors\":{:?},\"seed\":12}}",
            (0..100).collect::<Vec<u32>>(),
            (0..100).map(|class| 1 + 7 * class).collect::<Vec<u32>>()
        ),
        // Classes of one sample each.
        format!(
            "{{\"name\":\"balance\",\"classes\":{:?},\"factors\":{:?},\"seed\":11}}",
            (0..60).collect::<Vec<u32>>(),
            (0..60).map(|class| 250_000 + 7_001 * class).collect::<Vec<u32>>()
        ),
    ];
    for of in [
        FEISTEL,
        SMALL,
        STORED,
        "{\"name\":\"sequential\",\"samples\":23}",
        "{\"name\":\"torch\",\"samples\":40,\"seed\":1}",
    ] {
        for indices in
            ["[]", "[0]", "[1,2,3,5,8,13,21]", "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22]"]
        {
            orders.push(format!("{{\"name\":\"exclude\",\"of\":{of},\"indices\":{indices}}}"));
            orders.push(format!("{{\"name\":\"subset\",\"of\":{of},\"indices\":{indices}}}"));
        }
        orders.push(format!("{{\"name\":\"copies\",\"of\":{of},\"copies\":3}}"));
        orders.push(format!("{{\"name\":\"copies\",\"of\":{of},\"copies\":1}}"));
        orders.push(skip(of, ""));
        orders.push(format!(
            "{{\"name\":\"skip\",\"of\":{of},\"ranges\":[{{\"epoch\":0,\"start\":0,\"count\":4}},{{\"epoch\":0,\"start\":4,\"count\":0}},\
             {{\"epoch\":0,\"start\":9,\"count\":5}},{{\"epoch\":1,\"start\":20,\"count\":3}},{{\"epoch\":4,\"start\":1,\"count\":1}}]}}"
        ));
    }
    orders.iter().map(|order| case(order)).collect()
}

fn skip(of: &str, ranges: &str) -> String {
    format!("{{\"name\":\"skip\",\"of\":{of},\"ranges\":[{ranges}]}}")
}

fn weighted_order(more: &str, weights: &[u64]) -> String {
    format!("{{\"name\":\"weighted\"{more},\"weights\":{weights:?}}}")
}

/// The order `weighted`: few and many draws, weights of every kind, with and without replacement, alone and in other
/// orders.
fn weighted() -> Vec<Case> {
    let squares: Vec<u64> = (0..23).map(|at| at * at % 13).collect();
    let steep: Vec<u64> = (0..20).map(|at| 3_u64.pow(at)).collect();
    let mut orders = Vec::new();
    for (more, weights) in [
        ("", &[4, 1, 1, 2][..]),
        (",\"samples\":5,\"seed\":7", &[4, 1, 1, 2]),
        (",\"samples\":0", &[4, 1]),
        (",\"samples\":1,\"seed\":3", &[4, 1, 0, 2]),
        // Draws with one possible phase, with two, and with as many as there are draws.
        (",\"samples\":5", &[0, 1, 0]),
        (",\"samples\":3,\"seed\":-2", &[1, 1]),
        (",\"samples\":12", &[3, 3, 3, 3]),
        (",\"samples\":40", &squares),
        (",\"samples\":4,\"seed\":-9223372036854775808", &squares),
        (",\"samples\":7,\"seed\":9223372036854775807", &[5; 60]),
        (",\"samples\":30", &[9_007_199_254_740_000, 1, 300, 690]),
        (",\"samples\":6", &[9_007_199_254_740_991]),
        // Without replacement: no sample is certain to be drawn (also where a share is exactly one), some are, and all
        // but one are.
        (",\"samples\":5,\"seed\":2,\"replacement\":false", &squares),
        (",\"samples\":2,\"replacement\":false", &[4, 2, 2]),
        (",\"samples\":4,\"replacement\":false", &[3, 3, 3, 3]),
        (",\"samples\":2,\"seed\":7,\"replacement\":false", &[6, 1, 2, 1]),
        (",\"samples\":3,\"seed\":1,\"replacement\":false", &[1, 5, 1, 0, 5, 1]),
        (",\"samples\":18,\"seed\":4,\"replacement\":false", &squares),
        (",\"samples\":9,\"seed\":5,\"replacement\":false", &steep),
        (",\"seed\":6,\"replacement\":false", &steep),
        (",\"samples\":0,\"replacement\":false", &[3, 1]),
        (",\"samples\":3,\"replacement\":true", &[3, 1]),
    ] {
        orders.push(weighted_order(more, weights));
    }
    let own = weighted_order(",\"samples\":14,\"seed\":3", &squares);
    let once = weighted_order(",\"samples\":11,\"seed\":3,\"replacement\":false", &squares);
    for own in [&own, &once] {
        orders.push(format!("{{\"name\":\"copies\",\"of\":{own},\"copies\":2}}"));
        orders.push(skip(own, "{\"epoch\":0,\"start\":2,\"count\":6},{\"epoch\":1,\"start\":0,\"count\":9}"));
        // A view of weighted draws is refused: it would have another length in each epoch.
        orders.push(format!("{{\"name\":\"exclude\",\"of\":{own},\"indices\":[1]}}"));
    }
    let mut cases: Vec<Case> = orders.iter().map(|order| case(order)).collect();
    // Far epochs: the core counts how often a sample was seen before them without going through the epochs.
    let far = (1 << 53) / 14 - 9;
    for (order, epochs) in [
        (own.clone(), [1_000_000, far]),
        (once.clone(), [1_000_000, far]),
        (
            format!(
                "{{\"name\":\"blend\",\"samples\":20,\"sources\":[{},{},{},{}]}}",
                source("a", 3, &own),
                source("b", 2, &once),
                source("c", 1, "{\"name\":\"weighted\",\"samples\":1,\"weights\":[1,0,1000000007]}"),
                source("d", 1, SMALL)
            ),
            [100_000, 100_000_000_000_000],
        ),
    ] {
        for epoch in [&[0][..], &epochs].concat() {
            let made = subject(&order, "{\"world_size\":2,\"remainder\":\"uneven\"}", &[], epoch);
            let calls = if order.contains("blend") { [look(&made), sources(&made)].concat() } else { look(&made) };
            cases.push(asked(&format!("order: {order}, from epoch {epoch}"), made, calls));
        }
    }
    // More than 256 weights, for which the recipe has a hash. Then so many draws that 64 bits do not suffice.
    let many: Vec<u64> = (0..700).map(|at| at * 7_919 % 1_009 * (at % 3)).collect();
    for more in [",\"samples\":300,\"seed\":8", ",\"samples\":300,\"seed\":8,\"replacement\":false"] {
        let order = format!("{{\"name\":\"weighted\"{more}}}");
        let made = subject(&order, "", &[("weights", &many)], 5);
        let calls = look(&made);
        cases.push(asked(&format!("{order} with 700 weights"), made, calls));
    }
    let most = (1_u64 << 53) - 1;
    for (samples, weights) in [
        (most, vec![most - 9, 2, 1, 6]),
        (most - 6, vec![7, most - 16, 2, 0, 1]),
        (1 << 50, vec![1; 30]),
        (1 << 32, vec![most / 2, 12_345, most / 3]),
    ] {
        let order = weighted_order(&format!(",\"samples\":{samples},\"seed\":5"), &weights);
        let made = subject(&order, "{\"world_size\":1024,\"remainder\":\"uneven\"}", &[], 0);
        let own = count(&made, &Call::NumSamples).unwrap_or(0);
        let mut calls = vec![Call::Recipe, Call::EpochLength, indices(0, 20), indices(own.saturating_sub(9), 9)];
        for sample in (0..weights.len() as u64).filter(|&sample| weights[sample as usize] < 13_000 && samples > 1 << 50)
        {
            calls.push(Call::Locate { sample: U64(sample), batch_size: Some(7) });
            calls.push(Call::LocateFrom { sample: U64(sample), position: U64(samples / 2), batch_size: 7 });
        }
        calls.extend([Call::AtEpoch { epoch: U64(1) }, indices(0, 9), Call::AtEpoch { epoch: U64(u64::MAX) }]);
        cases.push(asked(&format!("order: {order}, at the end of whole numbers"), made, calls));
    }
    // One draw of many weights in the last epochs: the phases need all their bits.
    let fine: Vec<u64> = (0..200_u64).map(|at| (1 << 44) + at * 999_999_937).collect();
    let order = weighted_order(",\"samples\":1,\"seed\":9", &fine);
    for epoch in [most / 3, most / 2, most - 3] {
        let made = subject(&order, "", &[], epoch);
        let calls = look(&made);
        cases.push(asked(&format!("fine weights, from epoch {epoch}"), made, calls));
    }
    // States that are resumed by the same order and by changed orders.
    let changed = [
        own.clone(),
        once.clone(),
        own.replace(":14", ":15"),
        own.replace("\"seed\":3", "\"seed\":4"),
        own.replace("[0, 1", "[0, 2"),
        own.replace("}", ",\"replacement\":false}"),
        SMALL.to_string(),
    ];
    for order in &changed {
        cases.push(resumed(&own, 1, 6, order));
    }
    cases.push(resumed(&once, 2, 5, &once));
    let skipping = skip(&own, "{\"epoch\":1,\"start\":7,\"count\":3}");
    cases.push(resumed(&own, 1, 7, &skipping));
    cases.push(resumed(&own, 1, 8, &skipping));
    cases
}

fn source(name: &str, weight: u64, order: &str) -> String {
    format!("{{\"name\":\"{name}\",\"weight\":{weight},\"order\":{order}}}")
}

fn lanes(sizes: &str, lanes: u32, window: u32) -> String {
    format!("{{\"name\":\"sharded\",\"sizes\":[{sizes}],\"lanes\":{lanes},\"shuffle_window\":{window}}}")
}

/// `exclude` or `subset` of an order.
fn view(name: &str, of: &str, indices: &str) -> String {
    format!("{{\"name\":\"{name}\",\"of\":{of},\"indices\":[{indices}]}}")
}

/// A blend in which each lane follows the pattern on its own.
fn by_lane(name: &str, more: &str, sources: &[String]) -> String {
    format!("{{\"name\":\"{name}\",\"by_lane\":true{more},\"sources\":[{}]}}", sources.join(","))
}

fn blends_by_lane() -> Vec<Case> {
    let mut cases = Vec::new();
    let three = |count: u32| {
        [
            source("web", 70, &lanes("31,0,22,19", count, 5)),
            source("code", 20, &lanes("11,16", count, 4)),
            source("math", 10, &lanes("9", count, 200)),
        ]
    };
    for name in ["blend", "blend-exact"] {
        for more in [
            "",
            ",\"seed\":6",
            ",\"samples\":40",
            ",\"samples\":0",
            ",\"samples\":400,\"seed\":-9223372036854775808",
            ",\"run_length\":3",
            ",\"run_length\":2,\"samples\":64,\"stages\":[{\"from\":16,\"weights\":[1,1,1]},{\"from\":48,\"weights\":[0,0,5]},\
             {\"from\":72,\"weights\":[1,2,0]}]",
            ",\"samples\":60,\"stages\":[{\"from\":12,\"weights\":[0.25,0.5,0.25]},{\"from\":68,\"weights\":[0,0,5]},\
             {\"from\":72,\"weights\":[1,2,0]}]",
        ] {
            cases.push(blend(&by_lane(name, more, &three(4))));
        }
        let none = source("none", 0, &lanes("1", 5, 1));
        for (more, sources) in [
            ("", vec![source("a", 1, &lanes("23", 7, 3))]),
            (",\"samples\":35", vec![source("a", 9_007_199_254_740_991, &lanes("23", 7, 3))]),
            ("", vec![source("a", 3, &lanes("4,8,2,6,5,1", 1, 4)), source("b", 2, &lanes("7", 1, 2))]),
            ("", vec![none.clone(), source("a", 5, &lanes("5", 5, 1)), source("b", 8, &lanes("9,4", 5, 2))]),
            (
                ",\"samples\":30,\"index_space\":\"shared\"",
                vec![source("easy", 3, &lanes("8,13", 6, 2)), source("hard", 2, &lanes("8,13", 6, 3))],
            ),
            // Lanes of one source that are in different passes, far from each other.
            (",\"samples\":90", vec![source("a", 5, &lanes("4", 3, 1)), source("b", 3, &lanes("5", 3, 1))]),
        ] {
            cases.push(blend(&by_lane(name, more, &sources)));
        }
    }
    // Sources without some of their samples: as many lanes, of the samples that are left.
    let views = |second: &str| {
        let first = view("exclude", &lanes("31,0,22,19", 4, 5), "0,3,4,5,31,40,71");
        [source("web", 70, &first), source("code", 20, &lanes("11,16", 4, 4)), source("math", 10, second)]
    };
    for (more, second) in [
        ("", view("subset", &lanes("3,9", 4, 3), "2,4,5,6,11")),
        (",\"samples\":200", view("subset", &lanes("3,9", 4, 3), "0,1,2,3")),
        (",\"samples\":60,\"stages\":[{\"from\":12,\"weights\":[1,1,1]}]", {
            view("exclude", &view("subset", &lanes("3,9", 4, 3), "1,2,3,4,8,9,11"), "3,7")
        }),
    ] {
        cases.push(blend(&by_lane("blend", more, &views(&second))));
    }
    // Many lanes. In each lane, the blend stays within its bounds.
    let shares: Vec<String> =
        (0..12).map(|at| source(&format!("s{at}"), 100_000 >> at, &lanes("700,3,0,1650", 512, 8))).collect();
    cases.push(blend(&by_lane("blend", "", &shares)));
    cases
}

/// Blends of one source to many, with every `exhaustion`.
fn blends() -> Vec<Case> {
    let mut cases = Vec::new();
    let three = "{\"name\":\"web\",\"weight\":7,\"samples\":90},{\"name\":\"code\",\"weight\":3,\"samples\":11},{\"name\":\"Bücher\",\"samples\":4}";
    for name in ["blend", "blend-exact"] {
        for more in [
            "",
            ",\"seed\":6",
            ",\"samples\":40",
            ",\"samples\":0",
            ",\"exhaustion\":\"stop\"",
            ",\"exhaustion\":\"stop\",\"max_passes\":3",
            ",\"exhaustion\":\"fail\",\"samples\":36",
            ",\"exhaustion\":\"renormalize\"",
            ",\"exhaustion\":\"renormalize\",\"max_passes\":2,\"samples\":210",
            ",\"index_space\":\"shared\"",
            ",\"index_space\":\"shared\",\"exhaustion\":\"renormalize\"",
            ",\"run_length\":4",
            ",\"run_length\":3,\"exhaustion\":\"stop\",\"max_passes\":2",
            ",\"run_length\":16,\"exhaustion\":\"fail\",\"samples\":32",
            ",\"run_length\":5,\"samples\":60,\"stages\":[{\"from\":10,\"weights\":[1,1,1]},{\"from\":65,\"weights\":[0,0,5]},{\"from\":70,\"weights\":[1,2,0]}]",
            ",\"samples\":50,\"stages\":[{\"from\":10,\"weights\":[1,1,1]},{\"from\":60,\"weights\":[0,0,5]},{\"from\":61,\"weights\":[1,2,0]}]",
        ] {
            cases.push(blend(&format!("{{\"name\":\"{name}\"{more},\"sources\":[{three}]}}")));
        }
        let decimals = "{\"name\":\"web\",\"weight\":0.7,\"samples\":90},{\"name\":\"code\",\"weight\":3e-1,\"samples\":11},{\"name\":\"c\",\"samples\":4}";
        for more in [
            ",\"stages\":[{\"from\":9,\"weights\":[0.25,0.5,0.25]},{\"from\":30,\"weights\":[1,0.0,0.0]}]",
            ",\"stages\":[{\"from\":9,\"weights\":[1,2.5,1e-14]}]",
            ",\"stages\":[{\"from\":9,\"weights\":[1,2.5,1e-30]}]",
            ",\"stages\":[{\"from\":9,\"weights\":[1,2.5,-0.5]}]",
            ",\"stages\":[{\"from\":9,\"weights\":[1,2.5,true]}]",
            ",\"stages\":[{\"from\":9,\"weights\":[1,0.5]}]",
            ",\"stages\":[{\"from\":9,\"weights\":[0.0,0.0,0.0]}]",
            ",\"exhaustion\":\"stop\"",
        ] {
            cases.push(blend(&format!("{{\"name\":\"{name}\"{more},\"sources\":[{decimals}]}}")));
        }
        for sources in [
            source("a", 1, SMALL),
            source("a", 9_007_199_254_740_991, SMALL),
            [source("a", 1, SMALL), source("b", 0, FEISTEL)].join(","),
            [
                source("a", 5, SMALL),
                source("b", 5, FEISTEL),
                source("c", 5, STORED),
                source("d", 5, &SMALL.replace("seed\":9", "seed\":8")),
            ]
            .join(","),
            [
                source("a", 1, STORED),
                source("b", 2, "{\"name\":\"sharded\",\"sizes\":[40,2]}"),
                source("c", 4, "{\"samples\":5}"),
            ]
            .join(","),
            [source("none", 0, "{\"samples\":0}"), source("b", 2, SMALL)].join(","),
            (0..40_u64)
                .map(|at| source(&format!("s{at}"), (at * at) % 17 + 1, "{\"samples\":60}"))
                .collect::<Vec<_>>()
                .join(","),
            (0..30_u64)
                .map(|at| source(&format!("s{at}"), 1 << at.min(14), "{\"samples\":9}"))
                .collect::<Vec<_>>()
                .join(","),
        ] {
            cases.push(blend(&format!("{{\"name\":\"{name}\",\"samples\":70,\"seed\":-9,\"sources\":[{sources}]}}")));
            cases.push(blend(&format!("{{\"name\":\"{name}\",\"exhaustion\":\"stop\",\"sources\":[{sources}]}}")));
        }
    }
    // Sums of weights that need 128 bits.
    let wide = (1..20_u64).map(|at| source(&format!("s{at}"), (1 << (2 * at)) + at * 7, "{\"samples\":1000}"));
    cases.push(blend(&format!("{{\"name\":\"blend\",\"sources\":[{}]}}", wide.collect::<Vec<_>>().join(","))));
    cases
}

/// Layouts: which rank gets which position.
fn layouts() -> Vec<Case> {
    let two = [source("a", 1, SMALL), source("b", 1, FEISTEL)].join(",");
    let order = format!("{{\"name\":\"blend\",\"samples\":45,\"seed\":1,\"sources\":[{two}]}}");
    let mut cases = Vec::new();
    for order in [&*order, SMALL, "{\"name\":\"torch\",\"samples\":30}"] {
        for (world, remainder) in
            [(1, "pad"), (2, "pad"), (7, "pad"), (7, "drop"), (7, "uneven"), (50, "pad"), (50, "uneven"), (50, "drop")]
        {
            for layout in ["rotated", "strided"] {
                let deal = format!("{{\"world_size\":{world},\"remainder\":\"{remainder}\",\"layout\":\"{layout}\"}}");
                let made = subject(order, &deal, &[], 5);
                let mut calls = vec![Call::Layout, Call::NumPositions, Call::NumRounds];
                for rank in [0, 1, 6, world - 1] {
                    let Subject::Sampler(Sampler { made, .. }) = &made else { continue };
                    let there = Subject::Sampler(Sampler { made: made.clone(), rank });
                    let own = count(&there, &Call::NumSamples).unwrap_or(0) as u32;
                    calls.extend([
                        Call::AtRank { rank },
                        Call::NumSamples,
                        Call::NumPadding,
                        indices(0, own),
                        Call::Fingerprint,
                    ]);
                }
                for position in [0, 1, 20, 44, 50] {
                    calls.push(Call::PlaceOf { position: U64(position), batch_size: 2 });
                    calls.push(Call::Locate { sample: U64(position), batch_size: Some(2) });
                }
                calls.push(Call::State { taken: Some(U64(0)), steps: None });
                calls.push(Call::State { taken: Some(U64(1)), steps: None });
                calls.push(Call::Rest { consumed: U64(17) });
                calls.extend([Call::NumSamples, Call::NumPadding, indices(0, 0), Call::Fingerprint]);
                for position in [17, 18, 29, 45] {
                    calls.push(Call::PlaceOf { position: U64(position), batch_size: 2 });
                }
                cases.push(asked(&format!("world {world}, {remainder}, {layout} of {order}"), made, calls));
            }
        }
    }
    cases
}

/// Lists, each with its path in the recipe.
type Named<'a> = Vec<(&'a str, &'a [u64])>;

/// Lists that are passed beside the text, by their paths.
fn lists() -> Vec<Case> {
    let long: Vec<u64> = (0..300).map(|at| at * 2).collect();
    let sizes: Vec<u64> = (0..300).map(|at| at % 5).collect();
    let classes: Vec<u64> = (0..300).map(|at| at % 3).collect();
    let inner = "{\"name\":\"blend\",\"sources\":[{\"name\":\"web\",\"order\":{\"name\":\"exclude\",\"of\":{\"samples\":900}}},\
                 {\"name\":\"code\",\"weight\":2,\"order\":{\"name\":\"subset\",\"of\":{\"name\":\"sharded\"}}}]}";
    let all: [(&str, &[u64]); 3] =
        [("sources/web/indices", &long), ("sources/code/of/sizes", &sizes), ("sources/code/indices", &long[..50])];
    let made: [(&str, Named); 15] = [
        ("{\"name\":\"exclude\",\"of\":{\"samples\":900}}", vec![("indices", &long)]),
        ("{\"name\":\"subset\",\"of\":{\"name\":\"sharded\"}}", vec![("indices", &long[..9]), ("of/sizes", &sizes)]),
        ("{\"name\":\"windows\",\"length\":2}", vec![("sizes", &sizes)]),
        ("{\"name\":\"balance\",\"factors\":[1,2,3]}", vec![("classes", &classes)]),
        ("{\"name\":\"balance\"}", vec![("classes", &classes), ("factors", &[1, 2, 3_000_000])]),
        ("{\"name\":\"weighted\",\"samples\":9}", vec![("weights", &long)]),
        ("{\"name\":\"weighted\",\"weights\":[0,2,4]}", vec![("weights", &long[..3])]),
        ("{\"name\":\"weighted\",\"weights\":[0,2,5]}", vec![("weights", &long[..3])]),
        (inner, all.to_vec()),
        (inner, all[..2].to_vec()),
        (inner, [&all[..], &[("sizes", &[1])]].concat()),
        (inner, [&all[..], &[("sources/web/of/sizes", &[1])]].concat()),
        (inner, [&all[..], &[("sources/other/sizes", &[1])]].concat()),
        (inner, [&all[..], &[("sources/web/names", &[1])]].concat()),
        ("{\"name\":\"copies\",\"copies\":2,\"of\":{\"samples\":9}}", vec![("indices", &[1])]),
    ];
    let mut cases = Vec::new();
    for (order, lists) in made {
        let made = subject(order, "", &lists, 1);
        let mut calls = look(&made);
        // The recipe has hashes in place of long lists.
        let names = lists.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        calls.push(Call::Recipe);
        cases.push(asked(&format!("{order} with {names}"), made, calls));
    }
    cases
}

/// Samples and positions up to 2^53 - 1.
fn large() -> Vec<Case> {
    let most = (1_u64 << 53) - 1;
    let plain = |samples: u64| format!("{{\"samples\":{samples},\"seed\":3}}");
    let three =
        [source("a", 3, &plain(1_000_000_000)), source("b", 2, &plain(1_000_000_007)), source("c", 1, &plain(12))]
            .join(",");
    let apart = [
        source("a", 9_007_199_254_740_000, &lanes("900719925474,5", 64, 1000)),
        source("b", 991, &lanes("4096,70", 64, 256)),
    ];
    let even = [source("a", 3, &lanes("1000000000", 4096, 256)), source("b", 2, &lanes("1000000007", 4096, 512))];
    let orders = [
        by_lane("blend", ",\"samples\":9007199254740928", &apart),
        by_lane("blend", ",\"samples\":9007199254736896,\"run_length\":64", &even),
        format!("{{\"name\":\"blend\",\"samples\":{most},\"sources\":[{three}]}}"),
        format!("{{\"name\":\"blend-exact\",\"samples\":{most},\"sources\":[{three}]}}"),
        format!("{{\"name\":\"blend\",\"exhaustion\":\"renormalize\",\"max_passes\":1000,\"sources\":[{three}]}}"),
        format!(
            "{{\"name\":\"grown\",\"samples\":{},\"growth\":[{{\"epoch\":0,\"consumed\":{},\"samples\":{}}}]}}",
            1_u64 << 51,
            1_u64 << 50,
            1_u64 << 52
        ),
        format!("{{\"name\":\"copies\",\"copies\":4294967295,\"of\":{}}}", plain(1 << 21)),
        format!("{{\"name\":\"exclude\",\"indices\":[0,{}],\"of\":{}}}", most - 1, plain(most)),
        format!(
            "{{\"name\":\"skip\",\"ranges\":[{{\"epoch\":0,\"start\":5,\"count\":{}}}],\"of\":{}}}",
            most - 9,
            plain(most)
        ),
        format!("{{\"name\":\"windows\",\"length\":{},\"stride\":1,\"sizes\":[{most}]}}", 1_u64 << 52),
    ];
    let mut cases = Vec::new();
    for order in &orders {
        let made = subject(order, "{\"world_size\":1024,\"remainder\":\"uneven\"}", &[], 0);
        let length = count(&made, &Call::EpochLength).unwrap_or(0);
        let own = count(&made, &Call::NumSamples).unwrap_or(0);
        let mut calls =
            vec![Call::Recipe, Call::EpochLength, Call::DatasetSize, indices(0, 9), indices(own.saturating_sub(2), 2)];
        for position in [length / 3, length.saturating_sub(1)] {
            calls.push(Call::SampleAt { position: U64(position) });
        }
        for sample in [0, 7, 1_000_000_006, 2_000_000_018] {
            calls.push(Call::Locate { sample: U64(sample), batch_size: Some(7) });
            calls.push(Call::LocateFrom { sample: U64(sample), position: U64(length / 2), batch_size: 7 });
        }
        calls.extend([
            Call::SourceCounts { start: U64(length / 2), count: U64(length - length / 2) },
            Call::AtEpoch { epoch: U64(1) },
            indices(0, 4),
        ]);
        calls.push(Call::AtEpoch { epoch: U64(u64::MAX) });
        cases.push(asked(&format!("order: {order}, at the end of whole numbers"), made, calls));
    }
    cases
}

/// Pseudorandom numbers by Knuth's generator for MMIX. The generator is written out, so that the cases never change.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// A section `deal` with random members.
    fn deal(&mut self) -> String {
        let remainder = ["pad", "drop", "uneven"][self.below(3) as usize];
        let layout = ["", ",\"layout\":\"strided\"", ",\"layout\":\"rotated\"", ",\"layout\":\"contiguous\""];
        let (layout, unit) = (layout[self.below(4) as usize], [1, 1, 2, 3][self.below(4) as usize]);
        format!("{{\"world_size\":{},\"remainder\":\"{remainder}\"{layout},\"unit\":{unit}}}", self.below(6) + 1)
    }

    /// A random order, with other orders nested in it up to `depth` deep.
    fn order(&mut self, depth: u64) -> String {
        if depth == 0 || self.below(6) == 0 {
            return match self.below(5) {
                0 => format!("{{\"name\":\"feistel\",\"samples\":{},\"seed\":{}}}", self.below(500) + 1, self.below(9)),
                1 => format!("{{\"name\":\"sequential\",\"samples\":{}}}", self.below(30) + 1),
                2 => format!(
                    "{{\"name\":\"sharded\",\"sizes\":[{},{},{}],\"lanes\":{},\"shuffle_window\":{}}}",
                    self.below(50),
                    self.below(9),
                    self.below(20) + 1,
                    self.below(4) + 1,
                    self.below(7) + 1
                ),
                3 => format!(
                    "{{\"name\":\"windows\",\"sizes\":[{},{}],\"length\":{},\"stride\":{}}}",
                    self.below(50),
                    self.below(9) + 8,
                    self.below(8) + 1,
                    self.below(4) + 1
                ),
                _ => {
                    let (samples, consumed) = (self.below(300) + 2, self.below(3));
                    let more = samples + self.below(40) + 1;
                    format!(
                        "{{\"name\":\"grown\",\"samples\":{samples},\"growth\":[{{\"epoch\":{},\"consumed\":{consumed},\"samples\":{more}}}]}}",
                        self.below(3)
                    )
                }
            };
        }
        match self.below(6) {
            0 => format!("{{\"name\":\"copies\",\"copies\":{},\"of\":{}}}", self.below(4) + 1, self.order(depth - 1)),
            1 => format!(
                "{{\"name\":\"skip\",\"ranges\":[{{\"epoch\":{},\"start\":{},\"count\":{}}}],\"of\":{}}}",
                self.below(3),
                self.below(3),
                self.below(9),
                self.order(depth - 1)
            ),
            2 => format!(
                "{{\"name\":\"{}\",\"indices\":[{},{},{}],\"of\":{}}}",
                if self.below(2) == 0 { "exclude" } else { "subset" },
                self.below(3),
                self.below(4) + 3,
                self.below(4) + 7,
                self.order(depth - 1)
            ),
            _ => {
                let count = self.below(3) + 1;
                let sources = (0..count).map(|at| {
                    let weight = self.below(9) + u64::from(at == 0);
                    source(&format!("s{at}"), weight, &self.order(depth - 1))
                });
                let sources = sources.collect::<Vec<_>>().join(",");
                let name = ["blend", "blend-exact"][self.below(2) as usize];
                let how = match self.below(5) {
                    0 => ",\"exhaustion\":\"stop\"".into(),
                    1 => format!(",\"exhaustion\":\"renormalize\",\"max_passes\":{}", self.below(3) + 1),
                    2 => format!(",\"index_space\":\"shared\",\"samples\":{}", self.below(90)),
                    _ => format!(",\"samples\":{}", self.below(90) + 1),
                };
                format!("{{\"name\":\"{name}\",\"seed\":{}{how},\"sources\":[{sources}]}}", self.below(5))
            }
        }
    }
}

/// Nested orders, up to four deep.
fn nested() -> Vec<Case> {
    let mut numbers = Numbers(2026);
    let mut cases: Vec<Case> = Vec::new();
    while cases.len() < 150 {
        let order = numbers.order(4);
        let made = subject(&order, "", &[], 0);
        if order.len() > 120 && (Native::create(&made).is_ok() || numbers.below(8) == 0) {
            cases.push(case(&order));
        }
    }
    cases
}

/// `count` random orders, nested up to four deep, with random deals, and with states that other ranks resume. A seed
/// always gives the same cases.
pub fn random(count: usize, seed: u64) -> Vec<Case> {
    let mut numbers = Numbers(seed);
    let mut cases: Vec<Case> = Vec::new();
    while cases.len() < count {
        let order = numbers.order(4);
        let deal = numbers.deal();
        let made = subject(&order, &deal, &[], numbers.below(3));
        // Nine of ten orders that cannot be made are left out: they all fail alike.
        if Native::create(&made).is_err() && numbers.below(10) > 0 {
            continue;
        }
        let mut calls = look(&made);
        let (other, epoch, consumed) = (numbers.deal(), numbers.below(4), numbers.below(60));
        if let Some(state) = state_of(&subject(&order, &other, &[], epoch), consumed) {
            calls.extend([
                Call::Resume { state },
                Call::Epoch,
                Call::Consumed,
                Call::NumSamples,
                indices(0, 9),
                Call::Fingerprint,
            ]);
        }
        let name = format!("random {seed}, number {}: order: {order}, deal: {deal}", cases.len());
        cases.push(asked(&name, made, calls));
    }
    cases
}

/// The state after `consumed` positions; none if there are not so many.
fn state_of(subject: &Subject, consumed: u64) -> Option<String> {
    let mut engine = Native::create(subject).ok()?;
    engine.call(&Call::Rest { consumed: U64(consumed) }).ok()?;
    let state = engine.call(&Call::State { taken: Some(U64(0)), steps: None }).ok()?;
    state.as_str().map(String::from)
}

/// A case in which a state of the order `of` is resumed by another order, which may have additions.
fn resumed(of: &str, epoch: u64, consumed: u64, order: &str) -> Case {
    let state = state_of(&subject(of, "", &[], epoch), consumed).expect("a state");
    let calls = [
        Call::Resume { state },
        Call::Epoch,
        Call::Consumed,
        Call::EpochLength,
        Call::NumSamples,
        indices(0, 8),
        Call::State { taken: Some(U64(2)), steps: None },
    ];
    asked(
        &format!("{of} in epoch {epoch} at {consumed}, then {order}"),
        subject(order, "{\"world_size\":3}", &[], 0),
        calls,
    )
}

fn additions() -> Vec<Case> {
    let mut cases = Vec::new();
    let grown = |growth: &str| format!("{{\"name\":\"grown\",\"samples\":23,\"seed\":9,\"growth\":[{growth}]}}");
    let first = "{\"epoch\":1,\"consumed\":7,\"samples\":40}";
    let second = "{\"epoch\":1,\"consumed\":20,\"samples\":45}";
    for (epoch, consumed) in [(0, 9), (1, 0), (1, 7), (1, 8), (2, 0)] {
        cases.push(resumed(SMALL, epoch, consumed, &grown(first)));
        cases.push(resumed(&grown(first), epoch, consumed, &grown(&[first, second].join(","))));
    }
    for consumed in [19, 20, 21, 40] {
        cases.push(resumed(&grown(first), 1, consumed, &grown(&[first, second].join(","))));
    }
    cases.push(resumed(&grown(&[first, second].join(",")), 1, 2, &grown(first)));
    cases.push(resumed(&grown(first), 1, 2, &grown(second)));
    cases.push(resumed(&grown(first), 1, 2, &grown(first).replace(":9", ":8")));
    cases.push(resumed(SMALL, 1, 2, &grown(first).replace(":23", ":22")));

    let blend = |name: &str, stages: &str, more: &str| {
        let sources = [source("a", 3, SMALL), source("b", 2, FEISTEL)].join(",");
        format!("{{\"name\":\"{name}\",\"samples\":100,\"sources\":[{sources}{more}],\"stages\":[{stages}]}}")
    };
    let stage = "{\"from\":50,\"weights\":[1,1]}";
    let third = ",{\"name\":\"c\",\"weight\":0,\"samples\":10}";
    let before = blend("blend", stage, "");
    for order in [
        blend("blend", stage, ""),
        blend("blend", &format!("{stage},{{\"from\":120,\"weights\":[9,1]}}"), ""),
        blend("blend", &format!("{stage},{{\"from\":119,\"weights\":[9,1]}}"), ""),
        blend("blend", "{\"from\":50,\"weights\":[1,2]}", ""),
        blend("blend", "{\"from\":51,\"weights\":[1,1]}", ""),
        blend("blend", "", ""),
        blend("blend", "{\"from\":50,\"weights\":[1,1,0]},{\"from\":130,\"weights\":[9,1,5]}", third),
        blend("blend", "{\"from\":50,\"weights\":[1,1,1]}", third),
        blend("blend", "{\"from\":50,\"weights\":[1,1,0]}", ",{\"name\":\"c\",\"weight\":1,\"samples\":10}"),
        blend("blend-exact", stage, ""),
        blend("blend", stage, "").replace("\"a\"", "\"x\""),
        blend("blend", stage, "").replace("\"weight\":3", "\"weight\":4"),
        blend("blend", stage, "").replace(":100", ":101"),
        blend("blend", stage, "").replace("\"seed\":9", "\"seed\":8"),
        SMALL.to_string(),
        // A source that grows at a place that was not read yet, and at one that was. In the 120 positions before the
        // state, it made 61 draws.
        before.replace(SMALL, &grown("{\"epoch\":2,\"consumed\":15,\"samples\":40}")),
        before.replace(SMALL, &grown("{\"epoch\":2,\"consumed\":14,\"samples\":40}")),
        before.replace(SMALL, &grown("{\"epoch\":2,\"consumed\":16,\"samples\":40}")),
        before.replace(SMALL, &grown("{\"epoch\":3,\"consumed\":0,\"samples\":40}")),
    ] {
        cases.push(resumed(&before, 1, 20, &order));
    }
    // A blend with one source fewer than the state has.
    cases.push(resumed(&blend("blend", "", third), 1, 20, &blend("blend", "", "")));
    let apart = |stages: &str, more: &str| {
        let sources = [source("a", 3, &lanes("23,9", 4, 3)), source("b", 2, &lanes("31", 4, 5))].join(",");
        by_lane("blend", &format!(",\"samples\":40,\"stages\":[{stages}]"), &[sources + more])
    };
    let later = format!(",{}", source("c", 0, &lanes("6", 4, 2)));
    let (first_stage, before_apart) = ("{\"from\":20,\"weights\":[1,1]}", apart("", ""));
    for order in [
        apart(first_stage, ""),
        apart("{\"from\":56,\"weights\":[1,5]}", ""),
        apart("{\"from\":60,\"weights\":[1,5,2]}", &later),
        apart("{\"from\":56,\"weights\":[1,5,2]}", &later),
        before_apart.replace("\"by_lane\":true,", ""),
    ] {
        cases.push(resumed(&before_apart, 1, 18, &order));
    }
    cases.push(resumed(&before_apart.replace("\"by_lane\":true,", ""), 1, 18, &before_apart));
    // A skip in a view in lanes would be another order; around it, positions go on.
    let near = lanes("13,5,9", 4, 4);
    let skip = |of: &str, range: &str| format!("{{\"name\":\"skip\",\"of\":{of},\"ranges\":[{range}]}}");
    for name in ["exclude", "subset"] {
        let whole = view(name, &near, "0,3,7,8,9,11,14,17,19,25");
        let (inside, later) = (skip(&near, ""), "{\"epoch\":1,\"start\":8,\"count\":2}");
        cases.push(resumed(&whole, 1, 6, &view(name, &inside, "0,3,7,8,9,11,14,17,19,25")));
        cases.push(resumed(
            &view(name, &whole, "3,7,9"),
            1,
            2,
            &view(name, &view(name, &inside, "0,3,7,8,9,11,14,17,19,25"), "3,7,9"),
        ));
        cases.push(resumed(&whole, 1, 6, &skip(&whole, later)));
        cases.push(resumed(&view(name, &inside, "3,7"), 1, 1, &view(name, &skip(&near, later), "3,7")));
    }
    // Both copies of a position count as read when the first one is.
    let twice = |of: &str| format!("{{\"name\":\"copies\",\"copies\":2,\"of\":{of}}}");
    for start in [2, 3] {
        let later = format!("{{\"epoch\":1,\"start\":{start},\"count\":1}}");
        cases.push(resumed(&twice(SMALL), 1, 5, &twice(&skip(SMALL, &later))));
    }
    let range = |start: u64| format!("{{\"epoch\":2,\"start\":{start},\"count\":10}}");
    for start in [29, 30, 31, 200] {
        cases.push(resumed(FEISTEL, 2, 30, &skip(FEISTEL, &range(start))));
        cases.push(resumed(&skip(FEISTEL, &range(5)), 2, 20, &skip(FEISTEL, &[range(5), range(start)].join(","))));
        cases.push(resumed(&before, 1, 30, &skip(&before, &range(start).replace("\"epoch\":2", "\"epoch\":1"))));
    }
    let twice = |start: u64| skip(&skip(FEISTEL, &range(5)), &range(start));
    for start in [19, 20, 100] {
        cases.push(resumed(&skip(FEISTEL, &range(5)), 2, 20, &twice(start)));
        cases.push(resumed(FEISTEL, 2, 5, &twice(start)));
        cases.push(resumed(FEISTEL, 2, 6, &twice(start)));
        cases.push(resumed(&twice(20), 2, 30, &twice(start)));
        cases.push(resumed(&twice(20), 2, 30, &skip(&twice(20), &range(start + 10))));
    }
    cases.push(resumed(&skip(FEISTEL, &range(5)), 2, 20, FEISTEL));
    cases.push(resumed(&skip(FEISTEL, &range(5)), 2, 20, &skip(FEISTEL, &range(6))));
    cases.push(resumed(&skip(FEISTEL, &range(5)), 2, 20, &skip(FEISTEL, "")));
    let copies = |of: &str| format!("{{\"name\":\"copies\",\"copies\":4,\"of\":{of}}}");
    // Position 3 is the second copy of position 1 of the inner order. Its first copy was read, but it may still be
    // skipped.
    let two = |of: &str| format!("{{\"name\":\"copies\",\"copies\":2,\"of\":{of}}}");
    cases.push(resumed(&two(FEISTEL), 2, 3, &two(&skip(FEISTEL, &range(1)))));
    cases.push(resumed(&copies(SMALL), 1, 27, &copies(&grown(first))));
    cases.push(resumed(&copies(SMALL), 1, 28, &copies(&grown(first))));
    cases.push(resumed(&copies(SMALL), 1, 33, &copies(&grown(first))));
    let exclude = |list: &str| format!("{{\"name\":\"exclude\",\"indices\":{list},\"of\":{SMALL}}}");
    cases.push(resumed(&exclude("[3]"), 1, 4, &exclude("[3]")));
    cases.push(resumed(&exclude("[3]"), 1, 4, &exclude("[4]")));
    cases.push(resumed(&exclude("[3]"), 1, 4, &exclude("[3,4]")));
    cases
}

/// An order that is nested in `count` other orders.
fn in_one_another(count: usize) -> String {
    format!("{}{{\"samples\":3}}{}", "{\"name\":\"copies\",\"copies\":1,\"of\":".repeat(count), "}".repeat(count))
}

/// Texts that are no states, and states of other orders.
fn other_states() -> Vec<Case> {
    let order = "{\"name\":\"copies\",\"copies\":2,\"of\":{\"name\":\"feistel\",\"samples\":9,\"seed\":0}}";
    let state = |recipe: &str, more: &str| {
        format!(
            "{{\"samedeal\":1,\"kind\":\"sampler\",\"recipe\":{{\"order\":{recipe}}},\"epoch\":1,\"consumed\":4{more}}}"
        )
    };
    let texts = [
        state(order, ",\"positions\":18"),
        state(order, ""),
        state(order, ",\"positions\":3"),
        state(order, ",\"positions\":9007199254740992"),
        state(order, ",\"positions\":19"),
        state("{\"name\":\"feistel\",\"samples\":9,\"seed\":0}", ""),
        state("{\"name\":\"feistel\",\"samples\":9,\"seed\":0}", ",\"positions\":9"),
        state(&order.replace('9', "10"), ",\"positions\":18"),
        state(&order.replace("copies\":2", "copies\":3"), ",\"positions\":18"),
        state("{\"copies\":2}", ",\"positions\":18"),
        state("{\"name\":\"copies\",\"copies\":2,\"of\":{\"of\":{\"of\":{}}}}", ",\"positions\":18"),
        state("{\"name\":\"copies\",\"copies\":2,\"of\":{\"more\":1}}", ",\"positions\":18"),
        state("{\"name\":\"copies\",\"copies\":2}", ",\"positions\":18"),
        state("{\"name\":\"copies\",\"copies\":2,\"of\":{}}", ",\"positions\":18"),
        // The largest allowed depth of orders, and one level more.
        state(&in_one_another(22), ",\"positions\":18"),
        state(&in_one_another(23), ",\"positions\":18"),
        state("{\"name\":\"copies\",\"copies\":2,\"of\":{\"name\":\"feistel\",\"seed\":0}}", ",\"positions\":18"),
    ];
    let resumed = |name: &str, order: &str, texts: &[String]| {
        let calls = texts.iter().map(|state| Call::Resume { state: state.clone() });
        asked(name, subject(order, "", &[], 0), calls)
    };
    let mut cases = vec![resumed("states of another order, or of none", order, &texts)];
    // A missing order counts as an order without members. The same holds for an order that does not belong there.
    let source = |order: &str| format!("{{\"name\":\"a\",\"weight\":1{order}}}");
    let blend = |order: &str, more: &str| {
        format!(
            "{{\"name\":\"blend\",\"samples\":9,\"seed\":0,\"exhaustion\":\"repeat\",\"index_space\":\"joined\",\
             \"sources\":[{}],\"stages\":[]{more}}}",
            source(order)
        )
    };
    let own = ",\"order\":{\"name\":\"feistel\",\"samples\":9}";
    let texts = [
        blend(own, ""),
        blend("", ""),
        blend(",\"order\":{}", ""),
        blend(own, ",\"of\":{}"),
        blend(own, ",\"of\":{\"seed\":1,\"name\":\"feistel\"}"),
    ]
    .map(|recipe| state(&recipe, ",\"positions\":9"));
    cases.push(resumed("states without an order of a source", &blend(own, ""), &texts));
    let plain = "{\"name\":\"feistel\",\"samples\":9,\"seed\":0}";
    let texts = ["{}", "{\"of\":{}}", "{\"of\":{\"copies\":1}}"]
        .map(|of| state(&plain.replace('}', &format!(",\"of\":{of}}}")), ",\"positions\":9"));
    cases.push(resumed("states with an order that does not belong there", plain, &texts));
    // States that have consumed more positions than the epoch has.
    let subset = "{\"name\":\"subset\",\"of\":{\"name\":\"feistel\",\"samples\":9,\"seed\":0},\"indices\":[1,5]}";
    let texts = [2, 3, 9].map(|consumed| {
        state(subset, ",\"positions\":9").replace("\"consumed\":4", &format!("\"consumed\":{consumed}"))
    });
    cases.push(resumed("states beyond the end of the epoch", subset, &texts));
    // Orders without positions in any epoch. The last epoch number cannot be used all the same.
    for order in [
        "{\"name\":\"copies\",\"copies\":2,\"of\":{\"samples\":0}}",
        "{\"name\":\"subset\",\"of\":{\"samples\":0},\"indices\":[]}",
        "{\"name\":\"grown\",\"samples\":0}",
        "{\"samples\":0}",
    ] {
        let calls = [u64::MAX - 1, u64::MAX].map(|epoch| Call::AtEpoch { epoch: U64(epoch) });
        let calls = calls.into_iter().chain([Call::Epoch, Call::EpochLength]);
        cases.push(asked(&format!("no positions: {order}"), subject(order, "", &[], 0), calls));
    }
    cases
}

/// Every text that is refused as a composed order.
fn refused() -> Vec<Case> {
    let sources = "\"sources\":[{\"name\":\"a\",\"samples\":7}]";
    let of = "\"of\":{\"samples\":9}";
    let mut orders = vec![
        "{\"name\":\"blend\"}".to_string(),
        "{\"name\":\"blend\",\"sources\":[]}".into(),
        "{\"name\":\"blend\",\"sources\":{}}".into(),
        "{\"name\":\"blend\",\"sources\":[7]}".into(),
        "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"samples\":7,\"size\":3}]}".into(),
        "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"samples\":7,\"order\":{\"samples\":7}}]}".into(),
        "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\"}]}".into(),
        "{\"name\":\"blend\",\"sources\":[{\"name\":\"\",\"samples\":7}]}".into(),
        "{\"name\":\"blend\",\"sources\":[{\"samples\":7}]}".into(),
        "{\"name\":\"blend\",\"sources\":[{\"name\":\"a/b\",\"samples\":7}]}".into(),
        "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\\u002fb\",\"samples\":7}]}".into(),
        "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"samples\":7},{\"name\":\"a\",\"samples\":7}]}".into(),
        "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"samples\":7,\"weight\":0}]}".into(),
        "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"samples\":0}]}".into(),
        "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"samples\":9007199254740992}]}".into(),
        "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"samples\":7,\"weight\":9007199254740992}]}".into(),
        "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"samples\":9007199254740991},{\"name\":\"b\",\"samples\":1}]}".into(),
        "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"order\":{\"name\":\"torch\",\"samples\":4}}]}".into(),
        format!("{{\"name\":\"blend\",\"sources\":[{{\"name\":\"a\",\"order\":{{\"name\":\"blend\",{sources},\"exhaustion\":\"stop\"}}}}]}}"),
        "{\"name\":\"blend\",\"exhaustion\":\"stop\",\"sources\":[{\"name\":\"a\",\"order\":{\"name\":\"grown\",\"samples\":4,\"growth\":\
         [{\"epoch\":0,\"consumed\":1,\"samples\":5}]}}]}"
            .into(),
        "{\"name\":\"blend-exact\",\"sources\":[{\"name\":\"a\",\"samples\":7,\"weight\":1048576},{\"name\":\"b\",\"samples\":7}]}".into(),
        "{\"name\":\"blend-exact\",\"sources\":[{\"name\":\"a\",\"samples\":7,\"weight\":1048575},{\"name\":\"b\",\"samples\":7}],\"samples\":4}".into(),
        "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"order\":{\"samples\":7,\"seed\":1}},{\"name\":\"b\",\"samples\":7},\
         {\"name\":\"c\",\"order\":{\"samples\":7,\"seed\":1}},{\"name\":\"d\",\"order\":{\"samples\":7,\"seed\":1}}]}"
            .into(),
        "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"order\":{\"samples\":7,\"seed\":5}},{\"name\":\"b\",\"order\":{\"samples\":8,\"seed\":2}},\
         {\"name\":\"c\",\"order\":{\"samples\":8,\"seed\":2}},{\"name\":\"d\",\"order\":{\"samples\":7,\"seed\":5}}]}"
            .into(),
        "{\"name\":\"blend\",\"seed\":4,\"sources\":[{\"name\":\"a\",\"samples\":7},{\"name\":\"b\",\"order\":\
         {\"name\":\"blend-exact\",\"seed\":4,\"sources\":[{\"name\":\"c\",\"samples\":7},{\"name\":\"a\",\"samples\":7}]}}]}"
            .into(),
        "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"order\":{\"name\":\"exclude\",\"indices\":[3],\"of\":{\"samples\":7,\"seed\":1}}},\
         {\"name\":\"b\",\"order\":{\"name\":\"exclude\",\"indices\":[4],\"of\":{\"samples\":7,\"seed\":1}}},\
         {\"name\":\"c\",\"order\":{\"name\":\"exclude\",\"indices\":[3],\"of\":{\"samples\":7,\"seed\":1}}}]}"
            .into(),
        "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"order\":{\"name\":\"sequential\",\"samples\":7}},{\"name\":\"b\",\"order\":{\"name\":\"sequential\",\"samples\":7}},\
         {\"name\":\"c\",\"order\":{\"samples\":1,\"seed\":1}},{\"name\":\"d\",\"order\":{\"samples\":1,\"seed\":1}}]}"
            .into(),
        "{\"name\":\"grown\"}".into(),
        "{\"name\":\"grown\",\"samples\":9007199254740992}".into(),
        "{\"name\":\"grown\",\"samples\":9,\"growth\":[{\"epoch\":0,\"consumed\":1}]}".into(),
        "{\"name\":\"grown\",\"samples\":9,\"growth\":[{\"epoch\":0,\"consumed\":10,\"samples\":12}]}".into(),
        "{\"name\":\"grown\",\"samples\":9,\"growth\":[{\"epoch\":0,\"consumed\":1,\"samples\":9}]}".into(),
        "{\"name\":\"grown\",\"samples\":9,\"growth\":[{\"epoch\":0,\"consumed\":1,\"samples\":12},{\"epoch\":0,\"consumed\":1,\"samples\":13}]}".into(),
        "{\"name\":\"grown\",\"samples\":9,\"growth\":[{\"epoch\":2,\"consumed\":1,\"samples\":12},{\"epoch\":1,\"consumed\":1,\"samples\":13}]}".into(),
        "{\"name\":\"grown\",\"samples\":9,\"growth\":[{\"epoch\":2,\"consumed\":1,\"samples\":12,\"more\":1}]}".into(),
        format!("{{\"name\":\"exclude\",{of}}}"),
        "{\"name\":\"exclude\",\"indices\":[1]}".into(),
        format!("{{\"name\":\"exclude\",{of},\"indices\":[9]}}"),
        format!("{{\"name\":\"exclude\",{of},\"indices\":[3,3]}}"),
        format!("{{\"name\":\"subset\",{of},\"indices\":[4,3]}}"),
        format!("{{\"name\":\"subset\",{of},\"indices\":\"{}\"}}", "0".repeat(64)),
        format!("{{\"name\":\"exclude\",\"of\":{{\"name\":\"blend\",{sources}}},\"indices\":[3]}}"),
        format!("{{\"name\":\"subset\",\"of\":{{\"name\":\"copies\",\"copies\":2,{of}}},\"indices\":[3]}}"),
        "{\"name\":\"exclude\",\"of\":{\"samples\":0},\"indices\":[0]}".into(),
        format!("{{\"name\":\"skip\",{of},\"ranges\":[{{\"epoch\":0,\"start\":10,\"count\":0}}]}}"),
        format!("{{\"name\":\"skip\",{of},\"ranges\":[{{\"epoch\":0,\"start\":8,\"count\":2}}]}}"),
        format!("{{\"name\":\"skip\",{of},\"ranges\":[{{\"start\":8,\"count\":2}}]}}"),
        format!("{{\"name\":\"skip\",{of},\"ranges\":[{{\"epoch\":1,\"start\":3,\"count\":2}},{{\"epoch\":1,\"start\":4,\"count\":2}}]}}"),
        format!("{{\"name\":\"skip\",{of},\"ranges\":[{{\"epoch\":1,\"start\":3,\"count\":2}},{{\"epoch\":0,\"start\":8,\"count\":1}}]}}"),
        format!("{{\"name\":\"copies\",{of}}}"),
        format!("{{\"name\":\"copies\",{of},\"copies\":0}}"),
        format!("{{\"name\":\"copies\",{of},\"copies\":4294967296}}"),
        "{\"name\":\"copies\",\"copies\":2,\"of\":{\"samples\":9007199254740991}}".into(),
        "{\"name\":\"copies\",\"copies\":2,\"of\":{\"samples\":7,\"more\":1}}".into(),
        "{\"name\":\"copies\",\"copies\":2,\"of\":{\"name\":\"other\",\"samples\":7}}".into(),
        "{\"name\":\"copies\",\"copies\":2,\"of\":[1]}".into(),
        "{\"name\":\"windows\",\"length\":2}".into(),
        "{\"name\":\"windows\",\"sizes\":[4]}".into(),
        "{\"name\":\"windows\",\"sizes\":[4],\"length\":0}".into(),
        "{\"name\":\"windows\",\"sizes\":[4],\"length\":2,\"stride\":0}".into(),
        "{\"name\":\"windows\",\"sizes\":[9007199254740991,1],\"length\":2}".into(),
        "{\"name\":\"balance\",\"classes\":[0]}".into(),
        "{\"name\":\"balance\",\"factors\":[1]}".into(),
        "{\"name\":\"balance\",\"classes\":[0,2],\"factors\":[1,2]}".into(),
        "{\"name\":\"balance\",\"classes\":[0],\"factors\":[4294967296]}".into(),
        "{\"name\":\"balance\",\"classes\":[0],\"factors\":[]}".into(),
        "{\"name\":\"balance\",\"samples\":9007199254740992,\"classes\":[0]}".into(),
        "{\"name\":\"balance\",\"samples\":5,\"classes\":[],\"factors\":[]}".into(),
        "{\"name\":\"balance\",\"samples\":5,\"classes\":[0,0],\"factors\":[0,1]}".into(),
        "{\"name\":\"balance\",\"samples\":5,\"classes\":[0,0],\"factors\":[4503599627370496]}".into(),
        "{\"name\":\"balance\",\"samples\":5,\"classes\":[0,2],\"factors\":[4294967296,1]}".into(),
        "{\"name\":\"weighted\"}".into(),
        "{\"name\":\"weighted\",\"weights\":[]}".into(),
        "{\"name\":\"weighted\",\"weights\":[0,0]}".into(),
        "{\"name\":\"weighted\",\"weights\":[0.5,1]}".into(),
        "{\"name\":\"weighted\",\"weights\":[1,9007199254740992]}".into(),
        "{\"name\":\"weighted\",\"weights\":[1,9007199254740991]}".into(),
        "{\"name\":\"weighted\",\"samples\":9007199254740992,\"weights\":[1]}".into(),
        "{\"name\":\"weighted\",\"samples\":3,\"weights\":[1,0,5],\"replacement\":false}".into(),
        "{\"name\":\"weighted\",\"weights\":[1,0,5],\"replacement\":false}".into(),
        "{\"name\":\"weighted\",\"samples\":3,\"weights\":[0],\"replacement\":false}".into(),
        "{\"name\":\"weighted\",\"weights\":[1],\"replacement\":0}".into(),
        "{\"name\":\"balance\",\"classes\":[0],\"factors\":[1],\"weights\":[1]}".into(),
        "{\"name\":\"balance\",\"classes\":[0],\"factors\":[1],\"replacement\":true}".into(),
        in_one_another(20),
        in_one_another(22),
        in_one_another(23),
        in_one_another(2000),
    ];
    for more in [
        "\"samples\":7.5",
        "\"lanes\":3",
        "\"of\":{}",
        "\"max_passes\":2",
        "\"exhaustion\":\"never\"",
        "\"index_space\":\"other\"",
        "\"run_length\":0",
        "\"run_length\":1048577",
        "\"run_length\":2,\"exhaustion\":\"renormalize\"",
        "\"run_length\":2,\"samples\":3",
        "\"run_length\":2,\"exhaustion\":\"fail\",\"samples\":3",
        "\"run_length\":2,\"stages\":[{\"from\":5,\"weights\":[1]}]",
        "\"exhaustion\":\"stop\",\"max_passes\":0",
        "\"exhaustion\":\"stop\",\"samples\":3",
        "\"exhaustion\":\"fail\"",
        "\"exhaustion\":\"fail\",\"samples\":8",
        "\"exhaustion\":\"renormalize\",\"samples\":8",
        "\"exhaustion\":\"stop\",\"stages\":[{\"from\":2,\"weights\":[1]}]",
        "\"exhaustion\":\"stop\",\"max_passes\":9007199254740991",
        "\"samples\":9007199254740992",
        "\"stages\":[{\"from\":0,\"weights\":[1]}]",
        "\"stages\":[{\"from\":4,\"weights\":[1]},{\"from\":4,\"weights\":[1]}]",
        "\"stages\":[{\"weights\":[1]}]",
        "\"stages\":[{\"from\":4}]",
        "\"stages\":[{\"from\":4,\"weights\":[1,2]}]",
        "\"stages\":[{\"from\":4,\"weights\":[0]}]",
        "\"stages\":[{\"from\":9007199254740992,\"weights\":[1]}]",
        "\"stages\":[{\"from\":4,\"weights\":[1],\"more\":1}]",
    ] {
        orders.push(format!("{{\"name\":\"blend\",{sources},{more}}}"));
    }
    for (more, sources) in [
        ("", vec![source("a", 1, SMALL)]),
        ("", vec![source("a", 1, &lanes("9", 3, 1)), source("b", 1, &lanes("9", 4, 1))]),
        (
            "",
            vec![
                source("a", 1, &lanes("9", 3, 1)),
                source(
                    "b",
                    1,
                    "{\"name\":\"copies\",\"copies\":1,\"of\":{\"name\":\"sharded\",\"sizes\":[9],\"lanes\":3}}",
                ),
            ],
        ),
        ("", vec![source("a", 1, &lanes("9", 3, 1)), source("b", 1, &lanes("2", 3, 1))]),
        ("", vec![source("a", 1, &lanes("9", 3, 1)), source("b", 1, &lanes("", 3, 1))]),
        ("", vec![source("a", 1, &lanes("9", 3, 1)), source("b", 1, &view("subset", &lanes("9", 3, 1), "2,7"))]),
        ("", vec![source("a", 1, &lanes("9", 3, 1)), source("b", 1, &view("subset", SMALL, "2"))]),
        (
            "",
            vec![
                source("a", 1, &lanes("9", 3, 1)),
                source("b", 1, &view("exclude", &view("exclude", &lanes("9", 2, 1), "1"), "2")),
            ],
        ),
        (",\"samples\":10", vec![source("a", 1, &lanes("9", 3, 1))]),
        (",\"run_length\":2,\"samples\":9", vec![source("a", 1, &lanes("9", 3, 1))]),
        (",\"samples\":9,\"stages\":[{\"from\":4,\"weights\":[1]}]", vec![source("a", 1, &lanes("9", 3, 1))]),
        (
            ",\"samples\":9,\"stages\":[{\"from\":3,\"weights\":[1,1]}]",
            vec![source("a", 1, &lanes("9", 3, 1)), source("b", 0, &lanes("2", 3, 1))],
        ),
        (",\"exhaustion\":\"stop\"", vec![source("a", 1, &lanes("9", 3, 1))]),
        (",\"by_lane\":true", vec![source("a", 1, &lanes("9", 3, 1))]),
        ("", vec![]),
    ] {
        orders.push(by_lane("blend", more, &sources));
    }
    let inner = by_lane("blend", "", &[source("a", 1, &lanes("9", 3, 1))]);
    orders.push(format!("{{\"name\":\"blend\",\"sources\":[{}]}}", source("a", 1, &inner)));
    orders.push(format!("{{\"name\":\"exclude\",\"of\":{inner},\"indices\":[1]}}"));
    // -0 is 0.
    orders.push("{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"samples\":9,\"weight\":-0},{\"name\":\"b\",\"samples\":9}]}".into());
    for by_lane in ["false", "1", "\"true\""] {
        let sources = source("a", 1, SMALL);
        orders.push(format!("{{\"name\":\"blend\",\"by_lane\":{by_lane},\"sources\":[{sources}]}}"));
    }
    orders.push("{\"name\":\"feistel\",\"samples\":5,\"by_lane\":true}".into());
    for name in [
        "feistel", "torch", "sharded", "grown", "exclude", "subset", "skip", "copies", "windows", "balance", "weighted",
    ] {
        for more in [
            "\"sources\":[]",
            "\"copies\":3",
            "\"indices\":[1]",
            "\"growth\":[]",
            "\"length\":4",
            "\"classes\":[]",
            "\"lanes\":4",
        ] {
            orders.push(format!("{{\"name\":\"{name}\",{more}}}"));
        }
    }
    orders
        .iter()
        .map(|order| {
            asked(
                &format!("refused: {}", order.chars().take(300).collect::<String>()),
                subject(order, "", &[], 0),
                [Call::Recipe],
            )
        })
        .collect()
}
