//! Whole shards to readers.

mod builder;
mod names;
mod plan;
mod records;
mod stream;
mod verify;

pub use builder::PlanBuilder;
pub use names::Tier;
pub use plan::ShardPlan;
pub use records::{LoadSummary, Loads};
pub use stream::{ChunkStream, ChunkStreamBuilder, Chunks};
pub use verify::{Overlap, Verification, verify_runs, verify_shards};

/// The numbers that a call of the component hands out at a time: little memory, and few crossings.
const WINDOW: u32 = 1 << 16;
