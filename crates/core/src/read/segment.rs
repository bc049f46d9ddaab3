use alloc::format;

use crate::base::Failure;
use crate::base::failure::{at_most, range};

/// The most loader workers of a rank.
pub(crate) const MAX_WORKERS: u32 = 1 << 16;
/// The most readers of a group.
pub(super) const MAX_READERS: u64 = 1 << 22;
/// The most readers of all segments of a history together. Reading a state goes through all these readers, so the limit
/// bounds the time that it takes.
const MAX_READERS_OF_ALL: u64 = 1 << 24;

/// Readers that read an epoch together: the loader workers of all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Number of ranks.
    pub world_size: u32,
    /// Loader workers of each rank, at least 1.
    pub workers: u32,
    /// Number of samples in a batch.
    pub batch_size: u32,
    /// Whether samples are left out at the end. If samples are dealt, these are the last (samples mod readers) of the
    /// epoch; if whole shards are dealt, the last batch of each reader, if it is not full.
    pub drop_last: bool,
}

impl Group {
    /// Checks the numbers of ranks and workers, and the batch size. Failures: `world_size`, `workers`, `batch_size`.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let most = u32::try_from(MAX_READERS).unwrap_or(u32::MAX);
        if self.world_size == 0 || self.world_size > most {
            return Err(Failure::out_of_range("world_size", self.world_size, range(1, most)));
        }
        let most = MAX_WORKERS.min(most / self.world_size);
        if self.workers == 0 || self.workers > most {
            let allowed = range(1, most).and(format_args!(", with {} ranks", self.world_size));
            return Err(Failure::out_of_range("workers", self.workers, allowed));
        }
        if self.batch_size == 0 {
            return Err(Failure::out_of_range("batch_size", 0, range(1, u32::MAX)));
        }
        Ok(())
    }

    /// How many readers there are, at most 2^22.
    pub(super) fn readers(&self) -> u64 {
        u64::from(self.world_size) * u64::from(self.workers)
    }
}

/// The most segments of a history. Reading a state goes through all segments, so the limit bounds the time that it
/// takes.
const MAX_SEGMENTS: usize = 1 << 12;

/// Steps that one group of readers took. Every rank took `steps` steps, or all its steps if it had fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The group of readers that took the steps.
    pub group: Group,
    /// Number of steps, at least 1.
    pub steps: u64,
}

/// Checks that a group can continue after a history, to which its own steps will be added. Failures: `history`, if it
/// has too many segments or readers.
pub(super) fn check_history(history: &[Segment], group: Group) -> Result<(), Failure> {
    let (before, _) = split(history, group);
    if before.len() >= MAX_SEGMENTS {
        let value = format!("{} segments", history.len());
        let allowed =
            at_most(MAX_SEGMENTS).and(", with the readers that go on; or the readers that took the last steps");
        return Err(Failure::out_of_range("history", value, allowed));
    }
    let readers: u64 = before.iter().map(|segment| segment.group.readers()).sum::<u64>() + group.readers();
    if readers > MAX_READERS_OF_ALL {
        let value = format!("{readers} readers");
        let allowed = at_most(MAX_READERS_OF_ALL).and(", of all segments and those that go on together");
        return Err(Failure::out_of_range("history", value, allowed));
    }
    Ok(())
}

/// Splits a history at the beginning of a group: the segments before the group, and the number of steps that the group
/// has taken. It has taken the steps of the last segment if that segment is of this group; else none.
pub(super) fn split(history: &[Segment], group: Group) -> (&[Segment], u64) {
    match history.split_last() {
        Some((last, before)) if last.group == group => (before, last.steps),
        _ => (history, 0),
    }
}
