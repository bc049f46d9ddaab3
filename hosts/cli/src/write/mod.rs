//! What the command says: tables, JSON, progress, problems.

pub mod answer;
pub mod items;
pub mod output;
mod partial;
pub mod problem;
pub mod progress;
pub mod rows;
