//! The tests of the core from outside, as one program: each program of its own would be optimised anew.

mod batches;
mod bijection;
mod json_tools;
mod ledger;
mod long_runs;
mod mesh_and_launch;
mod originals;
mod packing;
mod properties;
mod readings;
mod shards;
mod state;
mod steps;
