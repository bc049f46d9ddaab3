//! Answers of the native core to random cases.

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

/// The place and the message of the last panic.
static PANIC: Mutex<String> = Mutex::new(String::new());
/// The largest number of samples for orders with a table. Larger tables take too much time or memory for a million
/// cases.
const LARGEST_TABLE: u64 = 1 << 17;
const TABLES: [&str; 4] = ["fisher-yates", "torch", "python", "dotnet"];
/// The largest count that a random case asks for. It may also ask for a count above `MOST`, which is refused and takes
/// no time.
const LARGEST_ANSWER: u64 = 2500;
const MOST: u64 = 1 << 20;
/// Names of lists that a host stops counting at one item above the limit. A failure for a longer list shows another
/// number in each host, so such lists are left out.
const COUNTED: [&str; 2] = ["history", "axes"];
const MOST_COUNTED: usize = 65;
/// The largest length of a sample in a case that splits long samples. A longer one would be cut into very many parts.
const LONGEST_SAMPLE: u64 = 1 << 16;
/// The largest size of a case, in bytes.
const LONGEST: usize = 256 << 10;
/// Words that a case with composed orders has: their names, and their layout `rotated`.
const COMPOSED: [&str; 10] =
    ["blend", "grown", "exclude", "subset", "skip", "copies", "windows", "balance", "weighted", "rotated"];

/// A case with the answers of the core.
pub struct Answered {
    pub case: Case,
    /// The processor time of all answers.
    pub time: Duration,
    /// The message of the panic of the core, if it panicked.
    pub panic: Option<String>,
}

/// Keeps the message of a panic, and prints nothing.
pub fn watch_panics() {
    panic::set_hook(Box::new(|info| *PANIC.lock().expect("no panic in here") = info.to_string()));
}

/// The message of the last panic.
pub fn last_panic() -> String {
    PANIC.lock().expect("no panic in there").clone()
}

/// The golden file to which a random case belongs. By this name, adapters know what an engine does not support.
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
        // The light build only has the functions of launchers.
        _ if seed.calls.iter().all(|call| matches!(call.get("call"), Some(Doc::Text(name)) if is_of_launch(name))) => {
            "launch"
        }
        _ => "collation",
    }
}

fn is_of_launch(function: &str) -> bool {
    matches!(function, "detect" | "variables")
}

/// The text of a case in the format, without answers. None if the case would take long.
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

/// Whether a case is too dear: it asks for a large table or for very many numbers, or has a value that a host cannot
/// express.
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
        // A long list that is written as a repetition: each host writes it out.
        if let Some(Doc::Raw(count)) = value.get("repeat").and_then(|_| value.get("count")) {
            most = most.max(count.parse().unwrap_or(u64::MAX));
        }
        let (Doc::Raw(text) | Doc::Text(text)) = value else { return };
        has_split |= text.contains("split");
        has_table |= TABLES.iter().any(|table| text.contains(table));
        let Ok(number) = text.parse::<u64>() else { return };
        if !["seed", "weight", "session", "epoch"].contains(&name) {
            any = any.max(number);
        }
        match name {
            // Handles are numbers in JavaScript, so they must be small.
            "handle" if number > 1 << 53 => most = u64::MAX,
            "count" if number <= MOST => most = most.max(number),
            // These numbers determine neither the size of a table nor a position.
            "seed" | "weight" | "session" | "epoch" => {}
            "lengths" => longest = longest.max(number),
            _ if number <= 1 << 32 => largest = largest.max(number),
            _ => {}
        }
    };
    case.subject.each("", &mut look);
    case.calls.iter().for_each(|call| call.each("", &mut look));
    // The results of these two calls have a number for each token and for the padding.
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
    // A fingerprint reads all samples.
    let has_fingerprint = case.calls.iter().any(|call| call.get("call") == Some(&Doc::text("fingerprint")));
    most > LARGEST_ANSWER
        || (has_fingerprint && any > LARGEST_TABLE)
        || (has_split && longest > LONGEST_SAMPLE)
        || (has_table && largest > LARGEST_TABLE)
}

/// Asks the core. None if the text is no case, or has a call that its object does not have.
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
    // The adapter itself panics if an object has no such call. This is no fault of the core.
    if panic.as_ref().is_some_and(|why| why.contains("no call of") || why.contains("no function")) {
        return None;
    }
    Some(Answered { case, time, panic })
}

impl Answered {
    /// The sorts of answers. Two answers are of one sort if they have the same kind and field of failure, or results of
    /// roughly the same size.
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

    /// Texts among the answers of the core.
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
