//! The matrix adapter for the Rust host.

use matrix::Engine;
use matrix::format::{self, Call, Config, Failure, Place, S64, Subject, U64, record, strings};
use samedeal::ledger::{self, RawLedger};
use samedeal::{
    BatchRecipe, BatchStream, Batcher, Builder, ChunkStream, Error, Locality, Mesh, Reading, Sampler, ShardPlan,
    Sharding,
};
use serde_json::Value;

#[path = "rust/batching.rs"]
mod batching;
#[path = "rust/client.rs"]
mod client;
#[path = "rust/read.rs"]
mod read;

/// Whatever a case is about.
enum Host {
    Sampler(Sampler),
    Plan(ShardPlan),
    ChunkStream(ChunkStream),
    Ledger(RawLedger),
    LedgerClient(ledger::Client),
    Mesh(Mesh),
    Reading(Reading),
    BatchRecipe(BatchRecipe),
    Batcher(Batcher),
    BatchStream(BatchStream),
    Functions,
}

impl Engine for Host {
    fn create(subject: &Subject) -> Result<Self, Failure> {
        let made = match subject {
            Subject::Config(config) => sampler(config, None).map(Self::Sampler),
            Subject::Sharded { config, sharding } => sampler(config, Some(sharding)).map(Self::Sampler),
            Subject::Recipe { text, lists } => {
                let numbers = |list: &[U64]| list.iter().map(|number| number.0).collect();
                let lists = lists.iter().map(|(name, list)| (name.clone(), numbers(list))).collect();
                Builder::of_recipe(text, lists).and_then(Builder::build).map(Self::Sampler)
            }
            Subject::Plan(config) => plan(config).map(Self::Plan),
            Subject::ChunkStream(config) => {
                let format::ChunkStream { chunks, reader, readers, order, seed, epoch } = config;
                let mut builder = ChunkStream::builder(*reader, *readers).order(order).seed(seed.0).epoch(epoch.0);
                if let Some(chunks) = chunks {
                    builder = builder.chunks(chunks.0);
                }
                builder.build().map(Self::ChunkStream)
            }
            Subject::Ledger(ledger) => RawLedger::new(&ledger.header).map(Self::Ledger),
            Subject::LedgerClient(given) => client::client(given).map(Self::LedgerClient),
            Subject::Mesh(config) => {
                let axis = |axis: &format::Axis| {
                    Ok(samedeal::Axis { name: axis.name.clone(), size: axis.size, role: axis.role.parse()? })
                };
                let axes = config.axes.iter().map(axis).collect::<Result<Vec<_>, _>>().map_err(shared)?;
                Mesh::new(config.world, axes).map(Self::Mesh)
            }
            Subject::Reading(reading) => read::reading(reading).map(Self::Reading),
            Subject::BatchRecipe(given) => batching::recipe(given).map(Self::BatchRecipe),
            Subject::Batcher(given) => batching::batcher(given).map(Self::Batcher),
            Subject::BatchStream(given) => batching::stream(given).map(Self::BatchStream),
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
            Self::Batcher(batcher) => batching::ask_batcher(batcher, call),
            Self::BatchStream(stream) => batching::ask_stream(stream, call),
            Self::Functions => ask_functions(call),
        };
        answer.map_err(failure)
    }
}

type Answer = Result<Value, Error>;

