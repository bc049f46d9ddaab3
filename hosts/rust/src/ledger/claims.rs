use std::ops::RangeBounds;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::shared::{Shared, life};
use super::{Client, ClientOptions, ClientRun, ClientStep, Log, Progress};
use crate::range::run;
use crate::{Builder, Error, Index, Layout, Sampler};

/// The options of a [`Ledger`]; see [`Ledger::builder`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a builder does nothing until `open`"]
pub struct LedgerBuilder {
    reader: u32,
    block: Option<u32>,
    lease: Option<Duration>,
    checkpoint_interval: Option<u64>,
}

impl LedgerBuilder {
    /// How many positions are claimed at a time, the same for all readers. Range: 1 to 2^32 - 1. Unless set, as in the
    /// log; of a new log 1,024. What a reader that dies has not committed of a block is read again; smaller blocks are
    /// more entries.
    pub fn block(mut self, positions: u32) -> Self {
        self.block = Some(positions);
        self
    }

    /// After which silence of a reader others take all that it holds. Range: 1 to 2^53 - 1 milliseconds. If set,
    /// opening makes it the lease of the log, for all readers. Unless set, as in the log; of a new log 60 seconds.
    /// Longer than any step takes: a claim or a commit, also of a part or of none, is no silence.
    pub fn lease(mut self, silence: Duration) -> Self {
        self.lease = Some(silence);
        self
    }

    /// How many entries come between two checkpoints, by which a long log opens at once; 4,096 unless set. Range: 1 to
    /// 2^53 - 1.
    pub fn checkpoint_interval(mut self, entries: u64) -> Self {
        self.checkpoint_interval = Some(entries);
        self
    }

    /// Begins a log, or joins the one that is there: for the positions of the sampler's epoch that are not consumed,
    /// whatever its rank and world. What this reader held in a former life is given back. A process that has the log
    /// open with the same reader number loses what it holds, and can claim no more. Errors:
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (`block`, `lease`, `checkpoint-interval`),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`order`, `samples`, `seed`, `epoch`, `consumed`, `block`,
    /// `state`: the log is of something else; `entry`; `log`: it refused an entry, and shows none in its place),
    /// [`WrongType`](crate::FailureKind::WrongType) (`state`, `entry`: it is no log), [`Error::Log`].
    pub fn open(self, sampler: &Sampler, log: impl Log + 'static) -> Result<Ledger, Error> {
        let Self { reader, block, lease, checkpoint_interval } = self;
        let lease = lease.map(milliseconds);
        let own = ClientOptions::new(sampler.state(0)?, reader, life());
        let mut shared = Shared::new(&ClientOptions { block, lease, checkpoint_interval, ..own }, log)?;
        shared.run(Client::open)?;
        let whole = whole(sampler)?;
        Ok(Ledger { reader: Arc::new(Reader { number: reader, whole, shared: Mutex::new(shared) }) })
    }
}

/// Of a time that is too long, what is too long for the component.
fn milliseconds(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
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

/// One reader of a ledger.
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

/// The result of [`Ledger::try_claim`].
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
    /// The ledger of reader number `reader`: any number that no other reader has while this one lives. Whoever comes
    /// back comes back with the same number, or with another one after a lease.
    pub fn builder(reader: u32) -> LedgerBuilder {
        LedgerBuilder { reader, block: None, lease: None, checkpoint_interval: None }
    }

    /// Which reader this is.
    pub fn reader(&self) -> u32 {
        self.reader.number
    }

    /// Claims positions, or says why there are none. Errors: [`Error::Log`]; contradiction, wrong type (`entry`: what
    /// is new in the log is not of this ledger; `log`); contradiction (`reader`: another process opened the log as this
    /// reader).
    pub fn try_claim(&self) -> Result<Attempt, Error> {
        self.attempt(false)
    }

    /// Claims positions, and waits where all that is left is others' work; none once every position is committed.
    /// Errors: as [`try_claim`](Self::try_claim); [`Contradiction`](crate::FailureKind::Contradiction) (`claim`: all
    /// that is left is held by this reader itself).
    pub fn claim(&self) -> Result<Option<Claim>, Error> {
        loop {
            match self.attempt(true)? {
                Attempt::Claimed(claim) => return Ok(Some(claim)),
                Attempt::Wait(time) => thread::sleep(time),
                Attempt::Held | Attempt::Finished => return Ok(None),
            }
        }
    }

    fn attempt(&self, waits: bool) -> Result<Attempt, Error> {
        let mut shared = self.reader.locked();
        let ClientStep { action, number, milliseconds, .. } = shared.run(|client, now| client.claim(waits, now))?;
        Ok(match action.as_str() {
            "claimed" => {
                let run = shared.client.run(number)?;
                Attempt::Claimed(Claim { reader: Arc::clone(&self.reader), handle: number, run })
            }
            "wait" => Attempt::Wait(Duration::from_millis(milliseconds)),
            "held" => Attempt::Held,
            _ => Attempt::Finished,
        })
    }

    /// How far all readers have come. Errors: as [`try_claim`](Self::try_claim), but `reader`.
    pub fn progress(&self) -> Result<Progress, Error> {
        let mut shared = self.reader.locked();
        shared.run(Client::catch_up)?;
        shared.client.progress()
    }

    /// After which silence of a reader others take all that it holds, by the log as it is now. Errors: as
    /// [`progress`](Self::progress).
    pub fn lease(&self) -> Result<Duration, Error> {
        let mut shared = self.reader.locked();
        shared.run(Client::catch_up)?;
        shared.client.lease().map(Duration::from_millis)
    }

    /// Sets the lease of the log from now on, for all readers. Range: 1 to 2^53 - 1 milliseconds. Errors: as
    /// [`try_claim`](Self::try_claim); out of range (`lease`).
    pub fn set_lease(&self, silence: Duration) -> Result<(), Error> {
        self.reader.locked().run(|client, now| client.set_lease(milliseconds(silence), now)).map(drop)
    }
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Reader { number, whole, .. } = &*self.reader;
        f.debug_struct("Ledger").field("reader", number).field("of", whole).finish()
    }
}

