use crate::engine::steps;

/// An epoch and a position of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct EpochPosition {
    /// The number of the epoch.
    pub epoch: u64,
    /// The position in this epoch.
    pub position: u64,
}

impl From<steps::EpochPosition> for EpochPosition {
    fn from(steps::EpochPosition { epoch, position }: steps::EpochPosition) -> Self {
        Self { epoch, position }
    }
}

/// When and where a sample is seen; see [`Schedule::locate`](crate::Schedule::locate).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct StepPlace {
    /// How many samples all ranks together took before it, since the beginning of the training.
    pub draw: u64,
    /// The number of the epoch.
    pub epoch: u64,
    /// The position in this epoch.
    pub position: u64,
    /// The global step.
    pub step: u64,
    /// The rank that has it.
    pub rank: u32,
    /// Its place among the samples of this rank at this step.
    pub index_in_batch: u32,
}

impl From<steps::StepPlace> for StepPlace {
    fn from(place: steps::StepPlace) -> Self {
        let steps::StepPlace { draw, epoch, position, step, rank, index_in_batch } = place;
        Self { draw, epoch, position, step, rank, index_in_batch }
    }
}
