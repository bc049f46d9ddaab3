//! `grown`: a dataset that got more samples, also within an epoch. Samples not seen yet and new samples are then
//! shuffled together.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use crate::base::key::Words;
use crate::base::memory::collect;
use crate::base::{Failure, MAX_EXACT};
use crate::document::{numbers, unsigned_text};
use crate::order::{Composed, Epoch, Feistel};

pub(super) struct Grown {
    /// The number of samples before any growth.
    samples: u64,
    seed: i64,
    growth: Vec<Growth>,
    /// For each growth, the number of draws before its epoch.
    draws: Vec<u128>,
}

/// A growth: from position `consumed` of an epoch on, there are `samples` samples.
#[derive(Clone, Copy)]
pub(super) struct Growth {
    pub(super) epoch: u64,
    pub(super) consumed: u64,
    pub(super) samples: u64,
}

impl Grown {
    /// Failures: `out-of-memory`.
    pub(super) fn new(samples: u64, seed: i64, growth: Vec<Growth>) -> Result<Self, Failure> {
        let (mut before, mut since, mut length) = (0, 0, samples);
        let draws = growth.iter().map(|growth| {
            before += u128::from(growth.epoch - since) * u128::from(length);
            (since, length) = (growth.epoch, growth.samples);
            before
        });
        let draws = collect("growth", growth.len(), draws)?;
        Ok(Self { samples, seed, growth, draws })
    }

    /// The number of samples at the end of an epoch.
    fn count(&self, epoch: u64) -> u64 {
        let after = self.growth.partition_point(|growth| growth.epoch <= epoch);
        after.checked_sub(1).map_or(self.samples, |last| self.growth[last].samples)
    }

    /// Failures: `out-of-memory`.
    fn epoch(&self, epoch: u64) -> Result<GrownEpoch, Failure> {
        let first = self.growth.partition_point(|growth| growth.epoch < epoch);
        let own = self.growth[first..].iter().take_while(|growth| growth.epoch == epoch).count();
        let before = first.checked_sub(1).map_or(self.samples, |last| self.growth[last].samples);
        let mut stages = collect("growth", own + 1, [])?;
        let words = &mut Words::new("feistel", self.seed, epoch, 0);
        stages.push(Stage {
            start: 0,
            old: before,
            known: 0,
            samples: before,
            order: Feistel::from_words(before, words),
        });
        let (mut start, mut known, mut left) = (0, before, before);
        for (number, growth) in (first as u64 + 1..).zip(&self.growth[first..first + own]) {
            let old = left - (growth.consumed - start);
            left = old + growth.samples - known;
            let words = &mut Words::new("grown", self.seed, epoch, number);
            let order = Feistel::from_words(left, words);
            stages.push(Stage { start: growth.consumed, old, known, samples: growth.samples, order });
            (start, known) = (growth.consumed, growth.samples);
        }
        Ok(GrownEpoch { stages })
    }

    /// The first epoch that has `sample`.
    fn first_epoch(&self, sample: u64) -> u64 {
        if sample < self.samples {
            return 0;
        }
        let after = self.growth.partition_point(|growth| growth.samples <= sample);
        self.growth.get(after).map_or(u64::MAX, |growth| growth.epoch)
    }
}

impl Composed for Grown {
    fn has_objects(&self) -> bool {
        true
    }

    fn length(&self, epoch: u64) -> Result<u64, Failure> {
        Ok(self.count(epoch))
    }

    fn steady(&self) -> Option<u64> {
        self.growth.is_empty().then_some(self.samples)
    }

    fn begin(&self, epoch: u64) -> Result<Option<u64>, Failure> {
        // All growths of one epoch have the same number of draws before them, and the last one has the length of the
        // epochs from there on.
        let after = self.growth.partition_point(|growth| growth.epoch < epoch);
        let (draws, since, length) = match after.checked_sub(1) {
            Some(last) => (self.draws[last], self.growth[last].epoch, self.growth[last].samples),
            None => (0, 0, self.samples),
        };
        let draws = draws + u128::from(epoch - since) * u128::from(length);
        Ok(u64::try_from(draws).ok().filter(|&draws| draws <= MAX_EXACT))
    }

    fn is_single(&self) -> bool {
        true
    }

    fn at(self: Rc<Self>, epoch: u64) -> Result<Box<dyn Epoch>, Failure> {
        Ok(Box::new(self.epoch(epoch)?))
    }

    fn seen(&self, sample: u64, epoch: u64, position: u64) -> Result<u64, Failure> {
        let Some(before) = epoch.checked_sub(self.first_epoch(sample)) else { return Ok(0) };
        if position == 0 {
            return Ok(before);
        }
        Ok(before + u64::from(self.epoch(epoch)?.position(sample).is_some_and(|found| found < position)))
    }

