//! `weighted`: every sample in proportion to its weight. The draws of an epoch are taken from a line on which each
//! sample is as long as its weight, at equal distances (systematic sampling, Madow 1949).

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use samedeal_bulk::Divisor;

use crate::base::key::Words;
use crate::base::memory::collect;
use crate::base::{Failure, MAX_EXACT};
use crate::document::numbers;
use crate::order::{Composed, Epoch, Feistel, last};

pub(super) struct Weighted {
    seed: i64,
    /// The number of draws in an epoch.
    length: u64,
    replacement: bool,
    /// The samples in the order in which they lie on the line, the sure ones at its end. Samples of one weight are
    /// neighbours, so that a class of samples with one weight also gets its share of the draws, to within one.
    samples: Vec<u32>,
    /// The place of each sample on the line.
    places: Vec<u32>,
    /// The end of the sample at each place. So the list also has the weights.
    ends: Vec<u64>,
    /// The number of samples that end at or before each multiple of 2^`shift`, sure ones not included: a search
    /// begins there (Chen and Asau 1974).
    guide: Vec<u32>,
    shift: u32,
    /// The number of *sure* samples, which every epoch has. Only without replacement.
    sure: usize,
    /// The number of draws without those of sure samples; 1 if there are none, because a divisor is not 0.
    drawn: Divisor,
    /// The length of the line without sure samples.
    total: u64,
    /// Where the first draw of epoch 0 lies in its part of the line, in 2^-64 of this part.
    phase: u64,
}

/// The most samples, on average, in a part of the line for which the guide has an entry, if no weight is 0. With many
/// samples, the average is more than half of this number: the length of a part is rounded down to a power of two.
const SAMPLES_OF_A_PART: usize = 16;

/// The distance between the phases of two neighbouring epochs: the golden ratio less 1, in 2^-64. This distance spreads
/// any number of phases evenly.
const STEP: u64 = 11_400_714_819_323_198_485;

impl Weighted {
    /// `length` is at most 2^53 - 1, and there are at most 2^32 - 1 weights. Failures: `weights`, if their sum is 0 or
    /// above 2^53 - 1; `samples`, if an epoch without replacement needs more samples than have a weight above 0;
    /// `out-of-memory`.
    pub(super) fn new(weights: &[u64], length: u64, replacement: bool, seed: i64) -> Result<Self, Failure> {
        let total = weights.iter().map(|&weight| u128::from(weight)).sum::<u128>();
        if !(1..=MAX_EXACT.into()).contains(&total) {
            let allowed = "weights that add up to 1 to 2^53 - 1: only their proportions count";
            return Err(Failure::out_of_range("weights", format!("a sum of {total}"), allowed));
        }
        let least_sure = match replacement {
            true => u64::MAX,
            false => least_sure_weight(weights, total as u64, length)?,
        };
        let phase = Words::new("weighted phase", seed, 0, 0).next_long();
        let samples = on_the_line(weights, least_sure, seed)?;
        let mut places = collect("weights", weights.len(), core::iter::repeat_n(0, weights.len()))?;
        for (place, &sample) in (0..).zip(&samples) {
            places[sample as usize] = place;
        }
        let mut end = 0;
        let ends = samples.iter().map(|&sample| {
            end += weights[sample as usize];
            end
        });
        let ends = collect("weights", weights.len(), ends)?;
        let sure = weights.iter().filter(|&&weight| weight >= least_sure).count();
        let others = weights.len() - sure;
        let total = others.checked_sub(1).map_or(0, |last| ends[last]);
        let drawn = Divisor::new((length - sure as u64).max(1));
        let shift = (total / (others / SAMPLES_OF_A_PART + 1) as u64).max(1).ilog2();
        let mut place = 0;
        let before = |part: u64| {
            place += ends[place..others].iter().take_while(|&&end| end <= part << shift).count();
            place as u32
        };
        let guide = collect("weights", (total >> shift) as usize + 1, (0..=total >> shift).map(before))?;
        Ok(Self { seed, length, replacement, samples, places, ends, guide, shift, sure, drawn, total, phase })
    }

