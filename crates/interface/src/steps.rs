use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::bindings::{steps, types};
use crate::{Component, beside};

impl steps::Guest for Component {
    type Schedule = Schedule;
}

pub struct Schedule(samedeal_core::Schedule);

impl steps::GuestSchedule for Schedule {
    fn new(recipe: String, lists: Vec<types::NamedList>, rank: u32) -> Result<Self, types::Failure> {
        Ok(Self(samedeal_core::Schedule::read(&recipe, &beside(&lists), rank)?))
    }

    fn at_rank(&self, rank: u32) -> Result<steps::Schedule, types::Failure> {
        Ok(steps::Schedule::new(Self(self.0.at_rank(rank)?)))
    }

    fn recipe(&self) -> Result<String, types::Failure> {
        Ok(self.0.recipe()?)
    }

    fn recipe_fingerprint(&self) -> String {
        self.0.recipe_fingerprint()
    }

    fn rank(&self) -> u32 {
        self.0.rank()
    }

    fn world_size(&self) -> u32 {
        self.0.world_size()
    }

    fn dataset_size(&self) -> u64 {
        self.0.dataset_size()
    }

    fn seed(&self) -> i64 {
        self.0.seed()
    }

    fn order(&self) -> String {
        self.0.order().to_string()
    }

    fn layout(&self) -> String {
        self.0.layout().name().to_string()
    }

    fn unit(&self) -> u32 {
        self.0.unit()
    }

    fn num_steps(&self) -> u64 {
        self.0.num_steps()
    }

    fn global_batch_size(&self, step: u64) -> Result<u32, types::Failure> {
        Ok(self.0.global_batch_size(step)?)
    }

    fn samples_consumed(&self, step: u64) -> Result<u64, types::Failure> {
        Ok(self.0.samples_consumed(step)?)
    }

    fn begin_of(&self, step: u64) -> Result<steps::EpochPosition, types::Failure> {
        let (epoch, position) = self.0.begin_of(step)?;
        Ok(steps::EpochPosition { epoch, position })
    }

    fn step_of_consumed(&self, samples_consumed: u64) -> Result<u64, types::Failure> {
        Ok(self.0.step_of_consumed(samples_consumed)?)
    }

    fn step_of(&self, epoch: u64, position: u64) -> Result<u64, types::Failure> {
        Ok(self.0.step_of(epoch, position)?)
    }

    fn indices(&self, start: u64, count: u32) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.indices(start, count)?)
    }

    fn step(&self, step: u64, first: u32, count: u32) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.step(step, first, count)?)
    }

    fn locate(&self, sample: u64, step: u64) -> Result<Option<steps::StepPlace>, types::Failure> {
        Ok(self.0.locate(sample, step)?.map(|place| {
            let samedeal_core::StepPlace { samples_consumed, epoch, position, step, rank, index_in_batch } = place;
            steps::StepPlace { samples_consumed, epoch, position, step, rank, index_in_batch }
        }))
    }

    fn state(&self, step: u64) -> Result<String, types::Failure> {
        Ok(self.0.state(step)?)
    }

    fn step_of_state(&self, state: String) -> Result<u64, types::Failure> {
        Ok(self.0.step_of_state(&state)?)
    }
}
