//! The client of a ledger, one reader, as a state machine: it gives instructions about the log, and hosts carry them
//! out.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::entry::{join, lease};
use super::propose::Proposal;
use super::state::LedgerState;
use super::{Applied, Event, EventKind, Ledger, Progress};
use crate::base::failure::{range, shorten};
use crate::base::key::Words;
use crate::base::memory::has_room;
use crate::base::{Failure, MAX_EXACT};

/// Default number of positions of a claim.
const BLOCK_SIZE: u32 = 1024;
/// Default time for which a reader of a new log may be silent, in milliseconds.
const LEASE_MS: u64 = 60_000;
/// Default number of entries between two checkpoints.
const CHECKPOINT_INTERVAL: u64 = 4096;
/// The longest time between two looks at the log of a reader that waits, in milliseconds.
const POLL: u64 = 100;
/// Number of appends that a reader loses before it pauses. Without pauses, a reader could lose to another one of the
/// same speed every time.
const PATIENCE: u32 = 3;
/// The longest pause, in milliseconds.
const MAX_PAUSE: u32 = 100;

/// The options of a reader that takes part in a log. An option that is `None` has its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientOptions {
    /// The state of the sampler whose positions are claimed.
    pub state: String,
    /// The number of the reader.
    pub reader: u32,
    /// 64 random bits that identify this session of the reader: one process, from its start to its end.
    pub session: u64,
    /// Number of positions of a claim, at least 1. By default that of the log; in a new log 1,024.
    pub block_size: Option<u32>,
    /// Time for which a reader may be silent, 1 to 2^53 - 1 milliseconds. If it is given, opening sets the lease of the
    /// log. By default that of the log; in a new log 60,000.
    pub lease_ms: Option<u64>,
    /// How many entries come between two checkpoints, 1 to 2^53 - 1. By default 4,096.
    pub checkpoint_interval: Option<u64>,
}

impl ClientOptions {
    /// Options with the values that are required; all others have their defaults.
    pub fn new(state: String, reader: u32, session: u64) -> Self {
        Self { state, reader, session, block_size: None, lease_ms: None, checkpoint_interval: None }
    }
}

/// The next action of a host, or the result of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// One of these:
    ///
    /// - `checkpoint`: look for the last checkpoint of the log, and tell it to the client
    ///   ([`Client::tell_checkpoint`]);
    /// - `read`: read the entries from number `number` on, after a pause of `milliseconds`, and tell them
    ///   ([`Client::tell_entries`]);
    /// - `append`: append `entry` if it becomes number `number`, and tell whether it was appended
    ///   ([`Client::tell_appended`]);
    /// - `claimed`: the operation is over, and gave the reader the claim with the handle `number`;
    /// - `wait`: the operation is over, because nothing is free; claim again after `milliseconds`;
    /// - `held`: the operation is over, because the reader itself holds all positions that are left;
    /// - `finished`: the operation is over, because every position is committed;
    /// - `done`: the operation is over.
    pub action: &'static str,
    /// The number of an entry, or a handle.
    pub number: u64,
    /// The entry to append.
    pub entry: String,
    /// The pause before the action.
    pub milliseconds: u64,
}

impl Instruction {
    fn over(action: &'static str) -> Self {
        Self { action, number: 0, entry: String::new(), milliseconds: 0 }
    }
}

/// A claim that a client has given to its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimedRun {
    /// The number of the entry of the claim in the log.
    pub claim: u64,
    /// The first position of the claim that was not committed when the client gave out the claim.
    pub start: u64,
    /// Number of positions from `start` on, without those that this client gave back.
    pub count: u32,
    /// Number of these positions that were committed, by operations that are over.
    pub committed: u32,
    /// Whether the positions that are not committed were taken away: after a silence, or by another session of the reader.
    pub is_lost: bool,
}

