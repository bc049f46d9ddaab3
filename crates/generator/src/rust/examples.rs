//! Examples for the main methods of the Rust classes. Each becomes a documentation test of the method.

/// Resource and function of the WIT, and the code: without the import of the names and without the last line, which
/// every example has.
const EXAMPLES: &[(&str, &str, &str)] = &[
    (
        "sampler",
        "at-epoch",
        "let sampler = Sampler::builder(1_000).seed(42).build()?;
let next = sampler.at_epoch(1)?;
assert_eq!((next.epoch(), next.recipe()?), (1, sampler.recipe()?));
assert_ne!(next.indices::<u64>(..)?, sampler.indices::<u64>(..)?);",
    ),
    (
        "sampler",
        "at-rank",
        "let sampler = Sampler::builder(1_000).seed(42).world_size(8).build()?;
let samples = (0..8).map(|rank| sampler.at_rank(rank)?.indices::<u64>(..)).collect::<Result<Vec<_>, _>>()?;
let mut seen = samples.concat();
seen.sort_unstable();
assert!(seen.into_iter().eq(0..1_000));",
    ),
    (
        "sampler",
        "rest",
        "let sampler = Sampler::builder(1_000).seed(42).world_size(8).build()?;
let rest = sampler.rest(512)?; // 64 samples of each rank were taken
assert_eq!(rest.num_samples(), 61);
assert_eq!(rest.indices::<u64>(..)?, sampler.indices::<u64>(64..)?);",
    ),
    (
        "sampler",
        "state",
        "let sampler = Sampler::builder(1_000).seed(42).epoch(1).world_size(8).build()?;
let state = sampler.state(64)?; // each of 8 ranks has taken 64 samples
let mut resumed = Sampler::builder(1_000).seed(42).rank(5).world_size(6).build()?;
resumed.resume(&state)?;
assert_eq!((resumed.epoch(), resumed.consumed(), resumed.num_samples()), (1, 512, 82));",
    ),
    (
        "sampler",
        "sample-at",
        "let sampler = Sampler::builder(10_000_000).seed(42).build()?;
let sample = sampler.sample_at(7_936_003)?;
let place = sampler.locate(sample, 32)?.expect(\"the epoch has every sample\");
assert_eq!(place.position, 7_936_003);",
    ),
    (
        "sampler",
        "locate",
        "let sampler = Sampler::builder(10_000_000).seed(42).world_size(8).build()?;
let place = sampler.locate(1_234, 32)?.expect(\"the epoch has every sample\");
assert_eq!((place.rank, place.batch, place.index_in_batch), (5, 1_764, 14));",
    ),
    (
        "sampler",
        "locate-all",
        "let sampler = Sampler::builder(10_000_000).seed(42).world_size(8).build()?;
let places = sampler.locate_all(&[1_234, 5_678], 32)?;
assert_eq!(places[0], sampler.locate(1_234, 32)?);",
    ),
    (
        "sampler",
        "fate",
        "let sampler = Sampler::builder(10_000).seed(42).epoch(1).world_size(8).build()?;
let fate = sampler.fate(4_711, 32, 640)?; // each rank has taken 640 samples: 20 batches
assert_eq!((fate.status.as_str(), fate.places[0].batch, fate.places[0].rank), (\"seen\", 10, 7));",
    ),
    (
        "sampler",
        "place-of",
        "let sampler = Sampler::builder(10_000).seed(42).world_size(8).build()?;
let place = sampler.place_of(1_001, 32)?;
assert_eq!((place.rank, place.index_in_rank, place.batch, place.index_in_batch), (1, 125, 3, 29));",
    ),
    (
        "sampler",
        "source-of",
        "let blend = Order::blend([Source::new(\"web\", 900, 70), Source::new(\"books\", 50, 30)]).samples(1_000);
let sampler = Sampler::from_order(blend).build()?;
let found = sampler.source_of(907)?; // the samples of the books follow those of the web
assert_eq!((found.source, found.index), (1, 7));",
    ),
    (
        "sampler",
        "shard-of",
        "let sampler = Sampler::sharded([900, 1_100, 0, 2_000]).build()?;
let place = sampler.shard_of(2_005)?;
assert_eq!((place.shard, place.row), (3, 5));",
    ),
    (
        "batcher",
        "locate",
        "let batcher = Batcher::builder(vec![20, 30, 500, 20, 400, 60]).max_tokens(512).world_size(2).build()?;
let place = batcher.locate(4)?[0];
let batch = batcher.batch_of(place.rank, place.step)?;
assert_eq!(batch.samples[place.index_in_row as usize], 4);",
    ),
    (
        "batcher",
        "state",
        "let lengths: Vec<u32> = (0..1_000).map(|i| 1 + i * 37 % 300).collect();
let builder = || Batcher::builder(lengths.clone()).max_tokens(1_024).seed(42);
let state = builder().world_size(4).build()?.state(10)?; // every rank has taken 10 steps
let mut resumed = builder().world_size(3).build()?;
resumed.resume(&state)?;
let left = resumed.num_steps()?;
assert!(left < builder().world_size(3).build()?.num_steps()?);",
    ),
    (
        "batcher",
        "index",
        "let lengths: Vec<u32> = (0..1_000).map(|i| 1 + i * 37 % 300).collect();
let builder = || Batcher::builder(lengths.clone()).max_tokens(1_024).batch_window(100);
let (first, second) = (builder().build()?.index(0, 5)?, builder().build()?.index(5, 5)?); // by two jobs
let batcher = builder().build()?;
batcher.use_index(&join_indices(&[second, first])?)?;
assert_eq!(batcher.num_known_windows()?, 10); // `num_steps` plans nothing now",
    ),
    (
        "schedule",
        "locate",
        "let schedule = Schedule::builder(100_000, 256).seed(42).world_size(8).build()?;
let seen = schedule.locate(7, 500)?.expect(\"every epoch has it\");
assert!(seen.step >= 500);
assert_eq!(schedule.at_rank(seen.rank)?.batch(seen.step)?[seen.index_in_batch as usize], 7);",
    ),
    (
        "schedule",
        "state",
        "let schedule = Schedule::builder(100_000, 256).seed(42).world_size(8).build()?;
let state = schedule.state(1_200)?; // steps 0 to 1,199 are done
let resumed = Schedule::builder(100_000, 256).seed(42).world_size(4).build()?;
assert_eq!(resumed.resume(&state)?, 1_200);",
    ),
    (
        "reading",
        "state",
        "let builder = || Reading::builder([900, 1_100, 0, 2_000]).seed(42).lanes(8).batch_size(32);
let reading = builder().world_size(2).workers(2).build()?;
let state = reading.state(5)?; // each of 2 ranks has taken 5 batches
let rest = builder().workers(3).build()?.resume(&state)?;
let left = (0..3).map(|worker| rest.num_samples(0, worker)).sum::<Result<u64, _>>()?;
assert_eq!(left, 4_000 - 2 * 5 * 32 + 1); // with one sample of padding",
    ),
    (
        "reading",
        "batch-at",
        "let builder = Reading::builder([900, 1_100, 0, 2_000]).seed(42).lanes(8).batch_size(32);
let reading = builder.world_size(2).workers(2).build()?;
let batch = reading.batch_at(1, 3)?; // which samples does rank 1 get at step 3?
let samples = reading.indices(1, batch.worker, batch.start..batch.start + u64::from(batch.count))?;
assert_eq!((batch.worker, batch.number, samples.len()), (1, 1, 32));",
    ),
    (
        "mesh",
        "data-rank",
        "let mesh = Mesh::new(8, [Axis::shard(\"dp\", 4), Axis::replicate(\"tp\", 2)])?;
let ranks = (0..8).map(|rank| mesh.data_rank(rank)).collect::<Result<Vec<_>, _>>()?;
assert_eq!((mesh.data_world_size(), ranks), (4, vec![0, 0, 1, 1, 2, 2, 3, 3]));",
    ),
    (
        "mesh",
        "peers",
        "let mesh = Mesh::new(8, [Axis::shard(\"dp\", 4), Axis::replicate(\"tp\", 2)])?;
assert_eq!(mesh.peers(5)?, [4, 5]); // they read the same samples",
    ),
];

/// Names of the crate that examples use.
const USED: &[&str] = &["Axis", "Batcher", "Mesh", "Order", "Reading", "Sampler", "Schedule", "Source", "join_indices"];

/// The lines of the documentation with the example of a method, if there is one.
pub fn lines(resource: &str, function: &str) -> Vec<String> {
    let Some((.., code)) = EXAMPLES.iter().find(|example| (example.0, example.1) == (resource, function)) else {
        return Vec::new();
    };
    let words = crate::words::words_of(code);
    let used: Vec<_> = USED.iter().copied().filter(|name| words.contains(*name)).collect();
    let import = match &used[..] {
        [one] => format!("use samedeal::{one};"),
        several => format!("use samedeal::{{{}}};", several.join(", ")),
    };
    let all = format!("\n```\n{import}\n{code}\n# Ok::<(), samedeal::Error>(())\n```");
    all.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use wit_parser::Resolve;

    use super::EXAMPLES;
    use crate::wit::Wit;

    /// An example of a method that is written by hand, or that was renamed, would be nowhere.
    #[test]
    fn every_example_stands_at_its_method() {
        let mut resolve = Resolve::default();
        let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit");
        let (package, _) = resolve.push_dir(wit).unwrap();
        let files = super::super::modules(Wit { resolve: &resolve, package }).unwrap();
        for (resource, function, code) in EXAMPLES {
            let first = code.lines().next().unwrap();
            let module = &files[&format!("{resource}.rs")];
            assert!(module.contains(&format!("/// {first}\n")), "{resource}.{function}");
        }
    }
}
