//! The web build: the interface of `wit/` over `samedeal-core`, through wasm-bindgen. It converts, and computes nothing.
//!
//! Numbers of 64 bits cross as `bigint`, windows as typed arrays copied in one piece, and a failure is thrown as
//! a plain object `{ kind, field, value, allowed }`: what the component gives in JavaScript, so that one class serves
//! both. The arguments are checked by that class, since the bindings wrap numbers around silently.

mod failure;

use samedeal_core::{Config, Layout, List, MAX_WINDOW, OrderId, Recipe, Remainder};
use wasm_bindgen::prelude::wasm_bindgen;

use failure::{Object, Thrown};

/// The names of the orders, the default first.
#[wasm_bindgen]
pub fn orders() -> Vec<String> {
    OrderId::ALL.iter().map(|order| order.name().to_string()).collect()
}

/// The most indices that one call hands out.
#[wasm_bindgen(js_name = maxWindow)]
pub fn max_window() -> u32 {
    MAX_WINDOW
}

/// The samples of one rank in one epoch.
#[wasm_bindgen]
pub struct Sampler(samedeal_core::Sampler);

#[wasm_bindgen]
impl Sampler {
    /// Checks the configuration; `remainder` and `layout` are the places of their names in `wit/types.wit`.
    #[wasm_bindgen(constructor)]
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        samples: u64,
        seed: i64,
        epoch: u64,
        order: &str,
        rank: u32,
        world: u32,
        remainder: u8,
        layout: u8,
        consumed: u64,
    ) -> Result<Self, Thrown> {
        let config = config(samples, seed, epoch, order, rank, world, remainder, layout, consumed)?;
        Ok(Self(samedeal_core::Sampler::new(config)?))
    }

    /// A sampler with the order `sharded`.
    #[allow(clippy::too_many_arguments)]
    pub fn sharded(
        samples: u64,
        seed: i64,
        epoch: u64,
        order: &str,
        rank: u32,
        world: u32,
        remainder: u8,
        layout: u8,
        consumed: u64,
        sizes: Vec<u64>,
        lanes: u32,
        window: u32,
    ) -> Result<Self, Thrown> {
        let config = config(samples, seed, epoch, order, rank, world, remainder, layout, consumed)?;
        Ok(Self(samedeal_core::Sampler::sharded(config, &sizes, lanes, window)?))
    }

    /// The sampler of a recipe. List i of those that come with it is named `names[i]`, and is `numbers` up to `ends[i]`, from where
    /// the one before it ends.
    #[wasm_bindgen(js_name = fromRecipe)]
    pub fn from_recipe(recipe: &str, names: Vec<String>, ends: Vec<u32>, numbers: Vec<u64>) -> Result<Self, Thrown> {
        let starts = [0].into_iter().chain(ends.iter().copied());
        let ranges = starts.zip(&ends).map(|(start, &end)| start as usize..end as usize);
        let lists = names.iter().map(String::as_str).zip(ranges.map(|range| numbers.get(range).unwrap_or_default()));
        let recipe = Recipe::read(recipe, &lists.collect::<Vec<List>>())?;
        Ok(Self(samedeal_core::Sampler::from_recipe(&recipe)?))
    }

    /// The recipe of this sampler, in its canonical form.
    pub fn recipe(&self) -> String {
        self.0.recipe().text()
    }

    /// SHA-256 over that text, in hexadecimal.
    #[wasm_bindgen(js_name = recipeFingerprint)]
    pub fn recipe_fingerprint(&self) -> String {
        self.0.recipe().fingerprint()
    }

    /// The shards, with the order `sharded`.
    pub fn sharding(&self) -> Result<Option<Object>, Thrown> {
        Ok(self.0.sharding()?.map(|(sizes, lanes, window)| {
            let object = Object::new();
            object.set("sizes", sizes.into());
            object.set("lanes", lanes.into());
            object.set("window", window.into());
            object
        }))
    }

    /// The configuration as it stands.
    pub fn config(&self) -> Object {
        let Config { samples, seed, epoch, order, rank, world, remainder, layout, consumed } = *self.0.config();
        let object = Object::new();
        object.set("samples", samples.into());
        object.set("seed", seed.into());
        object.set("epoch", epoch.into());
        object.set("order", order.name().into());
        object.set("rank", rank.into());
        object.set("world", world.into());
        object.set(
            "remainder",
            match remainder {
                Remainder::Drop => "drop",
                Remainder::Pad => "pad",
                Remainder::Uneven => "uneven",
            }
            .into(),
        );
        object.set(
            "layout",
            match layout {
                Layout::Strided => "strided",
                Layout::Contiguous => "contiguous",
            }
            .into(),
        );
        object.set("consumed", consumed.into());
        object
    }

    /// The state once every rank has taken so many of its samples.
    pub fn state(&self, taken: u64) -> Result<String, Thrown> {
        Ok(self.0.state(taken)?)
    }

    /// Goes on where a state was taken.
    pub fn resume(&mut self, state: &str) -> Result<(), Thrown> {
        Ok(self.0.resume(state)?)
    }

    /// Moves to another epoch.
    #[wasm_bindgen(js_name = setEpoch)]
    pub fn set_epoch(&mut self, epoch: u64) {
        self.0.set_epoch(epoch);
    }

    /// Answers for another rank of the same deal from now on.
    #[wasm_bindgen(js_name = setRank)]
    pub fn set_rank(&mut self, rank: u32) -> Result<(), Thrown> {
        Ok(self.0.set_rank(rank)?)
    }

    /// How many samples this rank sees in an epoch, padding included.
    #[wasm_bindgen(js_name = numSamples)]
    pub fn num_samples(&self) -> u64 {
        self.0.num_samples()
    }

    /// How many of them, the last ones, are padding.
    #[wasm_bindgen(js_name = numPadding)]
    pub fn num_padding(&self) -> u64 {
        self.0.deal().num_padding()
    }

    /// How many positions the epoch deals to all ranks together, padding included.
    #[wasm_bindgen(js_name = numPositions)]
    pub fn num_positions(&self) -> u64 {
        self.0.deal().num_positions()
    }

    /// How many samples no rank sees in this epoch.
    #[wasm_bindgen(js_name = numDropped)]
    pub fn num_dropped(&self) -> u64 {
        self.0.deal().num_dropped()
    }

    /// A window of this rank's samples.
    pub fn indices(&self, start: u64, count: u32) -> Result<Vec<u64>, Thrown> {
        Ok(self.0.indices(start, count)?)
    }

    /// The same in half the bytes, for at most 2^32 samples.
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

    /// The same in half the bytes, for at most 2^32 samples.
    pub fn batch32(&self, batch: u64, batch_size: u32, drop_last: bool) -> Result<Vec<u32>, Thrown> {
        Ok(self.0.batch(batch, batch_size, drop_last)?)
    }

    /// The sample at a global position, whichever rank it is dealt to.
    #[wasm_bindgen(js_name = sampleAt)]
    pub fn sample_at(&self, position: u64) -> Result<u64, Thrown> {
        Ok(self.0.sample_at(position)?)
    }

    /// Where in the epoch a sample is seen first; `undefined` if it is dropped.
    pub fn locate(&self, sample: u64, batch_size: u32) -> Result<Option<Object>, Thrown> {
        Ok(self.0.locate(sample, batch_size)?.map(place))
    }

    /// Who sees a global position, and when.
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

    /// With the order `sharded`: what this rank reads for the next run of its samples.
    pub fn round(&self, number: u64) -> Result<Object, Thrown> {
        let samedeal_core::Round { start, count, spans } = self.0.round(number)?;
        let object = Object::new();
        object.set("start", start.into());
        object.set("count", count.into());
        object.set("spans", spans.into());
        Ok(object)
    }

    /// With the order `sharded`: where a sample is stored.
    #[wasm_bindgen(js_name = shardOf)]
    pub fn shard_of(&self, sample: u64) -> Result<Object, Thrown> {
        let (shard, offset) = self.0.shard_of(sample)?;
        let object = Object::new();
        object.set("shard", shard.into());
        object.set("offset", offset.into());
        Ok(object)
    }
}

#[allow(clippy::too_many_arguments)]
fn config(
    samples: u64,
    seed: i64,
    epoch: u64,
    order: &str,
    rank: u32,
    world: u32,
    remainder: u8,
    layout: u8,
    consumed: u64,
) -> Result<Config, Thrown> {
    Ok(Config {
        samples,
        seed,
        epoch,
        order: OrderId::from_name(order)?,
        rank,
        world,
        remainder: match remainder {
            0 => Remainder::Drop,
            1 => Remainder::Pad,
            _ => Remainder::Uneven,
        },
        layout: match layout {
            0 => Layout::Strided,
            _ => Layout::Contiguous,
        },
        consumed,
    })
}

fn place(place: samedeal_core::Place) -> Object {
    let samedeal_core::Place { position, rank, index, batch, slot, copies } = place;
    let object = Object::new();
    object.set("position", position.into());
    object.set("rank", rank.into());
    object.set("index", index.into());
    object.set("batch", batch.into());
    object.set("slot", slot.into());
    object.set("copies", copies.into());
    object
}
