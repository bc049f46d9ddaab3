//! The light build: samplers, meshes and launchers of `wit/` over `samedeal-core`, through wasm-bindgen, for pages and
//! bundles that have to be small. This crate converts values, and computes nothing.
//!
//! Numbers of 64 bits cross as `bigint`, and lists as typed arrays copied in one piece. A failure is thrown as a plain
//! object `{ kind, field, path, value, allowed, facts }`. The component gives the same object in JavaScript, so one
//! JavaScript class serves both builds. This class checks numbers before a call, since the bindings of wasm-bindgen
//! wrap numbers that are too large around, without an error.

mod failure;

use samedeal_core::{Axis, List, MAX_COUNT, OrderId, Recipe, Role, launch};
use wasm_bindgen::prelude::wasm_bindgen;

use failure::{Object, Thrown};

/// The names of the plain orders, the default first.
#[wasm_bindgen(js_name = plainOrders)]
pub fn plain_orders() -> Vec<String> {
    OrderId::ALL.iter().map(|order| order.name().to_string()).collect()
}

/// The most indices that one call returns.
#[wasm_bindgen(js_name = maxCount)]
pub fn max_count() -> u32 {
    MAX_COUNT
}

/// The samples of one rank in one epoch. It never changes.
#[wasm_bindgen]
pub struct Sampler(samedeal_core::Sampler);

#[wasm_bindgen]
impl Sampler {
    /// The sampler of the whole of an epoch. List i beside the recipe is named `names[i]`; `numbers` has all lists, one
    /// after the other, each of `lengths[i]` numbers.
    #[wasm_bindgen(constructor)]
    pub fn new(
        recipe: &str,
        names: Vec<String>,
        lengths: Vec<u32>,
        numbers: Vec<u64>,
        epoch: u64,
        rank: u32,
    ) -> Result<Self, Thrown> {
        let mut rest = &*numbers;
        let lists = names.iter().zip(lengths).map(|(name, length)| {
            let (list, others) = rest.split_at_checked(length as usize).unwrap_or((rest, &[]));
            rest = others;
            (&**name, list)
        });
        let recipe = Recipe::read(recipe, &lists.collect::<Vec<List>>())?;
        Ok(Self(samedeal_core::Sampler::from_recipe(&recipe, epoch, rank)?))
    }

    /// The sampler of the whole of another epoch.
    #[wasm_bindgen(js_name = atEpoch)]
    pub fn at_epoch(&self, epoch: u64) -> Result<Self, Thrown> {
        Ok(Self(self.0.at_epoch(epoch)?))
    }

    /// This sampler for another rank.
    #[wasm_bindgen(js_name = atRank)]
    pub fn at_rank(&self, rank: u32) -> Result<Self, Thrown> {
        Ok(Self(self.0.at_rank(rank)?))
    }

    /// The sampler of the rest of this epoch, after its first `consumed` positions.
    pub fn rest(&self, consumed: u64) -> Result<Self, Thrown> {
        Ok(Self(self.0.rest(consumed)?))
    }

    /// The sampler of the rest of the epoch of a state.
    pub fn resume(&self, state: &str) -> Result<Self, Thrown> {
        Ok(Self(self.0.resume(state)?))
    }

    /// The recipe of this sampler, in its canonical form.
    pub fn recipe(&self) -> Result<String, Thrown> {
        Ok(self.0.recipe().text()?)
    }

    /// SHA-256 over the canonical recipe, in hexadecimal.
    #[wasm_bindgen(js_name = recipeFingerprint)]
    pub fn recipe_fingerprint(&self) -> String {
        self.0.recipe().fingerprint()
    }

    /// Number of the epoch.
    pub fn epoch(&self) -> u64 {
        self.0.config().epoch
    }

    /// The rank.
    pub fn rank(&self) -> u32 {
        self.0.config().rank
    }

    /// How many positions of the epoch were dealt before.
    pub fn consumed(&self) -> u64 {
        self.0.config().consumed
    }

    /// Number of sample indices.
    #[wasm_bindgen(js_name = datasetSize)]
    pub fn dataset_size(&self) -> u64 {
        self.0.config().samples
    }

    /// Number of positions in this epoch.
    #[wasm_bindgen(js_name = epochLength)]
    pub fn epoch_length(&self) -> u64 {
        self.0.epoch_length()
    }

