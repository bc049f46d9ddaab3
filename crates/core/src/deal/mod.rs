//! Deals an order to ranks: which rank takes which position of an epoch.

mod config;
mod dealt;
mod order_part;
mod recipe;
mod rounds;
mod sampler;

pub use config::Config;
pub use dealt::{Deal, Layout, Place, Remainder};
pub(crate) use dealt::{LAYOUTS, REMAINDERS};
pub(crate) use order_part::{OrderPart, check_sums};
pub use recipe::Recipe;
pub use rounds::Round;
pub use sampler::Sampler;
