use super::{CommittedRun, Progress};
use crate::engine::{Instance, LEAST_MEMORY, MOST_MEMORY, Object, checked_state, cut_entry, ledger};
use crate::{Error, Failure};

impl Progress {
    /// Whether every position is committed.
    pub fn is_finished(&self) -> bool {
        self.committed == self.positions
    }
}

/// The first entry of a log, for the positions that are left after a state of a sampler
/// ([`Sampler::state`](crate::Sampler::state)). A claim has `block_size` positions. If a reader writes no entry for
/// `lease_ms` milliseconds, other readers can take its claims.
///
/// # Errors
///
/// Wrong type (`state`), out of range (`state`; `consumed`; `block_size` is 0; `lease_ms` is not 1 to 2^53 - 1).
pub fn header(state: &str, block_size: u32, lease_ms: u64) -> Result<String, Error> {
    let state = checked_state(state, MOST_MEMORY)?;
    ledger::header(&mut Instance::new(LEAST_MEMORY)?, state, block_size, lease_ms)
}

/// The state of a ledger after the entries that were applied, for programs that inspect or replay a log. A `RawLedger`
/// does not read the log itself; [`Replay`](super::Replay) does.
pub struct RawLedger {
    pub(crate) object: Object<ledger::Ledger>,
}

impl RawLedger {
    /// The ledger of a log whose first entry is `header`. The header must also be applied, like all other entries.
    ///
    /// # Errors
    ///
    /// [`WrongType`](crate::FailureKind::WrongType) (`state`), [`OutOfRange`](crate::FailureKind::OutOfRange) (`state`,
    /// `consumed`, `block_size`, `lease_ms`).
    pub fn new(header: &str) -> Result<Self, Error> {
        let header = checked_state(header, MOST_MEMORY)?;
        Ok(Self { object: Object::<ledger::Ledger>::new(Instance::new(MOST_MEMORY)?, header)? })
    }

    /// Applies the next entries of the log, the first one included, and returns the runs that reader `reader` of `readers` reads in a
    /// replay, in this order: the runs that were committed by all readers whose number mod `readers` is `reader`. The ledger does not keep
    /// the runs: pass a long log in parts. An empty list only checks `reader` and `readers`. After an error, the entries before the refused
    /// one are applied ([`progress`](Self::progress) has their number), but their runs are not returned.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (`readers`: 0; `reader`: not below `readers`), out of memory
    /// (`entries`), and the errors of [`apply`](Self::apply).
    pub fn replay<S: AsRef<str>>(&self, entries: &[S], reader: u32, readers: u32) -> Result<Vec<CommittedRun>, Error> {
        let entries: Vec<_> = entries.iter().map(|entry| String::from(cut_entry(entry.as_ref()))).collect();
        self.raw_replay(&entries, reader, readers)
    }
}

impl std::fmt::Debug for RawLedger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RawLedger").field("progress", &self.progress()).finish()
    }
}

/// Adds the line number of the refused entry to a failure.
pub(super) fn in_line(error: Error, line: u64) -> Error {
    match error {
        Error::Failure(failure) => {
            Failure { value: format!("{} (line {line} of the log)", failure.value), ..*failure }.into()
        }
        error => error,
    }
}
