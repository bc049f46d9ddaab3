//! Failed cases: sorted by their errors, shrunk, and printed as golden cases.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use fuzz::doc::Doc;
use matrix::format::{Body, Case};

use crate::engines::{self, Engine, Found, Grouped};
use crate::shrink::shrink;
use fuzz::ask::{ask, group, text_of};
use fuzz::corpus::Seed;

/// The largest number of different failures that are shrunk and printed.
const PRINTED: usize = 12;

/// The first failure of a sort.
struct One {
    /// The engine, or None for the core itself.
    engine: Option<&'static Engine>,
    why: String,
    case: Seed,
}

pub struct Failing {
    root: PathBuf,
    folder: PathBuf,
    bound_ms: f64,
    core_bound_ms: f64,
    /// For each sort: the number of failures.
    counts: BTreeMap<String, u64>,
    kept: Vec<One>,
    /// Failures that could not be shrunk.
    raw: Vec<String>,
}

impl Failing {
    pub fn new(root: &Path, folder: &Path, bound_ms: f64, core_bound_ms: f64) -> Self {
        Self {
            root: root.to_owned(),
            folder: folder.to_owned(),
            bound_ms,
            core_bound_ms,
            counts: BTreeMap::new(),
            kept: Vec::new(),
            raw: Vec::new(),
        }
    }

    pub fn count(&self) -> u64 {
        self.counts.values().sum::<u64>() + self.raw.len() as u64
    }

    /// Adds the failures of an engine in a round.
    pub fn add(&mut self, engine: &'static Engine, round: &Path, found: Found) -> io::Result<()> {
        let names: BTreeSet<&str> = found.wrong.iter().map(|(name, _)| &**name).collect();
        if names.is_empty() && found.broken.is_none() {
            return Ok(());
        }
        let cases = engines::read(&round.join(engine.part))?;
        let by_name: BTreeMap<&str, &Case> = cases.iter().map(|(_, case)| (&*case.name, case)).collect();
        for (name, why) in &found.wrong {
            if let Some(case) = by_name.get(&**name) {
                self.note(Some(engine), why, seed_of(case));
            }
        }
        if let Some(why) = found.broken {
            println!("{} broke: {why}", engine.name);
            let wrong = engine.wrong_of(&self.root, &self.folder, self.bound_ms, &cases)?;
            if wrong.is_empty() {
                self.raw.push(format!("{}, and not again with the same cases: {why}", engine.name));
            }
            for (place, why) in wrong {
                self.note(Some(engine), &why, seed_of(&cases[place].1));
            }
        }
        Ok(())
    }

    /// Adds a panic of the core, or a case that takes the core too long.
    pub fn of_core(&mut self, why: String, text: &str) {
        match Doc::parse(text).and_then(seed_of_doc) {
            Some(seed) => self.note(None, &why, seed),
            None => self.raw.push(format!("core: {why}\n{text}")),
        }
    }

    /// Adds the case that ended the process of the core.
    pub fn died(&mut self, text: &str, why: &str) {
        self.raw.push(format!("core: {why}\n{text}"));
    }

    fn note(&mut self, engine: Option<&'static Engine>, why: &str, case: Seed) {
        let sort = format!("{} {} {}", engine.map_or("core", |engine| engine.name), case.kind, sort_of(why));
        let count = self.counts.entry(sort).or_default();
        *count += 1;
        if *count == 1 && self.kept.len() < PRINTED {
            println!("{}: {}", engine.map_or("core", |engine| engine.name), first_chars(why, 600));
            self.kept.push(One { engine, why: why.to_owned(), case });
        }
    }

    /// Shrinks the failed cases, prints them, and returns a line about each.
    pub fn finish(mut self, seed: u64) -> io::Result<Vec<String>> {
        let mut lines: Vec<String> = self.raw.iter().map(|raw| first_chars(raw, 2000)).collect();
        for raw in &self.raw {
            println!("\n{raw}");
        }
        for One { engine, why, case } in std::mem::take(&mut self.kept) {
            let name = engine.map_or("core", |engine| engine.name);
            let small = shrink(case, |cases| self.fails(engine, cases).unwrap_or_default());
            let why = self.why(engine, &small)?.unwrap_or(why);
            println!(
                "\n{name}: {}\nfound with --seed {seed}; a golden case:\n{}",
                first_chars(&why, 1500),
                golden(&small)
            );
            lines.push(format!("{name}: {}", first_chars(&why, 300)));
        }
        if !self.counts.is_empty() {
            println!("\nhow often, by sort:");
            for (sort, count) in &self.counts {
                println!("  {count:6}  {}", first_chars(sort, 200));
            }
        }
        Ok(lines)
    }