fn ask_sampler(sampler: &mut Sampler, call: &Call) -> Answer {
    Ok(match *call {
        Call::Config => write_config(sampler.config()),
        Call::Recipe => sampler.recipe()?.into(),
        Call::RecipeFingerprint => sampler.recipe_fingerprint()?.into(),
        Call::Sharding => sampler.config().sharding.as_ref().map_or(Value::Null, |sharding| {
            let Sharding { sizes, lanes, window } = sharding;
            record(format::Sharding {
                sizes: sizes.iter().map(|&size| U64(size)).collect(),
                lanes: *lanes,
                window: *window,
            })
        }),
        Call::SetEpoch { epoch } => sampler.set_epoch(epoch.0).map(|()| Value::Null)?,
        Call::SetRank { rank } => sampler.set_rank(rank).map(|()| Value::Null)?,
        Call::NumSamples => number(sampler.num_samples()),
        Call::NumPadding => number(sampler.num_padding()),
        Call::NumPositions => number(sampler.num_positions()),
        Call::NumDropped => number(sampler.num_dropped()),
        Call::Indices { start, count } => strings(&sampler.window(start.0, count)?),
        Call::Indices32 { start, count } => sampler.window::<u32>(start.0, count)?.into(),
        Call::NumBatches { batch_size, drop_last } => number(sampler.num_batches(batch_size, drop_last)?),
        Call::Batch { batch, batch_size, drop_last } => strings(&sampler.batch(batch.0, batch_size, drop_last)?),
        Call::Batch32 { batch, batch_size, drop_last } => sampler.batch::<u32>(batch.0, batch_size, drop_last)?.into(),
        Call::SampleAt { position } => number(sampler.sample_at(position.0)?),
        Call::Locate { sample, batch_size: Some(size) } => sampler.locate(sample.0, size)?.map_or(Value::Null, place),
        Call::State { taken: Some(taken), steps: None } => sampler.state(taken.0)?.into(),
        Call::Resume { ref state } => sampler.resume(state).map(|()| Value::Null)?,
        Call::PlaceOf { position, batch_size } => place(sampler.place_of(position.0, batch_size)?),
        Call::Fingerprint => sampler.fingerprint()?.into(),
        Call::ConfigFingerprint => sampler.config_fingerprint()?.into(),
        Call::NumRounds => number(sampler.num_rounds()?),
        Call::Round { number } => {
            let samedeal::Round { start, count, spans, .. } = sampler.round(number.0)?;
            let spans = spans.iter().flat_map(|span| [span.lane.into(), span.shard.into(), span.first, span.count]);
            let spans = strings(&spans.collect::<Vec<u64>>());
            record(format::Round { start: U64(start), count: U64(count), spans })
        }
        Call::ShardOf { sample } => {
            let samedeal::ShardPlace { shard, offset, .. } = sampler.shard_of(sample.0)?;
            record(format::ShardPlace { shard, offset: U64(offset) })
        }
        _ => panic!("no call of a sampler: {call:?}"),
    })
}

fn ask_plan(plan: &mut ShardPlan, call: &Call) -> Answer {
    Ok(match *call {
        Call::SetEpoch { epoch } => plan.set_epoch(epoch.0).map(|()| Value::Null)?,
        Call::NumShards { rank, worker } => plan.num_shards(rank, worker)?.into(),
        Call::Shards { rank, worker, start, count } => plan.shards_window(rank, worker, start, count)?.into(),
        Call::Loads { ref tier, start, count } => {
            let loads = plan.loads_window(tier.parse()?, start, count)?;
            let loads = loads.iter().flat_map(|load| [load.shards, load.samples, load.bytes, load.local]);
            strings(&loads.collect::<Vec<_>>())
        }
        Call::Balance { ref tier, ref weight } => {
            let samedeal::Balance { least, most, total, members, .. } = plan.balance(tier.parse()?, weight.parse()?)?;
            record(format::Balance { least: U64(least), most: U64(most), total: U64(total), members })
        }
        Call::Imbalance { ref tier, ref weight } => {
            let imbalance = plan.balance(tier.parse()?, weight.parse()?)?.imbalance();
            number(millionths(imbalance))
        }
        Call::Rows { shard, start, count } => strings(&plan.rows_window(shard, start.0, count)?),
        Call::Steps { batch_size, drop_last } => {
            let samedeal::Steps { least, most, .. } = plan.steps(batch_size, drop_last)?;
            record(format::Steps { least: U64(least), most: U64(most) })
        }
        Call::ConfigFingerprint => plan.config_fingerprint()?.into(),
        _ => panic!("no call of a plan: {call:?}"),
    })
}

fn ask_ledger(ledger: &RawLedger, call: &Call) -> Answer {
    Ok(match *call {
        Call::Apply { ref entry } => ledger.apply(entry)?.map_or(Value::Null, |event| {
            let ledger::Event { number, kind, reader, start, count, claim, .. } = event;
            let [number, start, claim] = [number, start, claim].map(U64);
            record(format::Event { number, kind, reader, start, count, claim })
        }),
        Call::Replay { ref entries, reader, readers } => {
            let written = |run| {
                let ledger::CommittedRun { number, reader, start, count, claim, .. } = run;
                let [number, start, claim] = [number, start, claim].map(U64);
                record(format::CommittedRun { number, reader, start, count, claim })
            };
            ledger.replay(entries, reader, readers)?.into_iter().map(written).collect()
        }
        Call::Progress => write_progress(&ledger.progress()?),
        Call::InitialState => ledger.initial_state()?.into(),
        _ => panic!("no call of a ledger: {call:?}"),
    })
}

fn write_progress(progress: &ledger::Progress) -> Value {
    let &ledger::Progress { positions, committed, claimed, entries, .. } = progress;
    let [positions, committed, claimed, entries] = [positions, committed, claimed, entries].map(U64);
    record(format::Progress { positions, committed, claimed, entries })
}

