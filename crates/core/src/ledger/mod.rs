//! Ledgers: readers of unequal speed claim runs of an epoch's positions from a log that all of them share.

mod checkpoint;
mod client;
mod entry;
mod propose;
mod replay;
mod state;
#[cfg(test)]
mod tests;

pub use self::client::{ClaimedRun, Client, ClientOptions, Instruction};

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use self::entry::{Entry, Run, events};
use crate::base::Failure;
use crate::base::failure::{known, shorten};
use crate::base::memory::has_room;
use crate::deal::SamplerState;
use crate::document::{MAX_TEXT, find};
use state::LedgerState;

/// The most runs that readers hold at a time.
const MAX_RUNS: usize = 1 << 16;

/// The words in failures for the reason why a value must be as in the log.
const IN_LOG: &str = "as in the log; anything else begins a log of its own";

/// The kinds of events of a run of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A reader takes the run. No other reader can take it while this reader's lease lasts.
    Claim,
    /// The reader has finished the run, for good. A commit of 0 positions only renews the lease.
    Commit,
    /// The run is given back, by its reader; or by another reader, once its reader was silent for as long as the lease.
    Release,
    /// A process begins as a reader. All runs that the reader held become free.
    Join,
}

impl EventKind {
    /// The name of the kind in the log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Commit => "commit",
            Self::Release => "release",
            Self::Join => "join",
        }
    }
}

/// An entry of the log about a run of positions. A join is about all runs of a reader: its start, count and claim are
/// 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The number of the entry: the first one of the log is number 0.
    pub number: u64,
    /// The kind of the event.
    pub kind: EventKind,
    /// The reader that holds the run. Another reader may have appended the entry, if it is a release.
    pub reader: u32,
    /// The first position of the run.
    pub start: u64,
    /// Number of positions of the run.
    pub count: u32,
    /// The number of the claim that took the run. For a claim, the number of the entry itself.
    pub claim: u64,
    /// For a claim, the number of the earlier claim that had the run; `None` if there was none, or if the number is
    /// unknown because of a checkpoint.
    pub taken_from: Option<u64>,
}

/// The effect of an entry that was applied, for a client.
enum Applied {
    /// The first entry.
    Header,
    Run(Event),
    Join {
        reader: u32,
        session: u64,
    },
    Lease,
    Checkpoint,
}

/// The progress of all readers together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Number of positions of the ledger.
    pub positions: u64,
    /// Number of positions that are committed.
    pub committed: u64,
    /// Number of positions that are claimed, and not committed.
    pub claimed: u64,
    /// How many entries were applied.
    pub entries: u64,
}

/// A run that a reader holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lease {
    /// The first position that is not committed.
    start: u64,
    /// Number of positions that are not committed.
    left: u32,
    reader: u32,
    /// The number of the claim, which took `count` positions.
    claim: u64,
    count: u32,
}

impl Lease {
    fn done(&self) -> u32 {
        self.count - self.left
    }

    /// The first position of the claim.
    fn first(&self) -> u64 {
        self.start - u64::from(self.done())
    }

    fn entry(&self, kind: EventKind, count: u32) -> String {
        Run { kind, reader: self.reader, start: self.start, count }.write()
    }
}

/// A reader that holds runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Holder {
    reader: u32,
    runs: usize,
    /// When its last entry was applied, on the clock of the client that has this ledger.
    seen: u64,
}

