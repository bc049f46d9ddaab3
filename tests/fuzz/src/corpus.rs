//! The material of random cases: parts of the golden cases, and random cases whose answers were of a new sort.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::doc::Doc;
use fastrand::Rng;

/// The largest size of a case, in bytes. A longer case takes the time of many short ones.
const LONGEST: usize = 16 << 10;
/// The largest number of values that are stored for a name.
const VALUES: usize = 600;

/// A case without its answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Seed {
    /// The kind of object: the name of a member of the golden cases.
    pub kind: String,
    pub subject: Doc,
    pub calls: Vec<Doc>,
    /// States and other texts among the answers of the case, with the names of arguments that accept them.
    pub texts: Vec<(&'static str, Doc)>,
}

/// All material of mutations.
pub struct Corpus {
    /// The golden cases, by file.
    groups: Vec<Vec<Seed>>,
    /// The random cases that were added, by kind.
    found: BTreeMap<String, Vec<Seed>>,
    calls: BTreeMap<String, Vec<Doc>>,
    values: BTreeMap<String, Vec<Doc>>,
    names: Vec<String>,
    /// The sorts of answers so far.
    sorts: BTreeSet<String>,
}

impl Corpus {
    /// Reads the golden cases of a folder.
    pub fn read(folder: &Path) -> Self {
        let mut paths: Vec<_> =
            fs::read_dir(folder).expect("the golden cases").map(|entry| entry.expect("an entry").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|end| end == "json") && !path.ends_with("schema.json"));
        paths.sort();
        let mut corpus = Self {
            groups: Vec::new(),
            found: BTreeMap::new(),
            calls: BTreeMap::new(),
            values: BTreeMap::new(),
            names: Vec::new(),
            sorts: BTreeSet::new(),
        };
        for path in paths {
            let text = fs::read_to_string(&path).expect("a golden file");
            let mut file = Doc::parse(&text).expect("a golden file is JSON");
            let Some(Doc::List(cases)) = file.take("cases") else { panic!("{}: it has cases", path.display()) };
            let seeds: Vec<Seed> = cases.into_iter().filter_map(seed).collect();
            for seed in &seeds {
                corpus.learn(seed);
            }
            corpus.groups.push(seeds);
        }
        corpus.names = corpus.values.keys().cloned().collect();
        corpus
    }

    fn learn(&mut self, seed: &Seed) {
        let calls = self.calls.entry(seed.kind.clone()).or_default();
        if calls.len() < 20 * VALUES {
            calls.extend(seed.calls.iter().cloned());
        }
        let values = &mut self.values;
        let mut note = |name: &str, value: &Doc| {
            let known = values.entry(name.to_owned()).or_default();
            // Values at the beginning of a file are often alike, so later values replace some of them at random.
            if known.len() < VALUES {
                known.push(value.clone());
            } else {
                let at = (known.len() * 31 + value.to_text().len() * 17 + name.len()) % VALUES;
                known[at] = value.clone();
            }
        };
        seed.subject.each("", &mut note);
        seed.calls.iter().filter_map(|call| call.get("args")).for_each(|args| args.each("", &mut note));
        seed.texts.iter().for_each(|(name, text)| note(name, text));
    }

    /// A case as the start of a mutation.
    pub fn seed(&self, rng: &mut Rng) -> &Seed {
        let found: usize = self.found.values().map(Vec::len).sum();
        if found > 0 && rng.u8(0..5) < 2 {
            let kinds: Vec<_> = self.found.values().collect();
            let kind = kinds[rng.usize(..kinds.len())];
            return pick(rng, kind);
        }
        let group = &self.groups[rng.usize(..self.groups.len())];
        pick(rng, group)
    }

    /// A call of an object of this kind.
    pub fn call(&self, rng: &mut Rng, kind: &str) -> Option<&Doc> {
        self.calls.get(kind).filter(|calls| !calls.is_empty()).map(|calls| pick(rng, calls))
    }

    /// A value of a member with this name in some case.
    pub fn value(&self, rng: &mut Rng, name: &str) -> Option<&Doc> {
        self.values.get(name).map(|values| pick(rng, values))
    }

    /// The name of a random member.
    pub fn name(&self, rng: &mut Rng) -> &str {
        pick::<String>(rng, &self.names)
    }

    /// Adds a case if it has an answer of a new sort.
    pub fn offer(&mut self, seed: impl FnOnce() -> Seed, sorts: Vec<String>) {
        let before = self.sorts.len();
        self.sorts.extend(sorts);
        if self.sorts.len() > before {
            let seed = seed();
            self.learn(&seed);
            self.found.entry(seed.kind.clone()).or_default().push(seed);
        }
    }

    /// Number of sorts of answers so far.
    pub fn sorts(&self) -> usize {
        self.sorts.len()
    }
}

fn pick<'a, T>(rng: &mut Rng, items: &'a [T]) -> &'a T {
    &items[rng.usize(..items.len())]
}

/// A golden case without its answers; None if it is slow or long.
fn seed(mut case: Doc) -> Option<Seed> {
    let mut calls = match case.take("calls") {
        Some(Doc::List(calls)) => calls,
        _ => Vec::new(),
    };
    case.take("fails");
    case.take("name");
    if case.take("slow").is_some() {
        return None;
    }
    let Doc::Object(members) = case else { return None };
    let (kind, subject) = members.into_iter().next()?;
    let mut texts = Vec::new();
    for call in &mut calls {
        if let Some(answer) = call.take("returns") {
            texts_of(&answer, &mut texts);
        }
        call.take("fails");
    }
    let length = subject.to_text().len() + calls.iter().map(|call| call.to_text().len()).sum::<usize>();
    (length < LONGEST).then_some(Seed { kind, subject, calls, texts })
}

/// Collects the texts in an answer that calls accept as arguments.
pub fn texts_of(answer: &Doc, texts: &mut Vec<(&'static str, Doc)>) {
    answer.each("", &mut |_, value| {
        let Doc::Nested(text) = value else { return };
        if texts.len() >= 8 {
            return;
        }
        let has = |name: &str| text.get(name).is_some();
        let names: &[&'static str] = if has("event") {
            &["entries", "entry"]
        } else if has("block_size") {
            &["header", "entries"]
        } else if has("epoch") {
            &["state"]
        } else {
            &["recipe"]
        };
        texts.extend(names.iter().map(|name| (*name, value.clone())));
    });
}
