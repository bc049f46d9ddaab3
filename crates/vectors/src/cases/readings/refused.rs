//! Refusals of a reading: options, calls, and texts that are no states of this reading.

use crate::cases::forms::ReadOptions;
use matrix::format::{Case, ReadCall, S64, U64};

use super::{MAX_COUNT, MAX_EXACT, Script, asked, by_samples, by_shards, chain, grouped, stored, subject};

/// Constructors that fail. Where several rules are broken, the first one decides.
pub fn options() -> Vec<Case> {
    let none = ReadOptions::default;
    let text = |text: &str| Some(String::from(text));
    let all = [
        ("no lanes", ReadOptions { lanes: Some(0), ..none() }),
        ("too many lanes", ReadOptions { lanes: Some(4_097), ..none() }),
        ("no window", ReadOptions { window: Some(0), ..none() }),
        ("too large a window", ReadOptions { window: Some(MAX_COUNT + 1), ..none() }),
        ("an unknown remainder", ReadOptions { remainder: text("keep"), ..none() }),
        ("an unknown remainder of samples as stored", ReadOptions { remainder: text("even"), ..stored() }),
        ("lanes without a shuffle", ReadOptions { lanes: Some(4), ..stored() }),
        ("a window without a shuffle", ReadOptions { window: Some(4), ..stored() }),
        ("lanes with shards", ReadOptions { lanes: Some(4), ..by_shards() }),
        ("a window with shards", ReadOptions { window: Some(4), ..by_shards() }),
        ("a remainder with shards", ReadOptions { remainder: text("drop"), ..by_shards() }),
        ("an unknown remainder with shards", ReadOptions { remainder: text("x"), ..by_shards() }),
        ("rows with samples", ReadOptions { shuffle_rows: Some(false), ..by_samples() }),
        ("reshuffle with samples", ReadOptions { reshuffle: Some(false), ..by_samples() }),
        ("a policy with samples", ReadOptions { policy: text("size-aware"), ..by_samples() }),
        ("a policy of workers with samples", ReadOptions { worker_policy: text("size-aware"), ..by_samples() }),
        ("a weight with samples", ReadOptions { weight: text("samples"), ..by_samples() }),
        ("bytes with samples", ReadOptions { bytes: Some(vec![U64(1); 3]), ..by_samples() }),
        ("no bytes with samples", ReadOptions { bytes: Some(vec![]), ..by_samples() }),
        ("several options with samples", ReadOptions { weight: text("x"), reshuffle: Some(true), ..by_samples() }),
        ("an unknown policy", ReadOptions { policy: text("locality-aware"), ..by_shards() }),
        ("an unknown policy of workers", ReadOptions { worker_policy: text("none"), ..by_shards() }),
        ("an unknown weight", ReadOptions { weight: text("rows"), ..by_shards() }),
        ("bytes that are missing", ReadOptions { weight: text("bytes"), ..by_shards() }),
        ("bytes without their weight", ReadOptions { bytes: Some(vec![U64(1); 3]), ..by_shards() }),
        ("too few bytes", ReadOptions { bytes: Some(vec![U64(1); 2]), weight: text("bytes"), ..by_shards() }),
        ("too many bytes", ReadOptions { bytes: Some(vec![U64(1); 4]), weight: text("bytes"), ..by_shards() }),
        (
            "bytes beyond the largest sum",
            ReadOptions { bytes: Some(vec![U64(MAX_EXACT), U64(0), U64(1)]), weight: text("bytes"), ..by_shards() },
        ),
        (
            "bytes whose sum is beyond 64 bits",
            ReadOptions { bytes: Some(vec![U64(u64::MAX); 3]), weight: text("bytes"), ..by_shards() },
        ),
        ("no ranks", ReadOptions { world_size: Some(0), ..none() }),
        ("too many ranks", ReadOptions { world_size: Some((1 << 22) + 1), ..none() }),
        ("no workers", ReadOptions { workers: Some(0), ..none() }),
        ("too many workers", ReadOptions { workers: Some((1 << 16) + 1), ..none() }),
        ("too many readers", ReadOptions { workers: Some(1 << 16), world_size: Some(65), ..none() }),
        ("the most of both", ReadOptions { workers: Some(u32::MAX), world_size: Some(u32::MAX), ..none() }),
        ("empty batches", ReadOptions { batch_size: Some(0), ..none() }),
        ("no ranks, with shards", ReadOptions { world_size: Some(0), ..by_shards() }),
        ("no workers, with shards", ReadOptions { workers: Some(0), ..by_shards() }),
        ("empty batches, with shards", ReadOptions { batch_size: Some(0), ..by_shards() }),
        ("no lanes, and no ranks", ReadOptions { world_size: Some(0), lanes: Some(0), ..none() }),
        ("an unknown remainder, and no lanes", ReadOptions { remainder: text("x"), lanes: Some(0), ..none() }),
    ];
    let mut cases: Vec<_> =
        all.into_iter().map(|(name, options)| asked(name, subject(&[4, 0, 9], &options), [])).collect();
    let padded = grouped(by_samples(), (4, 2, 1));
    cases.push(asked("padding beyond the largest sum", subject(&[MAX_EXACT], &padded), []));
    for (name, sizes) in [
        ("samples beyond the largest sum", vec![MAX_EXACT, 1]),
        ("samples whose sum is beyond 64 bits", vec![u64::MAX, u64::MAX]),
    ] {
        for options in [none(), stored(), by_shards()] {
            let kind = if options.of_shards { "shards" } else { "samples" };
            let order = if options.shuffle.unwrap_or(true) { "shuffled" } else { "stored" };
            cases.push(asked(&format!("{name}, {kind} {order}"), subject(&sizes, &options), []));
        }
    }
    cases
}

