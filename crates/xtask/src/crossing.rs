//! Epochs that one host saves and another one continues: one round of all hosts among the suites, and a command for
//! many rounds and for the page that shows them. The programs and the checks are in tests/crossing.

use std::process::Command;

use crate::build;
use crate::counts::Counts;
use crate::machine;
use crate::matrix;
use crate::plan::{Failure, Plan, Report, Step};
use crate::project;
use crate::setup;
use crate::suites;

/// The name of the suite.
pub const SUITE: &str = "crossing: what one host saves, another continues";
/// The steps that the programs of all hosts need, except Firefox.
pub const NEEDS: &[&str] = &[build::ENGINE_TOOLS, build::COMMAND, build::NPM, setup::PYTHON, setup::BROWSER];
/// The sources of the programs of all hosts.
pub const INPUTS: &[&[&str]] = &[
    suites::MANIFESTS,
    suites::INTERFACE,
    suites::PYTHON,
    suites::JAVASCRIPT,
    build::WASM,
    &["hosts/cli", "hosts/rust", "tests/crossing", "tests/matrix/browsers.mjs", "docs/crossing.md"],
];

/// `cargo xtask crossing`: rounds of all hosts, or of those that are named.
pub fn plan(words: &[&str], parts: Vec<Step>) -> Result<Plan, String> {
    let mut options = words.iter();
    while let Some(&word) = options.next() {
        match word {
            "--rounds" | "--seed" => {
                let least = u32::from(word == "--rounds");
                let number = options.next().and_then(|number| number.parse::<u32>().ok());
                number
                    .filter(|&number| number >= least)
                    .ok_or_else(|| format!("{word} needs a whole number from {least} on"))?;
            }
            option if option.starts_with('-') => return Err(format!("unknown option: {option}")),
            // A name of a host. The program itself checks it.
            _ => {}
        }
    }
    let words: Vec<String> = words.iter().map(|&word| word.into()).collect();
    let step = Step::new("crossing", &[NEEDS, &[matrix::FIREFOX]].concat(), move |progress| {
        let result = progress.run(machine::with_browser(rounds()).args(&words));
        let log = progress.log_text();
        let counts = Counts::read(&log);
        match result {
            Err(why) => Err(Failure { why, counts }),
            Ok(()) => Ok(Report { display: log, ..Report::of(counts) }),
        }
    });
    Ok(Plan::new("crossing", parts, vec![step]).with_summary())
}

fn rounds() -> Command {
    project::own("target/venv/bin/python", &["tests/crossing/cross.py"])
}
