//! Readers: every loader worker of every rank, each of which reads its part of an epoch of a dataset in shards.
//!
//! A [`Reading`] deals an epoch, or the rest of one, to a group of readers. It deals samples (in the order `sharded`,
//! in a composed order, or as they are stored), or whole shards. A loader takes batches from the workers of its rank in
//! turn; a turn is one batch of each worker. In the middle of a turn, the samples that were read are not the first ones
//! of the epoch. So a state has two parts: the number of positions that were consumed when the turn began, and the
//! steps that every rank took since. The same readers continue with their own samples; to other readers, the rest is
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

#[cfg(feature = "texts")]
pub(crate) use advice::{ASSUMED_WORKERS, MAX_VARIANCE_RATIO};
pub use advice::{MixingAdvice, SuggestedLanes};
pub use batches::ReadBatch;
pub use reading::{ReadRound, Reading};
#[cfg(feature = "texts")]
pub(crate) use recipe::SECTIONS;
pub use rows::RoundRows;
#[cfg(feature = "texts")]
pub(crate) use segment::MAX_WORKERS;
pub use segment::{Group, Segment};
