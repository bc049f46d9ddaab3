use alloc::format;
use alloc::vec::Vec;

use crate::base::Failure;
use crate::base::failure::{Allowed, range};
use crate::base::memory::{collect, grow};

/// Shards that are read more than once. Every list has one number for each further time that a shard is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlaps {
    /// The shard.
    pub shard: Vec<u32>,
    /// The first reader that has the shard.
    pub first_reader: Vec<u32>,
    /// The reader that has the shard again: another reader, or the same one.
    pub other_reader: Vec<u32>,
}

/// Runs of neighbouring shards, in ascending order. Both lists have one number for each run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardRuns {
    /// The first shard of the run.
    pub first_shard: Vec<u32>,
    /// Number of shards of the run.
    pub num_shards: Vec<u32>,
}

/// Shards that are read more than once, and shards that no reader has. The lengths of the lists here depend on the
/// lists of the readers, and not on the number of shards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Shards that are read more than once.
    pub overlaps: Overlaps,
    /// Shards that no reader has.
    pub gaps: ShardRuns,
}

/// Compares the shards of readers with the shards 0 to `num_shards` - 1, in O(assigned) memory. Reader i has the shards
/// `assigned[offsets[i]..offsets[i + 1]]`. Failures: `offsets`, `assigned`, `out-of-memory`.
pub fn verify(num_shards: u32, offsets: &[u32], assigned: &[u32]) -> Result<Verification, Failure> {
    if offsets.first() != Some(&0)
        || offsets.last().copied() != u32::try_from(assigned.len()).ok()
        || !offsets.is_sorted()
    {
        let allowed = format!("ascending numbers from 0 to {}", assigned.len());
        return Err(Failure::contradiction("offsets", format!("{} numbers", offsets.len()), allowed));
    }
    if let Some(shard) = assigned.iter().find(|&&shard| shard >= num_shards) {
        let allowed = if num_shards == 0 { Allowed::from("none") } else { range(0, num_shards - 1) };
        return Err(Failure::out_of_range("assigned", shard, allowed));
    }
    // Entries of `assigned` are sorted by shard, then by place. A number with the shard in its high half sorts like the
    // pair.
    let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let keys = (0..).zip(assigned).map(|(place, &shard)| pair(shard, place));
    let mut keys = collect("assigned", assigned.len(), keys)?;
    samedeal_bulk::numbers(&mut keys);
    let mut found = Verification::default();
    // For each repetition of a shard, its place, and the first place of the same shard.
    let mut again = Vec::new();
    let (mut next, mut first) = (0, 0);
    for key in keys {
        let (shard, place) = ((key >> 32) as u32, key as u32);
        if shard < next {
            grow("assigned", 1, &mut again)?;
            again.push(pair(place, first));
            continue;
        }
        add_gap(next, shard, &mut found.gaps)?;
        (next, first) = (shard + 1, place);
    }
    add_gap(next, num_shards, &mut found.gaps)?;
    samedeal_bulk::numbers(&mut again);
    let reader = |place: u32| offsets.partition_point(|&start| start <= place) as u32 - 1;
    let Overlaps { shard, first_reader, other_reader } = &mut found.overlaps;
    for list in [&mut *shard, &mut *first_reader, &mut *other_reader] {
        grow("assigned", again.len(), list)?;
    }
    for key in again {
        let (place, first) = ((key >> 32) as u32, key as u32);
        shard.push(assigned[place as usize]);
        first_reader.push(reader(first));
        other_reader.push(reader(place));
    }
    Ok(found)
}

/// Adds the shards from `first` to `end` - 1 as a run, if there are any.
fn add_gap(first: u32, end: u32, runs: &mut ShardRuns) -> Result<(), Failure> {
    if first < end {
        for (list, number) in [(&mut runs.first_shard, first), (&mut runs.num_shards, end - first)] {
            grow("assigned", 1, list)?;
            list.push(number);
        }
    }
    Ok(())
}
