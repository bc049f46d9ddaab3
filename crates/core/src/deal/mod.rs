//! Deals an order to ranks: which rank takes which position of an epoch.

mod blend;
mod config;
mod dealt;
mod fate;
mod recipe;
mod rounds;
mod sampler;
mod schedule;

pub use config::Config;
pub use dealt::{Deal, Layout, Place, Remainder};
pub(crate) use dealt::{LAYOUTS, MAX_UNIT, REMAINDERS, Rotation};
pub use fate::Fate;
pub use recipe::Recipe;
#[cfg(feature = "texts")]
pub(crate) use recipe::SECTIONS;
pub use rounds::Round;
pub use sampler::Sampler;
#[cfg(feature = "texts")]
pub(crate) use schedule::SECTIONS as SECTIONS_OF_STEPS;
pub use schedule::{Schedule, StepPlace};
