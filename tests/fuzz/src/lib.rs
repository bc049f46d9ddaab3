//! What the fuzzers share: their options, their report, documents that can be broken, and hostile values.

pub mod doc;
pub mod hostile;
pub mod report;
pub mod usage;
