//! `cargo xtask dist`: the files that a release publishes, in target/dist. The same commit gives the same bytes on
//! every machine.

mod needs;

use std::fs;
use std::process::Command;

use crate::build;
use crate::counts::Counts;
use crate::machine;
use crate::plan::{Outcome, Plan, Report, Step};
use crate::progress::Progress;
use crate::project;
use crate::suites::{self, INTERFACE, JAVASCRIPT, MANIFESTS, PYTHON};

/// The folder of all files to publish.
const DIST: &str = "target/dist";
const VENV: &str = "target/venv-packaging";
const EMPTY: &str = "dist: folder";
const WHEEL: &str = "dist: Python";
const NPM: &str = "dist: npm";
const CRATES: &str = "dist: crates";
const COMPONENT: &str = "dist: component";
const WIT: &str = "dist: WIT";
const BILLS: &str = "dist: bills of materials";
const SUMS: &str = "dist: notes and checksums";
/// The crates that are published, in the order of their dependencies.
const PUBLISHED: &[&str] = &["samedeal-bulk", "samedeal-core", "samedeal-interface", "samedeal", "samedeal-cli"];
const COMPONENT_FILE: &str = "samedeal.wasm";

/// `cargo xtask dist [--check]`.
pub fn plan(words: &[&str]) -> Result<Plan, String> {
    let parts = crate::parts();
    match words {
        [] => Ok(Plan::of("dist", parts, &[SUMS])),
        ["--check"] => {
            let checks = checks().into_iter().chain(thorough()).collect();
            Ok(Plan::new("dist --check", parts, checks).with_summary())
        }
        _ => Err(format!("unknown option of dist: {}", words.join(" "))),
    }
}

/// `cargo xtask engines`: tests the Python and the npm package with the oldest and the newest versions of what they run
/// on.
pub fn engines() -> Plan {
    let step = Step::new("engines", &[needs::PYTHON, WHEEL, build::NPM], |progress| {
        let result = progress.run(&mut python(&["tests/packages/engines.py", DIST, "target/engines"]));
        let log = progress.log_text();
        let table: Vec<&str> = log.lines().filter_map(|line| line.strip_prefix("engines: ")).collect();
        let display = format!("\n{}\n", table.join("\n"));
        match result {
            Ok(()) => Ok(Report { display, ..Report::default() }),
            Err(why) => Err(format!("{why}\n{display}").into()),
        }
    });
    Plan::new("engines", crate::parts(), vec![step]).with_summary()
}

/// The checks that `check` runs: of the packages that are built quickly, and of the workflows.
pub fn checks() -> Vec<Step> {
    vec![
        suites::suite(
            "packages: contents, and installed where there is no Rust",
            &[WHEEL, NPM, CRATES, needs::NODE],
            || {
                tests(&[
                    "tests/packages/test_contents.py",
                    "tests/packages/test_installed.py",
                    "tests/packages/test_notes.py",
                ])
            },
        )
        .made_from(&[
            MANIFESTS,
            INTERFACE,
            PYTHON,
            JAVASCRIPT,
            build::WASM,
            &["README.md", "CHANGELOG.md", "docs/maintaining/releasing.md"],
            &["crates", "hosts/cli", "hosts/js", "hosts/python", "hosts/rust", "tests/packages"],
        ]),
        suites::suite("workflows", &[needs::PYTHON, needs::NODE], || tests(&["tests/packages/test_workflows.py"]))
            .made_from(&[&["tests/packages", ".github", "crates/xtask/src"]]),
    ]
}

/// Checks that take many minutes: the packages built again in another folder, the crates in a project of a user, and a
/// registry.
fn thorough() -> Vec<Step> {
    vec![
        suites::suite("packages: crates in a project of their own", &[SUMS], || {
            tests(&["tests/packages/test_crates.py"])
        })
        .with_lock(build::CARGO),
        suites::suite("packages: the component by way of a registry", &[SUMS, needs::WKG, needs::REGISTRY], || {
            tests(&["tests/packages/test_registry.py"])
        }),
        suites::suite("packages: the same bytes in another folder", &[SUMS], || {
            tests(&["tests/packages/test_again.py"])
        })
        .with_lock(build::CARGO),
    ]
}

