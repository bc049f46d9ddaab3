//! Downloads that the other steps need and cargo does not bring: targets, environments, a browser. Everything but the
//! browser and the Rust targets goes below target/ or into node_modules.

use std::path::Path;

use crate::counts::Counts;
use crate::debian;
use crate::machine;
use crate::plan::{Failure, Outcome, Report, Step};
use crate::progress::Progress;
use crate::project;
use crate::stamp::Stamp;

/// The installer of Python packages.
const UV: &str = "uv==0.13.9";
const UP_TO_DATE: &str = "up to date";

/// How many of the parts the builds of WebAssembly wait for: they come first.
pub const FIRST: usize = 3;

/// The steps that others need.
pub fn parts() -> Vec<Step> {
    vec![
        Step::new(MACHINE, &[], |_| machine::check()),
        target(COMPONENT_TARGET, "wasm32-wasip2"),
        target(WEB_TARGET, "wasm32-unknown-unknown"),
        target(WINDOWS_TARGET, WINDOWS),
        Step::new(PYTHON, &[MACHINE], |progress| {
            environment(progress, "target/venv", "hosts/python/requirements-dev.txt")
        }),
        Step::new(NODE, &[MACHINE], |progress| npm_packages(progress, "hosts/js")),
        Step::new(BUNDLERS, &[MACHINE], |progress| npm_packages(progress, "hosts/js/test/bundlers")),
        Step::new(EXPLORER, &[MACHINE], |progress| npm_packages(progress, "docs/explorer")),
        Step::new(EXAMPLES_NODE, &[MACHINE], |progress| {
            EXAMPLES_OF_NODE.iter().try_for_each(|folder| npm_packages(progress, folder).map(drop))?;
            Ok(Report::note("in node_modules of the examples"))
        }),
        Step::new(SITE_NODE, &[MACHINE], |progress| npm_packages(progress, "docs/site")),
        Step::new(SITE, &[MACHINE], |progress| environment(progress, "target/venv-docs", "docs/site/requirements.txt")),
        Step::new(EXAMPLES_PYTHON, &[MACHINE], |progress| {
            environment(progress, "target/venv-examples", "examples/requirements.txt")
        }),
        Step::new(COMPOSER, &[MACHINE], composer),
        Step::new(RUST_LINTS, &[MACHINE], rust_lints),
        Step::new(BROWSER, &[MACHINE], browser).with_lock(debian::LOCK),
        Step::new(TORCH, &[MACHINE], |progress| {
            environment(progress, "target/venv-torch", "hosts/python/requirements-oracle.txt")
        }),
        Step::new(FORMATS, &[TORCH], |progress| {
            beyond_torch(progress, FORMATS_VENV, "hosts/python/requirements-formats.txt")
        }),
        Step::new(STATISTICS, &[MACHINE], |progress| {
            environment(progress, "target/venv-statistics", "tests/statistics/requirements.txt")
        }),
    ]
}

/// Programs that have to be on the machine.
pub const MACHINE: &str = "this machine";
/// The Rust target of the component: WASI.
pub const COMPONENT_TARGET: &str = "Rust target of the component";
/// The Rust target of the module for pages: WebAssembly without a system.
pub const WEB_TARGET: &str = "Rust target of pages";
/// The target with which the code for Windows is checked.
pub const WINDOWS_TARGET: &str = "Rust target of Windows";
/// The target whose code is checked without a compiler for C.
pub const WINDOWS: &str = "x86_64-pc-windows-gnu";
/// One rustup changes the toolchain at a time.
pub const RUSTUP: &str = "rustup";
/// The environment that the Python host is developed and tested in.
pub const PYTHON: &str = "Python environment";
/// Packages with which the npm package is built and tested.
pub const NODE: &str = "npm packages";
/// Vite, webpack and others, which the npm package is tried with.
pub const BUNDLERS: &str = "npm packages of bundlers";
/// Packages with which the explorer is built and tested.
pub const EXPLORER: &str = "npm packages of the explorer";
/// Packages that the examples in JavaScript import.
pub const EXAMPLES_NODE: &str = "npm packages of examples";
const EXAMPLES_OF_NODE: &[&str] = &["examples/arrow-indices", "examples/batch-service", "examples/js-guest"];
/// The environment that the examples in Python run in.
pub const EXAMPLES_PYTHON: &str = "Python environment of examples";
/// The program that lists the names of the npm package for the site.
pub const SITE_NODE: &str = "npm packages of the site";
/// The environment that makes the site.
pub const SITE: &str = "Python environment of the site";
/// The program that puts components together.
pub const COMPOSER: &str = "wac";
/// The folder of its program is `bin` below this one.
pub const COMPOSER_ROOT: &str = "target/wac";
const COMPOSER_VERSION: &str = "0.12.0";
/// Formatter and linter of the Rust toolchain.
pub const RUST_LINTS: &str = "rustfmt and clippy";
/// A browser that runs headless.
pub const BROWSER: &str = "browser";
/// The environment with the originals of the compat orders, and with what people train with.
pub const TORCH: &str = "Python environment with torch (5 GB)";
/// The environment with the libraries that write files of other formats than Parquet.
pub const FORMATS: &str = "Python environment of file formats";
/// Its folder.
pub const FORMATS_VENV: &str = "target/venv-formats";
/// The environment of the tests of shuffles.
pub const STATISTICS: &str = "Python environment with SciPy";

