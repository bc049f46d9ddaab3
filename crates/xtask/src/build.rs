//! Makes the artefacts: the component, its copies in the hosts, the web build, the packages and the commands.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use crate::counts::Counts;
use crate::machine;
use crate::plan::{Outcome, Report, Step};
use crate::progress::Progress;
use crate::project;
use crate::setup;
use crate::stamp::Stamp;

const COMPONENT: &str = "target/wasm32-wasip2/wasm/samedeal.wasm";
const PLANNING: &str = "target/wasm32-wasip2/wasm/planning.wasm";
/// The component of samplers with composed orders, under the name of the other one.
const COMPOSING: &str = "target/composing.wasm";
const BATCHING: &str = "target/wasm32-wasip2/wasm/batching.wasm";
/// It writes the layers between the Python and npm packages and the components.
const GENERATOR: &str = "target/debug/bindings";
const PYTHON_BINDINGS: &str = "hosts/python/src/samedeal/bindings";
/// It writes the JavaScript around the web build.
const BINDGEN: &str = "target/debug/bindgen";
const WEB_COMPOSING: &str = "target/samedeal_web_composing.wasm";
const WEB: &str = "target/wasm32-unknown-unknown/wasm/samedeal_web.wasm";
/// The hosts that carry the components; not in git.
const CARRIERS: &[&str] = &["hosts/rust", "hosts/python/src/samedeal"];
/// What the npm package is made from; what only its entry for pages needs comes last.
const WHOLE_NPM: &[&str] =
    &["hosts/js", "wit", GENERATOR, COMPONENT, COMPOSING, PLANNING, BATCHING, WEB, WEB_COMPOSING, BINDGEN];

/// What the WebAssembly builds become, for the stamps of what is made from them.
pub const WASM: &[&str] = &[COMPONENT, COMPOSING, PLANNING, BATCHING, WEB, WEB_COMPOSING];
/// The components, their copies in the hosts, and what the hosts call them by.
pub const COMPONENTS: &str = "components";
/// The layer between the Python package and the components.
pub const BINDINGS: &str = "bindings";
/// The module for pages.
pub const WEB_BUILD: &str = "web build";
/// The command `samedeal`, as the demo and the tests run it.
pub const COMMAND: &str = "command";
/// The programs of tests and generators.
pub const TOOLS: &str = "tools";
/// What users get of Rust, and the benchmarks.
pub const RELEASE: &str = "command, in release";
/// The npm package.
pub const NPM: &str = "npm package";
/// The npm package without its entry for pages, which needs the web build.
pub const NPM_FOR_NODE: &str = "npm package for Node";
/// Components that have more than the interface of the hosts, for tests alone.
pub const GROWN: &str = "components with more";
/// Where they are.
pub const GROWN_FOLDER: &str = "target/grown/wasm32-wasip2/wasm";
/// Cargo does one thing at a time in a folder.
pub const CARGO: &str = "cargo";
/// The same for WebAssembly, which has folders of its own.
pub const CARGO_WASM: &str = "cargo for WebAssembly";
const COMPILED: &str = "components: WebAssembly";
const WRITES_BINDGEN: &str = "wasm-bindgen";

/// The steps that make artefacts.
pub fn parts() -> Vec<Step> {
    vec![
        Step::new(COMPILED, &[setup::TARGETS], components).with_lock(CARGO_WASM),
        // In a folder of its own: those that users get stay as they are.
        Step::new(GROWN, &[setup::TARGETS], |progress| {
            let mut command = project::cargo(&["build", "--profile", "wasm", "--target", "wasm32-wasip2"]);
            command.args([
                "--target-dir",
                "target/grown",
                "--package=samedeal-sampling",
                "--package=samedeal-batching",
            ]);
            command.arg("--features=samedeal-sampling/grown,samedeal-batching/grown");
            progress.run(&mut command)?;
            Ok(Report::note(GROWN_FOLDER))
        })
        .with_lock(CARGO_WASM),
        Step::new(BINDINGS, &[setup::MACHINE], bindings).with_lock(CARGO),
        Step::new(COMPONENTS, &[COMPILED, BINDINGS], |_| Ok(Report::default())),
        Step::new(COMMAND, &[COMPONENTS], |progress| {
            progress.run(&mut host(&["--bin=samedeal"]))?;
            Ok(Report::note("target/debug/samedeal"))
        })
        .with_lock(CARGO),
        Step::new(WEB_BUILD, &[setup::TARGETS], web).with_lock(CARGO_WASM),
        Step::new(WRITES_BINDGEN, &[setup::MACHINE], |progress| {
            progress.run(&mut host(&["--bin=bindgen"]))?;
            Ok(Report::note(BINDGEN))
        })
        .with_lock(CARGO),
        Step::new(TOOLS, &[COMPONENTS], |progress| {
            progress.run(&mut host(&["--bins", "--examples"]))?;
            Ok(Report::note("target/debug"))
        })
        .with_lock(CARGO),
        Step::new(RELEASE, &[COMPONENTS], |progress| {
            progress.run(host(&["--bins"]).arg("--release"))?;
            Ok(Report::note("target/release/samedeal"))
        })
        .with_lock(CARGO),
        Step::new(NPM_FOR_NODE, &[setup::NODE, COMPONENTS], |progress| npm_package(progress, "build:node"))
            .with_lock(NPM),
        Step::new(NPM, &[setup::NODE, COMPONENTS, WEB_BUILD, WRITES_BINDGEN], |progress| {
            npm_package(progress, "build")
        })
        .with_lock(NPM),
    ]
}

