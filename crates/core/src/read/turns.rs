//! A loader takes batches from its workers in turn, beginning with the first. A worker that has no more drops out.

use alloc::vec::Vec;

use super::segment::Group;
use crate::Failure;
use crate::base::memory::collect;

/// How many of its batches each worker of a rank has given after so many steps, and whose turn it is. `batches` is how many each
/// worker has. Failures: `out-of-memory`.
pub(super) fn given(batches: &[u64], steps: u64) -> Result<(Vec<u64>, u32), Failure> {
    // The most full turns: workers give that many each, or all they have.
    let (mut least, mut most) = (0, batches.iter().copied().max().unwrap_or(0));
    while least < most {
        let middle = least + (most - least).div_ceil(2);
        if batches.iter().map(|&count| u128::from(count.min(middle))).sum::<u128>() <= steps.into() {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    let mut given = collect("workers", batches.len(), batches.iter().map(|&count| count.min(least)))?;
    let mut left = steps.saturating_sub(given.iter().sum());
    let mut turn = 0;
    for (worker, (own, &count)) in given.iter_mut().zip(batches).enumerate() {
        if left > 0 && count > least {
            *own += 1;
            left -= 1;
            turn = (worker as u32 + 1) % batches.len() as u32;
        }
    }
    Ok((given, turn))
}

/// Where samples are dealt, which worker a new one goes on for after so many steps of its rank, and how many samples that one
/// gave: a loader begins with its first worker, which goes on for the one whose turn it was.
pub(super) fn role(steps: u64, worker: u32, group: Group) -> (u32, u64) {
    let workers = u64::from(group.workers);
    let (turns, part) = (steps / workers, steps % workers);
    let role = (u64::from(worker) + part) % workers;
    (role as u32, (turns + u64::from(role < part)).saturating_mul(group.batch_size.into()))
}

/// How many batches so many samples make.
pub(super) fn batches(samples: u64, batch_size: u32, drop_last: bool) -> u64 {
    let size = u64::from(batch_size);
    if drop_last { samples / size } else { samples.div_ceil(size) }
}
