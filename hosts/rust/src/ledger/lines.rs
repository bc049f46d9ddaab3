use std::io::{self, BufRead, Cursor, Read};

use super::Log;
use crate::generated::MAX_TEXT;

/// The entries of a log as the lines of a file, for [`Replay::of_log`](super::Replay::of_log). The log is read in
/// parts, not as a whole.
#[derive(Debug)]
pub struct Lines<L> {
    log: L,
    number: u64,
    text: Cursor<Vec<u8>>,
}

impl<L: Log> Lines<L> {
    /// The lines from the first entry on.
    pub fn new(log: L) -> Self {
        Self { log, number: 0, text: Cursor::default() }
    }
}

impl<L: Log> BufRead for Lines<L> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.text.fill_buf()?.is_empty() {
            let entries = self.log.read(self.number)?;
            (self.number..).zip(&entries).try_for_each(|(number, entry)| check_line(number, entry))?;
            self.number += entries.len() as u64;
            self.text = Cursor::new(entries.iter().flat_map(|entry| [entry, "\n"]).collect::<String>().into_bytes());
        }
        self.text.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.text.consume(bytes);
    }
}

impl<L: Log> Read for Lines<L> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

/// Fails if an entry is not one line.
pub(super) fn check_line(number: u64, entry: &str) -> io::Result<()> {
    if entry.contains(['\n', '\r']) {
        let what = format!("entry {number} is more than one line");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    Ok(())
}

/// The next line of a log, without its line end. None at the end of the log, and if the last line has no line end: its
/// writer died or is still writing, or the power was lost, which leaves zero bytes. `number` is the number of the line
/// in errors.
pub(super) fn next_line(source: &mut impl BufRead, number: u64) -> io::Result<Option<String>> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("line {number} is {what}"));
    let mut line = Vec::new();
    // The limit keeps a file that is no log from being read as a whole.
    source.by_ref().take(MAX_TEXT as u64 + 1).read_until(b'\n', &mut line)?;
    if line.pop_if(|last| *last == b'\n').is_none() {
        return if line.len() <= MAX_TEXT || line.ends_with(&[0]) {
            Ok(None)
        } else {
            Err(invalid("no entry: it has more than 2^24 bytes"))
        };
    }
    String::from_utf8(line).map(Some).map_err(|_| invalid("not UTF-8"))
}
