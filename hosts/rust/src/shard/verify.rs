use std::ops::Range;

use crate::engine::{Instance, MOST_MEMORY, check_room, shards};
use crate::{Error, Failure};

/// Shards that are read more than once, and shards that no reader has. If both lists are empty, every shard has one
/// reader.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct Verification {
    /// Shards that are read more than once.
    pub overlaps: Vec<Overlap>,
    /// Runs of neighbouring shards that no reader has, ascending.
    pub gaps: Vec<Range<u32>>,
}

impl Verification {
    /// Whether every shard has exactly one reader.
    pub fn is_ok(&self) -> bool {
        self.overlaps.is_empty() && self.gaps.is_empty()
    }
}

/// A shard that is read more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct Overlap {
    /// Number of the shard.
    pub shard: u32,
    /// The first reader that has the shard.
    pub first_reader: u32,
    /// Another reader that has the shard, or `first_reader` again if it has the shard twice.
    pub other_reader: u32,
}

/// Checks lists of shards that were collected from readers: each of the shards 0 to `num_shards - 1` should have exactly
/// one reader.
///
/// ```
/// let found = samedeal::verify_shards(5, &[vec![0, 1], vec![1, 4], vec![2]])?;
/// assert!(!found.is_ok());
/// let overlap = found.overlaps[0];
/// assert_eq!((overlap.shard, overlap.first_reader, overlap.other_reader), (1, 0, 1));
/// assert_eq!(found.gaps, [3..4]);
/// # Ok::<(), samedeal::Error>(())
/// ```
///
/// # Errors
///
/// Out of range (`assigned`: no such shard), out of memory.
pub fn verify_shards<L: AsRef<[u32]>>(num_shards: u32, assigned: &[L]) -> Result<Verification, Error> {
    let lists = || assigned.iter().map(AsRef::as_ref);
    let count = lists().fold(0, |count: usize, list| count.saturating_add(list.len()));
    check(count, assigned.len() + 1)?;
    let mut offsets = Vec::with_capacity(assigned.len() + 1);
    let mut values = Vec::with_capacity(count);
    offsets.push(0);
    for list in lists() {
        values.extend_from_slice(list);
        offsets.push(values.len() as u32);
    }
    verify_runs(num_shards, &offsets, &values)
}

/// [`verify_shards`] for lists that lie end to end: reader i has `assigned[offsets[i]..offsets[i + 1]]`. The memory
/// depends on the length of `assigned`, not on `num_shards`.
///
/// ```
/// let found = samedeal::verify_runs(4_000_000_000, &[0, 2, 3], &[7, 8, 7])?;
/// assert_eq!(found.gaps, [0..7, 9..4_000_000_000]);
/// assert_eq!((found.overlaps.len(), found.overlaps[0].shard), (1, 7));
/// # Ok::<(), samedeal::Error>(())
/// ```
///
/// # Errors
///
/// The errors of [`verify_shards`], and [`Contradiction`](crate::FailureKind::Contradiction) (`offsets` that do not ascend from 0 to the number of
/// items).
pub fn verify_runs(num_shards: u32, offsets: &[u32], assigned: &[u32]) -> Result<Verification, Error> {
    check(assigned.len(), offsets.len())?;
    let shards::Verification { overlaps, gaps } =
        shards::verify(&mut Instance::new(MOST_MEMORY)?, num_shards, offsets, assigned)?;
    let overlap = |((shard, first_reader), other_reader)| Overlap { shard, first_reader, other_reader };
    let overlaps = overlaps.shard.into_iter().zip(overlaps.first_reader).zip(overlaps.other_reader).map(overlap);
    let gaps = gaps.first_shard.into_iter().zip(gaps.num_shards).map(|(first, count)| first..first + count);
    Ok(Verification { overlaps: overlaps.collect(), gaps: gaps.collect() })
}

fn check(assigned: usize, offsets: usize) -> Result<(), Failure> {
    let bytes = assigned.saturating_add(offsets).saturating_mul(4);
    check_room(MOST_MEMORY, "assigned", assigned, bytes)
}
