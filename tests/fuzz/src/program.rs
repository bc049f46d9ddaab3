//! The main functions of fuzzers: options, a folder, and the report.

use std::path::Path;
use std::process::{self, ExitCode};
use std::{env, fs, io};

use crate::report::{Options, Report};

/// Reads the options, fuzzes, and prints the report.
pub fn run(fuzz: impl FnOnce(&Options) -> io::Result<Report>) -> ExitCode {
    let options = match Options::read(env::args().skip(1)) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(2);
        }
    };
    match fuzz(&options) {
        Ok(report) => report.finish(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a fuzzer that also needs the root of the project and a folder of its own, which is removed at the end.
pub fn run_in_folder(name: &str, fuzz: impl FnOnce(&Options, &Path, &Path) -> io::Result<Report>) -> ExitCode {
    run(|options| {
        let root = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))?;
        let folder = root.join(format!("target/fuzz/{name}-{}", process::id()));
        let report = fs::create_dir_all(&folder).and_then(|()| fuzz(options, &root, &folder));
        let _ = fs::remove_dir_all(&folder);
        report
    })
}
