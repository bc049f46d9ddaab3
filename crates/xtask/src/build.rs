//! Builds the artifacts: the component, its copies in the hosts, the web build, the packages and the commands.

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

/// The component, by its path in the target folder of a build.
const BUILT: &str = "wasm32-wasip2/wasm/samedeal.wasm";
/// The folder of the component before Binaryen makes it smaller.
const PLAIN: &str = "target/component";
/// The component that all hosts use. This is one of its copies.
const COMPONENT: &str = "hosts/rust/samedeal.wasm";
/// The program that writes all generated code: the layers of the hosts, the interface, and the options of the command.
const GENERATOR: &str = "target/debug/generator";
const PYTHON_GENERATED: &str = "hosts/python/src/samedeal/generated";
const JAVASCRIPT_CLASSES: &str = "hosts/js/src/generated";
/// The generated code of the Rust crate: methods that only call the component, and records.
const RUST_PART: &str = "hosts/rust/src/generated";
/// The generated types and traits of the interface in plain Rust.
const RUST_INTERFACE: &str = "crates/interface/src/generated";
const COMMAND_PART: &str = "hosts/cli/src/generated";
/// The program that writes the JavaScript around the web build.
const BINDGEN: &str = "target/debug/bindgen";
const WEB: &str = "target/wasm32-unknown-unknown/wasm/samedeal_web.wasm";
/// The hosts that carry a copy of the component. The copies are not in git.
const CARRIERS: &[&str] = &["hosts/rust", "hosts/python/src/samedeal"];
/// Options of Binaryen: optimize for size, and allow the instructions that LLVM uses, because every supported engine
/// has them.
const BINARYEN: &[&str] = &[
    "-Os",
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
    "--enable-simd",
];
/// The sources of the npm package. The last two are only needed by its entry for pages.
const WHOLE_NPM: &[&str] = &["hosts/js", "wit", GENERATOR, COMPONENT, WEB, BINDGEN];

/// The products of the WebAssembly builds, for the stamps of steps that use them.
pub const WASM: &[&str] = &[COMPONENT, WEB];
/// The step that compiles the component and copies it into the hosts. It needs the generated code, with which the hosts
/// call the component.
pub const COMPONENT_STEP: &str = "component";
/// The step that writes the generated code of the Python package, the Rust crate, the interface and the command, and
/// the classes of the npm package.
pub const GENERATED: &str = "generated code";
/// The step that builds the WebAssembly module for pages.
pub const WEB_BUILD: &str = "web build";
/// The step that builds the command `samedeal`, without optimization, as the demo and the tests run it.
pub const COMMAND: &str = "command";
/// The step that builds the test programs that link the core, and the examples of the crate.
pub const TOOLS: &str = "tools";
/// The step that builds the test programs that run the component in an engine, in target/engine/debug. They include the
/// command.
pub const ENGINE_TOOLS: &str = "tools with the engine";
/// The step that builds the command as users get it.
pub const RELEASE: &str = "command, in release";
/// The step that builds the benchmarks.
pub const BENCH: &str = "benchmarks, in release";
/// The step that builds the npm package.
pub const NPM: &str = "npm package";
/// The step that builds the npm package without its entry for pages, so that it does not need the web build.
pub const NPM_FOR_NODE: &str = "npm package for Node";
/// The step that builds a component with more than the interface of the hosts. Only tests use it.
pub const GROWN: &str = "component with more";
/// The folder of the component with more.
pub const GROWN_FOLDER: &str = "target/grown/wasm32-wasip2/wasm";
/// The lock of cargo in target: cargo does one thing at a time in a folder.
pub const CARGO: &str = "cargo";
/// The lock of cargo in target/engine. The programs with an engine have this folder of their own, so that they are
/// built at the same time as all others.
pub const CARGO_ENGINE: &str = "cargo for programs with an engine";
/// The lock of cargo for WebAssembly, which has target folders of its own.
pub const CARGO_WASM: &str = "cargo for WebAssembly";
const COMPILED: &str = "component: WebAssembly";
const WRITES_BINDGEN: &str = "wasm-bindgen";

