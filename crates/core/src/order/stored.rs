//! The storage place of a sample.

/// The storage place of the sample at a position. Sorting places by lane, pass and element puts neighbouring rows of a
/// shard next to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) sample: u64,
    /// The lane, numbered through all inner orders that have lanes.
    pub(crate) lane: u32,
    /// The epoch of the order that has the lane. For a source of a blend, the number of its pass.
    pub(crate) pass: u64,
    /// The place of the sample in the lane.
    pub(crate) element: u64,
}

impl Stored {
    /// A sample of an order that has no lanes.
    pub(crate) fn alone(sample: u64) -> Self {
        Self { sample, element: sample, ..Self::default() }
    }
}
