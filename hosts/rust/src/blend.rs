use std::ops::RangeBounds;

use crate::engine::types;
use crate::place::{Place, SourcePlace};
use crate::range::bounds;
use crate::{Error, Sampler};

/// What the sources of a blend give to a run of positions: see [`Sampler::source_counts`]. Every list has one number for each source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct SourceCounts {
    /// The names of the sources.
    pub sources: Vec<String>,
    /// The number of the first draw of these positions, counted over all epochs.
    pub first: Vec<u64>,
    /// How many draws there are.
    pub count: Vec<u64>,
    /// The pass over the source that the first draw is in: the source's own epoch.
    pub from_pass: Vec<u64>,
    /// Its position in this pass.
    pub from_position: Vec<u64>,
    /// The same of the draw that comes after the last one.
    pub to_pass: Vec<u64>,
    /// Its position in that pass.
    pub to_position: Vec<u64>,
}

/// With any order, and with a blend.
impl Sampler {
    /// When and where a sample is seen first from a global position on: a blend may have it several times in an epoch, and padding
    /// repeats it. `None` if it is not seen again. To find all of them, go on after the position of the one before.
    ///
    /// ```
    /// use samedeal::{Order, Sampler};
    /// let copies = Order::new("feistel", 10).copies(3);
    /// let sampler = Sampler::from_order(copies).build()?;
    /// let (mut from, mut seen) = (0, 0);
    /// while let Some(place) = sampler.locate_from(7, from, 1)? {
    ///     (from, seen) = (place.position + 1, seen + 1);
    /// }
    /// assert_eq!(seen, 3);
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Out of range (`sample` at or above `samples`; `position` below `consumed`, or above `consumed` +
    /// [`num_positions`](Self::num_positions); `batch-size` is 0), out of memory.
    pub fn locate_from(&self, sample: u64, position: u64, batch_size: u32) -> Result<Option<Place>, Error> {
        let place = self.ask(|methods, store, it| methods.call_locate_from(store, it, sample, position, batch_size))?;
        Ok(place.map(Place::from))
    }

    /// With a blend: the names of the sources.
    ///
    /// # Errors
    ///
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`order` is another one), out of memory.
    pub fn sources(&self) -> Result<Vec<String>, Error> {
        self.ask(|methods, store, sampler| methods.call_sources(store, sampler))
    }

    /// With a blend: what each source gives to a range of positions of this epoch, such as to the positions of a run so far. `..` means
    /// the whole epoch. It costs no pass over the positions.
    ///
    /// ```
    /// use samedeal::{Order, Sampler, Source};
    /// let blend = Order::blend([Source::new("web", 1_000_000, 70), Source::new("books", 5_000, 30)]).samples(100_000);
    /// let sampler = Sampler::from_order(blend).build()?;
    /// let counts = sampler.source_counts(..)?;
    /// assert_eq!((counts.sources, counts.count), (vec!["web".into(), "books".into()], vec![70_000, 30_000]));
    /// // Six whole passes over the books.
    /// assert_eq!((counts.to_pass[1], counts.to_position[1]), (6, 0));
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`order` is another one), out of range (`start`, `end`), out of memory.
    pub fn source_counts(&self, positions: impl RangeBounds<u64>) -> Result<SourceCounts, Error> {
        let (start, end) = bounds(positions, self.length());
        let found = self.ask(|methods, store, sampler| methods.call_source_counts(store, sampler, start, end))?;
        let mut counts = SourceCounts { sources: self.sources()?, ..SourceCounts::default() };
        for types::NamedList { name, numbers } in found {
            let column = match name.as_str() {
                "first" => &mut counts.first,
                "count" => &mut counts.count,
                "from-pass" => &mut counts.from_pass,
                "from-position" => &mut counts.from_position,
                "to-pass" => &mut counts.to_pass,
                "to-position" => &mut counts.to_position,
                // Of a later version.
                _ => continue,
            };
            *column = numbers;
        }
        Ok(counts)
    }

    /// With a blend: for each source, by how many millionths of a sample its count among the first positions, any number of them, differs
    /// at most from exact proportion.
    ///
    /// # Errors
    ///
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`order` is another one), out of memory.
    pub fn source_bounds(&self) -> Result<Vec<u64>, Error> {
        self.ask(|methods, store, sampler| methods.call_source_bounds(store, sampler))
    }

    /// With a blend: the source of a sample, and which of its samples this is.
    ///
    /// ```
    /// use samedeal::{Order, Sampler, Source};
    /// let blend = Order::blend([Source::new("web", 1_000, 70), Source::new("books", 500, 30)]);
    /// let place = Sampler::from_order(blend).build()?.source_of(1_007)?;
    /// assert_eq!((place.source, place.index), (1, 7));
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`order` is another one; `index-space`: several sources may have a sample of a
    /// shared dataset), out of range (`sample` at or above `samples`).
    pub fn source_of(&self, sample: u64) -> Result<SourcePlace, Error> {
        let place = self.ask(|methods, store, sampler| methods.call_source_of(store, sampler, sample))?;
        Ok(SourcePlace { source: place.source, index: place.index })
    }
}