/// The steps that make artefacts.
pub fn parts() -> Vec<Step> {
    vec![
        Step::new(COMPILED, &[setup::COMPONENT_TARGET], |progress| compiled(progress, "target", None, PLAIN))
            .with_lock(CARGO_WASM),
        // The component of the tests has a target folder of its own, so that it does not replace the one that users
        // get. The build folder is shared: the dependencies are the same, and are compiled once.
        Step::new(GROWN, &[setup::COMPONENT_TARGET, COMPILED], |progress| {
            let mut command = wasm("samedeal-component", "wasm32-wasip2");
            command.env("CARGO_BUILD_BUILD_DIR", project::path("target"));
            command.args(["--target-dir", "target/grown", "--features=grown"]);
            progress.run(&mut command)?;
            Ok(Report::note(GROWN_FOLDER))
        })
        .with_lock(CARGO_WASM),
        Step::new(GENERATED, &[], generated).with_lock(CARGO),
        Step::new(COMPONENT_STEP, &[COMPILED, GENERATED, setup::NODE], component),
        Step::new(COMMAND, &[GENERATED], |progress| {
            progress.run(&mut native(&["--bin=samedeal"]))?;
            Ok(Report::note("target/debug/samedeal"))
        })
        .with_lock(CARGO),
        Step::new(WEB_BUILD, &[setup::WEB_TARGET], web).with_lock(CARGO_WASM),
        Step::new(WRITES_BINDGEN, &[setup::MACHINE], |progress| {
            progress.run(&mut native(&["--bin=bindgen"]))?;
            Ok(Report::note(BINDGEN))
        })
        .with_lock(CARGO),
        Step::new(TOOLS, &[GENERATED], |progress| {
            // The command is left out, because it is a step of its own.
            let programs = ["--bin=matrix-native", "--bin=matrix-rust", "--bin=vectors", "--examples"];
            progress.run(native(&programs).args(project::TESTED))?;
            Ok(Report::note("target/debug"))
        })
        .with_lock(CARGO),
        Step::new(ENGINE_TOOLS, &[COMPONENT_STEP], |progress| {
            progress.run(
                project::cargo(&["build", "--bins", "--examples"]).args(project::TESTED).args(project::ENGINE_CRATES),
            )?;
            Ok(Report::note("target/engine/debug"))
        })
        .with_lock(CARGO_ENGINE),
        Step::new(RELEASE, &[GENERATED], |progress| {
            progress.run(&mut project::cargo(&["build", "--release", "--package=samedeal-cli"]))?;
            Ok(Report::note("target/release/samedeal"))
        })
        .with_lock(CARGO),
        Step::new(BENCH, &[COMPONENT_STEP], |progress| {
            progress.run(&mut project::cargo(&["build", "--release", "--package=bench"]))?;
            Ok(Report::note("target/release/bench"))
        })
        .with_lock(CARGO),
        Step::new(NPM_FOR_NODE, &[setup::NODE, COMPONENT_STEP], |progress| npm_package(progress, "build:node"))
            .with_lock(NPM),
        Step::new(NPM, &[setup::NODE, COMPONENT_STEP, WEB_BUILD, WRITES_BINDGEN], |progress| {
            npm_package(progress, "build")
        })
        .with_lock(NPM),
    ]
}

/// The cargo command that builds programs that link the core.
fn native(what: &[&str]) -> Command {
    let mut command = project::cargo(&["build"]);
    command.args(project::NATIVE_CRATES).args(what);
    command
}

/// Makes the component a seventh smaller with Binaryen, and copies it into the hosts.
fn component(progress: &Progress) -> Outcome {
    let [plain, small] = ["samedeal.wasm", "small.wasm"].map(|name| format!("{PLAIN}/{name}"));
    let stamp = Stamp::of("component", &[&plain, "hosts/js/package-lock.json"], &BINARYEN.join(" "))?;
    if !stamp.is_current() || !project::path(&small).is_file() {
        let mut command = project::npm("hosts/js", &["exec", "--offline", "--", "jco", "opt", "--quiet"]);
        command.arg(project::path(&plain)).arg("--output").arg(project::path(&small)).arg("--");
        progress.run(command.args(BINARYEN))?;
        stamp.record(Counts::default())?;
    }
    let small = fs::read(project::path(&small))?;
    for folder in CARRIERS {
        replace(&project::path(folder).join("samedeal.wasm"), &small)?;
    }
    Ok(Report::note(format!("samedeal.wasm of {} bytes", small.len())))
}

/// Builds the component in the target folder `folder`, and copies it into the folder `carrier`. `flags` replace the
/// usual compiler flags.
pub fn compiled(progress: &Progress, folder: &str, flags: Option<&str>, carrier: &str) -> Outcome {
    let mut command = wasm("samedeal-component", "wasm32-wasip2");
    command.env("CARGO_TARGET_DIR", project::path(folder)).envs(flags.map(|flags| ("RUSTFLAGS", flags)));
    progress.run(&mut command)?;
    let built = fs::read(project::path(folder).join(BUILT))?;
    let built = without_names(&built).ok_or_else(|| io::Error::other("the component cannot be read"))?;
    fs::create_dir_all(project::path(carrier))?;
    replace(&project::path(carrier).join("samedeal.wasm"), &built)?;
    Ok(Report::note(format!("samedeal.wasm of {} bytes", built.len())))
}