/// A build of crates for this machine. It selects all of them, whichever it builds, so that cargo gives their
/// dependencies the same features each time and compiles them once.
fn host(what: &[&str]) -> Command {
    let mut command = project::cargo(&["build"]);
    command.args(project::HOST_CRATES).args(what);
    command
}

fn components(progress: &Progress) -> Outcome {
    compiled(progress, "target", None, CARRIERS)
}

/// Builds the components below a folder, with other flags than the usual ones if there are any, and copies them to the carriers.
pub fn compiled(progress: &Progress, folder: &str, flags: Option<&str>, carriers: &[&str]) -> Outcome {
    let build = |packages: &[&str], features: &[&str]| {
        let mut command = wasm(packages, "wasm32-wasip2", features);
        command.env("CARGO_TARGET_DIR", project::path(folder)).envs(flags.map(|flags| ("RUSTFLAGS", flags)));
        progress.run(&mut command)
    };
    let made = |path: &str| project::path(folder).join(path.trim_start_matches("target/"));
    // At once what shares its features: each component is optimised as a whole, on one core. First those with composed orders: one of them
    // leaves a file that the other build of its package replaces.
    let composed = "--features=samedeal-sampling/composed,samedeal-batching/composed,samedeal-planning/composed";
    build(&["samedeal-sampling", "samedeal-batching", "samedeal-planning"], &[composed])?;
    replace(&made(COMPOSING), &fs::read(made(COMPONENT))?)?;
    build(&["samedeal-sampling"], &[])?;
    let mut notes = Vec::new();
    for path in [COMPONENT, COMPOSING, PLANNING, BATCHING].map(made) {
        let built = fs::read(&path)?;
        for folder in carriers {
            fs::create_dir_all(project::path(folder))?;
            replace(&project::path(folder).join(path.file_name().unwrap_or_default()), &built)?;
        }
        notes.push(format!("{} of {} bytes", path.file_name().unwrap_or_default().display(), built.len()));
    }
    Ok(Report::note(notes.join(", ")))
}

fn bindings(progress: &Progress) -> Outcome {
    progress.run(&mut host(&["--bin=bindings"]))?;
    progress.run(&mut project::own(GENERATOR, &["python", "wit", PYTHON_BINDINGS]))?;
    Ok(Report::note(PYTHON_BINDINGS))
}

fn web(progress: &Progress) -> Outcome {
    progress.run(&mut wasm(&["samedeal-web"], "wasm32-unknown-unknown", &["--features=samedeal-web/composed"]))?;
    replace(&project::path(WEB_COMPOSING), &fs::read(project::path(WEB))?)?;
    progress.run(&mut wasm(&["samedeal-web"], "wasm32-unknown-unknown", &[]))?;
    Ok(Report::note(WEB))
}

fn wasm(packages: &[&str], target: &str, more: &[&str]) -> Command {
    let mut command = project::cargo(&["build", "--profile", "wasm", "--target", target]);
    // Messages of panics name source files. Without the folders of this machine, every machine builds the same bytes.
    let renamed: Vec<String> = machine::source_folders()
        .into_iter()
        .map(|(folder, name)| format!("{:?}", format!("--remap-path-prefix={folder}={name}")))
        .collect();
    command.arg("--config").arg(format!("target.{target}.rustflags=[{}]", renamed.join(",")));
    command.args(packages.iter().map(|package| format!("--package={package}"))).args(more);
    command
}

/// The npm package from its sources, the components and, for pages, the web build.
fn npm_package(progress: &Progress, script: &str) -> Outcome {
    let inputs = if script == "build" { WHOLE_NPM } else { &WHOLE_NPM[..7] };
    let stamp = Stamp::of(&format!("npm-package-{script}"), inputs, "")?;
    // The whole package serves Node, too.
    let whole = Stamp::of("npm-package-build", WHOLE_NPM, "")?;
    if (stamp.is_current() || whole.is_current()) && project::path("hosts/js/dist").is_dir() {
        return Ok(Report::note("up to date"));
    }
    progress.run(&mut project::npm("hosts/js", &["run", script]))?;
    stamp.record(Counts::default())?;
    Ok(Report::note("hosts/js/dist"))
}

/// Writes a file at once and only where it differs: what is built from it stays fresh.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    let temporary = path.with_extension("new");
    fs::write(&temporary, content)?;
    fs::rename(temporary, path)
}
