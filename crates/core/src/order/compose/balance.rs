//! `balance`: every sample as often as the factor of its class says. An epoch has whole draws; fractions are carried on
//! to later epochs.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::tree::Tree;
use crate::base::key::Words;
use crate::base::memory::collect;
use crate::base::{Failure, MAX_EXACT};
use crate::document::numbers;
use crate::order::{Composed, Epoch, Feistel, last};

pub(super) struct Balance {
    seed: i64,
    /// The class of each sample.
    classes: Vec<u32>,
    /// For each class, how often its samples are seen in an epoch, in millionths. With a fixed length, only the
    /// proportions count.
    factors: Vec<u64>,
    /// The length of every epoch, if the recipe has a length.
    fixed: Option<Fixed>,
    /// The samples of each class, class by class; class c begins at `starts[c]`.
    members: Vec<u32>,
    starts: Vec<u32>,
    /// For each class, the order of its members. The draws of the class go through it again and again, over all epochs.
    orders: Vec<Feistel>,
    /// The fraction of a draw that class 0 has before epoch 0, in millionths. The other classes have other fractions,
    /// at distances of `STEP`, so that not all classes have their draws in the same epochs.
    phase: u64,
}

/// Epochs of one length: the draws of all epochs together are divided among the classes.
struct Fixed {
    length: u64,
    /// The pattern of the classes. The weight of a class is its factor times the number of its samples.
    tree: Tree,
}

const MILLION: u64 = 1_000_000;
/// The distance between the phases of two neighbouring classes: the golden ratio less 1, in millionths. This distance
/// spreads any number of phases evenly.
const STEP: u64 = 618_034;

impl Balance {
    /// There are at most 2^32 - 1 samples, and classes are below the number of factors. Without a length, factors are
    /// below 2^32. With a length, the factors of all samples must add up to 1 to 2^53 - 1, which is checked. Failures:
    /// `factors`, `out-of-memory`.
    pub(super) fn new(classes: Vec<u32>, factors: Vec<u64>, length: Option<u64>, seed: i64) -> Result<Self, Failure> {
        let mut starts = collect("factors", factors.len() + 1, core::iter::repeat_n(0_u32, factors.len() + 1))?;
        for &class in &classes {
            starts[class as usize + 1] += 1;
        }
        for class in 0..factors.len() {
            starts[class + 1] += starts[class];
        }
        let mut ends = collect("factors", factors.len(), starts.iter().copied())?;
        let mut members = collect("classes", classes.len(), core::iter::repeat_n(0, classes.len()))?;
        for (sample, &class) in (0..).zip(&classes) {
            members[ends[class as usize] as usize] = sample;
            ends[class as usize] += 1;
        }
        let sizes = starts.iter().zip(starts.iter().skip(1)).map(|(start, end)| u64::from(end - start));
        let fixed = match length {
            None => None,
            Some(length) => {
                let shares = sizes.clone().zip(&factors).map(|(size, &factor)| u128::from(size) * u128::from(factor));
                let total = shares.clone().sum::<u128>();
                if !(1..=MAX_EXACT.into()).contains(&total) {
                    let allowed = "factors that add up to 1 to 2^53 - 1 over all samples: with `samples`, only their proportions count";
                    return Err(Failure::out_of_range("factors", format!("a sum of {total}"), allowed));
                }
                let shares = collect("factors", factors.len(), shares.map(|share| share as u64))?;
                Some(Fixed { length, tree: Tree::new(&shares)? })
            }
        };
        let order = |(class, size)| Feistel::from_words(size, &mut Words::new("balance class", seed, 0, class));
        let orders = collect("factors", factors.len(), (0..).zip(sizes).map(order))?;
        let phase = Words::new("balance phase", seed, 0, 0).below(MILLION as u32).into();
        Ok(Self { seed, classes, factors, fixed, members, starts, orders, phase })
    }

    fn size(&self, class: usize) -> u64 {
        u64::from(self.starts[class + 1] - self.starts[class])
    }

    /// The number of draws of a class before an epoch; `epoch` is at most 2^53. Each class has its own phase: otherwise,
    /// many small classes would have their draws in the same epochs.
    fn drawn(&self, class: usize, epoch: u64) -> u128 {
        if let Some(Fixed { length, tree }) = &self.fixed {
            // Capped: searches also try epochs that are too late to be used.
            return tree.count(class as u32, epoch.saturating_mul(*length).min(MAX_EXACT)).into();
        }
        let share = u128::from(self.size(class)) * u128::from(self.factors[class]);
        let phase = (self.phase + class as u64 * STEP) % MILLION;
        (u128::from(epoch) * share + u128::from(phase)) / u128::from(MILLION)
    }

    fn draws(&self, epoch: u64) -> u128 {
        (0..self.factors.len()).map(|class| self.drawn(class, epoch)).sum()
    }

    /// The class of a sample, and the place of the sample in the order of this class.
    fn place(&self, sample: u64) -> (usize, u64) {
        let class = self.classes[sample as usize] as usize;
        let own = &self.members[self.starts[class] as usize..self.starts[class + 1] as usize];
        let number = own.partition_point(|&member| u64::from(member) < sample);
        (class, self.orders[class].position(number as u64))
    }

    /// The draws of a sample, among the draws `from` to `to` - 1 of its class.
    fn draws_of(&self, sample: u64, from: u64, to: u64) -> impl Iterator<Item = u64> + Clone {
        let (class, place) = self.place(sample);
        let size = self.size(class);
        let first = if from <= place { place } else { place + (from - place).div_ceil(size) * size };
        (first..to).step_by(size as usize)
    }