/// A claim that the host has.
struct Given {
    handle: u64,
    run: ClaimedRun,
    /// Number of positions of the claim that were committed before the host got the claim. The run begins after them.
    before: u32,
    /// Number of positions of the run that are committed in the log.
    known: u32,
}

#[derive(Clone, Copy)]
enum Task {
    CatchUp,
    Claim { waits: bool },
    Commit { handle: u64, goal: u32, count: u32 },
    Release { handle: u64 },
    SetLease { lease_ms: u64 },
}

/// The outcome that the last instruction asks the host for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Nothing,
    Checkpoint,
    Entries,
    Append { is_last: bool },
}

/// A client of a ledger: one reader. It has no log, no clock and no randomness: it gives instructions, and a host
/// carries them out.
///
/// Operations are [`open`](Self::open), [`claim`](Self::claim), [`commit`](Self::commit), [`renew`](Self::renew),
/// [`release`](Self::release), [`change_lease`](Self::change_lease) and [`catch_up`](Self::catch_up). Each returns the
/// first [`Instruction`]. The host carries it out and tells the outcome, which returns the next instruction, until the
/// operation is over or fails. If the log fails, the host tells nothing, and begins a new operation. It may then be
/// unknown whether an entry was appended; the client finds out when it reads the log, and the same operation again
/// commits nothing twice.
///
/// The host knows claims by *handles*: a claim that is given out again has another handle.
pub struct Client {
    options: ClientOptions,
    ledger: Ledger,
    /// Whether the host has told the client the last checkpoint, or that the log has none.
    sought: bool,
    checkpoint: Option<String>,
    joined: bool,
    /// Whether another session of the reader joined after this one.
    replaced: bool,
    /// Whether the log has the lease of the options, or had it after this client joined.
    lease_is_set: bool,
    /// The number of entries of the log at which the next checkpoint is due.
    due: u64,
    /// Claims that the host has, ascending by handle.
    given: Vec<Given>,
    handles: u64,
    /// Claims of this session without a handle: the numbers of their entries.
    loose: Vec<u64>,
    /// The number and the text of the last entry to append, until the client knows whether the log has it.
    unsure: Option<(u64, String)>,
    /// The number and the text of the last claim whose append got no answer. It stays here when `unsure` has a later
    /// entry, because the claim may still come to the log.
    claiming: Option<(u64, String)>,
    task: Task,
    asked: Asked,
    /// Whether the log has to be read to its end before the task goes on.
    must_read: bool,
    /// Whether the log refused an append, and the entry that another reader had appended before was not read yet.
    refused: bool,
    /// Number of appends of this operation that the log refused, because another reader was faster.
    refusals: u32,
}

impl Client {
    /// A client that has not opened its log. Failures: those of [`Ledger::header`]; `checkpoint_interval`.
    pub fn new(options: ClientOptions) -> Result<Self, Failure> {
        let ClientOptions { state, block_size, lease_ms, checkpoint_interval, .. } = &options;
        let header = Ledger::header(state, block_size.unwrap_or(BLOCK_SIZE), lease_ms.unwrap_or(LEASE_MS))?;
        let interval = checkpoint_interval.unwrap_or(CHECKPOINT_INTERVAL);
        if !(1..=MAX_EXACT).contains(&interval) {
            return Err(Failure::out_of_range("checkpoint_interval", interval, range(1, MAX_EXACT)));
        }
        Ok(Self {
            ledger: Ledger::new(&header)?,
            options,
            sought: false,
            checkpoint: None,
            joined: false,
            replaced: false,
            lease_is_set: false,
            due: interval,
            given: Vec::new(),
            handles: 0,
            loose: Vec::new(),
            unsure: None,
            claiming: None,
            task: Task::CatchUp,
            asked: Asked::Nothing,
            must_read: true,
            refused: false,
            refusals: 0,
        })
    }

