//! Plans: whole shards are assigned to readers.

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

/// Number of items that one call of the component returns: small enough for little memory, large enough for few calls.
const WINDOW: u32 = 1 << 16;
