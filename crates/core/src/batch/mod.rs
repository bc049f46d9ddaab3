//! Batches of sequences of different length. Every rank takes the same number of steps. The batches of a step have
//! similar lengths, unless items keep the order of the epoch. By default, no batch costs more than its budget, and no
//! sample is lost.
//!
//! An epoch is cut into windows of neighbouring positions. A window is planned when a call needs it, from its own
//! samples alone: items that do not fill a step are treated within the window ([`Tail`]). So a plan of the whole
//! dataset is never in memory.

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
pub use config::{BatchConfig, Counting, NO_LIMIT, Strategy, Tail, TooLong};
pub use index::join_indices;
pub use locate::BatchPlace;
pub use metrics::Metrics;
pub use packing::{Class, Packing, Pattern, Patterns, histogram};
pub use recipe::BatchRecipe;
#[cfg(feature = "texts")]
pub(crate) use recipe::SECTIONS;
pub use run::Run;
pub use stream::BatchStream;
