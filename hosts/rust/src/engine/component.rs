//! The engine that runs the component, in instances of wasmtime.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

#[cfg(not(feature = "cache"))]
use wasmtime::component::Component;
use wasmtime::component::{InstancePre, Linker, ResourceAny};
use wasmtime::{Config, Engine, ResourceLimiter};

use super::{LEAST_MEMORY, MOST_MEMORY, check_limit};
use crate::{EngineError, Error, Failure};

mod bindings {
    #![allow(missing_docs, unsafe_code)]
    wasmtime::component::bindgen!({ path: "wit", world: "samedeal" });
}
pub use crate::generated::component::*;
pub(crate) use bindings::exports::samedeal::deal as exports;
use bindings::{Samedeal, SamedealPre};

/// Bytes that a component uses before its first call, with room for all small allocations of later calls.
const RESERVED: usize = 2 << 20;

/// Bytes that must stay free when lists are passed, so that the component can still answer.
const TO_ANSWER: usize = 128 << 10;

/// Bytes of lists that can always be passed: the component keeps twice as many bytes free for the next call.
const ALWAYS_FREE: usize = 32 << 10;

/// The size and the limit of an instance's memory.
pub struct Memory {
    limit: usize,
    size: usize,
}

impl Memory {
    /// The number of bytes of lists that can be passed now.
    fn room(&self) -> usize {
        self.limit.min(MOST_MEMORY).saturating_sub(self.size + TO_ANSWER).max(ALWAYS_FREE)
    }
}

impl ResourceLimiter for Memory {
    fn memory_growing(&mut self, _: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let allowed = desired <= self.limit.min(maximum.unwrap_or(usize::MAX));
        if allowed {
            self.size = desired;
        }
        Ok(allowed)
    }

    fn table_growing(&mut self, _: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(maximum.is_none_or(|maximum| desired <= maximum))
    }
}

/// The store of an instance.
pub type Store = wasmtime::Store<Memory>;

/// The bytes of the component, as it is published.
pub static COMPONENT: &[u8] = include_bytes!("../../samedeal.wasm");

/// The component as machine code. It is compiled, or loaded from the cache, at the first use in a process, and stays
/// until the process ends.
fn compiled() -> Result<&'static SamedealPre<Memory>, Error> {
    static COMPILED: OnceLock<Result<SamedealPre<Memory>, EngineError>> = OnceLock::new();
    let compile = || SamedealPre::new(compile(COMPONENT)?);
    COMPILED
        .get_or_init(|| compile().map_err(|error| EngineError::new(&error)))
        .as_ref()
        .map_err(|error| Error::Engine(error.clone()))
}

/// Loads or compiles the component, unless this process has its machine code already.
#[cfg(feature = "cache")]
pub(crate) fn prepare() -> Result<(), Error> {
    compiled().map(drop)
}

fn compile(component: &[u8]) -> wasmtime::Result<InstancePre<Memory>> {
    let engine = Engine::new(&config())?;
    #[cfg(feature = "cache")]
    let component = crate::cache::compiled(&engine, component)?;
    #[cfg(not(feature = "cache"))]
    let component = Component::new(&engine, component)?;
    // The linker stays empty: a component imports nothing.
    Linker::new(&engine).instantiate_pre(&component)
}

fn config() -> Config {
    let mut config = Config::new();
    if is_space_limited() {
        // By default an instance reserves 4 GiB of address space: no 32-bit address is outside it, so accesses need no
        // check. With a limit on the address space, less is reserved, and accesses are checked.
        config.memory_reservation(8 << 20).memory_guard_size(64 << 10).memory_reservation_for_growth(64 << 20);
    }
    // By default the engine writes the first content of a memory, which is a part of the component, into a file in
    // memory, from which each instance maps it in half of the time of a copy. Where that file could be too large,
    // instances get copies.
    config.memory_init_cow(most_bytes().is_none_or(|most| most >= COMPONENT.len() as u64));
    config
}

/// The most bytes that a file of this process may have (`ulimit -f`), if there is a limit. Writing more would end the
/// program (SIGXFSZ).
#[cfg(unix)]
pub(crate) fn most_bytes() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current
}

#[cfg(not(unix))]
pub(crate) fn most_bytes() -> Option<u64> {
    None
}

/// The failure of a new instance. The component imports nothing, so only address space can be missing.
fn no_space(memory_limit: usize, error: &wasmtime::Error) -> Error {
    let reserved = if is_space_limited() { 8 } else { 4096 };
    let space = format!("no address space (`ulimit -v`) is left, of which each reserves {reserved} MiB");
    Failure::out_of_memory("memory_limit", memory_limit, format!("fewer objects at a time: {space} ({error})")).into()
}

/// Whether the address space of this process has a limit (`ulimit -v`).
#[cfg(unix)]
fn is_space_limited() -> bool {
    rustix::process::getrlimit(rustix::process::Resource::As).current.is_some()
}

#[cfg(not(unix))]
fn is_space_limited() -> bool {
    false
}

/// The component with a memory of its own.
pub(crate) struct Instance {
    store: Store,
    exports: Samedeal,
    /// The trap that ended this instance, if one did. A component that has trapped must not be entered again.
    stopped: Option<EngineError>,
}

