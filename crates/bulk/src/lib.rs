//! The loops of samedeal-core over many numbers: sorts, and a permutation of many positions at once.
//!
//! The core is built for size, and generic code is built as the crate that uses it is. This crate is built for speed, so it has functions
//! of fixed types alone. Whatever is called for each of many numbers belongs here, and nothing else: a host compiles all of it when it starts.
#![no_std]
#![forbid(unsafe_code)]

mod divide;
mod gaps;
mod halves;
mod lanes;
mod network;
mod sort;

pub use divide::{Divisor, SMALL};
pub use gaps::add_counts;
pub use halves::{Item, halve, item, unpacked};
pub use network::{MULTIPLIERS, Network, ROUNDS, mix};
pub use sort::{longest_first, numbers, numbers_with, numbers128};
