//! Composed orders. Each has a length, random access and an inverse, so that it is dealt as any other order.

mod balance;
mod blend;
mod by_lane;
mod chairman;
mod copies;
mod grown;
mod items;
mod lane_cache;
mod lane_view;
mod lanes;
pub(super) mod names;
mod pattern;
pub(super) mod read;
mod same;
#[cfg(all(test, feature = "composed"))]
mod tests;
mod tree;
mod view;
mod weighted;
mod windows;