impl Instance {
    /// An instance whose memory may grow to `memory_limit` bytes.
    pub(crate) fn new(memory_limit: usize) -> Result<Self, Error> {
        check_limit(memory_limit)?;
        let compiled = compiled()?;
        let mut store = Store::new(compiled.engine(), Memory { limit: memory_limit, size: 0 });
        store.limiter(|memory| memory);
        // Results need no limit of their own: they are not larger than the memory of the instance.
        store.set_hostcall_fuel(usize::MAX);
        let exports = compiled.instantiate(&mut store).map_err(|error| no_space(memory_limit, &error))?;
        Ok(Self { store, exports, stopped: None })
    }

    /// Calls an export, unless an earlier call stopped the instance.
    pub(crate) fn call<T>(
        &mut self,
        call: impl FnOnce(&Samedeal, &mut Store) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        if let Some(cause) = &self.stopped {
            return Err(Error::Engine(cause.repeated()));
        }
        call(&self.exports, &mut self.store).map_err(|error| {
            let error = EngineError::new(&error);
            self.stopped = Some(error.clone());
            Error::Engine(error)
        })
    }

    /// Calls an export that returns a `result`.
    pub(crate) fn ask<T>(
        &mut self,
        call: impl FnOnce(&Samedeal, &mut Store) -> wasmtime::Result<Result<T, types::Failure>>,
    ) -> Result<T, Error> {
        self.call(call)?.map_err(Error::from)
    }
}

/// A resource of the component. It has an instance of its own, or shares the instance of the object from which it was
/// made. Threads may share it: their calls run one after the other.
pub(crate) struct Object<T> {
    instance: Arc<Mutex<Instance>>,
    resource: ResourceAny,
    kind: PhantomData<T>,
}

impl<T> Drop for Object<T> {
    fn drop(&mut self) {
        // The last object of an instance needs no call: the whole instance is dropped.
        if Arc::strong_count(&self.instance) > 1 {
            let mut instance = self.instance.lock().unwrap_or_else(PoisonError::into_inner);
            if instance.stopped.is_none()
                && let Err(error) = self.resource.resource_drop(&mut instance.store)
            {
                instance.stopped = Some(EngineError::new(&error));
            }
        }
    }
}

impl<T> Object<T> {
    /// Makes an object by a constructor.
    pub(crate) fn make(
        mut instance: Instance,
        make: impl FnOnce(&Samedeal, &mut Store) -> wasmtime::Result<Result<ResourceAny, types::Failure>>,
    ) -> Result<Self, Error> {
        let resource = instance.ask(make)?;
        Ok(Self { instance: Arc::new(Mutex::new(instance)), resource, kind: PhantomData })
    }

    /// Makes another object from this one, in the same instance.
    pub(crate) fn another<U>(
        &self,
        make: impl FnOnce(&Samedeal, &mut Store, ResourceAny) -> wasmtime::Result<Result<ResourceAny, types::Failure>>,
    ) -> Result<Object<U>, Error> {
        let resource = self.ask(make)?;
        Ok(Object { instance: Arc::clone(&self.instance), resource, kind: PhantomData })
    }

    /// Calls a free function of the interface in this instance.
    pub(crate) fn beside<R>(&self, call: impl FnOnce(&mut Instance) -> Result<R, Error>) -> Result<R, Error> {
        call(&mut self.locked())
    }

    /// The number of bytes of lists that can be passed now. With more, the component would trap and could return no
    /// failure.
    pub(crate) fn room(&self) -> usize {
        self.locked().store.data().room()
    }

    /// An error if a list of `bytes` bytes cannot be passed now.
    pub(crate) fn check_room(&self, field: &str, count: usize, bytes: usize) -> Result<(), Failure> {
        if bytes <= self.room() { Ok(()) } else { Err(Failure::out_of_memory(field, count, "fewer at a time")) }
    }

    fn locked(&self) -> MutexGuard<'_, Instance> {
        // A poisoned lock is no problem: a panic within a call leaves no half-changed state here.
        self.instance.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls a method that returns no `result`.
    pub(crate) fn call<R>(
        &self,
        call: impl FnOnce(&Samedeal, &mut Store, ResourceAny) -> wasmtime::Result<R>,
    ) -> Result<R, Error> {
        self.locked().call(|exports, store| call(exports, store, self.resource))
    }

    /// Calls a method that returns a `result`.
    pub(crate) fn ask<R>(
        &self,
        call: impl FnOnce(&Samedeal, &mut Store, ResourceAny) -> wasmtime::Result<Result<R, types::Failure>>,
    ) -> Result<R, Error> {
        self.call(call)?.map_err(Error::from)
    }
}

/// An error if lists of `bytes` bytes, with `count` items together, do not fit into a new instance. Larger lists would
/// make the component trap, so that it could return no failure.
pub(crate) fn check_room(memory_limit: usize, field: &str, count: usize, bytes: usize) -> Result<(), Failure> {
    let room = memory_limit.min(MOST_MEMORY).saturating_sub(RESERVED);
    // A memory limit below the least one passes here: [`Instance::new`] refuses it with the right failure.
    if bytes <= room || memory_limit < LEAST_MEMORY {
        return Ok(());
    }
    Err(Failure::out_of_memory(field, count, format!("what fits into {room} bytes of memory")))
}
