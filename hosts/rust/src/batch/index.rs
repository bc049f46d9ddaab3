use crate::Error;
use crate::engine::{Instance, MOST_MEMORY, batches, check_room};

/// Joins parts of an index (see [`Batcher::index`](crate::Batcher::index)), given in any order. The windows of parts
/// may overlap.
///
/// ```
/// use samedeal::{Batcher, Lengths};
///
/// let lengths = Lengths::from_fn(100_000, |samples| Ok(samples.iter().map(|sample| 1 + (sample % 500) as u32).collect()));
/// let batcher = Batcher::builder(lengths).max_tokens(4_096).world_size(2).build()?;
/// // Each of two jobs plans half of the windows.
/// let half = batcher.num_windows() / 2;
/// let parts = [batcher.index(0, half)?, batcher.index(half, batcher.num_windows() - half)?];
/// batcher.use_index(&samedeal::join_indices(parts)?)?;
/// assert!(batcher.num_steps()? > 0);
/// # Ok::<(), samedeal::Error>(())
/// ```
///
/// # Errors
///
/// [`Missing`](crate::FailureKind::Missing) (`index`: there are no parts), [`WrongType`](crate::FailureKind::WrongType)
/// (`index`: a part is no index, or was changed), [`Contradiction`](crate::FailureKind::Contradiction) (`recipe_fingerprint`,
/// `epoch`, `windows`: a part is of other batches; `first`: windows are missing between two parts, or a part repeats
/// only some windows of the parts before it and adds others; `lengths`: two parts have a window that was planned with
/// different lengths), out of memory.
pub fn join_indices<P: Into<String>>(parts: impl IntoIterator<Item = P>) -> Result<String, Error> {
    let parts = parts.into_iter().map(Into::into).collect::<Vec<String>>();
    let bytes = parts.iter().map(String::len).fold(0, usize::saturating_add);
    check_room(MOST_MEMORY, "index", parts.len(), bytes)?;
    batches::join_indices(&mut Instance::new(MOST_MEMORY)?, &parts)
}
