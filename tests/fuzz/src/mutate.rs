//! Random cases: a known case with some of its calls, in which values, members, calls and whole texts are changed.

use crate::doc::Doc;
use crate::hostile;
use fastrand::Rng;

use crate::corpus::{Corpus, Seed};

/// Objects whose calls depend on earlier calls.
const STATEFUL: [&str; 3] = ["ledger", "ledger-client", "batch-stream"];
/// Arguments that are enums in some host, with their allowed values. Such a host cannot pass any other value.
const ENUMS: [(&str, [&str; 2]); 4] = [
    ("role", ["shard", "replicate"]),
    ("side", ["left", "right"]),
    ("tier", ["ranks", "workers"]),
    ("balance_by", ["samples", "bytes"]),
];
/// Arguments that are texts, even if they only have digits.
const TEXTS: [&str; 7] = ["state", "entry", "entries", "header", "checkpoint", "recipe", "environment"];

/// A random case.
pub fn case(rng: &mut Rng, corpus: &Corpus) -> Seed {
    let mut case = corpus.seed(rng).clone();
    shorten(rng, &mut case);
    let mut at = Mutator { rng, corpus, own: case.texts.clone() };
    // Most cases change little, so that they stay close to a valid one.
    let times = 1 + [0, 0, 0, 1, 1, 2, 3, 6][at.rng.usize(..8)];
    for _ in 0..times {
        if at.rng.u8(0..5) < 2 || case.kind == "functions" {
            at.calls(&case.kind, &mut case.calls);
        } else {
            at.value("", &mut case.subject, false);
        }
    }
    case
}

/// Keeps only a few of the calls.
fn shorten(rng: &mut Rng, case: &mut Seed) {
    let most = if STATEFUL.contains(&&*case.kind) { 24 } else { 6 };
    if case.calls.len() <= most {
        return;
    }
    if STATEFUL.contains(&&*case.kind) {
        case.calls.truncate(rng.usize(1..=most));
        return;
    }
    let chosen = rng.usize(1..=most);
    let mut places = rng.choose_multiple(0..case.calls.len(), chosen);
    places.sort_unstable();
    case.calls = places.into_iter().map(|place| case.calls[place].clone()).collect();
}

struct Mutator<'a> {
    rng: &'a mut Rng,
    corpus: &'a Corpus,
    /// Texts among the earlier answers of the case.
    own: Vec<(&'static str, Doc)>,
}

