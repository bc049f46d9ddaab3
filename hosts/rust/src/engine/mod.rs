//! The engine, which answers calls: the component in wasmtime (`component`), or the linked core (`native`). Both
//! modules have the same functions, so that all other modules work with either engine. If both features are on, the
//! component is used: it is the same binary in all hosts.

#[cfg(feature = "component")]
mod component;
mod failure;
#[cfg(not(feature = "component"))]
mod native;

#[cfg(feature = "component")]
pub use component::*;
#[cfg(not(feature = "component"))]
pub use native::*;

use crate::generated::MAX_TEXT;
use crate::{Error, Failure};

/// The least memory limit: the memory of a new component, and room for the lists of a few calls.
pub(crate) const LEAST_MEMORY: usize = 32 << 20;

/// The most memory that a component can use, whatever its limit.
pub(crate) const MOST_MEMORY: usize = 2 << 30;

/// Characters of a name that are passed to the component: one more than a failure shows.
const LONGEST_TEXT: usize = 65;

/// An error if a memory limit is out of its range. The linked core has no limit, but refuses the same values as the
/// component.
fn check_limit(memory_limit: usize) -> Result<(), Error> {
    if memory_limit >= LEAST_MEMORY {
        return Ok(());
    }
    let allowed = format!("at least {LEAST_MEMORY} bytes");
    let failure = Failure::out_of_range("memory_limit", memory_limit, allowed);
    Err(failure.within(Some(LEAST_MEMORY as u64), None).into())
}

/// The state, or an error if it has more than [`MAX_TEXT`] bytes or does not fit into `room` bytes. A text that does
/// not fit into the memory would make the component trap, so that it could return no failure.
pub(crate) fn checked_state(state: &str, room: usize) -> Result<&str, Failure> {
    check_text("state", state)?;
    if state.len() > room {
        let value = format!("of {} bytes", state.len());
        return Err(Failure::out_of_memory("state", value, format!("what fits into {room} bytes of memory")));
    }
    Ok(state)
}

/// An error if a text has more than [`MAX_TEXT`] bytes.
pub(crate) fn check_text(field: &str, text: &str) -> Result<(), Failure> {
    if text.len() <= MAX_TEXT {
        return Ok(());
    }
    let failure = Failure::out_of_range(field, format!("of {} bytes", text.len()), format!("up to {MAX_TEXT}"));
    Err(failure.within(None, Some(MAX_TEXT as u64)))
}

/// Cuts a name after [`LONGEST_TEXT`] characters. Known names are shorter, so a longer name and its beginning give the
/// same failure. A text that does not fit into the memory would make the component trap, so that it could return no
/// failure.
pub(crate) fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST_TEXT) {
        text.truncate(end);
    }
    text
}

/// An entry of a log, cut after one byte more than [`MAX_TEXT`], so that the component still refuses it as too long.
/// The whole text may not fit into the memory, and the component would trap.
pub(crate) fn cut_entry(entry: &str) -> &str {
    if entry.len() <= MAX_TEXT { entry } else { &entry[..entry.ceil_char_boundary(MAX_TEXT + 1)] }
}