/// The steps that make the published files.
pub fn parts() -> Vec<Step> {
    let mut steps = needs::parts();
    steps.extend([
        Step::new(EMPTY, &[], |_| {
            // Files of an earlier version are removed, because they would be published too.
            fs::remove_dir_all(project::path(DIST)).ok();
            fs::create_dir_all(project::path(DIST))?;
            Ok(Report::default())
        }),
        Step::new(WHEEL, &[EMPTY, needs::PYTHON, build::COMPONENT_STEP], |progress| {
            // The wheel is built from the source distribution, so that a file that is missing there is missed at once.
            let build = ["-m", "build", "--no-isolation", "--outdir", DIST, "hosts/python"];
            progress.run(&mut dated(python(&build))?)?;
            Ok(Report::note("wheel and source distribution"))
        }),
        Step::new(NPM, &[EMPTY, build::NPM], |progress| {
            let folder = project::path(DIST).display().to_string();
            progress.run(&mut project::npm("hosts/js", &["pack", "--pack-destination", &folder]))?;
            Ok(Report::default())
        }),
        Step::new(CRATES, &[EMPTY, build::COMPONENT_STEP], crates).with_lock(build::CARGO),
        Step::new(COMPONENT, &[EMPTY, build::COMPONENT_STEP], |_| {
            fs::copy(project::path("hosts/rust").join(COMPONENT_FILE), project::path(DIST).join(COMPONENT_FILE))?;
            Ok(Report::note(COMPONENT_FILE))
        }),
        Step::new(WIT, &[EMPTY, needs::WKG], |progress| {
            // wkg writes a lock file into its working directory.
            fs::create_dir_all(project::path("target/wkg"))?;
            let [wit, output] = ["wit", &format!("{DIST}/samedeal-wit-{}.wasm", version())].map(project::path);
            let mut command = project::own(&format!("{}/bin/wkg", needs::TOOLS), &["build", "--wit-dir"]);
            progress.run(command.arg(wit).arg("--output").arg(output).current_dir(project::path("target/wkg")))?;
            Ok(Report::default())
        }),
        Step::new(BILLS, &[EMPTY, needs::PYTHON, needs::CYCLONEDX], |progress| {
            let mut command = dated(python(&["tests/packages/bills.py", DIST]))?;
            progress.run(command.env("CARGO_CYCLONEDX", project::path(needs::TOOLS).join("bin/cargo-cyclonedx")))?;
            Ok(Report::note("CycloneDX, one for each package"))
        }),
        Step::new(SUMS, &[WHEEL, NPM, CRATES, COMPONENT, WIT, BILLS], |progress| {
            progress.run(&mut python(&["tests/packages/notes.py", DIST]))?;
            progress.run(&mut python(&["tests/packages/checksums.py", DIST]))?;
            let log = progress.log_text();
            let table: Vec<&str> = log.lines().filter(|line| !line.starts_with("$ ")).collect();
            let of = machine::answer(&mut project::program("git", &["describe", "--always", "--dirty"]));
            let note = format!("of {}", of.unwrap_or_else(|| "no commit".into()));
            Ok(Report { note, display: format!("\n{}\n", table.join("\n")), counts: Counts::default() })
        }),
    ]);
    steps
}

/// Packs the crates without building them, because that takes minutes. `dist --check` builds them.
fn crates(progress: &Progress) -> Outcome {
    // The component is not in git, and cargo counts it as a change.
    let packages = PUBLISHED.iter().map(|name| format!("--package={name}"));
    progress.run(project::cargo(&["package", "--no-verify", "--allow-dirty"]).args(packages))?;
    for name in PUBLISHED {
        let file = format!("{name}-{}.crate", version());
        fs::copy(project::path("target/package").join(&file), project::path(DIST).join(&file))?;
    }
    Ok(Report::default())
}

fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The command with `SOURCE_DATE_EPOCH` set to the time of the last commit, so that packages have the same dates
/// whenever they are built.
fn dated(mut command: Command) -> Result<Command, String> {
    let time = machine::answer(&mut project::program("git", &["log", "-1", "--format=%ct"]));
    command
        .env("SOURCE_DATE_EPOCH", time.ok_or("packages have the time of their commit, but this is no clone with git")?);
    Ok(command)
}

fn python(arguments: &[&str]) -> Command {
    project::own(&format!("{VENV}/bin/python"), arguments)
}

fn tests(files: &[&str]) -> Command {
    let mut command = python(&["-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider", "--durations=5"]);
    command.args(files);
    command
}
