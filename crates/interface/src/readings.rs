use alloc::string::String;
use alloc::vec::Vec;

use samedeal_core::read as core_;

use crate::bindings::{readings, types};
use crate::{Component, beside};

impl readings::Guest for Component {
    type Reading = Reading;
}

pub struct Reading(core_::Reading);

impl readings::GuestReading for Reading {
    fn new(recipe: String, lists: Vec<types::NamedList>, epoch: u64) -> Result<Self, types::Failure> {
        Ok(Self(core_::Reading::from_recipe(&recipe, &beside(&lists), epoch)?))
    }

    fn at_epoch(&self, epoch: u64) -> Result<readings::Reading, types::Failure> {
        Ok(readings::Reading::new(Self(self.0.at_epoch(epoch)?)))
    }

    fn resume(&self, state: String) -> Result<readings::Reading, types::Failure> {
        Ok(readings::Reading::new(Self(self.0.resume(&state)?)))
    }

    fn state(&self, steps: u64) -> Result<String, types::Failure> {
        Ok(self.0.state(steps)?)
    }

    fn recipe(&self) -> Result<String, types::Failure> {
        Ok(self.0.recipe()?)
    }

    fn recipe_fingerprint(&self) -> String {
        self.0.recipe_fingerprint()
    }

    fn seed(&self) -> i64 {
        self.0.seed()
    }

    fn world_size(&self) -> u32 {
        self.0.group().world_size
    }

    fn workers(&self) -> u32 {
        self.0.group().workers
    }

    fn batch_size(&self) -> u32 {
        self.0.group().batch_size
    }

    fn sizes(&self) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.sizes()?)
    }

    fn reads_per_row(&self) -> u32 {
        self.0.reads_per_row()
    }

    fn lanes_read_once(&self) -> Option<u32> {
        self.0.lanes_read_once()
    }

    fn mixing_advice(&self) -> Option<readings::MixingAdvice> {
        let core_::MixingAdvice { lanes_per_reader, variance_ratio, lanes, shuffle_window } = self.0.mixing_advice()?;
        Some(readings::MixingAdvice { lanes_per_reader, variance_ratio, lanes, shuffle_window })
    }

    fn suggested_lanes(&self, group_rows: u64, readers: u32, multiples: Vec<u64>) -> Option<readings::SuggestedLanes> {
        let found = self.0.suggested_lanes(group_rows, readers, &multiples)?;
        let core_::SuggestedLanes { lanes, shuffle_window, variance_ratio } = found;
        Some(readings::SuggestedLanes { lanes, shuffle_window, variance_ratio })
    }

    fn epoch(&self) -> u64 {
        self.0.epoch()
    }

    fn is_rest(&self) -> bool {
        self.0.is_rest()
    }

    fn num_steps(&self, rank: u32) -> Result<u64, types::Failure> {
        Ok(self.0.num_steps(rank)?)
    }

    fn step_bounds(&self) -> Result<types::StepBounds, types::Failure> {
        let (min, max) = self.0.steps()?;
        Ok(types::StepBounds { min, max })
    }

    fn num_idle_readers(&self) -> Result<u64, types::Failure> {
        Ok(self.0.num_idle()?)
    }

    fn num_samples(&self, rank: u32, worker: u32) -> Result<u64, types::Failure> {
        Ok(self.0.num_samples(rank, worker)?)
    }

    fn num_padding(&self, rank: u32, worker: u32) -> Result<u64, types::Failure> {
        Ok(self.0.num_padding(rank, worker)?)
    }

    fn num_batches(&self, rank: u32, worker: u32) -> Result<u64, types::Failure> {
        Ok(self.0.num_batches(rank, worker)?)
    }

    fn batch(&self, rank: u32, worker: u32, number: u64) -> Result<readings::ReadBatch, types::Failure> {
        Ok(self.0.batch(rank, worker, number)?.into())
    }

    fn batch_at(&self, rank: u32, step: u64) -> Result<readings::ReadBatch, types::Failure> {
        Ok(self.0.batch_at(rank, step)?.into())
    }

    fn step(&self, step: u64, first: u32, count: u32) -> Result<Vec<Option<readings::ReadBatch>>, types::Failure> {
        Ok(self.0.step(step, first, count)?.into_iter().map(|batch| batch.map(Into::into)).collect())
    }

    fn indices(&self, rank: u32, worker: u32, start: u64, count: u32) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.indices(rank, worker, start, count)?)
    }

    fn num_rounds(&self, rank: u32, worker: u32) -> Result<u64, types::Failure> {
        Ok(self.0.num_rounds(rank, worker)?)
    }

    fn round(&self, rank: u32, worker: u32, number: u64) -> Result<readings::ReadRound, types::Failure> {
        let core_::ReadRound { start, count, spans } = self.0.round(rank, worker, number)?;
        Ok(readings::ReadRound { start, count, spans: spans.into() })
    }

    fn round_rows(
        &self,
        rank: u32,
        worker: u32,
        number: u64,
        start: u64,
        count: u32,
    ) -> Result<readings::RoundRows, types::Failure> {
        let core_::RoundRows { rows, num_padding } = self.0.round_rows(rank, worker, number, start, count)?;
        Ok(readings::RoundRows { rows, num_padding })
    }

    fn round_of(&self, rank: u32, worker: u32, index: u64) -> Result<u64, types::Failure> {
        Ok(self.0.round_of(rank, worker, index)?)
    }

    fn shards(&self, rank: u32, worker: u32) -> Result<Vec<u32>, types::Failure> {
        Ok(self.0.shards(rank, worker)?)
    }
}

impl From<core_::ReadBatch> for readings::ReadBatch {
    fn from(batch: core_::ReadBatch) -> Self {
        let core_::ReadBatch { worker, number, step, start, count, num_padding } = batch;
        Self { worker, number, step, start, count, num_padding }
    }
}
