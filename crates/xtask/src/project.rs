//! Paths and programs of the project.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The absolute path for a path from the root of the project.
pub fn path(relative: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/xtask lies below the root");
    root.join(relative)
}

/// The folder in which Python keeps bytecode.
const PYTHON_CACHE: &str = "target/pycache";

/// A program that starts at the root of the project, so that relative paths in its arguments begin there. It gets the
/// environment of the caller, without the variables that cargo adds for this program and without colors, which would
/// fill logs with escape codes.
pub fn program(name: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(arguments).current_dir(path("")).env("CARGO_TERM_COLOR", "never").env_remove("FORCE_COLOR");
    // Python keeps the bytecode of imported modules, even if the caller (often a container) has switched this off.
    // Without it, every process that imports PyTorch compiles 2,000 modules again. The bytecode has a folder apart from
    // the sources.
    command.env("PYTHONPYCACHEPREFIX", path(PYTHON_CACHE)).env_remove("PYTHONDONTWRITEBYTECODE");
    for (key, _) in env::vars_os() {
        let key = key.to_string_lossy().into_owned();
        if key.starts_with("CARGO_PKG_") || key.starts_with("CARGO_MANIFEST_") {
            command.env_remove(key);
        }
    }
    command
}

/// Cargo, from the toolchain that runs this program.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = program(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), arguments);
    command.env("CARGO_TARGET_DIR", path("target"));
    // Cargo reports the progress of a build, which the sign of life of a step shows.
    command.env("CARGO_TERM_PROGRESS_WHEN", "always").env("CARGO_TERM_PROGRESS_WIDTH", "60");
    command
}

/// A program below the root of the project, such as `target/venv/bin/python`.
pub fn own(program_path: &str, arguments: &[&str]) -> Command {
    let here = if cfg!(windows) { on_windows(program_path) } else { program_path.into() };
    program(path(&here), arguments)
}

/// The path of a program of an environment on Windows. Programs of Python are in the folder `Scripts`, and those of npm
/// are batch files. Windows itself adds `.exe`.
fn on_windows(program_path: &str) -> String {
    match program_path.rsplit_once('/') {
        Some((folder, name)) if folder.ends_with("node_modules/.bin") => format!("{folder}/{name}.cmd"),
        Some((folder, name)) if folder.contains("/venv") => format!("{}/{name}", folder.replace("/bin", "/Scripts")),
        _ => program_path.into(),
    }
}

/// The command for a line of words: a program on the path or below the root of the project, and its arguments.
pub fn words(words: &[&str]) -> Command {
    if words[0].contains('/') { own(words[0], &words[1..]) } else { program(words[0], &words[1..]) }
}

/// npm, run in a folder of the project.
pub fn npm(folder: &str, arguments: &[&str]) -> Command {
    // Windows finds a batch file only with its extension.
    let mut command = program(if cfg!(windows) { "npm.cmd" } else { "npm" }, arguments);
    command.current_dir(path(folder));
    command
}

/// Options that select the crates that link the core. No WebAssembly engine is compiled for them. Every build and test
/// uses the same options, so that cargo compiles each dependency only once.
pub const NATIVE_CRATES: &[&str] = &[
    "--package=bindgen",
    "--package=generator",
    "--package=matrix",
    "--package=samedeal",
    "--package=samedeal-cli",
    "--package=samedeal-core",
    "--package=samedeal-interface",
    "--package=samedeal-bulk",
    "--package=vectors",
    "--package=xtask",
    "--no-default-features",
    "--features=matrix/native,samedeal-cli/native,samedeal/serde",
];

/// The option with which programs of tests are built as by `cargo test`: with an optimized core.
pub const TESTED: &[&str] = &["--profile=test"];

/// Options that select the crates that run the component in an engine. The engine takes minutes to compile, so only
/// `check` builds them. They have a target folder of their own, because some programs have the same names as native
/// ones.
pub const ENGINE_CRATES: &[&str] = &[
    "--package=bench",
    "--package=crossing",
    "--package=engines",
    "--package=fuzz",
    "--package=growth",
    "--package=matrix",
    "--package=samedeal",
    "--package=samedeal-cli",
    "--no-default-features",
    "--features=matrix/host,samedeal-cli/component,samedeal/serde",
    "--target-dir=target/engine",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_has_programs_elsewhere() {
        assert_eq!(on_windows("target/venv-torch/bin/python"), "target/venv-torch/Scripts/python");
        assert_eq!(on_windows("hosts/js/node_modules/.bin/biome"), "hosts/js/node_modules/.bin/biome.cmd");
        assert_eq!(on_windows("target/debug/generator"), "target/debug/generator");
        assert_eq!(on_windows("target/wac/bin/wac"), "target/wac/bin/wac");
    }

    #[test]
    fn python_keeps_bytecode_whatever_the_caller_says() {
        let command = program("python3", &[]);
        let of =
            |name: &str| command.get_envs().find(|(key, _)| *key == name).map(|(_, value)| value.map(OsStr::to_owned));
        assert_eq!(of("PYTHONPYCACHEPREFIX"), Some(Some(path(PYTHON_CACHE).into_os_string())));
        assert_eq!(of("PYTHONDONTWRITEBYTECODE"), Some(None));
    }
}
