//! A command is a plan: numbered steps, each with the time it took, and a summary of what they came to.

use std::collections::VecDeque;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use crate::counts::Counts;
use crate::progress::{self, Progress};
use crate::table;

/// What a step that succeeded has to say.
#[derive(Default)]
pub struct Report {
    /// A few words beside its time.
    pub note: String,
    /// The tests that it ran, if it is a suite.
    pub counts: Counts,
    /// What is printed below it in full.
    pub display: String,
}

impl Report {
    /// A report of a few words.
    pub fn note(note: impl Into<String>) -> Report {
        Report { note: note.into(), ..Report::default() }
    }
}

/// Why a step failed, and what was counted before.
pub struct Failure {
    /// The reason, for people.
    pub why: String,
    /// The tests that ran nevertheless.
    pub counts: Counts,
}

impl From<String> for Failure {
    fn from(why: String) -> Failure {
        Failure { why, counts: Counts::default() }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        error.to_string().into()
    }
}

/// How a step ends.
pub type Outcome = Result<Report, Failure>;

/// Whether what follows makes sense without a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Nothing does.
    Needed,
    /// What follows runs nevertheless, and the plan fails at its end.
    Checked,
}

/// One step of a plan.
pub struct Step {
    name: String,
    kind: Kind,
    action: Action,
}

type Action = Box<dyn FnOnce(&Progress) -> Outcome + Send>;

impl Step {
    /// A step without which the plan cannot go on.
    pub fn needed(name: impl Into<String>, action: impl FnOnce(&Progress) -> Outcome + Send + 'static) -> Step {
        Step { name: name.into(), kind: Kind::Needed, action: Box::new(action) }
    }

    /// A step after whose failure the others still run.
    pub fn checked(name: impl Into<String>, action: impl FnOnce(&Progress) -> Outcome + Send + 'static) -> Step {
        Step { name: name.into(), kind: Kind::Checked, action: Box::new(action) }
    }
}

/// Steps that run one after the other.
pub type Chain = Vec<Step>;

/// The steps of a command.
pub struct Plan {
    name: String,
    /// What one stage does is done before the next one begins; the chains of a stage run side by side.
    stages: Vec<Vec<Chain>>,
    summary: bool,
    closing: String,
}

impl Plan {
    /// An empty plan for `cargo xtask <name>`.
    pub fn new(name: &str) -> Plan {
        Plan { name: name.into(), stages: Vec::new(), summary: false, closing: String::new() }
    }

    /// The plan with more steps at its end.
    pub fn with(self, steps: Chain) -> Plan {
        self.with_side_by_side(vec![steps])
    }

    /// The plan with chains at its end that know nothing of one another. As many run at a time as there are cores; those
    /// that take long come first.
    pub fn with_side_by_side(mut self, chains: Vec<Chain>) -> Plan {
        self.stages.push(chains);
        self
    }

    /// The plan with a table of all steps and the number of tests at its end.
    pub fn with_summary(mut self) -> Plan {
        self.summary = true;
        self
    }

    /// The plan with a text for the reader after its success.
    pub fn with_closing(mut self, closing: String) -> Plan {
        self.closing = closing;
        self
    }

