use alloc::string::{String, ToString};
use alloc::vec::Vec;

use samedeal_core as core_;
use samedeal_core::{MAX_COUNT, OrderId};

use crate::bindings::{sampling, types};
use crate::{Component, beside};

impl sampling::Guest for Component {
    type Sampler = Sampler;

    fn plain_orders() -> Vec<String> {
        OrderId::ALL.iter().map(|order| order.name().to_string()).collect()
    }

    fn max_count() -> u32 {
        MAX_COUNT
    }
}

pub struct Sampler(core_::Sampler);

impl sampling::GuestSampler for Sampler {
    fn new(recipe: String, lists: Vec<types::NamedList>, epoch: u64, rank: u32) -> Result<Self, types::Failure> {
        Ok(Self(core_::Sampler::from_recipe(&core_::Recipe::read(&recipe, &beside(&lists))?, epoch, rank)?))
    }

    fn at_epoch(&self, epoch: u64) -> Result<sampling::Sampler, types::Failure> {
        Ok(sampling::Sampler::new(Self(self.0.at_epoch(epoch)?)))
    }

    fn at_rank(&self, rank: u32) -> Result<sampling::Sampler, types::Failure> {
        Ok(sampling::Sampler::new(Self(self.0.at_rank(rank)?)))
    }

    fn rest(&self, consumed: u64) -> Result<sampling::Sampler, types::Failure> {
        Ok(sampling::Sampler::new(Self(self.0.rest(consumed)?)))
    }

    fn resume(&self, state: String) -> Result<sampling::Sampler, types::Failure> {
        Ok(sampling::Sampler::new(Self(self.0.resume(&state)?)))
    }

    fn recipe(&self) -> Result<String, types::Failure> {
        Ok(self.0.recipe().text()?)
    }

    fn recipe_fingerprint(&self) -> String {
        self.0.recipe().fingerprint()
    }

    fn epoch(&self) -> u64 {
        self.0.config().epoch
    }

    fn rank(&self) -> u32 {
        self.0.config().rank
    }

    fn consumed(&self) -> u64 {
        self.0.config().consumed
    }

    fn dataset_size(&self) -> u64 {
        self.0.config().samples
    }

    fn epoch_length(&self) -> u64 {
        self.0.epoch_length()
    }

    fn seed(&self) -> i64 {
        self.0.config().seed
    }

    fn order(&self) -> String {
        self.0.config().order.name().to_string()
    }

    fn world_size(&self) -> u32 {
        self.0.config().world_size
    }

    fn remainder(&self) -> String {
        self.0.config().remainder.name().to_string()
    }

    fn layout(&self) -> String {
        self.0.config().layout.name().to_string()
    }

    fn unit(&self) -> u32 {
        self.0.config().unit
    }

    fn sizes(&self) -> Result<Option<Vec<u64>>, types::Failure> {
        Ok(self.0.sizes()?)
    }

    fn lanes(&self) -> Option<u32> {
        self.0.lanes().map(|(lanes, _)| lanes)
    }

    fn shuffle_window(&self) -> Option<u32> {
        self.0.lanes().map(|(_, window)| window)
    }

    fn state(&self, taken: u64) -> Result<String, types::Failure> {
        Ok(self.0.state(taken)?)
    }

    fn num_samples(&self) -> u64 {
        self.0.num_samples()
    }

    fn max_num_samples(&self) -> u64 {
        self.0.max_num_samples()
    }

    fn num_padding(&self) -> u64 {
        self.0.deal().num_padding()
    }

    fn num_positions(&self) -> u64 {
        self.0.deal().num_positions()
    }

    fn num_dropped(&self) -> u64 {
        self.0.deal().num_dropped()
    }

