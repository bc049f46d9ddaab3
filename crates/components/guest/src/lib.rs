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
                fn from(samedeal_core::Failure { kind, field, value, allowed }: samedeal_core::Failure) -> Self {
                    let kind = match kind {
                        samedeal_core::Kind::OutOfRange => types::FailureKind::OutOfRange,
                        samedeal_core::Kind::UnknownName => types::FailureKind::UnknownName,
                        samedeal_core::Kind::OutOfMemory => types::FailureKind::OutOfMemory,
                        samedeal_core::Kind::WrongType => types::FailureKind::WrongType,
                        samedeal_core::Kind::Missing => types::FailureKind::Missing,
                        samedeal_core::Kind::Contradiction => types::FailureKind::Contradiction,
                    };
                    Self { kind, field: field.into(), value, allowed }
                }
            }
        };
    };
}