/// The component without the section with names of its parts. Only tools read this section, not engines.
fn without_names(component: &[u8]) -> Option<Vec<u8>> {
    // The magic number and the version come first. Then sections follow: one byte for the kind, a length, and this many
    // bytes.
    let (head, mut rest) = component.split_at_checked(8)?;
    let mut kept = head.to_vec();
    while let [number, after @ ..] = rest {
        let (length, body) = leb128(after)?;
        let (body, next) = body.split_at_checked(length)?;
        let is_names = *number == 0 && {
            let (length, name) = leb128(body)?;
            name.get(..length)? == b"component-name"
        };
        if !is_names {
            kept.extend_from_slice(&rest[..rest.len() - next.len()]);
        }
        rest = next;
    }
    Some(kept)
}

/// A number in LEB128, the form of numbers in WebAssembly, and the bytes after it.
fn leb128(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let end = 1 + bytes.iter().take(5).position(|byte| byte & 0x80 == 0)?;
    let number = bytes[..end].iter().rev().fold(0, |number, byte| number << 7 | usize::from(byte & 0x7f));
    Some((number, &bytes[end..]))
}

fn generated(progress: &Progress) -> Outcome {
    progress.run(&mut native(&["--bin=generator"]))?;
    progress.run(&mut project::own(GENERATOR, &["python", "wit", PYTHON_GENERATED]))?;
    progress.run(&mut project::own(GENERATOR, &["typescript", "wit", JAVASCRIPT_CLASSES]))?;
    progress.run(&mut project::own(GENERATOR, &["rust", "wit", RUST_PART]))?;
    progress.run(&mut project::own(GENERATOR, &["interface", "wit", RUST_INTERFACE]))?;
    progress.run(&mut project::own(GENERATOR, &["command", "wit", COMMAND_PART]))?;
    Ok(Report::note(format!("{PYTHON_GENERATED}, {JAVASCRIPT_CLASSES}, {RUST_PART}, {COMMAND_PART}")))
}

fn web(progress: &Progress) -> Outcome {
    progress.run(&mut wasm("samedeal-web", "wasm32-unknown-unknown"))?;
    Ok(Report::note(WEB))
}

fn wasm(package: &str, target: &str) -> Command {
    let mut command = project::cargo(&["build", "--profile", "wasm", "--target", target]);
    // Incremental builds give other bytes than full builds. The variable applies to all profiles.
    command.env("CARGO_INCREMENTAL", "0");
    // Messages of panics contain paths of source files. The folders of this machine are replaced, so that every machine
    // builds the same bytes.
    let renamed: Vec<String> = machine::source_folders()
        .into_iter()
        .map(|(folder, name)| format!("{:?}", format!("--remap-path-prefix={folder}={name}")))
        .collect();
    command.arg("--config").arg(format!("target.{target}.rustflags=[{}]", renamed.join(",")));
    command.arg(format!("--package={package}"));
    command
}

/// Builds the npm package from its sources, the component and, for pages, the web build.
fn npm_package(progress: &Progress, script: &str) -> Outcome {
    let inputs = if script == "build" { WHOLE_NPM } else { &WHOLE_NPM[..4] };
    let stamp = Stamp::of(&format!("npm-package-{script}"), inputs, "")?;
    // The whole package also serves Node. If it is up to date, nothing has to be built for Node alone.
    let whole = Stamp::of("npm-package-build", WHOLE_NPM, "")?;
    // A build for Node alone leaves out what pages need.
    let last = if script == "build" { "hosts/js/dist/web.js" } else { "hosts/js/dist/index.js" };
    if (stamp.is_current() || whole.is_current()) && project::path(last).is_file() {
        return Ok(Report::note("up to date"));
    }
    progress.run(&mut project::npm("hosts/js", &["run", script]))?;
    stamp.record(Counts::default())?;
    Ok(Report::note("hosts/js/dist"))
}

/// Writes a file by a rename, so that nobody reads half a file. An equal file is left alone, so that what is built from
/// it is not built again.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    let temporary = path.with_extension("new");
    fs::write(&temporary, content)?;
    fs::rename(temporary, path)
}
