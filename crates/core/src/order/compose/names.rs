//! The names in the recipe of a blend, and how large it may be.

/// The most sources of a blend, and the most weights of all its stages together.
pub(crate) const MAX_SOURCES: usize = 1 << 16;

/// The end of a blend: what happens when a source has made all of its passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exhaustion {
    /// Nothing: it goes on.
    Repeat,
    /// The epoch ends before it begins another one.
    Stop,
    /// The other sources go on without it.
    Renormalise,
    /// There is no such order.
    Fail,
}

pub(crate) const EXHAUSTIONS: [(&str, Exhaustion); 4] = [
    ("repeat", Exhaustion::Repeat),
    ("stop", Exhaustion::Stop),
    ("renormalise", Exhaustion::Renormalise),
    ("fail", Exhaustion::Fail),
];

/// Whether the sources are different datasets, one after the other, or parts of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexSpace {
    Joined,
    Shared,
}

pub(crate) const INDEX_SPACES: [(&str, IndexSpace); 2] =
    [("joined", IndexSpace::Joined), ("shared", IndexSpace::Shared)];
