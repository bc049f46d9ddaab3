use alloc::format;
use alloc::vec::Vec;

use super::config::{BatchConfig, TooLong};
use crate::base::Failure;
use crate::base::failure::{at_least, range};
use crate::base::memory::collect;

/// The items of a window: samples, or parts of them, in the order of the epoch.
#[derive(Default)]
pub(super) struct Items {
    samples: Vec<u64>,
    /// Where each item begins in its sample. An empty list means that all items begin at 0.
    starts: Vec<u32>,
    lengths: Vec<u32>,
}

/// How many samples were cut, left out or split, because they were too long.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) truncated: u64,
    pub(super) dropped: u64,
    pub(super) split: u64,
}

impl Items {
    /// Items that are whole samples.
    pub(super) fn new(samples: Vec<u64>, lengths: Vec<u32>) -> Self {
        Self { samples, starts: Vec::new(), lengths }
    }

    /// The items after the treatment `too_long`: items that are too long stay as they are, are cut, are left out, or
    /// become several items. Failures: `lengths`, `max_length`, `max_tokens`, `max_cost`, `out-of-memory`.
    pub(super) fn treated(self, config: &BatchConfig, tally: &mut Tally) -> Result<Self, Failure> {
        let most = config.longest();
        let over = self.lengths.iter().filter(|&&length| length > most).count() as u64;
        if over == 0 {
            return Ok(self);
        }
        Self::check(config, config.too_long)?;
        match config.too_long {
            TooLong::Single => Ok(self),
            TooLong::Error => {
                let item = self.lengths.iter().position(|&length| length > most).unwrap_or_default();
                Err(too_long(self.lengths[item], self.samples[item], most))
            }
            TooLong::Truncate => {
                tally.truncated += over;
                let Self { samples, starts, mut lengths } = self;
                lengths.iter_mut().for_each(|length| *length = most.min(*length));
                Ok(Self { samples, starts, lengths })
            }
            TooLong::Drop => {
                tally.dropped += over;
                self.kept(self.lengths.len() - over as usize, |item| self.lengths[item] <= most)
            }
            TooLong::Split => {
                tally.split += over;
                self.split(most)
            }
        }
    }

    /// Checks that items that are too long can be cut or split: at least one token must have room. Failures:
    /// `max_length`, `max_tokens`, `max_cost`.
    pub(super) fn check(config: &BatchConfig, how: TooLong) -> Result<(), Failure> {
        match how {
            TooLong::Truncate => check_room(config, config.longest(), "truncate to"),
            TooLong::Split => check_room(config, config.longest(), "split by"),
            TooLong::Error | TooLong::Drop | TooLong::Single => Ok(()),
        }
    }

    /// Splits items into parts of at most `most` tokens. Failures: `max_length` (too many parts), `out-of-memory`.
    fn split(&self, most: u32) -> Result<Self, Failure> {
        let pieces = |length: u32| length.div_ceil(most).max(1);
        let count: u64 = self.lengths.iter().map(|&length| u64::from(pieces(length))).sum();
        let Some(many) = usize::try_from(count).ok().filter(|_| count < u32::MAX.into()) else {
            let allowed = format!("parts of which a window has fewer than {}", u32::MAX);
            return Err(Failure::out_of_range("max_length", most, allowed).at("batch.max_length"));
        };
        let parts = (0..self.count()).flat_map(|item| {
            let (sample, start) = self.part(item);
            let length = self.length(item);
            (0..pieces(length)).map(move |piece| {
                let begin = piece * most;
                (sample, start + begin, (length - begin).min(most))
            })
        });
        Self::of_parts(many, parts)
    }

    /// The items for which `keep` returns true. There must be `count` such items. Failures: `out-of-memory`.
    pub(super) fn kept(&self, count: usize, keep: impl Fn(usize) -> bool) -> Result<Self, Failure> {
        let kept = (0..self.count()).filter(|&item| keep(item as usize));
        Self::of_parts(count, kept.map(|item| (self.part(item).0, self.part(item).1, self.length(item))))
    }

    fn of_parts(count: usize, parts: impl Iterator<Item = (u64, u32, u32)>) -> Result<Self, Failure> {
        let mut items = Self {
            samples: collect("batch_window", count, [])?,
            starts: collect("batch_window", count, [])?,
            lengths: collect("batch_window", count, [])?,
        };
        for (sample, start, length) in parts {
            items.samples.push(sample);
            items.starts.push(start);
            items.lengths.push(length);
        }
        Ok(items)
    }

    pub(super) fn count(&self) -> u32 {
        self.lengths.len() as u32
    }

    pub(super) fn into_lengths(self) -> Vec<u32> {
        self.lengths
    }

    pub(super) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    pub(super) fn length(&self, item: u32) -> u32 {
        self.lengths[item as usize]
    }

    /// The sample of an item, and where the item begins in the sample.
    pub(super) fn part(&self, item: u32) -> (u64, u32) {
        (self.samples[item as usize], self.starts.get(item as usize).copied().unwrap_or(0))
    }
}

/// Checks that items have room for at least one token. Without room, samples that are cut or split would lose all their
/// tokens. Failures: `max_length`, `max_tokens`, `max_cost`.
fn check_room(config: &BatchConfig, most: u32, why: &str) -> Result<(), Failure> {
    if most > 0 {
        return Ok(());
    }
    if config.max_length == 0 {
        return Err(
            Failure::out_of_range("max_length", 0, at_least(1).and(format_args!(", to {why}"))).at("batch.max_length")
        );
    }
    // The cast loses nothing: one token costs less than 2^34.
    let least = config.cost(1) as u64;
    let (limit, allowed) = (config.budget_name(), at_least(least).and(format_args!(", to {why}")));
    Err(Failure::out_of_range(limit, config.budget, allowed).at(format!("batch.{limit}")))
}

/// The failure of a sample of more than `most` tokens.
pub(super) fn too_long(length: u32, sample: u64, most: u32) -> Failure {
    let allowed = range(0, most).and("; or choose with too_long what happens to longer ones");
    Failure::out_of_range("lengths", format!("{length} (sample {sample})"), allowed)
}
