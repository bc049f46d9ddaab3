//! The tests of every language, in two tiers: suites that need no PyTorch, no browser and no framework, and all others.

use std::process::Command;

use crate::build;
use crate::counts::Counts;
use crate::crossing;
use crate::demo;
use crate::docs;
use crate::fuzz;
use crate::lints;
use crate::machine;
use crate::matrix;
use crate::packages;
use crate::plan::{Failure, Outcome, Report, Step};
use crate::progress::Progress;
use crate::project;
use crate::robustness;
use crate::setup;

/// Files that every Rust build depends on, beside its sources.
pub const MANIFESTS: &[&str] = &["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", ".cargo"];
/// The crates of the core: computation, and sorting.
pub const CORE: &[&str] = &["crates/core", "crates/bulk"];
/// The Rust host, which links the core here, and the crates that it is built from.
pub const NATIVE: &[&str] = &["crates/generator", "crates/interface", "hosts/rust"];
/// The WIT, from which code is generated.
pub const INTERFACE: &[&str] = &["wit"];
/// The files of the Python host, with the component that it carries.
pub const PYTHON: &[&str] = &["hosts/python/src", "hosts/python/pyproject.toml", "hosts/python/requirements-dev.txt"];
/// The tests of the Python host. The folders below need other environments; all other tests need only the host.
const PYTHON_TESTS: &str = "hosts/python/tests";
/// The tests that compare the compat orders with the original libraries.
const ORACLES: &str = "hosts/python/tests/oracle";
/// The tests of ranks and loader workers under torch, in processes of their own.
const DISTRIBUTED: &str = "hosts/python/tests/distributed";
/// The tests with training frameworks, and the tutorials.
const FRAMEWORKS: &str = "hosts/python/tests/frameworks";
/// The tests of files that libraries of other formats have written.
const FORMATS: &str = "hosts/python/tests/formats";
/// A training job in Python that is killed. Other hosts read the rest of its epoch.
const RESUME: &str = "tests/crossing/training";
/// The files that hosts write on a user's machine: the folder of compiled code, which another user attacks, and a home
/// directory full of files.
const GUEST: &str = "tests/guest";
/// The tests of the examples, which use the component in other programs.
const EXAMPLES: &str = "tests/examples";
/// The folder of the explorer, the page that shows any deal.
pub const EXPLORER: &str = "docs/explorer";
/// Files that the tests in the environment with torch depend on.
pub const TORCH: &[&str] = &["hosts/python", "hosts/python/requirements-oracle.txt"];
/// The files that the npm package is built from.
pub const JAVASCRIPT: &[&str] =
    &["hosts/js/src", "hosts/js/scripts", "hosts/js/package.json", "hosts/js/package-lock.json"];

/// Folders with Rust code that runs on this machine.
pub const RUST_FOLDERS: &[&str] = &[
    "crates",
    "hosts/cli",
    "hosts/rust",
    "tests/bench",
    "tests/crossing",
    "tests/engines",
    "tests/fuzz",
    "tests/growth",
    "tests/matrix",
];
/// Inputs of the Rust tests: the code, and the files that tests read.
const RUST: &[&[&str]] = &[
    MANIFESTS,
    INTERFACE,
    RUST_FOLDERS,
    &[
        "tests/vectors",
        "docs/answers.schema.json",
        "docs/matrix.md",
        "docs/reference/command.md",
        "docs/reference/recipe.md",
        "docs/spec/14-recipes.md",
        "docs/recipe.schema.json",
    ],
];

/// Options that select the tests of the crates with an engine, without those of the command.
const ENGINE_TESTS: &[&str] = &[
    "--lib",
    "--bin=bench",
    "--bin=crossing-rust",
    "--bin=engines",
    "--bin=fuzz-*",
    "--bin=matrix-*",
    "--test=growth",
    "--test=host",
    "--test=surface",
    "--test=wit",
];

/// `cargo xtask test`: the suites to run after every change.
pub fn test() -> Vec<Step> {
    quick(matrix::Cases::Small)
}

/// `cargo xtask check`: all suites.
pub fn check() -> Vec<Step> {
    slow().into_iter().chain(quick(matrix::Cases::All)).collect()
}

