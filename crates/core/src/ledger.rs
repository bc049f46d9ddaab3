//! Who reads what, where readers take as they come: runs of an epoch's positions, claimed from a log that all of them share.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::failure::shorten;
use crate::memory::{grow, has_room};
use crate::state::{EntryFields, LedgerState, MAX_STATE, SamplerState, check_block, same};
use crate::{Failure, MAX_EXACT};

/// Why what a log is of has to be what there is.
const IN_LOG: &str = "as in the log; anything else begins a log of its own";

/// What happens to a run of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A reader takes it: nobody else does, as long as the reader's lease lasts.
    Claim,
    /// Its reader is through with it, for good. A run of none only says that the reader is there.
    Commit,
    /// It is given back: by its reader, or by another one after a silence as long as the lease.
    Release,
}

impl EventKind {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Claim, "claim"), (Self::Commit, "commit"), (Self::Release, "release")];

    fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// An entry of the log, but the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What happens.
    pub kind: EventKind,
    /// Whose run it is.
    pub reader: u32,
    /// The first position of the run.
    pub start: u64,
    /// How many there are.
    pub count: u32,
}

impl Event {
    /// The text: JSON, in one line.
    fn write(&self) -> String {
        let Self { kind, reader, start, count } = self;
        format!("{{\"event\":\"{}\",\"reader\":{reader},\"start\":{start},\"count\":{count}}}", kind.name())
    }

    /// What a text from anywhere says. Failures: `entry`.
    fn read(text: &str) -> Result<Self, Failure> {
        let fields = (text.len() <= MAX_STATE).then(|| EntryFields::read(text)).flatten();
        let event = fields.and_then(|EntryFields { event, reader, start, count }| {
            let &(kind, _) = EventKind::ALL.iter().find(|&&(_, name)| name == event)?;
            let (reader, count) = (reader.try_into().ok()?, count.try_into().ok()?);
            (start <= MAX_EXACT).then_some(Self { kind, reader, start, count })
        });
        event.ok_or_else(|| {
            let allowed = "an entry of a ledger: event (claim, commit or release), reader, start and count";
            Failure::wrong_type("entry", text, allowed)
        })
    }
}

/// What a reader that wants more positions is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposal {
    /// An entry to append to the log, if it has not grown meanwhile. The reader asks again once it was applied, unless it is
    /// the claim.
    Entry(String),
    /// Nothing is free now. Something may be once another entry comes, or so many milliseconds have gone by.
    Wait(u64),
    /// Every position is committed.
    Finished,
}

/// How far the readers have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How many positions there are.
    pub positions: u64,
    /// How many of them are committed.
    pub committed: u64,
    /// How many are claimed, and not committed.
    pub claimed: u64,
    /// How many entries the log has.
    pub entries: u64,
}

/// A run that a reader holds. What was committed of it is not in it any more.
#[derive(Clone, Copy)]
struct Lease {
    start: u64,
    count: u32,
    reader: u32,
    /// When there was an entry of it last, on the clock of whoever holds this ledger.
    seen: u64,
}

/// The positions of an epoch that were not consumed, each of which is read by whichever reader claims it.
///
/// The log decides: whoever applies the same entries has the same ledger, but for the time at which it saw them. A reader
/// proposes an entry, appends it to the log if nobody else has appended one since, and applies what is appended, its own or
/// another's. No two readers need to agree on what time it is.
///
/// ```
/// use samedeal_core::{Config, Ledger, Proposal, Sampler};
/// let first = Ledger::header(&Sampler::new(Config::new(10))?.state(0)?, 4)?;
/// let mut ledger = Ledger::new(&first, 60_000)?;
/// ledger.apply(&first, 0)?;
/// let Proposal::Entry(claim) = ledger.claim(7, 0)? else { panic!() };
/// assert_eq!(claim, r#"{"event":"claim","reader":7,"start":0,"count":4}"#);
/// ledger.apply(&claim, 0)?;
/// ledger.apply(&ledger.commit(7, 0, 4)?, 1_000)?;
/// assert_eq!(ledger.progress().committed, 4);
/// # Ok::<(), samedeal_core::Failure>(())
/// ```
pub struct Ledger {
    /// The first entry.
    header: String,
    /// How long a reader may be silent, in milliseconds.
    lease: u64,
    block: u32,
    /// The first position that was never claimed.
    next: u64,
    first: u64,
    end: u64,
    /// Ascending. No two begin at the same position.
    leases: Vec<Lease>,
    /// Runs that were given back, descending.
    free: Vec<(u64, u32)>,
    committed: u64,
    entries: u64,
}

