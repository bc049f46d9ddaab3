use std::collections::HashMap;
use std::io;
use std::time::Instant;

use super::{Event, EventKind, Log, RawLedger};
use crate::Error;

/// The log, and what it says as far as it was read.
pub(super) struct Shared {
    pub raw: RawLedger,
    log: Box<dyn Log>,
    /// How many entries were applied.
    pub entries: u64,
    /// Claims of this object by number, and no other of the same reader: a former life may still be there.
    pub claims: HashMap<u64, Own>,
    /// An entry of which the log has not said whether it was appended, and the number that it would have.
    unsure: Option<(u64, String)>,
    begun: Instant,
}

/// A claim that a ledger has made.
#[derive(Clone, Copy, Default)]
pub(super) struct Own {
    /// Up to where it is committed, as the log says.
    pub committed: u64,
    /// Whether somebody has it.
    pub is_held: bool,
}

impl Shared {
    pub fn new(raw: RawLedger, log: impl Log + 'static) -> Self {
        Self { raw, log: Box::new(log), entries: 0, claims: HashMap::new(), unsure: None, begun: Instant::now() }
    }

    /// What time it is, in milliseconds since this began.
    pub fn now(&self) -> u64 {
        self.begun.elapsed().as_millis() as u64
    }

    /// Applies what is new in the log.
    pub fn catch_up(&mut self) -> Result<(), Error> {
        loop {
            let new = self.log.read(self.entries)?;
            if new.is_empty() {
                return Ok(());
            }
            for entry in new {
                self.apply(&entry)?;
            }
        }
    }

    /// Appends an entry, and applies it; none if somebody was faster.
    pub fn append(&mut self, entry: &str) -> Result<Option<Option<Event>>, Error> {
        self.unsure = Some((self.entries, entry.to_owned()));
        if !self.log.append(self.entries, entry)? {
            self.unsure = None;
            return Ok(None);
        }
        self.apply(entry).map(Some)
    }

    /// Appends the entry that `make` finds right, if any, also where others append theirs meanwhile.
    pub fn write(&mut self, make: impl Fn(&Self) -> Result<Option<String>, Error>) -> Result<(), Error> {
        while let Some(entry) = make(self)? {
            if self.append(&entry)?.is_some() {
                break;
            }
            self.after_others()?;
        }
        Ok(())
    }

    /// Applies what others were faster with.
    pub fn after_others(&mut self) -> Result<(), Error> {
        let before = self.entries;
        self.catch_up()?;
        if self.entries == before {
            let what = format!("it has an entry {before} when another one is added, and none when it is read");
            return Err(io::Error::other(what).into());
        }
        Ok(())
    }

    fn apply(&mut self, entry: &str) -> Result<Option<Event>, Error> {
        let event = self.raw.apply(entry, self.now())?;
        self.entries += 1;
        let number = self.entries - 1;
        let unsure = self.unsure.take_if(|(at, _)| *at == number);
        let is_own = unsure.is_some_and(|(_, own)| own == entry);
        match event {
            Some(Event { kind: EventKind::Claim, claim, .. }) if is_own => {
                self.claims.insert(claim, Own::default());
            }
            Some(Event { kind: EventKind::Commit, claim, start, count, .. }) => {
                if let Some(own) = self.claims.get_mut(&claim) {
                    own.committed = start + u64::from(count);
                }
            }
            _ => {}
        }
        Ok(event)
    }
}
