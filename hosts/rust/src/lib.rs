#![doc = include_str!("../README.md")]
#![doc = include_str!("topics.md")]
#![warn(clippy::missing_errors_doc)]

mod batch;
mod batch_size;
mod blend;
mod builder;
#[cfg(feature = "cache")]
mod cache;
pub mod collate;
mod engine;
mod error;
mod generated;
pub mod guide;
mod index;
mod iter;
mod launch;
pub mod ledger;
mod members;
mod mesh;
mod named;
mod order;
mod place;
mod range;
mod read;
mod recipe;
mod sampler;
mod setters;
mod shard;
mod sharded;
mod split;
mod steps;
mod texts;

pub use batch::{
    Batch, BatchBuilder, BatchRecipe, BatchStream, Batcher, Lengths, Metrics, RankBatches, ReadyBatches, join_indices,
};
pub use batch_size::BatchSize;
pub use blend::SourceCounts;
pub use builder::Builder;
pub use error::{EngineError, Error, Failure, FailureKind, LengthsError, LogError};
pub use generated::{
    BalanceBy, BatchPlace, BatchShape, Counting, Detection, Difference, EpochPosition, Exhaustion, Fact, Fate,
    IndexSpace, Layout, MixingAdvice, Packing, Place, Policy, ReadBatch, ReadRound, Remainder, Round, RoundRows,
    ShardPlace, ShortEpochs, SourcePlace, StepPlace, Steps, Strategy, SuggestedLanes, Tail, TextKind, TooLong,
    WorkerPolicy,
};
pub use index::Index;
pub use iter::{Batches, Indices};
pub use launch::{detect_rank, detect_rank_in, rank_variables};
pub use mesh::{Axis, Mesh, Role};
pub use order::{Order, OrderOption, Share, Source, SourceOrder};
pub use place::Span;
pub use read::{Deal, Reading, ReadingBuilder, Rounds};
pub use sampler::Sampler;
pub use shard::{
    ChunkStream, ChunkStreamBuilder, Chunks, LoadSummary, Loads, Overlap, PlanBuilder, ShardPlan, Tier, Verification,
    verify_runs, verify_shards,
};

pub use split::{ExactSizes, Part, Split, SplitBuilder};
pub use steps::{Schedule, ScheduleBuilder, ScheduleSteps};
pub use texts::{differences, inspect, recipe_after, whole_weights};

/// The version of this crate and of the component in it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The engine that computes all values: `wasmtime` with its version, which runs the component, or `native`, the linked
/// core.
pub const ENGINE: &str = env!("SAMEDEAL_ENGINE");

#[cfg(feature = "cache")]
pub use cache::kept_code;

/// The bytes of the component `samedeal.wasm`, which computes all values.
#[cfg(feature = "component")]
pub static COMPONENT: &[u8] = engine::COMPONENT;

/// The names of the plain orders, which need only a number of samples and a seed; the default, `feistel`, is first. `sharded`
/// ([`Sampler::sharded`]) and the composed orders ([`Order`]) are not among them.
///
/// # Errors
///
/// Only errors of the engine.
pub fn plain_orders() -> Result<Vec<String>, Error> {
    engine::sampling::plain_orders(&mut engine::Instance::new(engine::LEAST_MEMORY)?)
}

/// Converts a ratio of the component, which is in parts per million.
fn of_millionths(ratio: u64) -> f64 {
    ratio as f64 / 1e6
}
