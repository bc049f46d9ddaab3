//! The tests of the public functions of the core, as one program: the core is optimised anew for every test program.

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
