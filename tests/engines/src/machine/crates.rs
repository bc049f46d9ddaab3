//! Core modules on engines that are Rust crates.

use std::collections::BTreeMap;

use wasmtime::{Config, Engine, Result, Strategy};

use super::{Machine, Word, part};
use crate::cases;

/// The compiler with which wasmtime runs a module.
#[derive(Clone, Copy)]
pub enum Compiler {
    /// The optimising compiler.
    Cranelift,
    /// The compiler with a single pass.
    Winch,
    /// Cranelift, for the instruction set of an interpreter.
    #[cfg(feature = "interpreters")]
    Pulley,
}

impl Compiler {
    pub fn engine(self) -> Result<Engine> {
        let mut config = Config::new();
        match self {
            Self::Cranelift => config.strategy(Strategy::Cranelift),
            Self::Winch => config.strategy(Strategy::Winch),
            #[cfg(feature = "interpreters")]
            Self::Pulley => config.target("pulley64")?,
        };
        Engine::new(&config)
    }
}

/// Defines an instance on the engine of a crate, with its compiled modules. The crates use the same names, so one macro
/// writes the code for all of them.
macro_rules! machine {
    ($name:ident, $engine:ident, $instantiate:ident) => {
        pub struct $name {
            store: $engine::Store<()>,
            instance: $engine::Instance,
            memory: $engine::Memory,
        }

        impl cases::Engine for BTreeMap<&'static str, $engine::Module> {
            type Machine = $name;

            fn open(&self, component: &str) -> $name {
                $name::new(&self[component]).expect("a module imports no more than resources")
            }
        }

        impl $name {
            fn new(module: &$engine::Module) -> Result<Self, $engine::Error> {
                let mut store = $engine::Store::new(module.engine(), ());
                let mut linker = $engine::Linker::new(module.engine());
                // A module imports only functions that make a handle of a resource, or turn it back. A handle is the
                // number from which it is made, so both return their argument.
                for import in module.imports() {
                    let $engine::ExternType::Func(ty) = import.ty() else { panic!("{} is no function", import.name()) };
                    linker.func_new(import.module(), import.name(), ty.clone(), |_, arguments, results| {
                        results.clone_from_slice(&arguments[..results.len()]);
                        Ok(())
                    })?;
                }
                let instance = linker.$instantiate(&mut store, module)?;
                let memory = instance.get_memory(&mut store, "memory").expect("a component has a memory");
                Ok(Self { store, instance, memory })
            }
        }

        impl Machine for $name {
            fn has(&mut self, function: &str) -> bool {
                self.instance.get_func(&mut self.store, function).is_some()
            }

            fn call(&mut self, function: &str, arguments: &[Word]) -> Option<Word> {
                let exported = self.instance.get_func(&mut self.store, function);
                let exported = exported.unwrap_or_else(|| panic!("the module exports no {function}"));
                let value = |word: &Word| match *word {
                    Word::I32(number) => $engine::Val::I32(number.cast_signed()),
                    Word::I64(number) => $engine::Val::I64(number.cast_signed()),
                };
                let arguments: Vec<_> = arguments.iter().map(value).collect();
                let mut results = vec![$engine::Val::I32(0); exported.ty(&self.store).results().len()];
                let called = exported.call(&mut self.store, &arguments, &mut results);
                called.unwrap_or_else(|why| panic!("{function}{arguments:?}: {why:?}"));
                results.first().map(|result| match *result {
                    $engine::Val::I32(number) => Word::I32(number.cast_unsigned()),
                    $engine::Val::I64(number) => Word::I64(number.cast_unsigned()),
                    ref other => panic!("{function} returned {other:?}"),
                })
            }

            fn read(&mut self, address: u32, length: u32) -> Vec<u8> {
                self.memory()[part(address, length as usize)].to_vec()
            }

            fn write(&mut self, address: u32, bytes: &[u8]) {
                self.memory.data_mut(&mut self.store)[part(address, bytes.len())].copy_from_slice(bytes);
            }

            fn memory(&self) -> &[u8] {
                self.memory.data(&self.store)
            }
        }
    };
}

machine!(Compiled, wasmtime, instantiate);
#[cfg(feature = "interpreters")]
machine!(Interpreted, wasmi, instantiate_and_start);
