//! The core itself, without an engine around it.

mod batching;
mod client;
mod read;
mod schedule;
mod split;

use crate::shared_place;
use samedeal_core as core;
use std::rc::Rc;

use samedeal_core::{batch, launch, shard};
use serde_json::Value;

use crate::Engine;
use crate::format::{self, AllRanks, Call, Failure, Subject, U64, record, strings};

/// An object of a case.
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
    Split(core::Split),
    Schedule(core::Schedule),
    Functions,
}

impl Engine for Native {
    fn create(subject: &Subject) -> Result<Self, Failure> {
        let made = match subject {
            Subject::Sampler(format::Sampler { made, rank }) => with_lists(&made.lists, |lists| {
                core::Recipe::read(&made.recipe, lists)
                    .and_then(|recipe| core::Sampler::from_recipe(&recipe, made.epoch.0, *rank))
            })
            .map(Self::Sampler),
            Subject::Plan(made) => {
                with_lists(&made.lists, |lists| shard::Plan::from_recipe(&made.recipe, lists, made.epoch.0))
                    .map(Self::Plan)
            }
            Subject::ChunkStream(format::ChunkStream { recipe, epoch, reader }) => {
                shard::Stream::from_recipe(recipe, epoch.0, *reader).map(Self::ChunkStream)
            }
            Subject::Ledger(ledger) => core::Ledger::new(&ledger.header).map(Self::Ledger),
            Subject::LedgerClient(given) => client::client(given).map(Self::LedgerClient),
            Subject::Mesh(mesh) => {
                read_axes(&mesh.axes).and_then(|axes| core::Mesh::new(mesh.world_size, axes)).map(Self::Mesh)
            }
            Subject::Reading(made) => {
                with_lists(&made.lists, |lists| core::read::Reading::from_recipe(&made.recipe, lists, made.epoch.0))
                    .map(Self::Reading)
            }
            Subject::BatchRecipe(given) => batching::read_recipe(given).map(Self::BatchRecipe),
            Subject::Batcher(given) => batching::make_batcher(given).map(|made| Self::Batcher(Box::new(made))),
            Subject::BatchStream(given) => batching::make_stream(given).map(|made| Self::BatchStream(Box::new(made))),
            Subject::Split(given) => core::Split::read(&given.recipe).map(Self::Split),
            Subject::Schedule(format::Schedule { recipe, lists, rank }) => {
                with_lists(lists, |lists| core::Schedule::read(recipe, lists, *rank)).map(Self::Schedule)
            }
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
                Call::Recipe => stream.recipe().map(Value::from),
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
            Self::Split(split) => match call {
                Call::Split(call) => split::ask(split, call),
                _ => panic!("no call of a split: {call:?}"),
            },
            Self::Schedule(schedule) => match call {
                Call::Schedule(call) => schedule::ask(schedule, call),
                _ => panic!("no call of a schedule: {call:?}"),
            },
            Self::Functions => batching::ask_function(call).unwrap_or_else(|| ask_functions(call)),
        };
        answer.map_err(failure)
    }
}

type Answer = Result<Value, core::Failure>;

