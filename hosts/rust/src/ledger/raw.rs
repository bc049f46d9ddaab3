use wasmtime::component::ResourceAny;

use super::client::cut;
use crate::engine::{Instance, LEAST_MEMORY, MOST_MEMORY, Object, Store, checked_state, ledger, types};
use crate::{Error, Failure};

/// An entry of a log about a run of positions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct Event {
    /// The number of the entry.
    pub number: u64,
    /// What happens to the run. Later versions may add names.
    ///
    /// - `claim`: a reader claims the run. No other reader can claim it while the lease of that reader lasts.
    /// - `commit`: the reader has finished the run. A run of 0 positions only renews the lease of the reader.
    /// - `release`: the run is free again. Its reader gave it back, or another reader took it away after the lease
    ///   ended. The log does not contain which of the two happened.
    pub kind: String,
    /// Number of the reader that claimed the run.
    pub reader: u32,
    /// The first position of the run.
    pub start: u64,
    /// How many there are.
    pub count: u32,
    /// Number of the `claim` entry that the run belongs to. For a claim, it is the number of the entry itself.
    pub claim: u64,
}

impl From<ledger::Event> for Event {
    fn from(ledger::Event { number, kind, reader, start, count, claim }: ledger::Event) -> Self {
        Self { number, kind, reader, start, count, claim }
    }
}

/// A run of positions that a reader committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct CommittedRun {
    /// The number of the `commit` entry.
    pub number: u64,
    /// Number of the reader that committed the run.
    pub reader: u32,
    /// The first position of the run.
    pub start: u64,
    /// How many there are, at least 1.
    pub count: u32,
    /// Number of the `claim` entry that the run belongs to.
    pub claim: u64,
}

impl From<ledger::CommittedRun> for CommittedRun {
    fn from(ledger::CommittedRun { number, reader, start, count, claim }: ledger::CommittedRun) -> Self {
        Self { number, reader, start, count, claim }
    }
}

/// How much of the epoch of a log is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct Progress {
    /// How many positions there are.
    pub positions: u64,
    /// How many of them are committed.
    pub committed: u64,
    /// How many are claimed, and not committed.
    pub claimed: u64,
    /// How many entries there are.
    pub entries: u64,
}

impl From<ledger::Progress> for Progress {
    fn from(ledger::Progress { positions, committed, claimed, entries }: ledger::Progress) -> Self {
        Self { positions, committed, claimed, entries }
    }
}

impl Progress {
    /// Whether every position is committed.
    pub fn is_finished(&self) -> bool {
        self.committed == self.positions
    }
}

/// The first entry of a log, for the positions that are left after a state of a sampler ([`Sampler::state`](crate::Sampler::state)). A
/// claim has `block` positions. If a reader writes no entry for `lease` milliseconds, others can take its claims.
///
/// # Errors
///
/// Wrong type, out of range (`state`), out of range (`block` is 0, `lease` is not 1 to 2^53 - 1).
pub fn header(state: &str, block: u32, lease: u64) -> Result<String, Error> {
    let state = checked_state(state, MOST_MEMORY)?;
    Instance::new(LEAST_MEMORY)?
        .ask(|exports, store| exports.samedeal_deal_ledger().call_header(store, state, block, lease))
}

/// The content of a log, up to the last entry that was applied, for programs that look at a log or replay it. It reads no
/// file; [`Schedule`](super::Schedule) does.
pub struct RawLedger {
    ledger: Object,
}

impl RawLedger {
    /// The ledger of a log whose first entry is `header`. The header must also be applied, like all other entries.
    ///
    /// # Errors
    ///
    /// [`WrongType`](crate::FailureKind::WrongType) (`state`), [`OutOfRange`](crate::FailureKind::OutOfRange) (`state`, `block`, `lease`).
    pub fn new(header: &str) -> Result<Self, Error> {
        let header = checked_state(header, MOST_MEMORY)?;
        let ledger = Object::new(MOST_MEMORY, |exports, store| {
            exports.samedeal_deal_ledger().ledger().call_constructor(store, header)
        })?;
        Ok(Self { ledger })
    }

    /// Applies the next entry of the log. Returns none if the entry is not about a run (the first entry, `join`, `lease`, `checkpoint`).
    /// After an error, nothing has changed.
    ///
    /// # Errors
    ///
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`order`, `samples`, `seed`, `epoch`, `consumed`, `block`, `state`: the first
    /// entry is of another log; `entry`: it does not follow from those before it), [`WrongType`](crate::FailureKind::WrongType) (`entry`,
    /// `state`: it is none), out of memory (`entry`).
    pub fn apply(&self, entry: &str) -> Result<Option<Event>, Error> {
        let event = self.ask(|methods, store, ledger| methods.call_apply(store, ledger, cut(entry)))?;
        Ok(event.map(Event::from))
    }

    /// Applies the next entries of the log, the first one included, and returns the runs that reader `reader` of `readers` reads in a
    /// replay, in this order: the runs that were committed by all readers whose number mod `readers` is `reader`. The ledger does not keep
    /// the runs: pass a long log in parts. An empty list only checks `reader` and `readers`. After an error, the entries before the refused
    /// one are applied ([`progress`](Self::progress) has their number), but their runs are not returned.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (`readers`: 0; `reader`: not below `readers`), out of memory (`entries`), those of
    /// [`apply`](Self::apply).
    pub fn replay<S: AsRef<str>>(&self, entries: &[S], reader: u32, readers: u32) -> Result<Vec<CommittedRun>, Error> {
        let entries: Vec<_> = entries.iter().map(|entry| String::from(cut(entry.as_ref()))).collect();
        let runs = self.ask(|methods, store, ledger| methods.call_replay(store, ledger, &entries, reader, readers))?;
        Ok(runs.into_iter().map(CommittedRun::from).collect())
    }

    /// How much of the epoch is done.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn progress(&self) -> Result<Progress, Error> {
        self.call(|methods, store, ledger| methods.call_progress(store, ledger)).map(Progress::from)
    }

    /// The state of the sampler from which the log was made, for [`Sampler::resume`](crate::Sampler::resume).
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn initial_state(&self) -> Result<String, Error> {
        self.call(|methods, store, ledger| methods.call_initial_state(store, ledger))
    }

    fn call<T>(
        &self,
        call: impl FnOnce(&ledger::GuestLedger<'_>, &mut Store, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        self.ledger.call(|exports, store, ledger| call(&exports.samedeal_deal_ledger().ledger(), store, ledger))
    }

    fn ask<T>(
        &self,
        call: impl FnOnce(&ledger::GuestLedger<'_>, &mut Store, ResourceAny) -> wasmtime::Result<Result<T, types::Failure>>,
    ) -> Result<T, Error> {
        self.ledger.ask(|exports, store, ledger| call(&exports.samedeal_deal_ledger().ledger(), store, ledger))
    }
}

impl std::fmt::Debug for RawLedger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RawLedger").field("progress", &self.progress()).finish()
    }
}

/// The same failure of an entry, with the line that it is in.
pub(super) fn in_line(error: Error, line: u64) -> Error {
    match error {
        Error::Failure(failure) => {
            Failure { value: format!("{} (line {line} of the log)", failure.value), ..failure }.into()
        }
        error => error,
    }
}