fn rust_lints(progress: &Progress) -> Outcome {
    let there = |tool| machine::answer(&mut project::cargo(&[tool, "--version"])).is_some();
    if there("fmt") && there("clippy") {
        return Ok(Report::note(UP_TO_DATE));
    }
    progress.run(&mut project::program("rustup", &["component", "add", "rustfmt", "clippy"]))?;
    Ok(Report::note("installed"))
}

/// Brings the packages of a folder with a package-lock.json to what that says.
pub fn npm_packages(progress: &Progress, folder: &str) -> Outcome {
    let lock = format!("{folder}/package-lock.json");
    let node = machine::answer(&mut project::program("node", &["--version"])).unwrap_or_default();
    let stamp =
        Stamp::of(&format!("npm-{}", folder.replace('/', "-")), &[&lock, &format!("{folder}/package.json")], &node)?;
    if stamp.is_current() && project::path(folder).join("node_modules").is_dir() {
        return Ok(Report::note(UP_TO_DATE));
    }
    // The versions of the lock file, which stays as it is. `npm ci` would refuse a lock file that was written where the
    // registry lacks optional packages of other platforms.
    progress.run(&mut project::npm(folder, &["install", "--no-save", "--no-audit", "--no-fund"]))?;
    stamp.record(Counts::default())?;
    Ok(Report::note(format!("installed in {folder}/node_modules")))
}

/// A step that adds a target of Rust.
fn target(step: &str, name: &'static str) -> Step {
    Step::new(step, &[MACHINE], move |progress| add_targets(progress, &[name])).with_lock(RUSTUP)
}

/// Adds the targets that the toolchain lacks.
pub fn add_targets(progress: &Progress, names: &[&str]) -> Outcome {
    let absent = |target: &&&str| {
        let libraries = project::program("rustc", &["--print", "target-libdir", "--target", target]);
        !machine::answer(&mut { libraries }).is_some_and(|folder| Path::new(&folder).is_dir())
    };
    let missing: Vec<&str> = names.iter().filter(absent).copied().collect();
    if missing.is_empty() {
        return Ok(Report::note(UP_TO_DATE));
    }
    if machine::answer(&mut project::program("rustup", &["--version"])).is_none() {
        let list = missing.join(" and ");
        return Err(format!(
            "this toolchain lacks the targets {list}, and rustup, which would add them, is not there: \
                            install it from https://rustup.rs"
        )
        .into());
    }
    progress.run(project::program("rustup", &["target", "add"]).args(&missing))?;
    Ok(Report::note(format!("added {}", missing.join(", "))))
}

/// An environment with the packages of a requirements file, and the Python host itself in it as it stands in the tree.
fn environment(progress: &Progress, folder: &str, requirements: &str) -> Outcome {
    environment_with(progress, folder, requirements, &["-e", "hosts/python"])
}

/// An environment with the packages of a requirements file, and nothing else.
pub fn bare_environment(progress: &Progress, folder: &str, requirements: &str) -> Outcome {
    environment_with(progress, folder, requirements, &[])
}

