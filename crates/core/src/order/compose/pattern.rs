//! The pattern of a blend: the source of each position.

use samedeal_bulk::{Item, item, unpacked};

use super::chairman::Chairman;
use super::items::{Items, Take};
use super::tree::Tree;
use crate::base::Failure;

pub(super) enum Pattern {
    Tree(Tree),
    Table(Chairman),
}

impl Pattern {
    /// Failures: `out-of-memory`.
    pub(super) fn new(weights: &[u64], is_exact: bool) -> Result<Self, Failure> {
        Ok(if is_exact { Self::Table(Chairman::new(weights)?) } else { Self::Tree(Tree::new(weights)?) })
    }

    /// The source of a position, and the number of positions of this source before it.
    #[inline]
    pub(super) fn at(&self, n: u64) -> (u32, u64) {
        match self {
            Self::Tree(tree) => tree.at(n),
            Self::Table(table) => table.at(n),
        }
    }

    /// Sorts positions by source: calls `take` with the positions of each source, perhaps several times for one source.
    /// `spare` has room for all positions. Failures: those of `take`.
    pub(super) fn sort(&self, run: Items, spare: &mut [Item], take: &mut Take) -> Result<(), Failure> {
        match self {
            Self::Tree(tree) => tree.sort(run, spare, take),
            Self::Table(table) => run.items.iter().try_for_each(|&own| {
                let (number, slot) = unpacked(own);
                let (source, number) = table.at(run.first + number);
                take(source, number, &[item(0, slot)])
            }),
        }
    }

    /// The number of positions of a source among the first `n`.
    pub(super) fn count(&self, source: u32, n: u64) -> u64 {
        match self {
            Self::Tree(tree) => tree.count(source, n),
            Self::Table(table) => table.count(source, n),
        }
    }

    /// Position number `number`, from 0, of a source; `None` above `MAX_ELEMENT`, or if the weight is 0.
    pub(super) fn nth(&self, source: u32, number: u64) -> Option<u64> {
        match self {
            Self::Tree(tree) => tree.nth(source, number),
            Self::Table(table) => table.nth(source, number),
        }
    }

    /// The greatest deviation of a source's count from exact proportion, in millionths of a sample.
    pub(super) fn bound(&self, source: u32) -> u64 {
        match self {
            Self::Tree(tree) => tree.bound(source),
            Self::Table(table) => table.bound(source),
        }
    }
}
