//! The component `samedeal.wasm`: `samedeal-interface`, with the run-time functions that a component without the
//! standard library needs.
#![no_std]

extern crate alloc;

mod runtime;

#[allow(unsafe_code)]
mod exported {
    use samedeal_interface::{Component, bindings};
    bindings::export!(Component with_types_in bindings);
}