    /// Seed of the order.
    pub fn seed(&self) -> i64 {
        self.0.config().seed
    }

    /// Name of the order.
    pub fn order(&self) -> String {
        self.0.config().order.name().into()
    }

    /// Number of ranks.
    #[wasm_bindgen(js_name = worldSize)]
    pub fn world_size(&self) -> u32 {
        self.0.config().world_size
    }

    /// The treatment of positions if the number of ranks does not divide them.
    pub fn remainder(&self) -> String {
        self.0.config().remainder.name().into()
    }

    /// The layout: which positions belong to a rank.
    pub fn layout(&self) -> String {
        self.0.config().layout.name().into()
    }

    /// How many neighbouring positions always go to the same rank.
    pub fn unit(&self) -> u32 {
        self.0.config().unit
    }

    /// With the order `sharded`: the number of samples in each shard.
    pub fn sizes(&self) -> Result<Option<Vec<u64>>, Thrown> {
        Ok(self.0.sizes()?)
    }

    /// With the order `sharded`: the number of lanes.
    pub fn lanes(&self) -> Option<u32> {
        self.0.lanes().map(|(lanes, _)| lanes)
    }

    /// With the order `sharded`: how many neighbouring samples of a lane are shuffled together.
    #[wasm_bindgen(js_name = shuffleWindow)]
    pub fn shuffle_window(&self) -> Option<u32> {
        self.0.lanes().map(|(_, window)| window)
    }

    /// The state once every rank has taken `taken` of its samples.
    pub fn state(&self, taken: u64) -> Result<String, Thrown> {
        Ok(self.0.state(taken)?)
    }

    /// How many samples this rank sees in an epoch, padding included.
    #[wasm_bindgen(js_name = numSamples)]
    pub fn num_samples(&self) -> u64 {
        self.0.num_samples()
    }

    /// Number of samples of the rank that has the most.
    #[wasm_bindgen(js_name = maxNumSamples)]
    pub fn max_num_samples(&self) -> u64 {
        self.0.max_num_samples()
    }

    /// How many of this rank's samples, the last ones, are padding.
    #[wasm_bindgen(js_name = numPadding)]
    pub fn num_padding(&self) -> u64 {
        self.0.deal().num_padding()
    }

    /// How many positions the epoch deals to all ranks together, padding included.
    #[wasm_bindgen(js_name = numPositions)]
    pub fn num_positions(&self) -> u64 {
        self.0.deal().num_positions()
    }

    /// How many positions no rank sees in this epoch.
    #[wasm_bindgen(js_name = numDropped)]
    pub fn num_dropped(&self) -> u64 {
        self.0.deal().num_dropped()
    }

    /// This rank's samples number `start` to `start + count - 1`.
    pub fn indices(&self, start: u64, count: u32) -> Result<Vec<u64>, Thrown> {
        Ok(self.0.indices(start, count)?)
    }

    /// `indices` in half the bytes, for at most 2^32 samples.
    pub fn indices32(&self, start: u64, count: u32) -> Result<Vec<u32>, Thrown> {
        Ok(self.0.indices(start, count)?)
    }

    /// How many batches this rank gets.
    #[wasm_bindgen(js_name = numBatches)]
    pub fn num_batches(&self, batch_size: u32, drop_last: bool) -> Result<u64, Thrown> {
        Ok(self.0.num_batches(batch_size, drop_last)?)
    }

    /// One batch of this rank.
    pub fn batch(&self, batch: u64, batch_size: u32, drop_last: bool) -> Result<Vec<u64>, Thrown> {
        Ok(self.0.batch(batch, batch_size, drop_last)?)
    }

    /// `batch` in half the bytes, for at most 2^32 samples.
    pub fn batch32(&self, batch: u64, batch_size: u32, drop_last: bool) -> Result<Vec<u32>, Thrown> {
        Ok(self.0.batch(batch, batch_size, drop_last)?)
    }

    /// The sample at a global position, whichever rank it is dealt to.
    #[wasm_bindgen(js_name = sampleAt)]
    pub fn sample_at(&self, position: u64) -> Result<u64, Thrown> {
        Ok(self.0.sample_at(position)?)
    }

    /// The first place of a sample in the epoch; `undefined` if it is dropped.
    pub fn locate(&self, sample: u64, batch_size: u32) -> Result<Option<Object>, Thrown> {
        Ok(self.0.locate(sample, batch_size)?.map(place))
    }