impl Ledger {
    /// The first entry of a log: of the positions that a state of a sampler leaves, claimed `block` at a time. Failures:
    /// `state`, `block`.
    pub fn header(state: &str, block: u32) -> Result<String, Failure> {
        let sampler = SamplerState::read(state)?;
        Ok(LedgerState { sampler, block: check_block(block.into())? }.write())
    }

    /// The ledger of a log that begins with `header`, before that was applied. A reader loses what it holds after `lease`
    /// milliseconds (1 to 2^53 - 1) without an entry. Failures: `state`, `block`, `lease`.
    pub fn new(header: &str, lease: u64) -> Result<Self, Failure> {
        let state = LedgerState::read(header)?;
        if !(1..=MAX_EXACT).contains(&lease) {
            return Err(Failure::out_of_range("lease", lease, format!("1 to {MAX_EXACT}")));
        }
        let SamplerState { consumed, samples, .. } = state.sampler;
        Ok(Self {
            header: state.write(),
            lease,
            block: state.block,
            next: consumed,
            first: consumed,
            end: samples,
            leases: Vec::new(),
            free: Vec::new(),
            committed: 0,
            entries: 0,
        })
    }

    /// The state of the sampler whose positions these are: where its order stood when nothing was claimed.
    pub fn sampler_state(&self) -> String {
        LedgerState::read(&self.header).map(|state| state.sampler.write()).unwrap_or_default()
    }

    /// Takes the next entry of the log, at a time in milliseconds on any clock that does not go back. None for the first one. After
    /// a failure, nothing has changed. Failures: `state`, `order`, `samples`, `seed`, `epoch`, `consumed`, `block` (the first
    /// entry is of something else), `entry` (it is none, or does not follow from the ones before it), `out-of-memory`.
    pub fn apply(&mut self, entry: &str, now: u64) -> Result<Option<Event>, Failure> {
        if self.entries == 0 {
            self.compare(entry)?;
            self.entries = 1;
            return Ok(None);
        }
        let event = Event::read(entry)?;
        let Event { kind, reader, start, count } = event;
        if kind == EventKind::Claim {
            if self.choice() != Some((start, count)) {
                return Err(self.refused(entry));
            }
            make_room(&mut self.leases)?;
            if self.free.pop().is_none() {
                self.next += u64::from(count);
            }
            let place = self.leases.partition_point(|lease| lease.start < start);
            self.leases.insert(place, Lease { start, count, reader, seen: now });
        } else {
            let Some(place) = self.held(reader, start) else { return Err(self.refused(entry)) };
            let lease = self.leases[place];
            if count > lease.count || (kind == EventKind::Release && count < lease.count) {
                return Err(self.refused(entry));
            }
            if kind == EventKind::Release {
                make_room(&mut self.free)?;
                let place = self.free.partition_point(|&(free, _)| free > start);
                self.free.insert(place, (start, count));
            } else {
                self.committed += u64::from(count);
            }
            if count == lease.count {
                self.leases.remove(place);
            } else {
                let rest = (start + u64::from(count), lease.count - count);
                self.leases[place] = Lease { start: rest.0, count: rest.1, seen: now, ..lease };
            }
        }
        self.entries += 1;
        Ok(Some(event))
    }

    /// What a reader that wants more positions does: takes what was given back, or what nobody has claimed yet; and where
    /// there is none, gives back what another one holds that was silent too long. Failures: `entry` (the first one was not
    /// applied).
    pub fn claim(&self, reader: u32, now: u64) -> Result<Proposal, Failure> {
        self.begun()?;
        if let Some((start, count)) = self.choice() {
            return Ok(Proposal::Entry(Event { kind: EventKind::Claim, reader, start, count }.write()));
        }
        // The reader itself is there: it asks.
        let others = self.leases.iter().filter(|lease| lease.reader != reader);
        match others.min_by_key(|lease| lease.seen) {
            Some(&Lease { start, count, reader, seen }) => {
                let silent = now.saturating_sub(seen);
                if silent < self.lease {
                    return Ok(Proposal::Wait(self.lease - silent));
                }
                Ok(Proposal::Entry(Event { kind: EventKind::Release, reader, start, count }.write()))
            }
            None if self.leases.is_empty() => Ok(Proposal::Finished),
            None => Ok(Proposal::Wait(self.lease)),
        }
    }

