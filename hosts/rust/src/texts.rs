use crate::engine::{Instance, MOST_MEMORY, check_room, check_text, texts};
use crate::{Difference, Error, TextKind};

/// The kind of a text, found by its members, which are not checked. A recipe of whole shards without a section `batch`
/// counts as a recipe of a plan.
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
/// [`WrongType`](crate::FailureKind::WrongType) (`text`: it is no JSON object, or of no known kind; `samedeal`, `kind`:
/// another type), out of range (`text`: more than 2^24 bytes; `samedeal`: another version),
/// [`UnknownName`](crate::FailureKind::UnknownName) (`kind`: no kind of text), out of memory.
pub fn inspect(text: &str) -> Result<TextKind, Error> {
    check_text("text", text)?;
    Ok(texts::inspect(&mut Instance::new(MOST_MEMORY)?, text)?.into())
}

/// The recipe of an object that continues from a state. It has the sections of the state, such as `order`, and the
/// sections in `sections`, a JSON object, such as `deal`, which a state does not have. Build the object from the
/// recipe, and call `resume` with the state. Lists of which the state has only a hash have to be set beside the recipe.
/// The recipe is not checked.
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

/// The members that differ between two recipes, states, entries of a log, or other JSON objects: first members of
/// `one`, in the order of its text, then members that only `other` has. In a recipe, a missing member counts as its
/// default; a recipe that cannot be read without lists beside it is compared as it is, without defaults. To list all
/// members of a text, compare it with `{}`.
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

/// Whole numbers in the proportions of weights that are floats: 7 and 3 for 0.7 and 0.3. Use it for
/// [`Order::weighted`](crate::Order::weighted), and for [`Order::balance`](crate::Order::balance) with a number of
/// samples. Decimals with up to 15 digits after the point keep their proportions exactly, if they add up to less than
/// 2^52 without the point (0.7 and 0.25 are 70 and 25), and so do whole numbers; others are rounded to about 2^-53 of
/// their sum. Every language gets the same numbers.
///
/// ```
/// assert_eq!(samedeal::whole_weights(&[0.7, 0.25])?, [14, 5]);
/// # Ok::<(), samedeal::Error>(())
/// ```
///
/// # Errors
///
/// Out of range (`weights`: one is negative, infinite or NaN, or is above 0 and would become 0), out of memory.
pub fn whole_weights(weights: &[f64]) -> Result<Vec<u64>, Error> {
    let bits: Vec<_> = weights.iter().map(|weight| weight.to_bits()).collect();
    check_room(MOST_MEMORY, "weights", bits.len(), size_of_val(&bits[..]))?;
    texts::whole_weights(&mut Instance::new(MOST_MEMORY)?, &bits)
}
