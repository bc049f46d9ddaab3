//! States of samplers, taken at any place and resumed with any world size.

use crate::cases::forms::{Config, Native, Sharding, Subject};
use matrix::format::{Call, Case, S64, U64};

use super::{MAX_EXACT, asked, base};

const ORDERS: [&str; 7] = ["feistel", "sequential", "fisher-yates", "torch", "torch-2.5", "python", "dotnet"];

pub fn samplers() -> Vec<Case> {
    [parts(), moves(), shards(), edges(), refused()].concat()
}

/// Deals of the rest of an epoch.
fn parts() -> Vec<Case> {
    let mut cases = Vec::new();
    for (samples, consumed) in [(10, 0), (10, 3), (10, 10), (17, 8), (1, 1), (100, 99), (0, 0)] {
        for world in [1, 3, 8] {
            for remainder in ["drop", "pad", "uneven"] {
                for layout in ["strided", "contiguous"] {
                    let config = Config {
                        consumed: U64(consumed),
                        world,
                        rank: world / 2,
                        remainder: remainder.into(),
                        layout: layout.into(),
                        ..base(ORDERS[cases.len() % ORDERS.len()], samples)
                    };
                    let name = format!("{} {consumed} of {samples}, world {world} {remainder} {layout}", config.order);
                    cases.push(asked(&name, Subject::Config(config.clone()), whole(&config)));
                }
            }
        }
    }
    cases
}

/// All questions about a small sampler.
fn whole(config: &Config) -> Vec<Call> {
    let mut sampler = Native::create(&Subject::Config(config.clone())).expect("a sampler");
    let number = |call: &Call, sampler: &mut Native| -> u64 {
        sampler.call(call).expect("a number").as_str().and_then(|text| text.parse().ok()).expect("a number")
    };
    let (own, all) = (number(&Call::NumSamples, &mut sampler), number(&Call::NumPositions, &mut sampler));
    let consumed = config.consumed.0;
    let mut calls = vec![
        Call::Epoch,
        Call::Rank,
        Call::Consumed,
        Call::NumSamples,
        Call::NumPadding,
        Call::NumPositions,
        Call::NumDropped,
        Call::Indices { start: U64(0), count: own as u32 },
        Call::NumBatches { batch_size: 2, drop_last: false },
        Call::Fingerprint,
        Call::ConfigFingerprint,
    ];
    for sample in 0..config.samples.0.min(5) {
        calls.push(Call::Locate { sample: U64(sample), batch_size: Some(2) });
    }
    for position in [0, consumed.wrapping_sub(1), consumed, consumed + all - all.min(1), consumed + all] {
        calls.push(Call::SampleAt { position: U64(position) });
        calls.push(Call::PlaceOf { position: U64(position), batch_size: 2 });
    }
    for taken in [0, 1, own / 2, own, own + 1, u64::MAX] {
        calls.push(Call::State { taken: Some(U64(taken)), steps: None });
    }
    calls
}

/// States that are resumed with other world sizes, and then in the next epoch.
fn moves() -> Vec<Case> {
    let mut cases = Vec::new();
    for order in ORDERS {
        for (worlds, taken) in [([8, 6, 5, 1], [4, 3, 7]), ([2, 2, 3, 1], [1, 11, 2]), ([1, 4, 64, 2], [50, 5, 0])] {
            let seed = S64(11);
            let calls = [
                vec![Call::AtEpoch { epoch: U64(6) }],
                chain(&worlds, &taken, |world| Config { world, seed, ..base(order, 103) }),
                vec![
                    Call::Epoch,
                    Call::Rank,
                    Call::Consumed,
                    Call::NumSamples,
                    Call::Indices { start: U64(0), count: 5 },
                    Call::AtEpoch { epoch: U64(6) },
                    Call::NumSamples,
                    Call::AtRank { rank: 0 },
                    Call::Fingerprint,
                    Call::AtEpoch { epoch: U64(7) },
                    Call::Epoch,
                    Call::Rank,
                    Call::Consumed,
                    Call::NumSamples,
                    Call::Fingerprint,
                ],
            ]
            .concat();
            let config = Config { world: worlds[3], rank: worlds[3] - 1, seed, epoch: U64(6), ..base(order, 103) };
            cases.push(asked(&format!("{order} through worlds {worlds:?}"), Subject::Config(config), calls));
        }
    }
    cases
}

/// Takes a state with each of the first world sizes, and resumes it with the next one. Returns the call that resumes
/// the last state.
fn chain(worlds: &[u32; 4], taken: &[u64; 3], config: impl Fn(u32) -> Config) -> Vec<Call> {
    let mut state: Option<String> = None;
    for (&world, &taken) in worlds.iter().zip(taken) {
        let mut sampler =
            Native::create(&Subject::Config(Config { epoch: U64(6), ..config(world) })).expect("a sampler");
        if let Some(state) = state {
            sampler.call(&Call::Resume { state }).expect("a state of this sampler");
        }
        let text = sampler.call(&Call::State { taken: Some(U64(taken)), steps: None }).expect("a state");
        state = text.as_str().map(String::from);
    }
    vec![Call::Resume { state: state.expect("a state") }]
}

