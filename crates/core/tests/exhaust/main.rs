//! All small cases, in place of random ones: every epoch of a few items, on a few ranks, with every option and every
//! history. A default run has a part of the cases; `cargo xtask exhaust` runs all, in minutes.

mod batches;
mod samplers;
