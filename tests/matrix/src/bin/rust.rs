//! The matrix adapter for the Rust host.

use matrix::Engine;
use matrix::format::{self, AllRanks, Call, Failure, Lists, Made, Subject, U64, record, strings};
use matrix::shared_place;
use samedeal::ledger::{self, RawLedger};
use samedeal::{
    BatchRecipe, BatchSize, BatchStream, Batcher, ChunkStream, Error, Mesh, Reading, Sampler, Schedule, ShardPlan,
    Span, Split,
};
use serde_json::Value;

#[path = "rust/batching.rs"]
mod batching;
#[path = "rust/client.rs"]
mod client;
#[path = "rust/read.rs"]
mod read;
#[path = "rust/schedule.rs"]
mod schedule;
#[path = "rust/split.rs"]
mod split;

/// An object of a case.
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
    Split(Split),
    Schedule(Schedule),
    Functions,
}

impl Engine for Host {
    fn create(subject: &Subject) -> Result<Self, Failure> {
        let made = match subject {
            Subject::Sampler(format::Sampler { made: Made { recipe, lists, epoch }, rank }) => {
                let builder = Sampler::from_recipe(recipe).lists(beside(lists));
                builder.epoch(epoch.0).rank(*rank).build().map(Self::Sampler)
            }
            Subject::Plan(Made { recipe, lists, epoch }) => {
                ShardPlan::from_recipe(recipe).lists(beside(lists)).epoch(epoch.0).build().map(Self::Plan)
            }
            Subject::ChunkStream(format::ChunkStream { recipe, epoch, reader }) => {
                ChunkStream::from_recipe(recipe, *reader).epoch(epoch.0).build().map(Self::ChunkStream)
            }
            Subject::Ledger(ledger) => RawLedger::new(&ledger.header).map(Self::Ledger),
            Subject::LedgerClient(given) => client::client(given).map(Self::LedgerClient),
            Subject::Mesh(config) => {
                let axis = |axis: &format::Axis| {
                    Ok(samedeal::Axis { name: axis.name.clone(), size: axis.size, role: axis.role.parse()? })
                };
                let axes = config.axes.iter().map(axis).collect::<Result<Vec<_>, _>>().map_err(shared)?;
                Mesh::new(config.world_size, axes).map(Self::Mesh)
            }
            Subject::Reading(Made { recipe, lists, epoch }) => {
                Reading::from_recipe(recipe).lists(beside(lists)).epoch(epoch.0).build().map(Self::Reading)
            }
            Subject::BatchRecipe(given) => batching::recipe(given).map(Self::BatchRecipe),
            Subject::Batcher(given) => batching::batcher(given).map(Self::Batcher),
            Subject::BatchStream(given) => batching::stream(given).map(Self::BatchStream),
            Subject::Split(given) => split::split(given).map(Self::Split),
            Subject::Schedule(given) => schedule::schedule(given).map(Self::Schedule),
            Subject::Functions {} => Ok(Self::Functions),
        };
        made.map_err(failure)
    }

