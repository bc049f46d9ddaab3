//! States of batchers, taken at any step and resumed with any world size; and the places of samples.

use super::config::{BatchConfig, Buckets, batcher};
use matrix::Engine;
use matrix::format::{Call, Case, S64, U64};
use matrix::native::Native;

use super::sets::uniform;
use super::{COUNTINGS, TAILS, asked, base, num_steps, state_after, state_of, take};

const STRATEGIES: [&str; 4] = ["pad-to-max", "bucket", "budget", "pack"];

pub fn cases() -> Vec<Case> {
    [histories(), vec![taken()], moves(), joined(), replanned(), defaults(), unbounded(), refused()].concat()
}

fn config(at: usize, world: u32) -> BatchConfig {
    let strategy = STRATEGIES[at % 4];
    let too_long = ["error", "split", "drop", "single"][at / 4 % 4];
    let mut config = BatchConfig {
        seed: S64(at as i64),
        epoch: U64(3),
        window: [Some(8_192), Some(20), None][at % 3],
        keep_order: at % 3 == 2,
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
        ..base(strategy, &uniform(90, at as u64, 0, 60), world)
    };
    if strategy == "pack" {
        config.max_batch_size = 1;
    }
    config
}

/// A state of which all steps of the open window were taken, on 8 ranks. The 26 samples that their plan left out make no
/// steps of 2 ranks. No batcher writes such a state: it would begin at the next window.
fn taken() -> Case {
    let of = |world| {
        batcher(BatchConfig {
            tail: "drop".into(),
            window: Some(8_192),
            ..base("pad-to-max", &uniform(90, 5, 1, 60), world)
        })
    };
    let state = state_of(&[(8, 1)], of).replace("\"steps\":1", "\"steps\":2");
    let calls = [Call::Resume { state }, Call::Consumed, Call::NumSteps, Call::Metrics, state_after(0), take(0, 0, 1)];
    asked("all steps of the open window were taken", of(2), calls)
}

/// Plans of the rest of an epoch that other groups of ranks have begun.
fn histories() -> Vec<Case> {
    let mut cases = Vec::new();
    let pasts: [&[(u32, u64)]; 6] =
        [&[(2, 3)], &[(3, 2)], &[(1, 4), (2, 1)], &[(4, 1), (3, 1), (2, 1)], &[(2, 0), (2, 2)], &[(8, 1), (2, 0)]];
    for at in 0..48 {
        let past = pasts[at % pasts.len()];
        let here = config(at, 2);
        let name = format!("{} after {past:?}, {}, {}, number {at}", here.strategy, here.tail, here.too_long);
        let subject = batcher(here);
        let state = state_of(past, |world| batcher(config(at, world)));
        let mut saved = Native::create(&subject).expect("a plan");
        saved.call(&Call::Resume { state: state.clone() }).expect("a state of this batcher");
        let steps = num_steps(&mut saved);
        let resumed = vec![Call::Resume { state }, Call::Consumed, Call::NumWindows, Call::NumSteps];
        let mut calls = [resumed, vec![Call::Metrics, take(0, 0, steps), take(1, 0, steps)]].concat();
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
    cases.push(asked("samples that are not there", batcher(config(0, 2)), [all, far]));
    cases
}

/// States that are resumed with another world size.
fn moves() -> Vec<Case> {
    let mut cases = Vec::new();
    for at in 0..16 {
        let state = state_of(&[(2, 4), (2, 1), (3, 2), (1, 3)], |world| batcher(config(at, world)));
        for world in [1, 4] {
            let here = BatchConfig { epoch: U64(8), ..config(at, world) };
            let calls = [Call::Resume { state: state.clone() }, Call::Metrics, Call::Fingerprint, state_after(0)];
            let name = format!("{} resumed on world {world}, number {at}", here.strategy);
            cases.push(asked(&name, batcher(here), calls));
        }
    }
    cases
}

/// Adjacent segments of a history with the same world size are joined.
fn joined() -> Vec<Case> {
    let state = state_of(&[(2, 2)], |world| batcher(config(8, world)));
    let state = state
        .replace("[{\"world_size\":2,\"steps\":2}]", "[{\"steps\":1,\"world_size\":2},{\"world_size\":2,\"steps\":1}]");
    let calls = [Call::Resume { state }, state_after(0), Call::Fingerprint];
    vec![asked("a state that is not joined", batcher(config(8, 2)), calls)]
}

/// Other options for the rest of an epoch, and then the first options again.
fn replanned() -> Vec<Case> {
    let mut cases = Vec::new();
    let lengths = uniform(90, 77, 0, 60);
    let options = |at: usize, world: u32| {
        let strategy = ["budget", "budget", "pack", "bucket", "pad-to-max"][at % 5];
        let config = BatchConfig {
            window: [Some(20), Some(7), None, None][at % 4],
            keep_order: at % 4 == 3,
            too_long: ["split", "drop", "truncate", "single"][at / 2 % 4].into(),
            max_length: [60, 25, 40][at % 3],
            counting: COUNTINGS[at / 3 % 3].into(),
            linear: 1,
            tail: TAILS[at % 4].into(),
            ..base(strategy, &lengths, world)
        };
        batcher(config)
    };
    for at in 0..24 {
        let mut state = state_of(&[(2, 1)], |world| options(at, world));
        let mut calls = Vec::new();
        for (nth, world) in [(1, 3), (2, 2), (0, 2)] {
            let mut batcher = Native::create(&options(at + nth, world)).expect("a plan");
            batcher.call(&Call::Replan { state: state.clone() }).expect("a state of these lengths");
            let steps = num_steps(&mut batcher);
            if nth == 0 {
                calls.extend([Call::Resume { state: state.clone() }, Call::Replan { state: state.clone() }]);
                calls.extend([state_after(0), Call::NumSteps, Call::Metrics, Call::Fingerprint]);
                calls.extend([take(1, 0, steps), state_after(steps.min(1).into())]);
            }
            let text = batcher.call(&state_after(steps.min(1).into())).expect("a state");
            state = text.as_str().expect("a text").into();
        }
        cases.push(asked(&format!("other options and back, number {at}"), options(at, 2), calls));
    }
    let state = state_of(&[(2, 1)], |world| options(0, world));
    let other = BatchConfig { lengths: lengths[..89].to_vec(), ..base("budget", &lengths, 2) };
    let longer = BatchConfig { lengths: lengths.iter().map(|length| length ^ 1).collect(), ..other.clone() };
    for (name, here) in [("fewer", other), ("others", longer)] {
        let calls = [Call::Replan { state: state.clone() }];
        cases.push(asked(&format!("refused: other options of {name} lengths"), batcher(here), calls));
    }
    cases
}

/// Beside a budget, no `max_batch_size` (0 here) is the same as 2^32 - 1: a state of the one fits a recipe of the other.
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

/// A default window depends on the world size. A state can be resumed with any world size, and each segment of a
/// history has the window of its own world size.
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
    // A window of the default's size, but set explicitly, makes another batcher, which refuses the state.
    let said = BatchConfig { window: Some(8_192), ..by_default(1) };
    cases.push(asked("refused: a window for a default", batcher(said), calls(&state)));
    cases
}

