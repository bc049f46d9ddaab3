use crate::engine::{Instance, MOST_MEMORY, check_text, texts};
use crate::{Difference, Error, TextKind};

/// The kind of a text, by the members that it has. The members are not checked. A recipe of whole shards, without a section `batch`, is that of
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
    check_text("text", text)?;
    Ok(texts::inspect(&mut Instance::new(MOST_MEMORY)?, text)?.into())
}

/// The recipe of an object that goes on after a state: the sections that the state has, such as `order`, and those of `sections`, a JSON
/// object with what is not in a state, such as the section `deal`. `resume` of the object then goes to the place of the state. Lists that
/// the state has as a hash have to be set beside the recipe. The recipe is not checked.
///
/// ```
/// use samedeal::Sampler;
/// let state = Sampler::builder(1_000).seed(42).world_size(8).build()?.state(10)?;
/// let recipe = samedeal::recipe_after(&state, r#"{"deal": {"world_size": 2}}"#)?;
/// let mut sampler = Sampler::from_recipe(recipe).build()?;
/// sampler.resume(&state)?;
/// assert_eq!((sampler.seed(), sampler.consumed()), (42, 80));
/// # Ok::<(), samedeal::Error>(())
/// ```
///
/// # Errors
///
/// [`WrongType`](crate::FailureKind::WrongType) (`state`: no state; `sections`: no JSON object; `samedeal`, `kind`: another type), out of
/// range (`state`, `sections`: more than 2^24 bytes), out of memory.
pub fn recipe_after(state: &str, sections: &str) -> Result<String, Error> {
    check_text("state", state)?;
    check_text("sections", sections)?;
    texts::recipe_after(&mut Instance::new(MOST_MEMORY)?, state, sections)
}

/// The members that differ between two recipes, states, entries of a log, or other JSON objects: first those of `one`, in the order of that
/// text, then those that only `other` has. A recipe is compared with the defaults of all members; if it cannot be read without lists beside
/// it, as it is. All members of a text are what differs between it and `{}`.
///
/// ```
/// use samedeal::Sampler;
/// let [one, other] = [42, 43].map(|seed| Sampler::builder(1_000).seed(seed).build().and_then(|it| it.recipe()));
/// let found = samedeal::differences(&one?, &other?)?;
/// assert_eq!((found.len(), found[0].path.as_str(), found[0].decides.as_str()), (1, "order.seed", "order"));
/// assert_eq!((found[0].one.as_deref(), found[0].other.as_deref()), (Some("42"), Some("43")));
/// # Ok::<(), samedeal::Error>(())
/// ```
///
/// # Errors
///
/// [`WrongType`](crate::FailureKind::WrongType) (`one`, `other`: no JSON object; `samedeal`, `kind`: another type),
/// [`Contradiction`](crate::FailureKind::Contradiction) (`one`, `other`: a member is there twice), out of range (`one`, `other`: more than
/// 2^24 bytes), out of memory.
pub fn differences(one: &str, other: &str) -> Result<Vec<Difference>, Error> {
    check_text("one", one)?;
    check_text("other", other)?;
    let found = texts::differences(&mut Instance::new(MOST_MEMORY)?, one, other)?;
    Ok(found.into_iter().map(Into::into).collect())
}