    /// The first place of a sample from a global position on; `undefined` if it is not seen again.
    #[wasm_bindgen(js_name = locateFrom)]
    pub fn locate_from(&self, sample: u64, position: u64, batch_size: u32) -> Result<Option<Object>, Thrown> {
        Ok(self.0.locate_from(sample, position, batch_size)?.map(place))
    }

    /// With a blend: the names of the sources.
    pub fn sources(&self) -> Result<Vec<String>, Thrown> {
        Ok(self.0.sources()?.into_iter().map(ToString::to_string).collect())
    }

    /// With a blend: the draws of each source in a run of positions, as columns.
    #[wasm_bindgen(js_name = sourceCounts)]
    pub fn source_counts(&self, start: u64, count: u64) -> Result<Vec<Object>, Thrown> {
        let columns = self.0.source_counts(start, count)?;
        let column =
            |(name, numbers): (&str, Vec<u64>)| Object::of([("name", name.into()), ("numbers", numbers.into())]);
        Ok(columns.into_iter().map(column).collect())
    }

    /// With a blend: a bound for each source, in millionths of a sample, on the distance of its counts from exact
    /// proportion.
    #[wasm_bindgen(js_name = sourceBounds)]
    pub fn source_bounds(&self) -> Result<Vec<u64>, Thrown> {
        Ok(self.0.source_bounds()?)
    }

    /// With a blend: the source of a sample.
    #[wasm_bindgen(js_name = sourceOf)]
    pub fn source_of(&self, sample: u64) -> Result<Object, Thrown> {
        let (source, index) = self.0.source_of(sample)?;
        Ok(Object::of([("source", source.into()), ("index", index.into())]))
    }

    /// Batch number `batch` of `count` neighbouring ranks from `first` on.
    pub fn step(&self, step: u64, batch_size: u32, drop_last: bool, first: u32, count: u32) -> Result<Object, Thrown> {
        let (samples, counts) = self.0.step(step, batch_size, drop_last, first, count)?;
        Ok(Object::of([("samples", samples.into()), ("counts", counts.into())]))
    }

    /// The fate of a sample once every rank has taken `taken` of its samples.
    pub fn fate(&self, sample: u64, batch_size: u32, taken: u64) -> Result<Object, Thrown> {
        let samedeal_core::Fate { status, before, places, num_seen, num_padding, complete } =
            self.0.fate(sample, batch_size, taken)?;
        let places: Vec<Object> = places.into_iter().map(place).collect();
        Ok(Object::of([
            ("status", status.into()),
            ("before", before.into()),
            ("places", places.into()),
            ("numSeen", num_seen.into()),
            ("numPadding", num_padding.into()),
            ("complete", complete.into()),
        ]))
    }

    /// Successive short epochs of this rank: the number of samples in each, and all these samples.
    #[wasm_bindgen(js_name = shortEpochs)]
    pub fn short_epochs(&self, epoch: u64, count: u32, most: u32) -> Result<Object, Thrown> {
        let (num_samples, indices) = self.0.short_epochs(epoch, count, most)?;
        Ok(Object::of([("numSamples", num_samples.into()), ("indices", indices.into())]))
    }

    /// The place of a global position: its rank and its batch.
    #[wasm_bindgen(js_name = placeOf)]
    pub fn place_of(&self, position: u64, batch_size: u32) -> Result<Object, Thrown> {
        Ok(place(self.0.place_of(position, batch_size)?))
    }

    /// SHA-256 over all of this rank's indices, in hexadecimal.
    pub fn fingerprint(&self) -> Result<String, Thrown> {
        Ok(self.0.fingerprint()?)
    }

    /// SHA-256 over the configuration without the rank, in hexadecimal.
    #[wasm_bindgen(js_name = configFingerprint)]
    pub fn config_fingerprint(&self) -> String {
        self.0.config_fingerprint()
    }

    /// With the order `sharded`: how many rounds the epoch has.
    #[wasm_bindgen(js_name = numRounds)]
    pub fn num_rounds(&self) -> Result<u64, Thrown> {
        Ok(self.0.num_rounds()?)
    }

