//! Batches of sequences of different length.

mod batcher;
mod builder;
mod index;
mod iter;
mod lengths;
mod recipe;
mod records;
mod stream;

pub use batcher::Batcher;
pub use builder::BatchBuilder;
pub use index::join_indices;
pub use iter::RankBatches;
pub use lengths::Lengths;
pub use recipe::BatchRecipe;
pub use records::{Batch, Metrics};
pub use stream::{BatchStream, ReadyBatches};
