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
    /// The claims that somebody has, by number: where each begins, and up to where it is committed, as the log says.
    pub claims: HashMap<u64, Extent>,
    begun: Instant,
}

/// Positions from one to before another.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub start: u64,
    pub end: u64,
}

impl Shared {
    pub fn new(raw: RawLedger, log: impl Log + 'static) -> Self {
        Self { raw, log: Box::new(log), entries: 0, claims: HashMap::new(), begun: Instant::now() }
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
        if !self.log.append(self.entries, entry)? {
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
        if let Some(Event { kind: EventKind::Commit, claim, start, count, .. }) = event
            && let Some(extent) = self.claims.get_mut(&claim)
        {
            extent.end = start + u64::from(count);
        }
        Ok(event)
    }
}
