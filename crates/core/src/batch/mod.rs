//! Batches of sequences of different length: the same number of steps on every rank, similar lengths within a step, no
//! batch over its budget, no sample lost.
//!
//! Items (samples, or parts of them) come in the order of the epoch, in windows. A strategy makes steps of a window and
//! hands back what does not fill one; that comes first in the next window. So a plan holds where windows begin, and any step
//! is found by planning its window again.

mod balance;
mod boundaries;
pub mod collate;
mod config;
mod items;
mod metrics;
mod pack;
mod packing;
mod padded;
mod plan;
mod run;
mod steps;
mod stream;
mod window;

pub use boundaries::{boundaries_of_quantiles, boundaries_of_width};
pub use config::{BatchConfig, Count, Strategy, Tail, TooLong};
pub use metrics::Metrics;
pub use packing::{Class, Method, Packing, Pattern, histogram};
pub use plan::Batches;
pub use run::Run;
pub use stream::BatchStream;