    fn call(&mut self, call: &Call) -> Result<Value, Failure> {
        let answer = match self {
            Self::Sampler(sampler) => ask_sampler(sampler, call),
            Self::Plan(plan) => ask_plan(plan, call),
            Self::ChunkStream(stream) => match *call {
                Call::Recipe => stream.recipe().map(Value::from),
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
            Self::Split(split) => match call {
                Call::Split(call) => split::ask(split, call),
                _ => panic!("no call of a split: {call:?}"),
            },
            Self::Schedule(schedule) => match call {
                Call::Schedule(call) => schedule::ask(schedule, call),
                _ => panic!("no call of a schedule: {call:?}"),
            },
            Self::Functions => ask_functions(call),
        };
        answer.map_err(failure)
    }
}

type Answer = Result<Value, Error>;

fn ask_sampler(sampler: &mut Sampler, call: &Call) -> Answer {
    Ok(match *call {
        Call::AtEpoch { epoch } => replace(sampler, |sampler| sampler.at_epoch(epoch.0))?,
        Call::AtRank { rank } => replace(sampler, |sampler| sampler.at_rank(rank))?,
        Call::Rest { consumed } => replace(sampler, |sampler| sampler.rest(consumed.0))?,
        Call::Recipe => sampler.recipe()?.into(),
        Call::RecipeFingerprint => sampler.recipe_fingerprint()?.into(),
        Call::Epoch => number(sampler.epoch()),
        Call::Rank => sampler.rank().into(),
        Call::Consumed => number(sampler.consumed()),
        Call::DatasetSize => number(sampler.dataset_size()),
        Call::Seed => sampler.seed().to_string().into(),
        Call::Order => sampler.order().into(),
        Call::WorldSize => sampler.world_size().into(),
        Call::Remainder => sampler.remainder().name().into(),
        Call::Layout => sampler.layout().name().into(),
        Call::Unit => sampler.unit().into(),
        Call::Sizes => sampler.sizes()?.map_or(Value::Null, |sizes| strings(&sizes)),
        Call::Lanes => sampler.lanes().into(),
        Call::ShuffleWindow => sampler.shuffle_window().into(),
        Call::NumSamples => number(sampler.num_samples()),
        Call::NumPadding => number(sampler.num_padding()),
        Call::NumPositions => number(sampler.num_positions()),
        Call::NumDropped => number(sampler.num_dropped()),
        Call::MaxNumSamples => number(sampler.max_num_samples()),
        Call::Indices { start, count } => strings(&sampler.window(start.0, count)?),
        Call::Indices32 { start, count } => sampler.window::<u32>(start.0, count)?.into(),
        Call::NumBatches { batch_size, drop_last } => {
            number(sampler.num_batches(BatchSize::new(batch_size).drop_last(drop_last))?)
        }
        Call::ShortEpochs { epoch, count, most } => {
            let samedeal::ShortEpochs { num_samples, indices, .. } = sampler.short_epochs(epoch.0, count, most)?;
            record(format::ShortEpochs {
                num_samples: num_samples.into_iter().map(U64).collect(),
                indices: indices.into_iter().map(U64).collect(),
            })
        }
        Call::Batch { batch, batch_size, drop_last } => {
            strings(&sampler.batch(batch.0, BatchSize::new(batch_size).drop_last(drop_last))?)
        }
        Call::Batch32 { batch, batch_size, drop_last } => {
            sampler.batch::<u32>(batch.0, BatchSize::new(batch_size).drop_last(drop_last))?.into()
        }
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
            let size = BatchSize::new(batch_size).drop_last(drop_last);
            let ranks = sampler.step(step.0, size, first..first.saturating_add(count))?;
            let counts = ranks.iter().map(|samples| samples.len() as u32).collect();
            record(format::RankBatches { samples: ranks.concat().into_iter().map(U64).collect(), counts })
        }
        Call::Fate { sample, batch_size, taken } => {
            let samedeal::Fate { status, before, places, num_seen, num_padding, complete, .. } =
                sampler.fate(sample.0, batch_size, taken.0)?;
            record(format::Fate {
                status,
                before: before.into_iter().map(U64).collect(),
                places: places.into_iter().map(|place| shared_place!(place)).collect(),
                num_seen,
                num_padding,
                complete,
            })
        }
        Call::EpochLength => number(sampler.epoch_length()),
        Call::Sources => sampler.sources()?.into(),
        Call::SourceCounts { start, count: positions } => {
            let samedeal::SourceCounts { first, count, from_pass, from_position, to_pass, to_position, .. } =
                sampler.source_counts(start.0..start.0 + positions.0)?;
            let columns = [
                ("first", first),
                ("count", count),
                ("from-pass", from_pass),
                ("from-position", from_position),
                ("to-pass", to_pass),
                ("to-position", to_position),
            ];
            columns.into_iter().map(|(name, numbers)| (name.to_owned(), strings(&numbers))).collect()
        }
        Call::SourceBounds => strings(&sampler.source_bounds()?),
        Call::SourceOf { sample } => {
            let samedeal::SourcePlace { source, index, .. } = sampler.source_of(sample.0)?;
            record(format::SourcePlace { source, index: U64(index) })
        }
        Call::State { taken: Some(taken), steps: None } => sampler.state(taken.0)?.into(),
        Call::Resume { ref state } => sampler.resume(state).map(|()| Value::Null)?,
        Call::PlaceOf { position, batch_size } => place(sampler.place_of(position.0, batch_size)?),
        Call::Fingerprint => sampler.fingerprint()?.into(),
        Call::ConfigFingerprint => sampler.config_fingerprint()?.into(),
        Call::NumRounds => number(sampler.num_rounds()?),
        Call::Round { number } => {
            let samedeal::Round { start, count, spans, .. } = sampler.round(number.0)?;
            record(format::Round { start: U64(start), count: U64(count), spans: write_spans(&spans) })
        }
        Call::ShardOf { sample } => {
            let samedeal::ShardPlace { shard, row, .. } = sampler.shard_of(sample.0)?;
            record(format::ShardPlace { shard, row: U64(row) })
        }
        _ => panic!("no call of a sampler: {call:?}"),
    })
}

