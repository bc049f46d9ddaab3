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

    fn header(state: String, block_size: u32, lease_ms: u64) -> Result<String, types::Failure> {
        Ok(core_::Ledger::header(&state, block_size, lease_ms)?)
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

    fn set_block_size(&self, positions: u32) {
        self.0.borrow_mut().block_size = Some(positions);
    }

    fn set_lease_ms(&self, lease_ms: u64) {
        self.0.borrow_mut().lease_ms = Some(lease_ms);
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

    fn open(&self, now_ms: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.open(now_ms))
    }

    fn claim(&self, waits: bool, now_ms: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.claim(waits, now_ms))
    }

    fn commit(&self, handle: u64, count: Option<u32>, now_ms: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.commit(handle, count, now_ms))
    }

    fn renew(&self, handle: u64, now_ms: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.renew(handle, now_ms))
    }

    fn release(&self, handle: u64, now_ms: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.release(handle, now_ms))
    }

    fn change_lease(&self, lease_ms: u64, now_ms: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.change_lease(lease_ms, now_ms))
    }

    fn catch_up(&self, now_ms: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.catch_up(now_ms))
    }

    fn tell_checkpoint(&self, checkpoint: Option<String>, now_ms: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.tell_checkpoint(checkpoint, now_ms))
    }

    fn tell_entries(&self, entries: Vec<String>, now_ms: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.tell_entries(&entries, now_ms))
    }

    fn tell_appended(&self, appended: bool, now_ms: u64) -> Result<ledger::Instruction, types::Failure> {
        self.step(|client| client.tell_appended(appended, now_ms))
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

    fn block_size(&self) -> u32 {
        self.0.borrow().block_size()
    }

    fn lease_ms(&self) -> u64 {
        self.0.borrow().lease_ms()
    }
}

impl From<core_::Event> for ledger::CommittedRun {
    fn from(core_::Event { number, reader, start, count, claim, .. }: core_::Event) -> Self {
        Self { number, reader, start, count, claim }
    }
}
