//! Core modules on wasmi, an interpreter.

use wasmi::{Error, ExternType, Instance, Linker, Memory, Module, Store, Val};

use super::{Machine, Word, part};

/// An instance on wasmi.
pub struct Interpreted {
    store: Store<()>,
    instance: Instance,
    memory: Memory,
}

impl Interpreted {
    pub fn new(module: &Module) -> Result<Self, Error> {
        let mut store = Store::new(module.engine(), ());
        let mut linker = Linker::new(module.engine());
        for import in module.imports() {
            let ExternType::Func(ty) = import.ty() else { panic!("{} is no function", import.name()) };
            linker.func_new(import.module(), import.name(), ty.clone(), |_, arguments, results| {
                results.clone_from_slice(&arguments[..results.len()]);
                Ok(())
            })?;
        }
        let instance = linker.instantiate_and_start(&mut store, module)?;
        let memory = instance.get_memory(&store, "memory").expect("a component has a memory");
        Ok(Self { store, instance, memory })
    }
}

impl Machine for Interpreted {
    fn has(&mut self, function: &str) -> bool {
        self.instance.get_func(&self.store, function).is_some()
    }

    fn call(&mut self, function: &str, arguments: &[Word]) -> Option<Word> {
        let exported = self.instance.get_func(&self.store, function);
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
