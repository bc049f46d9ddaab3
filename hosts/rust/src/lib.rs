#![doc = include_str!("../README.md")]

mod builder;
mod config;
mod engine;
mod error;
mod index;
mod iter;
mod sampler;

pub use builder::Builder;
pub use config::{Config, Layout, Place, Remainder};
pub use error::{EngineError, Error, Failure, FailureKind};
pub use index::Index;
pub use iter::{Batches, Indices};
pub use sampler::Sampler;

/// The version of this crate, and so of the component within it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What runs the component: `wasmtime` and its version.
pub const ENGINE: &str = env!("SAMEDEAL_ENGINE");

/// The names of the orders that this version knows, the default (`feistel`) first. Errors: the engine's alone.
pub fn orders() -> Result<Vec<String>, Error> {
    engine::Instance::new(engine::LEAST_MEMORY)?.call(|exports, store| exports.call_orders(store))
}
