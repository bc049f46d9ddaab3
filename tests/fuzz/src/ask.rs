//! What the native core answers to a random case.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::time::Duration;

use crate::doc::Doc;
use crate::usage::thread_time;
use matrix::Engine;
use matrix::format::{Body, Case, Outcome};
use matrix::native::Native;
use serde_json::Value;

use crate::corpus::{Seed, texts_of};

/// Where the last panic was, and what it said.
static PANIC: Mutex<String> = Mutex::new(String::new());
/// Orders with a table of all samples: of more than this they take too long, or too much memory, for a million cases.
const LARGEST_TABLE: u64 = 1 << 17;
const TABLES: [&str; 4] = ["fisher-yates", "torch", "python", "dotnet"];
/// As many numbers as a random case asks for at once; more than 2^20 are refused, which takes no time.
const LARGEST_ANSWER: u64 = 2500;
const MOST: u64 = 1 << 20;
/// A host stops to count these one above the most that there may be: the failure then has another value.
const COUNTED: [&str; 2] = ["history", "axes"];
const MOST_COUNTED: usize = 65;
/// Longer samples become very many parts where too long ones are split.
const LONGEST_SAMPLE: u64 = 1 << 16;
/// Bytes of a case.
const LONGEST: usize = 256 << 10;
/// Orders that are made of others, and the layout of them.
const COMPOSED: [&str; 9] = ["blend", "grown", "exclude", "subset", "skip", "copies", "windows", "balance", "rotated"];

/// A case with the answers of the core.
pub struct Answered {
    pub case: Case,
    /// The processor time of all answers.
    pub time: Duration,
    /// What the core panicked with, if it did.
    pub panic: Option<String>,
}

/// Keeps the message of a panic, and prints nothing.
pub fn watch_panics() {
    panic::set_hook(Box::new(|info| *PANIC.lock().expect("no panic in here") = info.to_string()));
}

/// What the last panic said.
pub fn last_panic() -> String {
    PANIC.lock().expect("no panic in there").clone()
}

/// The golden file to which a random case belongs: the adapters know by it what an engine does not have.
pub fn group(seed: &Seed, text: &str) -> &'static str {
    match &*seed.kind {
        "sampler" if COMPOSED.iter().any(|word| text.contains(word)) => "orders-composed",
        "sampler" => "recipes",
        "plan" => "shards-plan",
        "chunk-stream" => "shards-stream",
        "ledger" => "ledger",
        "ledger-client" => "ledger-client",
        "mesh" => "mesh",
        "reading" => "readings",
        "batch-recipe" => "recipes-batch",
        "batcher" => "batches-default",
        "batch-stream" => "batches-stream",
        "split" => "splits",
        "schedule" => "steps",
        // The light build has no other function than those of launchers.
        _ if seed.calls.iter().all(|call| matches!(call.get("call"), Some(Doc::Text(name)) if is_of_launch(name))) => {
            "launch"
        }
        _ => "collation",
    }
}

fn is_of_launch(function: &str) -> bool {
    matches!(function, "detect" | "variables")
}

/// The text of a case of the format, without answers. Nothing if it would take long, as its meaning says.
pub fn text_of(seed: &Seed, name: &str) -> Option<String> {
    if is_dear(seed) {
        return None;
    }
    let mut text = String::from("{\"name\":");
    Doc::text(name).write(&mut text);
    text.push_str(",\"");
    text.push_str(&seed.kind);
    text.push_str("\":");
    seed.subject.write(&mut text);
    text.push_str(",\"calls\":[");
    for (i, call) in seed.calls.iter().enumerate() {
        if i > 0 {
            text.push(',');
        }
        let mut call = call.clone();
        if let Doc::Object(members) = &mut call {
            members.push(("returns".into(), Doc::null()));
        }
        call.write(&mut text);
    }
    text.push_str("]}");
    (text.len() < LONGEST).then_some(text)
}

