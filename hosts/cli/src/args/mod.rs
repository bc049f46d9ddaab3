//! Options that several subcommands share.

pub mod blend;
pub mod by_length;
pub mod dataset;
pub mod deal;
pub mod format;
pub mod member;
pub mod plan;
pub mod recipe;
pub mod resume;
pub mod split;
pub mod steps;
pub mod values;
