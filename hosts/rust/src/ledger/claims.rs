use std::ops::RangeBounds;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::shared::{Own, Shared};
use super::{Event, EventKind, Held, Log, Progress, Proposal, RawLedger, header};
use crate::range::run;
use crate::{Builder, Error, Failure, Index, Layout, Sampler};

/// How long a reader that waits does not look at the log.
const POLL: Duration = Duration::from_millis(100);

/// What a [`Ledger`] is to be; see [`Ledger::builder`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a builder does nothing until `open`"]
pub struct LedgerBuilder {
    reader: u32,
    block: u32,
    lease: Duration,
}

impl LedgerBuilder {
    /// How many positions are claimed at a time, the same for all readers; 1,024 unless set. Range: 1 to 2^32 - 1. What a
    /// reader that dies has not committed of a block is read again; smaller blocks are more entries.
    pub fn block(mut self, positions: u32) -> Self {
        self.block = positions;
        self
    }

    /// After which silence of a reader others take all that it holds, the same for all readers; 60 seconds unless set. Range:
    /// 1 to 2^53 - 1 milliseconds. Longer than any step takes: a claim or a commit, also of a part or of none, is no silence.
    pub fn lease(mut self, silence: Duration) -> Self {
        self.lease = silence;
        self
    }

    /// Begins a log, or joins the one that is there: for the positions of the sampler's epoch that are not consumed, whatever
    /// its rank and world. What this reader held in a former life is given back.
    /// Errors: [`OutOfRange`](crate::FailureKind::OutOfRange) (`block`, `lease`),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`order`, `samples`, `seed`, `epoch`, `consumed`, `block`, `lease`,
    /// `state`: the log is of something else; `entry`), [`WrongType`](crate::FailureKind::WrongType) (`state`, `entry`: it is no log),
    /// [`Error::Log`].
    pub fn open(self, sampler: &Sampler, log: impl Log + 'static) -> Result<Ledger, Error> {
        let Self { reader, block, lease } = self;
        let header = header(&sampler.state(0)?, block, lease.as_millis().try_into().unwrap_or(u64::MAX))?;
        let mut shared = Shared::new(RawLedger::new(&header)?, log);
        shared.catch_up()?;
        if shared.entries == 0 && shared.append(&header)?.is_none() {
            shared.after_others()?;
        }
        while let Some(&Held { claim, .. }) = shared.raw.held_by(reader)?.first() {
            match shared.write(|shared| shared.raw.release(claim).map(Some)) {
                // Somebody was faster.
                Err(Error::Failure(failure)) if failure.field == "claim" => {}
                done => drop(done?),
            }
        }
        let whole = whole(sampler)?;
        Ok(Ledger { reader: Arc::new(Reader { number: reader, whole, shared: Mutex::new(shared) }) })
    }
}

/// The epoch of a sampler as one reader has it: position by position.
pub(super) fn whole(sampler: &Sampler) -> Result<Sampler, Error> {
    Builder::from(sampler.config().clone()).rank(0).world(1).layout(Layout::Strided).build()
}

/// The samples at some of so many positions from `start` on. Errors: out of range (`start`, `count`).
pub(super) fn samples<I: Index>(
    whole: &Sampler,
    start: u64,
    count: u32,
    range: impl RangeBounds<u64>,
) -> Result<Vec<I>, Error> {
    let (first, count) = run(range, count.into())?;
    let start = start - whole.config().consumed + first;
    whole.indices(start..start + count)
}

/// An epoch whose readers take as they come; see the [module](super).
///
/// Threads may share a ledger and its claims, such as one that claims ahead and one that commits; they are one reader.
/// Waiting readers look at the log every 100 milliseconds at least.
pub struct Ledger {
    reader: Arc<Reader>,
}

/// Who claims, and commits.
struct Reader {
    number: u32,
    whole: Sampler,
    shared: Mutex<Shared>,
}