    /// Begins the log, or joins a log that exists. Claims of an earlier session of this reader are then free. Every other
    /// operation opens the log first, if it is not open.
    pub fn open(&mut self, now_ms: u64) -> Result<Instruction, Failure> {
        let must_read = !self.joined;
        self.begin(Task::CatchUp, must_read, now_ms)
    }

    /// Claims positions. `waits` says that the host will wait if nothing is free. The pauses of `wait` are then short,
    /// so that the host looks at the log often. And if the reader itself holds all positions that are left, or 2^16
    /// runs, the operation fails, because the host would wait for ever. Failures: `reader` (another session of this
    /// reader has joined), `claim` (the reader itself holds too much; or `out-of-memory`: too many claims).
    pub fn claim(&mut self, waits: bool, now_ms: u64) -> Result<Instruction, Failure> {
        self.begin(Task::Claim { waits }, true, now_ms)
    }

    /// Commits the next `count` positions of a claim; the rest by default. Failures: `claim` (it was lost; no such
    /// handle), `count`.
    pub fn commit(&mut self, handle: u64, count: Option<u32>, now_ms: u64) -> Result<Instruction, Failure> {
        let ClaimedRun { count: all, committed, .. } = self.given(handle)?.run;
        let left = all - committed;
        let count = count.unwrap_or(left);
        if count > left {
            return Err(Failure::out_of_range("count", count, range(0, left)));
        }
        self.begin(Task::Commit { handle, goal: committed + count, count }, false, now_ms)
    }

    /// Renews the lease of all claims of the reader. Failures: as `commit`.
    pub fn renew(&mut self, handle: u64, now_ms: u64) -> Result<Instruction, Failure> {
        self.commit(handle, Some(0), now_ms)
    }

    /// Gives back the positions of a claim that are not committed. Failures: as `commit`.
    pub fn release(&mut self, handle: u64, now_ms: u64) -> Result<Instruction, Failure> {
        self.given(handle)?;
        self.begin(Task::Release { handle }, false, now_ms)
    }

    /// Sets the lease of the log: the time for which a reader may be silent from now on. Failures: `lease_ms`; `reader`
    /// (another session of this reader has joined).
    pub fn change_lease(&mut self, lease_ms: u64, now_ms: u64) -> Result<Instruction, Failure> {
        if !(1..=MAX_EXACT).contains(&lease_ms) {
            return Err(Failure::out_of_range("lease_ms", lease_ms, range(1, MAX_EXACT)));
        }
        self.begin(Task::SetLease { lease_ms }, true, now_ms)
    }

    /// Reads the new entries of the log.
    pub fn catch_up(&mut self, now_ms: u64) -> Result<Instruction, Failure> {
        self.begin(Task::CatchUp, true, now_ms)
    }

    /// Forgets a handle that the host has lost. The positions of its claim that are not committed become the next claim
    /// of this reader. An unknown handle is ignored.
    pub fn forget(&mut self, handle: u64) {
        let Ok(place) = self.given.binary_search_by_key(&handle, |given| given.handle) else { return };
        let Given { run: ClaimedRun { claim, count, is_lost, .. }, known, .. } = self.given.remove(place);
        // Without memory to note the claim, its positions become free when its lease ends.
        if !is_lost && known < count && has_room(&mut self.loose, 1) {
            self.loose.push(claim);
        }
    }

    /// Tells the last checkpoint of the log, if the host knows one.
    pub fn tell_checkpoint(&mut self, checkpoint: Option<String>, now_ms: u64) -> Result<Instruction, Failure> {
        self.expect(self.asked == Asked::Checkpoint, "checkpoint")?;
        (self.sought, self.checkpoint) = (true, checkpoint);
        self.advance(now_ms)
    }