    /// The number of draws without those of sure samples.
    fn drawn(&self) -> u64 {
        self.length - self.sure as u64
    }

    /// The phase of an epoch, from 0 to `total` - 1: draw number k lies at (k * `total` + phase) / `drawn`.
    fn phase(&self, epoch: u64) -> u64 {
        let phase = self.phase.wrapping_add(epoch.wrapping_mul(STEP));
        ((u128::from(phase) * u128::from(self.total)) >> 64) as u64
    }

    /// The beginning and the end of a sample on the line.
    fn span(&self, sample: u64) -> (u64, u64) {
        let place = self.places[sample as usize] as usize;
        (place.checked_sub(1).map_or(0, |before| self.ends[before]), self.ends[place])
    }

    /// The draw of a sure sample, which each epoch has. Sure samples have the first draws.
    fn sure(&self, sample: u64) -> Option<u64> {
        u64::from(self.places[sample as usize]).checked_sub((self.samples.len() - self.sure) as u64)
    }

    /// The number of draws of an epoch before a point of the line, sure ones not included.
    fn draws_before(&self, point: u64, phase: u64) -> u64 {
        let (whole, rest) = self.parts(point);
        whole + u64::from(rest > phase)
    }

    /// The number of draws of the first `epochs` epochs before a point of the line, sure ones not included.
    fn draws_before_all(&self, point: u64, epochs: u64) -> u64 {
        let (whole, rest) = self.parts(point);
        if rest == 0 {
            return epochs * whole;
        }
        // The phase of an epoch is below `rest` if its 64 bits are below `limit`. A number x modulo 2^64 is below
        // `limit` exactly if the quotients of x + 2^64 and of x + 2^64 - `limit` by 2^64 differ.
        let limit = (u128::from(rest) << 64).div_ceil(u128::from(self.total));
        let wrap = 1_u128 << 64;
        let count = |offset: u128| floor_sum(epochs.into(), wrap, STEP.into(), offset + u128::from(self.phase));
        epochs * whole + (count(wrap) - count(wrap - limit)) as u64
    }

    /// `point` * `drawn` as a multiple of `total`, and the rest.
    fn parts(&self, point: u64) -> (u64, u64) {
        let (wide, total) = (u128::from(point) * u128::from(self.drawn()), u128::from(self.total));
        ((wide / total) as u64, (wide % total) as u64)
    }

    /// The draws of a sample in an epoch: the first one, and the one after the last one.
    fn draws(&self, sample: u64, epoch: u64) -> (u64, u64) {
        if let Some(draw) = self.sure(sample) {
            return (draw, draw + 1);
        }
        let (begin, end) = self.span(sample);
        let (phase, sure) = (self.phase(epoch), self.sure as u64);
        (sure + self.draws_before(begin, phase), sure + self.draws_before(end, phase))
    }

    /// The number of draws of a sample in the first `epochs` epochs, which together have at most 2^53 - 1 draws.
    fn draws_of_all(&self, sample: u64, epochs: u64) -> u64 {
        if self.sure(sample).is_some() {
            return epochs;
        }
        let (begin, end) = self.span(sample);
        self.draws_before_all(end, epochs) - self.draws_before_all(begin, epochs)
    }

    /// The permutation of the draws of an epoch: the draw at each position.
    fn shuffle(&self, epoch: u64) -> Feistel {
        Feistel::from_words(self.length, &mut Words::new("weighted", self.seed, epoch, 0))
    }

    /// The positions of a sample in an epoch, ascending. Failures: `out-of-memory`.
    fn positions(&self, sample: u64, epoch: u64, shuffle: &Feistel) -> Result<Vec<u64>, Failure> {
        let (first, end) = self.draws(sample, epoch);
        let positions = (first..end).map(|draw| shuffle.position(draw));
        // A list that is too long for an address fails as one that is too long for the memory.
        let mut positions = collect("samples", usize::try_from(end - first).unwrap_or(usize::MAX), positions)?;
        samedeal_bulk::numbers(&mut positions);
        Ok(positions)
    }
}

