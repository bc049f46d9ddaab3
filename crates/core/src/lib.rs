//! Order and deal: which sample goes to which rank at which step of a training run, as pure functions of a small
//! configuration.
//!
//! An [`order`](Order) maps every position of an epoch to a sample; a [`Deal`] says which positions belong to which
//! rank; a [`Sampler`] is the two together. `SPEC.md` of the repository defines every value down to the bit.
//!
//! The crate is `no_std`, has no unsafe code, and nothing that a caller passes to a [`Sampler`] makes it panic: every
//! failure is a [`Failure`] that names the value at fault and what is allowed. ([`Order`], below it, is for tests and
//! measurements, and relies on positions that a sampler has checked.)
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

pub mod batch;
mod config;
mod deal;
mod failure;
mod fingerprint;
mod key;
pub mod launch;
mod ledger;
mod memory;
mod mesh;
mod order;
mod sampler;
pub mod shards;
mod state;

pub use config::{Config, MAX_EXACT};
pub use deal::{Deal, Layout, Place, Remainder};
pub use failure::{Failure, Kind};
pub use ledger::{Event, EventKind, Ledger, Progress, Proposal};
pub use mesh::{Axis, Mesh, Role};
pub use order::{Index, Order, OrderId};
pub use sampler::{MAX_WINDOW, Round, Sampler};