    /// Tells entries that were read: all or some of the new ones; none at the end of the log. Failures: as
    /// [`Ledger::apply`]; `log` (it refused an append, but has no entry with this number).
    pub fn tell_entries(&mut self, entries: &[String], now_ms: u64) -> Result<Instruction, Failure> {
        self.expect(self.asked == Asked::Entries, "read")?;
        if entries.is_empty() {
            if self.refused {
                let at = self.ledger.entries;
                let value = format!("with an entry {at} when another one is appended, and none when it is read");
                return Err(Failure::contradiction("log", value, "a log that shows every entry it has"));
            }
            self.must_read = false;
            return self.advance(now_ms);
        }
        for entry in entries {
            self.apply(entry, now_ms)?;
            self.refused = false;
            if let Some(checkpoint) = self.checkpoint.take() {
                self.ledger.skip_to(&checkpoint, now_ms)?;
                self.set_due();
                break;
            }
        }
        self.advance(now_ms)
    }

    /// Tells whether the entry was appended. If not, the log has an entry of another reader in its place.
    pub fn tell_appended(&mut self, appended: bool, now_ms: u64) -> Result<Instruction, Failure> {
        let (Asked::Append { is_last }, Some((_, entry))) = (self.asked, self.unsure.clone()) else {
            self.expect(false, "append")?;
            return Ok(Instruction::over("done"));
        };
        self.asked = Asked::Nothing;
        if !appended {
            self.unsure = None;
            (self.must_read, self.refused, self.refusals) = (true, true, self.refusals.saturating_add(1));
            return self.advance(now_ms);
        }
        self.apply(&entry, now_ms)?;
        if is_last {
            return Ok(self.end());
        }
        self.advance(now_ms)
    }

    /// A claim that was given to the host. Failures: `claim` (no such handle).
    pub fn claimed(&self, handle: u64) -> Result<ClaimedRun, Failure> {
        self.given(handle).map(|given| given.run)
    }

    /// The progress of all readers, as far as the log was read.
    pub fn progress(&self) -> Progress {
        self.ledger.progress()
    }

    /// Number of positions of a claim.
    pub fn block_size(&self) -> u32 {
        self.ledger.block_size
    }

    /// Time for which a reader may be silent, in milliseconds, as far as the log was read.
    pub fn lease_ms(&self) -> u64 {
        self.ledger.lease_ms
    }

    fn begin(&mut self, task: Task, must_read: bool, now_ms: u64) -> Result<Instruction, Failure> {
        self.task = task;
        self.must_read = must_read || !self.joined;
        (self.refused, self.refusals) = (false, 0);
        self.advance(now_ms)
    }

    /// The next instruction of the task.
    fn advance(&mut self, now_ms: u64) -> Result<Instruction, Failure> {
        self.asked = Asked::Nothing;
        if !self.sought {
            self.asked = Asked::Checkpoint;
            return Ok(Instruction::over("checkpoint"));
        }
        if self.must_read {
            self.asked = Asked::Entries;
            let milliseconds = if self.refused { self.pause() } else { 0 };
            return Ok(Instruction { number: self.ledger.entries, milliseconds, ..Instruction::over("read") });
        }
        if self.ledger.entries == 0 {
            return Ok(self.append(self.ledger.header.clone(), false));
        }
        let ClientOptions { reader, session, .. } = self.options;
        if !self.joined {
            return Ok(self.append(join(reader, session), false));
        }
        if let Some(set) = self.options.lease_ms
            && !self.lease_is_set
            && !self.replaced
        {
            if set != self.ledger.lease_ms {
                return Ok(self.append(lease(reader, set), false));
            }
            self.lease_is_set = true;
        }
        match self.task {
            Task::CatchUp => Ok(Instruction::over("done")),
            Task::Claim { waits } => self.next_claim(waits, now_ms),
            Task::Commit { handle, goal, count } => {
                let &Given { run, before, known, .. } = self.given(handle)?;
                // If an earlier attempt was appended, but the log did not answer, `known` has its positions by now.
                if run.committed == run.count || known == run.count || known >= goal && count > 0 {
                    return Ok(self.end());
                }
                let entry = self.ledger.commit(run.claim, before + goal.max(known))?;
                Ok(self.append(entry, true))
            }
            Task::Release { handle } => {
                let &Given { run, known, .. } = self.given(handle)?;
                if known == run.count {
                    return Ok(self.end());
                }
                let entry = self.ledger.release(run.claim)?;
                Ok(self.append(entry, true))
            }
            Task::SetLease { lease_ms: set } => {
                self.check_session()?;
                if set == self.ledger.lease_ms {
                    return Ok(self.end());
                }
                Ok(self.append(lease(reader, set), true))
            }
        }
    }

