//! `cargo xtask check`: format and lints of every language, then the tests.

use std::process::Command;

use crate::build;
use crate::plan::{Chain, Plan, Report, Step};
use crate::project;
use crate::setup;
use crate::suites;

/// The whole of what CI runs.
pub fn plan() -> Plan {
    let made = Plan::new("check")
        .with(setup::for_build())
        .with(vec![setup::rust_lints()])
        .with_side_by_side(vec![build::steps(), setup::for_test()])
        .with(lints());
    suites::with_all(made, rust_lints()).with_summary()
}

fn lints() -> Chain {
    vec![
        lint("Python format", || ruff(&["format", "--check"])),
        lint("Python lints", || ruff(&["check"])),
        lint("Python types", || {
            let mut command = project::own("target/venv/bin/python", &["-m", "mypy"]);
            command.current_dir(project::path("hosts/python"));
            command
        }),
        lint("JavaScript format and lints", || project::npm("hosts/js", &["run", "lint"])),
        lint("JavaScript format and lints: demo", || {
            let mut command = project::own("hosts/js/node_modules/.bin/biome", &["check", "."]);
            command.current_dir(project::path("tests/demo"));
            command
        }),
    ]
}

fn rust_lints() -> Chain {
    vec![
        lint("Rust format", || project::cargo(&["fmt", "--all", "--check", "--", "--color", "never"])),
        lint("Rust lints", || {
            let mut command = project::cargo(&["clippy", "--release", "--all-targets"]);
            command.args(project::HOST_CRATES).args(["--", "-D", "warnings"]);
            command
        }),
        lint("Rust lints: components", || {
            wasm_lint(
                &["samedeal-component", "samedeal-planning", "samedeal-batching", "samedeal-guest"],
                "wasm32-wasip2",
            )
        }),
        lint("Rust lints: web", || wasm_lint(&["samedeal-web"], "wasm32-unknown-unknown")),
    ]
}

fn lint(name: &str, command: impl Fn() -> Command + Send + 'static) -> Step {
    Step::checked(name, move |progress| {
        progress.run(&mut command())?;
        Ok(Report::default())
    })
}

fn wasm_lint(packages: &[&str], target: &str) -> Command {
    let mut command = project::cargo(&["clippy", "--profile", "wasm", "--target", target]);
    for package in packages {
        command.args(["--package", package]);
    }
    command.args(["--", "-D", "warnings"]);
    command
}

/// Over all Python of the project, by the settings of the Python host.
fn ruff(arguments: &[&str]) -> Command {
    let mut command = project::own("target/venv/bin/ruff", arguments);
    command.args(["--config", "hosts/python/pyproject.toml", "hosts/python", "tests", "docs"]);
    command
}
