use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The list of entries that all readers share, in whatever store they have: a key-value store, a database.
///
/// Entries are texts of one line, of at most 2^14 bytes, numbered from 0, and never change. What one reader was told is
/// there, `read` of every other one shows from then on.
pub trait Log: Send {
    /// Entries in order, beginning with number `from`: all there are, or as many of them as are read at a time. None where
    /// the log has no more than `from`.
    fn read(&mut self, from: u64) -> io::Result<Vec<String>>;

    /// Adds an entry if it becomes number `number`: if there are as many before it, and nobody else adds one meanwhile.
    /// Whether it was added.
    fn append(&mut self, number: u64, entry: &str) -> io::Result<bool>;

    /// The last entry that begins with [`CHECKPOINT`], where the log can find it without a look at all entries. A reader that
    /// opens the log reads the first entry, and those behind the checkpoint. By default none: it reads all of them.
    fn last_checkpoint(&mut self) -> io::Result<Option<String>> {
        Ok(None)
    }
}

/// What the entries begin with that hold what all entries before them come to. Their number follows.
pub const CHECKPOINT: &str = "{\"event\":\"checkpoint\",\"number\":";

impl<L: Log + ?Sized> Log for Box<L> {
    fn read(&mut self, from: u64) -> io::Result<Vec<String>> {
        (**self).read(from)
    }

    fn append(&mut self, number: u64, entry: &str) -> io::Result<bool> {
        (**self).append(number, entry)
    }

    fn last_checkpoint(&mut self) -> io::Result<Option<String>> {
        (**self).last_checkpoint()
    }
}

/// A log in memory, for the threads of one process: all clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct MemoryLog {
    entries: Arc<Mutex<Vec<String>>>,
}

impl MemoryLog {
    /// A log of no entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Its entries as the lines of a file.
    pub fn text(&self) -> String {
        self.with(|entries| entries.iter().flat_map(|entry| [entry, "\n"]).collect())
    }

    fn with<T>(&self, call: impl FnOnce(&mut Vec<String>) -> T) -> T {
        call(&mut self.entries.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Log for MemoryLog {
    fn read(&mut self, from: u64) -> io::Result<Vec<String>> {
        Ok(self.with(|entries| entries.iter().skip(from as usize).cloned().collect()))
    }

    fn append(&mut self, number: u64, entry: &str) -> io::Result<bool> {
        Ok(self.with(|entries| {
            let is_next = entries.len() as u64 == number;
            if is_next {
                entries.push(entry.to_owned());
            }
            is_next
        }))
    }

    fn last_checkpoint(&mut self) -> io::Result<Option<String>> {
        Ok(self.with(|entries| entries.iter().rev().find(|entry| entry.starts_with(CHECKPOINT)).cloned()))
    }
}
