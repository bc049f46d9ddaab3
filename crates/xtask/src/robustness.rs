//! `cargo xtask trials`, `statistics`, `exhaust` and `soak`: long tests of what is promised of resumptions, shuffles,
//! small cases and long runs. `check` runs a small part of trials, statistics and soak.

use crate::build;
use crate::counts::Counts;
use crate::plan::{Plan, Report, Step};
use crate::project;
use crate::setup;
use crate::suites::{self, JAVASCRIPT, PYTHON, TORCH};

const STATISTICS: &[&str] = &["target/venv-statistics/bin/python", "tests/statistics/run.py"];
/// The trials run in the environment with torch, because their processes use the same code as the tests of ranks.
const TRIALS: &[&str] = &["target/venv-torch/bin/python", "tests/trials/trials.py"];
const SOAK: &[&str] = &["target/venv/bin/python", "tests/soak/soak.py"];

/// `cargo xtask trials [WORD ...] [--rounds N] [--seed S] [--trial T]`.
pub fn trials(options: &[&str]) -> Plan {
    command("trials", TRIALS, options, &[setup::TORCH, build::COMPONENT_STEP])
}

/// `cargo xtask statistics [--seeds N]`. All p-values are kept in a file.
pub fn statistics(options: &[&str]) -> Plan {
    let options = [&["--csv", "target/statistics/p-values.csv"], options].concat();
    command("statistics", STATISTICS, &options, &[setup::STATISTICS, build::COMPONENT_STEP])
}

/// `cargo xtask exhaust`: all small cases, and the values of the largest tables.
pub fn exhaust() -> Plan {
    let step = Step::new("exhaust", &[], |progress| {
        let mut command = project::cargo(&["test", "--release", "--package=samedeal-core", "--features=composed"]);
        progress.run(command.args(["--test=exhaust", "--test=values", "--", "--include-ignored", "--nocapture"]))?;
        Ok(Report { display: format!("\n{}\n", progress.log_text()), ..Report::default() })
    });
    Plan::new("exhaust", crate::parts(), vec![step])
}

/// `cargo xtask soak [--minutes M]`. The reports of the processes are kept in a file.
pub fn soak(options: &[&str]) -> Plan {
    let options = [&["--json", "target/soak/intervals.json"], options].concat();
    command("soak", SOAK, &options, &[setup::PYTHON, build::COMPONENT_STEP, build::NPM_FOR_NODE])
}

/// A plan of one program. All its output is shown.
fn command(name: &str, words: &[&'static str], options: &[&str], needs: &[&'static str]) -> Plan {
    let words = words.to_vec();
    let options: Vec<String> = options.iter().map(ToString::to_string).collect();
    let step = Step::new(name, needs, move |progress| {
        progress.run(project::words(&words).args(&options))?;
        Ok(Report { display: format!("\n{}\n", progress.log_text()), ..Report::default() })
    });
    Plan::new(name, crate::parts(), vec![step])
}

/// The suites that `check` runs. Their seeds are fixed, so that the result is always the same, except for what depends
/// on the machine.
pub fn suites() -> Vec<Step> {
    vec![
        suites::with_torch("trials, in small", "tests/trials").made_from(&[
            TORCH,
            build::WASM,
            &["hosts/python/tests/jobs.py", "tests/trials"],
        ]),
        Step::new("statistics, in small", &[setup::STATISTICS, build::COMPONENT_STEP], |progress| {
            progress.run(project::words(STATISTICS).args(["--quick", "--seeds", "200"]))?;
            let counts = Counts { passed: 1, ..Counts::default() };
            Ok(Report { note: "cargo xtask statistics has more".into(), counts, ..Report::default() })
        })
        .made_from(&[PYTHON, build::WASM, &["tests/statistics"]]),
        suites::suite("soak, in small", &[setup::PYTHON, build::COMPONENT_STEP, build::NPM], || {
            suites::pytest("target/venv", "tests/soak")
        })
        .made_from(&[PYTHON, JAVASCRIPT, build::WASM, &["tests/soak"]]),
    ]
}
