use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use samedeal_core::OrderId;
use samedeal_core::shard as core_;

use crate::Component;
use crate::bindings::exports::samedeal::deal::{shards, types};

impl shards::Guest for Component {
    type Plan = Plan;
    type ChunkStream = ChunkStream;

    fn verify(shards: u32, offsets: Vec<u32>, assigned: Vec<u32>) -> Result<shards::Verification, types::Failure> {
        let core_::Verification { overlaps, gaps } = core_::verify(shards, &offsets, &assigned)?;
        Ok(shards::Verification { overlaps, gaps })
    }

    fn verify_in_runs(
        shards: u32,
        offsets: Vec<u32>,
        assigned: Vec<u32>,
    ) -> Result<shards::VerificationInRuns, types::Failure> {
        let core_::VerificationInRuns { overlaps, gap_runs } = core_::verify_in_runs(shards, &offsets, &assigned)?;
        Ok(shards::VerificationInRuns { overlaps, gap_runs })
    }
}

pub struct Plan(RefCell<core_::Plan>);

impl shards::GuestPlan for Plan {
    fn new(config: shards::PlanConfig) -> Result<Self, types::Failure> {
        let locality = config.locality.map(|locality| core_::Locality {
            offsets: locality.holder_offsets,
            holders: locality.holders,
            rank_nodes: locality.rank_nodes,
            tolerance: locality.tolerance,
        });
        let config = core_::PlanConfig {
            sizes: config.sizes,
            bytes: config.bytes,
            world: config.world,
            workers: config.workers,
            policy: config.policy.into(),
            worker_policy: config.worker_policy.into(),
            weight: config.weight.into(),
            locality,
            shuffle: config.shuffle,
            reshuffle: config.reshuffle,
            seed: config.seed,
            epoch: config.epoch,
        };
        Ok(Self(RefCell::new(core_::Plan::new(config)?)))
    }

    fn set_epoch(&self, epoch: u64) -> Result<(), types::Failure> {
        Ok(self.0.borrow_mut().set_epoch(epoch)?)
    }

    fn num_shards(&self, rank: u32, worker: u32) -> Result<u32, types::Failure> {
        Ok(self.0.borrow().num_shards(rank, worker)?)
    }

    fn shards(&self, rank: u32, worker: u32, start: u32, count: u32) -> Result<Vec<u32>, types::Failure> {
        Ok(self.0.borrow().shards(rank, worker, start, count)?)
    }

    fn loads(&self, tier: shards::Tier, start: u32, count: u32) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.borrow().loads(tier.into(), start, count)?)
    }

    fn balance(&self, tier: shards::Tier, weight: shards::Weight) -> Result<shards::Balance, types::Failure> {
        let core_::Balance { least, most, total, members } = self.0.borrow().balance(tier.into(), weight.into())?;
        Ok(shards::Balance { least, most, total, members })
    }

    fn imbalance(&self, tier: shards::Tier, weight: shards::Weight) -> Result<u64, types::Failure> {
        Ok(self.0.borrow().imbalance(tier.into(), weight.into())?)
    }

    fn rows(&self, shard: u32, start: u64, count: u32) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.borrow().rows(shard, start, count)?)
    }

    fn steps(&self, batch_size: u32, drop_last: bool) -> Result<shards::Steps, types::Failure> {
        let (least, most) = self.0.borrow().steps(batch_size, drop_last)?;
        Ok(shards::Steps { least, most })
    }

    fn config_fingerprint(&self) -> String {
        self.0.borrow().config_fingerprint()
    }
}

pub struct ChunkStream(RefCell<core_::Stream>);

impl shards::GuestChunkStream for ChunkStream {
    fn new(config: shards::StreamConfig) -> Result<Self, types::Failure> {
        let shards::StreamConfig { chunks, reader, readers, order, seed, epoch } = config;
        let order = OrderId::from_name(&order)?;
        let config = core_::StreamConfig { chunks, reader, readers, order, seed, epoch };
        Ok(Self(RefCell::new(core_::Stream::new(config)?)))
    }

    fn chunks(&self, start: u64, count: u32) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.borrow_mut().chunks(start, count)?)
    }
}

impl From<shards::Policy> for core_::Policy {
    fn from(policy: shards::Policy) -> Self {
        match policy {
            shards::Policy::RoundRobin => Self::RoundRobin,
            shards::Policy::SizeAware => Self::SizeAware,
            shards::Policy::LocalityAware => Self::LocalityAware,
        }
    }
}

impl From<shards::WorkerPolicy> for core_::WorkerPolicy {
    fn from(policy: shards::WorkerPolicy) -> Self {
        match policy {
            shards::WorkerPolicy::RoundRobin => Self::RoundRobin,
            shards::WorkerPolicy::SizeAware => Self::SizeAware,
        }
    }
}

impl From<shards::Weight> for core_::Weight {
    fn from(weight: shards::Weight) -> Self {
        match weight {
            shards::Weight::Samples => Self::Samples,
            shards::Weight::Bytes => Self::Bytes,
        }
    }
}

impl From<shards::Tier> for core_::Tier {
    fn from(tier: shards::Tier) -> Self {
        match tier {
            shards::Tier::Ranks => Self::Ranks,
            shards::Tier::Workers => Self::Workers,
        }
    }
}
