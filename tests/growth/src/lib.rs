//! The tests of this crate: hosts of an earlier interface against components that have more.