    fn next_claim(&mut self, waits: bool, now_ms: u64) -> Result<Instruction, Failure> {
        self.check_session()?;
        let ClientOptions { reader, .. } = self.options;
        if let Some(handle) = self.adopted()? {
            return Ok(Instruction { number: handle, ..Instruction::over("claimed") });
        }
        if self.ledger.entries >= self.due {
            match self.ledger.checkpoint() {
                Some(entry) => return Ok(self.append(entry, false)),
                None => self.set_due(),
            }
        }
        match self.ledger.claim(reader, now_ms) {
            Proposal::Entry(entry) => {
                self.claiming = Some((self.ledger.entries, entry.clone()));
                Ok(self.append(entry, false))
            }
            Proposal::Wait(time) => {
                let milliseconds = if waits { time.min(POLL) } else { time };
                Ok(Instruction { milliseconds, ..Instruction::over("wait") })
            }
            Proposal::Held if waits => {
                let allowed = "a reader that commits or releases what it holds: nothing else can be claimed now";
                Err(Failure::contradiction("claim", format!("reader {reader}"), allowed))
            }
            Proposal::Held => Ok(Instruction::over("held")),
            Proposal::Finished => Ok(Instruction::over("finished")),
        }
    }

    /// Gives a handle to a claim of this session that has no handle yet, the one with the lowest positions. Returns the
    /// handle.
    fn adopted(&mut self) -> Result<Option<u64>, Failure> {
        let Self { ledger, loose, options, .. } = self;
        loose.retain(|claim| ledger.leases.iter().any(|run| run.claim == *claim && run.reader == options.reader));
        let Some(run) = ledger.leases.iter().find(|run| loose.contains(&run.claim)) else { return Ok(None) };
        if !has_room(&mut self.given, 1) {
            return Err(Failure::out_of_memory("claim", self.given.len() + 1, "fewer claims at a time"));
        }
        self.handles += 1;
        self.given.push(Given {
            handle: self.handles,
            run: ClaimedRun { claim: run.claim, start: run.start, count: run.left, committed: 0, is_lost: false },
            before: run.done(),
            known: 0,
        });
        loose.retain(|claim| *claim != run.claim);
        Ok(Some(self.handles))
    }

    /// Ends the task once its entry is in the log.
    fn end(&mut self) -> Instruction {
        if let Task::Commit { handle, goal, .. } = self.task
            && let Some(given) = self.given.iter_mut().find(|given| given.handle == handle)
        {
            given.run.committed = goal;
        }
        Instruction::over("done")
    }

    fn append(&mut self, entry: String, is_last: bool) -> Instruction {
        let number = self.ledger.entries;
        self.unsure = Some((number, entry.clone()));
        self.asked = Asked::Append { is_last };
        Instruction { number, entry, ..Instruction::over("append") }
    }

    /// The pause before the next attempt, in milliseconds. It is random, so that readers of the same speed differ.
    fn pause(&self) -> u64 {
        if self.refusals < PATIENCE {
            return 0;
        }
        let ClientOptions { session, .. } = self.options;
        let mut words = Words::new("ledger pause", session as i64, 0, self.refusals.into());
        words.below(self.refusals.min(MAX_PAUSE) + 1).into()
    }

