use std::ops::RangeBounds;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::shared::{Shared, life, unknown};
use super::{ClaimedRun, Client, ClientOptions, Instruction, Log, Progress};
use crate::range::run;
use crate::{Error, Index, Layout, Sampler};

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
    /// Number of positions in a claim, the same for all readers. Range: 1 to 2^32 - 1. Default: the one of the log; for
    /// a new log 1,024. If a reader dies, the positions of its block that are not committed are read again. Smaller
    /// blocks need more entries.
    pub fn block(mut self, positions: u32) -> Self {
        self.block = Some(positions);
        self
    }

    /// The lease: if a reader writes no entry for this long, others can take its claims. Range: 1 to 2^53 - 1
    /// milliseconds. If it is set, opening makes it the lease of the log, for all readers. Default: the one of the log;
    /// for a new log 60 seconds. It should be longer than any step. Each claim and each commit renews it, even a commit
    /// of 0 positions.
    pub fn lease(mut self, silence: Duration) -> Self {
        self.lease = Some(silence);
        self
    }

    /// Number of entries between two checkpoints, with which a long log opens at once. Range: 1 to 2^53 - 1. Default:
    /// 4,096.
    pub fn checkpoint_interval(mut self, entries: u64) -> Self {
        self.checkpoint_interval = Some(entries);
        self
    }

    /// Begins the log, or joins it if it has entries. It is for the positions of the sampler's epoch that are not consumed; the rank and
    /// world size of the sampler do not matter. Claims of an earlier life of this reader are free again. If another process has the log
    /// open with the same reader number, it loses its claims, and cannot claim any more.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (`block`, `lease`, `checkpoint-interval`),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`order`, `samples`, `seed`, `epoch`, `consumed`, `block`, `state`: the log
    /// belongs to something else; `entry`; `log`: it refused an entry, but has no other entry with that number),
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
    sampler.to_builder()?.rank(0).world_size(1).layout(Layout::Strided).build()
}

/// The samples at some of so many positions from `start` on.
///
/// # Errors
///
/// Out of range (`start`, `count`).
pub(super) fn samples<I: Index>(
    whole: &Sampler,
    start: u64,
    count: u32,
    range: impl RangeBounds<u64>,
) -> Result<Vec<I>, Error> {
    let (first, count) = run(range, count.into())?;
    let start = start - whole.consumed() + first;
    whole.indices(start..start + count)
}

/// One reader of an epoch that is dealt while it is read; see the [module](super).
///
/// Threads may share a ledger and its claims, for example one that claims ahead and one that commits. They are one
/// reader. A reader that waits looks at the log at least every 100 milliseconds.
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
    /// The reader has a new claim.
    Claimed(Claim),
    /// No position is free now. Ask again after another reader commits or releases, or after this time.
    Wait(Duration),
    /// This reader itself holds all positions that are left. It must commit or release them first.
    Held,
    /// Every position is committed.
    Finished,
}

impl Ledger {
    /// The ledger of reader number `reader`. Each reader has another number. A reader that starts again uses the same
    /// number; with another number, it must wait for a lease until its earlier claims are free.
    pub fn builder(reader: u32) -> LedgerBuilder {
        LedgerBuilder { reader, block: None, lease: None, checkpoint_interval: None }
    }

    /// Number of this reader.
    pub fn reader(&self) -> u32 {
        self.reader.number
    }

    /// Claims positions, or returns why there are none.
    ///
    /// # Errors
    ///
    /// [`Error::Log`]; contradiction, wrong type (`entry`: a new entry of the log does not belong to this ledger; `log`); contradiction
    /// (`reader`: another process opened the log as this reader).
    pub fn try_claim(&self) -> Result<Attempt, Error> {
        self.attempt(false)
    }

