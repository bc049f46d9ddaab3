use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The list of entries that all readers share. Implement it for a key-value store or a database.
///
/// An entry is one line of at most 2^24 bytes. Entries are numbered from 0, and never change. After `append` has
/// returned true to one reader, `read` of every other reader must return the entry.
pub trait Log: Send {
    /// Entries in order, from number `from` on: all of them, or the first few. An empty list means that the log has no
    /// entry number `from`.
    ///
    /// # Errors
    ///
    /// The store cannot be read. The ledger can be used again as soon as the store works.
    fn read(&mut self, from: u64) -> io::Result<Vec<String>>;

    /// Adds an entry if it becomes entry number `number`. Returns whether it was added: false if the log has more or
    /// fewer than `number` entries. If another reader adds an entry at the same time, only one of them is added.
    ///
    /// # Errors
    ///
    /// The store failed, and may or may not have added the entry: the ledger finds out when it reads the log.
    fn append(&mut self, number: u64, entry: &str) -> io::Result<bool>;

    /// The last entry that begins with [`CHECKPOINT`], if the log can find it without reading all entries. A reader
    /// that opens the log then reads only the first entry, and the entries after the checkpoint. The default
    /// implementation returns none, so that readers read all entries.
    ///
    /// # Errors
    ///
    /// The errors of [`read`](Self::read).
    fn last_checkpoint(&mut self) -> io::Result<Option<String>> {
        Ok(None)
    }
}

/// The beginning of a checkpoint: an entry that contains the whole state of the ledger after all entries before it. The
/// number of the entry follows.
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
    /// A log without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// The entries as the lines of a file.
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
