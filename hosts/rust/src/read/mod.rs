//! What every loader worker of every rank reads of an epoch of a dataset in shards, or of what is left of it.

mod builder;
mod reading;
mod records;
mod rounds;

pub use builder::{Deal, ReadingBuilder};
pub use reading::Reading;
pub use records::{MixingAdvice, ReadBatch, ReadRound, ReadSpan, RoundRows};
pub use rounds::Rounds;

/// What a call of the component hands out at a time: little memory, and few crossings.
const WINDOW: u32 = 1 << 16;
