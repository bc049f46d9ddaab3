//! `exclude`, `subset` and `skip`: an order without some of its samples or positions. The other positions stay in their
//! order. (`exclude` and `subset` of orders in lanes are in `lane_view.rs`.)

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::iter;

use crate::base::memory::{collect, grow};
use crate::base::{Failure, MAX_EXACT};
use crate::document::{numbers, unsigned_text};
use crate::order::selection::Selection;
use crate::order::{Composed, Epoch, Order, OrderPart, Stored};

pub(super) struct View {
    of: Rc<OrderPart>,
    choice: Choice,
    /// The samples that are not in the list of `Exclude`, if they are fewer than those in it: then an epoch is built
    /// from them, so that a short epoch does not cost as much as a long list.
    kept: Option<Vec<u64>>,
    /// The length of every epoch, if all epochs have the same length. It is stored, because counting goes through the
    /// whole list.
    steady: Option<u64>,
    /// Epochs, and the positions before them that `chosen` counted. A search for an epoch asks for the same epochs again
    /// and again.
    counted: RefCell<Vec<(u64, u64)>>,
    /// The last epoch that was built: its list costs as much as thousands of samples, and a search asks for an epoch
    /// several times.
    recent: RefCell<Option<(u64, Rc<ViewEpoch>)>>,
}

/// The most epochs that a view with a list keeps in `counted`: more than a search for an epoch asks for.
const MAX_COUNTED: usize = 128;

pub(super) enum Choice {
    /// All samples except the ones in this ascending list.
    Exclude(Vec<u64>),
    /// Only the samples in this ascending list.
    Subset(Vec<u64>),
    /// All positions except the ones in these ascending ranges.
    Skip(Vec<Skipped>),
}

#[derive(Clone, Copy)]
pub(super) struct Skipped {
    pub(super) epoch: u64,
    pub(super) start: u64,
    pub(super) count: u64,
    /// The number of positions in this range and in all ranges before it.
    pub(super) total: u64,
}

impl View {
    /// A view of the order `of`. For `Exclude` and `Subset`, no epoch of `of` may have a sample twice. Failures:
    /// `out-of-memory`.
    pub(super) fn new(of: Rc<OrderPart>, choice: Choice) -> Result<Self, Failure> {
        let kept = match &choice {
            Choice::Exclude(indices) => others(indices, of.samples)?,
            Choice::Subset(_) | Choice::Skip(_) => None,
        };
        let mut view = Self { of, choice, kept, steady: None, counted: RefCell::default(), recent: RefCell::default() };
        view.steady = match (view.of.steady(), &view.choice) {
            (Some(whole), Choice::Skip(ranges)) => ranges.is_empty().then_some(whole),
            // A steady and single order has the same samples in every epoch, so that all epochs of the view are equally
            // long.
            (Some(_), _) => Some(view.length(0)?),
            (None, _) => None,
        };
        Ok(view)
    }

    fn indices(&self) -> &[u64] {
        match &self.choice {
            Choice::Exclude(indices) | Choice::Subset(indices) => indices,
            Choice::Skip(_) => &[],
        }
    }

    fn skipped(&self) -> &[Skipped] {
        if let Choice::Skip(ranges) = &self.choice { ranges } else { &[] }
    }

    /// The number of positions before an epoch that are skipped, or whose sample is in the list.
    fn chosen(&self, epoch: u64) -> Result<u64, Failure> {
        match &self.choice {
            Choice::Skip(ranges) => {
                let before = ranges.partition_point(|skipped| skipped.epoch < epoch);
                Ok(before.checked_sub(1).map_or(0, |last| ranges[last].total))
            }
            Choice::Exclude(indices) | Choice::Subset(indices) => {
                let mut counted = self.counted.borrow_mut();
                if let Some(&(_, chosen)) = counted.iter().find(|own| own.0 == epoch) {
                    return Ok(chosen);
                }
                let chosen = self.of.seen_of_all(indices, epoch)?;
                if counted.len() == MAX_COUNTED {
                    counted.clear();
                }
                grow("indices", 1, &mut counted)?;
                counted.push((epoch, chosen));
                Ok(chosen)
            }
        }
    }

    /// The number of samples of an ascending list that lie in the ranges of an epoch, which has no sample twice. Costs
    /// as much as the shorter of both: the positions of the ranges, and the list. Failures: `out-of-memory`.
    fn skipped_of(&self, samples: &[u64], ranges: &[Skipped]) -> Result<u64, Failure> {
        let count = ranges.iter().map(|skipped| skipped.count).sum::<u64>();
        let order = self.of.order(ranges[0].epoch)?;
        let mut found = 0;
        if count <= samples.len() as u64 || self.of.has_table() {
            for position in ranges.iter().flat_map(|skipped| skipped.start..skipped.start + skipped.count) {
                found += u64::from(samples.binary_search(&order.sample(position)?).is_ok());
            }
            return Ok(found);
        }
        for &sample in samples {
            let Some(position) = order.next(sample, 0)? else { continue };
            let after = ranges.partition_point(|skipped| skipped.start <= position);
            let last = after.checked_sub(1).map(|last| ranges[last]);
            found += u64::from(last.is_some_and(|last| position - last.start < last.count));
        }
        Ok(found)
    }