    /// Failures: `out-of-memory`.
    fn epoch(&self, epoch: u64) -> Result<Elements, Failure> {
        let mut ends = collect("factors", self.factors.len(), [])?;
        let mut end = 0;
        for class in 0..self.factors.len() {
            end += (self.drawn(class, epoch + 1) - self.drawn(class, epoch)) as u64;
            ends.push(end);
        }
        let order = Feistel::from_words(end, &mut Words::new("balance", self.seed, epoch, 0));
        Ok(Elements { epoch, ends, order })
    }
}

impl Composed for Balance {
    fn length(&self, epoch: u64) -> Result<u64, Failure> {
        if let Some(length) = self.steady() {
            return Ok(length);
        }
        Ok((self.draws(epoch + 1) - self.draws(epoch)) as u64)
    }

    fn steady(&self) -> Option<u64> {
        self.fixed.as_ref().map(|fixed| fixed.length)
    }

    fn begin(&self, epoch: u64) -> Result<Option<u64>, Failure> {
        if let Some(length) = self.steady() {
            return Ok(epoch.checked_mul(length).filter(|&draws| draws <= MAX_EXACT));
        }
        if epoch > MAX_EXACT {
            return Ok(None);
        }
        Ok(u64::try_from(self.draws(epoch)).ok().filter(|&draws| draws <= MAX_EXACT))
    }

    fn is_single(&self) -> bool {
        false
    }

    fn at(self: Rc<Self>, epoch: u64) -> Result<Box<dyn Epoch>, Failure> {
        Ok(Box::new(BalanceEpoch { elements: self.epoch(epoch)?, balance: self }))
    }

    fn seen(&self, sample: u64, epoch: u64, position: u64) -> Result<u64, Failure> {
        let (class, place) = self.place(sample);
        let before = (self.drawn(class, epoch) as u64).saturating_sub(place).div_ceil(self.size(class));
        let here = if position == 0 { Vec::new() } else { self.epoch(epoch)?.positions(self, sample)? };
        Ok(before + here.partition_point(|&found| found < position) as u64)
    }

    fn occurrence(&self, sample: u64, number: u64) -> Result<Option<(u64, u64)>, Failure> {
        let (class, place) = self.place(sample);
        let draw = u128::from(number) * u128::from(self.size(class)) + u128::from(place);
        if self.drawn(class, MAX_EXACT) <= draw {
            return Ok(None);
        }
        // The last epoch that begins at or before the draw.
        let epoch = last(MAX_EXACT, |epoch| Ok(self.drawn(class, epoch) <= draw))?;
        if self.begin(epoch + 1)?.is_none() {
            return Ok(None);
        }
        let before = self.seen(sample, epoch, 0)?;
        let positions = self.epoch(epoch)?.positions(self, sample)?;
        Ok(positions.get((number - before) as usize).map(|&position| (epoch, position)))
    }

    fn members(&self, seed: &str) -> String {
        let classes = numbers::text(self.classes.iter().copied().map(u64::from));
        let factors = numbers::text(self.factors.iter().copied());
        let samples = self.steady().map_or_else(String::new, |length| format!(",\"samples\":{length}"));
        format!("{samples}{seed},\"classes\":{classes},\"factors\":{factors}")
    }
}

/// The elements of an epoch: the draws of its classes, class by class. `order` shuffles them.
struct Elements {
    epoch: u64,
    /// The end of the elements of each class.
    ends: Vec<u64>,
    order: Feistel,
}

impl Elements {
    /// The number of the first element of a class.
    fn first(&self, class: usize) -> u64 {
        class.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// The positions of a sample, ascending. Failures: `out-of-memory`.
    fn positions(&self, balance: &Balance, sample: u64) -> Result<Vec<u64>, Failure> {
        let class = balance.classes[sample as usize] as usize;
        let first = self.first(class);
        // Fits into 64 bits: an epoch that can be used has its draws below 2^53.
        let begin = balance.drawn(class, self.epoch) as u64;
        let draws = balance.draws_of(sample, begin, begin + (self.ends[class] - first));
        let positions = draws.clone().map(|draw| self.order.position(first + draw - begin));
        let mut positions = collect("factors", draws.count(), positions)?;
        samedeal_bulk::numbers(&mut positions);
        Ok(positions)
    }
}

struct BalanceEpoch {
    balance: Rc<Balance>,
    elements: Elements,
}

impl BalanceEpoch {
    /// The sample of an element.
    fn element(&self, element: u64) -> u64 {
        let Self { balance, elements } = self;
        let class = elements.ends.partition_point(|&end| end <= element);
        let draw = balance.drawn(class, elements.epoch) + u128::from(element - elements.first(class));
        let number = balance.orders[class].sample((draw % u128::from(balance.size(class))) as u64);
        balance.members[balance.starts[class] as usize + number as usize].into()
    }
}

impl Epoch for BalanceEpoch {
    fn sample(&self, position: u64) -> Result<u64, Failure> {
        Ok(self.element(self.elements.order.sample(position)))
    }

    fn map(&self, places: &mut [u64]) -> Result<(), Failure> {
        self.elements.order.map(places);
        places.iter_mut().for_each(|place| *place = self.element(*place));
        Ok(())
    }

    fn next(&self, sample: u64, from: u64) -> Result<Option<u64>, Failure> {
        let positions = self.elements.positions(&self.balance, sample)?;
        Ok(positions.get(positions.partition_point(|&position| position < from)).copied())
    }
}
