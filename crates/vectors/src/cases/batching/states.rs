//! States of batchers: taken at any step, resumed on any world; and where samples are.

use super::config::{BatchConfig, Buckets, batcher};
use matrix::Engine;
use matrix::format::{Call, Case, S64, Segment, U64};
use matrix::native::Native;

use super::sets::uniform;
use super::{COUNTINGS, TAILS, asked, base, num_steps, state_after, take};

const STRATEGIES: [&str; 4] = ["pad-to-max", "bucket", "budget", "pack"];

pub fn cases() -> Vec<Case> {
    [histories(), moves(), joined(), defaults(), unbounded(), refused()].concat()
}

fn config(at: usize, world: u32, past: &[(u32, u64)]) -> BatchConfig {
    let strategy = STRATEGIES[at % 4];
    let too_long = ["error", "split", "drop", "single"][at / 4 % 4];
    let mut config = BatchConfig {
        seed: S64(at as i64),
        epoch: U64(3),
        window: Some([8_192, 20, 0][at % 3]),
        tail: TAILS[at / 2 % 4].into(),
        too_long: too_long.into(),
        max_length: if too_long == "error" { 60 } else { 37 },
        counting: COUNTINGS[at / 3 % 3].into(),
        linear: 1,
        buckets: (strategy == "bucket").then_some(if at % 8 < 4 {
            Buckets::Quantiles(3)
        } else {
            Buckets::BucketWidth(20)
        }),
        history: past.iter().map(|&(world, steps)| Segment { world_size: world, steps: U64(steps) }).collect(),
        ..base(strategy, &uniform(90, at as u64, 0, 60), world)
    };
    if strategy == "pack" {
        config.max_batch_size = 1;
    }
    config
}

/// Plans of what others have left.
fn histories() -> Vec<Case> {
    let mut cases = Vec::new();
    let pasts: [&[(u32, u64)]; 6] =
        [&[(2, 3)], &[(3, 2)], &[(1, 4), (2, 1)], &[(4, 1), (3, 1), (2, 1)], &[(2, 0), (2, 2)], &[(8, 1), (2, 0)]];
    for at in 0..48 {
        let past = pasts[at % pasts.len()];
        let config = config(at, 2, past);
        let name = format!("{} after {past:?}, {}, {}, number {at}", config.strategy, config.tail, config.too_long);
        let subject = batcher(config);
        let steps = num_steps(&mut Native::create(&subject).expect("a plan"));
        let mut calls = vec![Call::Metrics, take(0, 0, steps), take(1, 0, steps)];
        calls.extend((0..6).map(|sample| Call::Locate { sample: U64(sample * 17), batch_size: None }));
        for taken in [0, 1.min(steps), steps, steps + 1] {
            calls.push(state_after(taken.into()));
        }
        calls.extend([Call::Fingerprint, Call::AtEpoch { epoch: U64(3) }, Call::Metrics]);
        calls.extend([Call::AtEpoch { epoch: U64(4) }, Call::Metrics, Call::Fingerprint]);
        cases.push(asked(&name, subject, calls));
    }
    let all = Call::Locate { sample: U64(90), batch_size: None };
    let far = Call::Locate { sample: U64(u64::MAX), batch_size: None };
    cases.push(asked("samples that are not there", batcher(config(0, 2, &[])), [all, far]));
    cases
}

/// From one world to another.
fn moves() -> Vec<Case> {
    let mut cases = Vec::new();
    for at in 0..16 {
        let mut state = None;
        for (world, taken) in [(2, 4), (2, 1), (3, 2), (1, 3)] {
            let mut saved = Native::create(&batcher(config(at, world, &[]))).expect("a plan");
            if let Some(state) = state {
                saved.call(&Call::Resume { state }).expect("a state of this batcher");
            }
            let taken = u64::from(num_steps(&mut saved).min(taken));
            let text = saved.call(&state_after(taken)).expect("a state");
            state = text.as_str().map(String::from);
        }
        let state = state.expect("a state");
        for world in [1, 4] {
            let here = BatchConfig { epoch: U64(8), ..config(at, world, &[]) };
            let calls = [Call::Resume { state: state.clone() }, Call::Metrics, Call::Fingerprint, state_after(0)];
            let name = format!("{} resumed on world {world}, number {at}", here.strategy);
            cases.push(asked(&name, batcher(here), calls));
        }
    }
    cases
}

/// What a history is written as: without worlds that took nothing, and what one world took in neighbouring entries as one.
fn joined() -> Vec<Case> {
    let mut cases = Vec::new();
    for past in [
        &[(2, 1), (2, 2), (3, 0), (2, 1)][..],
        &[(3, 0), (1, 0)],
        &[(1, 2), (3, 0), (1, 1), (2, 0)],
        &[(3, 1), (1, 1), (1, 1), (3, 1)],
    ] {
        let subject = batcher(config(8, 2, past));
        let calls = [0, 1].map(state_after);
        cases.push(asked(&format!("a state after {past:?}"), subject, calls));
    }
    let mut saved = Native::create(&batcher(config(8, 2, &[]))).expect("a plan");
    let state = saved.call(&state_after(2)).expect("a state");
    let state = state.as_str().expect("a text").replace(
        "[{\"world_size\":2,\"steps\":2}]",
        "[{\"world_size\":3,\"steps\":0},{\"steps\":1,\"world_size\":2},{\"world_size\":4,\"steps\":-0},{\"world_size\":2,\"steps\":1}]",
    );
    let calls = [Call::Resume { state }, state_after(0), Call::Fingerprint];
    cases.push(asked("a state that is not joined", batcher(config(8, 2, &[])), calls));
    cases
}

