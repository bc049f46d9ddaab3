//! The component `samedeal.wasm`: `samedeal-interface`, with what a component without the standard library has to bring itself.
#![no_std]

extern crate alloc;

mod runtime;

#[allow(unsafe_code)]
mod exported {
    use samedeal_interface::{Component, bindings};
    bindings::export!(Component with_types_in bindings);
}
