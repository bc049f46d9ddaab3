//! Deals an order to ranks: which rank takes which position of an epoch.

mod config;
mod dealt;
mod identity;
mod recipe;
mod rounds;
mod sampler;

pub use config::Config;
pub(crate) use dealt::REMAINDERS;
pub use dealt::{Deal, Layout, Place, Remainder};
pub use recipe::Recipe;
pub use rounds::Round;
pub use sampler::Sampler;
