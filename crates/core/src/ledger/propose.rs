//! Proposals: the next entry of a reader. Clients need them; programs that only follow a log do not.

use alloc::string::String;

use super::entry::Run;
use super::{EventKind, Lease, Ledger};
use crate::base::Failure;

/// The answer to a reader that wants more positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Proposal {
    /// An entry to append, if the log has no new entries by then. If the entry is no claim, the reader asks again once
    /// the entry is applied.
    Entry(String),
    /// Nothing is free now. Positions may become free with a new entry, or after this number of milliseconds.
    Wait(u64),
    /// The reader itself holds all positions that are left, or [`MAX_RUNS`](super::MAX_RUNS) runs.
    Held,
    /// Every position is committed.
    Finished,
}

impl Ledger {
    /// The next step of a reader that wants more positions. It takes a run that was given back, or else positions that
    /// were never claimed. If there are none, it releases a run of another reader whose lease has ended.
    pub(super) fn claim(&self, reader: u32, now_ms: u64) -> Proposal {
        if let Some((start, count)) = self.choice() {
            return Proposal::Entry(Run { kind: EventKind::Claim, reader, start, count }.write());
        }
        // Only leases of other readers can have ended, since this reader is active.
        let seen = |lease: &&Lease| self.holder(lease.reader).map_or(0, |place| self.holders[place].seen);
        let others = self.leases.iter().filter(|lease| lease.reader != reader);
        match others.min_by_key(seen) {
            Some(lease) => {
                let silent = now_ms.saturating_sub(seen(&lease));
                if silent < self.lease_ms {
                    return Proposal::Wait(self.lease_ms - silent);
                }
                Proposal::Entry(lease.entry(EventKind::Release, lease.left))
            }
            None if self.leases.is_empty() => Proposal::Finished,
            None => Proposal::Held,
        }
    }

    /// The entry that commits the first `done` positions of a claim. `done` is at least the number of positions that
    /// are committed already, which only renews the lease, and at most the number of positions of the claim. Failures:
    /// `claim` (it is not held any more).
    pub(super) fn commit(&self, claim: u64, done: u32) -> Result<String, Failure> {
        let lease = self.held(claim)?;
        debug_assert!((lease.done()..=lease.count).contains(&done));
        Ok(lease.entry(EventKind::Commit, done - lease.done()))
    }

    /// The entry that gives back the positions of a claim that are not committed. Failures: `claim` (it is not held any
    /// more).
    pub(super) fn release(&self, claim: u64) -> Result<String, Failure> {
        let lease = self.held(claim)?;
        Ok(lease.entry(EventKind::Release, lease.left))
    }

    /// The lease of a claim. Failures: `claim`.
    fn held(&self, claim: u64) -> Result<&Lease, Failure> {
        self.leases.iter().find(|lease| lease.claim == claim).ok_or_else(|| {
            let allowed = "one that is held: this was committed, given back, taken over after a silence, or freed by another \
                           process with the number of this reader";
            Failure::contradiction("claim", claim, allowed)
        })
    }
}
