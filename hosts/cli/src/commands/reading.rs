//! States of readers of a dataset in files: loader workers of all ranks, at any step. Every answer is the library's.

use std::collections::BTreeSet;

use samedeal::{Reading, ReadingBuilder, Remainder};
use serde_json::{Map, Value, json};

use crate::args::dataset::Dataset;
use crate::args::deal::{DealArgs, SHARDED};
use crate::args::workers::WorkerArgs;
use crate::commands::state::contradiction;
use crate::read::checkpoint::Saved;
use crate::write::problem::Problem;

/// The kind of these states.
pub const KIND: &str = "reading";
/// How many samples are read at a time.
const WINDOW: u32 = 1 << 20;

/// Options of a recipe that are shown, by their names in it.
pub const SHOWN: [&str; 10] =
    ["deal", "shuffle", "lanes", "window", "shuffle_rows", "reshuffle", "policy", "worker_policy", "weight", "shards"];

/// What a state was taken of, by its recipe: readers are still to be told. Sizes are those of the files, where there are any.
fn builder(saved: &Saved, dataset: Option<&Dataset>) -> Result<ReadingBuilder, String> {
    let none = Map::new();
    let recipe = saved.recipe().unwrap_or(&none);
    let numbers =
        |name: &str| -> Option<Vec<u64>> { recipe.get(name)?.as_array()?.iter().map(Value::as_u64).collect() };
    let files = dataset.filter(|dataset| !dataset.files.is_empty());
    let sizes = match (files, numbers("sizes")) {
        (Some(dataset), _) => dataset.files.iter().map(|file| file.count).collect(),
        (None, Some(sizes)) => sizes,
        (None, None) => return Err("the state has a hash of the sizes of its files; name the files".to_owned()),
    };
    let mut builder = Reading::builder(sizes).seed(saved.seed().unwrap_or(0));
    let flag = |name: &str| recipe.get(name).and_then(Value::as_bool);
    let word = |name: &str| recipe.get(name).and_then(Value::as_str);
    let number = |name: &str| recipe.get(name).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
    macro_rules! set {
        ($($read:ident: $($option:ident),*;)*) => {
            $($(if let Some(value) = $read(stringify!($option)) {
                builder = builder.$option(value);
            })*)*
        };
    }
    set! {
        word: deal, policy, worker_policy, weight;
        flag: shuffle, shuffle_rows, reshuffle;
        number: lanes, window;
        numbers: bytes;
    }
    if recipe.get("bytes").is_some_and(Value::is_string) {
        return Err(
            "the state has a hash of the bytes of its files, which a library that knows them resumes".to_owned()
        );
    }
    Ok(builder)
}

fn deals_samples(saved: &Saved) -> bool {
    saved.word("deal") == "samples"
}

/// What is left, as one reader would read it.
pub fn left(saved: &Saved, dataset: Option<&Dataset>) -> Result<Reading, String> {
    let mut builder = builder(saved, dataset)?;
    if deals_samples(saved) {
        builder = builder.remainder(Remainder::Uneven);
    }
    let reading = builder.build().and_then(|reading| reading.resume(&saved.text));
    reading.map_err(|error| error.to_string())
}

/// Those of the samples that are left. Costs what is left.
pub fn to_come(reading: &Reading, samples: impl Iterator<Item = u64>) -> Result<BTreeSet<u64>, Problem> {
    let asked = samples.collect::<BTreeSet<_>>();
    let mut found = BTreeSet::new();
    let count = reading.num_samples(0, 0)?;
    for start in (0..count).step_by(WINDOW as usize) {
        let window = reading.indices_window(0, 0, start, (count - start).min(WINDOW.into()) as u32)?;
        found.extend(window.into_iter().filter(|sample| asked.contains(sample)));
        if found.len() == asked.len() {
            break;
        }
    }
    Ok(found)
}

/// What a worker of a rank reads of what is left.
pub struct Rest {
    pub reading: Reading,
    pub rank: u32,
    pub worker: u32,
    /// For an answer in JSON.
    pub head: Map<String, Value>,
}

impl Rest {
    /// With the batches of the last group that took a part, where no size is given.
    pub fn new(
        saved: &Saved,
        dataset: &Dataset,
        (deal, rank, worker): (&DealArgs, u32, &WorkerArgs),
        (batch_size, drop_last): (Option<u32>, Option<bool>),
    ) -> Result<Self, String> {
        let last = saved.history.last();
        let of_last = last.and_then(|past| past.batch_size).and_then(|size| u32::try_from(size).ok());
        let batch_size = batch_size.or(of_last).unwrap_or(1);
        let (workers, worker) = worker.reader();
        let mut builder = builder(saved, Some(dataset))?.world_size(deal.world).workers(workers).batch_size(batch_size);
        builder = if deals_samples(saved) {
            builder.remainder(deal.remainder)
        } else {
            builder.drop_last(drop_last.or(last.and_then(|past| past.drop_last)).unwrap_or(false))
        };
        let reading = builder.build().and_then(|reading| reading.resume(&saved.text));
        let reading = reading.map_err(|error| error.to_string())?;
        // What is wrong with the rank or the worker shows here.
        reading.num_samples(rank, worker).map_err(|error| format!("--{error}"))?;
        let reader = json!({
            "deal": saved.word("deal"), "seed": saved.seed(), "epoch": saved.number("epoch"), "rank": rank,
            "world": deal.world, "worker": worker, "workers": workers, "batch_size": batch_size,
        });
        let mut head = Map::new();
        head.insert("reader".to_owned(), reader);
        Ok(Self { reading, rank, worker, head })
    }

    /// How many samples the reader has, and how many of them are padding.
    pub fn counts(&self) -> Result<(u64, u64), Problem> {
        let Self { reading, rank, worker, .. } = self;
        Ok((reading.num_samples(*rank, *worker)?, reading.num_padding(*rank, *worker)?))
    }

    /// Its samples of a window.
    pub fn window(&self, start: u64, count: u32) -> Result<Vec<u64>, Problem> {
        Ok(self.reading.indices_window(self.rank, self.worker, start, count)?)
    }
}

/// Options that say otherwise than the state.
pub fn differing(deal: &DealArgs, saved: &Saved) -> Option<String> {
    let number = |name: &str| saved.recipe().and_then(|recipe| recipe.get(name)).and_then(Value::as_u64);
    let seed = saved.seed().unwrap_or(0);
    if let Some(given) = deal.seed.filter(|&given| given != seed) {
        return Some(contradiction("seed", given, seed));
    }
    for (name, given) in [("lanes", deal.lanes), ("window", deal.window)] {
        if let (Some(given), Some(own)) = (given, number(name))
            && u64::from(given) != own
        {
            return Some(contradiction(name, given, own));
        }
    }
    let given = deal.order.as_deref().filter(|&given| given != SHARDED)?;
    Some(contradiction("order", given, SHARDED))
}
