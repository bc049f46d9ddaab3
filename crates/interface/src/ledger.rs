use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use samedeal_core as core_;

use crate::Component;
use crate::bindings::{ledger, types};

impl ledger::Guest for Component {
    type Ledger = Ledger;
    type ClientOptions = ClientOptions;
    type Client = Client;

    fn header(state: String, block: u32, lease: u64) -> Result<String, types::Failure> {
        Ok(core_::Ledger::header(&state, block, lease)?)
    }
}

pub struct Ledger(RefCell<core_::Ledger>);

impl ledger::GuestLedger for Ledger {
    fn new(header: String) -> Result<Self, types::Failure> {
        Ok(Self(RefCell::new(core_::Ledger::new(&header)?)))
    }

    fn apply(&self, entry: String) -> Result<Option<ledger::Event>, types::Failure> {
        let event = self.0.borrow_mut().apply(&entry)?;
        Ok(event.map(|core_::Event { number, kind, reader, start, count, claim, taken_from }| {
            let kind = kind.name().into();
            ledger::Event { number, kind, reader, start, count, claim, taken_from }
        }))
    }

    fn replay(
        &self,
        entries: Vec<String>,
        reader: u32,
        readers: u32,
    ) -> Result<Vec<ledger::CommittedRun>, types::Failure> {
        Ok(self.0.borrow_mut().replay(&entries, reader, readers)?)
    }

    fn progress(&self) -> ledger::Progress {
        let core_::Progress { positions, committed, claimed, entries } = self.0.borrow().progress();
        ledger::Progress { positions, committed, claimed, entries }
    }

    fn initial_state(&self) -> Result<String, types::Failure> {
        Ok(self.0.borrow().initial_state()?)
    }
}

pub struct ClientOptions(RefCell<core_::ClientOptions>);

impl ledger::GuestClientOptions for ClientOptions {
    fn new(state: String, reader: u32, session: u64) -> Self {
        Self(RefCell::new(core_::ClientOptions::new(state, reader, session)))
    }

    fn set_block(&self, positions: u32) {
        self.0.borrow_mut().block = Some(positions);
    }

    fn set_lease(&self, milliseconds: u64) {
        self.0.borrow_mut().lease = Some(milliseconds);
    }

    fn set_checkpoint_interval(&self, entries: u64) {
        self.0.borrow_mut().checkpoint_interval = Some(entries);
    }
}

pub struct Client(RefCell<core_::Client>);

impl Client {
    fn step(
        &self,
        step: impl FnOnce(&mut core_::Client) -> Result<core_::Instruction, core_::Failure>,
    ) -> Result<ledger::Instruction, types::Failure> {
        let core_::Instruction { action, number, entry, milliseconds } = step(&mut self.0.borrow_mut())?;
        Ok(ledger::Instruction { action: action.into(), number, entry, milliseconds })
    }
}

impl ledger::GuestClient for Client {
    fn new(options: ledger::ClientOptionsBorrow<'_>) -> Result<Self, types::Failure> {
        let ClientOptions(options) = options.get();
        let options = options.borrow().clone();
        Ok(Self(RefCell::new(core_::Client::new(options)?)))
    }

    fn open(&self, now: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.open(now))
    }

    fn claim(&self, waits: bool, now: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.claim(waits, now))
    }

    fn commit(&self, handle: u64, count: Option<u32>, now: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.commit(handle, count, now))
    }

    fn renew(&self, handle: u64, now: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.renew(handle, now))
    }

    fn release(&self, handle: u64, now: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.release(handle, now))
    }

    fn change_lease(&self, milliseconds: u64, now: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.change_lease(milliseconds, now))
    }

    fn catch_up(&self, now: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.catch_up(now))
    }

    fn tell_checkpoint(&self, checkpoint: Option<String>, now: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.tell_checkpoint(checkpoint, now))
    }

    fn tell_entries(&self, entries: Vec<String>, now: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.tell_entries(&entries, now))
    }

    fn tell_appended(&self, appended: bool, now: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.tell_appended(appended, now))
    }

    fn claimed(&self, handle: u64) -> Result<ledger::ClaimedRun, types::Failure> {
        let core_::ClaimedRun { claim, start, count, committed, .. } = self.0.borrow().claimed(handle)?;
        Ok(ledger::ClaimedRun { claim, start, count, committed })
    }

    fn is_lost(&self, handle: u64) -> Result<bool, types::Failure> {
        Ok(self.0.borrow().claimed(handle)?.is_lost)
    }

    fn forget(&self, handle: u64) {
        self.0.borrow_mut().forget(handle);
    }

    fn progress(&self) -> ledger::Progress {
        let core_::Progress { positions, committed, claimed, entries } = self.0.borrow().progress();
        ledger::Progress { positions, committed, claimed, entries }
    }

    fn block(&self) -> u32 {
        self.0.borrow().block()
    }

    fn lease(&self) -> u64 {
        self.0.borrow().lease()
    }
}

impl From<core_::Event> for ledger::CommittedRun {
    fn from(core_::Event { number, reader, start, count, claim, .. }: core_::Event) -> Self {
        Self { number, reader, start, count, claim }
    }
}