/// A ledger: deals the positions of an epoch that were not consumed to readers that claim them.
///
/// Equal entries make equal ledgers. A [`Client`] also stores when it saw the last entry of each reader, on its own
/// clock. So clocks of readers may differ.
///
/// ```
/// use samedeal_core::{Config, Ledger, Sampler};
/// let first = Ledger::header(&Sampler::new(Config::new(10))?.state(0)?, 4, 60_000)?;
/// let mut ledger = Ledger::new(&first)?;
/// ledger.apply(&first)?;
/// let claim = ledger.apply(r#"{"event":"claim","reader":7,"start":0,"count":4}"#)?.unwrap().claim;
/// let event = ledger.apply(r#"{"event":"commit","reader":7,"start":0,"count":3}"#)?.unwrap();
/// assert_eq!((event.claim, ledger.progress().committed), (claim, 3));
/// # Ok::<(), samedeal_core::Failure>(())
/// ```
pub struct Ledger {
    /// The first entry.
    header: String,
    block_size: u32,
    /// How long a reader may be silent, in milliseconds.
    lease_ms: u64,
    /// The first position that was never claimed.
    next: u64,
    first: u64,
    end: u64,
    /// Held runs, ascending by start. No two begin at the same position.
    leases: Vec<Lease>,
    /// Readers that hold runs, ascending by number.
    holders: Vec<Holder>,
    /// Free runs, descending by start: start and count.
    free: Vec<(u64, u32)>,
    /// For each free run, the number of the claim that had it; 0 if the run comes from a checkpoint, which does not
    /// have this number.
    left_by: Vec<u64>,
    freed: u64,
    committed: u64,
    entries: u64,
}

impl Ledger {
    /// The first entry of a log for the positions that are left after the state of a sampler. Claims have
    /// `block_size` positions. A reader loses its claims after `lease_ms` milliseconds (1 to 2^53 - 1) without an entry. Failures:
    /// `state` (also if the entry would be too long), `consumed`, `block_size`, `lease_ms`.
    pub fn header(state: &str, block_size: u32, lease_ms: u64) -> Result<String, Failure> {
        let header = LedgerState::new(SamplerState::read(state)?, block_size.into(), lease_ms)?.write()?;
        if header.len() > MAX_TEXT {
            let allowed =
                format!("a state whose first entry, with block_size and lease_ms, has up to {MAX_TEXT} bytes");
            return Err(Failure::out_of_range("state", format!("of {} bytes", state.len()), allowed));
        }
        Ok(header)
    }

    /// The ledger of a log that begins with `header`, before any entry is applied. Failures: `state`, `consumed`,
    /// `block_size`, `lease_ms`.
    pub fn new(header: &str) -> Result<Self, Failure> {
        let state = LedgerState::read(header)?;
        let SamplerState { consumed, samples, .. } = state.sampler;
        Ok(Self {
            header: state.write()?,
            block_size: state.block_size,
            lease_ms: state.lease_ms,
            next: consumed,
            first: consumed,
            end: samples,
            leases: Vec::new(),
            holders: Vec::new(),
            free: Vec::new(),
            left_by: Vec::new(),
            freed: 0,
            committed: 0,
            entries: 0,
        })
    }

    /// The state of the sampler before any position was claimed. Failures: `out-of-memory`.
    pub fn initial_state(&self) -> Result<String, Failure> {
        LedgerState::initial(&self.header)
    }

    /// Applies the next entry of the log. Returns its event; none for the first entry, a `lease` and a `checkpoint`.
    /// After a failure, nothing has changed. Failures: `entry` (it is no entry, or does not follow from the ones before
    /// it); for the first entry, `state`, `block_size`, `lease_ms`, `consumed`, `epoch`, `positions` or a member of the order
    /// (it is no first entry, or of another sampler); `out-of-memory`.
    pub fn apply(&mut self, text: &str) -> Result<Option<Event>, Failure> {
        Ok(match self.take(text, 0)? {
            Applied::Run(event) => Some(event),
            Applied::Join { reader, .. } => {
                let (number, kind) = (self.entries - 1, EventKind::Join);
                Some(Event { number, kind, reader, start: 0, count: 0, claim: 0, taken_from: None })
            }
            Applied::Header | Applied::Lease | Applied::Checkpoint => None,
        })
    }