/// Suites that need no PyTorch, no browser and little memory.
fn quick(cases: matrix::Cases) -> Vec<Step> {
    let javascript: &[&[&str]] = &[
        JAVASCRIPT,
        build::WASM,
        INTERFACE,
        &["hosts/js", "docs/parity.md", "docs/reference", "tests/fuzz/javascript", "tests/matrix", "tests/vectors"],
    ];
    let mut steps = vec![
        suite("Rust tests", &[build::GENERATED], || native_test(&["--lib", "--bins", "--tests", "--examples"]))
            .made_from(RUST)
            .with_lock(build::CARGO),
        suite("Python host", &[setup::PYTHON, build::COMPONENT_STEP], || {
            let mut command = pytest("target/venv", PYTHON_TESTS);
            command.args([ORACLES, DISTRIBUTED, FRAMEWORKS, FORMATS].map(|folder| format!("--ignore={folder}")));
            command
        })
        .made_from(&[PYTHON, INTERFACE, &["hosts/python", "tests/fuzz/python", "tests/vectors"]]),
        suite("JavaScript host", &[build::NPM, setup::PYTHON], || {
            let mut command = project::npm("hosts/js", &["test"]);
            // Without a terminal, Node 20 writes TAP by default, and failures would not come last in it.
            command.env("NODE_OPTIONS", "--test-reporter=spec");
            command
        })
        .made_from(javascript),
        suite("Rust examples in the documentation", &[build::GENERATED], || native_test(&["--doc"]))
            .made_from(RUST)
            .with_lock(build::CARGO),
        suite("second implementation", &[setup::PYTHON], move || {
            let mut command = pytest("target/venv", "tests/reference");
            cases.tell(&mut command);
            command
        })
        .made_from(&[&["tests/reference", "tests/vectors", "docs/recipe.schema.json"]])
        .with_setting(cases.name()),
        golden_cases("golden cases are fresh", &[build::TOOLS], "tests/vectors", || {
            project::own("target/debug/vectors", &["--check"])
        })
        .made_from(RUST),
        docs::tests(),
    ];
    steps.extend(matrix::quick());
    steps
}

