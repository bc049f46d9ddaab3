//! Format, lints and types of every language.

use std::process::Command;

use crate::build;
use crate::circles;
use crate::plan::{Report, Step};
use crate::project;
use crate::setup;
use crate::suites::{self, INTERFACE, JAVASCRIPT, MANIFESTS, RUST_FOLDERS};

/// The inputs of the lints of Rust.
const RUST: &[&[&str]] = &[MANIFESTS, INTERFACE, RUST_FOLDERS, &["rustfmt.toml", "examples"]];

/// `cargo xtask lint`: the lints that a change to any file may break.
pub fn quick() -> Vec<Step> {
    let python: &[&[&str]] = &[&["hosts/python", "examples", "tests", "docs"]];
    let javascript: &[&[&str]] = &[&["hosts/js", "examples", "tests"]];
    vec![
        Step::new("imports of the core", &[], |_| circles::check("crates/core/src"))
            .made_from(&[&["crates/core/src", "crates/xtask/src"]]),
        lint("Rust format", &[setup::RUST_LINTS, build::GENERATED], || {
            project::cargo(&["fmt", "--all", "--check", "--", "--color", "never"])
        })
        .made_from(RUST),
        lint("Rust lints", &[setup::RUST_LINTS, build::GENERATED], || clippy(project::NATIVE_CRATES))
            .made_from(RUST)
            .with_lock(build::CARGO),
        lint("Rust lints: component", &[setup::RUST_LINTS, setup::COMPONENT_TARGET], || {
            wasm_lint(&["example-rust-guest", "samedeal-component"], "wasm32-wasip2")
        })
        .made_from(RUST)
        .with_lock(build::CARGO_WASM),
        lint("Rust lints: web", &[setup::RUST_LINTS, setup::WEB_TARGET], || {
            wasm_lint(&["samedeal-web"], "wasm32-unknown-unknown")
        })
        .made_from(RUST)
        .with_lock(build::CARGO_WASM),
        lint("Python format", &[setup::PYTHON], || ruff(&["format", "--check"])).made_from(python),
        lint("Python lints", &[setup::PYTHON], || ruff(&["check"])).made_from(python),
        lint("Python types", &[setup::PYTHON, build::GENERATED], || mypy(&[])).made_from(python),
        lint("Python types: Windows", &[setup::PYTHON, build::GENERATED], || mypy(&["--platform", "win32", "src"]))
            .made_from(python),
        lint("JavaScript format and lints", &[setup::NODE], || project::npm("hosts/js", &["run", "lint"]))
            .made_from(javascript),
        lint("JavaScript format and lints: crossing", &[setup::NODE], || biome("tests/crossing")).made_from(javascript),
        lint("JavaScript format and lints: demo", &[setup::NODE], || biome("tests/demo")).made_from(javascript),
        lint("JavaScript format and lints: examples", &[setup::NODE], || biome("examples")).made_from(javascript),
        lint("JavaScript format and lints: packages", &[setup::NODE], || biome("tests/packages")).made_from(javascript),
    ]
}

/// Lints that only `cargo xtask check` runs, because the things that they need take minutes to build or to download,
/// and hardly change.
pub fn slow() -> Vec<Step> {
    vec![
        lint("Rust lints: engine", &[setup::RUST_LINTS, build::COMPONENT_STEP], || clippy(project::ENGINE_CRATES))
            .made_from(RUST)
            .with_lock(build::CARGO_ENGINE),
        lint("Rust lints: Windows", &[setup::RUST_LINTS, setup::WINDOWS_TARGET, build::COMPONENT_STEP], || {
            let mut command = project::cargo(&["clippy", "--target", setup::WINDOWS]);
            command.args(["--package=samedeal", "--", "-D", "warnings"]);
            command
        })
        .made_from(RUST)
        .with_lock(build::CARGO),
        lint("JavaScript format, lints and types: explorer", &[setup::EXPLORER, build::NPM], || {
            project::npm(suites::EXPLORER, &["run", "lint"])
        })
        .made_from(&[JAVASCRIPT, &[suites::EXPLORER]]),
    ]
}

fn lint(name: &str, needs: &[&'static str], command: impl Fn() -> Command + Send + 'static) -> Step {
    Step::new(name, needs, move |progress| {
        progress.run(&mut command())?;
        Ok(Report::default())
    })
}

/// Clippy over crates for this machine.
fn clippy(crates: &[&str]) -> Command {
    let mut command = project::cargo(&["clippy", "--all-targets"]);
    command.args(crates).args(["--", "-D", "warnings"]);
    command
}

fn wasm_lint(packages: &[&str], target: &str) -> Command {
    let mut command = project::cargo(&["clippy", "--profile", "wasm", "--target", target]);
    for package in packages {
        command.args(["--package", package]);
    }
    command.args(["--", "-D", "warnings"]);
    command
}

/// Biome over the JavaScript of a folder that has its own settings.
fn biome(folder: &str) -> Command {
    let mut command = project::own("hosts/js/node_modules/.bin/biome", &["check", "."]);
    command.current_dir(project::path(folder));
    command
}

/// Mypy with the settings of the Python host.
fn mypy(arguments: &[&str]) -> Command {
    let mut command = project::own("target/venv/bin/python", &["-m", "mypy"]);
    command.args(arguments).current_dir(project::path("hosts/python"));
    command
}

/// Ruff over all Python of the project, with the settings of the Python host.
fn ruff(arguments: &[&str]) -> Command {
    let mut command = project::own("target/venv/bin/ruff", arguments);
    command.args(["--config", "hosts/python/pyproject.toml", "hosts/python", "examples", "tests", "docs"]);
    command
}
