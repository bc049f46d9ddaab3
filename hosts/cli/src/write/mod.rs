//! What the command says: tables, JSON, progress, problems.

pub mod items;
pub mod output;
pub mod problem;
pub mod progress;
