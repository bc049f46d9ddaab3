//! Samplers that reach branches of the core that most seeds and sizes do not reach. `cargo xtask mutants` shows which
//! branches these are.

use matrix::format::{Call, Case, S64, U64};

use super::forms::{ChunkStream, Config, Sharding, Subject};
use super::{asked, base, config_name, numbers};

/// Cases of an order with draws at an end of their range.
pub fn orders(order: &str) -> Vec<Case> {
    let of = |samples, seed| Config { seed: S64(seed), ..base(order, samples) };
    let (config, calls) = match order {
        // The draw below 89,924 is the smallest one that is not rejected.
        "fisher-yates" => (of(1 << 17, 13_081), vec![Call::Fingerprint]),
        // The generator gives 0 at the 929th draw.
        "dotnet" => (of(1_000, 4_386_643), vec![Call::Fingerprint]),
        _ => return Vec::new(),
    };
    vec![asked(&config_name(&config), Subject::Config(config), calls)]
}

/// Permutations with fewer samples than their grid has cells. The inverse passes the first cell after the last sample.
pub fn inverse() -> Vec<Case> {
    let case = |(samples, sample)| {
        let config = Config { seed: S64(5), ..base("feistel", samples) };
        let calls = [Call::Locate { sample: U64(sample), batch_size: Some(1) }];
        asked(&config_name(&config), Subject::Config(config), calls)
    };
    [(257, 66), (258, 176), (261, 87), (273, 228)].into_iter().map(case).collect()
}

/// A round with more than 1,024 spans, and with as much padding.
pub fn sharded() -> Vec<Case> {
    let (world, lanes) = (1_100, 2_200);
    let samples = u64::from(lanes) * u64::from(world) - u64::from(world - 1);
    let config = Config { world, rank: world - 1, layout: "contiguous".into(), ..base("sharded", samples) };
    let sharding = Sharding { sizes: numbers(&[samples]), lanes, window: 1 };
    let calls =
        [Call::NumSamples, Call::NumPadding, Call::NumRounds, Call::Round { number: U64(u64::from(world) - 1) }];
    vec![asked("a round of many spans and much padding", Subject::Sharded { config, sharding }, calls)]
}

/// Chunks of many epochs in one call: more than an order with a table may shuffle in one call.
pub fn streams() -> Vec<Case> {
    let case = |order: &str| {
        let stream = ChunkStream {
            chunks: Some(U64(1 << 25)),
            reader: 3,
            readers: 1 << 30,
            order: order.into(),
            seed: S64(6),
            epoch: U64(0),
        };
        asked(
            &format!("{order}, an epoch for each chunk"),
            Subject::ChunkStream(stream),
            [Call::Chunks { start: U64(0), count: 4 }],
        )
    };
    ["feistel", "sequential", "torch"].map(case).to_vec()
}