fn ask_sampler(sampler: &mut core::Sampler, call: &Call) -> Answer {
    Ok(match *call {
        Call::AtEpoch { epoch } => replace(sampler, |sampler| sampler.at_epoch(epoch.0))?,
        Call::AtRank { rank } => replace(sampler, |sampler| sampler.at_rank(rank))?,
        Call::Rest { consumed } => replace(sampler, |sampler| sampler.rest(consumed.0))?,
        Call::Resume { ref state } => replace(sampler, |sampler| sampler.resume(state))?,
        Call::Recipe => sampler.recipe().text()?.into(),
        Call::RecipeFingerprint => sampler.recipe().fingerprint().into(),
        Call::Epoch => number(sampler.config().epoch),
        Call::Rank => sampler.config().rank.into(),
        Call::Consumed => number(sampler.config().consumed),
        Call::DatasetSize => number(sampler.config().samples),
        Call::Seed => sampler.config().seed.to_string().into(),
        Call::Order => sampler.config().order.name().into(),
        Call::WorldSize => sampler.config().world_size.into(),
        Call::Remainder => sampler.config().remainder.name().into(),
        Call::Layout => sampler.config().layout.name().into(),
        Call::Unit => sampler.config().unit.into(),
        Call::Sizes => sampler.sizes()?.map_or(Value::Null, |sizes| strings(&sizes)),
        Call::Lanes => sampler.lanes().map(|(lanes, _)| lanes).into(),
        Call::ShuffleWindow => sampler.lanes().map(|(_, window)| window).into(),
        Call::NumSamples => number(sampler.num_samples()),
        Call::MaxNumSamples => number(sampler.max_num_samples()),
        Call::NumPadding => number(sampler.deal().num_padding()),
        Call::NumPositions => number(sampler.deal().num_positions()),
        Call::NumDropped => number(sampler.deal().num_dropped()),
        Call::Indices { start, count } => strings(&sampler.indices(start.0, count)?),
        Call::Indices32 { start, count } => sampler.indices::<u32>(start.0, count)?.into(),
        Call::NumBatches { batch_size, drop_last } => number(sampler.num_batches(batch_size, drop_last)?),
        Call::ShortEpochs { epoch, count, most } => {
            let (num_samples, indices) = sampler.short_epochs(epoch.0, count, most)?;
            record(format::ShortEpochs {
                num_samples: num_samples.into_iter().map(U64).collect(),
                indices: indices.into_iter().map(U64).collect(),
            })
        }
        Call::Batch { batch, batch_size, drop_last } => strings(&sampler.batch(batch.0, batch_size, drop_last)?),
        Call::Batch32 { batch, batch_size, drop_last } => sampler.batch::<u32>(batch.0, batch_size, drop_last)?.into(),
        Call::SampleAt { position } => number(sampler.sample_at(position.0)?),
        Call::Locate { sample, batch_size: Some(size) } => sampler.locate(sample.0, size)?.map_or(Value::Null, place),
        Call::LocateAll { ref samples, batch_size } => {
            let places = sampler.locate_all(&numbers(samples), batch_size)?.into_iter();
            places.map(|found| found.map_or(Value::Null, place)).collect()
        }
        Call::LocateFrom { sample, position, batch_size } => {
            sampler.locate_from(sample.0, position.0, batch_size)?.map_or(Value::Null, place)
        }
        Call::Step(AllRanks::Sampler { step, batch_size, drop_last, first, count }) => {
            let (samples, counts) = sampler.step(step.0, batch_size, drop_last, first, count)?;
            record(format::RankBatches { samples: samples.into_iter().map(U64).collect(), counts })
        }
        Call::Fate { sample, batch_size, taken } => {
            let core::Fate { status, before, places, num_seen, num_padding, complete } =
                sampler.fate(sample.0, batch_size, taken.0)?;
            record(format::Fate {
                status: status.into(),
                before: before.into_iter().map(U64).collect(),
                places: places.into_iter().map(|place| shared_place!(place)).collect(),
                num_seen,
                num_padding,
                complete,
            })
        }
        Call::EpochLength => number(sampler.epoch_length()),
        Call::Sources => sampler.sources()?.into(),
        Call::SourceCounts { start, count } => {
            let columns = sampler.source_counts(start.0, count.0)?.into_iter();
            columns.map(|(name, numbers)| (name.to_owned(), strings(&numbers))).collect()
        }
        Call::SourceBounds => strings(&sampler.source_bounds()?),
        Call::SourceOf { sample } => {
            let (source, index) = sampler.source_of(sample.0)?;
            record(format::SourcePlace { source, index: U64(index) })
        }
        Call::State { taken: Some(taken), steps: None } => sampler.state(taken.0)?.into(),
        Call::PlaceOf { position, batch_size } => place(sampler.place_of(position.0, batch_size)?),
        Call::Fingerprint => sampler.fingerprint()?.into(),
        Call::ConfigFingerprint => sampler.config_fingerprint().into(),
        Call::NumRounds => number(sampler.num_rounds()?),
        Call::Round { number } => {
            let core::Round { start, count, spans } = sampler.round(number.0)?;
            record(format::Round { start: U64(start), count: U64(count), spans: write_spans(spans) })
        }
        Call::ShardOf { sample } => {
            let (shard, row) = sampler.shard_of(sample.0)?;
            record(format::ShardPlace { shard, row: U64(row) })
        }
        _ => panic!("no call of a sampler: {call:?}"),
    })
}

