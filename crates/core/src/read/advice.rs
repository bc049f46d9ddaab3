//! What lanes cost the readers of a group, in numbers for those who choose them.

use super::options::Dealt;
use super::reading::Reading;
use crate::base::gcd;
use crate::order::MAX_LANES;

/// Lanes from which batches mix better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MixingAdvice {
    /// How many lanes each reader has: the rows of a batch come from as many places of the dataset.
    pub lanes_per_reader: u32,
    /// How many times the variance that chance would give the mean of a batch has, if neighbouring rows are alike: batch size /
    /// lanes per reader, to the nearest integer.
    pub variance_ratio: u32,
    /// Lanes to use instead.
    pub lanes: u32,
    /// The window to use with them: about as many rows are in memory then.
    pub window: u32,
}

impl Reading {
    /// The number of lanes nearest to that of this reading, the greater of two that are as near, with which one reader decodes
    /// each row. None where there is no such number, where readers have no lanes, and within an epoch, whose lanes are given.
    pub fn lanes_read_once(&self) -> Option<u32> {
        let (lanes, _) = self.lanes()?;
        let readers = self.group().readers();
        let most = u64::from(MAX_LANES) / readers;
        if most == 0 {
            return None;
        }
        let nearest = (2 * u64::from(lanes) + readers) / (2 * readers);
        Some((nearest.clamp(1, most) * readers) as u32)
    }

    /// What to use instead where readers have so few lanes that the mean of a batch varies more than twice as much as by chance.
    /// None where they have more, where no number of lanes is better, where a reader has no more than a batch, where readers have
    /// no lanes, and within an epoch.
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
            window: (u64::from(lanes) * u64::from(window) / more).max(1) as u32,
        })
    }

    /// The lanes and the window of the order, where a whole epoch is dealt from lanes.
    fn lanes(&self) -> Option<(u32, u32)> {
        let recipe = self.parts();
        let woven = recipe.shuffle && matches!(recipe.dealt, Dealt::Samples);
        (woven && !self.is_rest()).then_some((recipe.sharding.lanes, recipe.sharding.window))
    }
}