    /// Applies an entry to the ledger, and to the claims of this session.
    fn apply(&mut self, entry: &str, now_ms: u64) -> Result<(), Failure> {
        let number = self.ledger.entries;
        if number == 0 && self.options.block_size.is_none() {
            self.take_block_size(entry)?;
        }
        if !has_room(&mut self.loose, 1) {
            return Err(Failure::out_of_memory("entry", self.loose.len() + 1, "fewer claims at a time"));
        }
        let applied = self.ledger.take(entry, now_ms)?;
        let unsure = self.unsure.take_if(|(at, _)| *at == number);
        let claiming = self.claiming.take_if(|(at, _)| *at == number);
        let is = |own: Option<(u64, String)>| own.is_some_and(|(_, own)| own == entry);
        match applied {
            Applied::Run(event) if event.kind == EventKind::Claim => {
                if is(claiming) {
                    self.loose.push(event.claim);
                }
            }
            Applied::Run(event) => self.follow(event, is(unsure)),
            Applied::Join { reader, session } if reader == self.options.reader => {
                self.replaced = self.joined && session != self.options.session;
                self.joined |= session == self.options.session;
                self.loose.clear();
                for given in &mut self.given {
                    given.run.is_lost |= given.known < given.run.count;
                }
            }
            Applied::Checkpoint => self.set_due(),
            Applied::Header | Applied::Join { .. } | Applied::Lease => {}
        }
        Ok(())
    }

    /// Updates a claim of this session after an event of its run.
    fn follow(&mut self, Event { kind, start, count, claim, .. }: Event, is_own: bool) {
        let Some(given) = self.given.iter_mut().find(|given| given.run.claim == claim) else { return };
        // A release whose outcome is unknown is repeated. The release in the log may then be the entry of the first
        // attempt.
        let is_own = is_own || matches!(self.task, Task::Release { handle } if handle == given.handle);
        match kind {
            EventKind::Commit => given.known = (start + u64::from(count) - given.run.start) as u32,
            EventKind::Release if is_own => (given.run.count, given.run.committed) = (given.known, given.known),
            _ => given.run.is_lost = true,
        }
    }

    /// Takes the block size of the log that exists, if the options have none.
    fn take_block_size(&mut self, entry: &str) -> Result<(), Failure> {
        // If the text is no first entry, `apply` fails after this function.
        let Ok(LedgerState { block_size, .. }) = LedgerState::read(entry) else { return Ok(()) };
        let own = LedgerState::read(&self.ledger.header)?;
        self.ledger = Ledger::new(&LedgerState { block_size, ..own }.write()?)?;
        Ok(())
    }

    fn set_due(&mut self) {
        let interval = self.options.checkpoint_interval.unwrap_or(CHECKPOINT_INTERVAL);
        self.due = self.ledger.entries + interval;
    }

    /// The claim of a handle. Failures: `claim` (no such handle).
    fn given(&self, handle: u64) -> Result<&Given, Failure> {
        let place = self.given.binary_search_by_key(&handle, |given| given.handle);
        place.ok().and_then(|place| self.given.get(place)).ok_or_else(|| {
            Failure::contradiction(
                "claim",
                format!("handle {handle}"),
                "a claim that was given out, and not forgotten since",
            )
        })
    }

    /// Checks that no other session of the reader has joined since. Failures: `reader`.
    fn check_session(&self) -> Result<(), Failure> {
        if self.replaced {
            let allowed = "a number that no other process uses: another one has joined the log as this reader";
            return Err(Failure::contradiction("reader", self.options.reader, allowed));
        }
        Ok(())
    }

    /// Checks that the host tells the outcome of the last instruction. Failures: `instruction`.
    fn expect(&mut self, is_asked: bool, action: &str) -> Result<(), Failure> {
        if !is_asked {
            let value = shorten(&format!("the outcome of {action}"));
            return Err(Failure::contradiction(
                "instruction",
                value,
                "the outcome of the action that the last instruction asked for",
            ));
        }
        self.asked = Asked::Nothing;
        Ok(())
    }
}
