use alloc::format;
use alloc::vec::Vec;

use crate::Failure;
use crate::base::memory::{collect, grow};

/// What is wrong with an assignment of shards to readers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Three numbers each: shard, the reader that has it first, another one that has it (or the same, again).
    pub overlaps: Vec<u32>,
    /// Shards that nobody reads.
    pub gaps: Vec<u32>,
}

/// Compares what readers have, reader i `assigned[offsets[i]..offsets[i + 1]]`, with the shards 0 to `shards` - 1.
/// Failures: `offsets`, `assigned`.
pub fn verify(shards: u32, offsets: &[u32], assigned: &[u32]) -> Result<Verification, Failure> {
    if offsets.first() != Some(&0)
        || offsets.last().copied() != u32::try_from(assigned.len()).ok()
        || !offsets.is_sorted()
    {
        let allowed = format!("ascending numbers from 0 to {}", assigned.len());
        return Err(Failure::contradiction("offsets", format!("{} numbers", offsets.len()), allowed));
    }
    const NOBODY: u32 = u32::MAX;
    let mut readers = collect("shards", shards as usize, (0..shards).map(|_| NOBODY))?;
    let mut found = Verification::default();
    for (reader, bounds) in (0..).zip(offsets.windows(2)) {
        for &shard in &assigned[bounds[0] as usize..bounds[1] as usize] {
            let Some(first) = readers.get_mut(shard as usize) else {
                let allowed = if shards == 0 { "none".into() } else { format!("0 to {}", shards - 1) };
                return Err(Failure::out_of_range("assigned", shard, allowed));
            };
            if *first == NOBODY {
                *first = reader;
            } else {
                grow("assigned", 3, &mut found.overlaps)?;
                found.overlaps.extend([shard, *first, reader]);
            }
        }
    }
    for (shard, reader) in (0..).zip(readers) {
        if reader == NOBODY {
            grow("shards", 1, &mut found.gaps)?;
            found.gaps.push(shard);
        }
    }
    Ok(found)
}
