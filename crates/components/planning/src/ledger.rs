use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use samedeal_core as core_;

use crate::Component;
use crate::bindings::exports::samedeal::deal::{ledger, types};

impl ledger::Guest for Component {
    type Ledger = Ledger;

    fn header(state: String, block: u32, lease: u64) -> Result<String, types::Failure> {
        Ok(core_::Ledger::header(&state, block, lease)?)
    }
}

pub struct Ledger(RefCell<core_::Ledger>);

impl ledger::GuestLedger for Ledger {
    fn new(header: String) -> Result<Self, types::Failure> {
        Ok(Self(RefCell::new(core_::Ledger::new(&header)?)))
    }

    fn apply(&self, entry: String, now: u64) -> Result<Option<ledger::Event>, types::Failure> {
        let event = self.0.borrow_mut().apply(&entry, now)?;
        Ok(event.map(|core_::Event { number, kind, reader, start, count, claim }| ledger::Event {
            number,
            kind: kind.into(),
            reader,
            start,
            count,
            claim,
        }))
    }

    fn claim(&self, reader: u32, now: u64) -> Result<ledger::Proposal, types::Failure> {
        Ok(match self.0.borrow().claim(reader, now)? {
            core_::Proposal::Entry(entry) => ledger::Proposal::Entry(entry),
            core_::Proposal::Wait(time) => ledger::Proposal::Wait(time),
            core_::Proposal::Held => ledger::Proposal::Held,
            core_::Proposal::Finished => ledger::Proposal::Finished,
        })
    }

    fn commit(&self, claim: u64, done: u32) -> Result<String, types::Failure> {
        Ok(self.0.borrow().commit(claim, done)?)
    }

    fn release(&self, claim: u64) -> Result<String, types::Failure> {
        Ok(self.0.borrow().release(claim)?)
    }

    fn held_by(&self, reader: u32) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.borrow().held_by(reader)?)
    }

    fn progress(&self) -> ledger::Progress {
        let core_::Progress { positions, committed, claimed, entries } = self.0.borrow().progress();
        ledger::Progress { positions, committed, claimed, entries }
    }

    fn initial_state(&self) -> String {
        self.0.borrow().initial_state()
    }
}

impl From<core_::EventKind> for ledger::EventKind {
    fn from(kind: core_::EventKind) -> Self {
        match kind {
            core_::EventKind::Claim => Self::Claim,
            core_::EventKind::Commit => Self::Commit,
            core_::EventKind::Release => Self::Release,
        }
    }
}
