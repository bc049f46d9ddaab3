//! The loops of samedeal-core over many numbers: sorts, and a permutation of many positions at once.
//!
//! The core is compiled for size, and this crate for speed. It has only functions of fixed types, because generic code
//! is compiled like the crate that uses it. Only code that runs for each of many numbers belongs here: a host compiles
//! all of it when it starts.
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
