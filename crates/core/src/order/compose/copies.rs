//! `copies`: every position of an order several times in a row.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use crate::base::{Failure, MAX_EXACT};
use crate::order::{Composed, Epoch, Order, OrderPart, Stored};
use samedeal_bulk::Divisor;

pub(super) struct Copies {
    pub(super) of: Rc<OrderPart>,
    /// The number of copies of each position, at least 1.
    pub(super) copies: Divisor,
}

impl Copies {
    fn count(&self) -> u64 {
        self.copies.value()
    }
}

impl Composed for Copies {
    fn length(&self, epoch: u64) -> Result<u64, Failure> {
        // The product saturates only for an epoch that is too long, and such an epoch was refused before.
        Ok(self.of.length(epoch)?.saturating_mul(self.count()))
    }

    fn has_objects(&self) -> bool {
        self.of.has_objects()
    }

    fn steady(&self) -> Option<u64> {
        self.of.steady().map(|length| length.saturating_mul(self.count()))
    }

    fn begin(&self, epoch: u64) -> Result<Option<u64>, Failure> {
        let begin = self.of.begin(epoch)?;
        Ok(begin.and_then(|begin| begin.checked_mul(self.count())).filter(|&draws| draws <= MAX_EXACT))
    }

    fn is_single(&self) -> bool {
        self.count() == 1 && self.of.is_single()
    }

    fn no_source(&self) -> Option<&'static str> {
        self.of.no_source()
    }

    fn at(self: Rc<Self>, epoch: u64) -> Result<Box<dyn Epoch>, Failure> {
        Ok(Box::new(CopiesEpoch { order: self.of.order(epoch)?, copies: self.copies }))
    }

    fn seen(&self, sample: u64, epoch: u64, position: u64) -> Result<u64, Failure> {
        let (whole, within) = self.copies.divide(position);
        let mut seen = self.of.seen(sample, epoch, whole)? * self.count();
        if within > 0 && self.of.order(epoch)?.sample(whole)? == sample {
            seen += within;
        }
        Ok(seen)
    }

    fn occurrence(&self, sample: u64, number: u64) -> Result<Option<(u64, u64)>, Failure> {
        let (whole, within) = self.copies.divide(number);
        let found = self.of.occurrence(sample, whole)?;
        Ok(found.map(|(epoch, position)| (epoch, position * self.count() + within)))
    }

    fn members(&self, _: &str) -> String {
        format!(",\"of\":{},\"copies\":{}", self.of.text(), self.count())
    }

    fn inner(&self, _place: usize, epoch: u64, position: u64) -> Result<(u64, u64), Failure> {
        // The copies of one position may be read in part.
        let (whole, within) = self.copies.divide(position);
        Ok((epoch, whole + u64::from(within > 0)))
    }

    fn part(&self, place: usize) -> Option<&OrderPart> {
        (place == 0).then_some(&self.of)
    }
}

struct CopiesEpoch {
    order: Order,
    copies: Divisor,
}

impl Epoch for CopiesEpoch {
    fn sample(&self, position: u64) -> Result<u64, Failure> {
        self.order.sample(self.copies.divide(position).0)
    }

    fn map(&self, places: &mut [u64]) -> Result<(), Failure> {
        places.iter_mut().for_each(|place| *place = self.copies.divide(*place).0);
        self.order.map(places)
    }

    fn stored(&self, position: u64) -> Result<Stored, Failure> {
        self.order.stored(self.copies.divide(position).0)
    }

    fn next(&self, sample: u64, from: u64) -> Result<Option<u64>, Failure> {
        let found = self.order.next(sample, self.copies.divide(from).0)?;
        Ok(found.map(|position| (position * self.copies.value()).max(from)))
    }
}
