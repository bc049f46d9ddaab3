//! Calls with random arguments, and the check of their results.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fastrand::Rng;
use fuzz::ask::is_dear;
use fuzz::corpus::{Corpus, Seed};
use fuzz::doc::Doc;
use fuzz::usage::thread_time;
use fuzz::{hostile, mutate};
use samedeal::{BatchSize, Error, FailureKind};

/// The largest number of failures that are stored.
const KEPT: usize = 30;
/// The number of characters of a recipe that a failure shows.
const SHOWN: usize = 4000;
/// The largest number of samples in an order with a table, and the largest number of samples in one request.
pub const SMALL: u64 = 20_000;

pub struct Asked<'a> {
    pub rng: Rng,
    corpus: &'a Corpus,
    bound_ms: f64,
    /// The calls of this program.
    program: Vec<&'static str>,
    /// The recipe of the object of this program, if it was built. A failure shows it.
    recipe: String,
    started: Duration,
    pub calls: u64,
    pub names: BTreeSet<&'static str>,
    pub errors: BTreeMap<String, u64>,
    pub slowest_ms: f64,
    pub slowest: &'static str,
    pub failures: Vec<String>,
}

/// The result of a call. It may be an error.
pub trait Answer {
    fn error(&self) -> Option<&Error> {
        None
    }
}

impl<T> Answer for Result<T, Error> {
    fn error(&self) -> Option<&Error> {
        self.as_ref().err()
    }
}

/// Calls methods that may fail, each with a probability of one in `$odds`.
macro_rules! ask {
    ($asked:ident, 1 in $odds:literal, $object:expr, $($name:ident $(::<$type:ty>)? ( $($argument:expr),* )),+ $(,)?) => {
        $(if $asked.one_in($odds) {
            $asked.begin(stringify!($name));
            let answer = $object.$name$(::<$type>)?($($argument),*);
            $asked.end(&answer);
        })+
    };
}
pub(crate) use ask;

/// Calls methods that cannot fail, each with a probability of one in three.
macro_rules! look {
    ($asked:ident, $object:expr, $($name:ident ( $($argument:expr),* )),+ $(,)?) => {
        $(if $asked.one_in(3) {
            $asked.begin(stringify!($name));
            let _ = std::hint::black_box($object.$name($($argument),*));
            $asked.end_plain();
        })+
    };
}
pub(crate) use look;

/// Sets options of a builder, each with a probability of one in `$odds`.
macro_rules! set {
    ($asked:ident, 1 in $odds:literal, $builder:ident, $($name:ident ( $($argument:expr),* )),+ $(,)?) => {
        $(if $asked.one_in($odds) {
            $asked.begin(stringify!($name));
            $builder = $builder.$name($($argument),*);
            $asked.end_plain();
        })+
    };
}
pub(crate) use set;

/// A call that may fail: its value, or None.
macro_rules! made {
    ($asked:ident, $name:literal, $call:expr) => {{
        $asked.begin($name);
        let answer = $call;
        $asked.end(&answer);
        answer.ok()
    }};
}
pub(crate) use made;

impl<'a> Asked<'a> {
    pub fn new(seed: u64, corpus: &'a Corpus, bound_ms: f64) -> Self {
        Self {
            rng: Rng::with_seed(seed),
            corpus,
            bound_ms,
            program: Vec::new(),
            recipe: String::new(),
            started: Duration::ZERO,
            calls: 0,
            names: BTreeSet::new(),
            errors: BTreeMap::new(),
            slowest_ms: 0.0,
            slowest: "",
            failures: Vec::new(),
        }
    }

    pub fn begin_program(&mut self) {
        self.program.clear();
        self.recipe.clear();
    }

    /// Remembers the recipe of the object of this program.
    pub fn about(&mut self, recipe: Result<String, Error>) {
        self.recipe = recipe.unwrap_or_default();
    }

    pub fn begin(&mut self, name: &'static str) {
        self.program.push(name);
        self.names.insert(name);
        self.calls += 1;
        self.started = thread_time();
    }

    pub fn end(&mut self, answer: &impl Answer) {
        self.end_plain();
        let kind = match answer.error() {
            None => return,
            Some(Error::Failure(failure)) => {
                if let FailureKind::Other(name) = &failure.kind {
                    self.fail(format!("an unknown kind of failure: {name}"));
                }
                // A message must name the value and what is allowed.
                if failure.field.is_empty() || failure.allowed.is_empty() {
                    self.fail(format!("a failure that does not say what is wrong: {failure:?}"));
                }
                failure.kind.name().to_owned()
            }
            Some(Error::Log(_)) => "log".into(),
            Some(Error::Lengths(_)) => "lengths".into(),
            Some(error) => {
                let error = error.to_string();
                self.fail(format!("the engine failed: {error}"));
                "engine".into()
            }
        };
        *self.errors.entry(kind).or_default() += 1;
    }

