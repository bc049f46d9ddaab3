use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::file::{named, same_file};
use super::lines::check_line;
use super::shared::random_bits;
use super::{CHECKPOINT, Log};
use crate::generated::MAX_TEXT;

/// The most entries that one `read` returns. The number is small, because a reader that opens a log uses only the first
/// entry and then goes to the last checkpoint.
const WINDOW: usize = 64;

/// A log in a folder, for processes of one machine that cannot lock files together, for example processes of Node.
///
/// Each entry is a file: its name is the number of the entry, and its content is the line. `FolderLog` of Python and of
/// JavaScript can use the same folder. If all processes are Rust or Python, [`FileLog`](super::FileLog) is faster. The
/// files in the order of their names are the lines of a log in one file.
///
/// An entry is written to a temporary file (`.*.tmp`) and then linked to its name, so that no incomplete entry has the
/// name. A process that is killed may leave a temporary file, which nobody reads. If the folder is replaced, or deleted
/// and made again, it is another log: readers of the old log get an error, and append nothing.
#[derive(Clone, Debug)]
pub struct FolderLog {
    path: PathBuf,
    /// The last entry that was read, and entry 1, by number. Entry 1 has 64 random bits, so no other log has the same
    /// entry 1.
    known: BTreeMap<u64, String>,
}

impl FolderLog {
    /// The log in a folder. The folder need not exist yet, but its parent must.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self { path: path.as_ref().to_owned(), known: BTreeMap::new() }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of an entry.
    fn file(&self, number: u64) -> PathBuf {
        self.path.join(format!("{number:016}.json"))
    }

    /// The text of an entry, if the entry exists.
    fn entry(&self, number: u64) -> io::Result<Option<String>> {
        let path = self.file(number);
        found(read_line(&path)).map_err(|error| named(&path, error))
    }

    fn learn(&mut self, number: u64, entry: String) -> io::Result<()> {
        let second = match self.known.remove(&1) {
            None if number > 1 => self.entry(1)?,
            known => known,
        };
        self.known = second.into_iter().map(|second| (1, second)).chain([(number, entry)]).collect();
        Ok(())
    }

    /// Fails if the folder now has another log than the one that was read. A read from entry 0 on is always allowed,
    /// and forgets the old log.
    fn check_same(&mut self, from: u64) -> io::Result<()> {
        if from == 0 {
            self.known.clear();
        }
        for (&number, known) in &self.known {
            if self.entry(number)?.as_ref() != Some(known) {
                let what = format!("the log was replaced or deleted: entry {number} is not the one that was read");
                return Err(named(&self.path, io::Error::new(io::ErrorKind::InvalidData, what)));
            }
        }
        Ok(())
    }

    /// Writes an entry to a temporary file and links it to its name. Returns the file, or none if another reader has added
    /// the entry first.
    fn publish(&self, temporary: &Path, number: u64, line: &str) -> io::Result<Option<File>> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(temporary)?;
        file.write_all(line.as_bytes())?;
        // Without this sync, a loss of power could leave a file with the name but without its content.
        file.sync_all()?;
        match fs::hard_link(temporary, self.file(number)) {
            Ok(()) => Ok(Some(file)),
            // This call itself may have made the link: if the answer of a file server is lost, the request is repeated,
            // and the server refuses it. The file then has two names.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(has_two_names(&file)?.then_some(file)),
            Err(error) => Err(error),
        }
    }
}

impl Log for FolderLog {
    fn read(&mut self, from: u64) -> io::Result<Vec<String>> {
        self.check_same(from)?;
        let mut entries = Vec::new();
        while entries.len() < WINDOW
            && let Some(entry) = self.entry(from + entries.len() as u64)?
        {
            entries.push(entry);
        }
        if let Some(last) = entries.last() {
            self.learn(from + entries.len() as u64 - 1, last.clone())?;
        }
        Ok(entries)
    }

    fn append(&mut self, number: u64, entry: &str) -> io::Result<bool> {
        check_line(number, entry).map_err(|error| named(&self.path, error))?;
        self.check_same(number)?;
        if number > 0 && self.entry(number - 1)?.is_none() {
            return Ok(false);
        }
        if number == 0
            && let Err(error) = fs::create_dir(&self.path)
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(named(&self.path, error));
        }
        let temporary = self.path.join(format!(".{:016x}{:016x}.tmp", random_bits(), random_bits()));
        let published = self.publish(&temporary, number, &format!("{entry}\n"));
        // The error is ignored: the file may not exist, and a second name of the entry does no harm.
        let _ = fs::remove_file(&temporary);
        let Some(own) = published.map_err(|error| named(&self.path, error))? else { return Ok(false) };
        if let Err(error) = self.check_same(number) {
            // The folder was replaced after the first check. The entry is in the other log, where it must not stay, or it
            // went with the folder: then the name is that of an entry of the other log.
            let path = self.file(number);
            if fs::metadata(&path).is_ok_and(|there| own.metadata().is_ok_and(|own| same_file(&own, &there))) {
                let _ = fs::remove_file(path);
            }
            return Err(error);
        }
        self.learn(number, entry.to_owned())?;
        Ok(true)
    }

    fn last_checkpoint(&mut self) -> io::Result<Option<String>> {
        let listed = found(fs::read_dir(&self.path)).map_err(|error| named(&self.path, error))?;
        let mut numbers = Vec::new();
        for file in listed.into_iter().flatten() {
            let file = file.map_err(|error| named(&self.path, error))?;
            // A checkpoint is never the first entry.
            numbers.extend(number_of(&file.file_name().to_string_lossy()).filter(|&number| number > 0));
        }
        numbers.sort_unstable();
        for number in numbers.into_iter().rev() {
            let entry = self.entry(number)?;
            if entry.as_ref().is_some_and(|entry| entry.starts_with(CHECKPOINT)) {
                return Ok(entry);
            }
        }
        Ok(None)
    }
}

/// Turns the error "not found" into none.
fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// The only line of a file.
fn read_line(path: &Path) -> io::Result<String> {
    let invalid = |what| io::Error::new(io::ErrorKind::InvalidData, what);
    let mut line = Vec::new();
    // The limit keeps a large file that is no entry from being read as a whole.
    File::open(path)?.take(MAX_TEXT as u64 + 2).read_to_end(&mut line)?;
    line.pop_if(|last| *last == b'\n');
    if line.len() > MAX_TEXT || line.contains(&b'\n') {
        return Err(invalid("is no entry of a log: an entry is one line of at most 2^24 bytes"));
    }
    String::from_utf8(line).map_err(|_| invalid("is no entry of a log: it is not UTF-8"))
}

/// The number of the entry whose file has this name.
fn number_of(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".json")?;
    let is_number = digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().ok() } else { None }
}

#[cfg(unix)]
fn has_two_names(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    Ok(file.metadata()?.nlink() > 1)
}

/// On other systems, the number of names is unknown.
#[cfg(not(unix))]
fn has_two_names(_: &File) -> io::Result<bool> {
    Ok(false)
}
