use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::thread;
use std::time::{Duration, Instant};

use super::{Client, ClientOptions, Instruction, Log};
use crate::{Error, Failure, LogError};

/// A client with its log and its clock.
pub(super) struct Shared {
    pub client: Client,
    log: Box<dyn Log>,
    begun: Instant,
}

impl Shared {
    pub fn new(options: &ClientOptions, log: impl Log + 'static) -> Result<Self, Error> {
        Ok(Self { client: Client::new(options)?, log: Box::new(log), begun: Instant::now() })
    }

    /// The time in milliseconds since this object was made.
    fn now_ms(&self) -> u64 {
        self.begun.elapsed().as_millis() as u64
    }

    /// Begins an operation and follows its instructions until it is finished. Returns the last instruction.
    ///
    /// # Errors
    ///
    /// `unknown-name` (`action`), errors of the client and of the log.
    pub fn run(
        &mut self,
        begin: impl FnOnce(&Client, u64) -> Result<Instruction, Error>,
    ) -> Result<Instruction, Error> {
        let mut step = begin(&self.client, self.now_ms())?;
        loop {
            step = match step.action.as_str() {
                "checkpoint" => {
                    let found = self.log.last_checkpoint().map_err(LogError::from)?;
                    self.client.tell_checkpoint(found.as_deref(), self.now_ms())?
                }
                "read" => {
                    thread::sleep(Duration::from_millis(step.milliseconds));
                    let entries = self.log.read(step.number).map_err(LogError::from)?;
                    self.client.tell_entries(step.number, &entries, self.now_ms())?
                }
                "append" => {
                    let tell = match self.log.append(step.number, &step.entry).map_err(LogError::from)? {
                        true => Client::tell_appended,
                        false => Client::tell_refused,
                    };
                    tell(&self.client, self.now_ms())?
                }
                "done" | "claimed" | "wait" | "held" | "finished" => return Ok(step),
                action => return Err(unknown(action)),
            };
        }
    }
}

/// The actions that this host knows: three that it carries out, and five that end an operation.
const ACTIONS: [&str; 8] = ["checkpoint", "read", "append", "done", "claimed", "wait", "held", "finished"];

/// The failure for an action of a later component, which this host does not know. If an unknown action counted as the
/// end of the operation, an epoch could end too early.
pub(super) fn unknown(action: &str) -> Error {
    let mut failure = Failure::unknown_name("action", action, &ACTIONS);
    failure.allowed += ": this version of samedeal is too old for its component";
    failure.into()
}

/// 64 random bits. They come from the keys of a hash map, the only random numbers of the standard library.
pub(super) fn random_bits() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::MemoryLog;
    use crate::{FailureKind, Sampler};

    #[test]
    fn an_action_of_a_later_component_ends_the_operation_with_an_error() {
        let state = Sampler::new(10).unwrap().state(0).unwrap();
        let log = MemoryLog::new();
        let mut shared = Shared::new(&ClientOptions::new(state, 0, random_bits()), log.clone()).unwrap();
        let step = |action: &str| Instruction {
            action: action.to_owned(),
            number: 0,
            entry: "{}".to_owned(),
            milliseconds: 0,
        };
        let error = shared.run(|_, _| Ok(step("compact"))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "action is \"compact\"; known: checkpoint, read, append, done, claimed, wait, held, finished: \
             this version of samedeal is too old for its component"
        );
        let failure = error.failure().unwrap();
        assert_eq!((&failure.kind, failure.field.as_str()), (&FailureKind::UnknownName, "action"));
        assert!(failure.known().eq(ACTIONS));
        // Nothing was written, and another operation can begin.
        assert!(log.clone().read(0).unwrap().is_empty());
        assert_eq!(shared.run(|client, now_ms| client.claim(now_ms)).unwrap().action, "claimed");
        for action in ["done", "claimed", "wait", "held", "finished"] {
            assert_eq!(shared.run(|_, _| Ok(step(action))).unwrap().action, action);
        }
    }
}
