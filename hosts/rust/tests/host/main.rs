//! The tests of the host, as one program: each program of its own would link the engine anew.

mod batches;
mod collate;
mod component;
mod hostile;
mod hostile_batches;
mod hostile_plans;
mod iterators;
mod ledger;
mod places;
mod readings;
mod recipes;
mod sharded;
mod shards;
mod states;

use samedeal::{Error, FailureKind};

/// The failure of a call that must fail, as kind and field.
#[track_caller]
fn failing<T: std::fmt::Debug>(result: Result<T, Error>) -> (FailureKind, String) {
    let error = result.unwrap_err();
    let failure = error.failure().unwrap_or_else(|| panic!("{error}"));
    (failure.kind.clone(), failure.field.clone())
}
