//! Advice for the number of lanes and the window.

use super::reading::Reading;
use crate::base::gcd;
use crate::order::MAX_LANES;

/// A number of lanes and a window with which batches are closer to random ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixingAdvice {
    /// Number of lanes that each reader has now. The rows of a batch come from this many places of the dataset.
    pub lanes_per_reader: u32,
    /// Variance of a batch mean, divided by its variance in random batches, if neighbouring rows have similar values:
    /// batch size / `lanes_per_reader`, rounded to the nearest integer.
    pub variance_ratio: u32,
    /// The number of lanes to use instead.
    pub lanes: u32,
    /// The shuffle window to use with these lanes. A reader then holds about as many rows in memory as now.
    pub shuffle_window: u32,
}

impl Reading {
    /// The number of lanes with which only one reader decodes each row: the one nearest to the present number, the
    /// larger one of two at the same distance. None if there is no such number, if the order has no lanes, or if this
    /// is the rest of an epoch, in which the number of lanes cannot change.
    pub fn lanes_read_once(&self) -> Option<u32> {
        let apart = self.parts().order().and_then(|order| order.lanes_apart()).filter(|_| !self.is_rest());
        let lanes = apart.or(self.lanes().map(|(lanes, _)| lanes))?;
        let readers = self.group().readers();
        let most = u64::from(MAX_LANES) / readers;
        if most == 0 {
            return None;
        }
        let nearest = (2 * u64::from(lanes) + readers) / (2 * readers);
        Some((nearest.clamp(1, most) * readers) as u32)
    }

    /// The number of lanes and the window to use instead, if batch size / lanes of a reader is above 2. None if this
    /// ratio is 2 or less, if no number of lanes is better, if a reader has at most one batch of samples, if the order
    /// has no lanes, or if this is the rest of an epoch.
    pub fn mixing_advice(&self) -> Option<MixingAdvice> {
        let (lanes, window) = self.lanes()?;
        let (readers, size) = (self.group().readers(), u64::from(self.group().batch_size));
        let own = u64::from(lanes) / gcd(readers, lanes.into());
        let enough = size.div_ceil(2);
        let wanted = enough.min(u64::from(MAX_LANES) / readers);
        if wanted <= own || self.samples() / readers <= size {
            return None;
        }
        let more = wanted * readers;
        Some(MixingAdvice {
            lanes_per_reader: own as u32,
            variance_ratio: ((2 * size + own) / (2 * own)) as u32,
            lanes: more as u32,
            shuffle_window: (u64::from(lanes) * u64::from(window) / more).max(1) as u32,
        })
    }

    /// The lanes and the window of the order; none if it has no lanes, or if this is the rest of an epoch.
    fn lanes(&self) -> Option<(u32, u32)> {
        self.parts().lanes().filter(|_| !self.is_rest())
    }
}
