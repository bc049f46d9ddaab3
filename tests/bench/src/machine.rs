//! The machine and the programs of the figures.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use crate::Result;
use crate::bench::Bench;

/// A path of the project, relative to its root.
pub fn project(relative: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new(""));
    root.join(relative)
}

/// The machine, in a line for people.
pub fn describe() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or(std::env::consts::ARCH, |(_, model)| model);
    let cores = available_parallelism().map_or(1, usize::from);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    format!("{model}, {cores} cores, {}; load at the end {load}", std::env::consts::OS)
}

/// The versions of all measured programs, in a line for people.
pub fn versions(bench: &Bench) -> Result<String> {
    let python = bench.fresh_python()?.ask_text("versions")?;
    let node = bench.fresh_node()?.ask_text("versions")?;
    Ok(format!("samedeal {} ({}), {python}, {node}", samedeal::VERSION, samedeal::ENGINE))
}
