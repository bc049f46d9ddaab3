//! Downloads that other steps need and cargo does not bring: targets and lints of Rust, environments, a browser. All of
//! them go below target/ or into node_modules, except the browser and the parts of the Rust toolchain.

use std::path::Path;

use crate::counts::Counts;
use crate::debian;
use crate::machine;
use crate::plan::{Failure, Outcome, Report, Step};
use crate::progress::Progress;
use crate::project;
use crate::stamp::Stamp;

/// The installer of Python packages, in its version.
const UV: &str = "uv==0.13.9";
const UP_TO_DATE: &str = "up to date";

/// The number of parts that the WebAssembly builds wait for. These parts come first.
pub const FIRST: usize = 3;

/// All steps of the set-up.
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

/// The step that checks the programs of the machine.
pub const MACHINE: &str = "this machine";
/// The Rust target of the component: WASI.
pub const COMPONENT_TARGET: &str = "Rust target of the component";
/// The Rust target of the module for pages: WebAssembly without a system.
pub const WEB_TARGET: &str = "Rust target of pages";
/// The target with which the code for Windows is checked.
pub const WINDOWS_TARGET: &str = "Rust target of Windows";
/// The Rust target for Windows. Its code can be checked without a C compiler for Windows.
pub const WINDOWS: &str = "x86_64-pc-windows-gnu";
/// The lock of rustup: only one change of the toolchain at a time.
pub const RUSTUP: &str = "rustup";
/// The environment that the Python host is developed and tested in.
pub const PYTHON: &str = "Python environment";
/// The packages that build and test the npm package.
pub const NODE: &str = "npm packages";
/// Vite, webpack and other bundlers, in which the npm package is tested.
pub const BUNDLERS: &str = "npm packages of bundlers";
/// The packages that build and test the explorer.
pub const EXPLORER: &str = "npm packages of the explorer";
/// The packages that the JavaScript examples import.
pub const EXAMPLES_NODE: &str = "npm packages of examples";
const EXAMPLES_OF_NODE: &[&str] = &["examples/arrow-indices", "examples/batch-service", "examples/js-guest"];
/// The environment of the Python examples.
pub const EXAMPLES_PYTHON: &str = "Python environment of examples";
/// The program that lists the names of the npm package for the site: typedoc.
pub const SITE_NODE: &str = "npm packages of the site";
/// The environment of the program that makes the site.
pub const SITE: &str = "Python environment of the site";
/// The program that composes components.
pub const COMPOSER: &str = "wac";
/// The folder into which the composer is installed. The program is in its folder `bin`.
pub const COMPOSER_ROOT: &str = "target/wac";
const COMPOSER_VERSION: &str = "0.12.0";
/// The formatter and the linter of the Rust toolchain.
pub const RUST_LINTS: &str = "rustfmt and clippy";
/// A browser that can run headless.
pub const BROWSER: &str = "browser";
/// The environment with the libraries whose orders the compat orders reproduce, and with training frameworks.
pub const TORCH: &str = "Python environment with torch (5 GB)";
/// The environment with the libraries that write file formats other than Parquet.
pub const FORMATS: &str = "Python environment of file formats";
/// The folder of the environment of file formats.
pub const FORMATS_VENV: &str = "target/venv-formats";
/// The environment of the statistical tests of shuffles.
pub const STATISTICS: &str = "Python environment with SciPy";

fn rust_lints(progress: &Progress) -> Outcome {
    let there = |tool| machine::answer(&mut project::cargo(&[tool, "--version"])).is_some();
    if there("fmt") && there("clippy") {
        return Ok(Report::note(UP_TO_DATE));
    }
    progress.run(&mut project::program("rustup", &["component", "add", "rustfmt", "clippy"]))?;
    Ok(Report::note("installed"))
}

/// Installs the packages of a folder, in the versions of its package-lock.json.
pub fn npm_packages(progress: &Progress, folder: &str) -> Outcome {
    let lock = format!("{folder}/package-lock.json");
    let node = machine::answer(&mut project::program("node", &["--version"])).unwrap_or_default();
    let stamp =
        Stamp::of(&format!("npm-{}", folder.replace('/', "-")), &[&lock, &format!("{folder}/package.json")], &node)?;
    if stamp.is_current() && project::path(folder).join("node_modules").is_dir() {
        return Ok(Report::note(UP_TO_DATE));
    }
    // `--no-save` leaves the lock file as it is. `npm ci` would refuse a lock file that was written where the registry
    // lacks optional packages of other platforms.
    progress.run(&mut project::npm(folder, &["install", "--no-save", "--no-audit", "--no-fund"]))?;
    stamp.record(Counts::default())?;
    Ok(Report::note(format!("installed in {folder}/node_modules")))
}

/// A step that adds a Rust target to the toolchain.
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

/// An environment with the packages of a requirements file, and with the Python host in editable form.
fn environment(progress: &Progress, folder: &str, requirements: &str) -> Outcome {
    environment_with(progress, folder, requirements, &["-e", "hosts/python"])
}

/// An environment with only the packages of a requirements file.
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
    // uv installs many times faster than pip.
    let install = ["-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", UV];
    progress.run(&mut project::own(&python, &install))?;
    // uv finds the interpreter of an environment from its folder, on every system.
    let mut install = project::own(&python, &["-m", "uv", "pip", "install", "--no-progress", "--python", folder]);
    progress.run(install.args(["-r", requirements]).args(more))?;
    stamp.record(Counts::default())?;
    Ok(Report::note(format!("installed in {folder}")))
}

/// An environment that also sees the packages of the environment with torch, whose 5 GB would otherwise be there twice.
/// It has the packages of a requirements file, without their dependencies.
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

/// Builds the composer from its sources, without optimization, which would take three times as long.
fn composer(progress: &Progress) -> Outcome {
    let version = format!("wac-cli {COMPOSER_VERSION}");
    let program = format!("{COMPOSER_ROOT}/bin/wac");
    if machine::answer(&mut project::own(&program, &["--version"])) == Some(version.clone()) {
        return Ok(Report::note(UP_TO_DATE));
    }
    cargo_install(progress, COMPOSER_ROOT, "wac-cli", COMPOSER_VERSION, &["--no-default-features"])?;
    Ok(Report::note(format!("installed {version}")))
}

/// Builds a program from crates.io, without optimization: it runs only for seconds.
pub fn cargo_install(
    progress: &Progress,
    root: &str,
    name: &str,
    version: &str,
    options: &[&str],
) -> Result<(), Failure> {
    let mut install = project::cargo(&["install", name, "--version", version, "--locked", "--debug", "--root", root]);
    // Cargo builds it in a temporary folder, so that the builds of the project are not locked meanwhile.
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
