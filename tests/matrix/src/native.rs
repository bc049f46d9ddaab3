//! The core itself, without an engine around it.

mod batching;
mod client;
mod read;

use samedeal_core as core;
use std::rc::Rc;

use samedeal_core::{batch, launch, shard};
use serde_json::Value;

use crate::Engine;
use crate::format::{self, Call, Config, Failure, S64, Subject, U64, record, strings};

/// Whatever a case is about.
pub enum Native {
    Sampler(core::Sampler),
    Plan(shard::Plan),
    ChunkStream(shard::Stream),
    Ledger(core::Ledger),
    LedgerClient(core::Client),
    Mesh(core::Mesh),
    Reading(core::read::Reading),
    BatchRecipe(Rc<batch::BatchRecipe>),
    Batcher(Box<batch::Batcher>),
    BatchStream(Box<batch::BatchStream>),
    Functions,
}

impl Engine for Native {
    fn create(subject: &Subject) -> Result<Self, Failure> {
        let made = match subject {
            Subject::Config(config) => read_config(config).and_then(core::Sampler::new).map(Self::Sampler),
            Subject::Sharded { config, sharding } => read_config(config)
                .and_then(|config| {
                    core::Sampler::sharded(config, &numbers(&sharding.sizes), sharding.lanes, sharding.window)
                })
                .map(Self::Sampler),
            Subject::Recipe { text, lists } => {
                let lists: Vec<(&str, Vec<u64>)> = lists.iter().map(|(name, list)| (&**name, numbers(list))).collect();
                let lists: Vec<core::List> = lists.iter().map(|(name, list)| (*name, &**list)).collect();
                core::Recipe::read(text, &lists)
                    .and_then(|recipe| core::Sampler::from_recipe(&recipe))
                    .map(Self::Sampler)
            }
            Subject::Plan(plan) => shard::Plan::new(read_plan(plan)).map(Self::Plan),
            Subject::ChunkStream(stream) => read_stream(stream).and_then(shard::Stream::new).map(Self::ChunkStream),
            Subject::Ledger(ledger) => core::Ledger::new(&ledger.header).map(Self::Ledger),
            Subject::LedgerClient(given) => client::client(given).map(Self::LedgerClient),
            Subject::Mesh(mesh) => core::Mesh::new(mesh.world, read_axes(&mesh.axes)).map(Self::Mesh),
            Subject::Reading(reading) => core::read::Reading::new(read::read_options(reading)).map(Self::Reading),
            Subject::BatchRecipe(given) => batching::read_recipe(given).map(Self::BatchRecipe),
            Subject::Batcher(given) => batching::make_batcher(given).map(|made| Self::Batcher(Box::new(made))),
            Subject::BatchStream(given) => batching::make_stream(given).map(|made| Self::BatchStream(Box::new(made))),
            Subject::Functions {} => Ok(Self::Functions),
        };
        made.map_err(failure)
    }

    fn call(&mut self, call: &Call) -> Result<Value, Failure> {
        let answer = match self {
            Self::Sampler(sampler) => ask_sampler(sampler, call),
            Self::Plan(plan) => ask_plan(plan, call),
            Self::ChunkStream(stream) => match *call {
                Call::Chunks { start, count } => stream.chunks(start.0, count).map(|chunks| strings(&chunks)),
                _ => panic!("no call of a chunk stream: {call:?}"),
            },
            Self::Ledger(ledger) => ask_ledger(ledger, call),
            Self::LedgerClient(client) => match call {
                Call::Client(call) => client::ask(client, call),
                _ => panic!("no call of a client: {call:?}"),
            },
            Self::Mesh(mesh) => ask_mesh(mesh, call),
            Self::Reading(reading) => match call {
                Call::Reading(call) => read::ask(reading, call),
                _ => panic!("no call of a reading: {call:?}"),
            },
            Self::BatchRecipe(recipe) => batching::ask_recipe(recipe, call),
            Self::Batcher(batches) => batching::ask_batcher(batches, call),
            Self::BatchStream(stream) => batching::ask_stream(stream, call),
            Self::Functions => batching::ask_function(call).unwrap_or_else(|| ask_functions(call)),
        };
        answer.map_err(failure)
    }
}

