//! Deals an order to ranks: which rank takes which position of an epoch.

mod blend;
mod config;
mod dealt;
mod recipe;
mod rounds;
mod sampler;
mod schedule;

pub use config::Config;
pub use dealt::{Deal, Layout, Place, Remainder};
pub(crate) use dealt::{LAYOUTS, MAX_UNIT, REMAINDERS, Rotation};
pub use recipe::Recipe;
pub use rounds::Round;
pub use sampler::Sampler;
pub use schedule::{Schedule, StepPlace};
