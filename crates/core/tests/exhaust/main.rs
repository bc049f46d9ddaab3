//! All small cases, not random ones: every epoch of a few items, on a few ranks, with every option and every history. The tests of the
//! default run are a part of it; `cargo xtask exhaust` runs all, in minutes.

mod batches;
mod samplers;
