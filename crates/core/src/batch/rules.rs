//! The options of batches with resolved defaults: the boundaries and the window width that follow from the lengths.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::ops::Deref;

use super::buckets::Buckets;
use super::config::{BatchConfig, Strategy};
use super::items::{Items, Tally};
use crate::base::Failure;
use crate::base::memory::collect;

/// A configuration in which buckets by quantiles are replaced by boundaries, and the width of its windows.
pub(super) struct Rules {
    config: BatchConfig,
    /// How many positions a window has.
    pub(super) width: u64,
}

impl Deref for Rules {
    type Target = BatchConfig;

    fn deref(&self) -> &BatchConfig {
        &self.config
    }
}

impl Rules {
    /// The rules of a configuration. `sample` has the lengths that stand for all lengths of the dataset. Failures:
    /// `out-of-memory`.
    pub(super) fn new(config: &BatchConfig, sample: &[u32]) -> Result<Rc<Self>, Failure> {
        let mut rules = config.for_world_size(config.world_size);
        if config.strategy == Strategy::Bucket {
            rules.buckets = Some(match rules.buckets.take() {
                Some(buckets @ (Buckets::Width(_) | Buckets::Boundaries(_))) => buckets,
                Some(Buckets::Quantiles(count)) => Buckets::of_items(&treated(config, sample)?, count)?,
                None => Buckets::of_tokens(&treated(config, sample)?)?,
            });
        }
        let width = rules.width(sample);
        Ok(Rc::new(Self { config: rules, width }))
    }

    /// The rules of a stream, whose lengths are not known before.
    pub(super) fn of_a_stream(config: &BatchConfig) -> Rc<Self> {
        let config = config.for_world_size(config.world_size);
        let width = config.width_of_a_stream();
        Rc::new(Self { config, width })
    }
}

/// The lengths of the items that samples of these lengths become. If a sample that is too long makes the treatment
/// fail, the lengths are returned unchanged: only the plan of the window with this sample has to fail.
fn treated(config: &BatchConfig, sample: &[u32]) -> Result<Vec<u32>, Failure> {
    let lengths = collect("lengths", sample.len(), sample.iter().copied())?;
    let indices = collect("lengths", sample.len(), (0..).take(sample.len()))?;
    let whole = Items::new(indices, lengths);
    Ok(match whole.treated(config, &mut Tally::default()) {
        Ok(items) => items.into_lengths(),
        Err(failure) if failure.kind == crate::base::Kind::OutOfMemory => return Err(failure),
        Err(_) => collect("lengths", sample.len(), sample.iter().copied())?,
    })
}
