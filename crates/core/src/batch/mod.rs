//! Batches of sequences of different length: the same number of steps on every rank, similar lengths within a step, no
//! batch over its budget, no sample lost.
//!
//! Items (samples, or parts of them) come in the order of the epoch, in windows. A strategy makes steps of a window and
//! hands back what does not fill one; that comes first in the next window. So a plan holds where windows begin, and any step
//! is found by planning its window again.

mod balance;
mod batcher;
mod buckets;
pub mod collate;
mod config;
mod items;
mod locate;
mod metrics;
mod pack;
mod packing;
mod padded;
mod plan;
mod recipe;
mod run;
mod state;
mod steps;
mod stream;
mod window;

pub use batcher::Batcher;
pub use buckets::Buckets;
pub use config::{BatchConfig, Counting, Segment, Strategy, Tail, TooLong};
pub use locate::BatchPlace;
pub use metrics::Metrics;
pub use packing::{Class, Packing, Pattern, Patterns, histogram};
pub use recipe::BatchRecipe;
#[cfg(feature = "texts")]
pub(crate) use recipe::SECTIONS;
pub use run::Run;
pub use stream::BatchStream;
