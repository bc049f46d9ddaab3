//! The tests of every language, the matrix of engines, and the demo as the last proof.

use std::process::Command;

use crate::build;
use crate::counts::Counts;
use crate::demo;
use crate::machine;
use crate::matrix;
use crate::plan::{Chain, Failure, Outcome, Plan, Report, Step};
use crate::progress::Progress;
use crate::project;
use crate::setup;

/// The tests of the compat orders against their originals.
const ORACLES: &str = "hosts/python/tests/oracle";
/// The tests under torch: ranks and loader workers in processes of their own.
const DISTRIBUTED: &str = "hosts/python/tests/distributed";
/// A training job in Python that is killed, and the rest of its epoch by the other hosts.
const RESUME: &str = "tests/resume";
/// The tests under what people train with, and the tutorials.
const FRAMEWORKS: &str = "hosts/python/tests/frameworks";

/// `cargo xtask test`.
pub fn plan() -> Plan {
    let made = Plan::new("test").with(setup::for_build()).with_side_by_side(vec![build::steps(), setup::for_test()]);
    with_all(made, Vec::new()).with_summary()
}

/// The plan with every suite, whatever fails, and before those of Rust what else cargo does: it does one thing at a time.
pub fn with_all(plan: Plan, before: Chain) -> Plan {
    let mut rust = before;
    rust.extend([
        suite("Rust tests", || cargo_test(&["--lib", "--bins", "--tests", "--examples"], &["--include-ignored"])),
        suite("core with checked arithmetic", || {
            project::cargo(&["test", "--package", "samedeal-core", "--test", "properties", "--test", "originals"])
        }),
        suite("Rust examples in the documentation", || cargo_test(&["--doc"], &[])),
    ]);
    let others = [
        with_torch("frameworks and tutorials", FRAMEWORKS),
        with_torch("ranks and workers under torch", DISTRIBUTED),
        suite("JavaScript host", || {
            let mut command = machine::with_browser(project::npm("hosts/js", &["test"]));
            // Without a terminal Node 20 writes TAP, which does not end with the failures.
            command.env("NODE_OPTIONS", "--test-reporter=spec");
            command
        }),
        Step::checked("measurements, in small", |progress| {
            progress.run(&mut project::own("target/release/bench", &["--smoke", "--runs", "1"]))?;
            Ok(Report::note("cargo xtask bench takes them"))
        }),
        suite("Python host", || {
            let mut command = pytest("target/venv", "hosts/python/tests");
            command.args([ORACLES, DISTRIBUTED, FRAMEWORKS].map(|folder| format!("--ignore={folder}")));
            command
        }),
        suite("second implementation", || pytest("target/venv", "tests/reference")),
        with_torch("saved by Python, finished by Rust and Node", RESUME),
        with_torch("Python against torch and CPython", ORACLES),
        suite("README", || pytest("target/venv", "tests/readme")),
        golden_cases("golden cases are fresh", "tests/vectors", || {
            project::own("target/release/vectors", &["--check"])
        }),
    ];
    let one_by_one = others.into_iter().chain(matrix::engines_one_by_one()).map(|step| vec![step]);
    plan.with_side_by_side([rust].into_iter().chain(one_by_one).collect())
        .with(vec![matrix::table_of_all()])
        .with(demo::proof())
}

/// `cargo xtask vectors`: writes the golden cases, or checks that they are what the core computes.
pub fn vectors(check: bool) -> Step {
    let (name, note) = if check {
        ("golden cases are fresh", "tests/vectors")
    } else {
        ("golden cases", "tests/vectors is up to date")
    };
    golden_cases(name, note, move || {
        let mut command = project::cargo(&["run", "--release", "--package", "vectors", "--"]);
        command.args(check.then_some("--check"));
        command
    })
}

fn golden_cases(name: &str, note: &'static str, command: impl Fn() -> Command + Send + 'static) -> Step {
    Step::checked(name, move |progress| {
        progress.run(&mut command())?;
        Ok(Report::note(note))
    })
}

/// A step that runs a suite and counts its tests. None at all is a failure.
fn suite(name: &str, command: impl Fn() -> Command + Send + 'static) -> Step {
    Step::checked(name, move |progress| count(progress, progress.run(&mut command())))
}

/// Here a test that is skipped is a failure: something is missing in the environment that is made for it.
fn with_torch(name: &'static str, tests: &'static str) -> Step {
    Step::checked(name, move |progress| {
        let report = count(progress, progress.run(&mut pytest("target/venv-torch", tests)))?;
        match report.counts {
            Counts { skipped: 0, .. } => Ok(report),
            counts => Err(Failure { why: format!("{counts}: something that they need is not there"), counts }),
        }
    })
}

fn count(progress: &Progress, result: Result<(), String>) -> Outcome {
    let counts = Counts::read(&progress.log_text());
    match result {
        Err(why) => Err(Failure { why, counts }),
        Ok(()) if counts.failed > 0 => Err(Failure { why: format!("{counts}, though it ended well"), counts }),
        Ok(()) if counts.passed == 0 => Err("not one test ran".to_string().into()),
        Ok(()) => Ok(Report { note: counts.to_string(), counts, display: String::new() }),
    }
}

fn cargo_test(what: &[&str], options: &[&str]) -> Command {
    let mut command = project::cargo(&["test", "--release", "--no-fail-fast"]);
    command.args(project::HOST_CRATES).args(what).arg("--").args(options);
    command
}

fn pytest(environment: &str, tests: &str) -> Command {
    let python = format!("{environment}/bin/python");
    machine::with_browser(project::own(&python, &["-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider", tests]))
}
