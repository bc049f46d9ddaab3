use std::iter::FusedIterator;

use crate::engine::{MOST_MEMORY, Object, cut, shards};
use crate::recipe::Draft;
use crate::setters::setters;
use crate::{Error, FailureKind};

/// Number of chunks that the iterator reads at a time.
const AHEAD: u32 = 1 << 10;

/// The chunks of one reader, without end. Chunks are the numbered parts of a stream. The stream is an endless list of
/// chunks: 0, 1, 2, and so on, or, if the number of chunks is known, cycle after cycle through all chunks. Reader r of
/// n takes the chunks at the places r, r + n, r + 2n, and so on. Every cycle is an epoch of its own.
///
/// ```
/// use samedeal::ChunkStream;
///
/// // The number of chunks is not known.
/// let stream = ChunkStream::new(1, 2)?;
/// assert_eq!(stream.chunks(0, 5)?, [1, 3, 5, 7, 9]);
/// // 12 chunks, again and again. By default, each cycle has another random order.
/// let stream = ChunkStream::builder(1, 4).chunks(12).order("sequential").build()?;
/// assert_eq!(stream.iter().take(6).collect::<Result<Vec<_>, _>>()?, [1, 5, 9, 1, 5, 9]);
/// # Ok::<(), samedeal::Error>(())
/// ```
pub struct ChunkStream {
    pub(crate) object: Object<shards::ChunkStream>,
    reader: u32,
}

impl ChunkStream {
    /// The stream of reader `reader` of `readers`, with an unknown number of chunks.
    ///
    /// # Errors
    ///
    /// Out of range (`readers` is 0, `reader` is not below `readers`).
    pub fn new(reader: u32, readers: u32) -> Result<Self, Error> {
        Self::builder(reader, readers).build()
    }

    /// A builder with all options: the number of chunks, and the order of each cycle.
    pub fn builder(reader: u32, readers: u32) -> ChunkStreamBuilder {
        let mut draft = Draft::new(None);
        draft.set("deal", "readers", readers);
        ChunkStreamBuilder { draft, reader, epoch: 0, memory_limit: MOST_MEMORY }
    }

    /// The stream of a recipe, which decides everything but the reader and the epoch. An option that is set afterwards
    /// replaces the option of the recipe.
    pub fn from_recipe(recipe: impl Into<String>, reader: u32) -> ChunkStreamBuilder {
        ChunkStreamBuilder { draft: Draft::new(Some(recipe.into())), reader, epoch: 0, memory_limit: MOST_MEMORY }
    }

    /// The number of this reader.
    pub fn reader(&self) -> u32 {
        self.reader
    }

    /// Iterates without end over this reader's chunks; `skip` takes no time.
    pub fn iter(&self) -> Chunks<'_> {
        Chunks { stream: self, window: Vec::new().into_iter(), unread: Some(0) }
    }
}

impl std::fmt::Debug for ChunkStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChunkStream").field("recipe", &self.recipe()).field("reader", &self.reader).finish()
    }
}

impl<'a> IntoIterator for &'a ChunkStream {
    type Item = Result<u64, Error>;
    type IntoIter = Chunks<'a>;

    fn into_iter(self) -> Chunks<'a> {
        self.iter()
    }
}

/// The options of a new [`ChunkStream`]; see [`ChunkStream::builder`] and [`ChunkStream::from_recipe`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct ChunkStreamBuilder {
    pub(crate) draft: Draft,
    reader: u32,
    epoch: u64,
    memory_limit: usize,
}

impl ChunkStreamBuilder {
    setters!(epoch memory_limit);

    /// Order of the chunks within each cycle, one of [`orders`](crate::orders). Default: `feistel`. If the number of
    /// chunks is not known, the order is always `sequential`.
    pub fn order(mut self, order: impl Into<String>) -> Self {
        self.draft.set("order", "name", cut(order.into()));
        self
    }

    /// Makes the stream, in O(1).
    ///
    /// # Errors
    ///
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (`readers`, `reader`, `chunks`, `seed`, `memory_limit`),
    /// [`UnknownName`](crate::FailureKind::UnknownName) (`name`: there is no such order),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`name`: the order is `sharded`, or it is not `sequential`
    /// and the number of chunks is not known), [`OutOfMemory`](crate::FailureKind::OutOfMemory); of a recipe also
    /// [`UnknownMember`](crate::FailureKind::UnknownMember) and [`WrongType`](crate::FailureKind::WrongType) (any
    /// member).
    pub fn build(self) -> Result<ChunkStream, Error> {
        let Self { draft, reader, epoch, memory_limit } = self;
        let object = draft.make(memory_limit, |instance, recipe, _| {
            Object::<shards::ChunkStream>::new(instance, recipe, epoch, reader)
        })?;
        Ok(ChunkStream { object, reader })
    }
}

/// The chunks of a reader, without end; see [`ChunkStream::iter`]. After an error, the iterator ends.
#[derive(Debug)]
pub struct Chunks<'a> {
    stream: &'a ChunkStream,
    /// Chunks that were read and not yet returned.
    window: std::vec::IntoIter<u64>,
    /// The place of the first chunk that was not read yet, among the chunks of this reader; none after an error.
    unread: Option<u64>,
}

impl Iterator for Chunks<'_> {
    type Item = Result<u64, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(chunk) = self.window.next() {
            return Some(Ok(chunk));
        }
        let start = self.unread?;
        // The component may refuse a window: the tables of its many cycles would take too long, or the window goes
        // beyond the last possible place. Chunks are then read one by one.
        let refused = |error: &Error| error.failure().is_some_and(|failure| failure.kind == FailureKind::OutOfRange);
        let (read, count) = match self.stream.chunks(start, AHEAD) {
            Err(error) if refused(&error) => (self.stream.chunks(start, 1), 1),
            read => (read, AHEAD),
        };
        match read {
            Ok(window) => {
                self.unread = Some(start + u64::from(count));
                self.window = window.into_iter();
                self.window.next().map(Ok)
            }
            Err(error) => {
                self.unread = None;
                Some(Err(error))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (if self.unread.is_some() { usize::MAX } else { self.window.len() }, None)
    }

    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        let buffered = self.window.len();
        if n >= buffered {
            self.window = Vec::new().into_iter();
            self.unread = self.unread.map(|unread| unread.saturating_add((n - buffered) as u64));
            return self.next();
        }
        self.window.nth(n).map(Ok)
    }
}

impl FusedIterator for Chunks<'_> {}
