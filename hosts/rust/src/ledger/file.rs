use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::lines::{check_line, next_line};
use super::{CHECKPOINT, Log};

/// How the first entry of a log begins, and how all other entries begin. The longer text is first:
/// [`FileLog::check_torn`] reads as many bytes as this text has.
const BEGINNINGS: [&str; 2] = ["{\"samedeal\":1,\"kind\":\"ledger\"", "{\"event\":\""];
/// The most entries that one `read` returns.
const WINDOW: usize = 1 << 12;
/// Bytes of the file that are searched for a checkpoint at a time.
const SEARCHED: u64 = 1 << 16;

/// A log in a file, with one entry in each line, for the processes of one machine, in any language. A reader or writer
/// locks the whole file; the system unlocks it if the process dies. If a process died while it wrote, the incomplete
/// last line is cut off; so are zero bytes that a loss of power may leave at the end. On Unix, calls fail if the file
/// is replaced, or deleted and created again, because other readers may then use another log.
///
/// Entries survive the process, but not always a crash of the machine. A network file system works only if its locks
/// work.
#[derive(Debug)]
pub struct FileLog {
    path: PathBuf,
    file: File,
    /// Number of entries before byte `offset`. A read begins at this byte, so that it reads only new entries.
    number: u64,
    offset: u64,
    /// The number of a checkpoint, and the byte at which it begins: a read can begin there, without reading the entries
    /// before.
    mark: Option<(u64, u64)>,
}

impl FileLog {
    /// Opens the log in a file. If there is no file, an empty one is made.
    ///
    /// # Errors
    ///
    /// Errors of the file system: the file cannot be opened or made, or is no regular file.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = opened.map_err(|error| named(&path, error))?;
        if !file.metadata().is_ok_and(|found| found.is_file()) {
            return Err(named(&path, io::Error::new(io::ErrorKind::InvalidInput, "is no regular file")));
        }
        Ok(Self { path, file, number: 0, offset: 0, mark: None })
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of bytes after `offset`.
    fn rest(&self) -> io::Result<u64> {
        let shorter = || io::Error::new(io::ErrorKind::InvalidData, "the log has become shorter than it was");
        self.file.metadata()?.len().checked_sub(self.offset).ok_or_else(shorter)
    }