    /// Applies the next entry, at the time `now_ms` in milliseconds, on any clock that does not go back.
    /// [`claim`](Self::claim) measures leases from this time.
    fn take(&mut self, text: &str, now_ms: u64) -> Result<Applied, Failure> {
        check_line(text)?;
        if self.entries == 0 {
            self.lease_ms = self.compare(text)?;
            self.entries = 1;
            return Ok(Applied::Header);
        }
        let entry = Entry::read(text).ok_or_else(|| no_event(text))?;
        let number = self.entries;
        let applied = match entry {
            Entry::Run(run) => self.happened(run, number).map(Applied::Run),
            Entry::Join { reader, session } => self.joined(reader).map(|()| Applied::Join { reader, session }),
            Entry::Lease { lease_ms, .. } => {
                self.lease_ms = lease_ms;
                Some(Applied::Lease)
            }
            Entry::Checkpoint(ref checkpoint) => self.is_at(checkpoint).then_some(Applied::Checkpoint),
        };
        let Some(applied) = applied else {
            let allowed = format!("what follows from the {number} entries before it");
            return Err(match self.has_room(1) {
                true => Failure::contradiction("entry", shorten(text), allowed),
                false => Failure::out_of_memory("entry", self.leases.len() + 1, "fewer runs at a time"),
            });
        };
        let alive = match entry {
            // A release may come from another reader, so it does not renew the lease.
            Entry::Run(Run { kind, reader, .. }) => (kind != EventKind::Release).then_some(reader),
            Entry::Lease { reader, .. } => Some(reader),
            Entry::Join { .. } | Entry::Checkpoint(_) => None,
        };
        if let Some(reader) = alive
            && let Ok(place) = self.holder(reader)
        {
            self.holders[place].seen = now_ms;
        }
        self.entries += 1;
        Ok(applied)
    }

    fn happened(&mut self, run: Run, number: u64) -> Option<Event> {
        let (claim, taken_from) = match run.kind {
            EventKind::Claim => (number, self.claimed(run, number)?),
            EventKind::Commit => (self.done(run)?, None),
            EventKind::Release => (self.released(run)?, None),
            EventKind::Join => return None,
        };
        let Run { kind, reader, start, count } = run;
        Some(Event { number, kind, reader, start, count, claim, taken_from })
    }

    /// The progress of all readers.
    pub fn progress(&self) -> Progress {
        Progress {
            positions: self.end - self.first,
            committed: self.committed,
            claimed: self.next - self.first - self.committed - self.freed,
            entries: self.entries,
        }
    }

    /// The run that the next claim gets, if any.
    fn choice(&self) -> Option<(u64, u32)> {
        // Readers hold so many runs that none can be claimed before one is committed or released.
        if self.leases.len() >= MAX_RUNS {
            return None;
        }
        let fresh = u64::from(self.block_size).min(self.end - self.next) as u32;
        self.free.last().copied().or((fresh > 0).then_some((self.next, fresh)))
    }

    /// Gives a run to a reader, if it is the run that the next claim gets (`choice`). Returns the earlier claim of the
    /// run, if there is one.
    fn claimed(&mut self, run: Run, number: u64) -> Option<Option<u64>> {
        let Run { reader, start, count, .. } = run;
        if self.choice() != Some((start, count)) || !self.has_room(1) {
            return None;
        }
        let left_by = self.left_by.pop().filter(|&claim| claim > 0);
        if self.free.pop().is_some() {
            self.freed -= u64::from(count);
        } else {
            self.next += u64::from(count);
        }
        self.hold(reader, 0);
        let place = self.leases.partition_point(|lease| lease.start < start);
        self.leases.insert(place, Lease { start, left: count, reader, claim: number, count });
        Some(left_by)
    }

    /// Counts one more run of a reader. A reader without runs is added, with the time `seen`.
    fn hold(&mut self, reader: u32, seen: u64) {
        match self.holder(reader) {
            Ok(place) => self.holders[place].runs += 1,
            Err(place) => self.holders.insert(place, Holder { reader, runs: 1, seen }),
        }
    }

    /// Commits the first positions of a run. Returns the number of its claim; none if the reader holds no such run.
    fn done(&mut self, entry: Run) -> Option<u64> {
        let place = self.run(entry)?;
        let lease = &mut self.leases[place];
        let claim = lease.claim;
        lease.left = lease.left.checked_sub(entry.count)?;
        lease.start += u64::from(entry.count);
        self.committed += u64::from(entry.count);
        if lease.left == 0 {
            self.drop(place);
        }
        Some(claim)
    }

