use std::io::{self, BufRead, Read};

use crate::engine::MAX_ENTRY;

/// The next line of a log, without its end. None at the end of the log, and where a line has no end: its writer died, or is
/// still writing, or the power was lost, which leaves zero bytes. `number` is what errors call it.
pub(super) fn next_line(source: &mut impl BufRead, number: u64) -> io::Result<Option<String>> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("line {number} is {what}"));
    let mut line = Vec::new();
    // Of a file that is no log, not all is read.
    source.by_ref().take(MAX_ENTRY as u64 + 1).read_until(b'\n', &mut line)?;
    if line.pop_if(|last| *last == b'\n').is_none() {
        return if line.len() <= MAX_ENTRY || line.ends_with(&[0]) {
            Ok(None)
        } else {
            Err(invalid("no entry: it has more than 2^14 bytes"))
        };
    }
    String::from_utf8(line).map(Some).map_err(|_| invalid("not UTF-8"))
}
