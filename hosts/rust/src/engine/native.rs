//! The core, which is linked.

use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::check_limit;
pub use crate::generated::native::*;
use crate::{Error, Failure};

/// Stands for an instance of the component. The memory of the core is that of the process, and has no limit.
pub(crate) struct Instance(());

impl Instance {
    pub(crate) fn new(memory_limit: usize) -> Result<Self, Error> {
        check_limit(memory_limit)?;
        Ok(Self(()))
    }

    /// Calls a function that cannot fail by its arguments.
    pub(crate) fn call<R>(&mut self, call: impl FnOnce() -> R) -> Result<R, Error> {
        Ok(call())
    }

    /// Calls a function that can.
    pub(crate) fn ask<R>(&mut self, call: impl FnOnce() -> Result<R, types::Failure>) -> Result<R, Error> {
        call().map_err(Error::from)
    }
}

/// An object of the core. Threads may share it; they take turns.
///
/// The core is made for one thread: what is made of an object shares tables with it, and counts without a lock who has them. So all objects
/// that come from one constructor are a family, whose members take turns, as in an instance of the component.
pub(crate) struct Object<T> {
    turn: Arc<Mutex<()>>,
    /// Elsewhere, so that an object is as small as one of the component.
    own: ManuallyDrop<Box<T>>,
}

// SAFETY: an object shares what is for one thread with its family alone. A constructor and a call are given nothing else of this sort, and
// give nothing else of it out, since what they capture and return is `Send`; the core has no variables of threads. All that uses an object,
// its end too, has the turn of the family.
#[allow(unsafe_code)]
unsafe impl<T> Send for Object<T> {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl<T> Sync for Object<T> {}

impl<T> Drop for Object<T> {
    fn drop(&mut self) {
        let _turn = locked(&self.turn);
        // SAFETY: nothing uses it afterwards.
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

    /// Makes an object of this one, in the same family.
    pub(crate) fn another<U>(
        &self,
        make: impl FnOnce(&T) -> Result<U, types::Failure> + Send,
    ) -> Result<Object<U>, Error> {
        let _turn = locked(&self.turn);
        let own = make(&self.own).map_err(Error::from)?;
        Ok(Object { turn: Arc::clone(&self.turn), own: ManuallyDrop::new(Box::new(own)) })
    }

    /// Calls a function that is none of an object.
    pub(crate) fn beside<R>(&self, call: impl FnOnce(&mut Instance) -> Result<R, Error>) -> Result<R, Error> {
        call(&mut Instance(()))
    }

    /// How many bytes of lists can be passed to it: any.
    pub(crate) fn room(&self) -> usize {
        usize::MAX
    }

    /// Whether a list of so many bytes can be passed to it: any can.
    pub(crate) fn check_room(&self, _: &str, _: usize, _: usize) -> Result<(), Failure> {
        Ok(())
    }

    /// Calls a method that cannot fail by its arguments.
    pub(crate) fn call<R: Send>(&self, call: impl FnOnce(&T) -> R + Send) -> Result<R, Error> {
        let _turn = locked(&self.turn);
        Ok(call(&self.own))
    }

    /// Calls a method that can.
    pub(crate) fn ask<R: Send>(&self, call: impl FnOnce(&T) -> Result<R, types::Failure> + Send) -> Result<R, Error> {
        self.call(call)?.map_err(Error::from)
    }
}

/// The turn of a family. A core that panics has a defect, and leaves nothing half-done that the next call would see.
fn locked(turn: &Mutex<()>) -> MutexGuard<'_, ()> {
    turn.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether lists of so many bytes can be passed: any can.
pub(crate) fn check_room(_: usize, _: &str, _: usize, _: usize) -> Result<(), Failure> {
    Ok(())
}