/// Calls that fail, with others between them that must still work.
pub fn calls() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, sizes, options) in [
        ("samples", vec![9, 8], by_samples()),
        ("stored samples", vec![9, 8], stored()),
        ("shards", vec![9, 8], by_shards()),
        ("samples of no shards", vec![], by_samples()),
        ("no shards", vec![], by_shards()),
    ] {
        let mut script = Script::new(&sizes, &grouped(options, (2, 3, 2)));
        script.ask([2, u32::MAX].map(|rank| ReadCall::NumSteps { rank }));
        for (rank, worker) in [(2, 0), (0, 3), (2, 3), (u32::MAX, u32::MAX)] {
            script.ask([
                ReadCall::NumSamples { rank, worker },
                ReadCall::NumPadding { rank, worker },
                ReadCall::Indices { rank, worker, start: U64(9), count: u32::MAX },
                ReadCall::NumRounds { rank, worker },
                ReadCall::Round { rank, worker, number: U64(u64::MAX) },
                ReadCall::RoundOf { rank, worker, index: U64(u64::MAX) },
                ReadCall::Shards { rank, worker },
            ]);
        }
        let (rank, worker) = (0, 0);
        let count = script.number(ReadCall::NumSamples { rank, worker });
        for (start, more) in [(0, count + 1), (count, 1), (count + 1, 0), (u64::MAX, 1), (0, MAX_COUNT as u64 + 1)] {
            script.ask([ReadCall::Indices { rank, worker, start: U64(start), count: more as u32 }]);
        }
        script.ask([ReadCall::Indices { rank, worker, start: U64(count), count: 0 }]);
        let rounds = script.number(ReadCall::NumRounds { rank, worker });
        script.ask([rounds, u64::MAX].map(|number| ReadCall::Round { rank, worker, number: U64(number) }));
        script.ask([count, u64::MAX].map(|index| ReadCall::RoundOf { rank, worker, index: U64(index) }));
        script.ask([ReadCall::Shards { rank, worker }, ReadCall::State { steps: U64(1 << 60) }]);
        script.ask([ReadCall::Resume { state: String::new() }, ReadCall::StepBounds, ReadCall::IsRest]);
        cases.push(script.case(&format!("calls that fail: {name}")));
    }
    let wide = ReadOptions { lanes: Some(64), window: Some(1 << 20), ..by_samples() };
    let mut script = Script::new(&[1 << 20; 4], &wide);
    script.ask([ReadCall::NumRounds { rank: 0, worker: 0 }, ReadCall::Round { rank: 0, worker: 0, number: U64(0) }]);
    cases.push(script.case("windows as wide as they may be"));
    cases
}

/// Texts that are no state of a reading. None of them changes anything.
pub fn states() -> Vec<Case> {
    [texts(), recipes(), histories()].concat()
}

const SIZES: [u64; 3] = [13, 5, 21];