fn shards() -> Vec<Case> {
    let sizes: Vec<U64> = [40, 7, 0, 60, 21].map(U64).to_vec();
    let sharded = |world, rank, consumed, lanes| Subject::Sharded {
        config: Config { world, rank, consumed: U64(consumed), seed: S64(5), ..base("sharded", 128) },
        sharding: Sharding { sizes: sizes.clone(), lanes, window: 4 },
    };
    let mut cases = Vec::new();
    for (world, rank, consumed) in [(1, 0, 36), (4, 3, 36), (3, 1, 64), (8, 0, 127), (2, 1, 128), (2, 0, 1)] {
        let mut sampler = Native::create(&sharded(world, rank, consumed, 8)).expect("a sampler");
        let rounds = sampler.call(&Call::NumRounds).expect("a number");
        let rounds: u64 = rounds.as_str().and_then(|text| text.parse().ok()).expect("a number");
        let mut calls = vec![
            Call::NumSamples,
            Call::NumRounds,
            Call::State { taken: Some(U64(1)), steps: None },
            Call::ConfigFingerprint,
        ];
        calls.extend((0..=rounds).map(|number| Call::Round { number: U64(number) }));
        calls.extend([Call::Fingerprint, Call::AtEpoch { epoch: U64(1) }, Call::NumRounds]);
        cases.push(asked(
            &format!("sharded, {consumed} consumed, rank {rank} of {world}"),
            sharded(world, rank, consumed, 8),
            calls,
        ));
    }
    // Nothing is left to deal: there is no round, or only the round in the middle of which `consumed` lies.
    for (samples, world, consumed) in [(128, 8, 127), (128, 8, 128), (99, 4, 96), (98, 8, 97), (0, 2, 0)] {
        let config = Config { world, consumed: U64(consumed), remainder: "drop".into(), ..base("sharded", samples) };
        let sizes = vec![U64(samples / 3), U64(0), U64(samples - samples / 3)];
        let sharding = Sharding { sizes, lanes: 8, window: 4 };
        let calls =
            [Call::NumPositions, Call::NumRounds, Call::Round { number: U64(0) }, Call::Round { number: U64(1) }];
        let name = format!("sharded, {consumed} of {samples} consumed, nothing left for {world} ranks");
        cases.push(asked(&name, Subject::Sharded { config, sharding }, calls));
    }
    let mut saved = Native::create(&sharded(4, 0, 0, 8)).expect("a sampler");
    let state = saved
        .call(&Call::State { taken: Some(U64(9)), steps: None })
        .expect("a state")
        .as_str()
        .map(String::from)
        .expect("a text");
    let resume = Call::Resume { state: state.clone() };
    cases.push(asked(
        "sharded, resumed",
        sharded(2, 1, 0, 8),
        [resume.clone(), Call::Epoch, Call::Rank, Call::Consumed, Call::Fingerprint],
    ));
    cases.push(asked(
        "sharded, other lanes",
        sharded(2, 1, 0, 16),
        [resume.clone(), Call::Epoch, Call::Rank, Call::Consumed],
    ));
    cases.push(asked("not sharded", Subject::Config(Config { seed: S64(5), ..base("feistel", 128) }), [resume]));
    cases
}

/// The largest numbers.
fn edges() -> Vec<Case> {
    let far = |consumed, world, remainder: &str| Config {
        consumed: U64(consumed),
        world,
        remainder: remainder.into(),
        seed: S64(i64::MIN),
        epoch: U64(u64::MAX),
        ..base("feistel", MAX_EXACT)
    };
    let calls = || {
        vec![
            Call::Epoch,
            Call::Rank,
            Call::Consumed,
            Call::NumSamples,
            Call::NumPadding,
            Call::Indices { start: U64(0), count: 1 },
            Call::State { taken: Some(U64(0)), steps: None },
            Call::State { taken: Some(U64(1)), steps: None },
            Call::ConfigFingerprint,
        ]
    };
    [
        ("the last sample", far(MAX_EXACT - 1, 1, "pad")),
        ("no sample left", far(MAX_EXACT, 1, "pad")),
        ("the last samples of a wide world", far(MAX_EXACT - 3, u32::MAX, "uneven")),
        ("dropped by a wide world", far(MAX_EXACT - 3, u32::MAX, "drop")),
        ("padded beyond the end", far(MAX_EXACT - 3, 2, "pad")),
        ("padded to the end, as a whole beyond it", far(MAX_EXACT - 4, 2, "pad")),
        ("more than there are", Config { consumed: U64(11), ..base("feistel", 10) }),
        ("far more than there are", Config { consumed: U64(u64::MAX), ..base("torch", 10) }),
    ]
    .into_iter()
    .map(|(name, config)| {
        let called = if Native::create(&Subject::Config(config.clone())).is_ok() { calls() } else { vec![] };
        asked(name, Subject::Config(config), called)
    })
    .collect()
}

