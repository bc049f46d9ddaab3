//! Which samples each loader worker of each rank reads from a dataset in shards, in a whole epoch or in the rest of
//! one.

mod builder;
mod reading;
mod rounds;

pub use builder::{Deal, ReadingBuilder};
pub use reading::Reading;
pub use rounds::Rounds;

/// The samples that a call of the component hands out at a time: little memory, and few crossings.
const WINDOW: u32 = 1 << 16;
