//! Stamps, by which a step is skipped if its inputs have not changed since it last succeeded.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};
use std::time::SystemTime;

use crate::counts::Counts;
use crate::project;

/// The digest of the inputs of one step, and the file with the digest of its last success.
pub struct Stamp {
    file: PathBuf,
    digest: String,
}

impl Stamp {
    /// The stamp of files and folders, and of `setting`, which is anything else that the result depends on. Paths begin
    /// at the root. Folders are read recursively, without the files that builds and tools leave there.
    pub fn of(name: &str, inputs: &[&str], setting: &str) -> io::Result<Stamp> {
        let mut digest = Digest::new();
        digest.add(setting.as_bytes());
        for input in inputs {
            add(&mut digest, &project::path(input))?;
        }
        let file: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let file = project::path("target/xtask/stamps").join(file.to_lowercase());
        Ok(Stamp { file, digest: digest.to_string() })
    }

    /// Whether the inputs are the same as at the last success.
    pub fn is_current(&self) -> bool {
        self.passed().is_some()
    }

    /// The counts of the last success. None if its inputs were different.
    pub fn passed(&self) -> Option<Counts> {
        let stored = fs::read_to_string(&self.file).ok()?;
        let (digest, counts) = stored.trim_end().split_once(' ')?;
        let (passed, skipped) = counts.split_once(' ')?;
        let counts = Counts { passed: passed.parse().ok()?, skipped: skipped.parse().ok()?, failed: 0 };
        (digest == self.digest).then_some(counts)
    }

    /// Records a success with these inputs.
    pub fn record(&self, counts: Counts) -> io::Result<()> {
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&self.file, format!("{} {} {}\n", self.digest, counts.passed, counts.skipped))
    }

    /// Removes the record of the last success.
    #[cfg(test)]
    pub fn forget(&self) {
        fs::remove_file(&self.file).ok();
    }
}

fn add(digest: &mut Digest, path: &Path) -> io::Result<()> {
    digest.add(path.to_string_lossy().as_bytes());
    if !path.is_dir() {
        return match content(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            content => {
                digest.add(&content?.to_le_bytes());
                Ok(())
            }
        };
    }
    let mut entries: Vec<PathBuf> =
        fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.retain(|entry| {
        let name = entry.file_name().unwrap_or_default().to_string_lossy();
        !name.starts_with('.') && !matches!(&*name, "node_modules" | "dist" | "target" | "__pycache__")
    });
    entries.sort();
    entries.iter().try_for_each(|entry| add(digest, entry))
}

/// The digests of files that were read. They save time, because most files belong to many steps, and this program is
/// built without optimization, so that it starts soon.
static KNOWN: LazyLock<Mutex<HashMap<PathBuf, Known>>> = LazyLock::new(Mutex::default);

/// Size, time and digest of a file.
type Known = (u64, SystemTime, u64);

/// The digest of a file's content.
fn content(path: &Path) -> io::Result<u64> {
    let file = fs::metadata(path)?;
    let (size, time) = (file.len(), file.modified()?);
    let known = || KNOWN.lock().expect("nothing panics with the lock");
    if let Some((_, _, digest)) = known().get(path).filter(|known| (known.0, known.1) == (size, time)) {
        return Ok(*digest);
    }
    let mut digest = Digest::new();
    digest.add(&fs::read(path)?);
    known().insert(path.into(), (size, time, digest.0));
    Ok(digest.0)
}

/// FNV-1a with 64 bits. It finds changes, but does not resist attacks.
pub struct Digest(u64);

impl Digest {
    pub fn new() -> Digest {
        Digest(0xcbf2_9ce4_8422_2325)
    }

    /// Adds bytes, with their length before them. Otherwise different sequences of parts could have the same digest.
    pub fn add(&mut self, bytes: &[u8]) {
        for part in [&(bytes.len() as u64).to_le_bytes(), bytes] {
            let mut at = 0;
            // A loop without an iterator, because iterators are slow without optimization. Nothing else in this program
            // takes long.
            while at < part.len() {
                self.0 = (self.0 ^ part[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
                at += 1;
            }
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        let digest = |parts: &[&str]| {
            let mut digest = Digest::new();
            parts.iter().for_each(|part| digest.add(part.as_bytes()));
            digest.0
        };
        assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
        assert_ne!(digest(&["a", ""]), digest(&["a"]));
        assert_eq!(digest(&["a", "b"]), digest(&["a", "b"]));
    }
}
