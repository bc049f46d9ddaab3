use std::ops::RangeBounds;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::shared::{Shared, random_bits, unknown};
use super::{ClaimedRun, Client, ClientOptions, Instruction, Log, Progress};
use crate::range::run;
use crate::{Error, Index, Layout, Sampler};

/// The options of a [`Ledger`]; see [`Ledger::builder`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a builder does nothing until `open`"]
pub struct LedgerBuilder {
    reader: u32,
    block_size: Option<u32>,
    lease: Option<Duration>,
    checkpoint_interval: Option<u64>,
}

impl LedgerBuilder {
    /// Number of positions in a claim, the same for all readers. Range: 1 to 2^32 - 1. Default: the number in the log;
    /// for a new log 1,024. If a reader dies, the positions of its block that are not committed are read again. Smaller
    /// blocks need more entries.
    pub fn block_size(mut self, positions: u32) -> Self {
        self.block_size = Some(positions);
        self
    }

    /// The lease: if a reader writes no entry for this long, other readers can take its claims. Range: 1 to 2^53 - 1
    /// milliseconds. If set, `open` makes it the lease of the log, for all readers. Default: the lease of the log; for
    /// a new log 60 seconds. The lease should be longer than any step. Each claim and each commit renews it, even a
    /// commit of 0 positions.
    pub fn lease(mut self, silence: Duration) -> Self {
        self.lease = Some(silence);
        self
    }

    /// Number of entries between two checkpoints. A reader that opens a log skips the entries before the last
    /// checkpoint. Range: 1 to 2^53 - 1. Default: 4,096.
    pub fn checkpoint_interval(mut self, entries: u64) -> Self {
        self.checkpoint_interval = Some(entries);
        self
    }

    /// Begins the log, or joins it if it has entries. The log is for the positions of the sampler's epoch that are not
    /// consumed; the rank and world size of the sampler do not matter. Claims that an earlier process made with this
    /// reader number are free again. If another process has the log open with the same reader number, that process
    /// loses its claims, and cannot claim any more.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (`block_size`, `lease_ms`, `checkpoint_interval`),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (a member of the order, such as `name`; `epoch`,
    /// `consumed`, `positions`, `block_size`: the log belongs to something else; `entry`; `log`: the log refused an entry,
    /// but has no other entry with that number), [`WrongType`](crate::FailureKind::WrongType) (`state`, `entry`: it is
    /// no log), [`Error::Log`].
    pub fn open(self, sampler: &Sampler, log: impl Log + 'static) -> Result<Ledger, Error> {
        let Self { reader, block_size, lease, checkpoint_interval } = self;
        let lease_ms = lease.map(milliseconds);
        let own = ClientOptions::new(sampler.state(0)?, reader, random_bits());
        let mut shared = Shared::new(&ClientOptions { block_size, lease_ms, checkpoint_interval, ..own }, log)?;
        shared.run(Client::open)?;
        let whole = whole(sampler)?;
        Ok(Ledger { reader: Arc::new(Reader { number: reader, whole, shared: Mutex::new(shared) }) })
    }
}

/// A duration in milliseconds. A duration that is too long becomes `u64::MAX`, which the component refuses.
fn milliseconds(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}

/// A copy of a sampler for a single rank. Its sample number i is the sample at position `consumed` + i of the epoch.
pub(super) fn whole(sampler: &Sampler) -> Result<Sampler, Error> {
    sampler.to_builder()?.rank(0).world_size(1).layout(Layout::Strided).build()
}

/// The samples at a range of the `count` positions from `start` on. The range is counted from `start`.
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

/// One reader of a ledger: an epoch that is dealt while it is read; see the [module](super).
///
/// Threads may share a ledger and its claims: for example, one thread claims ahead and another one commits. Together
/// they are one reader. A reader that waits reads the log at least every 100 milliseconds.
pub struct Ledger {
    reader: Arc<Reader>,
}

/// The parts of a [`Ledger`] that its claims share.
struct Reader {
    number: u32,
    whole: Sampler,
    shared: Mutex<Shared>,
}

impl Reader {
    fn locked(&self) -> MutexGuard<'_, Shared> {
        // A poisoned lock is no problem: after a panic within a log, the client still knows which entries it applied.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The result of [`Ledger::try_claim`].
#[derive(Debug)]
pub enum Attempt {
    /// The reader has a new claim.
    Claimed(Claim),
    /// No position is free now. Try again after another reader commits or releases, or after this time.
    Wait(Duration),
    /// This reader itself holds all positions that are left. It must commit or release them first.
    Held,
    /// Every position is committed.
    Finished,
}

impl Ledger {
    /// The ledger of reader number `reader`. Each reader has a different number. A reader that starts again uses its
    /// old number; with a new number, it must wait until the lease of its old claims ends.
    pub fn builder(reader: u32) -> LedgerBuilder {
        LedgerBuilder { reader, block_size: None, lease: None, checkpoint_interval: None }
    }

