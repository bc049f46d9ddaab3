use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::RefCell;

use samedeal_core as core_;
use samedeal_core::{MAX_WINDOW, OrderId};

use crate::Component;
use crate::bindings::exports::samedeal::deal::{sampling, types};

impl sampling::Guest for Component {
    type Sampler = Sampler;

    fn orders() -> Vec<String> {
        OrderId::ALL.iter().map(|order| order.name().to_string()).collect()
    }

    fn max_window() -> u32 {
        MAX_WINDOW
    }
}

pub struct Sampler(RefCell<core_::Sampler>);

impl sampling::GuestSampler for Sampler {
    fn new(config: sampling::Config) -> Result<Self, types::Failure> {
        Ok(Self(RefCell::new(core_::Sampler::new(config.try_into()?)?)))
    }

    fn sharded(
        config: sampling::Config,
        sampling::Sharding { sizes, lanes, window }: sampling::Sharding,
    ) -> Result<sampling::Sampler, types::Failure> {
        let sampler = core_::Sampler::sharded(config.try_into()?, &sizes, lanes, window)?;
        Ok(sampling::Sampler::new(Self(RefCell::new(sampler))))
    }

    fn from_recipe(recipe: String, lists: Vec<types::NamedList>) -> Result<sampling::Sampler, types::Failure> {
        let lists: Vec<core_::List> = lists.iter().map(|list| (&*list.name, &*list.numbers)).collect();
        let sampler = core_::Sampler::from_recipe(&core_::Recipe::read(&recipe, &lists)?)?;
        Ok(sampling::Sampler::new(Self(RefCell::new(sampler))))
    }

    fn recipe(&self) -> String {
        self.0.borrow().recipe().text()
    }

    fn recipe_fingerprint(&self) -> String {
        self.0.borrow().recipe().fingerprint()
    }

    fn sharding(&self) -> Result<Option<sampling::Sharding>, types::Failure> {
        let found = self.0.borrow().sharding()?;
        Ok(found.map(|(sizes, lanes, window)| sampling::Sharding { sizes, lanes, window }))
    }

    fn config(&self) -> sampling::Config {
        let core_::Config { samples, seed, epoch, order, rank, world, remainder, layout, consumed } =
            *self.0.borrow().config();
        sampling::Config {
            samples,
            seed,
            epoch,
            order: order.name().to_string(),
            rank,
            world,
            remainder: match remainder {
                core_::Remainder::Drop => types::Remainder::Drop,
                core_::Remainder::Pad => types::Remainder::Pad,
                core_::Remainder::Uneven => types::Remainder::Uneven,
            },
            layout: match layout {
                core_::Layout::Strided => types::Layout::Strided,
                core_::Layout::Contiguous => types::Layout::Contiguous,
            },
            consumed,
        }
    }

    fn state(&self, taken: u64) -> Result<String, types::Failure> {
        Ok(self.0.borrow().state(taken)?)
    }

    fn resume(&self, state: String) -> Result<(), types::Failure> {
        Ok(self.0.borrow_mut().resume(&state)?)
    }

    fn set_epoch(&self, epoch: u64) {
        self.0.borrow_mut().set_epoch(epoch);
    }

    fn set_rank(&self, rank: u32) -> Result<(), types::Failure> {
        Ok(self.0.borrow_mut().set_rank(rank)?)
    }

    fn num_samples(&self) -> u64 {
        self.0.borrow().num_samples()
    }

    fn num_padding(&self) -> u64 {
        self.0.borrow().deal().num_padding()
    }

    fn num_positions(&self) -> u64 {
        self.0.borrow().deal().num_positions()
    }

    fn num_dropped(&self) -> u64 {
        self.0.borrow().deal().num_dropped()
    }

    fn indices(&self, start: u64, count: u32) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.borrow().indices(start, count)?)
    }

    fn indices32(&self, start: u64, count: u32) -> Result<Vec<u32>, types::Failure> {
        Ok(self.0.borrow().indices(start, count)?)
    }

    fn num_batches(&self, batch_size: u32, drop_last: bool) -> Result<u64, types::Failure> {
        Ok(self.0.borrow().num_batches(batch_size, drop_last)?)
    }

    fn batch(&self, batch: u64, batch_size: u32, drop_last: bool) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.borrow().batch(batch, batch_size, drop_last)?)
    }

    fn batch32(&self, batch: u64, batch_size: u32, drop_last: bool) -> Result<Vec<u32>, types::Failure> {
        Ok(self.0.borrow().batch(batch, batch_size, drop_last)?)
    }

    fn sample_at(&self, position: u64) -> Result<u64, types::Failure> {
        Ok(self.0.borrow().sample_at(position)?)
    }

    fn locate(&self, sample: u64, batch_size: u32) -> Result<Option<sampling::Place>, types::Failure> {
        Ok(self.0.borrow().locate(sample, batch_size)?.map(Into::into))
    }

    fn place_of(&self, position: u64, batch_size: u32) -> Result<sampling::Place, types::Failure> {
        Ok(self.0.borrow().place_of(position, batch_size)?.into())
    }

    fn fingerprint(&self) -> Result<String, types::Failure> {
        Ok(self.0.borrow().fingerprint()?)
    }

    fn config_fingerprint(&self) -> String {
        self.0.borrow().config_fingerprint()
    }

    fn num_rounds(&self) -> Result<u64, types::Failure> {
        Ok(self.0.borrow().num_rounds()?)
    }

    fn round(&self, number: u64) -> Result<sampling::Round, types::Failure> {
        let core_::Round { start, count, spans } = self.0.borrow().round(number)?;
        Ok(sampling::Round { start, count, spans })
    }

    fn shard_of(&self, sample: u64) -> Result<sampling::ShardPlace, types::Failure> {
        let (shard, offset) = self.0.borrow().shard_of(sample)?;
        Ok(sampling::ShardPlace { shard, offset })
    }
}

impl From<core_::Place> for sampling::Place {
    fn from(core_::Place { position, rank, index, batch, slot, copies }: core_::Place) -> Self {
        Self { position, rank, index, batch, slot, copies }
    }
}

impl TryFrom<sampling::Config> for core_::Config {
    type Error = core_::Failure;

    fn try_from(config: sampling::Config) -> Result<Self, core_::Failure> {
        Ok(Self {
            samples: config.samples,
            seed: config.seed,
            epoch: config.epoch,
            order: OrderId::from_name(&config.order)?,
            rank: config.rank,
            world: config.world,
            remainder: match config.remainder {
                types::Remainder::Drop => core_::Remainder::Drop,
                types::Remainder::Pad => core_::Remainder::Pad,
                types::Remainder::Uneven => core_::Remainder::Uneven,
            },
            layout: match config.layout {
                types::Layout::Strided => core_::Layout::Strided,
                types::Layout::Contiguous => core_::Layout::Contiguous,
            },
            consumed: config.consumed,
        })
    }
}
