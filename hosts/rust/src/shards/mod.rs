//! Whole shards to readers, in a component that is compiled at the first use of any of it.

mod builder;
mod config;
mod plan;
mod stream;
mod verify;

pub use builder::PlanBuilder;
pub use config::{Balance, Load, Locality, PlanConfig, Policy, Steps, Tier, Weight, WorkerPolicy};
pub use plan::ShardPlan;
pub use stream::{ChunkStream, ChunkStreamBuilder, Chunks};
pub use verify::{Overlap, Verification, VerificationInRuns, verify_in_runs, verify_runs, verify_shards};

/// What a call of the component hands out at a time: little memory, and few crossings.
const WINDOW: u32 = 1 << 16;
