use crate::engine::{Instance, MAX_TEXT, MOST_MEMORY};
use crate::{Error, Failure, TextKind};

/// What a text is, by the members that it has. The members are not checked. A recipe of whole shards, without a section `batch`, is that of
/// a plan.
///
/// ```
/// let state = samedeal::Sampler::new(1_000)?.state(10)?;
/// let found = samedeal::inspect(&state)?;
/// assert_eq!((found.form.as_str(), found.of.as_str()), ("state", "sampler"));
/// # Ok::<(), samedeal::Error>(())
/// ```
///
/// # Errors
///
/// [`WrongType`](crate::FailureKind::WrongType) (`text`: it is no JSON object, or none of these; `samedeal`, `kind`: another type), out of
/// range (`text`: more than 2^24 bytes; `samedeal`: another version), [`UnknownName`](crate::FailureKind::UnknownName) (`kind`: no kind of
/// state), out of memory.
pub fn inspect(text: &str) -> Result<TextKind, Error> {
    if text.len() > MAX_TEXT {
        let failure = Failure::out_of_range("text", format!("of {} bytes", text.len()), format!("up to {MAX_TEXT}"));
        return Err(failure.within(None, Some(MAX_TEXT as u64)).into());
    }
    let found =
        Instance::new(MOST_MEMORY)?.ask(|exports, store| exports.samedeal_deal_texts().call_inspect(store, text))?;
    Ok(found.into())
}
