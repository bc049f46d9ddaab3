use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The list of entries that all readers share. Implement it for a key-value store or a database.
///
/// Entries are texts of one line, of at most 2^24 bytes, numbered from 0, and never change. When `append` has returned
/// true to one reader, `read` of every other reader returns the entry.
pub trait Log: Send {
    /// Entries in order, beginning with number `from`: all of them, or the first ones. An empty list means that the log
    /// has no entry number `from`.
    ///
    /// # Errors
    ///
    /// The store cannot be read. The ledger goes on once it can.
    fn read(&mut self, from: u64) -> io::Result<Vec<String>>;

    /// Adds an entry if it becomes entry number `number`. Returns whether it was added. If another reader adds an entry
    /// at the same time, only one of them is added.
    ///
    /// # Errors
    ///
    /// It is unknown whether the entry was added: the ledger finds out when it reads the log.
    fn append(&mut self, number: u64, entry: &str) -> io::Result<bool>;

    /// The last entry that begins with [`CHECKPOINT`], if the log can find it without reading all entries. A reader
    /// that opens the log then reads only the first entry, and the entries after the checkpoint. By default none: the
    /// reader reads all entries.
    ///
    /// # Errors
    ///
    /// The errors of [`read`](Self::read).
    fn last_checkpoint(&mut self) -> io::Result<Option<String>> {
        Ok(None)
    }
}

/// The beginning of a checkpoint, an entry that holds the ledger as it is after all entries before it. Its number
/// follows.
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

/// A log in memory, for the threads of one process. All clones share the same entries.
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