impl Reader {
    fn locked(&self) -> MutexGuard<'_, Shared> {
        // A panic within a log leaves what was applied, which is counted.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What came of [`Ledger::try_claim`].
#[derive(Debug)]
pub enum Attempt {
    /// The reader has it.
    Claimed(Claim),
    /// Nothing is free now. Something may be once another reader commits or releases, or after this time.
    Wait(Duration),
    /// All that is left is held by this reader itself, which commits or releases it first.
    Held,
    /// Every position is committed.
    Finished,
}

impl Ledger {
    /// The ledger of reader number `reader`: any number that no other reader has while this one lives. Whoever comes back
    /// comes back with the same number, or with another one after a lease.
    pub fn builder(reader: u32) -> LedgerBuilder {
        LedgerBuilder { reader, block: 1024, lease: Duration::from_secs(60) }
    }

    /// Which reader this is.
    pub fn reader(&self) -> u32 {
        self.reader.number
    }

    /// Claims positions, or says why there are none. Errors: [`Error::Log`]; contradiction, wrong type (`entry`: what is new
    /// in the log is not of this ledger).
    pub fn try_claim(&self) -> Result<Attempt, Error> {
        let mut shared = self.reader.locked();
        shared.catch_up()?;
        // One of its own that was dropped, or a log had not said that it was appended.
        let held = shared.raw.held_by(self.reader.number)?;
        if let Some(held) = held.iter().find(|held| shared.claims.get(&held.claim).is_some_and(|own| !own.is_held)) {
            return Ok(Attempt::Claimed(Claim::of(&self.reader, &mut shared, held)));
        }
        loop {
            let entry = match shared.raw.claim(self.reader.number, shared.now())? {
                Proposal::Entry(entry) => entry,
                Proposal::Wait(time) => return Ok(Attempt::Wait(Duration::from_millis(time))),
                Proposal::Held => return Ok(Attempt::Held),
                Proposal::Finished => return Ok(Attempt::Finished),
            };
            match shared.append(&entry)? {
                Some(Some(Event { kind: EventKind::Claim, claim, start, count, .. })) => {
                    let held = Held { claim, start, count, done: 0 };
                    return Ok(Attempt::Claimed(Claim::of(&self.reader, &mut shared, &held)));
                }
                // What another one held is free now.
                Some(_) => {}
                None => shared.after_others()?,
            }
        }
    }

    /// Claims positions, and waits where all that is left is others' work; none once every position is committed. Errors: as
    /// [`try_claim`](Self::try_claim); [`Contradiction`](crate::FailureKind::Contradiction) (`claim`: all that is left is
    /// held by this reader itself).
    pub fn claim(&self) -> Result<Option<Claim>, Error> {
        loop {
            match self.try_claim()? {
                Attempt::Claimed(claim) => return Ok(Some(claim)),
                Attempt::Wait(time) => thread::sleep(time.min(POLL)),
                Attempt::Held => {
                    let value = format!("reader {}", self.reader.number);
                    let allowed = "a reader that commits or releases what it holds: nothing else is left";
                    return Err(Failure::contradiction("claim", value, allowed).into());
                }
                Attempt::Finished => return Ok(None),
            }
        }
    }

    /// How far all readers have come. Errors: as [`try_claim`](Self::try_claim).
    pub fn progress(&self) -> Result<Progress, Error> {
        let mut shared = self.reader.locked();
        shared.catch_up()?;
        shared.raw.progress()
    }
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Reader { number, whole, .. } = &*self.reader;
        f.debug_struct("Ledger").field("reader", number).field("of", whole).finish()
    }
}

/// A run of positions that a reader holds. What is not committed of one that is dropped is the next claim of the ledger.
#[must_use = "what is not committed of a claim that is dropped is the next claim of the ledger"]
pub struct Claim {
    reader: Arc<Reader>,
    number: u64,
    /// How many positions the entry took before those of this one.
    before: u32,
    start: u64,
    count: u32,
    committed: u32,
}