/// Texts that are no state of this sampler. None of them changes anything.
fn refused() -> Vec<Case> {
    let config = Config { seed: S64(3), epoch: U64(2), ..base("feistel", 10) };
    let mut sampler = Native::create(&Subject::Config(config.clone())).expect("a sampler");
    let state = sampler.call(&Call::State { taken: Some(U64(4)), steps: None }).expect("a state");
    let state = state.as_str().expect("a text");
    let texts = [
        String::new(),
        "null".into(),
        "{}".into(),
        "[".repeat(200),
        format!("{{\"a\":{}", "[".repeat(200)),
        " ".repeat(100),
        "\u{1F0A1}".repeat(70),
        format!("{state}}}"),
        format!("{state}\0"),
        state[..state.len() - 1].into(),
        state.replace("\"samedeal\":1", "\"samedeal\":2"),
        state.replace("sampler", "batcher"),
        state.replace("\"seed\":3", "\"seed\":3,\"seed\":3"),
        state.replace("\"seed\":3", "\"seed\":3,\"more\":[]"),
        state.replace("\"seed\":3,", ""),
        state.replace("\"seed\":3", "\"seed\":3.0"),
        state.replace("\"seed\":3", "\"seed\":\"3\""),
        state.replace("\"seed\":3", "\"seed\":9223372036854775808"),
        state.replace("\"seed\":3", "\"seed\":9007199254740992"),
        state.replace("\"seed\":3", "\"seed\":\"9007199254740991\""),
        state.replace("\"seed\":3", "\"seed\":\"9007199254740992\""),
        state.replace("\"epoch\":2", "\"epoch\":18446744073709551616"),
        state.replace("\"epoch\":2", "\"epoch\":18446744073709551615"),
        state.replace("\"epoch\":2", "\"epoch\":\"18446744073709551615\""),
        state.replace("\"epoch\":2", "\"epoch\":\"2\""),
        state.replace("\"consumed\":4", "\"consumed\":11"),
        state.replace("\"consumed\":4", "\"consumed\":-1"),
        state.replace("\"samples\":10", "\"samples\":9007199254740992"),
        state.replace("\"samples\":10", "\"samples\":11"),
        state.replace("\"seed\":3", "\"seed\":-3"),
        state.replace("feistel", "torch"),
        state.replace("feistel", &"x".repeat(200)),
        state.replace("\"fingerprint\":\"", "\"fingerprint\":\"0"),
        state.replace("sampler", "s\\u0061mpler"),
        state.replace("\"seed\"", "\"s\\u0065ed\""),
        state.replace("feistel", "fei\tstel"),
        state.replace("feistel", "fei\u{7f}stel"),
        state.replace("\"seed\":3", "\"seed\":03"),
        state.replace("\"seed\":3", "\"seed\":+3"),
        state.replace("\"seed\":3", "\"seed\":- 3"),
        state.replace("\"seed\":3", "\"seed\":3e0"),
        state.replace("\"seed\":3", "\"seed\":\"-9223372036854775809\""),
        state.replace("\"seed\":3", "\"seed\":null"),
        state.replace("\"samples\":10", "\"samples\":9007199254740991"),
        state.replace("\"samples\":10", "\"samples\":-1"),
        state.replace("\"samedeal\":1", "\"samedeal\":\"1\""),
        state.replace(',', ", ,"),
        state.replace('}', ",}"),
        state.replace("\"seed\":3", "\u{a0}\"seed\":3"),
        format!("\u{feff}{state}"),
        state.replace("\"consumed\":4", "\"consumed\":4,\"lease_ms\":4"),
    ];
    let mut calls: Vec<_> = texts.into_iter().map(|state| Call::Resume { state }).collect();
    calls.push(Call::Consumed);
    let spaced = state.replace(':', " : ").replace(',', ",\n\t");
    calls.extend([
        Call::Resume { state: format!(" {spaced}\n") },
        Call::Epoch,
        Call::Rank,
        Call::Consumed,
        Call::Fingerprint,
    ]);
    let minus = Config { seed: S64(0), ..config.clone() };
    let mut sampler = Native::create(&Subject::Config(minus.clone())).expect("a sampler");
    let zero = sampler.call(&Call::State { taken: Some(U64(0)), steps: None }).expect("a state");
    let zero = zero.as_str().expect("a text").replace("\"seed\":0", "\"seed\":-0").replace("ed\":0", "ed\":-0");
    vec![
        asked("texts that are no state", Subject::Config(config), calls),
        asked(
            "zero with a sign",
            Subject::Config(minus),
            [Call::Resume { state: zero }, Call::Epoch, Call::Rank, Call::Consumed],
        ),
    ]
}