fn refused() -> Vec<Case> {
    let here = BatchConfig { too_long: "error".into(), max_length: 60, ..config(2, 2) };
    let state = &*state_of(&[(2, 2)], |_| batcher(here.clone()));
    let (_, window) = state.rsplit_once("\"window\":").expect("a window");
    let window = window.split(',').next().expect("a number");
    let many = |count| "{\"world_size\":1,\"steps\":1},{\"world_size\":3,\"steps\":1},".repeat(count);
    let texts = [
        "{}".into(),
        state.replace("\"batcher\"", "\"sampler\""),
        state.replace("\"consumed\":0,", ""),
        state.replace("\"consumed\":0", "\"consumed\":91"),
        state.replace("\"consumed\":0", "\"consumed\":-1"),
        state.replace("\"steps\":2", "\"steps\":0"),
        state.replace("\"steps\":2", "\"steps\":2,\"batch\":{\"max_tokens\":0}"),
        state.replace("\"steps\":2", "\"steps\":2,\"batch\":{}"),
        state.replace("\"steps\":2", "\"steps\":2,\"batch\":{\"capacity\":9}"),
        state.replace("\"strategy\":\"budget\",", ""),
        state.replace("\"recipe\"", "\"recipe\":{},\"recipe\""),
        state.replace("\"budget\"", "\"pack\""),
        state.replace("\"samples\":90", "\"samples\":91"),
        state.replace("\"seed\":2", "\"seed\":1"),
        state.replace("\"lengths\":[", "\"lengths\":[1,"),
        state.replace("\"lengths\":[", "\"lengths\":[1"),
        state.replace("\"epoch\":3", "\"epoch\":-3"),
        state.replace("\"steps\":2", "\"steps\":18446744073709551615"),
        state.replace("\"world_size\":2", "\"world_size\":0"),
        state.replace("\"world_size\":2", "\"world_size\":1048577"),
        state.replace("\"world_size\":2", "\"world_size\":4294967296"),
        state.replace("\"world_size\":2", "\"world_size\":2,\"world_size\":2"),
        state.replace("[{", &format!("[{}{{", many(128))),
        // Segments are counted before neighbours of one world size are joined.
        state.replace("[{", &format!("[{}{{", "{\"world_size\":2,\"steps\":1},".repeat(256))),
        state.replace(&format!("\"window\":{window}"), "\"window\":9007199254740992"),
        state.replace(&format!("\"window\":{window}"), "\"window\":9007199254740991"),
        state.replace("[{", "[[{"),
        state.replace("[{", "["),
    ];
    let mut calls: Vec<_> = texts.into_iter().map(|state| Call::Resume { state }).collect();
    calls.extend([Call::Metrics, state_after(0), state_after(u64::MAX)]);
    calls.extend([Call::Resume { state: state.into() }, Call::Metrics, Call::Fingerprint]);
    // The largest number of segments in a history. They have one world size, so that they are joined.
    let segments = "{\"world_size\":2,\"steps\":1},".repeat(255);
    let segments = [Call::Resume { state: state.replace("[{", &format!("[{segments}{{")) }, Call::Consumed];
    let far = |text: String| {
        vec![Call::Resume { state: text }, Call::NumWindows, Call::NumSteps, Call::Metrics, take(0, 0, 1)]
    };
    let more = state.replace("\"steps\":2", "\"steps\":200");
    let others = state.replace("\"steps\":2}", "\"steps\":2},{\"world_size\":3,\"steps\":99}");
    let over = state.replace("\"consumed\":0", "\"consumed\":90");
    vec![
        asked("texts that are no state", batcher(here.clone()), calls),
        asked("as many segments as there may be", batcher(here.clone()), segments),
        asked("refused: more steps than there are", batcher(here.clone()), far(more)),
        asked("refused: more steps than there were", batcher(here.clone()), far(others)),
        asked("steps of a window that is not there", batcher(here), far(over)),
    ]
}
