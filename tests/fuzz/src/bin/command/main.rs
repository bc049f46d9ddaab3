//! The command `samedeal` with random and hostile arguments and inputs. Allowed are the exit codes 0, 1 and 2, a message for each
//! failure, whole output files or none, and bounded time and memory.

mod arguments;
mod inputs;
mod run;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use std::{fs, io};

use arguments::Surface;
use fastrand::Rng;
use fuzz::program;
use fuzz::report::{Options, Report};
use inputs::Inputs;

/// The largest number of failures that are stored.
const KEPT: usize = 30;

fn main() -> ExitCode {
    program::run_in_folder("command", fuzz)
}

fn fuzz(options: &Options, root: &Path, folder: &Path) -> io::Result<Report> {
    let mut report = Report::new("command");
    let program: PathBuf = root.join("target/debug/samedeal");
    let mut rng = Rng::with_seed(options.seed);
    let surface = Surface::read(&program)?;
    let inputs = Inputs::make(root, folder)?;
    let (mut stopped, mut largest, mut slowest) = (0_u64, 0.0_f64, (Duration::ZERO, String::new()));
    while options.calls.map_or(report.elapsed() < options.time, |calls| report.calls < calls) {
        let place = folder.join("work");
        inputs.lay_out(&mut rng, &place)?;
        let words = surface.words(&mut rng);
        let ran = run::run(&mut rng, &program, &place, &words)?;
        report.calls += 1;
        if !ran.was_stopped {
            report.took(ran.time);
        }
        largest = largest.max(ran.memory_mb);
        stopped += u64::from(ran.was_stopped);
        *report.errors.entry(ran.ended.clone()).or_default() += 1;
        // A run that was stopped is left out, because it asked for a very large epoch.
        if ran.time > slowest.0 && !ran.was_stopped {
            slowest = (ran.time, words.join(" "));
        }
        if let Some(wrong) = ran.wrong
            && report.failures.len() < KEPT
        {
            let command = words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" ");
            println!("{wrong}\n  samedeal {command}");
            // The input files are stored with the failure.
            let kept = root.join(format!("target/fuzz/command-failure-{}-{}", options.seed, report.calls));
            let _ = fs::remove_dir_all(&kept);
            fs::rename(&place, &kept)?;
            report.failures.push(format!("{wrong}: samedeal {command} (in {})", kept.display()));
        }
    }
    report.more.insert("options", surface.count().into());
    report.more.insert("stopped", stopped.into());
    report.more.insert("slowest", slowest.1.into());
    report.more.insert("largest_mb", largest.round().into());
    Ok(report)
}
