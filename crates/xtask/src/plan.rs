//! A command is a plan of steps, which name the steps that they need. Steps that do not need each other run at the same
//! time. A step whose inputs have not changed since it last passed does not run again.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::counts::Counts;
use crate::progress::{self, Progress};
use crate::stamp::Stamp;
use crate::table;

/// The report of a step that succeeded.
#[derive(Default)]
pub struct Report {
    /// A few words for the line of the step.
    pub note: String,
    /// The counts of its tests, if it is a suite.
    pub counts: Counts,
    /// A text that is printed in full below the line of the step.
    pub display: String,
}

impl Report {
    pub fn note(note: impl Into<String>) -> Report {
        Report { note: note.into(), ..Report::default() }
    }

    /// The report of a suite that passed.
    pub fn of(counts: Counts) -> Report {
        Report { note: counts.to_string(), counts, ..Report::default() }
    }
}

/// The failure of a step.
pub struct Failure {
    pub why: String,
    /// The counts of the tests that ran before the failure.
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

pub type Outcome = Result<Report, Failure>;

type Action = Box<dyn FnOnce(&Progress) -> Outcome + Send>;

/// One step of a plan.
pub struct Step {
    name: String,
    needs: Vec<&'static str>,
    /// The files and folders that the result depends on. None if the step itself looks for changes, or runs each time.
    inputs: Option<Vec<&'static str>>,
    /// A setting that the result depends on, besides the files.
    setting: String,
    /// The lock that the step holds, if any. Steps with the same lock never run at the same time.
    lock: Option<&'static str>,
    action: Action,
}

impl Step {
    /// A step that runs as soon as the steps that it needs have succeeded.
    pub fn new(
        name: impl Into<String>,
        needs: &[&'static str],
        action: impl FnOnce(&Progress) -> Outcome + Send + 'static,
    ) -> Step {
        Step {
            name: name.into(),
            needs: needs.to_vec(),
            inputs: None,
            setting: String::new(),
            lock: None,
            action: Box::new(action),
        }
    }

    /// Skips the step as long as these files and folders are the same as when it last succeeded.
    pub fn made_from(mut self, inputs: &[&[&'static str]]) -> Step {
        self.inputs = Some(inputs.concat());
        self
    }

    /// Runs the step again if this setting differs from that of its last success.
    pub fn with_setting(mut self, setting: impl Into<String>) -> Step {
        self.setting = setting.into();
        self
    }

    /// Adds steps that the step needs.
    pub fn and_needs(mut self, needs: &[&'static str]) -> Step {
        self.needs.extend(needs);
        self
    }

    /// Prevents the step from running at the same time as another step with this lock.
    pub fn with_lock(mut self, lock: &'static str) -> Step {
        self.lock = Some(lock);
        self
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn needs(&self) -> &[&'static str] {
        &self.needs
    }
}

/// The steps of a command.
pub struct Plan {
    name: String,
    steps: Vec<Step>,
    /// Whether all steps run, even if nothing has changed.
    again: bool,
    summary: bool,
    closing: String,
}

impl Plan {
    /// A plan for `cargo xtask <name>`: the goals, and before them the steps of `parts` that they need. If several
    /// steps could run, the first of them in this order is started.
    pub fn new(name: &str, parts: Vec<Step>, goals: Vec<Step>) -> Plan {
        let is_goal = |name: &str| goals.iter().any(|goal| goal.name == name);
        let mut wanted: Vec<&str> = goals.iter().flat_map(|goal| goal.needs.clone()).collect();
        let mut needed = BTreeSet::new();
        while let Some(name) = wanted.pop() {
            if !is_goal(name) && needed.insert(name) {
                let part = parts.iter().find(|part| part.name == name);
                wanted.extend(&part.unwrap_or_else(|| panic!("no step is called {name}")).needs);
            }
        }
        let needed: BTreeSet<String> = needed.into_iter().map(String::from).collect();
        let steps = parts.into_iter().filter(|part| needed.contains(&part.name)).chain(goals).collect();
        Plan { name: name.into(), steps, again: false, summary: false, closing: String::new() }
    }

    /// A plan whose goals are among the parts.
    pub fn of(name: &str, mut parts: Vec<Step>, goals: &[&str]) -> Plan {
        let goals = parts.extract_if(.., |part| goals.contains(&part.name.as_str())).collect();
        Plan::new(name, parts, goals)
    }

    /// With `true`, runs every step even if nothing has changed.
    pub fn again(mut self, again: bool) -> Plan {
        self.again = again;
        self
    }

    /// Adds a table of all steps and the number of tests at the end.
    pub fn with_summary(mut self) -> Plan {
        self.summary = true;
        self
    }

    /// Adds a text for the reader, which is printed after a success.
    pub fn with_closing(mut self, closing: String) -> Plan {
        self.closing = closing;
        self
    }

    /// Runs the steps, prints how each ended, and returns the exit code.
    pub fn run(self) -> ExitCode {
        let started = Instant::now();
        let total = self.steps.len();
        let plural = if total == 1 { "" } else { "s" };
        println!("cargo xtask {}: {total} step{plural}; logs in target/xtask", self.name);
        let (mut counts, mut broken, mut unchanged) = (Counts::default(), 0, 0);
        let (mut rows, mut failures, mut all) = (Vec::new(), String::new(), Duration::ZERO);
        for Ended { name, time, busy, outcome, skipped, points } in run(self.steps, self.again) {
            let failed = outcome.is_err();
            if let Err(failure) = &outcome {
                failures += &format!("FAILED: {name}: {}\n", failure.why.lines().next().unwrap_or_default());
                failures.extend(points.iter().map(|line| format!("      | {line}\n")));
            }
            let (result, counted) = match outcome {
                Ok(report) => (report.note, report.counts),
                Err(Failure { counts, .. }) if counts == Counts::default() => ("FAILED".into(), counts),
                Err(Failure { counts, .. }) => (format!("FAILED: {counts}"), counts),
            };
            broken += u64::from(failed);
            unchanged += if skipped { counted.passed } else { 0 };
            counts = counts.plus(counted);
            // A step may fail without a failed test, for example in a build or a download. This counts as one failure.
            counts.failed += u64::from(failed && counted.failed == 0);
            all += busy;
            rows.push(vec![name, time, format!("{:.0}", busy.as_secs_f64()), result]);
        }
        if self.summary {
            let heading = vec!["step".into(), "seconds".into(), "CPU s".into(), "result".into()];
            println!("\n{}", table::render(&[heading], &rows));
            // Failures come last, because a reader of a long log begins at its end.
            print!("{failures}");
        }
        let end = if broken == 0 { "done" } else { "FAILED" };
        println!("{end} in {:.1} s, with {:.0} s of processors", started.elapsed().as_secs_f64(), all.as_secs_f64());
        if broken == 0 && !self.closing.is_empty() {
            println!("\n{}", self.closing);
        }
        if self.summary {
            if unchanged > 0 {
                println!(
                    "{unchanged} of the tests passed before, and nothing that they use has changed (--again runs them)"
                );
            }
            println!("{} passed, {} failed", counts.passed, counts.failed);
        }
        if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// The end of a step that ran, or that could not run.
struct Ended {
    name: String,
    time: String,
    /// The processor time that its programs used.
    busy: Duration,
    outcome: Outcome,
    /// Whether it was skipped, because nothing has changed.
    skipped: bool,
    /// If it failed, the lines of its log that name the failure.
    points: Vec<String>,
}

impl Ended {
    /// The end of a step of which no program ran.
    fn unrun(name: String, outcome: Outcome) -> Ended {
        Ended { name, time: String::new(), busy: Duration::ZERO, outcome, skipped: false, points: Vec::new() }
    }
}

/// The state of a step while the plan runs.
enum State {
    Waiting(Step),
    Running,
    Ended(Ended),
}

/// The next action of an idle lane.
enum Next {
    Run(usize, Step),
    Wait,
    Done,
}

/// Runs the steps and returns their ends, in the order of the plan. There is one lane more than cores, because suites
/// wait for processes, disks and downloads: with as many lanes as cores, a quarter of the cores' time was lost.
fn run(steps: Vec<Step>, again: bool) -> Vec<Ended> {
    let total = steps.len();
    let lanes = thread::available_parallelism().map_or(1, NonZero::get) + 1;
    let lanes = lanes.min(total.max(1));
    let names: Vec<String> = steps.iter().map(|step| step.name.clone()).collect();
    let locks: Vec<Option<&str>> = steps.iter().map(|step| step.lock).collect();
    let states = Mutex::new(steps.into_iter().map(State::Waiting).collect::<Vec<_>>());
    let changed = Condvar::new();
    let work = || {
        let mut states_now = states.lock().expect("no step runs with the lock");
        loop {
            match next(&mut states_now, &names, &locks) {
                Next::Done => return changed.notify_all(),
                Next::Wait => states_now = changed.wait(states_now).expect("no step runs with the lock"),
                Next::Run(index, step) => {
                    drop(states_now);
                    let ended = run_step(step, &format!("[{:>2}/{total}]", index + 1), again);
                    states_now = states.lock().expect("no step runs with the lock");
                    states_now[index] = State::Ended(ended);
                    changed.notify_all();
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..lanes {
            scope.spawn(work);
        }
        work();
    });
    let states = states.into_inner().expect("no step runs with the lock");
    let ended = |state| match state {
        State::Ended(ended) => ended,
        State::Waiting(Step { name, .. }) => panic!("{name} waits for itself"),
        State::Running => unreachable!("all lanes have ended"),
    };
    states.into_iter().map(ended).collect()
}

/// Finds the first step that can run. A step that can never run, because a step that it needs has failed, ends here.
fn next(states: &mut [State], names: &[String], locks: &[Option<&str>]) -> Next {
    loop {
        let mut waits = false;
        let mut found = None;
        for (index, state) in states.iter().enumerate() {
            match state {
                State::Running => waits = true,
                State::Waiting(step) if found.is_none() => {
                    let of = |need: &&str| names.iter().position(|name| name == need).map(|at| &states[at]);
                    let broken = step
                        .needs
                        .iter()
                        .find(|need| matches!(of(need), Some(State::Ended(Ended { outcome: Err(_), .. }))));
                    let ready = step.needs.iter().all(|need| matches!(of(need), Some(State::Ended(_)) | None));
                    let locked =
                        |other: (&State, &Option<&str>)| matches!(other.0, State::Running) && *other.1 == step.lock;
                    let free = step.lock.is_none() || !states.iter().zip(locks).any(locked);
                    if broken.is_some() || (ready && free) {
                        found = Some((index, broken.copied()));
                    }
                }
                _ => {}
            }
        }
        let Some((index, broken)) = found else {
            return if waits { Next::Wait } else { Next::Done };
        };
        let State::Waiting(step) = std::mem::replace(&mut states[index], State::Running) else {
            unreachable!("it was waiting");
        };
        let Some(broken) = broken else { return Next::Run(index, step) };
        let outcome = Err(format!("not run: {broken} failed").into());
        progress::print(&format!("{}  not run: {broken} failed\n", step.name));
        states[index] = State::Ended(Ended::unrun(step.name, outcome));
    }
}

/// Runs a step and prints how it ended. Skips it if nothing has changed since it passed.
fn run_step(step: Step, number: &str, again: bool) -> Ended {
    let Step { name, inputs, setting, action, .. } = step;
    let label = format!("{number} {name}");
    let progress = match Progress::begin(label.clone(), &name) {
        Ok(progress) => progress,
        Err(error) => {
            progress::print(&format!("{label}  FAILED: cannot write its log: {error}\n"));
            return Ended::unrun(name, Err(error.into()));
        }
    };
    // The stamp is taken before the step runs, so that a file that changes meanwhile makes the step run again.
    let stamp = inputs.map(|inputs| Stamp::of(&format!("step {name}"), &inputs, &setting)).transpose();
    let (outcome, skipped) = match stamp {
        Err(error) => (Err(error.into()), false),
        Ok(Some(stamp)) => match stamp.passed().filter(|_| !again) {
            Some(counts) if counts == Counts::default() => (Ok(Report::note("nothing has changed")), true),
            Some(counts) => {
                (Ok(Report { note: format!("{counts} before: nothing has changed"), ..Report::of(counts) }), true)
            }
            None => {
                let outcome = action(&progress).and_then(|report| {
                    stamp.record(report.counts)?;
                    Ok(report)
                });
                (outcome, false)
            }
        },
        Ok(None) => (action(&progress), false),
    };
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
    let points = if outcome.is_err() { progress.points() } else { Vec::new() };
    Ended { name, time, busy: progress.busy(), outcome, skipped, points }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn step(name: &str, needs: &[&'static str], fails: bool) -> Step {
        Step::new(name, needs, move |_| if fails { Err("told to".to_string().into()) } else { Ok(Report::default()) })
    }

    fn outcomes(ended: &[Ended]) -> Vec<(&str, bool)> {
        ended.iter().map(|ended| (ended.name.as_str(), ended.outcome.is_ok())).collect()
    }

    #[test]
    fn a_plan_has_what_its_goals_need_and_nothing_else() {
        let parts = vec![step("pt a", &[], false), step("pt other", &[], false), step("pt b", &["pt a"], false)];
        let plan = Plan::new("test", parts, vec![step("pt goal", &["pt b"], false)]);
        assert_eq!(plan.steps.iter().map(Step::name).collect::<Vec<_>>(), ["pt a", "pt b", "pt goal"]);
    }

    #[test]
    fn steps_run_after_what_they_need() {
        let order = Arc::new(Mutex::new(Vec::new()));
        let noted = |name: &'static str, needs: &[&'static str]| {
            let order = Arc::clone(&order);
            Step::new(name, needs, move |_| {
                order.lock().unwrap().push(name);
                Ok(Report::default())
            })
        };
        let ended = run(vec![noted("pt c", &["pt d"]), noted("pt d", &["pt e"]), noted("pt e", &[])], false);
        assert_eq!(*order.lock().unwrap(), ["pt e", "pt d", "pt c"]);
        assert_eq!(outcomes(&ended), [("pt c", true), ("pt d", true), ("pt e", true)]);
    }

    #[test]
    fn what_needs_a_broken_step_does_not_run() {
        let steps = vec![
            step("pt f", &[], true),
            step("pt g", &["pt f"], false),
            step("pt h", &["pt g"], false),
            step("pt i", &[], false),
        ];
        let ended = run(steps, false);
        assert_eq!(outcomes(&ended), [("pt f", false), ("pt g", false), ("pt h", false), ("pt i", true)]);
        assert_eq!(ended[2].outcome.as_ref().err().unwrap().why, "not run: pt g failed");
    }

    #[test]
    fn steps_with_one_lock_take_turns() {
        let running = Arc::new(AtomicUsize::new(0));
        let locked = |name: &str| {
            let running = Arc::clone(&running);
            Step::new(name, &[], move |_| {
                let others = running.fetch_add(1, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(30));
                running.fetch_sub(1, Ordering::SeqCst);
                if others == 0 { Ok(Report::default()) } else { Err("not alone".to_string().into()) }
            })
            .with_lock("pt lock")
        };
        let ended = run((0..4).map(|i| locked(&format!("pt l{i}"))).collect(), false);
        assert!(ended.iter().all(|step| step.outcome.is_ok()));
    }

    #[test]
    fn a_step_runs_again_only_where_its_inputs_changed() {
        let name = format!("pt stamped {}", std::process::id());
        let stamped = |inputs: &[&'static str]| {
            Step::new(name.as_str(), &[], |_| Ok(Report::of(Counts { passed: 3, ..Counts::default() })))
                .made_from(&[inputs])
        };
        let skipped = |inputs: &[&'static str], again| {
            let [ended] = run(vec![stamped(inputs)], again).try_into().ok().unwrap();
            assert_eq!(ended.outcome.ok().unwrap().counts.passed, 3);
            ended.skipped
        };
        assert!(!skipped(&["Cargo.toml"], false));
        assert!(skipped(&["Cargo.toml"], false));
        assert!(!skipped(&["Cargo.toml"], true));
        assert!(!skipped(&["Cargo.toml", "README.md"], false));
        Stamp::of(&format!("step {name}"), &[], "").unwrap().forget();
    }

    #[test]
    fn a_step_that_failed_runs_again() {
        let name = format!("pt failing {}", std::process::id());
        for _ in 0..2 {
            let failing = step(&name, &[], true).made_from(&[&["Cargo.toml"]]);
            assert!(run(vec![failing], false)[0].outcome.is_err());
        }
    }
}
