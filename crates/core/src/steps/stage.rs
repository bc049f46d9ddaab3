//! A stage: steps of one batch size.

use alloc::format;

use crate::base::Failure;

/// A stage: steps of one batch size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stage {
    pub(super) from: u64,
    pub(super) global_batch_size: u32,
    /// The number of draws before the stage, at most `u64::MAX`. Draws are the positions of all epochs, counted on from
    /// one epoch to the next.
    pub(super) before: u64,
}

/// Whether all ranks can have the same number of units of a step.
pub(super) fn fits(global_batch_size: u32, world_size: u32, unit: u32) -> bool {
    u64::from(global_batch_size).is_multiple_of(u64::from(world_size) * u64::from(unit))
}

/// A failure of the batch size of stage `number`, with its path. Stage 0 is in the section `steps`, the others are in
/// its list `stages`.
pub(super) fn of_stage(number: usize, failure: Failure) -> Failure {
    match number.checked_sub(1) {
        None => failure.at("steps.global_batch_size"),
        Some(index) => failure.in_element("steps.stages", index),
    }
}

/// The failure of stage `number` if ranks cannot have equal shares of its batch size.
pub(super) fn unfit(
    number: usize,
    Stage { from, global_batch_size, .. }: Stage,
    world_size: u32,
    unit: u32,
) -> Failure {
    let row = u64::from(world_size) * u64::from(unit);
    let times = if unit == 1 { "" } else { " times unit" };
    let allowed = format!("a multiple of {row}, the world size{times}, from step {from} on");
    of_stage(number, Failure::contradiction("global_batch_size", global_batch_size, allowed))
}
