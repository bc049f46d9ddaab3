//! Batches of sequences of different length, in a component that is compiled at the first use of any of it.

mod batcher;
mod builder;
mod config;
mod iter;
mod records;
mod stream;

pub use batcher::Batcher;
pub use builder::BatchBuilder;
pub use config::{BatchConfig, Buckets, Counting, Packing, Strategy, Stretch, Tail, TooLong};
pub use iter::RankBatches;
pub use records::{Batch, BatchPlace, Metrics};
pub use stream::{BatchStream, ReadyBatches};