fn ask_plan(plan: &mut ShardPlan, call: &Call) -> Answer {
    Ok(match *call {
        Call::AtEpoch { epoch } => replace(plan, |plan| plan.at_epoch(epoch.0))?,
        Call::Recipe => plan.recipe()?.into(),
        Call::RecipeFingerprint => plan.recipe_fingerprint()?.into(),
        Call::Epoch => number(plan.epoch()),
        Call::Seed => plan.seed().to_string().into(),
        Call::WorldSize => plan.world_size().into(),
        Call::Workers => plan.workers().into(),
        Call::Sizes => strings(plan.sizes()?),
        Call::Bytes => plan.bytes()?.map_or(Value::Null, |bytes| strings(&bytes)),
        Call::NumShards { rank, worker } => plan.num_shards(rank, worker)?.into(),
        Call::Shards { rank, worker, start, count } => plan.shards_window(rank, worker, start, count)?.into(),
        Call::Loads { ref tier, start, count } => {
            let samedeal::Loads { shards, samples, bytes, local, .. } =
                plan.loads_window(tier.parse()?, start, count)?;
            let columns = [("shards", Some(shards)), ("samples", Some(samples)), ("bytes", bytes), ("local", local)];
            let columns = columns.into_iter().filter_map(|(name, numbers)| Some((name.to_owned(), strings(&numbers?))));
            columns.collect()
        }
        Call::LoadSummary { ref tier, ref balance_by } => {
            let samedeal::LoadSummary { min, max, total, members, .. } =
                plan.load_summary(tier.parse()?, balance_by.parse()?)?;
            record(format::LoadSummary { min: U64(min), max: U64(max), total: U64(total), members })
        }
        Call::Imbalance { ref tier, ref balance_by } => {
            let imbalance = plan.load_summary(tier.parse()?, balance_by.parse()?)?.imbalance();
            number(millionths(imbalance))
        }
        Call::Rows { shard, start, count } => strings(&plan.rows_window(shard, start.0, count)?),
        Call::StepBounds { batch_size, drop_last } => {
            let samedeal::Steps { min, max, .. } = plan.steps(BatchSize::new(batch_size).drop_last(drop_last))?;
            record(format::StepBounds { min: U64(min), max: U64(max) })
        }
        Call::ConfigFingerprint => plan.config_fingerprint()?.into(),
        _ => panic!("no call of a plan: {call:?}"),
    })
}

