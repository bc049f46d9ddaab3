use wasmtime::component::ResourceAny;

use super::Progress;
use crate::Error;
use crate::engine::{MAX_TEXT, MOST_MEMORY, Object, Store, checked_state, ledger, types};

/// How many entries are told at a time.
const WINDOW: usize = 1 << 12;

/// The options of a client. An option that is `None` has its default; see [`LedgerBuilder`](super::LedgerBuilder).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientOptions {
    /// The state of the sampler whose positions are claimed.
    pub state: String,
    /// The number of the reader.
    pub reader: u32,
    /// 64 random bits, new ones each time that a log is opened.
    pub life: u64,
    /// Number of positions in a claim.
    pub block: Option<u32>,
    /// The lease in milliseconds: if a reader writes no entry for this long, it loses its claims.
    pub lease: Option<u64>,
    /// Number of entries between two checkpoints.
    pub checkpoint_interval: Option<u64>,
}

impl ClientOptions {
    /// All options have their defaults, except the ones that must be given.
    pub fn new(state: impl Into<String>, reader: u32, life: u64) -> Self {
        Self { state: state.into(), reader, life, block: None, lease: None, checkpoint_interval: None }
    }
}

/// What the host does next, or the result of an operation; see [`Client`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct ClientStep {
    /// `checkpoint`, `read` and `append` are steps for the host. With `done`, `claimed`, `wait`, `held` and `finished`,
    /// the operation is finished. A later component may have more actions. With one that your program does not know,
    /// the operation is not finished: end it with an error.
    pub action: String,
    /// The number of an entry that is read or appended; the handle of a claim.
    pub number: u64,
    /// The entry to append.
    pub entry: String,
    /// How long to wait: before a `read`, or before another claim.
    pub milliseconds: u64,
}

impl From<ledger::Step> for ClientStep {
    fn from(ledger::Step { action, number, entry, milliseconds }: ledger::Step) -> Self {
        Self { action, number, entry, milliseconds }
    }
}

/// A claim of a [`Client`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct ClientRun {
    /// The number of its entry in the log.
    pub claim: u64,
    /// The first position that was not committed when the client returned this claim.
    pub start: u64,
    /// Number of positions, without those that were given back.
    pub count: u32,
    /// How many of the positions, from `start` on, are committed by finished commits.
    pub committed: u32,
}

/// One reader of a log, without the log itself: it tells the host what to read and what to append.
/// [`Ledger`](super::Ledger) does that for logs whose calls wait; a client is for others, such as stores with
/// asynchronous calls.
///
/// An operation returns its first step. The host does the step and calls [`tell_checkpoint`](Self::tell_checkpoint),
/// [`tell_entries`](Self::tell_entries) or [`tell_appended`](Self::tell_appended), which return the next step, until
/// the operation is finished. If the log fails, the host calls none of them, and can begin any other operation. Times
/// are in milliseconds on any clock that does not go back.
pub struct Client {
    client: Object,
}

impl Client {
    /// A reader whose log is not open.
    ///
    /// # Errors
    ///
    /// [`WrongType`](crate::FailureKind::WrongType) (`state`), [`OutOfRange`](crate::FailureKind::OutOfRange) (`state`, `block`, `lease`,
    /// `checkpoint-interval`).
    pub fn new(options: &ClientOptions) -> Result<Self, Error> {
        let ClientOptions { state, reader, life, block, lease, checkpoint_interval } = options;
        let state = checked_state(state, MOST_MEMORY)?;
        let client = Object::new(MOST_MEMORY, |exports, store| {
            let interface = exports.samedeal_deal_ledger();
            let options = interface.client_options();
            let own = options.call_constructor(&mut *store, state, *reader, *life)?;
            if let Some(block) = block {
                options.call_set_block(&mut *store, own, *block)?;
            }
            if let Some(lease) = lease {
                options.call_set_lease(&mut *store, own, *lease)?;
            }
            if let Some(interval) = checkpoint_interval {
                options.call_set_checkpoint_interval(&mut *store, own, *interval)?;
            }
            let client = interface.client().call_constructor(&mut *store, own)?;
            own.resource_drop(store)?;
            Ok(client)
        })?;
        Ok(Self { client })
    }

    /// Begins the log, or joins it if it has entries. Every other operation does this first.
    ///
    /// # Errors
    ///
    /// Those of [`LedgerBuilder::open`](super::LedgerBuilder::open) without those of the log.
    pub fn open(&self, now: u64) -> Result<ClientStep, Error> {
        self.step(|methods, store, client| methods.call_open(store, client, now))
    }

    /// Claims positions. `waits` says that the host will wait and claim again after a step `wait`.
    ///
    /// # Errors
    ///
    /// Those of [`Ledger::claim`](super::Ledger::claim) without those of the log.
    pub fn claim(&self, waits: bool, now: u64) -> Result<ClientStep, Error> {
        self.step(|methods, store, client| methods.call_claim(store, client, waits, now))
    }

    /// Commits the next positions of the claim with this handle, by default all that are left.
    ///
    /// # Errors
    ///
    /// Those of [`Claim::commit`](super::Claim::commit) without those of the log.
    pub fn commit(&self, handle: u64, count: Option<u32>, now: u64) -> Result<ClientStep, Error> {
        self.step(|methods, store, client| methods.call_commit(store, client, handle, count, now))
    }

