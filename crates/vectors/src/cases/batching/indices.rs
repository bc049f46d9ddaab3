//! Indices of plans: parts of an index, and batchers that use one.

use super::config::{BatchConfig, Buckets, batcher};
use matrix::Engine;
use matrix::format::{Call, Case, S64, Subject, U64};
use matrix::native::Native;
use sha2::{Digest, Sha256};

use super::sets::uniform;
use super::{asked, base, num_steps, state_after, state_of, take};

pub fn cases() -> Vec<Case> {
    [whole(), whole_windows(), refused(), shapes(), joins()].concat()
}

fn config(at: usize, world: u32) -> BatchConfig {
    let strategy = ["budget", "pack", "bucket", "pad-to-max"][at % 4];
    BatchConfig {
        window: Some([16, 40, 7][at % 3]),
        seed: S64(at as i64),
        epoch: U64([0, 7, u64::MAX][at % 3]),
        ..base(strategy, &uniform(90, 30 + at as u64, 0, 60), world)
    }
}

fn ask(subject: &Subject, call: &Call) -> String {
    let mut batcher = Native::create(subject).expect("a plan");
    batcher.call(call).expect("an answer").as_str().expect("a text").into()
}

fn index(first: u64, count: u64) -> Call {
    Call::Index { first: U64(first), count: U64(count) }
}

fn num_windows(subject: &Subject) -> u64 {
    ask(subject, &Call::NumWindows).parse().expect("a number")
}

/// Parts of an index, the whole index, and batchers that use it.
fn whole() -> Vec<Case> {
    let mut cases = Vec::new();
    for at in 0..8 {
        let subject = batcher(config(at, 2));
        let windows = num_windows(&subject);
        let text = ask(&subject, &index(0, windows));
        let steps = num_steps(&mut Native::create(&subject).expect("a plan"));
        let calls = vec![
            index(0, windows),
            index(0, 0),
            index(windows, 0),
            index(windows / 2, windows - windows / 2),
            index(windows + 1, 0),
            index(1, windows),
            Call::NumWindows,
            Call::UseIndex { index: text.clone() },
            Call::NumSteps,
            Call::Metrics,
            take(1, u64::from(steps) - 1, 1),
        ];
        cases.push(asked(&format!("an index, number {at}"), subject.clone(), calls));
        for taken in [1, u64::from(steps) - 1, steps.into()] {
            let state = state_of(&[(2, taken)], |world| batcher(config(at, world)));
            let calls = vec![
                Call::Resume { state },
                Call::UseIndex { index: text.clone() },
                Call::NumSteps,
                state_after(0),
                index(0, 1),
                Call::Metrics,
            ];
            cases.push(asked(&format!("an index after {taken} steps, number {at}"), subject.clone(), calls));
        }
        let state = state_of(&[(3, 1)], |world| batcher(config(at, world)));
        let calls = vec![Call::Resume { state }, Call::UseIndex { index: text.clone() }, index(0, 1)];
        cases.push(asked(&format!("an index where others took steps, number {at}"), subject, calls));
    }
    cases
}

/// States whose open window was read to its end, or has a width that no window has here.
fn whole_windows() -> Vec<Case> {
    let mut cases = Vec::new();
    for tail in ["keep", "drop"] {
        let of = |world| batcher(BatchConfig { tail: tail.into(), ..config(0, world) });
        let subject = of(2);
        let text = ask(&subject, &index(0, num_windows(&subject)));
        let steps = text.split_once("\"steps\":[").and_then(|(_, rest)| rest.split_once(',')).expect("steps").0;
        let state = state_of(&[(2, 1)], of);
        let whole = state.replace("\"steps\":1}", &format!("\"steps\":{steps}}}"));
        let narrow = state.replace("\"window\":16", "\"window\":15");
        for (name, state) in [("to its end", whole), ("of another width", narrow)] {
            let calls = [
                Call::Resume { state: state.clone() },
                Call::UseIndex { index: text.clone() },
                Call::NumSteps,
                Call::Resume { state },
                Call::NumSteps,
                Call::Metrics,
            ];
            cases.push(asked(&format!("a window that was read {name}, {tail}"), subject.clone(), calls));
        }
    }
    cases
}

/// An index whose `checksum` stands behind a space. Its value is that of no bytes, which precede a `,"checksum"` that is
/// not there.
fn without_checksum(text: &str) -> String {
    let own = text.split_once(",\"checksum\"").expect("a checksum").0;
    format!("{own}, \"checksum\":\"{}\"}}", sha256(""))
}

