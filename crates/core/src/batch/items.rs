use alloc::format;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::ops::Range;

use super::config::{BatchConfig, TooLong};
use crate::Failure;
use crate::base::failure::{at_least, range};
use crate::base::memory::collect;

/// What is put into batches: samples, or parts of them.
pub(super) struct Items {
    /// The sample of each item, and where in it the item begins; none where items are samples.
    parts: Option<Vec<(u32, u32)>>,
    lengths: Rc<Vec<u32>>,
    /// Samples that were cut, left out, or made several items of.
    pub(super) truncated: u64,
    pub(super) dropped: u64,
    pub(super) split: u64,
}

impl Items {
    /// Items of samples of these lengths: treats what is too long. Failures: `lengths`, `out-of-memory`.
    pub(super) fn new(config: &BatchConfig, lengths: Rc<Vec<u32>>) -> Result<Self, Failure> {
        let most = config.longest();
        let mut items = Self { parts: None, lengths: Rc::default(), truncated: 0, dropped: 0, split: 0 };
        let over = lengths.iter().filter(|&&length| length > most).count() as u64;
        if over == 0 || config.too_long == TooLong::Single {
            items.lengths = lengths;
            return Ok(items);
        }
        match config.too_long {
            TooLong::Single => {}
            TooLong::Error => {
                let sample = lengths.iter().position(|&length| length > most).unwrap_or_default();
                return Err(too_long(lengths[sample], sample as u64, most));
            }
            TooLong::Truncate => {
                check_room(config, most, "truncate to")?;
                items.truncated = over;
                let cut = lengths.iter().map(|&length| most.min(length));
                items.lengths = Rc::new(collect("lengths", lengths.len(), cut)?);
            }
            TooLong::Drop => {
                items.dropped = over;
                let kept = (0..).zip(&*lengths).filter(|(_, length)| **length <= most);
                let parts = collect("lengths", lengths.len() - over as usize, kept.map(|(sample, _)| (sample, 0)))?;
                let lengths = parts.iter().map(|&(sample, _)| lengths[sample as usize]);
                items.lengths = Rc::new(collect("lengths", parts.len(), lengths)?);
                items.parts = Some(parts);
            }
            TooLong::Split => {
                items.split = over;
                check_room(config, most, "split by")?;
                let pieces = |length: u32| u64::from(length.div_ceil(most).max(1));
                let count: u64 = lengths.iter().map(|&length| pieces(length)).sum();
                let Some(many) = u32::try_from(count).ok().filter(|&count| count < u32::MAX) else {
                    let allowed = format!("parts of which there are fewer than {}", u32::MAX);
                    return Err(Failure::out_of_range("max-length", config.max_length, allowed));
                };
                let parts = (0..)
                    .zip(&*lengths)
                    .flat_map(|(sample, &length)| (0..pieces(length) as u32).map(move |piece| (sample, piece * most)));
                let parts = collect("lengths", many as usize, parts)?;
                let lengths = parts.iter().map(|&(sample, start)| (lengths[sample as usize] - start).min(most));
                items.lengths = Rc::new(collect("lengths", parts.len(), lengths)?);
                items.parts = Some(parts);
            }
        }
        Ok(items)
    }

    /// Items of these lengths, none of which is too long.
    pub(super) fn of_lengths(lengths: Vec<u32>) -> Self {
        Self { parts: None, lengths: Rc::new(lengths), truncated: 0, dropped: 0, split: 0 }
    }

    pub(super) fn count(&self) -> u32 {
        self.lengths.len() as u32
    }

    pub(super) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    pub(super) fn length(&self, item: u32) -> u32 {
        self.lengths[item as usize]
    }

    /// The items of a sample.
    pub(super) fn of(&self, sample: u32) -> Range<u32> {
        let Some(parts) = &self.parts else { return sample..sample + 1 };
        let end = |end: u32| parts.partition_point(|&(sample, _)| sample < end) as u32;
        end(sample)..end(sample + 1)
    }

    /// The sample, and where in it the item begins.
    pub(super) fn part(&self, item: u32) -> (u32, u32) {
        self.parts.as_ref().map_or((item, 0), |parts| parts[item as usize])
    }
}

/// Whether items have room for a token: samples that are cut to none, or into parts of none, lose all that they hold.
/// Failures: `max-length`, `max-tokens`, `max-cost`.
fn check_room(config: &BatchConfig, most: u32, why: &str) -> Result<(), Failure> {
    if most > 0 {
        return Ok(());
    }
    if config.max_length == 0 {
        return Err(Failure::out_of_range("max-length", 0, at_least(1).and(format_args!(", to {why}"))));
    }
    // One token costs less than 2^34.
    let least = config.cost(1) as u64;
    Err(Failure::out_of_range(config.limit(), config.budget, at_least(least).and(format_args!(", to {why}"))))
}

/// The failure of a sample of more than `most` tokens.
pub(super) fn too_long(length: u32, sample: u64, most: u32) -> Failure {
    let allowed = range(0, most).and("; or choose with too-long what happens to longer ones");
    Failure::out_of_range("lengths", format!("{length} (sample {sample})"), allowed)
}
