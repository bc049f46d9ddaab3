//! Datasets stored in files: whole shards to readers, and one global order over all of them.

mod balance;
mod identity;
mod locality;
mod plan;
mod stream;
mod verify;

pub use locality::Locality;
pub(crate) use plan::check_bytes;
pub use plan::{Balance, Plan, PlanConfig, Policy, Tier, Weight, WorkerPolicy};
pub use stream::{Stream, StreamConfig};
pub use verify::{Verification, VerificationInRuns, verify, verify_in_runs};
