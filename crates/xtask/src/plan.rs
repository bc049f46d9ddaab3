//! A command is a plan: numbered steps, each with the time it took, and a summary of what they came to.

use std::process::ExitCode;
use std::time::Instant;

use crate::counts::Counts;
use crate::progress::Progress;
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
    action: Box<dyn FnOnce(&Progress) -> Outcome>,
}

impl Step {
    /// A step without which the plan cannot go on.
    pub fn needed(name: impl Into<String>, action: impl FnOnce(&Progress) -> Outcome + 'static) -> Step {
        Step { name: name.into(), kind: Kind::Needed, action: Box::new(action) }
    }

    /// A step after whose failure the others still run.
    pub fn checked(name: impl Into<String>, action: impl FnOnce(&Progress) -> Outcome + 'static) -> Step {
        Step { name: name.into(), kind: Kind::Checked, action: Box::new(action) }
    }
}

/// The steps of a command.
pub struct Plan {
    name: String,
    steps: Vec<Step>,
    summary: bool,
    closing: String,
}

impl Plan {
    /// An empty plan for `cargo xtask <name>`.
    pub fn new(name: &str) -> Plan {
        Plan { name: name.into(), steps: Vec::new(), summary: false, closing: String::new() }
    }

    /// The plan with more steps at its end.
    pub fn with(mut self, steps: Vec<Step>) -> Plan {
        self.steps.extend(steps);
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

    /// Runs the steps in their order.
    pub fn run(self) -> ExitCode {
        let started = Instant::now();
        let total = self.steps.len();
        let (mut counts, mut broken) = (Counts::default(), 0);
        let mut rows = Vec::new();
        let plural = if total == 1 { "" } else { "s" };
        println!("cargo xtask {}: {total} step{plural}; logs in target/xtask", self.name);
        for (number, step) in self.steps.into_iter().enumerate() {
            let label = format!("[{:>2}/{total}] {}", number + 1, step.name);
            let (outcome, time) = run_step(step.action, &label, &step.name);
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
            rows.push(vec![step.name, time, result]);
            if failed && step.kind == Kind::Needed {
                break;
            }
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

/// Runs one step and prints how it ended; also returns its seconds.
fn run_step(action: Box<dyn FnOnce(&Progress) -> Outcome>, label: &str, name: &str) -> (Outcome, String) {
    let progress = match Progress::begin(label.into(), name) {
        Ok(progress) => progress,
        Err(error) => {
            println!("{label}  FAILED: cannot write its log: {error}");
            return (Err(error.into()), String::new());
        }
    };
    let outcome = action(&progress);
    let time = format!("{:.1}", progress.elapsed().as_secs_f64());
    match &outcome {
        Ok(report) => {
            progress.finish(format!("{label:<58} {time:>6} s  {}", report.note).trim_end());
            print!("{}", report.display);
        }
        Err(failure) => {
            progress.finish(&format!("{label:<58} {time:>6} s  FAILED"));
            println!("{}      {}", progress.excerpt(), failure.why.replace('\n', "\n      "));
            if !progress.log_text().is_empty() {
                println!("      (all of it: {})", progress.log_name());
            }
        }
    }
    (outcome, time)
}
