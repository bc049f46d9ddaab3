//! Names in the recipe of a blend, and the limit of its size.

/// The most sources of a blend, the most weights of all stages of a blend together, and the most classes of a balance.
pub(crate) const MAX_SOURCES: usize = 1 << 16;

/// The action of a blend when a source has made all of its passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exhaustion {
    /// The source goes on with another pass.
    Repeat,
    /// The epoch ends before the source begins another pass.
    Stop,
    /// The other sources go on without this source.
    Renormalize,
    /// The recipe is refused.
    Fail,
}

pub(crate) const EXHAUSTIONS: [(&str, Exhaustion); 4] = [
    ("repeat", Exhaustion::Repeat),
    ("stop", Exhaustion::Stop),
    ("renormalize", Exhaustion::Renormalize),
    ("fail", Exhaustion::Fail),
];

/// The sample indices of sources: `Joined` for different datasets, one after the other, `Shared` for parts of one
/// dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexSpace {
    Joined,
    Shared,
}

pub(crate) const INDEX_SPACES: [(&str, IndexSpace); 2] =
    [("joined", IndexSpace::Joined), ("shared", IndexSpace::Shared)];
