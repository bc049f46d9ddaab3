//! Batches of sequences of different length: the same number of steps on every rank, similar lengths within a step, no
//! batch over its budget, no sample lost.
//!
//! Items (samples, or parts of them) come in the order of the epoch, in windows. A strategy makes steps of a window and
//! hands back what does not fill one; that comes first in the next window. So a plan holds where windows begin, and any step
//! is found by planning its window again.

mod bins;
mod config;
mod items;
mod pack;
mod padded;
mod plan;
mod steps;

pub use config::{BatchConfig, Count, Strategy, Tail, TooLong};
pub use plan::{Batch, Batches, Metrics};