    fn left(&self, epoch: u64, order: &Order) -> Result<Selection, Failure> {
        if let Choice::Skip(ranges) = &self.choice {
            let first = ranges.partition_point(|skipped| skipped.epoch < epoch);
            let end = ranges.partition_point(|skipped| skipped.epoch <= epoch);
            let mut runs = collect("ranges", end - first, [])?;
            let mut out = 0;
            for &Skipped { start, count, .. } in &ranges[first..end] {
                runs.push((start - out, out + count));
                out += count;
            }
            return Ok(Selection::Runs(runs));
        }
        let (is_kept, indices) = match (&self.choice, &self.kept) {
            (Choice::Subset(indices), _) | (_, Some(indices)) => (true, &indices[..]),
            _ => (false, self.indices()),
        };
        let mut positions = collect("indices", indices.len(), indices.iter().copied())?;
        if order.map_back(&mut positions) {
            sort(&mut positions, self.of.samples);
        } else if self.of.has_table() {
            positions.clear();
            for position in 0..self.of.length(epoch)? {
                if indices.binary_search(&order.sample(position)?).is_ok() {
                    positions.push(position);
                }
            }
        } else {
            positions.clear();
            for &sample in indices {
                positions.extend(order.next(sample, 0)?);
            }
            samedeal_bulk::numbers(&mut positions);
        }
        if is_kept {
            return Ok(Selection::Only(positions));
        }
        Ok(Selection::without(positions))
    }

    fn epoch(&self, epoch: u64) -> Result<Rc<ViewEpoch>, Failure> {
        let recent = self.recent.take().filter(|(of, _)| *of == epoch);
        let built = match recent {
            Some((_, built)) => built,
            None => {
                let order = self.of.order(epoch)?;
                let left = self.left(epoch, &order)?;
                Rc::new(ViewEpoch { order, left, end: self.of.length(epoch)? })
            }
        };
        self.recent.replace(Some((epoch, Rc::clone(&built))));
        Ok(built)
    }

    /// One more than the inner position of the position before `position`; 0 at the beginning of the epoch.
    fn before(&self, epoch: u64, position: u64) -> Result<u64, Failure> {
        let Some(last) = position.checked_sub(1) else { return Ok(0) };
        Ok(self.epoch(epoch)?.below(last) + 1)
    }

    fn holds(&self, sample: u64) -> bool {
        match &self.choice {
            Choice::Exclude(indices) => indices.binary_search(&sample).is_err(),
            Choice::Subset(indices) => indices.binary_search(&sample).is_ok(),
            Choice::Skip(_) => true,
        }
    }
}

impl Composed for View {
    fn length(&self, epoch: u64) -> Result<u64, Failure> {
        if let Some(length) = self.steady {
            return Ok(length);
        }
        let whole = self.of.length(epoch)?;
        let out = self.chosen(epoch + 1)? - self.chosen(epoch)?;
        Ok(if let Choice::Subset(_) = self.choice { out } else { whole - out })
    }

    fn steady(&self) -> Option<u64> {
        self.steady
    }

    fn has_objects(&self) -> bool {
        matches!(self.choice, Choice::Skip(_)) || self.of.has_objects()
    }

    fn begin(&self, epoch: u64) -> Result<Option<u64>, Failure> {
        let Some(begin) = self.of.begin(epoch)? else { return Ok(None) };
        if let Some(length) = self.steady {
            return Ok(Some(epoch * length));
        }
        let out = self.chosen(epoch)?;
        Ok(Some(if let Choice::Subset(_) = self.choice { out } else { begin - out }))
    }

    fn is_single(&self) -> bool {
        self.of.is_single()
    }

    fn lanes_apart(&self) -> Option<u32> {
        let lanes = self.of.lanes_apart()?;
        let moves = |skipped: &Skipped| !skipped.count.is_multiple_of(lanes.into());
        (matches!(self.choice, Choice::Skip(_)) && !self.skipped().iter().any(moves)).then_some(lanes)
    }

    fn is_by_lane(&self) -> bool {
        // It does not depend on the ranges, because a run can get more of them after its first positions were dealt.
        matches!(self.choice, Choice::Skip(_)) && self.of.is_by_lane()
    }

