//! Methods of a sampler about the sources of a blend.

use alloc::vec::Vec;

use super::Sampler;
use crate::base::Failure;
use crate::base::check::check_below;
use crate::base::failure::range;
use crate::base::memory::collect;
use crate::order::{Drawn, Sources};

/// Columns with a number for each source: the name of the column, and the numbers.
pub type Columns = Vec<(&'static str, Vec<u64>)>;

impl Sampler {
    /// The number of positions of this epoch, without padding.
    pub fn epoch_length(&self) -> u64 {
        self.deal.samples()
    }

    /// The names of the sources, in their order. Failures: `name` (no blend), `out-of-memory`.
    pub fn sources(&self) -> Result<Vec<&str>, Failure> {
        let blend = self.blend()?;
        collect("sources", blend.names().count(), blend.names())
    }

    /// The draws of each source in the positions `start` to `start + count - 1` of this epoch, as columns with one
    /// number for each source: the first draw, counted over all epochs; the number of draws; and the source's own epoch
    /// and position of the first draw, and of the draw after the last one. Failures: `name` (no blend), `start`,
    /// `count`, `out-of-memory`.
    pub fn source_counts(&self, start: u64, count: u64) -> Result<Columns, Failure> {
        let (blend, length) = (self.blend()?, self.epoch_length());
        let Some(left) = length.checked_sub(start) else {
            return Err(Failure::out_of_range("start", start, range(0, length)));
        };
        if count > left {
            return Err(Failure::out_of_range("count", count, range(0, left).and(format_args!(" from {start}"))));
        }
        let drawn = blend.report(self.config.epoch, start, start + count)?;
        let mut columns: Columns = collect("sources", 6, [])?;
        let mut add = |name, numbers: &dyn Fn(&Drawn) -> u64| {
            columns.push((name, collect("sources", drawn.len(), drawn.iter().map(numbers))?));
            Ok(())
        };
        add("first", &|drawn| drawn.first)?;
        add("count", &|drawn| drawn.count)?;
        add("from-pass", &|drawn| drawn.from.0)?;
        add("from-position", &|drawn| drawn.from.1)?;
        add("to-pass", &|drawn| drawn.to.0)?;
        add("to-position", &|drawn| drawn.to.1)?;
        Ok(columns)
    }

    /// For each source, an upper bound of the deviation of its count from exact proportion, in millionths of a sample.
    /// The bound holds for the count among the first n positions, for every n. Failures: `name` (no blend),
    /// `out-of-memory`.
    pub fn source_bounds(&self) -> Result<Vec<u64>, Failure> {
        let blend = self.blend()?;
        let count = blend.names().count();
        collect("sources", count, (0..count as u32).map(|source| blend.bound(source)))
    }

    /// The source of a sample, and the index of the sample in its source. Failures: `name` (no blend), `sample`,
    /// `index_space`.
    pub fn source_of(&self, sample: u64) -> Result<(u32, u64), Failure> {
        let blend = self.blend()?;
        check_below("sample", sample, self.config.samples)?;
        let allowed = "joined: several sources may have a sample of a shared dataset";
        blend
            .source_of(sample)
            .ok_or_else(|| Failure::contradiction("index_space", "shared", allowed).at("order.index_space"))
    }

    fn blend(&self) -> Result<&dyn Sources, Failure> {
        let allowed = "blend or blend-exact, where sources are asked for";
        self.part
            .as_blend()
            .ok_or_else(|| Failure::contradiction("name", self.config.order.name(), allowed).at("order.name"))
    }
}