/// The samples in the order in which they lie on the line: [`Weighted::samples`]. Samples with a weight of `least_sure`
/// or more are sure. Failures: `out-of-memory`.
fn on_the_line(weights: &[u64], least_sure: u64, seed: i64) -> Result<Vec<u32>, Failure> {
    // Neighbours in the dataset must not be neighbours on the line, because in epochs of few draws neighbours on the
    // line exclude each other. So the samples of one weight are shuffled, and so are the weights.
    let order = Feistel::from_words(weights.len() as u64, &mut Words::new("weighted order", seed, 0, 0));
    let key = |(sample, &weight): (u64, &u64)| u128::from(weight) << 32 | u128::from(order.position(sample));
    let mut keys = collect("weights", weights.len(), (0..).zip(weights).map(key))?;
    samedeal_bulk::numbers128(&mut keys);
    let different = keys.chunk_by(|one, other| one >> 32 == other >> 32).count();
    let classes = Feistel::from_words(different as u64, &mut Words::new("weighted classes", seed, 0, 0));
    let (mut class, mut before) = (0, keys[0] >> 32);
    for key in &mut keys {
        let weight = *key >> 32;
        class += u64::from(weight != before);
        before = weight;
        let is_sure = u128::from(weight >= u128::from(least_sure));
        *key = is_sure << 96 | u128::from(classes.position(class)) << 32 | *key & u128::from(u32::MAX);
    }
    samedeal_bulk::numbers128(&mut keys);
    let sample = |&key: &u128| order.sample((key & u128::from(u32::MAX)) as u64) as u32;
    collect("weights", weights.len(), keys.iter().map(sample))
}

/// The smallest weight of a *sure* sample: without replacement, every epoch has all samples of this weight or more. If
/// there are no sure samples: `u64::MAX`, which is more than any weight. `total` is the sum of the weights, `length` the
/// number of draws. Failures: `samples`, `out-of-memory`.
fn least_sure_weight(weights: &[u64], total: u64, length: u64) -> Result<u64, Failure> {
    let some = weights.iter().filter(|&&weight| weight > 0).count();
    if length > some as u64 {
        let allowed = format!("at most {some}, the number of weights above 0, with `replacement` false");
        return Err(Failure::contradiction("samples", length, allowed));
    }
    let mut sorted = collect("weights", weights.len(), weights.iter().copied())?;
    samedeal_bulk::numbers(&mut sorted);
    // The heaviest samples come first. `left` draws and the weight `rest` are left for the samples that are not sure. A
    // sample is sure if its share of these draws, left * weight / rest, is more than one. Of samples with equal weights,
    // all are sure or none is, because left * weight > rest implies (left - 1) * weight > rest - weight. At least one
    // draw is left at the end: with `left` = 1, a sure sample would have a weight above `rest`, which includes it.
    let (mut left, mut rest, mut least) = (length, total, u64::MAX);
    for &weight in sorted.iter().rev() {
        if u128::from(left) * u128::from(weight) <= u128::from(rest) {
            break;
        }
        (left, rest, least) = (left - 1, rest - weight, weight);
    }
    Ok(least)
}

/// The sum of floor((`offset` + i * `step`) / `modulus`) over i from 0 to `count` - 1, in as many steps as Euclid's
/// algorithm takes. No number on the way is more than the sum itself, the square of `count`, or `count` + 1 times the
/// greatest of the other three arguments.
fn floor_sum(mut count: u128, mut modulus: u128, mut step: u128, mut offset: u128) -> u128 {
    let mut sum = 0;
    while count > 0 {
        sum += count * (count - 1) / 2 * (step / modulus) + count * (offset / modulus);
        (step, offset) = (step % modulus, offset % modulus);
        // The rest of the sum is the number of lattice points below a line. They are counted along the other axis.
        let top = offset + count * step;
        (count, offset) = (top / modulus, top % modulus);
        (modulus, step) = (step, modulus);
    }
    sum
}

impl Composed for Weighted {
    fn length(&self, _epoch: u64) -> Result<u64, Failure> {
        Ok(self.length)
    }

    fn steady(&self) -> Option<u64> {
        Some(self.length)
    }

