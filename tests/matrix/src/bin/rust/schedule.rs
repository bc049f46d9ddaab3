//! Schedules of the Rust host.

use matrix::format::{self, ScheduleCall, U64, record, strings};
use samedeal::{EpochPosition, Error, Schedule, StepPlace};
use serde_json::Value;

use super::{Answer, beside, number, replace};

pub fn schedule(format::Schedule { recipe, lists, rank }: &format::Schedule) -> Result<Schedule, Error> {
    Schedule::from_recipe(recipe).lists(beside(lists)).rank(*rank).build()
}

pub fn ask(schedule: &mut Schedule, call: &ScheduleCall) -> Answer {
    Ok(match *call {
        ScheduleCall::AtRank { rank } => replace(schedule, |schedule| schedule.at_rank(rank))?,
        ScheduleCall::Recipe => schedule.recipe()?.into(),
        ScheduleCall::RecipeFingerprint => schedule.recipe_fingerprint()?.into(),
        ScheduleCall::Rank => schedule.rank().into(),
        ScheduleCall::WorldSize => schedule.world_size().into(),
        ScheduleCall::DatasetSize => number(schedule.dataset_size()),
        ScheduleCall::Seed => schedule.seed().to_string().into(),
        ScheduleCall::Order => schedule.order().into(),
        ScheduleCall::Layout => schedule.layout().name().into(),
        ScheduleCall::Unit => schedule.unit().into(),
        ScheduleCall::NumSteps => number(schedule.num_steps()),
        ScheduleCall::GlobalBatchSize { step } => schedule.global_batch_size(step.0)?.into(),
        ScheduleCall::SamplesConsumed { step } => number(schedule.samples_consumed(step.0)?),
        ScheduleCall::BeginOf { step } => {
            let EpochPosition { epoch, position, .. } = schedule.place_of(step.0)?;
            record(format::EpochPosition { epoch: U64(epoch), position: U64(position) })
        }
        ScheduleCall::StepOfConsumed { samples_consumed } => number(schedule.step_of_consumed(samples_consumed.0)?),
        ScheduleCall::StepOf { epoch, position } => number(schedule.step_of(epoch.0, position.0)?),
        ScheduleCall::Indices { start, count } => {
            let indices = schedule.indices_window(start.0, count)?;
            let iterated = schedule.steps(start.0..start.0 + u64::from(count))?;
            assert_eq!(iterated.collect::<Result<Vec<_>, _>>()?.concat(), indices, "step by step");
            strings(&indices)
        }
        ScheduleCall::Step { step, first, count } => {
            strings(&schedule.step(step.0, first..first.saturating_add(count))?.concat())
        }
        ScheduleCall::Locate { sample, step } => schedule.locate(sample.0, step.0)?.map_or(Value::Null, place),
        ScheduleCall::State { step } => schedule.state(step.0)?.into(),
        ScheduleCall::StepOfState { ref state } => number(schedule.resume(state)?),
    })
}

fn place(StepPlace { samples_consumed, epoch, position, step, rank, index_in_batch, .. }: StepPlace) -> Value {
    let [samples_consumed, epoch, position, step] = [samples_consumed, epoch, position, step].map(U64);
    record(format::StepPlace { samples_consumed, epoch, position, step, rank, index_in_batch })
}