    /// Renews the lease of all claims of this reader.
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit).
    pub fn renew(&self, handle: u64, now: u64) -> Result<ClientStep, Error> {
        self.step(|methods, store, client| methods.call_renew(store, client, handle, now))
    }

    /// Gives back the positions that are not committed.
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit).
    pub fn release(&self, handle: u64, now: u64) -> Result<ClientStep, Error> {
        self.step(|methods, store, client| methods.call_release(store, client, handle, now))
    }

    /// Changes the lease of the log.
    ///
    /// # Errors
    ///
    /// Out of range (`lease`), contradiction (`reader`).
    pub fn set_lease(&self, milliseconds: u64, now: u64) -> Result<ClientStep, Error> {
        self.step(|methods, store, client| methods.call_set_lease(store, client, milliseconds, now))
    }

    /// Reads the new entries of the log.
    ///
    /// # Errors
    ///
    /// Contradiction (`reader`).
    pub fn catch_up(&self, now: u64) -> Result<ClientStep, Error> {
        self.step(|methods, store, client| methods.call_catch_up(store, client, now))
    }

    /// The last checkpoint of the log, if one was found.
    ///
    /// # Errors
    ///
    /// Those of [`RawLedger::apply`](super::RawLedger::apply), and contradiction (`step`: the last step did not ask for this).
    pub fn tell_checkpoint(&self, checkpoint: Option<&str>, now: u64) -> Result<ClientStep, Error> {
        let checkpoint = checkpoint.map(cut);
        self.step(|methods, store, client| methods.call_tell_checkpoint(store, client, checkpoint, now))
    }

    /// The entries from number `from` on, as they were read; none at the end of the log.
    ///
    /// # Errors
    ///
    /// Those of [`tell_checkpoint`](Self::tell_checkpoint), and contradiction (`log`: it refused an entry, but has no other entry with that number).
    pub fn tell_entries(&self, from: u64, entries: &[String], now: u64) -> Result<ClientStep, Error> {
        let tell = |entries: &[String]| {
            let entries: Vec<_> = entries.iter().map(|entry| cut(entry)).map(String::from).collect();
            self.step(|methods, store, client| methods.call_tell_entries(store, client, &entries, now))
        };
        let mut parts = entries.chunks(WINDOW);
        let (mut told, first) = (from, parts.next().unwrap_or_default());
        let mut step = tell(first)?;
        told += first.len() as u64;
        for part in parts {
            // It may go on elsewhere, behind a checkpoint.
            if step.action != "read" || step.number != told {
                break;
            }
            step = tell(part)?;
            told += part.len() as u64;
        }
        Ok(step)
    }

    /// Whether the entry was appended; if not, another one has its number.
    ///
    /// # Errors
    ///
    /// Those of [`tell_checkpoint`](Self::tell_checkpoint).
    pub fn tell_appended(&self, appended: bool, now: u64) -> Result<ClientStep, Error> {
        self.step(|methods, store, client| methods.call_tell_appended(store, client, appended, now))
    }

    /// The claim with this handle.
    ///
    /// # Errors
    ///
    /// Contradiction (`claim`: there is none).
    pub fn run(&self, handle: u64) -> Result<ClientRun, Error> {
        let ledger::Run { claim, start, count, committed } =
            self.ask(|methods, store, client| methods.call_run(store, client, handle))?;
        Ok(ClientRun { claim, start, count, committed })
    }

    /// Whether the positions of a claim that are not committed were taken away, as far as the log was read.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn is_lost(&self, handle: u64) -> Result<bool, Error> {
        self.ask(|methods, store, client| methods.call_is_lost(store, client, handle))
    }

    /// Tells the client that the program does not use a claim any more. The next claim has the positions of it that are not committed.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn forget(&self, handle: u64) -> Result<(), Error> {
        self.call(|methods, store, client| methods.call_forget(store, client, handle))
    }

    /// How much of the epoch is done, as far as the log was read.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn progress(&self) -> Result<Progress, Error> {
        self.call(|methods, store, client| methods.call_progress(store, client)).map(Progress::from)
    }

    /// Number of positions in a claim.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn block(&self) -> Result<u32, Error> {
        self.call(|methods, store, client| methods.call_block(store, client))
    }

    /// The lease in milliseconds, as far as the log was read.
    ///
    /// # Errors
    ///
    /// Only those of the engine.
    pub fn lease(&self) -> Result<u64, Error> {
        self.call(|methods, store, client| methods.call_lease(store, client))
    }

    fn step(
        &self,
        call: impl FnOnce(
            &ledger::GuestClient<'_>,
            &mut Store,
            ResourceAny,
        ) -> wasmtime::Result<Result<ledger::Step, types::Failure>>,
    ) -> Result<ClientStep, Error> {
        self.ask(call).map(ClientStep::from)
    }

    fn call<T>(
        &self,
        call: impl FnOnce(&ledger::GuestClient<'_>, &mut Store, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        self.client.call(|exports, store, client| call(&exports.samedeal_deal_ledger().client(), store, client))
    }

    fn ask<T>(
        &self,
        call: impl FnOnce(&ledger::GuestClient<'_>, &mut Store, ResourceAny) -> wasmtime::Result<Result<T, types::Failure>>,
    ) -> Result<T, Error> {
        self.client.ask(|exports, store, client| call(&exports.samedeal_deal_ledger().client(), store, client))
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("progress", &self.progress()).finish()
    }
}

/// What does not fit into the memory would stop the component before it can say so.
pub(super) fn cut(entry: &str) -> &str {
    if entry.len() <= MAX_TEXT { entry } else { &entry[..entry.ceil_char_boundary(MAX_TEXT + 1)] }
}