/// A run of positions that a reader holds. What is not committed of one that is dropped is the next claim of the
/// ledger.
#[must_use = "what is not committed of a claim that is dropped is the next claim of the ledger"]
pub struct Claim {
    reader: Arc<Reader>,
    handle: u64,
    run: ClientRun,
}

impl Claim {
    /// The number of its entry in the log, which no other claim has.
    pub fn number(&self) -> u64 {
        self.run.claim
    }

    /// The first position.
    pub fn start(&self) -> u64 {
        self.run.start
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.run.count
    }

    /// How many of them, the first ones, are committed.
    pub fn committed(&self) -> u32 {
        self.run.committed
    }

    /// The sample indices at a range of these positions, counted from 0, such as `..` for all of them. Errors: out of
    /// range (`start`, `count` where the range ends after the claim, `samples` above 2^32 when read as `u32`), out of
    /// memory.
    pub fn samples<I: Index>(&self, range: impl RangeBounds<u64>) -> Result<Vec<I>, Error> {
        samples(&self.reader.whole, self.run.start, self.run.count, range)
    }

    /// The reader is through with `count` more positions, the next ones, for good. After [`Error::Log`], nobody knows
    /// whether that was written: commit the same again, before anything else, and nothing is committed twice. Errors:
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`claim`: it was lost, after a silence as long as a lease
    /// or because another process has the same number; others read the rest of it), out of range (`count`: more than
    /// are left), contradiction, wrong type (`entry`: what is new in the log is not of this ledger; `log`),
    /// [`Error::Log`].
    pub fn commit(&mut self, count: u32) -> Result<(), Error> {
        self.commit_next(Some(count))
    }

    /// The reader is through with the rest of it. Errors: as [`commit`](Self::commit).
    pub fn commit_rest(&mut self) -> Result<(), Error> {
        self.commit_next(None)
    }

    fn commit_next(&mut self, count: Option<u32>) -> Result<(), Error> {
        let mut shared = self.reader.locked();
        shared.run(|client, now| client.commit(self.handle, count, now))?;
        self.run = shared.client.run(self.handle)?;
        Ok(())
    }

    /// Says that the reader is still there, for all that it holds: where a step takes longer than the lease. Errors: as
    /// [`commit`](Self::commit).
    pub fn renew(&self) -> Result<(), Error> {
        self.reader.locked().run(|client, now| client.renew(self.handle, now)).map(drop)
    }

    /// Gives back what is not committed, for other readers. Errors: as [`commit`](Self::commit).
    pub fn release(self) -> Result<(), Error> {
        self.reader.locked().run(|client, now| client.release(self.handle, now)).map(drop)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // An engine that was stopped has no claims.
        let _ = self.reader.locked().client.forget(self.handle);
    }
}

impl std::fmt::Debug for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ClientRun { claim, start, count, committed } = self.run;
        let mut shown = f.debug_struct("Claim");
        shown
            .field("reader", &self.reader.number)
            .field("number", &claim)
            .field("start", &start)
            .field("count", &count);
        shown.field("committed", &committed).finish()
    }
}
