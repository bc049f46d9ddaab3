//! The log of a ledger: a file with an entry in each line, or a folder with a file for each entry.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use crate::write::problem::Problem;

/// The most bytes of an entry.
const MOST: u64 = 1 << 14;

/// The lines of a log.
pub type Lines = Box<dyn BufRead>;

pub fn open(path: &Path) -> Result<Lines, Problem> {
    if path.is_dir() {
        return Ok(Box::new(Cursor::new(joined(path)?)));
    }
    Ok(Box::new(BufReader::new(File::open(path).map_err(|error| Problem::of(path, error))?)))
}

/// The entries of a folder, as they would be in a file.
fn joined(folder: &Path) -> Result<Vec<u8>, Problem> {
    let files = entries(folder)?;
    let mut lines = Vec::new();
    let last = files.len().saturating_sub(1);
    for (number, path) in files.iter().enumerate() {
        let failed = |error| Problem::of(path, error);
        let mut entry = Vec::new();
        File::open(path).map_err(failed)?.take(MOST + 2).read_to_end(&mut entry).map_err(failed)?;
        entry.pop_if(|end| *end == b'\n');
        if entry.is_empty() && number == last {
            // Its writer died, or is still writing.
            break;
        }
        if entry.is_empty() || entry.len() as u64 > MOST || entry.contains(&b'\n') {
            return Err(Problem::of(path, "is no entry of a log; allowed: one line of up to 2^14 bytes"));
        }
        lines.append(&mut entry);
        lines.push(b'\n');
    }
    Ok(lines)
}

/// The files of the entries, in their order: that of the numbers, with or without leading zeros.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let failed = |error| Problem::of(folder, error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with(['.', '_']) {
            continue;
        }
        let number = name.split_once('.').map_or(name.as_str(), |(number, _)| number);
        let number = if number.bytes().all(|byte| byte.is_ascii_digit()) { number.parse::<u64>().ok() } else { None };
        let allowed =
            "is no entry of a log; allowed: names that are the numbers of entries, such as 0, 00000001 or 2.json";
        found.push((number.ok_or_else(|| Problem::of(&path, allowed))?, path));
    }
    found.sort_unstable();
    for (expected, (number, path)) in (0..).zip(&found) {
        if *number > expected {
            return Err(Problem::of(folder, format!("has no entry {expected}, and has entry {number}")));
        }
        if *number < expected {
            return Err(Problem::of(path, format!("is another entry {number}; allowed: one file for each")));
        }
    }
    Ok(found.into_iter().map(|(_, path)| path).collect())
}