fn ask_mesh(mesh: &Mesh, call: &Call) -> Answer {
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
            let samedeal::Verification { overlaps, gaps, .. } = samedeal::verify_runs(*shards, offsets, assigned)?;
            let overlaps = overlaps.iter().flat_map(|overlap| [overlap.shard, overlap.first, overlap.other]).collect();
            record(format::Verification { overlaps, gaps })
        }
        Call::VerifyInRuns { shards, offsets, assigned } => {
            let samedeal::VerificationInRuns { overlaps, gaps, .. } =
                samedeal::verify_in_runs(*shards, offsets, assigned)?;
            let overlaps = overlaps.iter().flat_map(|overlap| [overlap.shard, overlap.first, overlap.other]).collect();
            let gap_runs = gaps.iter().flat_map(|gap| [gap.start, gap.end - gap.start]).collect();
            record(format::VerificationInRuns { overlaps, gap_runs })
        }
        Call::Header { state, block, lease } => ledger::header(state, *block, lease.0)?.into(),
        Call::Detect { environment, rank, world } => {
            let environment = environment.iter().map(|(name, value)| (name, value));
            let found = samedeal::detect_rank_in(environment, *rank, *world)?;
            let samedeal::Detection { rank, world, local_rank, local_world, launcher, used, warnings, .. } = found;
            record(format::Detection { rank, world, local_rank, local_world, launcher, used, warnings })
        }
        Call::Variables => samedeal::rank_variables()?.into(),
        Call::Pad { lengths, width, pad_to_multiple_of, side } => {
            batching::pad(lengths, *width, *pad_to_multiple_of, side)?
        }
        Call::Pack { lengths, row_ends, width } => batching::pack(lengths, row_ends, *width)?,
        _ => panic!("no function: {call:?}"),
    })
}

fn sampler(config: &Config, sharding: Option<&format::Sharding>) -> Result<Sampler, Error> {
    // A configuration as a whole, since a case may contradict itself.
    let mut whole = Sampler::new(0)?.config().clone();
    whole.samples = config.samples.0;
    whole.seed = config.seed.0;
    whole.epoch = config.epoch.0;
    whole.order = config.order.clone();
    whole.rank = config.rank;
    whole.world = config.world;
    whole.remainder = config.remainder.parse()?;
    whole.layout = config.layout.parse()?;
    whole.consumed = config.consumed.0;
    whole.sharding = sharding.map(|sharding| Sharding {
        sizes: numbers(&sharding.sizes).into(),
        lanes: sharding.lanes,
        window: sharding.window,
    });
    Builder::from(whole).build()
}

fn write_config(config: &samedeal::Config) -> Value {
    record(Config {
        samples: U64(config.samples),
        seed: S64(config.seed),
        epoch: U64(config.epoch),
        order: config.order.clone(),
        rank: config.rank,
        world: config.world,
        remainder: config.remainder.to_string(),
        layout: config.layout.to_string(),
        consumed: U64(config.consumed),
    })
}

fn plan(config: &format::Plan) -> Result<ShardPlan, Error> {
    let mut builder = ShardPlan::builder(numbers(&config.sizes))
        .bytes(numbers(&config.bytes))
        .world(config.world)
        .workers(config.workers)
        .policy(config.policy.parse()?)
        .worker_policy(config.worker_policy.parse()?)
        .weight(config.weight.parse()?)
        .shuffle(config.shuffle)
        .reshuffle(config.reshuffle)
        .seed(config.seed.0)
        .epoch(config.epoch.0);
    if let Some(locality) = config.locality.clone() {
        let format::Locality { holder_offsets, holders, rank_nodes, tolerance } = locality;
        builder = builder.locality(Locality { holder_offsets, holders, rank_nodes, tolerance });
    }
    builder.build()
}

fn numbers(numbers: &[U64]) -> Vec<u64> {
    numbers.iter().map(|number| number.0).collect()
}

/// A ratio as the component gives it: users get it as a fraction.
fn millionths(ratio: f64) -> u64 {
    (ratio * 1e6).round() as u64
}

fn number(number: u64) -> Value {
    number.to_string().into()
}

fn place(place: samedeal::Place) -> Value {
    let samedeal::Place { position, rank, index, batch, slot, copies, .. } = place;
    record(Place { position: U64(position), rank, index: U64(index), batch: U64(batch), slot, copies })
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Failure(failure) => shared(failure),
        other => panic!("{other}"),
    }
}

fn shared(failure: samedeal::Failure) -> Failure {
    let samedeal::Failure { kind, field, value, allowed, .. } = failure;
    Failure { kind: kind.name().into(), field, value, allowed }
}

fn main() -> std::process::ExitCode {
    matrix::run::<Host>(&format!("rust ({})", samedeal::ENGINE))
}
