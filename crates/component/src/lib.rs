//! The component `samedeal.wasm`: the world `samedeal` of `wit/` over `samedeal-core`. It converts, and computes nothing.
#![no_std]

extern crate alloc;

mod batches;
mod collation;
mod launch;
mod ledger;
mod mesh;
mod read;
mod runtime;
mod sampling;
mod shards;
mod splits;
mod steps;

mod bindings {
    #![allow(missing_docs, unsafe_code)]
    wit_bindgen::generate!({ path: "../../wit", world: "samedeal" });
    export!(Component with_types_in self);
    use super::Component;
}

use bindings::exports::samedeal::deal::types;

struct Component;

impl From<samedeal_core::Failure> for types::Failure {
    fn from(failure: samedeal_core::Failure) -> Self {
        let fact = |samedeal_core::Fact { name, value }| types::Fact { name: name.into(), value };
        let facts = failure.facts().into_iter().map(fact).collect();
        let samedeal_core::Parts { kind, field, value, allowed, .. } = failure.into_parts();
        Self { kind: kind.name().into(), field: field.into(), value, allowed, facts }
    }
}
