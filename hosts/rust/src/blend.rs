use std::ops::RangeBounds;

use crate::engine::types;
use crate::range::run;
use crate::{Error, Sampler};

/// Counts of the sources of a blend in a run of positions: see [`Sampler::source_counts`]. Every list has one number for each source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct SourceCounts {
    /// The names of the sources.
    pub sources: Vec<String>,
    /// For each source, the number of its first draw in these positions. Draws of a source are counted over all epochs.
    pub first: Vec<u64>,
    /// The number of draws.
    pub count: Vec<u64>,
    /// The pass over the source in which the first draw is. A pass is the source's own epoch.
    pub from_pass: Vec<u64>,
    /// The position of the first draw in that pass.
    pub from_position: Vec<u64>,
    /// The pass of the draw after the last one.
    pub to_pass: Vec<u64>,
    /// The position of the draw after the last one, in its pass.
    pub to_position: Vec<u64>,
}

impl Sampler {
    /// With a blend: how much each source contributes to a range of positions of this epoch, such as the positions that
    /// were consumed. `..` means the whole epoch. The cost does not depend on the length of the range.
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
    /// [`Contradiction`](crate::FailureKind::Contradiction) (`name`: it is no blend), out of range (`start`, `count`),
    /// out of memory.
    pub fn source_counts(&self, positions: impl RangeBounds<u64>) -> Result<SourceCounts, Error> {
        let (start, count) = run(positions, self.epoch_length())?;
        let found = self.raw_source_counts(start, count)?;
        let mut counts = SourceCounts { sources: self.sources()?, ..SourceCounts::default() };
        for types::NamedList { name, numbers } in found {
            let column = match name.as_str() {
                "first" => &mut counts.first,
                "count" => &mut counts.count,
                "from-pass" => &mut counts.from_pass,
                "from-position" => &mut counts.from_position,
                "to-pass" => &mut counts.to_pass,
                "to-position" => &mut counts.to_position,
                // A column of a later version.
                _ => continue,
            };
            *column = numbers;
        }
        Ok(counts)
    }
}
