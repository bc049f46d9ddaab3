//! Engines whose answers must be those of the core: the adapters of the matrix, and the second implementation.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fuzz::usage::time_of;
use matrix::format::Case;

use crate::generate::{REFERENCE, write_group};

/// An engine, and the command that runs it.
#[derive(Clone, Copy)]
pub struct Engine {
    pub name: &'static str,
    /// The folder of its cases.
    pub part: &'static str,
    words: &'static [&'static str],
}

/// The hosts, and finally the second implementation.
pub const ENGINES: [Engine; 4] = [
    Engine { name: "Rust host", part: "rust", words: &["target/engine/debug/matrix-rust"] },
    Engine { name: "Node", part: "node", words: &["node", "tests/matrix/node.mjs"] },
    Engine { name: "Python host", part: "python", words: &["target/venv/bin/python", "tests/matrix/python.py"] },
    Engine {
        name: "second implementation",
        part: REFERENCE,
        words: &["target/venv/bin/python", "tests/fuzz/reference.py"],
    },
];

/// Cases with their groups.
pub type Grouped = Vec<(&'static str, Case)>;

/// The result of an engine for a folder of cases.
#[derive(Default)]
pub struct Found {
    pub passed: u64,
    /// Names of failed cases, and their errors.
    pub wrong: Vec<(String, String)>,
    /// The reason why the engine ended early, if it did.
    pub broken: Option<String>,
    /// The processor time of the engine.
    pub time: Duration,
}

impl Engine {
    /// Runs the cases of a folder. `bound_ms` is the processor time that a case may take.
    pub fn run(&self, root: &Path, folder: &Path, bound_ms: f64, patience: Duration) -> io::Result<Found> {
        let file = |end: &str| folder.with_file_name(format!("{}-{}", self.name.replace(' ', "-"), end));
        let (out, err) = (file("out"), file("err"));
        let program = if self.words[0].contains('/') { root.join(self.words[0]) } else { PathBuf::from(self.words[0]) };
        let mut command = Command::new(program);
        command.args(&self.words[1..]).current_dir(root);
        command.env("SAMEDEAL_CASES", folder).env("SAMEDEAL_BOUND", bound_ms.to_string());
        command.stdout(File::create(&out)?).stderr(File::create(&err)?);
        let (status, time) = wait(command.spawn()?, patience)?;
        let (out, err) = (fs::read(out)?, fs::read(err)?);
        let (out, err) = (String::from_utf8_lossy(&out), String::from_utf8_lossy(&err));
        let wrong: Vec<_> = err.lines().filter_map(named).collect();
        let passed = out.lines().filter(|line| line.starts_with("matrix\t")).filter_map(|line| line.split('\t').nth(3));
        let passed = passed.filter_map(|count| count.parse::<u64>().ok()).sum();
        let broken = match status {
            None => Some(format!("it did not end within {} s of processor time", patience.as_secs())),
            // The engine may fail only because of cases that it names.
            Some(status) if !status.success() && (wrong.is_empty() || status.code() != Some(1)) => {
                Some(format!("{status}: {}", last_lines(&err)))
            }
            Some(_) => None,
        };
        Ok(Found { passed, wrong, broken, time })
    }

    /// The cases that fail, among some. If the engine dies, each half of the cases is run alone.
    pub fn wrong_of(
        &self,
        root: &Path,
        folder: &Path,
        bound_ms: f64,
        cases: &Grouped,
    ) -> io::Result<Vec<(usize, String)>> {
        let mut wrong = Vec::new();
        let mut parts = vec![(0, cases.len())];
        while let Some((start, end)) = parts.pop() {
            // Forty failed cases are enough to show the fault.
            if wrong.len() >= 40 {
                break;
            }
            let all = folder.join("cases");
            write(&all, &cases[start..end])?;
            let patience = Duration::from_secs_f64(20.0 + (end - start) as f64 * 0.05);
            let found = self.run(root, &all, bound_ms, patience)?;
            let place = |name: &str| cases.iter().position(|(_, case)| case.name == name);
            wrong.extend(found.wrong.into_iter().filter_map(|(name, why)| Some((place(&name)?, why))));
            match found.broken {
                Some(why) if end - start == 1 => wrong.push((start, why)),
                Some(_) => {
                    let middle = usize::midpoint(start, end);
                    parts.extend([(start, middle), (middle, end)]);
                }
                None => {}
            }
        }
        wrong.sort_by_key(|(place, _)| *place);
        wrong.dedup_by_key(|(place, _)| *place);
        Ok(wrong)
    }
}

/// Writes cases as a folder of golden files.
fn write(folder: &Path, cases: &[(&'static str, Case)]) -> io::Result<()> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    let mut groups: Vec<&'static str> = cases.iter().map(|(group, _)| *group).collect();
    groups.sort_unstable();
    groups.dedup();
    for group in groups {
        let of: Vec<&Case> = cases.iter().filter(|(name, _)| *name == group).map(|(_, case)| case).collect();
        write_group(folder, group, &of)?;
    }
    Ok(())
}

/// The cases of the files of a folder.
pub fn read(folder: &Path) -> io::Result<Grouped> {
    let mut cases = Grouped::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let group = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let file: matrix::format::File = serde_json::from_slice(&fs::read(&path)?)?;
        // The leak is small: there are about a dozen groups.
        let group: &'static str = group.leak();
        cases.extend(file.cases.into_iter().map(|case| (group, case)));
    }
    Ok(cases)
}

/// The name of the random case in a line of an adapter, and the text after it.
fn named(line: &str) -> Option<(String, String)> {
    let (_, rest) = line.split_once(": fuzz ")?;
    let (name, why) = rest.split_once(": ")?;
    Some((format!("fuzz {name}"), why.to_owned()))
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(12)..].join("\n")
}

/// Waits for a process, and kills it if it takes too much processor time or makes no progress. Returns its status and
/// its processor time at the last check.
fn wait(mut child: Child, patience: Duration) -> io::Result<(Option<ExitStatus>, Duration)> {
    let (started, mut time) = (Instant::now(), Duration::ZERO);
    loop {
        // The time is also read after the process has ended: the system keeps it until the process is waited for.
        time = time.max(time_of(child.id()));
        if let Some(status) = child.try_wait()? {
            return Ok((Some(status), time));
        }
        if time > patience || started.elapsed() > 20 * patience {
            child.kill()?;
            child.wait()?;
            return Ok((None, time));
        }
        sleep(Duration::from_millis(5));
    }
}
