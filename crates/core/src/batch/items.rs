use alloc::format;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::ops::Range;

use super::config::{BatchConfig, TooLong};
use crate::base::failure::{at_least, at_most, range};
use crate::base::memory::{collect, grow};
use crate::{Failure, Order};

/// What is put into batches: samples, or parts of them.
pub(super) struct Items {
    /// The sample of each item, and where in it the item begins; none where items are samples.
    parts: Option<Vec<(u32, u32)>>,
    lengths: Rc<Vec<u32>>,
    /// Whether items are numbered by the positions of an epoch, not by samples.
    by_position: bool,
    /// Samples that were cut, left out, or made several items of.
    pub(super) truncated: u64,
    pub(super) dropped: u64,
    pub(super) split: u64,
}

impl Items {
    /// Items of samples of these lengths: treats what is too long. Failures: `lengths`, `out-of-memory`.
    pub(super) fn new(config: &BatchConfig, lengths: Rc<Vec<u32>>) -> Result<Self, Failure> {
        let most = config.longest();
        let mut items = Self::of_lengths(Vec::new());
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
        Self { parts: None, lengths: Rc::new(lengths), by_position: false, truncated: 0, dropped: 0, split: 0 }
    }

    /// The items of an epoch: those of the samples that an order has at its positions, one position after the other. `lengths` are
    /// those of the samples. Failures: `samples` (too many items), `out-of-memory`.
    pub(super) fn of_epoch(
        &self,
        config: &BatchConfig,
        lengths: &[u32],
        order: &Order,
        positions: u64,
    ) -> Result<Self, Failure> {
        let too_many = |count: u64| {
            let allowed = at_most(u32::MAX - 1).and(" items of an epoch");
            Failure::out_of_range("samples", count, allowed)
        };
        let Some(count) = u32::try_from(positions).ok().filter(|&count| count < u32::MAX) else {
            return Err(too_many(positions));
        };
        let mut parts = collect("lengths", count as usize, [])?;
        let mut own = collect("lengths", count as usize, [])?;
        let (most, mut over, mut window) = (config.longest(), 0, [0_u32; 256]);
        for first in (0..positions).step_by(window.len()) {
            let some = &mut window[..(positions - first).min(256) as usize];
            order.fill(first, 1, some)?;
            for &sample in &*some {
                over += u64::from(lengths[sample as usize] > most);
                for item in self.of(sample) {
                    grow("lengths", 1, &mut parts)?;
                    grow("lengths", 1, &mut own)?;
                    parts.push(self.part(item));
                    own.push(self.length(item));
                }
            }
        }
        if parts.len() >= u32::MAX as usize {
            return Err(too_many(parts.len() as u64));
        }
        let count = |all| if all == 0 { 0 } else { over };
        let [truncated, dropped, split] = [self.truncated, self.dropped, self.split].map(count);
        Ok(Self { parts: Some(parts), lengths: Rc::new(own), by_position: true, truncated, dropped, split })
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

    /// How many items a sample has.
    pub(super) fn count_of(&self, sample: u32) -> usize {
        match &self.parts {
            Some(parts) if self.by_position => parts.iter().filter(|&&(of, _)| of == sample).count(),
            _ => self.of(sample).len(),
        }
    }

    /// The item of a sample, if that is the only one, and items are numbered by samples.
    pub(super) fn only_one(&self, sample: u32) -> Option<u32> {
        let items = (!self.by_position).then(|| self.of(sample))?;
        (items.len() == 1).then_some(items.start)
    }

    /// The items of a sample, where they are numbered by samples.
    fn of(&self, sample: u32) -> Range<u32> {
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
    let allowed = range(0, most).and("; or choose with too_long what happens to longer ones");
    Failure::out_of_range("lengths", format!("{length} (sample {sample})"), allowed)
}