/// An index of no windows, with a hash in place of the steps.
fn hashed_steps(text: &str) -> String {
    let before = text.split_once("\"steps\":").expect("steps").0;
    let metrics = text.split_once("\"metrics\":{").expect("metrics").1.split_once('}').expect("an end").0;
    let none = metrics.split(',').map(|metric| format!("{}:0", metric.split_once(':').expect("a number").0));
    let none = none.collect::<Vec<_>>().join(",");
    let own = format!("{before}\"steps\":\"{}\",\"checksums\":\"\",\"metrics\":{{{none}}}", "0".repeat(64));
    sealed(&own)
}

/// An index with the right checksum: `own` is its text up to the checksum.
fn sealed(own: &str) -> String {
    format!("{own},\"checksum\":\"{}\"}}", sha256(own))
}

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn refused() -> Vec<Case> {
    let subject = batcher(config(0, 2));
    let windows = num_windows(&subject);
    let text = ask(&subject, &index(0, windows));
    let of_other = ask(&batcher(config(0, 3)), &index(0, 1));
    let texts = [
        String::from("{}"),
        String::new(),
        text.replace("\"kind\":\"index\"", "\"kind\":\"batcher\""),
        text.replace("\"epoch\":0", "\"epoch\":1"),
        text.replace("\"first\":0", "\"first\":1"),
        text.replace("\"checksum\":\"", "\"checksum\":\"0"),
        text.replace("\"steps\":[", "\"steps\":[0,"),
        text.replace("{\"samedeal\"", "{ \"samedeal\""),
        ask(&subject, &index(0, 1)),
        ask(&subject, &index(1, windows - 1)),
        of_other,
        ask(&batcher(BatchConfig { epoch: U64(1), ..config(0, 2) }), &index(0, windows)),
    ];
    // Changed texts with the right checksum, so that the change itself must be found.
    let forged =
        |change: &dyn Fn(&str) -> String| sealed(&change(text.split_once(",\"checksum\"").expect("a checksum").0));
    let number = windows.to_string();
    let texts = texts.into_iter().chain([
        forged(&|text| text.replace("\"steps\":[", "\"steps\":[1,")),
        forged(&|text| text.replace("\"first\":0", "\"first\":1")),
        forged(&|text| text.replace("\"first\":0", "\"first\":9007199254740991")),
        forged(&|text| text.replace("\"metrics\":{\"steps\":", "\"metrics\":{\"steps\":1")),
        forged(&|text| text.replace("\"split\":", "\"splits\":")),
        without_checksum(&text),
        hashed_steps(&text),
        forged(&|text| text.replace("\"windows\":", "\"windows\":9007199254740993")),
        forged(&|text| text.replace(",\"split\":0}", "}")),
        forged(&|text| text.replace("\"split\":0", "\"split\":\"0\"")),
        forged(&|text| text.replace("\"split\":0", "\"split\":9007199254740992")),
        forged(&|text| text.replace("\"checksums\":\"", "\"checksums\":\"0")),
        forged(&|text| text.replace("\"checksums\":\"", "\"checksums\":\"0123456789abcdef")),
        forged(&|text| text.replace("\"checksums\":\"", "\"checksums\":\"0123456789abcdeg")),
        forged(&|text| text.split_once(",\"metrics\"").expect("metrics").0.into()),
        forged(&|text| text.replace(",\"metrics\"", ",\"more\"")),
        forged(&|text| text.replace(&format!("\"windows\":{number}"), &format!("\"windows\":{}", windows - 1))),
        forged(&|text| text.replace(&format!("\"windows\":{number}"), &format!("\"windows\":{}", windows + 1))),
        forged(&|text| text.replace("\"samedeal\":1", "\"samedeal\":2")),
        forged(&|text| text.replace("\"epoch\":0", "\"epoch\":\"0\"")),
        forged(&|text| text.replace("\"recipe_fingerprint\":\"", "\"recipe_fingerprint\":\"x")),
        forged(&|text| text.replace(",\"kind\"", " ,\n\"kind\"")),
        forged(&|text| format!("{},\"more\":9}}", text.strip_suffix('}').expect("an object at the end"))),
    ]);
    let mut calls: Vec<_> = texts.map(|index| Call::UseIndex { index }).collect();
    calls.extend([Call::NumSteps, Call::UseIndex { index: text }, Call::NumSteps]);
    let mut cases = vec![asked("texts that are no index of these batches", subject, calls)];
    // The largest metrics.
    let config = BatchConfig {
        counting: "weighted".into(),
        quadratic: u32::MAX,
        budget: U64(u64::MAX),
        max_length: u32::MAX,
        ..base("budget", &[60_000; 10], 1)
    };
    let subject = batcher(config);
    let text = ask(&subject, &index(0, 1));
    let calls = [index(0, 1), Call::UseIndex { index: text }, Call::Metrics];
    cases.push(asked("an index of large metrics", subject, calls));
    // Position 32 is a multiple of the width of a window, but it lies within the last window.
    let of = |world| {
        let lengths = uniform(39, 33, 0, 60);
        batcher(BatchConfig { window: Some(16), ..base("budget", &lengths, world) })
    };
    let text = ask(&of(2), &index(0, num_windows(&of(2))));
    let state = ask(&of(2), &state_after(0)).replace("\"consumed\":0", "\"consumed\":32");
    let calls = [Call::Resume { state }, Call::NumSteps, Call::UseIndex { index: text }, Call::NumSteps];
    cases.push(asked("an index where no window begins", of(2), calls));
    cases
}