fn texts() -> Vec<Case> {
    let group = (1, 3, 4);
    let mut script = Script::new(&SIZES, &by_samples());
    let long = [format!("{{\"history\":{}", "[".repeat(1 << 13)), "[".repeat(1 << 14), " ".repeat(100)];
    script.ask(long.map(|state| ReadCall::Resume { state }));
    script.ask([ReadCall::IsRest]);
    let mut cases = vec![script.case("long texts that are no state")];
    for (name, options) in [("samples", by_samples()), ("stored samples", stored()), ("shards", by_shards())] {
        let options = grouped(ReadOptions { seed: Some(S64(3)), ..options }, group);
        let state = chain(&SIZES, &options, 2, &[(group, 4)]);
        let with = |field: &str, other: &str| {
            let found = state.replacen(field, other, 1);
            assert_ne!(found, state, "{field}");
            found
        };
        let texts = [
            String::new(),
            "null".into(),
            "{}".into(),
            "[".repeat(200),
            format!("{{\"history\":{}", "[".repeat(200)),
            format!("{{\"recipe\":{}", "{\"recipe\":".repeat(200)),
            "\u{1F0A1}".repeat(70),
            format!("{state}}}"),
            format!("{state}\0"),
            state[..state.len() - 1].into(),
            with("\"samedeal\":1", "\"samedeal\":2"),
            with("\"samedeal\":1,", ""),
            with("\"reading\"", "\"sampler\""),
            with("\"reading\"", "\"plan\""),
            with("\"kind\":\"reading\",", ""),
            with("\"kind\"", "\"more\":1,\"kind\""),
            with("\"kind\"", "\"kind\":\"reading\",\"kind\""),
            with("\"recipe\"", "\"recipes\""),
            with("\"recipe\":", "\"recipe\":null,\"recipe\":"),
            with("\"recipe\":{", "\"recipe\":{},\"recipes\":{"),
            with("\"seed\":3", "\"seed\":3,\"seed\":3"),
            with("\"seed\":3", "\"seed\":3,\"more\":[]"),
            with("\"seed\":3,", ""),
            with("\"seed\":3", "\"seed\":3.0"),
            with("\"seed\":3", "\"seed\":03"),
            with("\"seed\":3", "\"seed\":\"3\""),
            with("\"seed\":3", "\"seed\":true"),
            with("\"seed\":3", "\"seed\":9223372036854775808"),
            with("\"seed\":3", "\"seed\":\"9223372036854775807\""),
            with("\"seed\":3", "\"seed\":9223372036854775807"),
            with("\"sizes\":", "\"x\":0,\"sizes\":"),
            with("\"epoch\":2", "\"epoch\":18446744073709551616"),
            with("\"epoch\":2", "\"epoch\":-1"),
            with("\"epoch\":2,", ""),
            with("\"samples\":39,", ""),
            with("\"samples\":39", "\"samples\":9007199254740992"),
            with("\"sizes\":[13,5,21]", "\"sizes\":[]"),
            with("\"sizes\":[13,5,21]", "\"sizes\":[13,5]"),
            with("\"sizes\":[13,5,21]", "\"sizes\":[13,5,21,0]"),
            with("\"sizes\":[13,5,21]", "\"sizes\":[13,5,-21]"),
            with("\"sizes\":[13,5,21]", "\"sizes\":[13,5,\"21\"]"),
            with("\"sizes\":[13,5,21]", "\"sizes\":\"ab\""),
            with("\"sizes\":[13,5,21]", "\"sizes\":[13,5,21],\"sizes\":[13,5,21]"),
            with(",\"sizes\":[13,5,21]", ""),
        ];
        let mut script = Script::new(&SIZES, &options);
        script.ask(texts.map(|state| ReadCall::Resume { state }));
        script.ask([ReadCall::IsRest, ReadCall::Epoch]);
        script.ask([ReadCall::Resume { state: state.clone() }, ReadCall::IsRest, ReadCall::StepBounds]);
        cases.push(script.case(&format!("texts that are no state: {name}")));
    }
    cases
}

