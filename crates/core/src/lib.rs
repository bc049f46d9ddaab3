//! Order and deal: which sample goes to which rank at which step of a training run, as pure functions of a small
//! configuration.
//!
//! An [`order`](Order) maps every position of an epoch to a sample; a [`Deal`] says which positions belong to which
//! rank; a [`Sampler`] is the two together. `SPEC.md` of the repository defines every value down to the bit.
//!
//! The crate is `no_std` and has no unsafe code. No argument of a [`Sampler`] can make it panic: every failure is a
//! [`Failure`] with the value at fault and the allowed values. ([`Order`] is public for tests and measurements. It does
//! not check positions, because a sampler checks them.)
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

mod base;
pub mod batch;
mod deal;
mod document;
mod ledger;
mod order;
pub mod read;
pub mod shard;
mod split;
mod steps;
mod texts;
mod topology;

pub use base::{Fact, Failure, Kind, MAX_COUNT, MAX_EXACT, Parts};
pub use deal::{Config, Deal, Fate, Layout, Place, Recipe, Remainder, Round, Sampler};
pub use document::floats::whole_weights;
pub use document::lists::List;
pub use ledger::{ClaimedRun, Client, ClientOptions, Event, EventKind, Instruction, Ledger, Progress};
pub use order::{Index, Order, OrderId, Spans};
pub use split::{ExactSizes, Split};
pub use steps::{Schedule, StepPlace};
pub use texts::differences::{Difference, differences};
#[cfg(feature = "texts")]
pub use texts::limits::{LIMITS, Limit};
#[cfg(feature = "texts")]
pub use texts::meanings::meaning;
#[cfg(feature = "texts")]
pub use texts::tables::{Described, Needed, Page, Value, described, members, schema};
pub use texts::text::{TextKind, inspect, recipe_after};
pub use topology::{Axis, Mesh, Role, launch};