/// 0 and 2^32 - 1 are both no bound of the rows of a batch: the state of one is that of the other.
fn unbounded() -> Vec<Case> {
    let of = |strategy, max_batch_size| BatchConfig {
        max_batch_size,
        budget: U64(100),
        ..base(strategy, &uniform(40, 94, 0, 60), 2)
    };
    let mut cases = Vec::new();
    for strategy in ["budget", "bucket"] {
        for (of_state, here) in [(0, u32::MAX), (u32::MAX, 0), (0, u32::MAX - 1)] {
            let mut saved = Native::create(&batcher(of(strategy, of_state))).expect("a plan");
            let state = saved.call(&state_after(1)).expect("a state");
            let state = String::from(state.as_str().expect("a text"));
            let calls = [Call::Fingerprint, Call::Resume { state }, state_after(1), Call::Fingerprint];
            let name = format!("{strategy}, a state of up to {of_state} rows in batches of up to {here}");
            cases.push(asked(&name, batcher(of(strategy, here)), calls));
        }
    }
    cases
}

/// A default window follows the world: a state goes on in every world, and each world of a history has its own.
fn defaults() -> Vec<Case> {
    let by_default = |world| BatchConfig {
        window: None,
        max_length: 9,
        budget: U64(40),
        ..base("budget", &uniform(9_000, 93, 0, 9), world)
    };
    let mut saved = Native::create(&batcher(by_default(1))).expect("a plan");
    let state = saved.call(&state_after(11)).expect("a state");
    let state = String::from(state.as_str().expect("a text"));
    let calls =
        |state: &String| [Call::Resume { state: state.clone() }, Call::Metrics, Call::Fingerprint, state_after(3)];
    let mut cases = Vec::new();
    for world in [1, 15, 64] {
        let name = format!("a default window, resumed on world {world}");
        cases.push(asked(&name, batcher(by_default(world)), calls(&state)));
    }
    // As many items as the default comes to, but said: the state of another batcher.
    let said = BatchConfig { window: Some(8_192), ..by_default(1) };
    cases.push(asked("refused: a window for a default", batcher(said), calls(&state)));
    cases
}

fn refused() -> Vec<Case> {
    let here = BatchConfig { history: vec![], too_long: "error".into(), max_length: 60, ..config(2, 2, &[]) };
    let mut saved = Native::create(&batcher(here.clone())).expect("a plan");
    let state = saved.call(&state_after(2)).expect("a state");
    let state = state.as_str().expect("a text");
    let many = |count| "{\"world_size\":1,\"steps\":1},{\"world_size\":3,\"steps\":1},".repeat(count);
    let texts = [
        "{}".into(),
        state.replace("batcher", "sampler"),
        state.replace("\"history\"", "\"consumed\":1,\"history\""),
        state.replace("\"strategy\":\"budget\",", ""),
        state.replace("\"recipe\"", "\"recipe\":{},\"recipe\""),
        state.replace("\"budget\"", "\"pack\""),
        state.replace("\"samples\":90", "\"samples\":91"),
        state.replace("\"seed\":2", "\"seed\":1"),
        state.replace("\"lengths\":[", "\"lengths\":[1,"),
        state.replace("\"lengths\":[", "\"lengths\":[1"),
        state.replace("\"epoch\":3", "\"epoch\":-3"),
        state.replace("\"steps\":2", "\"steps\":200"),
        state.replace("\"steps\":2", "\"steps\":18446744073709551615"),
        state.replace("\"world_size\":2", "\"world_size\":0"),
        state.replace("\"world_size\":2", "\"world_size\":1048577"),
        state.replace("\"world_size\":2", "\"world_size\":4294967296"),
        state.replace("\"world_size\":2", "\"world_size\":2,\"world_size\":2"),
        state.replace("[{", &format!("[{}{{", many(32))),
        state.replace("[{", "[[{"),
        state.replace("[{", "["),
    ];
    let mut calls: Vec<_> = texts.into_iter().map(|state| Call::Resume { state }).collect();
    calls.extend([Call::Metrics, state_after(0), state_after(u64::MAX)]);
    calls.extend([Call::Resume { state: state.into() }, Call::Metrics, Call::Fingerprint]);
    let past = |past: &[(u32, u64)]| {
        let history = past.iter().map(|&(world, steps)| Segment { world_size: world, steps: U64(steps) }).collect();
        batcher(BatchConfig { history, ..here.clone() })
    };
    vec![
        asked("texts that are no state", batcher(here.clone()), calls),
        asked("refused: more steps than there were", past(&[(2, 1), (3, 99)]), []),
        asked("refused: more steps than there are", past(&[(2, 9), (2, u64::MAX)]), []),
        asked("refused: a world of none", past(&[(0, 1)]), []),
        asked("refused: many worlds, more steps than there are", past(&[[(1, 1), (3, 1)]; 33].concat()[..65]), []),
    ]
}
