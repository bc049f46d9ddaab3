//! Advice for the number of lanes and the window.

use super::reading::Reading;
use crate::base::gcd;
use crate::order::MAX_LANES;

/// The largest variance of a batch mean, divided by its variance in random batches, for which no advice is needed.
pub(crate) const MAX_VARIANCE_RATIO: u64 = 2;
/// Loader workers of each rank that lanes are chosen for, if the number of readers of a run is not known.
#[cfg(feature = "texts")]
pub(crate) const ASSUMED_WORKERS: u32 = 8;
/// The batch size that lanes are chosen for if the reading has batches of one sample, because the program makes batches
/// itself.
const BATCH: u64 = 64;
/// The fewest lanes of all readers together, if there are enough row groups: the default of `lanes`.
const FEWEST_LANES: u64 = 64;
/// The most lanes of one reader. Each lane takes memory for its window, and an open file in most formats.
const MOST_OF_READER: u64 = 128;
/// The fewest row groups of a lane, on average. Neighbouring lanes decode the row group at their border twice, so a row
/// group is decoded at most 1 + 1 / `GROUPS_OF_LANE` times on average.
const GROUPS_OF_LANE: u64 = 2;
/// The most rows in all windows of one reader: 64 lanes with the default window have as many.
const WINDOW_ROWS: u64 = 1 << 14;
/// The largest window: the default of `shuffle_window`.
const MOST_WINDOW: u64 = 256;

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

/// Lanes and a window that suit the files and the readers of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuggestedLanes {
    /// Number of lanes: a multiple of the number of readers.
    pub lanes: u32,
    /// The shuffle window.
    pub shuffle_window: u32,
    /// Variance of a batch mean with these lanes, as in [`MixingAdvice`]; at least 1.
    pub variance_ratio: u32,
}

impl Reading {
    /// The number of lanes with which only one reader decodes each row: the one nearest to the present number, the
    /// larger one of two at the same distance. None if there is no such number, if the order does not keep lanes apart,
    /// or if this is the rest of an epoch, in which the number of lanes cannot change.
    pub fn lanes_read_once(&self) -> Option<u32> {
        let lanes = self.parts().order().and_then(|order| order.lanes_apart()).filter(|_| !self.is_rest())?;
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
        let enough = size.div_ceil(MAX_VARIANCE_RATIO);
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

    /// Lanes and a window for at most `readers` readers of row groups of `group_rows` rows, for the number of samples
    /// and the batch size of this reading. The lanes divide all numbers in `multiples`, if a multiple of `readers` up to
    /// the number that is best without them does. None if `readers` is 0 or above the most lanes, or if `group_rows` is 0.
    pub fn suggested_lanes(&self, group_rows: u64, readers: u32, multiples: &[u64]) -> Option<SuggestedLanes> {
        let readers = u64::from(readers);
        let most = u64::from(MAX_LANES).checked_div(readers)?.min(MOST_OF_READER);
        let size = match self.group().batch_size {
            1 => BATCH,
            size => size.into(),
        };
        let wanted = size.div_ceil(MAX_VARIANCE_RATIO).max(FEWEST_LANES.div_ceil(readers));
        let enough_groups = self.samples().checked_div(group_rows)? / (GROUPS_OF_LANE * readers);
        let best = wanted.min(enough_groups.max(1)).min(most);
        let common = multiples.iter().fold(0, |common, &number| gcd(common, number));
        let own = (1..=best).rev().find(|own| common % (own * readers) == 0).unwrap_or(best);
        Some(SuggestedLanes {
            lanes: (own * readers) as u32,
            shuffle_window: WINDOW_ROWS.checked_div(own)?.min(MOST_WINDOW) as u32,
            variance_ratio: ((2 * size + own) / (2 * own)).max(1) as u32,
        })
    }

    /// The lanes and the window of the order; none if it has no lanes, or if this is the rest of an epoch.
    fn lanes(&self) -> Option<(u32, u32)> {
        self.parts().lanes().filter(|_| !self.is_rest())
    }
}