impl Claim {
    /// What is not committed of what a reader holds.
    fn of(reader: &Arc<Reader>, shared: &mut Shared, held: &Held) -> Self {
        let &Held { claim: number, start, count, done: before } = held;
        let start = start + u64::from(before);
        *shared.claims.entry(number).or_default() = Own { committed: start, is_held: true };
        Self { reader: Arc::clone(reader), number, before, start, count: count - before, committed: 0 }
    }

    /// The number of its entry in the log, which no other claim has.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The first position.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// How many of them, the first ones, are committed.
    pub fn committed(&self) -> u32 {
        self.committed
    }

    /// The sample indices at a range of these positions, counted from 0, such as `..` for all of them. Errors: out of range
    /// (`start`, `count` where the range ends after the claim, `samples` above 2^32 when read as `u32`), out of memory.
    pub fn samples<I: Index>(&self, range: impl RangeBounds<u64>) -> Result<Vec<I>, Error> {
        samples(&self.reader.whole, self.start, self.count, range)
    }

    /// The reader is through with `count` more positions, the next ones, for good.
    /// After [`Error::Log`], nobody knows whether that was written: commit the same again, before anything else, and nothing is
    /// committed twice.
    /// Errors: [`Contradiction`](crate::FailureKind::Contradiction) (`claim`: it was lost, after a silence as long as a lease or
    /// because another process has the same number; others read the rest of it), out of range (`count`: more than are left),
    /// contradiction, wrong type (`entry`: what is new in the log is not of this ledger), [`Error::Log`].
    pub fn commit(&mut self, count: u32) -> Result<(), Error> {
        let left = self.count - self.committed;
        if count > left {
            return Err(Failure::out_of_range("count", count, format!("0 to {left}")).into());
        }
        let done = self.committed + count;
        self.write(|raw, claim, known| match known {
            // It was appended, though the log had not said so.
            known if known >= done && count > 0 => Ok(None),
            known => raw.commit(claim, self.before + done.max(known)).map(Some),
        })?;
        self.committed = done;
        Ok(())
    }

    /// The reader is through with the rest of it. Errors: as [`commit`](Self::commit).
    pub fn commit_rest(&mut self) -> Result<(), Error> {
        match self.count - self.committed {
            0 => Ok(()),
            rest => self.commit(rest),
        }
    }

    /// Says that the reader is still there, for all that it holds: where a step takes longer than the lease. Errors: as
    /// [`commit`](Self::commit).
    pub fn renew(&self) -> Result<(), Error> {
        self.write(|raw, claim, known| match known {
            known if known == self.count => Ok(None),
            known => raw.commit(claim, self.before + self.committed.max(known)).map(Some),
        })
    }

    /// Gives back what is not committed, for other readers. Errors: as [`commit`](Self::commit).
    pub fn release(self) -> Result<(), Error> {
        self.write(|raw, claim, known| match known {
            known if known == self.count => Ok(None),
            _ => raw.release(claim).map(Some),
        })
    }

    /// Appends an entry of it, if any, made of what holds it, its number, and how many positions are committed as the log says.
    fn write(&self, make: impl Fn(&RawLedger, u64, u32) -> Result<Option<String>, Error>) -> Result<(), Error> {
        self.reader.locked().write(|shared| {
            let known = shared.claims.get(&self.number).map_or(0, |own| (own.committed - self.start) as u32);
            make(&shared.raw, self.number, known)
        })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let claims = &mut self.reader.locked().claims;
        match claims.get_mut(&self.number) {
            Some(own) if own.committed - self.start < u64::from(self.count) => own.is_held = false,
            _ => drop(claims.remove(&self.number)),
        }
    }
}

impl std::fmt::Debug for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { reader, number, start, count, committed, .. } = self;
        let mut shown = f.debug_struct("Claim");
        shown.field("reader", &reader.number).field("number", number).field("start", start).field("count", count);
        shown.field("committed", committed).finish()
    }
}
