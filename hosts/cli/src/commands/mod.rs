//! The subcommands, one a file.

pub mod batches;
pub mod blend;
pub mod diff;
pub mod explain;
pub mod ledger;
pub mod locate;
pub mod mesh;
pub mod numbers;
pub mod rank;
pub mod readers;
pub mod recipe;
pub mod replay;
pub mod schema;
pub mod shards;
pub mod shell;
pub mod split;
pub mod state;
pub mod step;
pub mod steps;
pub mod summaries;
pub mod verify;