type Answer = Result<Value, core::Failure>;

fn ask_sampler(sampler: &mut core::Sampler, call: &Call) -> Answer {
    Ok(match *call {
        Call::Config => write_config(sampler.config()),
        Call::Recipe => sampler.recipe().text().into(),
        Call::RecipeFingerprint => sampler.recipe().fingerprint().into(),
        Call::Sharding => match sampler.sharding()? {
            None => Value::Null,
            Some((sizes, lanes, window)) => {
                record(format::Sharding { sizes: sizes.into_iter().map(U64).collect(), lanes, window })
            }
        },
        Call::SetEpoch { epoch } => {
            sampler.set_epoch(epoch.0);
            Value::Null
        }
        Call::SetRank { rank } => sampler.set_rank(rank).map(|()| Value::Null)?,
        Call::NumSamples => number(sampler.num_samples()),
        Call::NumPadding => number(sampler.deal().num_padding()),
        Call::NumPositions => number(sampler.deal().num_positions()),
        Call::NumDropped => number(sampler.deal().num_dropped()),
        Call::Indices { start, count } => strings(&sampler.indices(start.0, count)?),
        Call::Indices32 { start, count } => sampler.indices::<u32>(start.0, count)?.into(),
        Call::NumBatches { batch_size, drop_last } => number(sampler.num_batches(batch_size, drop_last)?),
        Call::Batch { batch, batch_size, drop_last } => strings(&sampler.batch(batch.0, batch_size, drop_last)?),
        Call::Batch32 { batch, batch_size, drop_last } => sampler.batch::<u32>(batch.0, batch_size, drop_last)?.into(),
        Call::SampleAt { position } => number(sampler.sample_at(position.0)?),
        Call::Locate { sample, batch_size: Some(size) } => sampler.locate(sample.0, size)?.map_or(Value::Null, place),
        Call::State { taken: Some(taken), steps: None } => sampler.state(taken.0)?.into(),
        Call::Resume { ref state } => sampler.resume(state).map(|()| Value::Null)?,
        Call::PlaceOf { position, batch_size } => place(sampler.place_of(position.0, batch_size)?),
        Call::Fingerprint => sampler.fingerprint()?.into(),
        Call::ConfigFingerprint => sampler.config_fingerprint().into(),
        Call::NumRounds => number(sampler.num_rounds()?),
        Call::Round { number } => {
            let core::Round { start, count, spans } = sampler.round(number.0)?;
            record(format::Round { start: U64(start), count: U64(count), spans: strings(&spans) })
        }
        Call::ShardOf { sample } => {
            let (shard, offset) = sampler.shard_of(sample.0)?;
            record(format::ShardPlace { shard, offset: U64(offset) })
        }
        _ => panic!("no call of a sampler: {call:?}"),
    })
}

fn ask_plan(plan: &mut shard::Plan, call: &Call) -> Answer {
    Ok(match *call {
        Call::SetEpoch { epoch } => plan.set_epoch(epoch.0).map(|()| Value::Null)?,
        Call::NumShards { rank, worker } => plan.num_shards(rank, worker)?.into(),
        Call::Shards { rank, worker, start, count } => plan.shards(rank, worker, start, count)?.into(),
        Call::Loads { ref tier, start, count } => strings(&plan.loads(read_tier(tier), start, count)?),
        Call::Balance { ref tier, ref weight } => {
            let shard::Balance { least, most, total, members } = plan.balance(read_tier(tier), read_weight(weight))?;
            record(format::Balance { least: U64(least), most: U64(most), total: U64(total), members })
        }
        Call::Imbalance { ref tier, ref weight } => number(plan.imbalance(read_tier(tier), read_weight(weight))?),
        Call::Rows { shard, start, count } => strings(&plan.rows(shard, start.0, count)?),
        Call::Steps { batch_size, drop_last } => {
            let (least, most) = plan.steps(batch_size, drop_last)?;
            record(format::Steps { least: U64(least), most: U64(most) })
        }
        Call::ConfigFingerprint => plan.config_fingerprint().into(),
        _ => panic!("no call of a plan: {call:?}"),
    })
}

