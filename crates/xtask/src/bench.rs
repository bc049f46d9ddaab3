//! `cargo xtask bench`: the measurements, on an otherwise idle machine.

use crate::build;
use crate::plan::{Plan, Report, Step};
use crate::project;
use crate::setup;

/// What takes them; its options are those of the command.
const BENCH: &str = "target/release/bench";

/// Builds everything, then measures.
pub fn plan(options: &[&str]) -> Plan {
    let options: Vec<String> = options.iter().map(ToString::to_string).collect();
    let measure = Step::checked("measurements", move |progress| {
        let table = project::path("target/xtask/bench.txt");
        progress.run_into(project::words(&[BENCH]).args(&options), &table)?;
        let display = format!("\n{}\n", std::fs::read_to_string(table)?);
        Ok(Report { display, ..Report::default() })
    });
    Plan::new("bench").with(setup::for_build()).with(vec![setup::torch()]).with(build::steps()).with(vec![measure])
}
