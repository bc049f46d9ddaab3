//! The tests of the host are one program: for several programs, the engine would be linked several times.

mod batches;
mod batches_orders;
mod collate;
#[cfg(feature = "component")]
mod component;
mod composed;
mod hostile;
mod hostile_batches;
mod hostile_plans;
mod iterators;
mod ledger;
mod places;
mod readings;
mod recipes;
#[cfg(feature = "serde")]
mod records;
mod schedules;
mod sharded;
mod shards;
mod splits;
mod states;
mod topics;
mod units;

use samedeal::{Error, FailureKind};

/// Whether the memory has a limit. The component has one; the linked core (`native`) has none.
const HAS_MEMORY_LIMIT: bool = cfg!(feature = "component");

/// The failure of a call that must fail, as kind and field.
#[track_caller]
fn failing<T: std::fmt::Debug>(result: Result<T, Error>) -> (FailureKind, String) {
    let error = result.unwrap_err();
    let failure = error.failure().unwrap_or_else(|| panic!("{error}"));
    (failure.kind.clone(), failure.field.clone())
}