fn ask_ledger(ledger: &mut core::Ledger, call: &Call) -> Answer {
    Ok(match *call {
        Call::Apply { ref entry } => ledger.apply(entry)?.map_or(Value::Null, write_event),
        Call::Replay { ref entries, reader, readers } => {
            ledger.replay::<Run>(entries, reader, readers)?.into_iter().collect()
        }
        Call::Progress => write_progress(ledger.progress()),
        Call::InitialState => ledger.initial_state().into(),
        _ => panic!("no call of a ledger: {call:?}"),
    })
}

fn write_progress(progress: core::Progress) -> Value {
    let core::Progress { positions, committed, claimed, entries } = progress;
    let [positions, committed, claimed, entries] = [positions, committed, claimed, entries].map(U64);
    record(format::Progress { positions, committed, claimed, entries })
}

fn write_event(event: core::Event) -> Value {
    let core::Event { number, kind, reader, start, count, claim } = event;
    let kind = kind.name().into();
    record(format::Event { number: U64(number), kind, reader, start: U64(start), count, claim: U64(claim) })
}

/// A run of a replay, as it is written.
struct Run(Value);

impl From<core::Event> for Run {
    fn from(core::Event { number, kind: _, reader, start, count, claim }: core::Event) -> Self {
        Self(record(format::CommittedRun { number: U64(number), reader, start: U64(start), count, claim: U64(claim) }))
    }
}

impl From<Run> for Value {
    fn from(Run(value): Run) -> Self {
        value
    }
}

fn ask_mesh(mesh: &core::Mesh, call: &Call) -> Answer {
    Ok(match *call {
        Call::DataWorld => mesh.data_world().into(),
        Call::DataRank { rank } => mesh.data_rank(rank)?.into(),
        Call::Coordinates { rank } => mesh.coordinates(rank)?.into(),
        Call::RankAt { ref coordinates } => mesh.rank_at(coordinates)?.into(),
        Call::Peers { rank } => mesh.peers(rank)?.into(),
        _ => panic!("no call of a mesh: {call:?}"),
    })
}

fn ask_functions(call: &Call) -> Answer {
    Ok(match call {
        Call::Verify { shards, offsets, assigned } => {
            let shard::Verification { overlaps, gaps } = shard::verify(*shards, offsets, assigned)?;
            record(format::Verification { overlaps, gaps })
        }
        Call::VerifyInRuns { shards, offsets, assigned } => {
            let shard::VerificationInRuns { overlaps, gap_runs } = shard::verify_in_runs(*shards, offsets, assigned)?;
            record(format::VerificationInRuns { overlaps, gap_runs })
        }
        Call::Header { state, block, lease } => core::Ledger::header(state, *block, lease.0)?.into(),
        Call::Detect { environment, rank, world } => {
            let launch::Detection { rank, world, local_rank, local_world, launcher, used, warnings } =
                launch::detect(environment, *rank, *world)?;
            let launcher = launcher.into();
            record(format::Detection { rank, world, local_rank, local_world, launcher, used, warnings })
        }
        Call::Variables => launch::variables().collect(),
        _ => panic!("no function: {call:?}"),
    })
}

fn read_config(config: &Config) -> Result<core::Config, core::Failure> {
    Ok(core::Config {
        samples: config.samples.0,
        seed: config.seed.0,
        epoch: config.epoch.0,
        order: core::OrderId::from_name(&config.order)?,
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
        consumed: config.consumed.0,
    })
}

