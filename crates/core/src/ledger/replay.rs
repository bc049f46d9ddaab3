//! Replay of a log: the positions that each reader reads, in their order, when an epoch is read again by its log.

use alloc::string::String;
use alloc::vec::Vec;

use super::{Event, EventKind, Ledger};
use crate::base::Failure;
use crate::base::failure::range;
use crate::base::memory::grow;

impl Ledger {
    /// Applies the next entries of the log, as [`apply`](Self::apply) does; the first entry of the log must be applied,
    /// too. Returns the commits that reader `reader` of `readers` replays, in order: those of at least one position, by
    /// a reader whose number mod `readers` is `reader`. After a failure, the entries before the one that was refused
    /// are applied. Failures: `readers`, `reader`, `out-of-memory` (`entries`): no entry was applied; those of `apply`.
    pub fn replay<T: From<Event>>(&mut self, entries: &[String], reader: u32, readers: u32) -> Result<Vec<T>, Failure> {
        if readers == 0 {
            return Err(Failure::out_of_range("readers", 0, range(1, u32::MAX)));
        }
        if reader >= readers {
            return Err(Failure::out_of_range("reader", reader, range(0, readers - 1)));
        }
        let mut commits = Vec::new();
        // Reserves room for twice as many commits, because the list is copied when it leaves a component: the copy then
        // has memory, too.
        grow("entries", 2 * entries.len(), &mut commits)?;
        for entry in entries {
            if let Some(event) = self.apply(entry)?
                && event.kind == EventKind::Commit
                && event.count > 0
                && event.reader % readers == reader
            {
                commits.push(event.into());
            }
        }
        commits.shrink_to_fit();
        Ok(commits)
    }
}