    fn no_source(&self) -> Option<&'static str> {
        self.of.no_source()
    }

    fn at(self: Rc<Self>, epoch: u64) -> Result<Box<dyn Epoch>, Failure> {
        Ok(Box::new(self.epoch(epoch)?))
    }

    fn seen(&self, sample: u64, epoch: u64, position: u64) -> Result<u64, Failure> {
        if !self.holds(sample) {
            return Ok(0);
        }
        let below = self.before(epoch, position)?;
        let mut seen = self.of.seen(sample, epoch, below)?;
        for skipped in self.skipped().iter().take_while(|skipped| (skipped.epoch, skipped.start) < (epoch, below)) {
            let end = (skipped.start + skipped.count).min(if skipped.epoch == epoch { below } else { MAX_EXACT });
            seen -= self.of.seen(sample, skipped.epoch, end)? - self.of.seen(sample, skipped.epoch, skipped.start)?;
        }
        Ok(seen)
    }

    /// Only called of orders that have no sample twice in an epoch.
    fn seen_of_all(&self, samples: &[u64], epoch: u64) -> Result<u64, Failure> {
        let Choice::Skip(ranges) = &self.choice else {
            let held = samples.iter().copied().filter(|&sample| self.holds(sample));
            return self.of.seen_of_all(&collect("indices", held.clone().count(), held)?, epoch);
        };
        let mut seen = self.of.seen_of_all(samples, epoch)?;
        let before = ranges.partition_point(|skipped| skipped.epoch < epoch);
        for own in ranges[..before].chunk_by(|one, other| one.epoch == other.epoch) {
            seen -= self.skipped_of(samples, own)?;
        }
        Ok(seen)
    }

    fn occurrence(&self, sample: u64, number: u64) -> Result<Option<(u64, u64)>, Failure> {
        if !self.holds(sample) {
            return Ok(None);
        }
        let mut number = number;
        for skipped in self.skipped() {
            let first = self.of.seen(sample, skipped.epoch, skipped.start)?;
            if first > number {
                break;
            }
            number += self.of.seen(sample, skipped.epoch, skipped.start + skipped.count)? - first;
        }
        let Some((epoch, below)) = self.of.occurrence(sample, number)? else { return Ok(None) };
        Ok(Some((epoch, self.epoch(epoch)?.left.rank(below).0)))
    }

    fn members(&self, _: &str) -> String {
        match &self.choice {
            Choice::Exclude(indices) | Choice::Subset(indices) => members_of_list(&self.of, indices),
            Choice::Skip(ranges) => {
                let ranges = ranges.iter().map(|Skipped { epoch, start, count, .. }| {
                    let epoch = unsigned_text(*epoch);
                    format!("{{\"epoch\":{epoch},\"start\":{start},\"count\":{count}}}")
                });
                format!(",\"of\":{},\"ranges\":{}", self.of.text(), numbers::list(ranges))
            }
        }
    }

    fn inner(&self, _place: usize, epoch: u64, position: u64) -> Result<(u64, u64), Failure> {
        Ok((epoch, self.before(epoch, position)?))
    }

    fn part(&self, place: usize) -> Option<&OrderPart> {
        (place == 0).then_some(&self.of)
    }
}

/// The members of `exclude` and `subset`, as in the canonical text.
pub(super) fn members_of_list(of: &OrderPart, indices: &[u64]) -> String {
    format!(",\"of\":{},\"indices\":{}", of.text(), numbers::text(indices.iter().copied()))
}

/// The samples below `end` that are not in an ascending list, if they are fewer than those in it. Failures:
/// `out-of-memory`.
fn others(indices: &[u64], end: u64) -> Result<Option<Vec<u64>>, Failure> {
    let count = end - indices.len() as u64;
    if count >= indices.len() as u64 {
        return Ok(None);
    }
    let mut kept = collect("indices", count as usize, [])?;
    let mut next = 0;
    for &index in indices.iter().chain([&end]) {
        kept.extend(next..index);
        next = index + 1;
    }
    Ok(Some(kept))
}

/// Sorts positions that are in random order, and all below `end`.
fn sort(positions: &mut [u64], end: u64) {
    let count = positions.len();
    match collect("indices", count, iter::repeat_n(0, count)) {
        Ok(mut other) => samedeal_bulk::numbers_with(positions, &mut other, end),
        // Slower, but needs no memory.
        Err(_) => samedeal_bulk::numbers(positions),
    }
}

struct ViewEpoch {
    order: Order,
    /// The positions of the inner order that are left.
    left: Selection,
    /// The length of the inner order.
    end: u64,
}

impl ViewEpoch {
    /// The inner position of a position of the view.
    fn below(&self, position: u64) -> u64 {
        self.left.select(position, self.end)
    }
}

impl Epoch for Rc<ViewEpoch> {
    fn sample(&self, position: u64) -> Result<u64, Failure> {
        self.order.sample(self.below(position))
    }

    fn map(&self, places: &mut [u64]) -> Result<(), Failure> {
        self.left.select_all(places, self.end);
        self.order.map(places)
    }

    fn stored(&self, position: u64) -> Result<Stored, Failure> {
        self.order.stored(self.below(position))
    }

    fn next(&self, sample: u64, from: u64) -> Result<Option<u64>, Failure> {
        let mut below = self.below(from);
        while let Some(found) = self.order.next(sample, below)? {
            let (position, is_here) = self.left.rank(found);
            if is_here {
                return Ok(Some(position));
            }
            let Selection::Runs(_) = self.left else { return Ok(None) };
            // The position is in a removed run: the search goes on after the run, at the next remaining inner position.
            below = self.below(position);
        }
        Ok(None)
    }
}
