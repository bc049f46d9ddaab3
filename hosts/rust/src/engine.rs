use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

#[cfg(not(feature = "cache"))]
use wasmtime::component::Component;
use wasmtime::component::{InstancePre, Linker, ResourceAny};
use wasmtime::{Config, Engine, ResourceLimiter};

use crate::{EngineError, Error, Failure};

mod bindings {
    #![allow(missing_docs, unsafe_code)]
    wasmtime::component::bindgen!({ path: "wit", world: "samedeal" });
}
pub(crate) use bindings::Samedeal;
use bindings::SamedealPre;
pub(crate) use bindings::exports::samedeal::deal::{
    batches, collation, launch, ledger, mesh, read, sampling, shards, steps, texts, types,
};

/// The least memory limit: what a component begins with, and room for a few windows.
pub(crate) const LEAST_MEMORY: usize = 32 << 20;

/// The most memory that a component can use, whatever its limit.
pub(crate) const MOST_MEMORY: usize = 2 << 30;

/// What a component holds before it is given anything, and needs for everything small after it.
const RESERVED: usize = 2 << 20;

/// What lists leave of the memory once it is in use, so that the component can answer.
const TO_ANSWER: usize = 128 << 10;

/// What lists may take in any case: the component keeps twice as much free for the next call.
const ALWAYS_FREE: usize = 32 << 10;

/// How many characters of a text are passed on: one more than what a failure shows.
const LONGEST_TEXT: usize = 65;

/// How far the memory of an instance has grown, and how far it may.
pub struct Memory {
    limit: usize,
    size: usize,
}

impl Memory {
    /// How many bytes of lists can be passed.
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

/// Where an instance lives.
pub type Store = wasmtime::Store<Memory>;

/// The component, as it is published.
pub static COMPONENT: &[u8] = include_bytes!("../samedeal.wasm");

/// The component as machine code. It is compiled at the first use in a process, and kept until that ends.
fn compiled() -> Result<&'static SamedealPre<Memory>, Error> {
    static COMPILED: OnceLock<Result<SamedealPre<Memory>, EngineError>> = OnceLock::new();
    let compile = || SamedealPre::new(compile(COMPONENT)?);
    COMPILED
        .get_or_init(|| compile().map_err(|error| EngineError::new(&error)))
        .as_ref()
        .map_err(|error| Error::Engine(error.clone()))
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
        // By default an instance reserves 4 GiB, which no address of 32 bits leaves, so that no access is checked.
        config.memory_reservation(8 << 20).memory_guard_size(64 << 10).memory_reservation_for_growth(64 << 20);
    }
    config
}

/// Why there is no instance: it imports nothing, so that nothing but address space can be missing.
fn no_space(memory_limit: usize, error: &wasmtime::Error) -> Error {
    let reserved = if is_space_limited() { 8 } else { 4096 };
    let space = format!("no address space (`ulimit -v`) is left, of which each reserves {reserved} MiB");
    Failure::out_of_memory("memory-limit", memory_limit, format!("fewer objects at a time: {space} ({error})")).into()
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
    /// What stopped it. A component that has trapped must not be entered again.
    stopped: Option<EngineError>,
}