impl Mutator<'_> {
    fn one_in(&mut self, count: u32) -> bool {
        self.rng.u32(0..count) == 0
    }

    /// Changes the list of calls, or an argument of one.
    fn calls(&mut self, kind: &str, calls: &mut Vec<Doc>) {
        let at = self.rng.usize(0..=calls.len());
        match self.rng.u8(0..10) {
            0 if at < calls.len() && calls.len() > 1 => drop(calls.remove(at)),
            1 if at < calls.len() => calls.insert(at, calls[at].clone()),
            2 if at + 1 < calls.len() => calls.swap(at, at + 1),
            3..6 => {
                if let Some(call) = self.corpus.call(self.rng, kind) {
                    let mut call = call.clone();
                    if self.rng.bool() {
                        self.argument(&mut call);
                    }
                    calls.insert(at, call);
                }
            }
            _ if at < calls.len() => self.argument(&mut calls[at]),
            _ => {}
        }
    }

    fn argument(&mut self, call: &mut Doc) {
        // The name of a ratio is an enum in some hosts, too.
        if call.get("call") == Some(&Doc::text("ratio")) {
            return;
        }
        if let Some(args) = call.get_mut("args") {
            self.value("args", args, false);
        }
    }

    /// Changes a value, or something within it. `nested` says that the value is within a text of JSON, where any change
    /// can be expressed.
    fn value(&mut self, name: &str, doc: &mut Doc, nested: bool) {
        if nested && self.one_in(12) {
            *doc = self.other(name);
            return;
        }
        match doc {
            Doc::Raw(raw) => *raw = self.raw(name, raw, nested),
            Doc::Text(text) if !nested && is_number(name, text) => *text = self.digits(name, text),
            Doc::Text(text) if !nested && ENUMS.iter().any(|(known, _)| *known == name) => {
                let (_, names) = ENUMS.iter().find(|(known, _)| *known == name).expect("it is one");
                *text = names[self.rng.usize(..2)].into();
            }
            Doc::Text(text) => {
                *doc = match self.rng.u8(0..4) {
                    0 => Doc::Text(hostile::text(self.rng)),
                    1 => Doc::Text(hostile::damaged(self.rng, text)),
                    _ => self.known(name),
                };
                if !nested {
                    *doc = as_text(std::mem::replace(doc, Doc::null()));
                }
            }
            Doc::Nested(inner) => {
                let own: Vec<&Doc> =
                    self.own.iter().filter(|(known, _)| *known == name).map(|(_, text)| text).collect();
                if !own.is_empty() && self.rng.bool() {
                    *doc = own[self.rng.usize(..own.len())].clone();
                    return;
                }
                match self.rng.u8(0..16) {
                    0 => *doc = Doc::Text(hostile::damaged(self.rng, &inner.to_text())),
                    1 => *doc = as_text(self.known(name)),
                    2 if self.one_in(6) => *doc = Doc::Text(hostile::deep(self.rng)),
                    _ => self.value(name, inner, true),
                }
            }
            Doc::List(items) => self.list(name, items, nested),
            Doc::Object(members) => self.object(name, members, nested),
        }
    }

    fn raw(&mut self, name: &str, raw: &str, nested: bool) -> String {
        if raw == "null" && !nested {
            return match self.corpus.value(self.rng, name) {
                Some(value) => value.to_text(),
                None => raw.into(),
            };
        }
        if raw == "true" || raw == "false" {
            return if nested && self.one_in(4) { hostile::raw_number(self.rng) } else { (raw == "false").to_string() };
        }
        if nested && self.one_in(8) {
            return hostile::raw_number(self.rng);
        }
        if nested {
            return self.digits(name, raw);
        }
        // Outside of texts, an argument is a number of 32 bits, or it is absent.
        match self.rng.u8(0..3) {
            0 => (hostile::near(self.rng, raw.parse().unwrap_or(0)) as u32).to_string(),
            _ => hostile::narrow(self.rng).to_string(),
        }
    }

    /// Another number, as digits.
    fn digits(&mut self, name: &str, old: &str) -> String {
        if let Ok(number) = old.parse::<i64>()
            && (number < 0 || self.one_in(20))
        {
            return number.wrapping_mul(if self.rng.bool() { -1 } else { 3 }).to_string();
        }
        let number = match self.rng.u8(0..5) {
            0 | 1 => hostile::near(self.rng, old.parse().unwrap_or(0)),
            2 => match self.corpus.value(self.rng, name) {
                Some(Doc::Raw(known) | Doc::Text(known)) => known.parse().unwrap_or(1),
                _ => self.rng.u64(0..40),
            },
            _ => hostile::number(self.rng),
        };
        number.to_string()
    }

    fn list(&mut self, name: &str, items: &mut Vec<Doc>, nested: bool) {
        let at = self.rng.usize(0..=items.len());
        let end = (at + self.rng.usize(0..8)).min(items.len());
        match self.rng.u8(0..12) {
            0 => drop(items.drain(at..end)),
            1 => drop(items.splice(at..at, items[at..end].to_vec())),
            2 => items.truncate(at),
            3 if at < items.len() && (nested || self.one_in(4)) => {
                let times = 1 << self.rng.u32(0..8);
                drop(items.splice(at..at, vec![items[at].clone(); times]));
            }
            4 => self.rng.shuffle(items),
            5 => items.reverse(),
            6 => {
                if let Some(Doc::List(known)) = self.corpus.value(self.rng, name) {
                    // Outside of texts, lists of one name have one type; within a text, they may be mixed.
                    items.clone_from(known);
                }
            }
            7 if at < items.len() => {
                if let Some(Doc::List(known)) = self.corpus.value(self.rng, name) {
                    items.splice(at..at, known.iter().take(3).cloned());
                }
            }
            _ if at < items.len() => self.value(name, &mut items[at], nested),
            _ => {}
        }
    }

    fn object(&mut self, name: &str, members: &mut Vec<(String, Doc)>, nested: bool) {
        let at = self.rng.usize(0..=members.len());
        // Outside of texts, only `lists` may have any names.
        if (nested || name == "lists") && self.one_in(3) {
            match self.rng.u8(0..8) {
                0 | 1 if at < members.len() => drop(members.remove(at)),
                2 if at < members.len() && nested => members.insert(at, members[at].clone()),
                3 if at < members.len() => members[at].0 = self.corpus.name(self.rng).to_owned(),
                4 if at < members.len() && self.one_in(3) => members[at].0 = hostile::damaged(self.rng, &members[at].0),
                5 => self.rng.shuffle(members),
                6 if name == "lists" => {
                    if let Some((_, value)) = members.first().cloned() {
                        members.push((self.corpus.name(self.rng).to_owned(), value));
                    }
                }
                _ if nested => {
                    // Members of one object belong together, so they come from one known object.
                    let known = match self.corpus.value(self.rng, name) {
                        Some(Doc::Object(known)) if !known.is_empty() => known[self.rng.usize(..known.len())].clone(),
                        _ => {
                            let name = self.corpus.name(self.rng).to_owned();
                            let value = self.known(&name);
                            (name, value)
                        }
                    };
                    match members.iter_mut().find(|(name, _)| *name == known.0) {
                        Some(member) => member.1 = known.1,
                        None => members.insert(at, known),
                    }
                }
                _ => {}
            }
            if !nested {
                // Python's adapter writes `_` for `-`, so two names could become equal.
                members.iter_mut().for_each(|(name, _)| *name = name.replace('-', "_"));
            }
            return;
        }
        if at < members.len() {
            let (name, value) = &mut members[at];
            let name = name.clone();
            self.value(&name, value, nested);
        }
    }

    /// A known value of a member with this name.
    fn known(&mut self, name: &str) -> Doc {
        self.corpus.value(self.rng, name).cloned().unwrap_or_else(|| Doc::Text(hostile::text(self.rng)))
    }

    /// A value of another sort, or a known one.
    fn other(&mut self, name: &str) -> Doc {
        match self.rng.u8(0..8) {
            0 => Doc::Raw(hostile::raw_number(self.rng)),
            1 => Doc::Text(hostile::text(self.rng)),
            2 => Doc::List(Vec::new()),
            3 => Doc::Object(Vec::new()),
            4 => {
                let name = self.corpus.name(self.rng).to_owned();
                self.known(&name)
            }
            _ => self.known(name),
        }
    }
}

/// The value as a string of the format. It never consists only of digits, which adapters would read as a number.
fn as_text(value: Doc) -> Doc {
    match value {
        Doc::Nested(inner) => Doc::Nested(inner),
        Doc::Text(text) if is_number("", &text) => Doc::Text(format!("+{text}")),
        Doc::Text(text) => Doc::Text(text),
        Doc::Raw(raw) => Doc::Text(format!(" {raw}")),
        other => Doc::Text(other.to_text()),
    }
}

/// Whether a string of the format stands for a number of 64 bits.
fn is_number(name: &str, text: &str) -> bool {
    !TEXTS.contains(&name) && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