/// Suites that only `cargo xtask check` runs: PyTorch and training frameworks, browsers, and the demo as the last
/// proof.
fn slow() -> Vec<Step> {
    let mut steps = vec![
        with_torch("frameworks and tutorials", FRAMEWORKS).made_from(&[TORCH, &["docs/tutorials"]]),
        with_torch("ranks and workers under torch", DISTRIBUTED).made_from(&[TORCH, &["tests/fuzz/python"]]),
        complete("files of other formats", FORMATS, setup::FORMATS, setup::FORMATS_VENV)
            .made_from(&[TORCH, &["hosts/python/requirements-formats.txt"]]),
        with_torch("saved by Python, finished by Rust and Node", RESUME)
            .and_needs(&[build::COMMAND, build::TOOLS, build::NPM])
            .made_from(&[TORCH, MANIFESTS, CORE, JAVASCRIPT, build::WASM, &["hosts/cli", "hosts/rust", RESUME]]),
        with_torch("a guest on the machine of a user", GUEST)
            .and_needs(&[build::COMMAND, build::ENGINE_TOOLS, build::NPM])
            .made_from(&[TORCH, MANIFESTS, JAVASCRIPT, build::WASM, &["hosts/cli", "hosts/rust", GUEST]]),
        with_torch("Python against torch and CPython", ORACLES).made_from(&[TORCH]),
        suite(crossing::SUITE, crossing::NEEDS, || {
            machine::with_browser(pytest("target/venv", "tests/crossing/test_crossing.py"))
        })
        .made_from(crossing::INPUTS),
        docs::tests_with_torch(),
        docs::site(),
        suite("Rust tests with the engine", &[build::COMPONENT_STEP], || {
            // The tests of the command are left out: the command computes nothing itself. The suite "a guest on the
            // machine of a user" checks that it prints the same with the component as with the core.
            engine_test(ENGINE_TESTS, &[])
        })
        .made_from(RUST)
        .with_lock(build::CARGO_ENGINE),
        suite("growth: an earlier host, a newer component", &[build::COMPONENT_STEP, build::GROWN], || {
            with_grown(engine_test(&["--test=growth"], &["--ignored"]))
        })
        .made_from(&[
            MANIFESTS,
            INTERFACE,
            CORE,
            &["crates/component", "crates/interface", "tests/growth", "tests/vectors"],
        ])
        .with_lock(build::CARGO_ENGINE),
        suite("growth: Python", &[setup::PYTHON, build::COMPONENT_STEP, build::GROWN], || {
            with_grown(pytest("target/venv", "tests/growth/test_python.py"))
        })
        .made_from(&[
            PYTHON,
            INTERFACE,
            CORE,
            &["crates/component", "crates/interface", "tests/growth", "tests/vectors"],
        ]),
        suite("growth: JavaScript", &[build::NPM, build::GROWN], || {
            let mut command = with_grown(project::npm("hosts/js", &["run", "test:growth"]));
            command.env("NODE_OPTIONS", "--test-reporter=spec");
            command
        })
        .made_from(&[
            JAVASCRIPT,
            build::WASM,
            INTERFACE,
            CORE,
            &["crates/component", "crates/interface", "hosts/js/test/growth"],
        ]),
        suite(
            "examples: what their READMEs show",
            &[
                setup::COMPOSER,
                setup::EXAMPLES_NODE,
                setup::EXAMPLES_PYTHON,
                setup::COMPONENT_TARGET,
                build::COMPONENT_STEP,
                // The npm package for Node alone would not do: the build of the whole package would remove it while the
                // tests run.
                build::NPM,
            ],
            || {
                let mut command = pytest("target/venv-examples", EXAMPLES);
                command.env("SAMEDEAL_WAC", project::path(setup::COMPOSER_ROOT).join("bin"));
                command
            },
        )
        .made_from(&[MANIFESTS, PYTHON, JAVASCRIPT, build::WASM, INTERFACE, &["examples", EXAMPLES]])
        .with_lock(build::CARGO_WASM),
        suite("JavaScript host with large tables", &[build::NPM], || {
            let mut command = project::npm("hosts/js", &["run", "test:large"]);
            command.env("NODE_OPTIONS", "--test-reporter=spec");
            command
        })
        .made_from(&[JAVASCRIPT, build::WASM, &["hosts/js"]]),
        suite("npm package in bundlers", &[build::NPM, setup::BROWSER, setup::BUNDLERS], || {
            let mut command = machine::with_browser(project::npm("hosts/js", &["run", "test:bundlers"]));
            command.env("NODE_OPTIONS", "--test-reporter=spec");
            command
        })
        .made_from(&[JAVASCRIPT, build::WASM, &["hosts/js", "tests/matrix"]]),
        suite("JavaScript host in a browser", &[build::NPM, setup::BROWSER], || {
            let mut command = machine::with_browser(project::npm("hosts/js", &["run", "test:browser"]));
            command.env("NODE_OPTIONS", "--test-reporter=spec");
            command
        })
        .made_from(&[JAVASCRIPT, build::WASM, &["hosts/js", "docs", "tests/matrix"]]),
        suite(
            "explorer: every view against Python",
            &[docs::EXPLORER, build::COMMAND, setup::PYTHON, setup::BROWSER, matrix::FIREFOX],
            || {
                let mut command = machine::with_browser(project::npm(EXPLORER, &["run", "test:built"]));
                command.env("SAMEDEAL_COMMAND", project::path("target/debug/samedeal"));
                command
            },
        )
        .made_from(&[PYTHON, JAVASCRIPT, build::WASM, &[EXPLORER]]),
        Step::new("measurements, in small", &[build::ENGINE_TOOLS, build::NPM, setup::TORCH], |progress| {
            let output = "target/xtask/measurements-in-small.txt";
            let mut command = project::own("target/engine/debug/bench", &["--smoke", "--runs", "1", "--figures"]);
            progress.run_into(&mut command, &project::path(output))?;
            // Checks that the program still prints every figure that a page states, under the same name.
            progress.run(&mut project::program(machine::python(), &["tests/docs/measured.py", "names", output]))?;
            Ok(Report::note("cargo xtask bench takes them"))
        })
        .made_from(&[
            MANIFESTS,
            PYTHON,
            JAVASCRIPT,
            build::WASM,
            CORE,
            &["docs/comparison/figures", "tests/bench", "tests/docs", "hosts/rust"],
        ]),
    ];
    steps.extend(robustness::suites());
    steps.extend(lints::quick());
    steps.extend(lints::slow());
    steps.extend(packages::checks());
    steps.extend(matrix::slow());
    steps.extend(fuzz::smoke());
    steps.extend(demo::proof());
    steps
}

/// The suites that have one of the words in their names, and the suites that these need. All suites if there are no
/// words.
pub fn chosen(steps: Vec<Step>, words: &[&str]) -> Result<Vec<Step>, String> {
    let names: Vec<String> = steps.iter().map(|step| step.name().to_string()).collect();
    let has = |name: &str, word: &str| name.to_lowercase().contains(&word.to_lowercase());
    if let Some(word) = words.iter().find(|word| !names.iter().any(|name| has(name, word))) {
        return Err(format!("no suite has {word} in its name; there are:\n  {}", names.join("\n  ")));
    }
    let mut is_chosen: Vec<bool> =
        names.iter().map(|name| words.is_empty() || words.iter().any(|word| has(name, word))).collect();
    // A suite comes after those that it needs.
    for at in (0..steps.len()).rev().filter(|_| !words.is_empty()) {
        if is_chosen[at] {
            for (needed, name) in names.iter().enumerate() {
                is_chosen[needed] |= steps[at].needs().contains(&name.as_str());
            }
        }
    }
    Ok(steps.into_iter().zip(is_chosen).filter_map(|(step, is_chosen)| is_chosen.then_some(step)).collect())
}

