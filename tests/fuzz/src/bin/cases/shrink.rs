//! Shrinks a failing case as far as it still fails.

use std::time::{Duration, Instant};

use fuzz::doc::Doc;

use fuzz::corpus::Seed;

/// The largest number of smaller cases that are tried at once.
const CANDIDATES: usize = 300;
const PATIENCE: Duration = Duration::from_secs(25);

/// The smallest case found for which `fails` holds. `fails` takes many cases and returns the places of those that fail.
pub fn shrink(case: Seed, mut fails: impl FnMut(&[Seed]) -> Vec<usize>) -> Seed {
    let started = Instant::now();
    let mut best = case;
    while started.elapsed() < PATIENCE {
        let candidates = smaller(&best);
        let failing = fails(&candidates).into_iter().min_by_key(|&place| length(&candidates[place]));
        match failing {
            Some(place) => best = candidates[place].clone(),
            None => break,
        }
    }
    best
}

fn length(case: &Seed) -> usize {
    case.subject.to_text().len() + case.calls.iter().map(|call| call.to_text().len()).sum::<usize>()
}

/// Cases that are one step smaller, those with the largest steps first.
fn smaller(case: &Seed) -> Vec<Seed> {
    let mut all = Vec::new();
    let count = case.calls.len();
    let mut size = count;
    while size > 0 {
        for start in (0..count).step_by(size) {
            let mut calls = case.calls.clone();
            calls.drain(start..(start + size).min(count));
            all.push(Seed { calls, ..case.clone() });
        }
        size /= 2;
    }
    let mut values = Vec::new();
    for subject in simpler(&case.subject, false) {
        values.push(Seed { subject, ..case.clone() });
    }
    for (at, call) in case.calls.iter().enumerate() {
        let Some(args) = call.get("args") else { continue };
        for simpler in simpler(args, false) {
            let mut changed = case.clone();
            *changed.calls[at].get_mut("args").expect("it is there") = simpler;
            values.push(changed);
        }
    }
    // With very many steps, only those that shorten most are tried, and a sample of the others.
    values.sort_by_key(length);
    let room = CANDIDATES.saturating_sub(all.len()).max(50);
    let stride = values.len().div_ceil(room / 2).max(1);
    let few: Vec<Seed> = values.iter().skip(room / 2).step_by(stride).cloned().collect();
    all.extend(values.into_iter().take(room / 2));
    all.extend(few);
    all.retain(|other| other != case && length(other) <= length(case));
    all
}

/// Values that are a step simpler. Members may only be removed within a text of JSON.
fn simpler(doc: &Doc, nested: bool) -> Vec<Doc> {
    let mut all = Vec::new();
    match doc {
        Doc::Raw(raw) => all.extend(numbers(raw).into_iter().map(Doc::Raw)),
        Doc::Text(text) => {
            if text.parse::<u64>().is_ok() {
                all.extend(numbers(text).into_iter().map(Doc::Text));
            } else {
                let chars: Vec<char> = text.chars().collect();
                let mut size = chars.len();
                while size > 0 {
                    for start in (0..chars.len()).step_by(size).take(40) {
                        let rest = chars[..start].iter().chain(chars[(start + size).min(chars.len())..].iter());
                        all.push(Doc::Text(rest.collect()));
                    }
                    size /= 2;
                }
            }
        }
        Doc::Nested(inner) => {
            all.extend(simpler(inner, true).into_iter().map(|inner| Doc::Nested(Box::new(inner))));
            all.push(Doc::Text(String::new()));
        }
        Doc::List(items) => {
            let mut size = items.len();
            while size > 0 {
                for start in (0..items.len()).step_by(size).take(40) {
                    let mut fewer = items.clone();
                    fewer.drain(start..(start + size).min(items.len()));
                    all.push(Doc::List(fewer));
                }
                size /= 2;
            }
            for (at, item) in items.iter().enumerate().take(60) {
                for item in simpler(item, nested) {
                    let mut changed = items.clone();
                    changed[at] = item;
                    all.push(Doc::List(changed));
                }
            }
        }
        Doc::Object(members) => {
            for at in 0..members.len() {
                if nested {
                    let mut fewer = members.clone();
                    fewer.remove(at);
                    all.push(Doc::Object(fewer));
                }
                for value in simpler(&members[at].1, nested) {
                    let mut changed = members.clone();
                    changed[at].1 = value;
                    all.push(Doc::Object(changed));
                }
            }
        }
    }
    all
}

fn numbers(digits: &str) -> Vec<String> {
    let Ok(number) = digits.parse::<i128>() else { return Vec::new() };
    let mut all: Vec<i128> = vec![0, 1, number / 2, number - number.signum()];
    all.retain(|other| other.abs() < number.abs());
    all.dedup();
    all.into_iter().map(|number| number.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_failure_does_not_need_goes() {
        let doc = |text: &str| Doc::parse(text).unwrap();
        let case = Seed {
            kind: "sampler".into(),
            subject: doc(r#"{"recipe":"{\"order\":{\"name\":\"feistel\",\"samples\":7000},\"deal\":{}}","epoch":"9"}"#),
            calls: vec![doc(r#"{"call":"seed"}"#), doc(r#"{"call":"batch","args":{"batch":"77"}}"#)],
            texts: Vec::new(),
        };
        // A case fails if there are more than 100 samples and a call `batch`.
        let fails = |cases: &[Seed]| {
            let fails = |case: &Seed| {
                let Some(Doc::Nested(recipe)) = case.subject.get("recipe") else { return false };
                let samples = recipe.get("order").and_then(|order| order.get("samples")).map(Doc::to_text);
                let samples: u64 = samples.and_then(|samples| samples.parse().ok()).unwrap_or(0);
                samples > 100 && case.calls.iter().any(|call| call.get("call") == Some(&Doc::text("batch")))
            };
            (0..cases.len()).filter(|&at| fails(&cases[at])).collect()
        };
        let small = shrink(case, fails);
        assert_eq!(small.subject.to_text(), r#"{"recipe":"{\"order\":{\"samples\":101}}","epoch":"0"}"#);
        assert_eq!(small.calls, [doc(r#"{"call":"batch","args":{"batch":"0"}}"#)]);
    }
}
