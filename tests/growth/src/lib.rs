//! The tests of this crate: hosts of an earlier interface against a component that has more.