    /// Claims positions. If others hold all positions that are left, it waits. None if every position is committed.
    ///
    /// # Errors
    ///
    /// The errors of [`try_claim`](Self::try_claim); [`Contradiction`](crate::FailureKind::Contradiction) (`claim`: this reader itself holds all
    /// positions that are left).
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
        let Instruction { action, number, milliseconds, .. } = shared.run(|client, now| client.claim(waits, now))?;
        Ok(match action.as_str() {
            "claimed" => {
                let run = shared.client.claimed(number)?;
                Attempt::Claimed(Claim { reader: Arc::clone(&self.reader), handle: number, run })
            }
            "wait" => Attempt::Wait(Duration::from_millis(milliseconds)),
            "held" => Attempt::Held,
            "finished" => Attempt::Finished,
            action => return Err(unknown(action)),
        })
    }

    /// How much of the epoch is done.
    ///
    /// # Errors
    ///
    /// The errors of [`try_claim`](Self::try_claim), without `reader`.
    pub fn progress(&self) -> Result<Progress, Error> {
        let mut shared = self.reader.locked();
        shared.run(Client::catch_up)?;
        shared.client.progress()
    }

    /// The lease, by the log as it is now.
    ///
    /// # Errors
    ///
    /// The errors of [`progress`](Self::progress).
    pub fn lease(&self) -> Result<Duration, Error> {
        let mut shared = self.reader.locked();
        shared.run(Client::catch_up)?;
        shared.client.lease().map(Duration::from_millis)
    }

    /// Changes the lease of the log, for all readers. Range: 1 to 2^53 - 1 milliseconds.
    ///
    /// # Errors
    ///
    /// The errors of [`try_claim`](Self::try_claim); out of range (`lease`).
    pub fn set_lease(&self, silence: Duration) -> Result<(), Error> {
        self.reader.locked().run(|client, now| client.change_lease(milliseconds(silence), now)).map(drop)
    }
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Reader { number, whole, .. } = &*self.reader;
        f.debug_struct("Ledger").field("reader", number).field("of", whole).finish()
    }
}

/// A run of positions that a reader holds. If a claim is dropped, the next claim of the ledger has the positions of it
/// that are not committed.
#[must_use = "what is not committed of a claim that is dropped is the next claim of the ledger"]
pub struct Claim {
    reader: Arc<Reader>,
    handle: u64,
    run: ClaimedRun,
}

impl Claim {
    /// Number of its entry in the log. No other claim has it.
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

    /// The sample indices at a range of these positions, counted from 0, such as `..` for all of them.
    ///
    /// # Errors
    ///
    /// Out of range (`start`, `count` where the range ends after the claim, `samples` above 2^32 when read as `u32`), out of memory.
    pub fn samples<I: Index>(&self, range: impl RangeBounds<u64>) -> Result<Vec<I>, Error> {
        samples(&self.reader.whole, self.run.start, self.run.count, range)
    }

    /// Commits the next `count` positions. Nobody does the work on them again, so write the results to the disk before: the log guarantees
    /// commits, not results. After [`Error::Log`], it is unknown whether the entry was written. Make the same commit again before anything
    /// else: nothing is committed twice.
    ///
    /// # Errors
    ///
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`claim`: it was lost, because its lease ended or another process has the same
    /// number; others read the rest of it), out of range (`count`: more than are left), contradiction, wrong type (`entry`: a new entry of
    /// the log does not belong to this ledger; `log`), [`Error::Log`].
    pub fn commit(&mut self, count: u32) -> Result<(), Error> {
        self.commit_next(Some(count))
    }

    /// Commits all positions that are left.
    ///
    /// # Errors
    ///
    /// The errors of [`commit`](Self::commit).
    pub fn commit_rest(&mut self) -> Result<(), Error> {
        self.commit_next(None)
    }

    fn commit_next(&mut self, count: Option<u32>) -> Result<(), Error> {
        let mut shared = self.reader.locked();
        shared.run(|client, now| client.commit(self.handle, count, now))?;
        self.run = shared.client.claimed(self.handle)?;
        Ok(())
    }

    /// Renews the lease of all claims of this reader. Use it if a step takes longer than the lease.
    ///
    /// # Errors
    ///
    /// The errors of [`commit`](Self::commit).
    pub fn renew(&self) -> Result<(), Error> {
        self.reader.locked().run(|client, now| client.renew(self.handle, now)).map(drop)
    }

    /// Gives back the positions that are not committed.
    ///
    /// # Errors
    ///
    /// The errors of [`commit`](Self::commit).
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
        let ClaimedRun { claim, start, count, committed } = self.run;
        let mut shown = f.debug_struct("Claim");
        shown
            .field("reader", &self.reader.number)
            .field("number", &claim)
            .field("start", &start)
            .field("count", &count);
        shown.field("committed", &committed).finish()
    }
}
