//! Readers: every loader worker of every rank, each of which reads its part of an epoch of a dataset in shards.
//!
//! A [`Reading`] is an epoch, or what is left of it, given to a group of readers. Two deals: of samples (the order
//! `sharded`, or stored order), and of whole shards. A loader takes batches from the workers of its rank in turn. In the middle
//! of a turn, what was read is no beginning of the epoch, so a state has two parts: how many positions were consumed when the
//! turn began, and the steps that every rank took since. The same readers go on where they stood; to others, what is left is
//! dealt anew.

mod advice;
mod batches;
mod gathered;
mod left;
mod reading;
mod recipe;
mod rows;
mod samples;
mod segment;
mod state;
mod turns;
mod whole;

pub use advice::MixingAdvice;
pub use batches::ReadBatch;
pub use reading::{ReadRound, Reading};
#[cfg(feature = "texts")]
pub(crate) use recipe::SECTIONS;
pub use rows::RoundRows;
pub use segment::{Group, Segment};