    /// Fails if the path now leads to another file, or to none: other readers may then use another log.
    fn check_same(&self) -> io::Result<()> {
        let same = match fs::metadata(&self.path) {
            Ok(found) => same_file(&found, &self.file.metadata()?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        let replaced =
            || io::Error::new(io::ErrorKind::InvalidData, "the log was replaced or deleted since it was opened");
        if same { Ok(()) } else { Err(replaced()) }
    }

    /// Reads up to `most` entries from number `from` on; none if the log is shorter. The caller has locked the file.
    fn scan(&mut self, from: u64, most: usize) -> io::Result<Vec<String>> {
        if from < self.number {
            (self.number, self.offset) = (0, 0);
        }
        if let Some(mark @ (number, _)) = self.mark
            && (self.number..=from).contains(&number)
        {
            (self.number, self.offset) = mark;
        }
        let mut entries = Vec::new();
        if self.rest()? > 0 {
            let mut source = BufReader::new(&self.file);
            source.seek(SeekFrom::Start(self.offset))?;
            while entries.len() < most
                && let Some(entry) = next_line(&mut source, self.number + 1)?
            {
                self.offset += entry.len() as u64 + 1;
                self.number += 1;
                if self.number > from {
                    entries.push(entry);
                }
            }
        }
        Ok(entries)
    }

    /// Searches for the last checkpoint, backwards from the end of the file. The caller has locked the file.
    fn find_checkpoint(&mut self) -> io::Result<Option<String>> {
        // A checkpoint is never the first line, so a line end is before it.
        let beginning = format!("\n{CHECKPOINT}");
        let end = self.file.metadata()?.len();
        let mut searched = end;
        let mut block = Vec::new();
        while searched > 0 {
            let low = searched.saturating_sub(SEARCHED);
            // Blocks overlap, so that no checkpoint's beginning is missed between two of them.
            let high = end.min(searched + beginning.len() as u64 - 1);
            self.file.seek(SeekFrom::Start(low))?;
            block.clear();
            (&self.file).take(high - low).read_to_end(&mut block)?;
            let Some(at) = block.windows(beginning.len()).rposition(|window| window == beginning.as_bytes()) else {
                searched = low;
                continue;
            };
            let offset = low + at as u64 + 1;
            let mut source = BufReader::new(&self.file);
            source.seek(SeekFrom::Start(offset))?;
            // The last line may have no end; then it is no entry, and the search goes on.
            if let Some(entry) = next_line(&mut source, 0)?
                && let Some(number) = number_of(&entry)
            {
                self.mark = Some((number, offset));
                return Ok(Some(entry));
            }
            searched = low + at as u64;
        }
        Ok(None)
    }

    fn append_locked(&mut self, number: u64, entry: &str) -> io::Result<bool> {
        if let Some(faster) = self.scan(number, 1)?.pop() {
            // The entry of the other writer was only looked at. Going back makes the next call read this entry.
            self.number -= 1;
            self.offset -= faster.len() as u64 + 1;
            return Ok(false);
        }
        // The log ends before entry `number`.
        if self.number < number {
            return Ok(false);
        }
        if self.rest()? > 0 {
            // Bytes without a line end are left by a process that died: because of the lock, nobody is writing them
            // now.
            self.check_torn()?;
            self.file.set_len(self.offset)?;
        }
        let line = format!("{entry}\n");
        self.file.seek(SeekFrom::Start(self.offset))?;
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // If this fails too, the next writer cuts the incomplete line off.
            let _ = self.file.set_len(self.offset);
            return Err(error);
        }
        self.number += 1;
        self.offset += line.len() as u64;
        Ok(true)
    }

    /// Fails unless the last line, which has no end, is the beginning of an entry, or zero bytes that a loss of power
    /// left. So nothing is cut off a file that is no log.
    fn check_torn(&mut self) -> io::Result<()> {
        let mut source = BufReader::new(&self.file);
        source.seek(SeekFrom::Start(self.offset))?;
        let mut line = Vec::new();
        source.by_ref().take(BEGINNINGS[0].len() as u64).read_to_end(&mut line)?;
        let written = line.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        line.truncate(written);
        let begins = |beginning: &&str| line.iter().zip(beginning.as_bytes()).all(|(is, should)| is == should);
        if BEGINNINGS.iter().any(begins) && (written > 0 || is_zero(&mut source)?) {
            return Ok(());
        }
        let what = format!("line {} is no entry, and has no end", self.number + 1);
        Err(io::Error::new(io::ErrorKind::InvalidData, what))
    }
}

impl Log for FileLog {
    fn read(&mut self, from: u64) -> io::Result<Vec<String>> {
        let read = |log: &mut Self| {
            log.check_same()?;
            if from == log.number && log.rest()? == 0 {
                return Ok(Vec::new());
            }
            log.file.lock_shared()?;
            // The file may have been replaced while the call waited for the lock.
            let found = log.check_same().and_then(|()| log.scan(from, WINDOW));
            log.file.unlock()?;
            found
        };
        read(self).map_err(|error| named(&self.path, error))
    }

    fn append(&mut self, number: u64, entry: &str) -> io::Result<bool> {
        let append = |log: &mut Self| {
            check_line(number, entry)?;
            log.file.lock()?;
            let added = log.check_same().and_then(|()| log.append_locked(number, entry));
            log.file.unlock()?;
            added
        };
        append(self).map_err(|error| named(&self.path, error))
    }

    fn last_checkpoint(&mut self) -> io::Result<Option<String>> {
        let find = |log: &mut Self| {
            log.file.lock_shared()?;
            let found = log.check_same().and_then(|()| log.find_checkpoint());
            log.file.unlock()?;
            found
        };
        find(self).map_err(|error| named(&self.path, error))
    }
}

/// The entry number in the text of a checkpoint.
fn number_of(checkpoint: &str) -> Option<u64> {
    checkpoint.strip_prefix(CHECKPOINT)?.split_once(',')?.0.parse().ok()
}

/// Whether two files are the same. The inode number identifies a file: the system does not give the number of an open
/// file to a new one.
#[cfg(unix)]
pub(super) fn same_file(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// On other systems, the standard library has no number that identifies a file, so a replaced file is not noticed.
#[cfg(not(unix))]
pub(super) fn same_file(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    true
}

/// Whether all remaining bytes are zero.
fn is_zero(source: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let part = source.fill_buf()?;
        if part.is_empty() {
            return Ok(true);
        }
        if part.iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        let read = part.len();
        source.consume(read);
    }
}

/// The error with the path in front.
pub(super) fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