    // Without replacement, no epoch has a sample twice, but two epochs may have different samples. So the epochs of a
    // view with a list of samples would differ in length. Such a view is not needed: a weight of 0 leaves a sample out.
    fn is_single(&self) -> bool {
        false
    }

    fn at(self: Rc<Self>, epoch: u64) -> Result<Box<dyn Epoch>, Failure> {
        let (phase, shuffle) = (self.phase(epoch), self.shuffle(epoch));
        let (step, rest) = self.drawn.divide(self.total);
        let (begin, offset) = self.drawn.divide(phase);
        Ok(Box::new(WeightedEpoch { epoch, begin, offset, step, rest, shuffle, weighted: self }))
    }

    fn seen(&self, sample: u64, epoch: u64, position: u64) -> Result<u64, Failure> {
        let before = self.draws_of_all(sample, epoch);
        if position == 0 {
            return Ok(before);
        }
        let here = self.positions(sample, epoch, &self.shuffle(epoch))?;
        Ok(before + here.partition_point(|&found| found < position) as u64)
    }

    fn occurrence(&self, sample: u64, number: u64) -> Result<Option<(u64, u64)>, Failure> {
        let Some(epochs) = MAX_EXACT.checked_div(self.length) else { return Ok(None) };
        if self.draws_of_all(sample, epochs) <= number {
            return Ok(None);
        }
        // The last epoch before which the sample was seen `number` times at most.
        let epoch = last(epochs, |epoch| Ok(self.draws_of_all(sample, epoch) <= number))?;
        let number = number - self.draws_of_all(sample, epoch);
        let positions = self.positions(sample, epoch, &self.shuffle(epoch))?;
        Ok(positions.get(number as usize).map(|&position| (epoch, position)))
    }

    fn members(&self, seed: &str) -> String {
        let weight = |sample| {
            let (begin, end) = self.span(sample);
            end - begin
        };
        let weights = numbers::text((0..self.samples.len() as u64).map(weight));
        let replacement = if self.replacement { "" } else { ",\"replacement\":false" };
        format!(",\"samples\":{}{seed},\"weights\":{weights}{replacement}", self.length)
    }
}

/// One epoch. Draw number k, sure ones not counted, lies `begin` + `step` * k + floor((`offset` + `rest` * k) /
/// `drawn`) from the beginning of the line: with few draws, the division needs 64 bits only.
struct WeightedEpoch {
    weighted: Rc<Weighted>,
    epoch: u64,
    begin: u64,
    offset: u64,
    step: u64,
    rest: u64,
    shuffle: Feistel,
}

impl WeightedEpoch {
    /// The sample of a draw.
    fn draw(&self, draw: u64) -> u64 {
        let Weighted { sure, ends, guide, shift, samples, drawn, .. } = &*self.weighted;
        let others = samples.len() - sure;
        let Some(number) = draw.checked_sub(*sure as u64) else { return samples[others + draw as usize].into() };
        let rest = u128::from(self.offset) + u128::from(self.rest) * u128::from(number);
        let more = match u64::try_from(rest) {
            Ok(rest) => drawn.divide(rest).0,
            Err(_) => (rest / u128::from(drawn.value())) as u64,
        };
        let point = self.begin + self.step * number + more;
        let part = (point >> shift) as usize;
        let (low, high) = (guide[part] as usize, guide.get(part + 1).map_or(others, |&high| high as usize));
        samples[low + ends[low..high].partition_point(|&end| end <= point)].into()
    }
}

impl Epoch for WeightedEpoch {
    fn sample(&self, position: u64) -> Result<u64, Failure> {
        Ok(self.draw(self.shuffle.sample(position)))
    }

    fn map(&self, places: &mut [u64]) -> Result<(), Failure> {
        self.shuffle.map(places);
        places.iter_mut().for_each(|place| *place = self.draw(*place));
        Ok(())
    }

    fn next(&self, sample: u64, from: u64) -> Result<Option<u64>, Failure> {
        let positions = self.weighted.positions(sample, self.epoch, &self.shuffle)?;
        Ok(positions.get(positions.partition_point(|&position| position < from)).copied())
    }
}

#[cfg(all(test, feature = "composed"))]
mod tests;