    /// Gives back a run. Returns the number of its claim; none if the reader holds no such run, or if memory is short.
    fn released(&mut self, entry: Run) -> Option<u64> {
        let place = self.run(entry)?;
        let Lease { claim, left, .. } = self.leases[place];
        if entry.count != left || !self.has_room(1) {
            return None;
        }
        self.give_back(place);
        Some(claim)
    }

    /// Gives back all runs of a reader.
    fn joined(&mut self, reader: u32) -> Option<()> {
        let runs = self.holder(reader).map_or(0, |place| self.holders[place].runs);
        if !self.has_room(runs) {
            return None;
        }
        if runs > 0 {
            for place in (0..self.leases.len()).rev() {
                if self.leases[place].reader == reader {
                    self.give_back(place);
                }
            }
        }
        Some(())
    }

    /// Makes a run free. The caller has reserved room for it.
    fn give_back(&mut self, place: usize) {
        let Lease { start, left, claim, .. } = self.leases[place];
        self.drop(place);
        let place = self.free.partition_point(|&(free, _)| free > start);
        self.free.insert(place, (start, left));
        self.left_by.insert(place, claim);
        self.freed += u64::from(left);
    }

    /// The index of the lease that an entry is about: it has the same reader and start.
    fn run(&self, entry: Run) -> Option<usize> {
        let place = self.leases.binary_search_by_key(&entry.start, |lease| lease.start).ok()?;
        (self.leases[place].reader == entry.reader).then_some(place)
    }

    fn drop(&mut self, place: usize) {
        let lease = self.leases.remove(place);
        if let Ok(place) = self.holder(lease.reader) {
            self.holders[place].runs -= 1;
            if self.holders[place].runs == 0 {
                self.holders.remove(place);
            }
        }
    }

    fn holder(&self, reader: u32) -> Result<usize, usize> {
        self.holders.binary_search_by_key(&reader, |holder| holder.reader)
    }

    /// Reserves room for `runs` more runs in every list. False if there is no memory; the lists then stay as they are.
    fn has_room(&mut self, runs: usize) -> bool {
        let found = has_room(&mut self.leases, runs)
            && has_room(&mut self.holders, runs)
            && has_room(&mut self.free, runs)
            && has_room(&mut self.left_by, runs);
        if !found {
            self.leases.shrink_to_fit();
            self.holders.shrink_to_fit();
            self.free.shrink_to_fit();
            self.left_by.shrink_to_fit();
        }
        found
    }

    /// Compares the first entry of a log with the expected one. Only its lease may differ, since leases may change
    /// later, too. Returns the lease of the entry.
    fn compare(&self, entry: &str) -> Result<u64, Failure> {
        let (found, own) = (LedgerState::read(entry)?, LedgerState::read(&self.header)?);
        own.compare(&found, IN_LOG)?;
        Ok(found.lease_ms)
    }
}

/// Checks that a text is one line of at most `MAX_TEXT` bytes, since logs are stored as lines. Failures: `entry`.
fn check_line(text: &str) -> Result<(), Failure> {
    if text.len() > MAX_TEXT || text.contains(['\n', '\r']) {
        return Err(no_entry(text));
    }
    Ok(())
}

/// The failure of a text that is no event: `event`, if the text has the name of an event that only a later version may
/// know, else `entry`.
#[cold]
fn no_event(text: &str) -> Failure {
    match find(text, "event").and_then(|mut reader| reader.string()) {
        Some(event) if !events().any(|name| name == event) => Failure::unknown_name("event", &event, known(events())),
        _ => no_entry(text),
    }
}

fn no_entry(text: &str) -> Failure {
    let names = events().collect::<Vec<_>>().join(", ");
    let allowed = format!("an entry of a ledger, in one line, with the fields of its event ({names})");
    Failure::wrong_type("entry", text, allowed)
}