    /// The entry that says that a reader is through with so many of the positions that it holds from `start` on, where
    /// a run of its begins. None of them is an entry too: it says that the reader is there. Failures: `start` (it does not
    /// hold them any more), `count`.
    pub fn commit(&self, reader: u32, start: u64, count: u32) -> Result<String, Failure> {
        let held = self.run(reader, start)?;
        if count > held {
            return Err(Failure::out_of_range("count", count, format!("0 to {held}")));
        }
        Ok(Event { kind: EventKind::Commit, reader, start, count }.write())
    }

    /// The entry that gives back the run that a reader holds from `start` on. Failures: `start` (it does not hold it any more).
    pub fn release(&self, reader: u32, start: u64) -> Result<String, Failure> {
        let count = self.run(reader, start)?;
        Ok(Event { kind: EventKind::Release, reader, start, count }.write())
    }

    /// The runs that a reader holds, ascending, at most 2^19 of them. Two numbers each: the first position, how many.
    /// Failures: `out-of-memory`.
    pub fn held_by(&self, reader: u32) -> Result<Vec<u64>, Failure> {
        let mut out = Vec::new();
        for lease in self.leases.iter().filter(|lease| lease.reader == reader).take(1 << 19) {
            grow("reader", 2, &mut out)?;
            out.extend([lease.start, lease.count.into()]);
        }
        Ok(out)
    }

    /// How far the readers have come.
    pub fn progress(&self) -> Progress {
        let free: u64 = self.free.iter().map(|&(_, count)| u64::from(count)).sum();
        Progress {
            positions: self.end - self.first,
            committed: self.committed,
            claimed: self.next - self.first - self.committed - free,
            entries: self.entries,
        }
    }

    /// The run that is claimed next.
    fn choice(&self) -> Option<(u64, u32)> {
        let fresh = u64::from(self.block).min(self.end - self.next) as u32;
        self.free.last().copied().or((fresh > 0).then_some((self.next, fresh)))
    }

    /// Which lease is that of a reader, and begins there.
    fn held(&self, reader: u32, start: u64) -> Option<usize> {
        let place = self.leases.binary_search_by_key(&start, |lease| lease.start).ok()?;
        (self.leases[place].reader == reader).then_some(place)
    }

    /// How many positions a reader holds from one on. Failures: `entry`, `start`.
    fn run(&self, reader: u32, start: u64) -> Result<u32, Failure> {
        self.begun()?;
        match self.held(reader, start) {
            Some(place) => Ok(self.leases[place].count),
            None => {
                let allowed = format!(
                    "the beginning of a run that reader {reader} holds: what it held and was silent about for {} ms went to others",
                    self.lease
                );
                Err(Failure::contradiction("start", start, allowed))
            }
        }
    }

    fn begun(&self) -> Result<(), Failure> {
        if self.entries == 0 {
            return Err(Failure::missing("entry", "the first one of the log, applied before anything else"));
        }
        Ok(())
    }

    /// Whether the first entry of a log is the one that is expected.
    fn compare(&self, entry: &str) -> Result<(), Failure> {
        let (found, own) = (LedgerState::read(entry)?, LedgerState::read(&self.header)?);
        let (theirs, ours) = (found.sampler, own.sampler);
        same("order", theirs.order, ours.order, IN_LOG)?;
        same("samples", theirs.samples, ours.samples, IN_LOG)?;
        same("seed", theirs.seed, ours.seed, IN_LOG)?;
        same("epoch", theirs.epoch, ours.epoch, IN_LOG)?;
        same("consumed", theirs.consumed, ours.consumed, IN_LOG)?;
        same("block", found.block, own.block, IN_LOG)?;
        same("state", theirs.fingerprint, ours.fingerprint, IN_LOG)
    }

    fn refused(&self, entry: &str) -> Failure {
        let number = self.entries;
        Failure::contradiction("entry", shorten(entry), format!("what follows from the {number} entries before it"))
    }
}

/// Room for one more run, in a list that stays as it is where there is none. Failures: `out-of-memory`.
fn make_room<T>(runs: &mut Vec<T>) -> Result<(), Failure> {
    if has_room(runs, 1) {
        return Ok(());
    }
    runs.shrink_to_fit();
    Err(Failure::out_of_memory("entry", runs.len() + 1, "fewer runs that are claimed, or given back, at a time"))
}
