//! The core itself, without an engine around it.

use samedeal_core as core;
use serde_json::Value;

use crate::Engine;
use crate::format::{Call, Config, Failure, Place, S64, U64, strings};

pub struct Native(core::Sampler);

impl Engine for Native {
    fn create(config: &Config) -> Result<Self, Failure> {
        let config = core::Config {
            samples: config.samples.0,
            seed: config.seed.0,
            epoch: config.epoch.0,
            order: core::OrderId::from_name(&config.order).map_err(failure)?,
            rank: config.rank,
            world: config.world,
            remainder: match config.remainder.as_str() {
                "drop" => core::Remainder::Drop,
                "pad" => core::Remainder::Pad,
                "uneven" => core::Remainder::Uneven,
                other => panic!("no remainder: {other}"),
            },
            layout: match config.layout.as_str() {
                "strided" => core::Layout::Strided,
                "contiguous" => core::Layout::Contiguous,
                other => panic!("no layout: {other}"),
            },
        };
        core::Sampler::new(config).map(Self).map_err(failure)
    }

    fn call(&mut self, call: &Call) -> Result<Value, Failure> {
        let sampler = &mut self.0;
        let number = |number: u64| Value::from(number.to_string());
        Ok(match *call {
            Call::Config => config(sampler.config()),
            Call::SetEpoch { epoch } => {
                sampler.set_epoch(epoch.0);
                Value::Null
            }
            Call::SetRank { rank } => sampler.set_rank(rank).map(|()| Value::Null).map_err(failure)?,
            Call::NumSamples => number(sampler.num_samples()),
            Call::NumPadding => number(sampler.deal().num_padding()),
            Call::NumPositions => number(sampler.deal().num_positions()),
            Call::NumDropped => number(sampler.deal().num_dropped()),
            Call::Indices { start, count } => strings(&sampler.indices(start.0, count).map_err(failure)?),
            Call::Indices32 { start, count } => sampler.indices::<u32>(start.0, count).map_err(failure)?.into(),
            Call::NumBatches { batch_size, drop_last } => {
                number(sampler.num_batches(batch_size, drop_last).map_err(failure)?)
            }
            Call::Batch { batch, batch_size, drop_last } => {
                strings(&sampler.batch(batch.0, batch_size, drop_last).map_err(failure)?)
            }
            Call::Batch32 { batch, batch_size, drop_last } => {
                sampler.batch::<u32>(batch.0, batch_size, drop_last).map_err(failure)?.into()
            }
            Call::SampleAt { position } => number(sampler.sample_at(position.0).map_err(failure)?),
            Call::Locate { sample, batch_size } => {
                sampler.locate(sample.0, batch_size).map_err(failure)?.map_or(Value::Null, place)
            }
            Call::PlaceOf { position, batch_size } => place(sampler.place_of(position.0, batch_size).map_err(failure)?),
            Call::Fingerprint => sampler.fingerprint().map_err(failure)?.into(),
            Call::ConfigFingerprint => sampler.config_fingerprint().into(),
        })
    }
}

fn config(config: &core::Config) -> Value {
    let config = Config {
        samples: U64(config.samples),
        seed: S64(config.seed),
        epoch: U64(config.epoch),
        order: config.order.name().into(),
        rank: config.rank,
        world: config.world,
        remainder: format!("{:?}", config.remainder).to_lowercase(),
        layout: format!("{:?}", config.layout).to_lowercase(),
    };
    serde_json::to_value(config).expect("a configuration is plain data")
}

fn place(place: core::Place) -> Value {
    let core::Place { position, rank, index, batch, slot, copies } = place;
    Place { position: U64(position), rank, index: U64(index), batch: U64(batch), slot, copies }.into()
}

fn failure(failure: core::Failure) -> Failure {
    let core::Failure { kind, field, value, allowed } = failure;
    Failure { kind: kind.name().into(), field: field.into(), value, allowed }
}
