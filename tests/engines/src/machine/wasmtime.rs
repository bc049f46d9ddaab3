//! Core modules on wasmtime, with each of its compilers.

use wasmtime::{Config, Engine, ExternType, Instance, Linker, Memory, Module, Result, Store, Strategy, Val};

use super::{Machine, Word, part};

/// How wasmtime runs a module.
#[derive(Clone, Copy)]
pub enum Compiler {
    /// The optimising compiler.
    Cranelift,
    /// The compiler that makes one pass.
    Winch,
    /// Cranelift, for the machine of an interpreter.
    Pulley,
}

impl Compiler {
    pub fn engine(self) -> Result<Engine> {
        let mut config = Config::new();
        match self {
            Self::Cranelift => config.strategy(Strategy::Cranelift),
            Self::Winch => config.strategy(Strategy::Winch),
            Self::Pulley => config.target("pulley64")?,
        };
        Engine::new(&config)
    }
}

/// An instance on wasmtime.
pub struct Compiled {
    store: Store<()>,
    instance: Instance,
    memory: Memory,
}

impl Compiled {
    pub fn new(module: &Module) -> Result<Self> {
        let mut store = Store::new(module.engine(), ());
        let mut linker = Linker::new(module.engine());
        // A module imports no more than what makes a handle of a resource and the reverse; a handle is what it is made of.
        for import in module.imports() {
            let ExternType::Func(ty) = import.ty() else { panic!("{} is no function", import.name()) };
            linker.func_new(import.module(), import.name(), ty, |_, arguments, results| {
                results.clone_from_slice(&arguments[..results.len()]);
                Ok(())
            })?;
        }
        let instance = linker.instantiate(&mut store, module)?;
        let memory = instance.get_memory(&mut store, "memory").expect("a component has a memory");
        Ok(Self { store, instance, memory })
    }
}

impl Machine for Compiled {
    fn has(&mut self, function: &str) -> bool {
        self.instance.get_func(&mut self.store, function).is_some()
    }

    fn call(&mut self, function: &str, arguments: &[Word]) -> Option<Word> {
        let exported = self.instance.get_func(&mut self.store, function);
        let exported = exported.unwrap_or_else(|| panic!("the module exports no {function}"));
        let value = |word: &Word| match *word {
            Word::I32(number) => Val::I32(number.cast_signed()),
            Word::I64(number) => Val::I64(number.cast_signed()),
        };
        let arguments: Vec<Val> = arguments.iter().map(value).collect();
        let mut results = vec![Val::I32(0); exported.ty(&self.store).results().len()];
        let called = exported.call(&mut self.store, &arguments, &mut results);
        called.unwrap_or_else(|why| panic!("{function}{arguments:?}: {why:?}"));
        results.first().map(|result| match *result {
            Val::I32(number) => Word::I32(number.cast_unsigned()),
            Val::I64(number) => Word::I64(number.cast_unsigned()),
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
