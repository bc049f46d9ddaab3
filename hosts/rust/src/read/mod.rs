//! Readings: the samples that each loader worker of each rank reads from a dataset in shards, in a whole epoch or in
//! the rest of one.

mod builder;
mod reading;
mod rounds;

pub use builder::{Deal, ReadingBuilder};
pub use reading::Reading;
pub use rounds::Rounds;

/// Number of samples that one call of the component returns: small enough for little memory, large enough for few
/// calls.
const WINDOW: u32 = 1 << 16;
