use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use samedeal_core::read as core_;

use crate::Component;
use crate::bindings::exports::samedeal::deal::{read, types};

impl read::Guest for Component {
    type Options = Options;
    type Reading = Reading;
}

pub struct Options(RefCell<core_::Options>);
pub struct Reading(core_::Reading);

impl read::GuestOptions for Options {
    fn new(sizes: Vec<u64>) -> Self {
        Self(RefCell::new(core_::Options { sizes, ..core_::Options::default() }))
    }

    fn set_seed(&self, seed: i64) {
        self.0.borrow_mut().seed = seed;
    }

    fn set_deal(&self, name: String) {
        self.0.borrow_mut().deal = Some(name);
    }

    fn set_shuffle(&self, shuffle: bool) {
        self.0.borrow_mut().shuffle = Some(shuffle);
    }

    fn set_lanes(&self, lanes: u32) {
        self.0.borrow_mut().lanes = Some(lanes);
    }

    fn set_window(&self, window: u32) {
        self.0.borrow_mut().window = Some(window);
    }

    fn set_remainder(&self, name: String) {
        self.0.borrow_mut().remainder = Some(name);
    }

    fn set_shuffle_rows(&self, shuffle: bool) {
        self.0.borrow_mut().shuffle_rows = Some(shuffle);
    }

    fn set_reshuffle(&self, reshuffle: bool) {
        self.0.borrow_mut().reshuffle = Some(reshuffle);
    }

    fn set_policy(&self, name: String) {
        self.0.borrow_mut().policy = Some(name);
    }

    fn set_worker_policy(&self, name: String) {
        self.0.borrow_mut().worker_policy = Some(name);
    }

    fn set_weight(&self, name: String) {
        self.0.borrow_mut().weight = Some(name);
    }

    fn set_bytes(&self, bytes: Vec<u64>) {
        self.0.borrow_mut().bytes = Some(bytes);
    }

    fn set_world_size(&self, world_size: u32) {
        self.0.borrow_mut().world_size = Some(world_size);
    }

    fn set_workers(&self, workers: u32) {
        self.0.borrow_mut().workers = Some(workers);
    }

    fn set_batch_size(&self, batch_size: u32) {
        self.0.borrow_mut().batch_size = Some(batch_size);
    }

    fn set_drop_last(&self, drop_last: bool) {
        self.0.borrow_mut().drop_last = Some(drop_last);
    }
}

impl read::GuestReading for Reading {
    fn new(options: read::OptionsBorrow<'_>) -> Result<Self, types::Failure> {
        // The options may be set and used again.
        let options = options.get::<Options>().0.borrow().copied()?;
        Ok(Self(core_::Reading::new(options)?))
    }

    fn at_epoch(&self, epoch: u64) -> read::Reading {
        read::Reading::new(Self(self.0.at_epoch(epoch)))
    }

    fn resume(&self, state: String) -> Result<read::Reading, types::Failure> {
        Ok(read::Reading::new(Self(self.0.resume(&state)?)))
    }

    fn state(&self, steps: u64) -> Result<String, types::Failure> {
        Ok(self.0.state(steps)?)
    }

    fn recipe(&self) -> String {
        self.0.recipe()
    }

    fn reads_per_row(&self) -> u32 {
        self.0.reads_per_row()
    }

    fn lanes_read_once(&self) -> Option<u32> {
        self.0.lanes_read_once()
    }

    fn mixing_advice(&self) -> Option<read::MixingAdvice> {
        let core_::MixingAdvice { lanes_per_reader, variance_ratio, lanes, window } = self.0.mixing_advice()?;
        Some(read::MixingAdvice { lanes_per_reader, variance_ratio, lanes, window })
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

    fn steps(&self) -> Result<read::StepBounds, types::Failure> {
        let (least, most) = self.0.steps()?;
        Ok(read::StepBounds { least, most })
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

    fn batch(&self, rank: u32, worker: u32, number: u64) -> Result<read::ReadBatch, types::Failure> {
        Ok(self.0.batch(rank, worker, number)?.into())
    }

    fn batch_at(&self, rank: u32, step: u64) -> Result<read::ReadBatch, types::Failure> {
        Ok(self.0.batch_at(rank, step)?.into())
    }

    fn indices(&self, rank: u32, worker: u32, start: u64, count: u32) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.indices(rank, worker, start, count)?)
    }

    fn num_rounds(&self, rank: u32, worker: u32) -> Result<u64, types::Failure> {
        Ok(self.0.num_rounds(rank, worker)?)
    }

    fn round(&self, rank: u32, worker: u32, number: u64) -> Result<read::ReadRound, types::Failure> {
        let core_::ReadRound { start, count, spans } = self.0.round(rank, worker, number)?;
        Ok(read::ReadRound { start, count, spans })
    }

    fn round_rows(
        &self,
        rank: u32,
        worker: u32,
        number: u64,
        start: u64,
        count: u32,
    ) -> Result<read::RoundRows, types::Failure> {
        let core_::RoundRows { rows, padding } = self.0.round_rows(rank, worker, number, start, count)?;
        Ok(read::RoundRows { rows, padding })
    }

    fn round_of(&self, rank: u32, worker: u32, index: u64) -> Result<u64, types::Failure> {
        Ok(self.0.round_of(rank, worker, index)?)
    }

    fn shards(&self, rank: u32, worker: u32) -> Result<Vec<u32>, types::Failure> {
        Ok(self.0.shards(rank, worker)?)
    }
}

impl From<core_::ReadBatch> for read::ReadBatch {
    fn from(batch: core_::ReadBatch) -> Self {
        let core_::ReadBatch { worker, number, step, start, count, padding } = batch;
        Self { worker, number, step, start, count, padding }
    }
}