fn write_config(config: &core::Config) -> Value {
    record(Config {
        samples: U64(config.samples),
        seed: S64(config.seed),
        epoch: U64(config.epoch),
        order: config.order.name().into(),
        rank: config.rank,
        world: config.world,
        remainder: format!("{:?}", config.remainder).to_lowercase(),
        layout: format!("{:?}", config.layout).to_lowercase(),
        consumed: U64(config.consumed),
    })
}

fn read_plan(plan: &format::Plan) -> shard::PlanConfig {
    shard::PlanConfig {
        sizes: numbers(&plan.sizes),
        bytes: numbers(&plan.bytes),
        world: plan.world,
        workers: plan.workers,
        policy: read_policy(&plan.policy),
        worker_policy: read_worker_policy(&plan.worker_policy),
        weight: read_weight(&plan.weight),
        locality: plan.locality.clone().map(|locality| shard::Locality {
            offsets: locality.holder_offsets,
            holders: locality.holders,
            rank_nodes: locality.rank_nodes,
            tolerance: locality.tolerance,
        }),
        shuffle: plan.shuffle,
        reshuffle: plan.reshuffle,
        seed: plan.seed.0,
        epoch: plan.epoch.0,
    }
}

fn read_policy(policy: &str) -> shard::Policy {
    match policy {
        "round-robin" => shard::Policy::RoundRobin,
        "size-aware" => shard::Policy::SizeAware,
        "locality-aware" => shard::Policy::LocalityAware,
        other => panic!("no policy: {other}"),
    }
}

fn read_worker_policy(policy: &str) -> shard::WorkerPolicy {
    match policy {
        "round-robin" => shard::WorkerPolicy::RoundRobin,
        "size-aware" => shard::WorkerPolicy::SizeAware,
        other => panic!("no worker policy: {other}"),
    }
}

fn read_weight(weight: &str) -> shard::Weight {
    match weight {
        "samples" => shard::Weight::Samples,
        "bytes" => shard::Weight::Bytes,
        other => panic!("no weight: {other}"),
    }
}

fn read_tier(tier: &str) -> shard::Tier {
    match tier {
        "ranks" => shard::Tier::Ranks,
        "workers" => shard::Tier::Workers,
        other => panic!("no tier: {other}"),
    }
}

fn read_stream(stream: &format::ChunkStream) -> Result<shard::StreamConfig, core::Failure> {
    Ok(shard::StreamConfig {
        chunks: stream.chunks.map(|chunks| chunks.0),
        reader: stream.reader,
        readers: stream.readers,
        order: core::OrderId::from_name(&stream.order)?,
        seed: stream.seed.0,
        epoch: stream.epoch.0,
    })
}

fn read_axes(axes: &[format::Axis]) -> Vec<core::Axis> {
    let axis = |axis: &format::Axis| {
        let role = match axis.role.as_str() {
            "divide" => core::Role::Divide,
            "repeat" => core::Role::Repeat,
            other => panic!("no role: {other}"),
        };
        core::Axis { name: axis.name.clone(), size: axis.size, role }
    };
    axes.iter().map(axis).collect()
}

fn numbers(numbers: &[U64]) -> Vec<u64> {
    numbers.iter().map(|number| number.0).collect()
}

fn number(number: u64) -> Value {
    number.to_string().into()
}

fn place(place: core::Place) -> Value {
    let core::Place { position, rank, index, batch, slot, copies } = place;
    record(format::Place { position: U64(position), rank, index: U64(index), batch: U64(batch), slot, copies })
}

fn failure(failure: core::Failure) -> Failure {
    let core::Parts { kind, field, value, allowed, .. } = failure.into_parts();
    Failure { kind: kind.name().into(), field: field.into(), value, allowed }
}