/// Whether a case asks for a large table, or for very many numbers at once, or says what a host has no words for.
pub fn is_dear(case: &Seed) -> bool {
    let (mut has_table, mut has_split, mut longest, mut any) = (false, false, 0, 0);
    let mut largest = 0;
    let mut most = 0;
    let mut look = |name: &str, value: &Doc| {
        if let Doc::List(items) = value
            && COUNTED.contains(&name)
            && items.len() > MOST_COUNTED
        {
            most = u64::MAX;
        }
        let (Doc::Raw(text) | Doc::Text(text)) = value else { return };
        has_split |= text.contains("split");
        has_table |= TABLES.iter().any(|table| text.contains(table));
        let Ok(number) = text.parse::<u64>() else { return };
        if !["seed", "weight", "life", "epoch"].contains(&name) {
            any = any.max(number);
        }
        match name {
            // JavaScript has numbers for handles, which are small.
            "handle" if number > 1 << 53 => most = u64::MAX,
            "count" if number <= MOST => most = most.max(number),
            // More than this no table takes, and no position of it is asked for.
            "seed" | "weight" | "life" | "epoch" => {}
            "lengths" => longest = longest.max(number),
            _ if number <= 1 << 32 => largest = largest.max(number),
            _ => {}
        }
    };
    case.subject.each("", &mut look);
    case.calls.iter().for_each(|call| call.each("", &mut look));
    // What these two return has a number for each token, and for the padding.
    for call in case
        .calls
        .iter()
        .filter(|call| ["pad", "pack"].map(Doc::text).iter().any(|name| call.get("call") == Some(name)))
    {
        call.each("", &mut |_, value| {
            if let Doc::Raw(digits) = value {
                most = most.max(digits.parse().unwrap_or(0));
            }
        });
    }
    // This goes through all samples.
    let has_fingerprint = case.calls.iter().any(|call| call.get("call") == Some(&Doc::text("fingerprint")));
    most > LARGEST_ANSWER
        || (has_fingerprint && any > LARGEST_TABLE)
        || (has_split && longest > LONGEST_SAMPLE)
        || (has_table && largest > LARGEST_TABLE)
}

/// Asks the core. Nothing if the text is no case, or has a call that its object does not have.
pub fn ask(text: &str) -> Option<Answered> {
    let mut case: Case = serde_json::from_str(text).ok()?;
    let started = thread_time();
    let answered = panic::catch_unwind(AssertUnwindSafe(|| {
        let mut engine = match Native::create(&case.subject) {
            Ok(engine) => engine,
            Err(failure) => {
                case.body = Body::Fails(failure);
                return;
            }
        };
        let Body::Calls(steps) = &mut case.body else { return };
        for step in steps {
            step.outcome = match engine.call(&step.call) {
                Ok(value) => Outcome::Returns(value),
                Err(failure) => Outcome::Fails(failure),
            };
        }
    }));
    let time = thread_time() - started;
    let panic = answered.is_err().then(last_panic);
    // That comes of the adapter, which has no such call.
    if panic.as_ref().is_some_and(|why| why.contains("no call of") || why.contains("no function")) {
        return None;
    }
    Some(Answered { case, time, panic })
}

impl Answered {
    /// What sorts of answers there are: the kind and the field of a failure, or roughly how much a call returned.
    pub fn sorts(&self, kind: &str) -> Vec<String> {
        let failed = |call: &str, failure: &matrix::format::Failure| {
            let allowed: String = failure.allowed.chars().filter(|c| !c.is_ascii_digit()).take(40).collect();
            format!("{kind} {call} {} {} {allowed}", failure.kind, failure.field)
        };
        match &self.case.body {
            Body::Fails(failure) => vec![failed("", failure)],
            Body::Calls(steps) => {
                let sort = |step: &matrix::format::Step| {
                    let call = name_of(step);
                    match &step.outcome {
                        Outcome::Fails(failure) => failed(&call, failure),
                        Outcome::Returns(value) => {
                            let text = value.to_string();
                            let size = text.len().ilog2();
                            let text: String = if text.len() < 5 { text } else { text.chars().take(1).collect() };
                            format!("{kind} {call} {size} {text}")
                        }
                    }
                };
                steps.iter().map(sort).collect()
            }
        }
    }

    /// Texts that the core answered.
    pub fn texts(&self) -> Vec<(&'static str, Doc)> {
        let mut texts = Vec::new();
        if let Body::Calls(steps) = &self.case.body {
            for step in steps {
                if let Outcome::Returns(value) = &step.outcome {
                    texts_in(value, &mut texts);
                }
            }
        }
        texts
    }

    /// The failures among the answers, by kind.
    pub fn failures(&self) -> Vec<&str> {
        match &self.case.body {
            Body::Fails(failure) => vec![&failure.kind],
            Body::Calls(steps) => {
                let kind = |step| match step {
                    &matrix::format::Step { outcome: Outcome::Fails(ref failure), .. } => Some(&*failure.kind),
                    _ => None,
                };
                steps.iter().filter_map(kind).collect()
            }
        }
    }

    pub fn calls(&self) -> u64 {
        match &self.case.body {
            Body::Fails(_) => 1,
            Body::Calls(steps) => 1 + steps.len() as u64,
        }
    }
}

fn texts_in(value: &Value, texts: &mut Vec<(&'static str, Doc)>) {
    match value {
        Value::String(text) if text.starts_with('{') => texts_of(&Doc::of_str(text), texts),
        Value::Array(items) => items.iter().take(8).for_each(|item| texts_in(item, texts)),
        Value::Object(members) => members.values().for_each(|member| texts_in(member, texts)),
        _ => {}
    }
}

fn name_of(step: &matrix::format::Step) -> String {
    let call = serde_json::to_value(&step.call).expect("plain data");
    call["call"].as_str().unwrap_or_default().to_owned()
}
