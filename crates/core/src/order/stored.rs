//! Where a sample is stored.

/// Where the sample of a position is stored. Those of one lane, in the order of passes and then of elements, lie one behind the other in
/// each shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) sample: u64,
    /// The lane, counted through all orders that have some.
    pub(crate) lane: u32,
    /// The epoch of the order that has the lane.
    pub(crate) pass: u64,
    /// Its place in the lane.
    pub(crate) element: u64,
}

impl Stored {
    /// A sample of an order that has no lanes.
    pub(crate) fn alone(sample: u64) -> Self {
        Self { sample, element: sample, ..Self::default() }
    }
}