    /// The places of cases that fail, on an engine or in the core itself.
    fn fails(&self, engine: Option<&'static Engine>, cases: &[Seed]) -> io::Result<Vec<usize>> {
        let Some(engine) = engine else {
            // The first failing case is enough, because a slow one takes long.
            return Ok((0..cases.len()).find(|&place| self.core_fails(&cases[place]).is_some()).into_iter().collect());
        };
        let (places, grouped) = answered(cases);
        let wrong = engine.wrong_of(&self.root, &self.folder, self.bound_ms, &grouped)?;
        Ok(wrong.into_iter().map(|(place, _)| places[place]).collect())
    }

    fn why(&self, engine: Option<&'static Engine>, case: &Seed) -> io::Result<Option<String>> {
        let Some(engine) = engine else { return Ok(self.core_fails(case)) };
        let (_, grouped) = answered(std::slice::from_ref(case));
        let wrong = engine.wrong_of(&self.root, &self.folder, self.bound_ms, &grouped)?;
        Ok(wrong.into_iter().next().map(|(_, why)| why))
    }

    fn core_fails(&self, case: &Seed) -> Option<String> {
        let answered = ask(&text_of(case, "fuzz 0")?)?;
        let milliseconds = answered.time.as_secs_f64() * 1e3;
        let slow = || (milliseconds > self.core_bound_ms).then(|| format!("took {milliseconds:.0} ms"));
        answered.panic.or_else(slow)
    }
}

/// The cases that the core answers, with their answers, and their places.
fn answered(cases: &[Seed]) -> (Vec<usize>, Grouped) {
    let mut places = Vec::new();
    let mut grouped = Grouped::new();
    for (place, case) in cases.iter().enumerate() {
        let Some(text) = text_of(case, &format!("fuzz 0-{place}")) else { continue };
        if let Some(answered) = ask(&text).filter(|answered| answered.panic.is_none()) {
            places.push(place);
            grouped.push((group(case, &text), answered.case));
        }
    }
    (places, grouped)
}

/// A case in the layout of the golden files, with the answers of the core.
fn golden(case: &Seed) -> String {
    let text = text_of(case, "found by fuzzing").unwrap_or_default();
    let Some(answered) = ask(&text).filter(|answered| answered.panic.is_none()) else { return text };
    let json = |value: &dyn Fn() -> serde_json::Result<String>| value().expect("plain data");
    let subject = json(&|| serde_json::to_string(&answered.case.subject));
    let subject = &subject[1..subject.len() - 1];
    let body = match &answered.case.body {
        Body::Fails(failure) => format!("\"fails\": {}", json(&|| serde_json::to_string(failure))),
        Body::Calls(steps) => {
            let steps: Vec<_> =
                steps.iter().map(|step| format!("  {}", json(&|| serde_json::to_string(step)))).collect();
            format!("\"calls\": [\n{}\n ]", steps.join(",\n"))
        }
    };
    format!("{{\"name\": \"found by fuzzing\",\n {subject},\n {body}}}")
}

fn seed_of(case: &Case) -> Seed {
    let text = serde_json::to_string(case).expect("plain data");
    Doc::parse(&text).and_then(seed_of_doc).expect("a case of the format")
}

/// A case without its name and its answers.
fn seed_of_doc(mut case: Doc) -> Option<Seed> {
    let mut calls = match case.take("calls") {
        Some(Doc::List(calls)) => calls,
        _ => Vec::new(),
    };
    for call in &mut calls {
        call.take("returns");
        call.take("fails");
    }
    case.take("name");
    case.take("fails");
    let Doc::Object(members) = case else { return None };
    let (kind, subject) = members.into_iter().next()?;
    Some(Seed { kind, subject, calls, texts: Vec::new() })
}

/// An error without the parts that differ between failures of one sort: numbers and quoted texts.
fn sort_of(why: &str) -> String {
    let mut sort = String::new();
    for c in why.chars().filter(|c| !c.is_ascii_digit()) {
        sort.push(c);
        if sort.len() > 60 {
            break;
        }
    }
    sort
}

fn first_chars(text: &str, count: usize) -> String {
    text.chars().take(count).collect()
}