fn ask_plan(plan: &mut shard::Plan, call: &Call) -> Answer {
    Ok(match *call {
        Call::AtEpoch { epoch } => replace(plan, |plan| plan.at_epoch(epoch.0))?,
        Call::Recipe => plan.recipe()?.into(),
        Call::RecipeFingerprint => plan.recipe_fingerprint().into(),
        Call::Epoch => number(plan.epoch()),
        Call::Seed => plan.config().seed.to_string().into(),
        Call::WorldSize => plan.config().world_size.into(),
        Call::Workers => plan.config().workers.into(),
        Call::Sizes => strings(&plan.sizes()?),
        Call::Bytes => plan.bytes()?.map_or(Value::Null, |bytes| strings(&bytes)),
        Call::NumShards { rank, worker } => plan.num_shards(rank, worker)?.into(),
        Call::Shards { rank, worker, start, count } => plan.shards(rank, worker, start, count)?.into(),
        Call::Loads { ref tier, start, count } => {
            let columns = plan.loads(shard::Tier::from_name(tier)?, start, count)?;
            columns.into_iter().map(|(name, numbers)| (name.to_owned(), strings(&numbers))).collect()
        }
        Call::LoadSummary { ref tier, ref balance_by } => {
            let shard::LoadSummary { min, max, total, members } =
                plan.load_summary(shard::Tier::from_name(tier)?, shard::BalanceBy::from_name(balance_by)?)?;
            record(format::LoadSummary { min: U64(min), max: U64(max), total: U64(total), members })
        }
        Call::Imbalance { ref tier, ref balance_by } => {
            number(plan.imbalance(shard::Tier::from_name(tier)?, shard::BalanceBy::from_name(balance_by)?)?)
        }
        Call::Rows { shard, start, count } => strings(&plan.rows(shard, start.0, count)?),
        Call::StepBounds { batch_size, drop_last } => {
            let (min, max) = plan.steps(batch_size, drop_last)?;
            record(format::StepBounds { min: U64(min), max: U64(max) })
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
        Call::InitialState => ledger.initial_state()?.into(),
        _ => panic!("no call of a ledger: {call:?}"),
    })
}

fn write_progress(progress: core::Progress) -> Value {
    let core::Progress { positions, committed, claimed, entries } = progress;
    let [positions, committed, claimed, entries] = [positions, committed, claimed, entries].map(U64);
    record(format::Progress { positions, committed, claimed, entries })
}

fn write_event(event: core::Event) -> Value {
    let core::Event { number, kind, reader, start, count, claim, taken_from } = event;
    let kind = kind.name().into();
    let [number, start, claim] = [number, start, claim].map(U64);
    record(format::Event { number, kind, reader, start, count, claim, taken_from: taken_from.map(U64) })
}

/// A run of a replay, in the notation of the format.
struct Run(Value);

impl From<core::Event> for Run {
    fn from(core::Event { number, reader, start, count, claim, .. }: core::Event) -> Self {
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
        Call::DataWorldSize => mesh.data_world_size().into(),
        Call::DataRank { rank } => mesh.data_rank(rank)?.into(),
        Call::Coordinates { rank } => mesh.coordinates(rank)?.into(),
        Call::RankAt { ref coordinates } => mesh.rank_at(coordinates)?.into(),
        Call::Peers { rank } => mesh.peers(rank)?.into(),
        _ => panic!("no call of a mesh: {call:?}"),
    })
}

fn ask_functions(call: &Call) -> Answer {
    Ok(match call {
        Call::Verify { num_shards, offsets, assigned } => {
            let shard::Verification { overlaps, gaps } = shard::verify(*num_shards, offsets, assigned)?;
            let shard::Overlaps { shard, first_reader, other_reader } = overlaps;
            let shard::ShardRuns { first_shard, num_shards } = gaps;
            record(format::Verification {
                overlaps: format::Overlaps { shard, first_reader, other_reader },
                gaps: format::ShardRuns { first_shard, num_shards },
            })
        }
        Call::Header { state, block_size, lease_ms } => core::Ledger::header(state, *block_size, lease_ms.0)?.into(),
        Call::Detect { environment, rank, world_size } => {
            let launch::Detection { rank, world_size, local_rank, local_world_size, launcher, used, warnings } =
                launch::detect(environment, *rank, *world_size)?;
            let launcher = launcher.into();
            record(format::Detection { rank, world_size, local_rank, local_world_size, launcher, used, warnings })
        }
        Call::Variables => launch::variables().collect(),
        Call::Inspect { text } => {
            let core::TextKind { form, of } = core::inspect(text)?;
            record(format::TextKind { form: form.into(), of: of.into() })
        }
        Call::RecipeAfter { state, sections } => core::recipe_after(state, sections)?.into(),
        Call::Differences { one, other } => {
            let record = |core::Difference { path, one, other, decides }| {
                record(format::Difference { path, one, other, decides: decides.into() })
            };
            core::differences(one, other)?.into_iter().map(record).collect()
        }
        Call::WholeWeights { bits } => {
            let whole = core::whole_weights(&bits.iter().map(|bits| bits.0).collect::<Vec<_>>())?;
            record(whole.into_iter().map(U64).collect::<Vec<_>>())
        }
        _ => panic!("no function: {call:?}"),
    })
}

/// Replaces an object by the one that `make` makes from it.
fn replace<T>(object: &mut T, make: impl FnOnce(&T) -> Result<T, core::Failure>) -> Answer {
    *object = make(object)?;
    Ok(Value::Null)
}

fn with_lists<R>(lists: &format::Lists, make: impl FnOnce(&[core::List]) -> R) -> R {
    let lists: Vec<(&str, Vec<u64>)> = lists.iter().map(|(name, list)| (&**name, numbers(list))).collect();
    let lists: Vec<core::List> = lists.iter().map(|(name, list)| (*name, &**list)).collect();
    make(&lists)
}

fn write_spans(core::Spans { lane, shard, first_row, num_rows }: core::Spans) -> format::Spans {
    format::Spans { lane, shard, first_row: strings(&first_row), num_rows: strings(&num_rows) }
}

fn read_axes(axes: &[format::Axis]) -> Result<Vec<core::Axis>, core::Failure> {
    let axis = |axis: &format::Axis| {
        Ok(core::Axis { name: axis.name.clone(), size: axis.size, role: core::Role::from_name(&axis.role)? })
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
    record(shared_place!(place))
}

fn failure(failure: core::Failure) -> Failure {
    let facts = failure.facts().into_iter().map(|core::Fact { name, value }| (name.into(), value)).collect();
    let core::Parts { kind, field, value, allowed, .. } = &*failure;
    Failure::new(kind.name(), [field, failure.path()], [value.clone(), allowed.clone()], facts)
}
