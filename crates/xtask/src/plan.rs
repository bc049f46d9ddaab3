//! A command is a plan: steps that name what they need. What needs nothing of one another runs side by side; a step
//! whose inputs have not changed since it last passed does not run again.

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
    /// A few words beside its time.
    pub note: String,
    /// The tests that it ran, if it is a suite.
    pub counts: Counts,
    /// A text that is printed below it in full.
    pub display: String,
}

impl Report {
    /// A report of a few words.
    pub fn note(note: impl Into<String>) -> Report {
        Report { note: note.into(), ..Report::default() }
    }

    /// The report of a suite that passed.
    pub fn of(counts: Counts) -> Report {
        Report { note: counts.to_string(), counts, ..Report::default() }
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

type Action = Box<dyn FnOnce(&Progress) -> Outcome + Send>;

/// One step of a plan.
pub struct Step {
    name: String,
    needs: Vec<&'static str>,
    /// The sources of its result; none if it looks itself, or runs each time.
    inputs: Option<Vec<&'static str>>,
    /// A setting that its result depends on beside them.
    setting: String,
    /// The name of a thing that only one step at a time can use.
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

    /// The step, which is skipped as long as these files and folders are what they were when it last succeeded.
    pub fn made_from(mut self, inputs: &[&[&'static str]]) -> Step {
        self.inputs = Some(inputs.concat());
        self
    }

    /// The step, which runs again where this is another one than when it last succeeded.
    pub fn with_setting(mut self, setting: impl Into<String>) -> Step {
        self.setting = setting.into();
        self
    }

    /// The step, which needs these others besides.
    pub fn and_needs(mut self, needs: &[&'static str]) -> Step {
        self.needs.extend(needs);
        self
    }

    /// The step, which does not run beside another one with the same lock.
    pub fn with_lock(mut self, lock: &'static str) -> Step {
        self.lock = Some(lock);
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of the steps that come before it.
    pub fn needs(&self) -> &[&'static str] {
        &self.needs
    }
}

/// The steps of a command.
pub struct Plan {
    name: String,
    steps: Vec<Step>,
    /// Whether steps run although nothing has changed.
    again: bool,
    summary: bool,
    closing: String,
}

impl Plan {
    /// A plan for `cargo xtask <name>`: the goals, and before them those of `parts` that they need. Where several steps
    /// could run, the first of them does.
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

    /// The plan, in which every step runs, although nothing has changed.
    pub fn again(mut self, again: bool) -> Plan {
        self.again = again;
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
            // A step may fail without a test that did (a build that breaks, a download): that counts as one.
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

/// A step that ran, or that could not.
struct Ended {
    name: String,
    time: String,
    /// The processor time of its programs.
    busy: Duration,
    outcome: Outcome,
    /// Whether it did not run since nothing has changed.
    skipped: bool,
    /// If it failed, the lines of its log that say where.
    points: Vec<String>,
}

/// Where a step stands.
enum State {
    Waiting(Step),
    Running,
    Ended(Ended),
}

/// The next work of a lane that has nothing to do.
enum Next {
    Run(usize, Step),
    Wait,
    Done,
}

/// Runs steps on one lane more than there are cores; what became of each, in the order of the plan. On as many lanes as cores,
/// a quarter of the time of the cores was lost: suites wait for processes, disks and downloads.
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

/// The first step that can run. Those that never can, since one that they need has failed, end here.
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
        states[index] = State::Ended(Ended {
            name: step.name,
            time: String::new(),
            busy: Duration::ZERO,
            outcome,
            skipped: false,
            points: Vec::new(),
        });
    }
}

/// Runs one step, unless nothing has changed since it passed, and prints how it ended.
fn run_step(step: Step, number: &str, again: bool) -> Ended {
    let Step { name, inputs, setting, action, .. } = step;
    let label = format!("{number} {name}");
    let progress = match Progress::begin(label.clone(), &name) {
        Ok(progress) => progress,
        Err(error) => {
            progress::print(&format!("{label}  FAILED: cannot write its log: {error}\n"));
            return Ended {
                name,
                time: String::new(),
                busy: Duration::ZERO,
                outcome: Err(error.into()),
                skipped: false,
                points: Vec::new(),
            };
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
