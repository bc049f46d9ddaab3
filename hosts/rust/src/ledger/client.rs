use super::Instruction;
use crate::Error;
use crate::engine::{Instance, MOST_MEMORY, Object, checked_state, cut_entry, ledger};

/// Number of entries that are passed to the component at a time.
const WINDOW: usize = 1 << 12;

/// The options of a client. An option that is `None` has its default; see [`LedgerBuilder`](super::LedgerBuilder).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientOptions {
    /// The state of the sampler whose positions are claimed.
    pub state: String,
    /// The number of the reader.
    pub reader: u32,
    /// 64 random bits, new each time that a log is opened. They tell two processes with the same reader number apart.
    pub session: u64,
    /// Number of positions in a claim.
    pub block_size: Option<u32>,
    /// The lease in milliseconds: if a reader writes no entry for this long, it loses its claims.
    pub lease_ms: Option<u64>,
    /// Number of entries between two checkpoints.
    pub checkpoint_interval: Option<u64>,
}

impl ClientOptions {
    /// Options with the required values. All other options have their defaults.
    pub fn new(state: impl Into<String>, reader: u32, session: u64) -> Self {
        Self { state: state.into(), reader, session, block_size: None, lease_ms: None, checkpoint_interval: None }
    }
}

/// One reader of a log, without the log itself: it returns instructions that say what the host reads and appends.
/// [`Ledger`](super::Ledger) follows them with a log whose calls block. Use a client for other logs, such as stores
/// with asynchronous calls.
///
/// An operation returns its first instruction. The host follows it and calls
/// [`tell_checkpoint`](Self::tell_checkpoint), [`tell_entries`](Self::tell_entries),
/// [`tell_appended`](Self::tell_appended) or [`tell_refused`](Self::tell_refused), which return the next instruction,
/// until the operation is finished. If the log fails, the host calls none of these methods, and can begin any other
/// operation. Times are in milliseconds, on any clock that does not go back.
pub struct Client {
    pub(crate) object: Object<ledger::Client>,
}

impl Client {
    /// A reader whose log is not open.
    ///
    /// # Errors
    ///
    /// [`WrongType`](crate::FailureKind::WrongType) (`state`), [`OutOfRange`](crate::FailureKind::OutOfRange) (`state`,
    /// `consumed`, `block_size`, `lease_ms`, `checkpoint_interval`).
    pub fn new(options: &ClientOptions) -> Result<Self, Error> {
        let ClientOptions { state, reader, session, block_size, lease_ms, checkpoint_interval } = options;
        let state = checked_state(state, MOST_MEMORY)?;
        let options = Object::<ledger::ClientOptions>::new(Instance::new(MOST_MEMORY)?, state, *reader, *session)?;
        if let Some(block_size) = block_size {
            options.set_block_size(*block_size)?;
        }
        if let Some(lease_ms) = lease_ms {
            options.set_lease_ms(*lease_ms)?;
        }
        if let Some(interval) = checkpoint_interval {
            options.set_checkpoint_interval(*interval)?;
        }
        Ok(Self { object: Object::<ledger::Client>::new(&options)? })
    }

    /// Claims a run of positions, for a host that waits and claims again if nothing is free. It first takes positions of
    /// own claims that were forgotten ([`forget`](Self::forget)), then positions that are free in the log. The
    /// instruction `wait` is at most 100 milliseconds long.
    ///
    /// # Errors
    ///
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`reader`: another process has joined as this reader;
    /// `claim`: the reader itself holds all positions that are left), [`OutOfMemory`](crate::FailureKind::OutOfMemory)
    /// (`claim`: too many claims at a time).
    pub fn claim(&self, now_ms: u64) -> Result<Instruction, Error> {
        self.raw_claim(true, now_ms)
    }

    /// Claims a run of positions, for a host that does not wait. As [`claim`](Self::claim), but `wait` is as long as
    /// the log needs to give something back, and the instruction is `held` if the reader itself holds all positions
    /// that are left.
    ///
    /// # Errors
    ///
    /// The errors of [`claim`](Self::claim), without `claim` of the kind
    /// [`Contradiction`](crate::FailureKind::Contradiction).
    pub fn try_claim(&self, now_ms: u64) -> Result<Instruction, Error> {
        self.raw_claim(false, now_ms)
    }

    /// After the instruction `append`: the log has appended the entry.
    ///
    /// # Errors
    ///
    /// The errors of [`tell_checkpoint`](Self::tell_checkpoint).
    pub fn tell_appended(&self, now_ms: u64) -> Result<Instruction, Error> {
        self.raw_tell_appended(true, now_ms)
    }

    /// After the instruction `append`: the log has not appended the entry, because another entry has its number.
    ///
    /// # Errors
    ///
    /// The errors of [`tell_checkpoint`](Self::tell_checkpoint).
    pub fn tell_refused(&self, now_ms: u64) -> Result<Instruction, Error> {
        self.raw_tell_appended(false, now_ms)
    }

    /// Passes the entries that were read from number `from` on, and returns the next instruction. An empty list means
    /// the end of the log.
    ///
    /// # Errors
    ///
    /// The errors of [`tell_checkpoint`](Self::tell_checkpoint), and contradiction (`log`: it refused an entry, but has no other entry with that number).
    pub fn tell_entries(&self, from: u64, entries: &[String], now_ms: u64) -> Result<Instruction, Error> {
        let tell = |entries: &[String]| {
            let entries: Vec<_> = entries.iter().map(|entry| cut_entry(entry)).map(String::from).collect();
            self.raw_tell_entries(&entries, now_ms)
        };
        let mut parts = entries.chunks(WINDOW);
        let (mut told, first) = (from, parts.next().unwrap_or_default());
        let mut step = tell(first)?;
        told += first.len() as u64;
        for part in parts {
            // The client may ask for another entry instead, such as the one after a checkpoint. The remaining entries
            // are then not passed.
            if step.action != "read" || step.number != told {
                break;
            }
            step = tell(part)?;
            told += part.len() as u64;
        }
        Ok(step)
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("progress", &self.progress()).finish()
    }
}