/// States of other recipes: each recipe differs in one field.
fn recipes() -> Vec<Case> {
    let group = (2, 2, 2);
    let text = |text: &str| Some(String::from(text));
    let mut cases = Vec::new();
    let bytes =
        |bytes: [u64; 3]| ReadOptions { weight: text("bytes"), bytes: Some(bytes.map(U64).to_vec()), ..by_shards() };
    let kinds =
        [("samples", by_samples()), ("stored samples", stored()), ("shards", by_shards()), ("bytes", bytes([9, 4, 2]))];
    let others: Vec<(&[u64], ReadOptions)> = vec![
        (&SIZES, by_samples()),
        (&SIZES, stored()),
        (&SIZES, by_shards()),
        (&SIZES, ReadOptions { seed: Some(S64(-7)), ..by_samples() }),
        (&SIZES, ReadOptions { seed: Some(S64(8)), ..by_shards() }),
        (&SIZES, ReadOptions { lanes: Some(5), ..by_samples() }),
        (&SIZES, ReadOptions { window: Some(5), ..by_samples() }),
        (&SIZES, ReadOptions { shuffle: Some(false), seed: Some(S64(7)), ..ReadOptions::default() }),
        (&SIZES, ReadOptions { shuffle: Some(false), ..by_shards() }),
        (&SIZES, ReadOptions { shuffle_rows: Some(false), ..by_shards() }),
        (&SIZES, ReadOptions { reshuffle: Some(true), ..by_shards() }),
        (&SIZES, ReadOptions { policy: text("round-robin"), ..by_shards() }),
        (&SIZES, ReadOptions { worker_policy: text("round-robin"), ..by_shards() }),
        (&SIZES, bytes([9, 4, 2])),
        (&SIZES, bytes([9, 4, 1])),
        (&SIZES, ReadOptions { remainder: text("drop"), ..by_samples() }),
        (&SIZES, ReadOptions { drop_last: Some(true), ..by_shards() }),
        (&[13, 5, 20, 1], by_samples()),
        (&[13, 5, 22], by_samples()),
        (&[13, 6, 20], by_samples()),
        (&[13, 5, 22], by_shards()),
        (&[13, 6, 20], stored()),
        (&[], by_samples()),
    ];
    for (name, options) in kinds {
        let mut script = Script::new(&SIZES, &grouped(options, group));
        for (sizes, other) in &others {
            let steps = if sizes.is_empty() { 0 } else { 1 };
            script.ask([ReadCall::Resume { state: chain(sizes, other, 0, &[(group, steps)]) }, ReadCall::StepBounds]);
        }
        cases.push(script.case(&format!("states of other recipes: {name}")));
    }
    // Fields of another deal, put into a state of this one.
    for (name, options) in [("samples", by_samples()), ("stored samples", stored()), ("shards", by_shards())] {
        let options = grouped(options, group);
        let state = chain(&SIZES, &options, 0, &[(group, 1)]);
        let mut script = Script::new(&SIZES, &options);
        for field in [
            "\"lanes\":4",
            "\"shuffle_window\":4",
            "\"shuffle_rows\":true",
            "\"reshuffle\":false",
            "\"policy\":\"size-aware\"",
            "\"worker_policy\":\"size-aware\"",
            "\"balance_by\":\"samples\"",
            "\"bytes\":[1,2,3]",
            "\"bytes\":\"ab\"",
        ] {
            let there = format!("{field},");
            let other = if state.contains(&there) {
                state.replacen(&there, "", 1)
            } else {
                state.replacen("\"samples\":39", &format!("{field},\"samples\":39"), 1)
            };
            script.ask([ReadCall::Resume { state: other }]);
        }
        script.ask([ReadCall::IsRest]);
        cases.push(script.case(&format!("fields of another deal: {name}")));
    }
    cases
}

