//! Datasets in shards: plans deal whole shards to readers, and streams deal chunks without end.

mod balance;
mod locality;
mod names;
mod plan;
mod recipe;
mod stream;
mod verify;

pub use locality::Locality;
pub use names::{BalanceBy, Policy, Tier, WorkerPolicy};
pub use plan::{LoadSummary, Plan, PlanConfig};
pub(crate) use recipe::SHARDS;
pub use stream::{Stream, StreamConfig};
pub use verify::{Overlaps, ShardRuns, Verification, verify};
#[cfg(feature = "texts")]
pub(crate) use {recipe::SECTIONS, stream::SECTIONS as SECTIONS_OF_STREAMS};
