//! Turns of a loader: in each turn, the loader takes one batch from each of its workers, beginning with worker 0. A
//! worker without batches is skipped.

use alloc::vec::Vec;

use super::segment::Group;
use crate::base::Failure;
use crate::base::memory::collect;

/// The number of batches that each worker of a rank has given after `steps` steps, and the worker that is next.
/// `batches` has the number of batches of each of the first workers; the rest of the `workers` workers have no batches.
/// Failures: `out-of-memory`.
pub(super) fn given(batches: &[u64], workers: u32, steps: u64) -> Result<(Vec<u64>, u32), Failure> {
    let full = full_turns(batches, steps);
    let mut given = collect("workers", batches.len(), batches.iter().map(|&count| count.min(full)))?;
    let mut left = steps.saturating_sub(given.iter().sum());
    let mut turn = 0;
    for (worker, (own, &count)) in given.iter_mut().zip(batches).enumerate() {
        if left > 0 && count > full {
            *own += 1;
            left -= 1;
            turn = (worker as u32 + 1) % workers;
        }
    }
    Ok((given, turn))
}

/// The number of full turns in `steps` steps. In n full turns, each worker gives n batches, or all that it has.
fn full_turns(batches: &[u64], steps: u64) -> u64 {
    let (mut least, mut most) = (0, batches.iter().copied().max().unwrap_or(0));
    while least < most {
        let middle = least + (most - least).div_ceil(2);
        if batches.iter().map(|&count| u128::from(count.min(middle))).sum::<u128>() <= steps.into() {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    least
}

/// The step at which a rank takes batch number `number` of a worker. `worker` is an index of `batches`.
pub(super) fn step_of(batches: &[u64], worker: usize, number: u64) -> u64 {
    let before = batches[..worker].iter().filter(|&&count| count > number).count() as u64;
    batches.iter().map(|&count| count.min(number)).sum::<u64>() + before
}

/// The batch that a loader takes at a step below the number of steps: its worker, and its number among the batches of
/// that worker.
pub(super) fn batch_at(batches: &[u64], step: u64) -> (usize, u64) {
    let full = full_turns(batches, step);
    let before: u64 = batches.iter().map(|&count| count.min(full)).sum();
    let mut having = (0..batches.len()).filter(|&worker| batches[worker] > full);
    (having.nth((step - before) as usize).unwrap_or(0), full)
}

/// The role of a worker after a restart of its loader, `steps` steps after its group began, if samples are dealt: the
/// number of the earlier worker whose samples the worker continues, and the number of samples that the earlier worker
/// gave. A loader begins with worker 0, so worker 0 continues for the worker that was next.
pub(super) fn role(steps: u64, worker: u32, group: Group) -> (u32, u64) {
    let workers = u64::from(group.workers);
    let (turns, part) = (steps / workers, steps % workers);
    let role = (u64::from(worker) + part) % workers;
    (role as u32, (turns + u64::from(role < part)).saturating_mul(group.batch_size.into()))
}

/// The number of batches that `samples` samples make.
pub(super) fn batches(samples: u64, batch_size: u32, drop_last: bool) -> u64 {
    let size = u64::from(batch_size);
    if drop_last { samples / size } else { samples.div_ceil(size) }
}
