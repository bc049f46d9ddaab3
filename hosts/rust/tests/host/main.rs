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
