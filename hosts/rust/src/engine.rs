use std::sync::OnceLock;

use wasmtime::component::{Component, Linker, ResourceAny};
use wasmtime::{Engine, Store, StoreLimits, StoreLimitsBuilder};

use crate::{Config, EngineError, Error, Failure};

mod bindings {
    #![allow(missing_docs, unsafe_code)]
    wasmtime::component::bindgen!({ path: "wit", world: "samedeal" });
}
pub(crate) use bindings::exports::samedeal::deal::{sampling, types};
use bindings::{Samedeal, SamedealPre};

/// The component, as it was built.
static COMPONENT: &[u8] = include_bytes!("../samedeal.wasm");

/// The least memory limit: what the component begins with, and room for a few windows.
pub(crate) const LEAST_MEMORY: usize = 32 << 20;

/// How many characters of a name are passed on: one more than what a failure shows.
const LONGEST_NAME: usize = 65;

/// Compiled at the first use in a process and kept until it ends.
fn compiled() -> Result<&'static SamedealPre<StoreLimits>, Error> {
    static COMPILED: OnceLock<Result<SamedealPre<StoreLimits>, EngineError>> = OnceLock::new();
    let compile = || {
        let engine = Engine::default();
        let component = Component::new(&engine, COMPONENT)?;
        // The linker stays empty: the component imports nothing.
        SamedealPre::new(Linker::new(&engine).instantiate_pre(&component)?)
    };
    let compiled = COMPILED.get_or_init(|| compile().map_err(|error| EngineError::new(&error)));
    compiled.as_ref().map_err(|error| Error::Engine(error.clone()))
}

/// The component with a memory of its own.
pub(crate) struct Instance {
    store: Store<StoreLimits>,
    exports: Samedeal,
    /// What stopped it. A component that has trapped must not be entered again.
    stopped: Option<EngineError>,
}

impl Instance {
    /// An instance whose memory may grow to `memory_limit` bytes.
    pub(crate) fn new(memory_limit: usize) -> Result<Self, Error> {
        if memory_limit < LEAST_MEMORY {
            let allowed = format!("at least {LEAST_MEMORY} bytes");
            return Err(Failure::out_of_range("memory-limit", memory_limit, allowed).into());
        }
        let compiled = compiled()?;
        let limits = StoreLimitsBuilder::new().memory_size(memory_limit).build();
        let mut store = Store::new(compiled.engine(), limits);
        store.limiter(|limits| limits);
        match compiled.instantiate(&mut store) {
            Ok(exports) => Ok(Self { store, exports, stopped: None }),
            Err(error) => Err(Error::Engine(EngineError::new(&error))),
        }
    }

    /// Calls an export, unless an earlier call stopped the instance.
    pub(crate) fn call<T>(
        &mut self,
        call: impl FnOnce(&sampling::Guest, &mut Store<StoreLimits>) -> wasmtime::Result<T>,
    ) -> Result<T, Error> {
        if let Some(cause) = &self.stopped {
            return Err(Error::Engine(cause.repeated()));
        }
        call(self.exports.samedeal_deal_sampling(), &mut self.store).map_err(|error| {
            let error = EngineError::new(&error);
            self.stopped = Some(error.clone());
            Error::Engine(error)
        })
    }

    /// Makes a sampler within the instance.
    pub(crate) fn sampler(&mut self, mut config: Config) -> Result<ResourceAny, Error> {
        // No order has a name of this length, a failure shows no more of it, and a text that does not fit into the
        // memory would stop the component before it can say so.
        if let Some((end, _)) = config.order.char_indices().nth(LONGEST_NAME) {
            config.order.truncate(end);
        }
        let config = config.into();
        let made = self.call(|exports, store| exports.sampler().call_constructor(store, &config))?;
        made.map_err(|failure| Error::Failure(failure.into()))
    }
}