    /// Runs the steps.
    pub fn run(self) -> ExitCode {
        let started = Instant::now();
        let total = self.stages.iter().flatten().map(Vec::len).sum();
        let plural = if total == 1 { "" } else { "s" };
        println!("cargo xtask {}: {total} step{plural}; logs in target/xtask", self.name);
        let (mut ended, mut first) = (Vec::new(), 1);
        for stage in self.stages {
            let steps: usize = stage.iter().map(Vec::len).sum();
            ended.extend(run_side_by_side(stage, first, total));
            first += steps;
            if ended.iter().any(Ended::is_the_end) {
                break;
            }
        }
        let (mut counts, mut broken) = (Counts::default(), 0);
        let mut rows = Vec::new();
        for Ended { name, time, outcome, .. } in ended {
            let failed = outcome.is_err();
            let (result, counted) = match outcome {
                Ok(report) => (report.note, report.counts),
                Err(Failure { counts, .. }) if counts == Counts::default() => ("FAILED".into(), counts),
                Err(Failure { counts, .. }) => (format!("FAILED: {counts}"), counts),
            };
            broken += u64::from(failed);
            counts = counts.plus(counted);
            // A step may fail without a test that did (a build that breaks, a download): that counts as one.
            counts.failed += u64::from(failed && counted.failed == 0);
            rows.push(vec![name, time, result]);
        }
        if self.summary {
            let heading = vec!["step".into(), "seconds".into(), "result".into()];
            println!("\n{}", table::render(&[heading], &rows));
        }
        println!("{} in {:.1} s", if broken == 0 { "done" } else { "FAILED" }, started.elapsed().as_secs_f64());
        if broken == 0 && !self.closing.is_empty() {
            println!("\n{}", self.closing);
        }
        if self.summary {
            println!("{} passed, {} failed", counts.passed, counts.failed);
        }
        if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// A step that ran.
struct Ended {
    name: String,
    kind: Kind,
    time: String,
    outcome: Outcome,
}

impl Ended {
    /// Whether what follows makes no sense.
    fn is_the_end(&self) -> bool {
        self.kind == Kind::Needed && self.outcome.is_err()
    }
}

/// Runs chains; the steps that ran, in the order of the plan, whose next number is `first`.
fn run_side_by_side(chains: Vec<Chain>, first: usize, total: usize) -> Vec<Ended> {
    let lanes = thread::available_parallelism().map_or(1, NonZero::get).min(chains.len());
    let mut number = first;
    let numbered = |chain: Chain| {
        let begin = number;
        number += chain.len();
        (begin..).zip(chain).collect::<VecDeque<_>>()
    };
    let queue: Mutex<VecDeque<_>> = Mutex::new(chains.into_iter().map(numbered).collect());
    let ended = Mutex::new(Vec::new());
    let is_over = AtomicBool::new(false);
    let work = || {
        // In a statement of its own: the lock is not held while a step runs.
        while let Some(mut chain) = { queue.lock().expect("no step runs with the lock").pop_front() } {
            while !is_over.load(Ordering::Relaxed)
                && let Some((number, step)) = chain.pop_front()
            {
                let label = format!("[{number:>2}/{total}] {}", step.name);
                let (outcome, time) = run_step(step.action, &label, &step.name);
                let step = Ended { name: step.name, kind: step.kind, time, outcome };
                if step.is_the_end() {
                    is_over.store(true, Ordering::Relaxed);
                }
                ended.lock().expect("no step runs with the lock").push((number, step));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..lanes {
            scope.spawn(work);
        }
        work();
    });
    let mut ended = ended.into_inner().expect("no step runs with the lock");
    ended.sort_by_key(|(number, _)| *number);
    ended.into_iter().map(|(_, step)| step).collect()
}

/// Runs one step and prints how it ended; also returns its seconds.
fn run_step(action: Action, label: &str, name: &str) -> (Outcome, String) {
    let progress = match Progress::begin(label.into(), name) {
        Ok(progress) => progress,
        Err(error) => {
            progress::print(&format!("{label}  FAILED: cannot write its log: {error}\n"));
            return (Err(error.into()), String::new());
        }
    };
    let outcome = action(&progress);
    let time = format!("{:.1}", progress.elapsed().as_secs_f64());
    let text = match &outcome {
        Ok(report) => {
            format!("{}\n{}", format!("{label:<58} {time:>6} s  {}", report.note).trim_end(), report.display)
        }
        Err(failure) => {
            let why = failure.why.replace('\n', "\n      ");
            let log = if progress.log_text().is_empty() {
                String::new()
            } else {
                format!("      (all of it: {})\n", progress.log_name())
            };
            format!("{label:<58} {time:>6} s  FAILED\n{}      {why}\n{log}", progress.excerpt())
        }
    };
    progress.finish(&text);
    (outcome, time)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step that notes its name, and fails where it is told to.
    fn step(made: fn(String, Action) -> Step, name: &str, fails: bool) -> Step {
        let action = move |_: &Progress| if fails { Err("told to".to_string().into()) } else { Ok(Report::default()) };
        made(format!("plan test {name}"), Box::new(action))
    }

    fn names(ended: &[Ended]) -> Vec<&str> {
        ended.iter().map(|step| step.name.strip_prefix("plan test ").unwrap()).collect()
    }

    #[test]
    fn chains_end_in_the_order_of_the_plan() {
        let checked = |name, fails| step(|name, action| Step::checked(name, action), name, fails);
        let chains = vec![vec![checked("a", true), checked("b", false)], vec![checked("c", false)], vec![]];
        let ended = run_side_by_side(chains, 1, 3);
        assert_eq!(names(&ended), ["a", "b", "c"]);
        assert_eq!(ended.iter().map(|step| step.outcome.is_ok()).collect::<Vec<_>>(), [false, true, true]);
        assert!(!ended.iter().any(Ended::is_the_end));
    }

    #[test]
    fn nothing_follows_what_is_needed_and_failed() {
        let needed = |name, fails| step(|name, action| Step::needed(name, action), name, fails);
        let chains = vec![vec![needed("d", false), needed("e", true), needed("f", false)]];
        let ended = run_side_by_side(chains, 1, 3);
        assert_eq!(names(&ended), ["d", "e"]);
        assert!(ended[1].is_the_end());
        // Nor do the steps of other chains that have not begun.
        let wait = |_: &Progress| {
            thread::sleep(std::time::Duration::from_millis(300));
            Ok(Report::default())
        };
        let other = vec![Step::checked("plan test g", wait), needed("h", false)];
        let ended = run_side_by_side(vec![vec![needed("i", true)], other, vec![needed("j", false)]], 1, 4);
        assert!(!names(&ended).iter().any(|name| ["h", "j"].contains(name)), "{:?}", names(&ended));
    }
}