fn environment_with(progress: &Progress, folder: &str, requirements: &str, more: &[&str]) -> Outcome {
    let version = machine::answer(&mut project::program(machine::python(), &["--version"])).unwrap_or_default();
    let inputs: &[&str] =
        if more.is_empty() { &[requirements] } else { &[requirements, "hosts/python/pyproject.toml"] };
    let stamp = Stamp::of(&folder.replace('/', "-"), inputs, &version)?;
    let python = format!("{folder}/bin/python");
    let works = machine::answer(&mut project::own(&python, &["--version"])).as_ref() == Some(&version);
    if works && stamp.is_current() {
        return Ok(Report::note(UP_TO_DATE));
    }
    if !works {
        progress.run(&mut project::program(machine::python(), &["-m", "venv", "--clear", folder]))?;
    }
    // It installs many times faster than pip.
    let install = ["-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", UV];
    progress.run(&mut project::own(&python, &install))?;
    // uv finds the interpreter of an environment from its folder, on every system.
    let mut install = project::own(&python, &["-m", "uv", "pip", "install", "--no-progress", "--python", folder]);
    progress.run(install.args(["-r", requirements]).args(more))?;
    stamp.record(Counts::default())?;
    Ok(Report::note(format!("installed in {folder}")))
}

/// An environment that sees all that is in the one with torch, 5 GB that need not be there twice, and has the packages of a
/// requirements file beside that. Their dependencies are not installed.
pub fn beyond_torch(progress: &Progress, folder: &str, requirements: &str) -> Outcome {
    let python = format!("{folder}/bin/python");
    let purelib = "import sysconfig; print(sysconfig.get_paths()['purelib'])";
    let torch = machine::answer(&mut project::own("target/venv-torch/bin/python", &["-c", purelib]));
    let torch = torch.ok_or_else(|| "there is no environment with torch".to_string())?;
    let version = machine::answer(&mut project::program(machine::python(), &["--version"])).unwrap_or_default();
    let inputs = [requirements, "hosts/python/requirements-oracle.txt"];
    let stamp = Stamp::of(&folder.replace('/', "-"), &inputs, &format!("{version} {torch}"))?;
    let works = machine::answer(&mut project::own(&python, &["-c", "import torch, samedeal; print('v')"])).is_some();
    if works && stamp.is_current() {
        return Ok(Report::note(UP_TO_DATE));
    }
    progress.run(&mut project::program(machine::python(), &["-m", "venv", "--clear", folder]))?;
    let see = "import pathlib, sys, sysconfig\n\
               path = pathlib.Path(sysconfig.get_paths()['purelib'], 'torch.pth')\n\
               path.write_text(f'import site; site.addsitedir({sys.argv[1]!r})\\n')";
    progress.run(&mut project::own(&python, &["-c", see, &torch]))?;
    let install = ["-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", "--no-deps"];
    progress.run(project::own(&python, &install).args(["-r", requirements]))?;
    stamp.record(Counts::default())?;
    Ok(Report::note(format!("installed in {folder}")))
}

/// Builds the composer from its sources: without optimisation, which would take three times as long.
fn composer(progress: &Progress) -> Outcome {
    let version = format!("wac-cli {COMPOSER_VERSION}");
    let program = format!("{COMPOSER_ROOT}/bin/wac");
    if machine::answer(&mut project::own(&program, &["--version"])) == Some(version.clone()) {
        return Ok(Report::note(UP_TO_DATE));
    }
    cargo_install(progress, COMPOSER_ROOT, "wac-cli", COMPOSER_VERSION, &["--no-default-features"])?;
    Ok(Report::note(format!("installed {version}")))
}

/// Builds a program from crates.io. Without optimisation: it runs for seconds.
pub fn cargo_install(
    progress: &Progress,
    root: &str,
    name: &str,
    version: &str,
    options: &[&str],
) -> Result<(), Failure> {
    let mut install = project::cargo(&["install", name, "--version", version, "--locked", "--debug", "--root", root]);
    // In a folder of its own, which cargo deletes: the builds of the project are not locked meanwhile.
    install.args(options).env_remove("CARGO_TARGET_DIR").env("CARGO_PROFILE_DEV_DEBUG", "0");
    progress.run(&mut install)?;
    Ok(())
}

fn browser(progress: &Progress) -> Outcome {
    if let Some(browser) = machine::browser() {
        return Ok(Report::note(browser.display().to_string()));
    }
    let advice = "install Chromium (Debian: `apt-get install chromium`) or Chrome, or set CHROMIUM to the program";
    if !machine::can_install() {
        return Err(format!("no browser to test in: {advice}").into());
    }
    debian::install(progress, &["chromium"])?;
    match machine::browser() {
        Some(browser) => Ok(Report::note(format!("installed {}", browser.display()))),
        None => Err(format!("apt-get installed no Chromium: {advice}").into()),
    }
}
