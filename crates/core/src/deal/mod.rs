//! Deals an order to ranks: which rank takes which position of an epoch.

mod blend;
mod config;
mod dealt;
mod fate;
pub(crate) mod recipe;
mod rounds;
mod sampler;
mod state;

pub use config::Config;
pub use dealt::{Deal, Layout, Place, Remainder};
pub(crate) use dealt::{REMAINDERS, Rotation};
pub use fate::Fate;
pub use recipe::Recipe;
#[cfg(feature = "texts")]
pub(crate) use recipe::SECTIONS;
pub(crate) use recipe::{DEAL, LAYOUT, READERS, REMAINDER, UNIT, WORKERS, WORLD_SIZE};
pub use rounds::Round;
pub use sampler::Sampler;
pub(crate) use state::{SamplerState, positions_of};
