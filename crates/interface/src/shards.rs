use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::RefCell;

use samedeal_core::shard as core_;

use crate::bindings::{shards, types};
use crate::{Component, beside};

impl shards::Guest for Component {
    type Plan = Plan;
    type ChunkStream = ChunkStream;

    fn verify(num_shards: u32, offsets: Vec<u32>, assigned: Vec<u32>) -> Result<shards::Verification, types::Failure> {
        let core_::Verification { overlaps, gaps } = core_::verify(num_shards, &offsets, &assigned)?;
        let core_::Overlaps { shard, first_reader, other_reader } = overlaps;
        let core_::ShardRuns { first_shard, num_shards } = gaps;
        Ok(shards::Verification {
            overlaps: shards::Overlaps { shard, first_reader, other_reader },
            gaps: shards::ShardRuns { first_shard, num_shards },
        })
    }
}

pub struct Plan(core_::Plan);

impl shards::GuestPlan for Plan {
    fn new(recipe: String, lists: Vec<types::NamedList>, epoch: u64) -> Result<Self, types::Failure> {
        Ok(Self(core_::Plan::from_recipe(&recipe, &beside(&lists), epoch)?))
    }

    fn at_epoch(&self, epoch: u64) -> Result<shards::Plan, types::Failure> {
        Ok(shards::Plan::new(Self(self.0.at_epoch(epoch)?)))
    }

    fn recipe(&self) -> Result<String, types::Failure> {
        Ok(self.0.recipe()?)
    }

    fn recipe_fingerprint(&self) -> String {
        self.0.recipe_fingerprint()
    }

    fn epoch(&self) -> u64 {
        self.0.epoch()
    }

    fn seed(&self) -> i64 {
        self.0.config().seed
    }

    fn world_size(&self) -> u32 {
        self.0.config().world_size
    }

    fn workers(&self) -> u32 {
        self.0.config().workers
    }

    fn sizes(&self) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.sizes()?)
    }

    fn bytes(&self) -> Result<Option<Vec<u64>>, types::Failure> {
        Ok(self.0.bytes()?)
    }

    fn num_shards(&self, rank: u32, worker: u32) -> Result<u32, types::Failure> {
        Ok(self.0.num_shards(rank, worker)?)
    }

    fn shards(&self, rank: u32, worker: u32, start: u32, count: u32) -> Result<Vec<u32>, types::Failure> {
        Ok(self.0.shards(rank, worker, start, count)?)
    }

    fn loads(&self, tier: String, start: u32, count: u32) -> Result<Vec<types::NamedList>, types::Failure> {
        let columns = self.0.loads(core_::Tier::from_name(&tier)?, start, count)?;
        Ok(columns.into_iter().map(|(name, numbers)| types::NamedList { name: name.to_string(), numbers }).collect())
    }

    fn load_summary(&self, tier: String, balance_by: String) -> Result<shards::LoadSummary, types::Failure> {
        let (tier, balance_by) = (core_::Tier::from_name(&tier)?, core_::BalanceBy::from_name(&balance_by)?);
        let core_::LoadSummary { min, max, total, members } = self.0.load_summary(tier, balance_by)?;
        Ok(shards::LoadSummary { min, max, total, members })
    }

    fn imbalance(&self, tier: String, balance_by: String) -> Result<u64, types::Failure> {
        Ok(self.0.imbalance(core_::Tier::from_name(&tier)?, core_::BalanceBy::from_name(&balance_by)?)?)
    }

    fn rows(&self, shard: u32, start: u64, count: u32) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.rows(shard, start, count)?)
    }

    fn step_bounds(&self, batch_size: u32, drop_last: bool) -> Result<types::StepBounds, types::Failure> {
        let (min, max) = self.0.steps(batch_size, drop_last)?;
        Ok(types::StepBounds { min, max })
    }

    fn config_fingerprint(&self) -> String {
        self.0.config_fingerprint()
    }
}

pub struct ChunkStream(RefCell<core_::Stream>);

impl shards::GuestChunkStream for ChunkStream {
    fn new(recipe: String, epoch: u64, reader: u32) -> Result<Self, types::Failure> {
        Ok(Self(RefCell::new(core_::Stream::from_recipe(&recipe, epoch, reader)?)))
    }

    fn recipe(&self) -> Result<String, types::Failure> {
        Ok(self.0.borrow().recipe()?)
    }

    fn chunks(&self, start: u64, count: u32) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.borrow_mut().chunks(start, count)?)
    }
}
