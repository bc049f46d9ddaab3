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
mod texts;

mod bindings {
    #![allow(missing_docs, unsafe_code)]
    wit_bindgen::generate!({ path: "../../wit", world: "samedeal" });
    export!(Component with_types_in self);
    use super::Component;
}

use alloc::vec::Vec;

use bindings::exports::samedeal::deal::types;

struct Component;

/// The lists beside a recipe, as the core takes them.
fn beside(lists: &[types::NamedList]) -> Vec<samedeal_core::List<'_>> {
    lists.iter().map(|list| (&*list.name, &*list.numbers)).collect()
}

impl From<samedeal_core::Spans> for types::Spans {
    fn from(spans: samedeal_core::Spans) -> Self {
        let samedeal_core::Spans { lane, shard, first_row, num_rows } = spans;
        Self { lane, shard, first_row, num_rows }
    }
}

impl From<samedeal_core::Failure> for types::Failure {
    fn from(failure: samedeal_core::Failure) -> Self {
        let fact = |samedeal_core::Fact { name, value }| types::Fact { name: name.into(), value };
        let facts = failure.facts().into_iter().map(fact).collect();
        let samedeal_core::Parts { kind, field, value, allowed, .. } = failure.into_parts();
        Self { kind: kind.name().into(), field: field.into(), value, allowed, facts }
    }
}