    fn indices(&self, start: u64, count: u32) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.indices(start, count)?)
    }

    fn indices32(&self, start: u64, count: u32) -> Result<Vec<u32>, types::Failure> {
        Ok(self.0.indices(start, count)?)
    }

    fn short_epochs(&self, epoch: u64, count: u32, most: u32) -> Result<sampling::ShortEpochs, types::Failure> {
        let (num_samples, indices) = self.0.short_epochs(epoch, count, most)?;
        Ok(sampling::ShortEpochs { num_samples, indices })
    }

    fn num_batches(&self, batch_size: u32, drop_last: bool) -> Result<u64, types::Failure> {
        Ok(self.0.num_batches(batch_size, drop_last)?)
    }

    fn batch(&self, batch: u64, batch_size: u32, drop_last: bool) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.batch(batch, batch_size, drop_last)?)
    }

    fn batch32(&self, batch: u64, batch_size: u32, drop_last: bool) -> Result<Vec<u32>, types::Failure> {
        Ok(self.0.batch(batch, batch_size, drop_last)?)
    }

    fn sample_at(&self, position: u64) -> Result<u64, types::Failure> {
        Ok(self.0.sample_at(position)?)
    }

    fn locate(&self, sample: u64, batch_size: u32) -> Result<Option<sampling::Place>, types::Failure> {
        Ok(self.0.locate(sample, batch_size)?.map(Into::into))
    }

    fn locate_all(&self, samples: Vec<u64>, batch_size: u32) -> Result<Vec<Option<sampling::Place>>, types::Failure> {
        Ok(self.0.locate_all(&samples, batch_size)?.into_iter().map(|place| place.map(Into::into)).collect())
    }

    fn locate_from(
        &self,
        sample: u64,
        position: u64,
        batch_size: u32,
    ) -> Result<Option<sampling::Place>, types::Failure> {
        Ok(self.0.locate_from(sample, position, batch_size)?.map(Into::into))
    }

    fn sources(&self) -> Result<Vec<String>, types::Failure> {
        Ok(self.0.sources()?.into_iter().map(ToString::to_string).collect())
    }

    fn source_counts(&self, start: u64, count: u64) -> Result<Vec<types::NamedList>, types::Failure> {
        let columns = self.0.source_counts(start, count)?;
        let column = |(name, numbers): (&str, Vec<u64>)| types::NamedList { name: name.to_string(), numbers };
        Ok(columns.into_iter().map(column).collect())
    }

    fn source_bounds(&self) -> Result<Vec<u64>, types::Failure> {
        Ok(self.0.source_bounds()?)
    }

    fn source_of(&self, sample: u64) -> Result<sampling::SourcePlace, types::Failure> {
        let (source, index) = self.0.source_of(sample)?;
        Ok(sampling::SourcePlace { source, index })
    }

    fn step(
        &self,
        step: u64,
        batch_size: u32,
        drop_last: bool,
        first: u32,
        count: u32,
    ) -> Result<sampling::RankBatches, types::Failure> {
        let (samples, counts) = self.0.step(step, batch_size, drop_last, first, count)?;
        Ok(sampling::RankBatches { samples, counts })
    }

    fn fate(&self, sample: u64, batch_size: u32, taken: u64) -> Result<sampling::Fate, types::Failure> {
        let core_::Fate { status, before, places, num_seen, num_padding, complete } =
            self.0.fate(sample, batch_size, taken)?;
        let places = places.into_iter().map(Into::into).collect();
        Ok(sampling::Fate { status: status.into(), before, places, num_seen, num_padding, complete })
    }

    fn place_of(&self, position: u64, batch_size: u32) -> Result<sampling::Place, types::Failure> {
        Ok(self.0.place_of(position, batch_size)?.into())
    }

    fn fingerprint(&self) -> Result<String, types::Failure> {
        Ok(self.0.fingerprint()?)
    }

    fn config_fingerprint(&self) -> String {
        self.0.config_fingerprint()
    }

    fn num_rounds(&self) -> Result<u64, types::Failure> {
        Ok(self.0.num_rounds()?)
    }

    fn round(&self, number: u64) -> Result<sampling::Round, types::Failure> {
        let core_::Round { start, count, spans } = self.0.round(number)?;
        Ok(sampling::Round { start, count, spans: spans.into() })
    }

    fn shard_of(&self, sample: u64) -> Result<sampling::ShardPlace, types::Failure> {
        let (shard, row) = self.0.shard_of(sample)?;
        Ok(sampling::ShardPlace { shard, row })
    }
}

impl From<core_::Place> for sampling::Place {
    fn from(core_::Place { position, rank, index_in_rank, batch, index_in_batch, num_padding }: core_::Place) -> Self {
        Self { position, rank, index_in_rank, batch, index_in_batch, num_padding }
    }
}