    pub fn end_plain(&mut self) {
        let took = (thread_time() - self.started).as_secs_f64() * 1e3;
        if took > self.slowest_ms {
            self.slowest_ms = took;
            self.slowest = self.program.last().copied().unwrap_or_default();
        }
        if took > self.bound_ms {
            self.fail(format!("took {took:.0} ms of processor time"));
        }
    }

    pub fn panicked(&mut self) {
        let why = fuzz::ask::last_panic();
        self.fail(why);
    }

    fn fail(&mut self, why: String) {
        let recipe: String = self.recipe.chars().take(SHOWN).collect();
        let text = format!("call {}, {:?}: {why} {recipe}", self.calls, self.program);
        println!("{text}");
        if self.failures.len() < KEPT {
            self.failures.push(text);
        }
    }

    pub fn one_in(&mut self, odds: u32) -> bool {
        self.rng.u32(0..odds) == 0
    }

    pub fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.rng.usize(..all.len())]
    }

    /// Any number, usually a small one.
    pub fn wide(&mut self) -> u64 {
        if self.one_in(3) { hostile::number(&mut self.rng) } else { self.rng.u64(0..40) }
    }

    pub fn narrow(&mut self) -> u32 {
        if self.one_in(3) { hostile::narrow(&mut self.rng) } else { self.rng.u32(0..9) }
    }

    /// A size of batches that are made whole, so it is small.
    pub fn size(&mut self) -> BatchSize {
        BatchSize::new(self.rng.u32(0..300)).drop_last(self.rng.bool())
    }

    pub fn any_size(&mut self) -> BatchSize {
        BatchSize::new(self.narrow()).drop_last(self.rng.bool())
    }

    /// A number of samples. Large numbers are not fully read.
    pub fn samples(&mut self) -> u64 {
        if self.one_in(4) { hostile::number(&mut self.rng).min(SMALL) } else { self.rng.u64(0..300) }
    }

    pub fn signed(&mut self) -> i64 {
        self.wide() as i64
    }

    /// A number of values that a call asks for.
    pub fn count(&mut self) -> u32 {
        if self.one_in(9) { u32::MAX - self.rng.u32(0..3) } else { self.rng.u32(0..200) }
    }

    /// A range with at most 200 numbers, or with its end before its start.
    pub fn range(&mut self) -> std::ops::Range<u64> {
        let start = self.wide();
        let length = self.rng.u64(0..200);
        if self.one_in(9) { start..start.saturating_sub(length) } else { start..start.saturating_add(length) }
    }

    pub fn text(&mut self) -> String {
        hostile::text(&mut self.rng)
    }

    pub fn wides(&mut self) -> Vec<u64> {
        (0..self.rng.usize(0..7)).map(|_| if self.one_in(20) { self.wide() } else { self.rng.u64(0..30) }).collect()
    }

    pub fn narrows(&mut self) -> Vec<u32> {
        (0..self.rng.usize(0..9)).map(|_| if self.one_in(20) { self.narrow() } else { self.rng.u32(0..30) }).collect()
    }

    pub fn order_name(&mut self) -> &'static str {
        self.pick(&[
            "feistel",
            "sequential",
            "fisher-yates",
            "torch",
            "torch-2.5",
            "python",
            "dotnet",
            "sharded",
            "blend",
            "",
        ])
    }

    pub fn memory(&mut self) -> usize {
        self.pick(&[0, 1, 1 << 16, 1 << 20, 8 << 20, 1 << 28, usize::MAX])
    }

    /// A random case, from the golden ones, that makes an object of this kind.
    pub fn case(&mut self, kind: &str) -> Seed {
        loop {
            let case = mutate::case(&mut self.rng, self.corpus);
            if case.kind == kind && !is_dear(&case) {
                return case;
            }
        }
    }

    /// A text with this name from the corpus, such as a state.
    pub fn known(&mut self, name: &str) -> String {
        let known = self.corpus.value(&mut self.rng, name).map(text_of).unwrap_or_default();
        // One text in four is damaged. A state of a large table can only be refused, because no object here has such a
        // table.
        if self.one_in(4) { hostile::damaged(&mut self.rng, &known) } else { known }
    }
}

/// The lists beside a recipe.
pub fn lists_of(case: &Seed) -> Vec<(String, Vec<u64>)> {
    let Some(Doc::Object(lists)) = case.subject.get("lists") else { return Vec::new() };
    lists.iter().map(|(name, list)| (name.clone(), numbers(list))).collect()
}

pub fn numbers(list: &Doc) -> Vec<u64> {
    let Doc::List(items) = list else { return Vec::new() };
    items.iter().filter_map(|item| text_of(item).parse().ok()).collect()
}

/// A member of the object of a case.
pub fn member(case: &Seed, name: &str) -> String {
    case.subject.get(name).map(text_of).unwrap_or_default()
}

pub fn number_of(case: &Seed, name: &str) -> u64 {
    member(case, name).parse().unwrap_or_default()
}

fn text_of(doc: &Doc) -> String {
    match doc {
        Doc::Text(text) => text.clone(),
        Doc::Nested(inner) => inner.to_text(),
        other => other.to_text(),
    }
}