/// Histories, most of which no group can have.
fn histories() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, options) in [("samples", by_samples()), ("stored samples", stored()), ("shards", by_shards())] {
        let group = (2, 2, 2);
        let options = grouped(options, group);
        let state = chain(&SIZES, &options, 0, &[(group, 1)]);
        let start = state.find(",\"consumed\"").expect("a state");
        let with = |consumed: &str, history: &str| {
            format!("{},\"consumed\":{consumed},\"history\":{history}}}", &state[..start])
        };
        let segment = |world: u64, workers: u64, batch: u64, drop_last: bool, steps: u64| {
            format!(
                "{{\"world_size\":{world},\"workers\":{workers},\"batch_size\":{batch},\"drop_last\":{drop_last},\
                 \"steps\":{steps}}}"
            )
        };
        let one = |world, workers, batch, drop_last, steps| {
            with("0", &format!("[{}]", segment(world, workers, batch, drop_last, steps)))
        };
        let many = |count: usize| vec![segment(1, 2, 1, false, 1); count].join(",");
        // Two groups that take turns, so that no two adjacent segments can be joined.
        let turns = |count: usize| {
            let of = |at: usize| segment(1, 2 + at as u64 % 2, 1, false, 1);
            (0..count).map(of).collect::<Vec<_>>().join(",")
        };
        let large = 1 << 22;
        let texts = [
            one(0, 1, 1, false, 1),
            one(large + 1, 1, 1, false, 1),
            one(1, 0, 1, false, 1),
            one(1, (1 << 16) + 1, 1, false, 1),
            one(65, 1 << 16, 1, false, 1),
            one(1, 1, 0, false, 1),
            one(1, 1, 1, false, 0),
            one(1, 1, 1, false, 40),
            one(1, 1, 1, false, 39),
            one(2, 2, 2, true, 1),
            one(2, 2, 2, true, 2),
            one(3, 2, 2, false, 7),
            one(2, 2, 2, false, u64::MAX),
            one(large, 1, u32::MAX.into(), false, u64::MAX),
            one(1, 3, 13, true, u64::MAX),
            one(u32::MAX.into(), 1, 1, false, 1),
            one(1 << 32, 1, 1, false, 1),
            one(1, 1, 1 << 32, false, 1),
            one(large, 1, 1, false, 1),
            with("0", &format!("[{},{}]", segment(large, 1, 1, false, 1), segment(1, 1, 1, false, 1))),
            with("0", &format!("[{}]", many(65))),
            with("0", &format!("[{}]", many(64))),
            with("0", &format!("[{}]", turns(64))),
            with("0", &format!("[{}]", turns(12))),
            with("0", &format!("[{}]", many(3))),
            with("40", "[]"),
            with("39", "[]"),
            with("7", "[]"),
            with("39", &format!("[{}]", segment(1, 1, 1, false, 1))),
            with("36", &format!("[{}]", segment(1, 3, 2, false, 1))),
            with("18446744073709551615", "[]"),
            with("18446744073709551616", "[]"),
            with("-1", "[]"),
            with("0", "{}"),
            with("0", "[[]]"),
            with("0", "[{}]"),
            with("0", &format!("[{},]", segment(1, 1, 1, false, 1))),
            with("0", &format!("[{}]", segment(1, 1, 1, false, 1).replace("false", "0"))),
            with("0", &format!("[{}]", segment(1, 1, 1, false, 1).replace("\"steps\":1", "\"steps\":-1"))),
            with("0", &format!("[{}]", segment(1, 1, 1, false, 1).replace("{", "{\"rank\":0,"))),
        ];
        for (nth, text) in texts.into_iter().enumerate() {
            // Each text has a case of its own, because a text that is a valid state replaces the reading.
            let mut script = Script::new(&SIZES, &options);
            script.ask([ReadCall::Resume { state: text }, ReadCall::IsRest, ReadCall::StepBounds]);
            script.ask([ReadCall::NumSamples { rank: 1, worker: 0 }, ReadCall::State { steps: U64(0) }]);
            script.ask([ReadCall::State { steps: U64(1) }]);
            cases.push(script.case(&format!("a history, number {nth}: {name}")));
        }
    }
    cases.extend(segments());
    cases
}

/// The largest number of segments of a state, and one segment more.
fn segments() -> Vec<Case> {
    let sizes = [400, 300];
    let options = by_shards();
    let groups: Vec<_> = (0..64).map(|at| ((1, 2 + at % 2, 2), 1)).collect();
    let text = chain(&sizes, &options, 0, &groups);
    let mut script = Script::new(&sizes, &grouped(options, (1, 3, 2)));
    script.ask([ReadCall::Resume { state: text.clone() }, ReadCall::State { steps: U64(1) }]);
    script.ask([ReadCall::StepBounds]);
    vec![script.case("as many segments as a state has"), {
        let mut other = Script::new(&sizes, &grouped(by_shards(), (1, 1, 2)));
        other.ask([ReadCall::Resume { state: text }, ReadCall::StepBounds, ReadCall::State { steps: U64(0) }]);
        other.ask([ReadCall::State { steps: U64(1) }]);
        other.case("one segment more than a state has")
    }]
}
