//! The log of a ledger: a file with an entry in each line, or a folder with a file for each entry.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use samedeal::ledger::FolderLog;

use crate::write::Problem;

/// The lines of a log.
pub type Lines = Box<dyn BufRead>;

pub fn open(path: &Path) -> Result<Lines, Problem> {
    if path.is_dir() {
        check_no_gap(path)?;
        return Ok(Box::new(samedeal::ledger::Lines::new(FolderLog::new(path))));
    }
    Ok(Box::new(BufReader::new(File::open(path).map_err(|error| Problem::of(path, error))?)))
}

/// Refuses a folder with a missing entry: entries after the gap would not be read.
fn check_no_gap(folder: &Path) -> Result<(), Problem> {
    let failed = |error| Problem::of(folder, error);
    let mut names = Vec::new();
    for file in fs::read_dir(folder).map_err(failed)? {
        let name = file.map_err(failed)?.file_name().to_string_lossy().into_owned();
        let digits = name.strip_suffix(".json").unwrap_or_default();
        if digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            names.push(name);
        }
    }
    names.sort_unstable();
    let expected = (0..).map(|number: u64| format!("{number:016}.json"));
    match names.iter().zip(expected).find(|(name, expected)| *name != expected) {
        _ if names.is_empty() => Err(Problem::of(
            folder,
            "is no log of a ledger: it has no file 0000000000000000.json; allowed: the folder of a FolderLog",
        )),
        Some((found, missing)) => Err(Problem::of(folder, format!("has no file {missing}, but has {found}"))),
        None => Ok(()),
    }
}
