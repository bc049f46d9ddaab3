//! Parts that all fuzzers share: random cases, options, reports, documents that can be changed, and hostile values.

pub mod ask;
pub mod corpus;
pub mod doc;
pub mod hostile;
pub mod mutate;
pub mod program;
pub mod report;
pub mod usage;
