//! The engine that calls the linked core.

use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::check_limit;
pub use crate::generated::native::*;
use crate::{Error, Failure};

/// In place of an instance of the component. The core uses the memory of the process, without a limit.
pub(crate) struct Instance(());

impl Instance {
    pub(crate) fn new(memory_limit: usize) -> Result<Self, Error> {
        check_limit(memory_limit)?;
        Ok(Self(()))
    }

    /// Calls a function that returns no `result`.
    pub(crate) fn call<R>(&mut self, call: impl FnOnce() -> R) -> Result<R, Error> {
        Ok(call())
    }

    /// Calls a function that returns a `result`.
    pub(crate) fn ask<R>(&mut self, call: impl FnOnce() -> Result<R, types::Failure>) -> Result<R, Error> {
        call().map_err(Error::from)
    }
}

/// An object of the core. Threads may share it: their calls run one after the other.
///
/// The core is single-threaded: objects that are made from one another share tables, with reference counts that are not
/// atomic (`Rc`). All objects that come from one constructor form a family, and one lock lets only one of them be used
/// at a time, as in an instance of the component.
pub(crate) struct Object<T> {
    turn: Arc<Mutex<()>>,
    /// Boxed, so that an object is as small as an object of the component.
    own: ManuallyDrop<Box<T>>,
}

// SAFETY: an object shares its `Rc`s only with its family. No other non-`Send` value gets into a constructor or a call,
// or out of it, because captures and results are `Send`; and the core has no thread-local variables. Every use of an
// object, also its drop, holds the lock of the family.
#[allow(unsafe_code)]
unsafe impl<T> Send for Object<T> {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl<T> Sync for Object<T> {}

impl<T> Drop for Object<T> {
    fn drop(&mut self) {
        let _turn = locked(&self.turn);
        // SAFETY: nothing uses the object afterwards.
        #[allow(unsafe_code)]
        unsafe {
            ManuallyDrop::drop(&mut self.own);
        }
    }
}

impl<T> Object<T> {
    /// Makes an object by a constructor: the first of a family.
    pub(crate) fn make(_: Instance, make: impl FnOnce() -> Result<T, types::Failure> + Send) -> Result<Self, Error> {
        let own = make().map_err(Error::from)?;
        Ok(Self { turn: Arc::default(), own: ManuallyDrop::new(Box::new(own)) })
    }

    /// Makes another object from this one, in the same family.
    pub(crate) fn another<U>(
        &self,
        make: impl FnOnce(&T) -> Result<U, types::Failure> + Send,
    ) -> Result<Object<U>, Error> {
        let _turn = locked(&self.turn);
        let own = make(&self.own).map_err(Error::from)?;
        Ok(Object { turn: Arc::clone(&self.turn), own: ManuallyDrop::new(Box::new(own)) })
    }

    /// Calls a free function of the interface.
    pub(crate) fn beside<R>(&self, call: impl FnOnce(&mut Instance) -> Result<R, Error>) -> Result<R, Error> {
        call(&mut Instance(()))
    }

    /// The number of bytes of lists that can be passed: there is no limit.
    pub(crate) fn room(&self) -> usize {
        usize::MAX
    }

    /// Accepts a list of any length.
    pub(crate) fn check_room(&self, _: &str, _: usize, _: usize) -> Result<(), Failure> {
        Ok(())
    }

    /// Calls a method that returns no `result`.
    pub(crate) fn call<R: Send>(&self, call: impl FnOnce(&T) -> R + Send) -> Result<R, Error> {
        let _turn = locked(&self.turn);
        Ok(call(&self.own))
    }

    /// Calls a method that returns a `result`.
    pub(crate) fn ask<R: Send>(&self, call: impl FnOnce(&T) -> Result<R, types::Failure> + Send) -> Result<R, Error> {
        self.call(call)?.map_err(Error::from)
    }
}

/// Takes the lock of a family. A poisoned lock is no problem: a panic of the core is a defect, and leaves no
/// half-changed state.
fn locked(turn: &Mutex<()>) -> MutexGuard<'_, ()> {
    turn.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Accepts lists of any length.
pub(crate) fn check_room(_: usize, _: &str, _: usize, _: usize) -> Result<(), Failure> {
    Ok(())
}
