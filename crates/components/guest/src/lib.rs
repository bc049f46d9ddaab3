//! What every component brings: the runtime that makes it import nothing, and failures as its interface has them.
#![no_std]

extern crate alloc;

mod runtime;

/// Makes `samedeal_core::Failure` a failure of the interface: `types` is that module of the component's bindings.
#[macro_export]
macro_rules! convert_failures {
    ($types:path) => {
        const _: () = {
            use $types as types;

            impl From<samedeal_core::Failure> for types::Failure {
                fn from(failure: samedeal_core::Failure) -> Self {
                    let fact = |samedeal_core::Fact { name, value }| types::Fact { name: name.into(), value };
                    let facts = failure.facts().into_iter().map(fact).collect();
                    let samedeal_core::Parts { kind, field, value, allowed, .. } = failure.into_parts();
                    Self { kind: kind.name().into(), field: field.into(), value, allowed, facts }
                }
            }
        };
    };
}