impl Instance {
    /// An instance whose memory may grow to `memory_limit` bytes.
    pub(crate) fn new(memory_limit: usize) -> Result<Self, Error> {
        if memory_limit < LEAST_MEMORY {
            let allowed = format!("at least {LEAST_MEMORY} bytes");
            let failure = Failure::out_of_range("memory-limit", memory_limit, allowed);
            return Err(failure.within(Some(LEAST_MEMORY as u64), None).into());
        }
        let compiled = compiled()?;
        let mut store = Store::new(compiled.engine(), Memory { limit: memory_limit, size: 0 });
        store.limiter(|memory| memory);
        // What a call hands out is bounded by the memory of the instance.
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

    /// Calls an export that can fail by its arguments.
    pub(crate) fn ask<T>(
        &mut self,
        call: impl FnOnce(&Samedeal, &mut Store) -> wasmtime::Result<Result<T, types::Failure>>,
    ) -> Result<T, Error> {
        self.call(call)?.map_err(|failure| Error::Failure(failure.into()))
    }
}

/// A resource of the component, in an instance of its own, or of the object that it was made from. Threads may share it; they
/// take turns.
pub(crate) struct Object {
    instance: Arc<Mutex<Instance>>,
    resource: ResourceAny,
}

impl Drop for Object {
    fn drop(&mut self) {
        // The last object of an instance goes with all of it.
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

impl Object {
    /// What `make` makes.
    pub(crate) fn new(
        memory_limit: usize,
        make: impl FnOnce(&Samedeal, &mut Store) -> wasmtime::Result<Result<ResourceAny, types::Failure>>,
    ) -> Result<Self, Error> {
        let mut instance = Instance::new(memory_limit)?;
        let resource = instance.ask(make)?;
        Ok(Self { instance: Arc::new(Mutex::new(instance)), resource })
    }

    /// What a method makes, in the same instance.
    pub(crate) fn another(
        &self,
        make: impl FnOnce(&Samedeal, &mut Store, ResourceAny) -> wasmtime::Result<Result<ResourceAny, types::Failure>>,
    ) -> Result<Self, Error> {
        let resource = self.ask(make)?;
        Ok(Self { instance: Arc::clone(&self.instance), resource })
    }

    /// How many bytes of lists can be passed to it as it stands: more would stop the component before it can say so.
    pub(crate) fn room(&self) -> usize {
        self.locked().store.data().room()
    }

    /// Whether a list of `bytes` bytes can be passed to it as it stands.
    pub(crate) fn check_room(&self, field: &str, count: usize, bytes: usize) -> Result<(), Failure> {
        if bytes <= self.room() { Ok(()) } else { Err(Failure::out_of_memory(field, count, "fewer at a time")) }
    }

    fn locked(&self) -> MutexGuard<'_, Instance> {
        // A panic within a call leaves nothing half-done on this side that the next call would see.
        self.instance.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls a method that cannot fail by its arguments.
    pub(crate) fn call<T>(
        &self,
        call: impl FnOnce(&Samedeal, &mut Store, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        self.locked().call(|exports, store| call(exports, store, self.resource))
    }

    /// Calls a method that can.
    pub(crate) fn ask<T, F: Into<Failure>>(
        &self,
        call: impl FnOnce(&Samedeal, &mut Store, ResourceAny) -> wasmtime::Result<Result<T, F>>,
    ) -> Result<T, Error> {
        self.call(call)?.map_err(|failure| Error::Failure(failure.into()))
    }
}

/// Whether lists of `bytes` bytes, `count` items together, fit into a fresh instance: a list that does not would stop
/// the component before it can say so.
pub(crate) fn check_room(memory_limit: usize, field: &str, count: usize, bytes: usize) -> Result<(), Failure> {
    let room = memory_limit.min(MOST_MEMORY).saturating_sub(RESERVED);
    // A limit that is too low for anything is refused as such, by the instance.
    if bytes <= room || memory_limit < LEAST_MEMORY {
        return Ok(());
    }
    Err(Failure::out_of_memory(field, count, format!("what fits into {room} bytes of memory")))
}

/// A state, if it is not longer than any, and fits into the `room` that there is: what does not fit into the memory would stop the component
/// before it can say so.
pub(crate) fn checked_state(state: &str, room: usize) -> Result<&str, Failure> {
    check_text("state", state)?;
    if state.len() > room {
        let value = format!("of {} bytes", state.len());
        return Err(Failure::out_of_memory("state", value, format!("what fits into {room} bytes of memory")));
    }
    Ok(state)
}

/// Whether a text is not longer than any.
pub(crate) fn check_text(field: &str, text: &str) -> Result<(), Failure> {
    if text.len() <= MAX_TEXT {
        return Ok(());
    }
    let failure = Failure::out_of_range(field, format!("of {} bytes", text.len()), format!("up to {MAX_TEXT}"));
    Err(failure.within(None, Some(MAX_TEXT as u64)))
}

/// The most bytes of a recipe, of a state, and of an entry of a log.
pub(crate) const MAX_TEXT: usize = 1 << 24;

/// Takes off what nobody looks at: no name has so many characters, a failure shows no more of them, and a text that
/// does not fit into the memory would stop the component before it can say so.
pub(crate) fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST_TEXT) {
        text.truncate(end);
    }
    text
}

/// An entry of a log, without what makes it too long: what does not fit into the memory would stop the component before it can say so.
pub(crate) fn cut_entry(entry: &str) -> &str {
    if entry.len() <= MAX_TEXT { entry } else { &entry[..entry.ceil_char_boundary(MAX_TEXT + 1)] }
}
