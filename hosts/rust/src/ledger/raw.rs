use wasmtime::component::ResourceAny;

use crate::engine::{
    Instance, LEAST_MEMORY, MAX_STATE, MOST_MEMORY, Object, Planning, Store, checked_state, ledger, planning_types,
};
use crate::named::named;
use crate::{Error, Failure};

/// What happens to a run of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A reader claims the run. No other reader can claim it while the lease of that reader lasts.
    Claim,
    /// The reader has finished the run. A run of 0 positions only renews the lease of the reader.
    Commit,
    /// The run is free again: its reader gave it back, or another reader took it away after the lease ended.
    Release,
}

named!(EventKind in ledger, "event", { Claim = "claim", Commit = "commit", Release = "release" });

/// An entry of a log about a run of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Event {
    /// The number of the entry.
    pub number: u64,
    /// What happens.
    pub kind: EventKind,
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
        Self { number, kind: kind.into(), reader, start, count, claim }
    }
}

/// A claim that a reader holds; see [`RawLedger::held_by`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Held {
    /// The number of its entry.
    pub claim: u64,
    /// The first position.
    pub start: u64,
    /// How many there are.
    pub count: u32,
    /// How many of them, the first ones, are committed.
    pub done: u32,
}

/// The answer to a reader that wants more positions; see [`RawLedger::claim`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposal {
    /// An entry to append: the claim of the reader, or the release of a run whose reader let its lease end. After a
    /// release, the reader asks again.
    Entry(String),
    /// No position is free now. Ask again after a new entry, or after this number of milliseconds.
    Wait(u64),
    /// This reader itself holds all positions that are left. It must commit or release them first.
    Held,
    /// Every position is committed.
    Finished,
}

impl From<ledger::Proposal> for Proposal {
    fn from(proposal: ledger::Proposal) -> Self {
        match proposal {
            ledger::Proposal::Entry(entry) => Self::Entry(entry),
            ledger::Proposal::Wait(time) => Self::Wait(time),
            ledger::Proposal::Held => Self::Held,
            ledger::Proposal::Finished => Self::Finished,
        }
    }
}

/// How much of the epoch of a log is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

/// The first entry of a log, for the positions that are left after a state of a sampler
/// ([`Sampler::state`](crate::Sampler::state)). A claim has `block` positions. If a reader writes no entry for `lease`
/// milliseconds, others can take its claims. Errors: wrong type, out of range (`state`), out of range (`block` is 0,
/// `lease` is not 1 to 2^53 - 1).
pub fn header(state: &str, block: u32, lease: u64) -> Result<String, Error> {
    let state = checked_state(state)?;
    Instance::new(LEAST_MEMORY)?
        .ask(|exports: &Planning, store| exports.samedeal_deal_ledger().call_header(store, state, block, lease))
}

/// The content of a log, up to the last entry that was applied: a [`Ledger`](super::Ledger) without a log and a clock.
/// Times are in milliseconds on any clock that does not go back.
pub struct RawLedger {
    ledger: Object<Planning>,
}

impl RawLedger {
    /// The ledger of a log whose first entry is `header`. The header must also be applied, like all other entries.
    /// Errors: [`WrongType`](crate::FailureKind::WrongType) (`state`), [`OutOfRange`](crate::FailureKind::OutOfRange)
    /// (`state`, `block`, `lease`).
    pub fn new(header: &str) -> Result<Self, Error> {
        let header = checked_state(header)?;
        let ledger = Object::new(MOST_MEMORY, |exports: &Planning, store| {
            exports.samedeal_deal_ledger().ledger().call_constructor(store, header)
        })?;
        Ok(Self { ledger })
    }

    /// Applies the next entry of the log, which was read at the time `now`. Returns none if the entry is not about a
    /// run (the first entry, `join`, `lease`, `checkpoint`). After an error, nothing has changed. Errors:
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`order`, `samples`, `seed`, `epoch`, `consumed`, `block`,
    /// `state`: the first entry is of another log; `entry`: it does not follow from those before it),
    /// [`WrongType`](crate::FailureKind::WrongType) (`entry`, `state`: it is none), out of memory (`entry`).
    pub fn apply(&self, entry: &str, now: u64) -> Result<Option<Event>, Error> {
        // What does not fit into the memory would stop the component before it can say so.
        let entry = if entry.len() <= MAX_STATE {
            entry
        } else if self.progress()?.entries == 0 {
            checked_state(entry)?
        } else {
            &entry[..entry.ceil_char_boundary(MAX_STATE + 1)]
        };
        let event = self.ask(|methods, store, ledger| methods.call_apply(store, ledger, entry, now))?;
        Ok(event.map(Event::from))
    }

    /// What a reader that wants more positions should do: claim a run that was given back, or else the next block, or
    /// else release a run whose reader let its lease end. Errors: [`Missing`](crate::FailureKind::Missing) (`entry`:
    /// none was applied).
    pub fn claim(&self, reader: u32, now: u64) -> Result<Proposal, Error> {
        self.ask(|methods, store, ledger| methods.call_claim(store, ledger, reader, now)).map(Proposal::from)
    }

    /// The entry that commits the first `done` positions of the claim with number `claim`. If `done` is the same as
    /// before, the entry only renews the lease. Errors: missing (`entry`), contradiction (`claim`: the reader does not
    /// hold it any more), out of range (`done`: less than before, or more than the claim has).
    pub fn commit(&self, claim: u64, done: u32) -> Result<String, Error> {
        self.ask(|methods, store, ledger| methods.call_commit(store, ledger, claim, done))
    }

    /// The entry that gives back the positions of a claim that are not committed. Errors: missing (`entry`),
    /// contradiction (`claim`).
    pub fn release(&self, claim: u64) -> Result<String, Error> {
        self.ask(|methods, store, ledger| methods.call_release(store, ledger, claim))
    }

    /// The claims that a reader holds. Errors: out of memory.
    pub fn held_by(&self, reader: u32) -> Result<Vec<Held>, Error> {
        let held = self.ask(|methods, store, ledger| methods.call_held_by(store, ledger, reader))?;
        let (held, _) = held.as_chunks();
        let named =
            |&[claim, start, count, done]: &[u64; 4]| Held { claim, start, count: count as u32, done: done as u32 };
        Ok(held.iter().map(named).collect())
    }

    /// How much of the epoch is done. Errors: only those of the engine.
    pub fn progress(&self) -> Result<Progress, Error> {
        self.call(|methods, store, ledger| methods.call_progress(store, ledger)).map(Progress::from)
    }

    /// The state of the sampler from which the log was made, for
    /// [`Sampler::resume`](crate::Sampler::resume). Errors: only those of the engine.
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
        call: impl FnOnce(
            &ledger::GuestLedger<'_>,
            &mut Store,
            ResourceAny,
        ) -> wasmtime::Result<Result<T, planning_types::Failure>>,
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