    /// With the order `sharded`: a round, which is a run of this rank's samples and the rows that it reads for them.
    pub fn round(&self, number: u64) -> Result<Object, Thrown> {
        let samedeal_core::Round { start, count, spans } = self.0.round(number)?;
        let samedeal_core::Spans { lane, shard, first_row, num_rows } = spans;
        let spans = Object::of([
            ("lane", lane.into()),
            ("shard", shard.into()),
            ("firstRow", first_row.into()),
            ("numRows", num_rows.into()),
        ]);
        Ok(Object::of([("start", start.into()), ("count", count.into()), ("spans", spans.into())]))
    }

    /// With the order `sharded`: the shard of a sample, and the index of the sample in it.
    #[wasm_bindgen(js_name = shardOf)]
    pub fn shard_of(&self, sample: u64) -> Result<Object, Thrown> {
        let (shard, row) = self.0.shard_of(sample)?;
        Ok(Object::of([("shard", shard.into()), ("row", row.into())]))
    }
}

/// All ranks of a job as a grid.
#[wasm_bindgen]
pub struct Mesh(samedeal_core::Mesh);

#[wasm_bindgen]
impl Mesh {
    /// A mesh whose axis i has `names[i]`, `sizes[i]` and `roles[i]`.
    #[wasm_bindgen(constructor)]
    pub fn new(world_size: u32, names: Vec<String>, sizes: Vec<u32>, roles: Vec<String>) -> Result<Self, Thrown> {
        let axes = names.into_iter().zip(sizes).zip(roles);
        let axis = |((name, size), role): ((_, _), String)| Ok(Axis { name, size, role: Role::from_name(&role)? });
        let axes = axes.map(axis).collect::<Result<_, samedeal_core::Failure>>()?;
        Ok(Self(samedeal_core::Mesh::new(world_size, axes)?))
    }

    /// Number of readers: ranks with the same samples are one reader.
    #[wasm_bindgen(js_name = dataWorldSize)]
    pub fn data_world_size(&self) -> u32 {
        self.0.data_world_size()
    }

    /// The number of the reader that a rank is.
    #[wasm_bindgen(js_name = dataRank)]
    pub fn data_rank(&self, rank: u32) -> Result<u32, Thrown> {
        Ok(self.0.data_rank(rank)?)
    }

    /// The coordinate of a rank on each axis.
    pub fn coordinates(&self, rank: u32) -> Result<Vec<u32>, Thrown> {
        Ok(self.0.coordinates(rank)?)
    }

    /// The rank at a place of the grid.
    #[wasm_bindgen(js_name = rankAt)]
    pub fn rank_at(&self, coordinates: Vec<u32>) -> Result<u32, Thrown> {
        Ok(self.0.rank_at(&coordinates)?)
    }

    /// The ranks that get the same samples as this one.
    pub fn peers(&self, rank: u32) -> Result<Vec<u32>, Thrown> {
        Ok(self.0.peers(rank)?)
    }
}

/// The names of the environment variables that `detect` looks at.
#[wasm_bindgen]
pub fn variables() -> Vec<String> {
    launch::variables().map(ToString::to_string).collect()
}

/// The rank of a process, by its environment. Variable i has the name `names[i]` and the value `values[i]`.
#[wasm_bindgen]
pub fn detect(
    names: Vec<String>,
    values: Vec<String>,
    rank: Option<u32>,
    world_size: Option<u32>,
) -> Result<Object, Thrown> {
    let environment = names.into_iter().zip(values).collect::<Vec<_>>();
    let launch::Detection { rank, world_size, local_rank, local_world_size, launcher, used, warnings } =
        launch::detect(&environment, rank, world_size)?;
    Ok(Object::of([
        ("rank", rank.into()),
        ("worldSize", world_size.into()),
        ("localRank", local_rank.into()),
        ("localWorldSize", local_world_size.into()),
        ("launcher", launcher.into()),
        ("used", used.into()),
        ("warnings", warnings.into()),
    ]))
}

fn place(place: samedeal_core::Place) -> Object {
    let samedeal_core::Place { position, rank, index_in_rank, batch, index_in_batch, num_padding } = place;
    Object::of([
        ("position", position.into()),
        ("rank", rank.into()),
        ("indexInRank", index_in_rank.into()),
        ("batch", batch.into()),
        ("indexInBatch", index_in_batch.into()),
        ("numPadding", num_padding.into()),
    ])
}