    fn seen_of_all(&self, samples: &[u64], epoch: u64) -> Result<u64, Failure> {
        let old = samples.partition_point(|&sample| sample < self.samples);
        let (mut seen, mut from) = (old as u64 * epoch, old);
        for growth in self.growth.iter().take_while(|growth| growth.epoch < epoch) {
            let new = samples[from..].partition_point(|&sample| sample < growth.samples);
            (seen, from) = (seen + new as u64 * (epoch - growth.epoch), from + new);
        }
        Ok(seen)
    }

    fn occurrence(&self, sample: u64, number: u64) -> Result<Option<(u64, u64)>, Failure> {
        let Some(epoch) = self.first_epoch(sample).checked_add(number) else { return Ok(None) };
        if epoch >= MAX_EXACT {
            return Ok(None);
        }
        Ok(self.epoch(epoch)?.position(sample).map(|position| (epoch, position)))
    }

    fn members(&self, seed: &str) -> String {
        let growth = self.growth.iter().map(|Growth { epoch, consumed, samples }| {
            let epoch = unsigned_text(*epoch);
            format!("{{\"epoch\":{epoch},\"consumed\":{consumed},\"samples\":{samples}}}")
        });
        format!(",\"samples\":{}{seed},\"growth\":{}", self.samples, numbers::list(growth))
    }
}

struct GrownEpoch {
    stages: Vec<Stage>,
}

/// A part of an epoch from position `start` on: one order of all samples that are left.
struct Stage {
    start: u64,
    /// The number of samples that are left from the stage before. In the first stage, the number of all samples.
    old: u64,
    /// The number of samples known before this stage.
    known: u64,
    /// The number of samples known in this stage.
    samples: u64,
    order: Feistel,
}

impl GrownEpoch {
    fn position(&self, sample: u64) -> Option<u64> {
        // The number of the sample among the samples that are left; `None` before the stage that adds the sample.
        let mut place = None;
        for (at, stage) in self.stages.iter().enumerate() {
            let number = match place {
                None if at == 0 => (sample < stage.old).then_some(sample),
                None => (stage.known..stage.samples).contains(&sample).then(|| stage.old + (sample - stage.known)),
                Some(number) => Some(number),
            };
            let Some(number) = number else { continue };
            let position = stage.start + stage.order.position(number);
            match self.stages.get(at + 1) {
                Some(next) if position >= next.start => place = Some(position - next.start),
                _ => return Some(position),
            }
        }
        None
    }
}

impl Epoch for GrownEpoch {
    fn sample(&self, position: u64) -> Result<u64, Failure> {
        let last = self.stages.partition_point(|stage| stage.start <= position) - 1;
        let mut number = position;
        for at in (0..=last).rev() {
            let stage = &self.stages[at];
            number = stage.order.sample(number - stage.start);
            if at == 0 {
                break;
            }
            if number >= stage.old {
                return Ok(stage.known + (number - stage.old));
            }
            // A number below `old` is a position of the stage before, counted from the beginning of this stage.
            number += stage.start;
        }
        Ok(number)
    }

    fn map(&self, places: &mut [u64]) -> Result<(), Failure> {
        // Goes from the last stage to the first, with all positions of a stage at once: positions that lie in the
        // stage, and positions of later stages whose samples were known before those stages.
        let stages = places.iter().map(|place| self.stages.partition_point(|stage| stage.start <= *place) - 1);
        let mut begin: Vec<(usize, usize)> = collect("growth", places.len(), stages.zip(0..))?;
        begin.sort_unstable();
        let mut slots: Vec<usize> = collect("growth", places.len(), [])?;
        let mut numbers: Vec<u64> = collect("growth", places.len(), [])?;
        for (at, stage) in self.stages.iter().enumerate().rev() {
            while let Some((_, slot)) = begin.pop_if(|(first, _)| *first == at) {
                slots.push(slot);
                numbers.push(places[slot]);
            }
            numbers.iter_mut().for_each(|number| *number -= stage.start);
            stage.order.map(&mut numbers);
            let mut left = 0;
            for item in 0..slots.len() {
                let (slot, number) = (slots[item], numbers[item]);
                if at > 0 && number < stage.old {
                    (slots[left], numbers[left]) = (slot, number + stage.start);
                    left += 1;
                } else {
                    // In the first stage, numbers are samples.
                    places[slot] = if at > 0 { stage.known + (number - stage.old) } else { number };
                }
            }
            slots.truncate(left);
            numbers.truncate(left);
        }
        Ok(())
    }

    fn next(&self, sample: u64, from: u64) -> Result<Option<u64>, Failure> {
        Ok(self.position(sample).filter(|&position| position >= from))
    }
}
