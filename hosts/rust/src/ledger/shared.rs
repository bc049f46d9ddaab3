use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::thread;
use std::time::{Duration, Instant};

use super::{Client, ClientOptions, ClientStep, Log};
use crate::Error;

/// A client and the log that it is of.
pub(super) struct Shared {
    pub client: Client,
    log: Box<dyn Log>,
    begun: Instant,
}

impl Shared {
    pub fn new(options: &ClientOptions, log: impl Log + 'static) -> Result<Self, Error> {
        Ok(Self { client: Client::new(options)?, log: Box::new(log), begun: Instant::now() })
    }

    /// What time it is, in milliseconds since this began.
    fn now(&self) -> u64 {
        self.begun.elapsed().as_millis() as u64
    }

    /// Does what an operation says until it is over; what came of it.
    pub fn run(&mut self, begin: impl FnOnce(&Client, u64) -> Result<ClientStep, Error>) -> Result<ClientStep, Error> {
        let mut step = begin(&self.client, self.now())?;
        loop {
            step = match step.action.as_str() {
                "checkpoint" => {
                    let found = self.log.last_checkpoint()?;
                    self.client.tell_checkpoint(found.as_deref(), self.now())?
                }
                "read" => {
                    thread::sleep(Duration::from_millis(step.milliseconds));
                    let entries = self.log.read(step.number)?;
                    self.client.tell_entries(step.number, &entries, self.now())?
                }
                "append" => {
                    let appended = self.log.append(step.number, &step.entry)?;
                    self.client.tell_appended(appended, self.now())?
                }
                _ => return Ok(step),
            };
        }
    }
}

/// 64 bits that no other process has. The keys of a hash map are the only random numbers of the standard library.
pub(super) fn life() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
