use std::io;
use std::time::Instant;

use super::{Event, Log, RawLedger};
use crate::Error;

/// The log, and what it says as far as it was read.
pub(super) struct Shared {
    pub raw: RawLedger,
    log: Box<dyn Log>,
    /// How many entries were applied.
    pub entries: u64,
    begun: Instant,
}

impl Shared {
    pub fn new(raw: RawLedger, log: impl Log + 'static) -> Self {
        Self { raw, log: Box::new(log), entries: 0, begun: Instant::now() }
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
            let now = self.now();
            for entry in new {
                self.raw.apply(&entry, now)?;
                self.entries += 1;
            }
        }
    }

    /// Appends an entry, and applies it; none if somebody was faster.
    pub fn append(&mut self, entry: &str) -> Result<Option<Option<Event>>, Error> {
        if !self.log.append(self.entries, entry)? {
            return Ok(None);
        }
        let event = self.raw.apply(entry, self.now())?;
        self.entries += 1;
        Ok(Some(event))
    }

    /// Appends the entry that `make` finds right, also where others append theirs meanwhile.
    pub fn write(&mut self, make: impl Fn(&RawLedger) -> Result<String, Error>) -> Result<Event, Error> {
        loop {
            if let Some(Some(event)) = self.append(&make(&self.raw)?)? {
                return Ok(event);
            }
            self.after_others()?;
        }
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
}
