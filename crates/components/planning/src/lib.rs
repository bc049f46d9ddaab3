//! The component `planning.wasm`: the world `planning` of `wit/` over `samedeal-core`. It converts, and computes nothing.
#![no_std]

extern crate alloc;

mod ledger;
mod read;
mod shards;
mod splits;

mod bindings {
    #![allow(missing_docs, unsafe_code)]
    wit_bindgen::generate!({ path: "../../../wit", world: "planning" });
    export!(Component with_types_in self);
    use super::Component;
}

struct Component;

samedeal_guest::convert_failures!(crate::bindings::exports::samedeal::deal::types);
