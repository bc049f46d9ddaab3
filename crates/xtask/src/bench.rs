//! `cargo xtask bench`: the measurements, one after the other on an otherwise idle machine, each printing its tables.

use crate::build;
use crate::plan::{Plan, Report, Step};
use crate::project;
use crate::setup;

/// The measurements: a name, and the program that takes them, its paths from the root of the project.
const BENCHES: &[(&str, &[&str])] = &[("all", &["target/release/bench"])];

/// Builds everything, then measures.
pub fn plan() -> Plan {
    let bench = |&(name, words): &(&'static str, &'static [&'static str])| {
        Step::checked(format!("bench: {name}"), move |progress| {
            let tables = project::path("target/xtask").join(format!("bench-{}.txt", name.replace(' ', "-")));
            progress.run_into(&mut project::words(words), &tables)?;
            let display = format!("\n{}\n", std::fs::read_to_string(tables)?);
            Ok(Report { display, ..Report::default() })
        })
    };
    Plan::new("bench")
        .with(setup::for_build())
        .with(vec![setup::torch()])
        .with(build::steps())
        .with(BENCHES.iter().map(bench).collect())
}
