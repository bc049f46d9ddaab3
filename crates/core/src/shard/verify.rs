use alloc::format;
use alloc::vec::Vec;

use crate::Failure;
use crate::base::failure::{Allowed, range};
use crate::base::memory::{collect, grow};

/// Shards that are read more than once, and shards that no reader has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Three numbers each: shard, the reader that has it first, another one that has it (or the same, again).
    pub overlaps: Vec<u32>,
    /// Shards that no reader has.
    pub gaps: Vec<u32>,
}

/// The same with the gaps as runs. Its length depends on the lists of the readers, and not on the number of shards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerificationInRuns {
    /// Three numbers each: shard, the reader that has it first, another one that has it (or the same, again).
    pub overlaps: Vec<u32>,
    /// Runs of neighbouring shards that no reader has, in ascending order, two numbers each: the first shard, and the
    /// number of shards.
    pub gap_runs: Vec<u32>,
}

/// Compares what readers have, reader i `assigned[offsets[i]..offsets[i + 1]]`, with the shards 0 to `shards` - 1.
/// Failures: `offsets`, `assigned`, `out-of-memory`.
pub fn verify(shards: u32, offsets: &[u32], assigned: &[u32]) -> Result<Verification, Failure> {
    let VerificationInRuns { overlaps, gap_runs } = verify_in_runs(shards, offsets, assigned)?;
    let (runs, _) = gap_runs.as_chunks::<2>();
    let count = runs.iter().map(|[_, count]| *count as usize).sum();
    let gaps = collect("shards", count, runs.iter().flat_map(|&[first, count]| first..first + count));
    let allowed = "as many as fit into memory at 4 bytes for each that no reader has";
    let gaps = gaps.map_err(|_| Failure::out_of_memory("shards", shards, allowed))?;
    Ok(Verification { overlaps, gaps })
}

/// The same with runs of gaps, in O(assigned) memory. Failures: as [`verify`].
pub fn verify_in_runs(shards: u32, offsets: &[u32], assigned: &[u32]) -> Result<VerificationInRuns, Failure> {
    if offsets.first() != Some(&0)
        || offsets.last().copied() != u32::try_from(assigned.len()).ok()
        || !offsets.is_sorted()
    {
        let allowed = format!("ascending numbers from 0 to {}", assigned.len());
        return Err(Failure::contradiction("offsets", format!("{} numbers", offsets.len()), allowed));
    }
    if let Some(shard) = assigned.iter().find(|&&shard| shard >= shards) {
        let allowed = if shards == 0 { Allowed::from("none") } else { range(0, shards - 1) };
        return Err(Failure::out_of_range("assigned", shard, allowed));
    }
    // By shard, then by place: one number that sorts like the pair.
    let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let keys = (0..).zip(assigned).map(|(place, &shard)| pair(shard, place));
    let mut keys = collect("assigned", assigned.len(), keys)?;
    keys.sort_unstable();
    let mut found = VerificationInRuns::default();
    // The place of each shard that is there again, and the first place of the same shard.
    let mut again = Vec::new();
    let (mut next, mut first) = (0, 0);
    for key in keys {
        let (shard, place) = ((key >> 32) as u32, key as u32);
        if shard < next {
            grow("assigned", 1, &mut again)?;
            again.push(pair(place, first));
            continue;
        }
        add_gap(next, shard, &mut found.gap_runs)?;
        (next, first) = (shard + 1, place);
    }
    add_gap(next, shards, &mut found.gap_runs)?;
    again.sort_unstable();
    let reader = |place: u32| offsets.partition_point(|&start| start <= place) as u32 - 1;
    found.overlaps = collect("assigned", 3 * again.len(), [])?;
    for key in again {
        let (place, first) = ((key >> 32) as u32, key as u32);
        found.overlaps.extend([assigned[place as usize], reader(first), reader(place)]);
    }
    Ok(found)
}

/// Adds the shards from `first` to `end` - 1 as a run, if there are any.
fn add_gap(first: u32, end: u32, runs: &mut Vec<u32>) -> Result<(), Failure> {
    if first < end {
        grow("assigned", 2, runs)?;
        runs.extend([first, end - first]);
    }
    Ok(())
}