/// `cargo xtask vectors`: writes the golden cases, or checks that they are what the core computes.
pub fn vectors(check: bool) -> Step {
    let (name, note) = if check {
        ("golden cases are fresh", "tests/vectors")
    } else {
        ("golden cases", "tests/vectors is up to date")
    };
    golden_cases(name, &[], note, move || {
        let mut command = project::cargo(&["run", "--package=vectors"]);
        command.args(project::TESTED).arg("--").args(check.then_some("--check"));
        command
    })
}

fn golden_cases(
    name: &str,
    needs: &[&'static str],
    note: &'static str,
    command: impl Fn() -> Command + Send + 'static,
) -> Step {
    Step::new(name, needs, move |progress| {
        progress.run(&mut command())?;
        Ok(Report::note(note))
    })
}

/// The command, with the path of the component with more.
fn with_grown(mut command: Command) -> Command {
    command.env("SAMEDEAL_GROWN", project::path(build::GROWN_FOLDER));
    command
}

/// A step that runs a suite and counts its tests. A suite without tests is a failure.
pub fn suite(name: &str, needs: &[&'static str], command: impl Fn() -> Command + Send + 'static) -> Step {
    Step::new(name, needs, move |progress| count(progress, progress.run(&mut command())))
}

/// Tests in the environment with PyTorch.
pub fn with_torch(name: &'static str, tests: &'static str) -> Step {
    complete(name, tests, setup::TORCH, "target/venv-torch")
}

/// Tests in an environment that is made for them. A skipped test is a failure, because it means that something is
/// missing there.
fn complete(name: &'static str, tests: &'static str, environment: &'static str, folder: &'static str) -> Step {
    Step::new(name, &[environment, build::COMPONENT_STEP], move |progress| {
        let report = count(progress, progress.run(&mut pytest(folder, tests)))?;
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
        Ok(()) => Ok(Report::of(counts)),
    }
}

/// Tests of the crates that link the core.
fn native_test(what: &[&str]) -> Command {
    let mut command = project::cargo(&["test", "--no-fail-fast"]);
    command.args(project::NATIVE_CRATES).args(what);
    command
}

/// Tests of the crates that run the component in an engine.
fn engine_test(what: &[&str], options: &[&str]) -> Command {
    let mut command = project::cargo(&["test", "--no-fail-fast"]);
    command.args(project::ENGINE_CRATES).args(what).arg("--").args(options);
    command
}

pub fn pytest(environment: &str, tests: &str) -> Command {
    pytest_of(environment, &[tests])
}

/// The command that runs pytest on several files or folders.
pub fn pytest_of(environment: &str, tests: &[&str]) -> Command {
    let python = format!("{environment}/bin/python");
    let mut command =
        project::own(&python, &["-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider", "--durations=15"]);
    command.args(tests);
    command
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::{fs, io};

    use super::*;

    #[test]
    fn tests_with_the_engine_are_those_of_all_crates_but_the_command() {
        let folders = RUST_FOLDERS.iter().filter(|folder| **folder != "hosts/cli");
        let files = |folder| fs::read_dir(project::path(&format!("{folder}/tests"))).into_iter().flatten();
        let stem = |file: io::Result<fs::DirEntry>| {
            let path = file.unwrap().path();
            let is_test = path.extension().is_some_and(|end| end == "rs") || path.join("main.rs").is_file();
            is_test.then(|| format!("--test={}", path.file_stem().unwrap().display()))
        };
        let mut found: BTreeSet<String> = folders.flat_map(files).filter_map(stem).collect();
        // `judge` needs a feature, and has no cases of its own. `cargo xtask mutants` runs it.
        assert!(found.remove("--test=judge"));
        let listed = ENGINE_TESTS.iter().filter(|option| option.starts_with("--test=")).map(ToString::to_string);
        assert_eq!(found, listed.collect());
    }

    #[test]
    fn suites_are_chosen_by_words_of_their_names() {
        let names = |words: &[&str]| -> Result<Vec<String>, String> {
            Ok(chosen(test(), words)?.iter().map(|step| step.name().to_string()).collect())
        };
        assert_eq!(names(&[]).unwrap().len(), test().len());
        assert_eq!(names(&["documentation"]).unwrap(), ["Rust examples in the documentation", "documentation"]);
        assert!(names(&["python"]).unwrap().contains(&"Python host".to_string()));
        assert!(names(&["documentation", "cobol"]).unwrap_err().starts_with("no suite has cobol in its name"));
    }
}
