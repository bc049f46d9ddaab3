//! The engine, which answers calls: the component in wasmtime, or the core, which is linked. Both have the same functions, so all other modules are the
//! same for both. The component is used if its feature is on, because it is what makes the promise.

#[cfg(feature = "component")]
mod component;
mod failure;
#[cfg(not(feature = "component"))]
mod native;

#[cfg(feature = "component")]
pub use component::*;
#[cfg(not(feature = "component"))]
pub use native::*;

use crate::{Error, Failure};

/// The least memory limit: what a component begins with, and room for a few windows.
pub(crate) const LEAST_MEMORY: usize = 32 << 20;

/// The most memory that a component can use, whatever its limit.
pub(crate) const MOST_MEMORY: usize = 2 << 30;

/// How many characters of a text are passed on: one more than what a failure shows.
const LONGEST_TEXT: usize = 65;

/// Whether a memory limit is in its range. The core has none when it is linked, and refuses the same ones.
fn check_limit(memory_limit: usize) -> Result<(), Error> {
    if memory_limit >= LEAST_MEMORY {
        return Ok(());
    }
    let allowed = format!("at least {LEAST_MEMORY} bytes");
    let failure = Failure::out_of_range("memory_limit", memory_limit, allowed);
    Err(failure.within(Some(LEAST_MEMORY as u64), None).into())
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