fn joins() -> Vec<Case> {
    let subject = batcher(config(0, 2));
    let part = |first, count| ask(&subject, &index(first, count));
    let windows = num_windows(&subject);
    let join = |parts: &[String]| Call::JoinIndices { parts: parts.to_vec() };
    let other = ask(&batcher(config(0, 3)), &index(1, 1));
    let later = ask(&batcher(BatchConfig { epoch: U64(1), ..config(0, 2) }), &index(1, 1));
    let calls = vec![
        join(&[part(0, windows)]),
        join(&[part(2, windows - 2), part(0, 1), part(1, 1)]),
        join(&[part(2, 2), part(0, 3), part(1, 1), part(0, 3)]),
        join(&[part(0, 2), part(0, 3)]),
        join(&[part(0, 3), part(0, 2)]),
        join(&[part(1, 0), part(1, 2), part(1, 1), part(1, 0)]),
        join(&[part(0, 1), part(0, 0), part(1, 2)]),
        join(&[part(1, 1), part(2, 1)]),
        join(&[part(0, 1), part(2, 1)]),
        join(&[part(0, 2), part(1, 2)]),
        join(&[]),
        join(&[part(0, 1), "{}".into()]),
        join(&[part(0, 1), other]),
        join(&[part(0, 1), later]),
    ];
    vec![asked("parts of an index", Subject::Functions {}, calls)]
}

/// Shapes of batches: many, and few with `pad_to_bucket`.
fn shapes() -> Vec<Case> {
    let mut cases = Vec::new();
    for separate in [false, true] {
        for pad_to_bucket in [false, true] {
            for (tail, window) in
                [("even-split", Some(40)), ("keep", Some(13)), ("duplicate", None), ("drop", Some(20))]
            {
                for budget in [0, 130] {
                    let config = BatchConfig {
                        separate,
                        pad_to_bucket,
                        tail: tail.into(),
                        window,
                        budget: U64(budget),
                        buckets: Some(Buckets::Boundaries(vec![12, 33, 50])),
                        ..base("bucket", &uniform(120, 71, 0, 60), 3)
                    };
                    let subject = batcher(config);
                    let steps = num_steps(&mut Native::create(&subject).expect("a plan"));
                    let calls = vec![
                        Call::Shapes { filled: false },
                        Call::Shapes { filled: true },
                        Call::Metrics,
                        take(0, 0, steps),
                        take(2, 0, steps),
                        Call::Fingerprint,
                    ];
                    let name = format!(
                        "shapes: separate {separate}, padded to buckets {pad_to_bucket}, {tail}, budget {budget}"
                    );
                    cases.push(asked(&name, subject, calls));
                }
            }
        }
    }
    for at in 0..4 {
        let calls = [Call::Shapes { filled: false }, Call::Shapes { filled: true }];
        cases.push(asked(&format!("shapes, number {at}"), batcher(config(at, 2)), calls));
    }
    // Default windows with a given mean length, and with separate buckets.
    for (mean_length, separate) in [(Some(5), false), (Some(1), true), (None, true)] {
        let config = BatchConfig {
            window: None,
            mean_length,
            separate,
            max_length: 9,
            budget: U64(20),
            ..base("bucket", &uniform(30_000, 72, 0, 9), 40)
        };
        let name = format!("a default window, mean length {mean_length:?}, separate buckets {separate}");
        cases.push(asked(&name, batcher(config), [Call::NumWindows, Call::Metrics]));
    }
    cases
}
