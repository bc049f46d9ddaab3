//! The world `samedeal` of `wit/`, implemented with `samedeal-core`: for the component, and for the crate `samedeal`
//! with its feature `native`. This crate converts types, and computes nothing.
#![no_std]

extern crate alloc;

pub mod batches;
pub mod collation;
pub mod launch;
pub mod ledger;
pub mod mesh;
pub mod readings;
pub mod sampling;
pub mod shards;
pub mod splits;
pub mod steps;
pub mod texts;

/// The types and traits of the interface, as wit-bindgen makes them for a component.
#[cfg(feature = "component")]
pub mod bindings {
    #![allow(missing_docs, unsafe_code)]
    wit_bindgen::generate!({
        path: "wit",
        world: "samedeal",
        pub_export_macro: true,
        default_bindings_module: "samedeal_interface::bindings",
    });
    pub use exports::samedeal::deal::*;
}

/// The types and traits of the interface in plain Rust.
#[cfg(not(feature = "component"))]
#[path = "generated/mod.rs"]
pub mod bindings;

use alloc::vec::Vec;

use bindings::types;

/// The type that implements the interfaces.
pub struct Component;

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
        let path = failure.path().into();
        let samedeal_core::Parts { kind, field, value, allowed, .. } = failure.into_parts();
        Self { kind: kind.name().into(), field: field.into(), path, value, allowed, facts }
    }
}