fn ask_ledger(ledger: &RawLedger, call: &Call) -> Answer {
    Ok(match *call {
        Call::Apply { ref entry } => ledger.apply(entry)?.map_or(Value::Null, |event| {
            let ledger::Event { number, kind, reader, start, count, claim, taken_from, .. } = event;
            let [number, start, claim] = [number, start, claim].map(U64);
            record(format::Event { number, kind, reader, start, count, claim, taken_from: taken_from.map(U64) })
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
            let samedeal::Verification { overlaps, gaps, .. } = samedeal::verify_runs(*num_shards, offsets, assigned)?;
            let numbers = |of: fn(&samedeal::Overlap) -> u32| overlaps.iter().map(of).collect();
            let overlaps = format::Overlaps {
                shard: numbers(|overlap| overlap.shard),
                first_reader: numbers(|overlap| overlap.first_reader),
                other_reader: numbers(|overlap| overlap.other_reader),
            };
            let gaps = format::ShardRuns {
                first_shard: gaps.iter().map(|gap| gap.start).collect(),
                num_shards: gaps.iter().map(|gap| gap.end - gap.start).collect(),
            };
            record(format::Verification { overlaps, gaps })
        }
        Call::Header { state, block_size, lease_ms } => ledger::header(state, *block_size, lease_ms.0)?.into(),
        Call::Detect { environment, rank, world_size } => {
            let environment = environment.iter().map(|(name, value)| (name, value));
            let found = samedeal::detect_rank_in(environment, *rank, *world_size)?;
            let samedeal::Detection {
                rank, world_size, local_rank, local_world_size, launcher, used, warnings, ..
            } = found;
            record(format::Detection { rank, world_size, local_rank, local_world_size, launcher, used, warnings })
        }
        Call::Variables => samedeal::rank_variables()?.into(),
        Call::JoinIndices { parts } => samedeal::join_indices(parts)?.into(),
        Call::Pad { lengths, width, pad_to_multiple_of, side } => {
            batching::pad(lengths, *width, *pad_to_multiple_of, side)?
        }
        Call::Pack { lengths, row_ends, width } => batching::pack(lengths, row_ends, *width)?,
        Call::Inspect { text } => {
            let samedeal::TextKind { form, of, .. } = samedeal::inspect(text)?;
            record(format::TextKind { form, of })
        }
        Call::RecipeAfter { state, sections } => samedeal::recipe_after(state, sections)?.into(),
        Call::WholeWeights { bits } => {
            let weights: Vec<_> = bits.iter().map(|bits| f64::from_bits(bits.0)).collect();
            record(samedeal::whole_weights(&weights)?.into_iter().map(U64).collect::<Vec<_>>())
        }
        Call::Differences { one, other } => {
            let record = |samedeal::Difference { path, one, other, decides, .. }| {
                record(format::Difference { path, one, other, decides })
            };
            samedeal::differences(one, other)?.into_iter().map(record).collect()
        }
        _ => panic!("no function: {call:?}"),
    })
}

/// Replaces an object by the one that `make` makes from it.
fn replace<T>(object: &mut T, make: impl FnOnce(&T) -> Result<T, Error>) -> Answer {
    *object = make(object)?;
    Ok(Value::Null)
}

/// Lists that come beside a recipe.
fn beside(lists: &Lists) -> Vec<(String, Vec<u64>)> {
    lists.iter().map(|(name, list)| (name.clone(), numbers(list))).collect()
}

fn write_spans(spans: &[Span]) -> format::Spans {
    let numbers = |of: fn(&Span) -> u64| strings(&spans.iter().map(of).collect::<Vec<_>>());
    format::Spans {
        lane: spans.iter().map(|span| span.lane).collect(),
        shard: spans.iter().map(|span| span.shard).collect(),
        first_row: numbers(|span| span.first_row),
        num_rows: numbers(|span| span.num_rows),
    }
}

fn numbers(numbers: &[U64]) -> Vec<u64> {
    numbers.iter().map(|number| number.0).collect()
}

/// A ratio in the component's millionths; users get it as a fraction.
fn millionths(ratio: f64) -> u64 {
    // The host rounds its float, and the interface has no ratio above 2^53 - 1 millionths.
    ((ratio * 1e6).round() as u64).min((1 << 53) - 1)
}

fn number(number: u64) -> Value {
    number.to_string().into()
}

fn place(place: samedeal::Place) -> Value {
    record(shared_place!(place))
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Failure(failure) => shared(*failure),
        other => panic!("{other}"),
    }
}

fn shared(failure: samedeal::Failure) -> Failure {
    let samedeal::Failure { kind, field, path, value, allowed, facts, .. } = failure;
    let facts = facts.into_iter().map(|fact| (fact.name, fact.value)).collect();
    Failure::new(kind.name(), [&field, &path], [value, allowed], facts)
}

fn main() -> std::process::ExitCode {
    matrix::run::<Host>(&format!("rust ({})", samedeal::ENGINE))
}
