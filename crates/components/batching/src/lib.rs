//! The component `batching.wasm`: the world `batching` of `wit/` over `samedeal-core`. It converts, and computes nothing.
#![no_std]

extern crate alloc;

mod batches;
mod collation;
mod steps;

mod bindings {
    #![allow(missing_docs, unsafe_code)]
    wit_bindgen::generate!({ path: "../../../wit", world: "batching" });
    export!(Component with_types_in self);
    use super::Component;
}

struct Component;

samedeal_guest::convert_failures!(crate::bindings::exports::samedeal::deal::types);
