//! Programs that must be on the machine before anything can be built.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::plan::{Outcome, Report};
use crate::project;

const PYTHON: (u32, u32) = (3, 10);
const NODE: (u32, u32) = (20, 0);

/// The interpreter for new environments: `$PYTHON`, or `python3`. The installer for Windows calls it `python`.
pub fn python() -> String {
    let usual = if cfg!(windows) { "python" } else { "python3" };
    env::var("PYTHON").unwrap_or_else(|_| usual.into())
}

/// Reports everything that is missing in one message, before a long build. A C compiler is not looked for: without one,
/// this program could not have been linked.
pub fn check() -> Outcome {
    let mut found = Vec::new();
    let mut missing = Vec::new();
    let mut need = |what: &str, version: Option<String>, least: (u32, u32), advice: &str| match version {
        Some(version) if at_least(&version, least) => found.push(format!("{what} {version}")),
        Some(version) => missing.push(format!("{what} {}.{} (this is {version}): {advice}", least.0, least.1)),
        None => missing.push(format!("{what}: {advice}")),
    };
    let python_version = "import sys; print('%d.%d.%d' % sys.version_info[:3])";
    let python_advice = "install 3.10 or newer (Debian: `apt-get install python3 python3-venv`), or set PYTHON to it";
    need("Python", answer(&mut project::program(python(), &["-c", python_version])), PYTHON, python_advice);
    let node_advice = "install 20 or newer from https://nodejs.org";
    need("Node", answer(&mut project::program("node", &["--version"])), NODE, node_advice);
    need("npm", answer(&mut project::npm("", &["--version"])), (0, 0), "it comes with Node: https://nodejs.org");
    if answer(&mut project::program(python(), &["-c", "import venv, ensurepip; print('there')"])).is_none() {
        missing.push("Python's venv module: Debian has it in the package python3-venv".into());
    }
    if missing.is_empty() {
        return Ok(Report::note(found.join(", ")));
    }
    Err(format!("this machine lacks:\n- {}", missing.join("\n- ")).into())
}

/// A browser that runs headless: `$CHROMIUM`, or the first of the usual names.
pub fn browser() -> Option<PathBuf> {
    if let Some(set) = env::var_os("CHROMIUM") {
        return Some(set.into());
    }
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
    let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
    let mac = Path::new("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome");
    let mut usual = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    usual.find(|path| path.is_file()).or_else(|| mac.is_file().then(|| mac.into()))
}

/// The command, with `CHROMIUM` set to the browser that was found.
pub fn with_browser(mut command: Command) -> Command {
    if let Some(browser) = browser() {
        command.env("CHROMIUM", browser);
    }
    command
}

/// The folders of this machine in which the compiler finds sources, each with the name that it gets on every machine:
/// the folder of crates, and that of the standard library. A toolchain without the sources of the standard library uses
/// this name already.
pub fn source_folders() -> Vec<(String, String)> {
    let home = |name: &str| env::home_dir().map(|home| home.join(name));
    let cargo = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| home(".cargo"));
    let mut folders: Vec<(String, String)> =
        cargo.into_iter().map(|folder| (folder.display().to_string(), "/cargo".into())).collect();
    let sysroot = answer(&mut project::program("rustc", &["--print", "sysroot"]));
    let version = project::program("rustc", &["--verbose", "--version"]).output();
    let commit = version.ok().and_then(|output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().find_map(|line| line.strip_prefix("commit-hash: ").map(str::to_string))
    });
    if let (Some(sysroot), Some(commit)) = (sysroot, commit) {
        folders.push((format!("{sysroot}/lib/rustlib/src/rust"), format!("/rustc/{commit}")));
    }
    folders
}

/// Whether this program may install packages of the system: it runs as root, and there is apt.
pub fn can_install() -> bool {
    answer(&mut project::program("id", &["-u"])).as_deref() == Some("0")
        && answer(&mut project::program("apt-get", &["--version"])).is_some()
}

/// The first line that a program prints, without a `v` before a version. None if the program is missing or fails.
pub fn answer(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let line = String::from_utf8_lossy(&output.stdout).lines().next()?.trim().trim_start_matches('v').to_string();
    output.status.success().then_some(line)
}

fn at_least(version: &str, least: (u32, u32)) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        assert!(at_least("3.10.2", PYTHON) && at_least("3.9999", PYTHON) && at_least("4.0", PYTHON));
        assert!(!at_least("3.9.18", PYTHON) && !at_least("2.7", PYTHON) && !at_least("unknown", PYTHON));
    }
}
