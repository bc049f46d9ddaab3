//! What the fuzzers share: random cases, their options, their report, documents that can be broken, and hostile values.

pub mod ask;
pub mod corpus;
pub mod doc;
pub mod hostile;
pub mod mutate;
pub mod program;
pub mod report;
pub mod usage;
