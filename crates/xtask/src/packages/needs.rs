//! The programs that make and check packages, in the versions that the project releases with.

use crate::build;
use crate::debian::Packages;
use crate::machine;
use crate::plan::{Outcome, Report, Step};
use crate::progress::Progress;
use crate::project;
use crate::setup;

/// Python's tools that build packages and look at them.
pub const PYTHON: &str = "Python environment of packages";
/// npm's.
pub const NODE: &str = "npm packages of packages";
/// Lists what a crate is made of.
pub const CYCLONEDX: &str = "cargo-cyclonedx";
/// Packs WIT, and moves components to and from registries.
pub const WKG: &str = "wkg";
/// A registry on this machine.
pub const REGISTRY: &str = "docker-registry";
/// Where the programs are that cargo builds.
pub const TOOLS: &str = "target/tools";

const CYCLONEDX_VERSION: &str = "0.5.9";
const WKG_VERSION: &str = "0.16.1";

const REGISTRY_PACKAGES: Packages =
    Packages { step: REGISTRY, programs: &["docker-registry"], names: &["docker-registry"] };

/// A step for each of them.
pub fn parts() -> Vec<Step> {
    vec![
        Step::new(PYTHON, &[setup::MACHINE], |progress| {
            setup::bare_environment(progress, "target/venv-packaging", "tests/packages/requirements.txt")
        }),
        Step::new(NODE, &[setup::MACHINE], |progress| setup::npm_packages(progress, "tests/packages")),
        Step::new(CYCLONEDX, &[setup::MACHINE], |progress| {
            tool(progress, CYCLONEDX, CYCLONEDX_VERSION, &["cyclonedx", "--version"])
        })
        .with_lock(build::CARGO),
        Step::new(WKG, &[setup::MACHINE], |progress| tool(progress, WKG, WKG_VERSION, &["--version"]))
            .with_lock(build::CARGO),
        REGISTRY_PACKAGES.step(),
    ]
}

/// Builds a program from crates.io, unless it is there.
fn tool(progress: &Progress, name: &str, version: &str, question: &[&str]) -> Outcome {
    let there = machine::answer(&mut project::own(&format!("{TOOLS}/bin/{name}"), question));
    if there.is_some_and(|answer| answer.ends_with(version)) {
        return Ok(Report::note("up to date"));
    }
    setup::cargo_install(progress, TOOLS, name, version, &[])?;
    Ok(Report::note(format!("installed {name} {version}")))
}
