//! The programs that build and check packages, in the versions that releases use.

use crate::build;
use crate::debian::Packages;
use crate::machine;
use crate::plan::{Outcome, Report, Step};
use crate::progress::Progress;
use crate::project;
use crate::setup;

/// The step that installs the Python tools that build and check packages.
pub const PYTHON: &str = "Python environment of packages";
/// The step that installs the npm packages that check packages.
pub const NODE: &str = "npm packages of packages";
/// The program that lists the dependencies of a crate.
pub const CYCLONEDX: &str = "cargo-cyclonedx";
/// The program that packs WIT, and moves components to and from registries.
pub const WKG: &str = "wkg";
/// A registry of components on this machine, for tests.
pub const REGISTRY: &str = "docker-registry";
/// The folder of the programs that cargo installs.
pub const TOOLS: &str = "target/tools";

const CYCLONEDX_VERSION: &str = "0.5.9";
const WKG_VERSION: &str = "0.16.1";

const REGISTRY_PACKAGES: Packages =
    Packages { step: REGISTRY, programs: &["docker-registry"], names: &["docker-registry"] };

/// A step for each program.
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

/// Builds a program from crates.io, unless this version is there.
fn tool(progress: &Progress, name: &str, version: &str, question: &[&str]) -> Outcome {
    let there = machine::answer(&mut project::own(&format!("{TOOLS}/bin/{name}"), question));
    if there.is_some_and(|answer| answer.ends_with(version)) {
        return Ok(Report::note("up to date"));
    }
    setup::cargo_install(progress, TOOLS, name, version, &[])?;
    Ok(Report::note(format!("installed {name} {version}")))
}
