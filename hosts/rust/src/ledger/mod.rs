//! Ledgers: an epoch is dealt while it is read. Readers claim blocks of positions through a log that they share.
//!
//! With a fixed deal, all readers wait for the slowest one. A [`Ledger`] deals blocks of positions to readers that ask
//! for them. Every sample is committed exactly once, even if a reader dies, and any number of readers can read the same
//! samples again from the log ([`Replay`]).
//!
//! ```
//! use samedeal::Sampler;
//! use samedeal::ledger::{Ledger, MemoryLog, Replay};
//!
//! let sampler = Sampler::builder(1_000).seed(42).epoch(3).build()?;
//! let log = MemoryLog::new(); // a FileLog or a FolderLog for processes of one machine
//! let ledger = Ledger::builder(0).block_size(64).open(&sampler, log.clone())?;
//! while let Some(mut claim) = ledger.claim()? {
//!     let samples: Vec<u64> = claim.samples(..)?;
//!     assert!(samples.len() <= 64); // ... a few steps of training
//!     claim.commit_rest()?;
//! }
//! assert!(ledger.progress()?.is_finished());
//!
//! let text = log.text();
//! let replayed = Replay::new(text.as_bytes())?.samples(&sampler)?.collect::<Result<Vec<_>, _>>()?;
//! assert_eq!(replayed, sampler.indices::<u64>(..)?);
//! # Ok::<(), samedeal::Error>(())
//! ```

mod claims;
mod client;
mod file;
mod folder;
mod lines;
mod log;
mod raw;
mod replay;
mod shared;

pub use crate::generated::{ClaimedRun, CommittedRun, Event, Instruction, Progress};
pub use claims::{Attempt, Claim, Ledger, LedgerBuilder};
pub use client::{Client, ClientOptions};
pub use file::FileLog;
pub use folder::FolderLog;
pub use lines::Lines;
pub use log::{CHECKPOINT, Log, MemoryLog};
pub use raw::{RawLedger, header};
pub use replay::{Replay, Samples};