    /// Number of this reader.
    pub fn reader(&self) -> u32 {
        self.reader.number
    }

    /// Claims positions, or returns the reason why there are none.
    ///
    /// # Errors
    ///
    /// [`Error::Log`]; contradiction, wrong type (`entry`: a new entry of the log does not belong to this ledger; `log`); contradiction
    /// (`reader`: another process opened the log as this reader).
    pub fn try_claim(&self) -> Result<Attempt, Error> {
        self.attempt(Client::try_claim)
    }

    /// Claims positions. If other readers hold all positions that are left, the call waits. None if every position is
    /// committed.
    ///
    /// # Errors
    ///
    /// The errors of [`try_claim`](Self::try_claim); [`Contradiction`](crate::FailureKind::Contradiction) (`claim`: this reader itself holds all
    /// positions that are left).
    pub fn claim(&self) -> Result<Option<Claim>, Error> {
        loop {
            match self.attempt(Client::claim)? {
                Attempt::Claimed(claim) => return Ok(Some(claim)),
                Attempt::Wait(time) => thread::sleep(time),
                Attempt::Held | Attempt::Finished => return Ok(None),
            }
        }
    }

    fn attempt(&self, claim: impl FnOnce(&Client, u64) -> Result<Instruction, Error>) -> Result<Attempt, Error> {
        let mut shared = self.reader.locked();
        let Instruction { action, number, milliseconds, .. } = shared.run(claim)?;
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

    /// The current lease of the log.
    ///
    /// # Errors
    ///
    /// The errors of [`progress`](Self::progress).
    pub fn lease(&self) -> Result<Duration, Error> {
        let mut shared = self.reader.locked();
        shared.run(Client::catch_up)?;
        shared.client.lease_ms().map(Duration::from_millis)
    }

    /// Changes the lease of the log, for all readers. Range: 1 to 2^53 - 1 milliseconds.
    ///
    /// # Errors
    ///
    /// The errors of [`try_claim`](Self::try_claim); out of range (`lease_ms`).
    pub fn set_lease(&self, silence: Duration) -> Result<(), Error> {
        self.reader.locked().run(|client, now_ms| client.change_lease(milliseconds(silence), now_ms)).map(drop)
    }
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Reader { number, whole, .. } = &*self.reader;
        f.debug_struct("Ledger").field("reader", number).field("of", whole).finish()
    }
}

/// A run of positions that a reader has claimed. If a claim is dropped, its positions that are not committed become the
/// next claim of the ledger.
#[must_use = "what is not committed of a claim that is dropped is the next claim of the ledger"]
pub struct Claim {
    reader: Arc<Reader>,
    handle: u64,
    run: ClaimedRun,
}

impl Claim {
    /// Number of the claim's entry in the log. No other claim has the same number.
    pub fn number(&self) -> u64 {
        self.run.claim
    }

    /// The first position.
    pub fn start(&self) -> u64 {
        self.run.start
    }

    /// Number of positions.
    pub fn count(&self) -> u32 {
        self.run.count
    }

    /// Number of positions from the first one on that are committed.
    pub fn committed(&self) -> u32 {
        self.run.committed
    }

    /// The sample indices at a range of the claim's positions, which are counted from 0; `..` means all.
    ///
    /// # Errors
    ///
    /// Out of range (`start`, `count` where the range ends after the claim, `samples` above 2^32 when read as `u32`), out of memory.
    pub fn samples<I: Index>(&self, range: impl RangeBounds<u64>) -> Result<Vec<I>, Error> {
        samples(&self.reader.whole, self.run.start, self.run.count, range)
    }

    /// Commits the next `count` positions. No reader gets them again, so write your results to the disk before: the log
    /// guarantees commits, not results. After [`Error::Log`], it is unknown whether the entry was written. Then make
    /// the same commit again before any other call: nothing is committed twice.
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
        shared.run(|client, now_ms| client.commit(self.handle, count, now_ms))?;
        self.run = shared.client.claimed(self.handle)?;
        Ok(())
    }

    /// Renews the lease of all claims of this reader. Use it if a step takes longer than the lease.
    ///
    /// # Errors
    ///
    /// The errors of [`commit`](Self::commit).
    pub fn renew(&self) -> Result<(), Error> {
        self.reader.locked().run(|client, now_ms| client.renew(self.handle, now_ms)).map(drop)
    }

    /// Gives back the positions that are not committed.
    ///
    /// # Errors
    ///
    /// The errors of [`commit`](Self::commit).
    pub fn release(self) -> Result<(), Error> {
        self.reader.locked().run(|client, now_ms| client.release(self.handle, now_ms)).map(drop)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // The error is ignored: an engine that has failed has no claims to forget.
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
