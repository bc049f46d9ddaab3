//! Batches of sequences of different length: the same number of steps on every rank, similar lengths within a step, no
//! batch over its budget, no sample lost.
//!
//! The samples of an epoch come in windows. A window is planned from its own samples alone, and its last steps take what does not fill one.
//! So any window is planned by itself, when it is asked for, and nothing of the size of a dataset is held.

mod balance;
mod batcher;
mod buckets;
pub mod collate;
mod config;
mod index;
mod items;
mod lengths;
mod locate;
mod metrics;
mod pack;
mod packing;
mod padded;
mod recipe;
mod rules;
mod run;
mod state;
mod steps;
mod stream;
mod window;

pub use batcher::{BatchShape, Batcher};
pub use buckets::Buckets;
pub use config::{BatchConfig, Counting, Strategy, Tail, TooLong};
pub use index::join_indices;
pub use locate::BatchPlace;
pub use metrics::Metrics;
pub use packing::{Class, Packing, Pattern, Patterns, histogram};
pub use recipe::BatchRecipe;
#[cfg(feature = "texts")]
pub(crate) use recipe::SECTIONS;
pub use run::Run;
pub use stream::BatchStream;
