//! The matrix adapter for the Rust host.

use matrix::Engine;
use matrix::format::{Call, Config, Failure, Place, S64, Subject, U64, record, strings};
use serde_json::Value;

struct Host(samedeal::Sampler);

impl Engine for Host {
    fn create(subject: &Subject) -> Result<Self, Failure> {
        let Subject::Config(config) = subject else { unimplemented!("{subject:?}") };
        let builder = samedeal::Sampler::builder(config.samples.0)
            .seed(config.seed.0)
            .epoch(config.epoch.0)
            .order(&config.order)
            .rank(config.rank)
            .world(config.world)
            .remainder(config.remainder.parse().map_err(shared)?)
            .layout(config.layout.parse().map_err(shared)?);
        builder.build().map(Self).map_err(failure)
    }

    fn call(&mut self, call: &Call) -> Result<Value, Failure> {
        let sampler = &mut self.0;
        let number = |number: u64| Value::from(number.to_string());
        let answer = match call.clone() {
            Call::Config => Ok(config(sampler.config())),
            Call::SetEpoch { epoch } => sampler.set_epoch(epoch.0).map(|()| Value::Null),
            Call::SetRank { rank } => sampler.set_rank(rank).map(|()| Value::Null),
            Call::NumSamples => Ok(number(sampler.num_samples())),
            Call::NumPadding => Ok(number(sampler.num_padding())),
            Call::NumPositions => Ok(number(sampler.num_positions())),
            Call::NumDropped => Ok(number(sampler.num_dropped())),
            Call::Indices { start, count } => sampler.window(start.0, count).map(|window| strings(&window)),
            Call::Indices32 { start, count } => sampler.window::<u32>(start.0, count).map(Value::from),
            Call::NumBatches { batch_size, drop_last } => sampler.num_batches(batch_size, drop_last).map(number),
            Call::Batch { batch, batch_size, drop_last } => {
                sampler.batch(batch.0, batch_size, drop_last).map(|batch| strings(&batch))
            }
            Call::Batch32 { batch, batch_size, drop_last } => {
                sampler.batch::<u32>(batch.0, batch_size, drop_last).map(Value::from)
            }
            Call::SampleAt { position } => sampler.sample_at(position.0).map(number),
            Call::Locate { sample, batch_size } => {
                sampler.locate(sample.0, batch_size).map(|found| found.map_or(Value::Null, place))
            }
            Call::PlaceOf { position, batch_size } => sampler.place_of(position.0, batch_size).map(place),
            Call::Fingerprint => sampler.fingerprint().map(Value::from),
            Call::ConfigFingerprint => sampler.config_fingerprint().map(Value::from),
            other => unimplemented!("{other:?}"),
        };
        answer.map_err(failure)
    }
}

fn config(config: &samedeal::Config) -> Value {
    let config = Config {
        samples: U64(config.samples),
        seed: S64(config.seed),
        epoch: U64(config.epoch),
        order: config.order.clone(),
        rank: config.rank,
        world: config.world,
        remainder: config.remainder.to_string(),
        layout: config.layout.to_string(),
    };
    record(config)
}

fn place(place: samedeal::Place) -> Value {
    let samedeal::Place { position, rank, index, batch, slot, copies, .. } = place;
    record(Place { position: U64(position), rank, index: U64(index), batch: U64(batch), slot, copies })
}

fn failure(error: samedeal::Error) -> Failure {
    match error {
        samedeal::Error::Failure(failure) => shared(failure),
        other => panic!("{other}"),
    }
}

fn shared(failure: samedeal::Failure) -> Failure {
    let samedeal::Failure { kind, field, value, allowed } = failure;
    Failure { kind: kind.name().into(), field, value, allowed }
}

fn main() -> std::process::ExitCode {
    matrix::run::<Host>(&format!("rust ({})", samedeal::ENGINE))
}
