//! The order `sharded`: shapes of datasets, deals of one of them, epochs, and every failure.

use crate::cases::forms::{Config, Native, Sharding, Subject};
use matrix::format::{Call, Case, S64, U64};

use super::{EPOCHS, MAX_COUNT, MAX_EXACT, SEEDS, asked, base, config_name, indices, numbers};

const MAX_LANES: u32 = 1 << 16;

pub fn cases() -> Vec<Case> {
    [small_shapes(), wide_windows(), large(), deals(), epochs(), shard_failures(), failures()].concat()
}

/// All questions about few samples.
fn small_shapes() -> Vec<Case> {
    let shapes: [(&[u64], u32, u32); 19] = [
        (&[], 1, 1),
        (&[], 4, 8),
        (&[0, 0, 0], 2, 3),
        (&[1], 1, 1),
        (&[0, 1, 0], 3, 2),
        (&[13, 0, 7], 2, 4),
        (&[30], 4, 5),
        (&[30], 1, 30),
        (&[30], 1, 29),
        (&[30], 1, 31),
        (&[5, 0, 17, 1, 0, 9, 3, 3, 0], 3, 4),
        (&[1; 20], 3, 8),
        (&[2, 1, 3], 8, 2),
        (&[2, 1], MAX_LANES, MAX_COUNT),
        (&[4, 11, 6], 3, 1),
        (&[4, 11, 6], 21, 1),
        (&[4, 11, 6], 3, MAX_COUNT),
        (&[7, 7, 7, 7], 4, 7),
        (&[7, 8, 6, 7], 1, 28),
    ];
    let cases = shapes.into_iter().enumerate().map(|(i, (sizes, lanes, window))| {
        let samples: u64 = sizes.iter().sum();
        let config = Config { seed: S64(SEEDS[i % SEEDS.len()]), ..base("sharded", samples) };
        let data = Data { sizes, lanes, window };
        let mut calls = vec![
            Call::Epoch,
            Call::Rank,
            Call::Consumed,
            indices(0, samples as u32),
            Call::Fingerprint,
            Call::ConfigFingerprint,
        ];
        calls.extend(data.rounds(&config));
        calls.extend((0..samples).map(|sample| Call::Locate { sample: U64(sample), batch_size: Some(4) }));
        calls.extend((0..samples).step_by(3).map(|position| Call::SampleAt { position: U64(position) }));
        calls.extend((0..=samples).map(|sample| Call::ShardOf { sample: U64(sample) }));
        data.case(config, calls)
    });
    cases.collect()
}

/// Windows of up to 256 samples, which are shuffled outright, larger windows, which are shuffled by a network, and the
/// largest number of lanes.
fn wide_windows() -> Vec<Case> {
    let shapes: [(&[u64], u32, u32); 10] = [
        (&[300, 0, 700], 1, 255),
        (&[300, 0, 700], 1, 256),
        (&[300, 0, 700], 1, 257),
        (&[300, 0, 700], 2, 499),
        (&[300, 0, 700], 2, 500),
        (&[300, 0, 700], 2, MAX_COUNT),
        (&[300, 0, 701], 3, 300),
        (&[1_000, 999, 1_001, 5_000, 0, 123], 16, 64),
        (&[70_000], MAX_LANES, 1),
        (&[2_000, 30_000, 40_000], MAX_LANES, 2),
    ];
    let cases = shapes.into_iter().enumerate().map(|(i, (sizes, lanes, window))| {
        let samples: u64 = sizes.iter().sum();
        let config =
            Config { seed: S64(SEEDS[i % SEEDS.len()]), epoch: U64(EPOCHS[i % 4]), ..base("sharded", samples) };
        let data = Data { sizes, lanes, window };
        let mut calls = look(samples).to_vec();
        calls.extend([Call::Fingerprint, Call::ConfigFingerprint]);
        if lanes < 100 {
            let rounds = data.rounds(&config);
            calls.extend(rounds.iter().take(3).cloned());
            calls.extend(rounds.last().cloned());
        }
        data.case(config, calls)
    });
    cases.collect()
}

/// Few shards of any size. The cost follows what is asked for, not the size.
fn large() -> Vec<Case> {
    let shapes: [(&[u64], u32, u32); 7] = [
        (&[1 << 31, (1 << 31) - 1], 64, 1_024),
        (&[1 << 32, 1], 64, 1_024),
        (&[10_u64.pow(12), 0, 7, 3 * 10_u64.pow(11)], 48, 4_096),
        (&[MAX_EXACT], 1, MAX_COUNT),
        (&[MAX_EXACT], MAX_LANES, 1),
        (&[1 << 52, (1 << 52) - 1], MAX_LANES, MAX_COUNT),
        (&[1, MAX_EXACT - 2, 0, 1], 7, 1_000),
    ];
    let mut cases = Vec::new();
    for (i, (sizes, lanes, window)) in shapes.into_iter().enumerate() {
        let samples: u64 = sizes.iter().sum();
        let data = Data { sizes, lanes, window };
        let seed = S64(SEEDS[i % SEEDS.len()]);
        let config = Config { seed, ..base("sharded", samples) };
        let mut calls = look(samples).to_vec();
        calls.extend([samples / 2, samples / 3 * 2].map(|sample| Call::ShardOf { sample: U64(sample) }));
        calls.extend([Call::Indices32 { start: U64(samples - 3), count: 3 }, Call::ConfigFingerprint, Call::NumRounds]);
        let rounds = samples.div_ceil(u64::from(lanes) * u64::from(window));
        // Rounds of thousands of lanes are left out, because their answers are long.
        if lanes < 100 {
            calls.extend([0, rounds / 2, rounds - 1, rounds, u64::MAX].map(round));
        }
        cases.push(data.case(config.clone(), calls));
        // A deal in which each rank reads one lane in each round.
        let config = Config { rank: lanes - 1, world: lanes, remainder: "uneven".into(), ..config };
        let calls = [indices(samples / u64::from(lanes) - 4, 4), round(0), round(rounds - 1), Call::NumRounds];
        cases.push(data.case(config, calls));
    }
    cases.push(too_many_spans());
    cases
}

/// A round that is all padding, which is read sample by sample: it has more spans than one answer may have.
fn too_many_spans() -> Case {
    let (world, many) = (1 << 21, u64::from(MAX_COUNT));
    let samples = u64::from(world) * many + 1;
    let config = Config { rank: world - 1, world, layout: "contiguous".into(), ..base("sharded", samples) };
    let full = (u64::from(world) - 1) * (many + 1) / (u64::from(MAX_LANES) * many);
    let calls = [Call::NumPadding, Call::NumRounds, round(full), round(full + 1), round(0), indices(many - 1, 2)];
    Data { sizes: &[samples], lanes: MAX_LANES, window: MAX_COUNT }.case(config, calls)
}

/// World sizes that divide the number of lanes, that do not, and that are larger than the dataset. All their ranks are
/// asked.
fn deals() -> Vec<Case> {
    let data = Data { sizes: &[9, 0, 14, 5, 1], lanes: 6, window: 2 };
    let mut cases = Vec::new();
    for remainder in ["drop", "pad", "uneven"] {
        for layout in ["strided", "contiguous"] {
            for world in [1, 2, 3, 4, 6, 7, 12, 29, 70] {
                let config = Config {
                    world,
                    seed: S64(5),
                    remainder: remainder.into(),
                    layout: layout.into(),
                    ..base("sharded", 29)
                };
                let mut calls = vec![Call::NumPositions, Call::NumDropped, Call::ConfigFingerprint];
                for rank in (0..world).filter(|rank| world < 8 || rank % 11 == 0 || rank + 1 == world) {
                    calls.extend([Call::AtRank { rank }, Call::NumSamples, Call::NumPadding]);
                    let config = Config { rank, ..config.clone() };
                    calls.push(indices(0, data.num_samples(&config)));
                    if world < 5 || rank == 0 || rank + 1 == world {
                        calls.extend(data.rounds(&config));
                    }
                }
                calls.push(Call::Fingerprint);
                cases.push(data.case(config, calls));
            }
        }
    }
    // Samples are repeated more than once: the padding of a rank comes sample by sample.
    let data = Data { sizes: &[2, 0, 1], lanes: 2, window: 2 };
    let config = Config { world: 11, rank: 10, ..base("sharded", 3) };
    let mut calls = data.rounds(&config);
    calls.extend([indices(0, 1), Call::AtRank { rank: 2 }]);
    calls.extend(data.rounds(&config));
    calls.extend((0..12).map(|position| Call::PlaceOf { position: U64(position), batch_size: 2 }));
    cases.push(data.case(config, calls));
    cases
}

fn epochs() -> Vec<Case> {
    let data = Data { sizes: &[6, 4, 0, 9, 5], lanes: 4, window: 3 };
    let mut cases = Vec::new();
    for seed in SEEDS {
        let config = Config { seed: S64(seed), world: 2, ..base("sharded", 24) };
        let mut calls = vec![indices(0, 12), Call::ConfigFingerprint];
        for epoch in EPOCHS.into_iter().skip(1).chain([1, 0]) {
            calls.extend([Call::AtEpoch { epoch: U64(epoch) }, indices(0, 12), round(1), Call::ConfigFingerprint]);
        }
        calls.extend([
            Call::AtRank { rank: 1 },
            indices(0, 12),
            Call::AtRank { rank: 2 },
            Call::Epoch,
            Call::Rank,
            Call::Consumed,
        ]);
        for batch in [0, 1, 2] {
            calls.push(Call::Batch { batch: U64(batch), batch_size: 5, drop_last: true });
            calls.push(Call::Batch32 { batch: U64(batch), batch_size: 5, drop_last: false });
        }
        cases.push(data.case(config, calls));
    }
    // Configurations that differ only in their sizes: their fingerprints differ.
    let twenty_four: [(&[u64], u32, u32); 4] =
        [(&[6, 4, 9, 5], 4, 3), (&[6, 4, 9, 5, 0], 4, 3), (&[24], 4, 3), (&[6, 4, 0, 9, 5], 3, 4)];
    for (sizes, lanes, window) in twenty_four {
        cases.push(Data { sizes, lanes, window }.case(base("sharded", 24), [Call::ConfigFingerprint, indices(0, 24)]));
    }
    cases
}

/// The calls that belong to this order, on samplers with this order and with others.
fn shard_failures() -> Vec<Case> {
    let calls = || {
        let mut calls = vec![Call::NumRounds];
        calls.extend([0, 2, 3, u64::MAX].map(round));
        calls.extend([0, 9, 10, u64::MAX].map(|sample| Call::ShardOf { sample: U64(sample) }));
        calls.extend([10, u64::MAX].map(|position| Call::SampleAt { position: U64(position) }));
        calls.extend([10, u64::MAX].map(|sample| Call::Locate { sample: U64(sample), batch_size: Some(1) }));
        calls.extend([Call::AtRank { rank: 1 }, indices(0, 11), indices(11, 0), indices(0, 10)]);
        calls
    };
    let mut cases = vec![Data { sizes: &[4, 6], lanes: 2, window: 2 }.case(base("sharded", 10), calls())];
    for order in ["feistel", "sequential", "torch"] {
        let name = format!("rounds of the order {order}");
        cases.push(asked(&name, Subject::Config(base(order, 10)), calls()));
    }
    cases.push(Data { sizes: &[0], lanes: 2, window: 2 }.case(base("sharded", 0), calls()));
    cases
}

/// Constructors that fail. Where several rules are broken, the first one decides.
fn failures() -> Vec<Case> {
    let good = Data { sizes: &[4, 6], lanes: 2, window: 3 };
    let bad = Data { sizes: &[1 << 53], lanes: 0, window: 0 };
    let mut cases = Vec::new();
    for lanes in [0, MAX_LANES + 1, u32::MAX] {
        cases.push(Data { lanes, ..good }.case(base("sharded", 10), []));
        cases.push(Data { lanes, window: 0, ..good }.case(base("sharded", 10), []));
    }
    for window in [0, MAX_COUNT + 1, u32::MAX] {
        cases.push(Data { window, ..good }.case(base("sharded", 10), []));
    }
    // Sizes with too large a sum. `samples` is the same sum or another number.
    for sizes in [&[MAX_EXACT, 1][..], &[u64::MAX], &[u64::MAX, 1], &[u64::MAX; 3], &[1 << 63, 1 << 63]] {
        let samples = sizes.iter().fold(0, |sum: u64, &size| sum.saturating_add(size));
        cases.push(Data { sizes, ..good }.case(base("sharded", samples), []));
        cases.push(Data { sizes, ..good }.case(base("sharded", 10), []));
    }
    for samples in [0, 9, 11, MAX_EXACT] {
        cases.push(good.case(base("sharded", samples), []));
        cases.push(Data { lanes: 0, ..good }.case(base("sharded", samples), []));
    }
    cases.push(Data { sizes: &[], ..good }.case(base("sharded", 1), []));
    for config in [
        base("shard", u64::MAX),
        base("Sharded", 10),
        base("sharded", u64::MAX),
        Config { world: 0, ..base("sharded", MAX_EXACT + 1) },
        Config { world: 0, rank: 1, ..base("sharded", 10) },
        Config { rank: 1, ..base("sharded", 10) },
        Config { rank: 9, world: 2, ..base("sharded", MAX_EXACT) },
        Config { rank: 9, world: 2, ..base("feistel", 10) },
        base("feistel", 10),
        base("dotnet", 1 << 31),
        base("sharded", 10),
    ] {
        cases.push(bad.case(config.clone(), []));
        let name = format!("no shards, {}", config_name(&config));
        cases.push(asked(&name, Subject::Config(config), []));
    }
    for order in ["feistel", "sequential", "fisher-yates"] {
        cases.push(good.case(base(order, 10), []));
    }
    cases
}

/// A look at the beginning, the middle and the end of an epoch.
fn look(samples: u64) -> [Call; 10] {
    let locate = |sample| Call::Locate { sample: U64(sample), batch_size: Some(32) };
    let shard_of = |sample| Call::ShardOf { sample: U64(sample) };
    [
        indices(0, 9),
        indices(samples / 2, 33),
        indices(samples - 9, 9),
        Call::SampleAt { position: U64(samples / 3) },
        locate(0),
        locate(samples / 7 * 4),
        locate(samples - 1),
        shard_of(0),
        shard_of(samples / 7 * 4),
        shard_of(samples - 1),
    ]
}

fn round(number: u64) -> Call {
    Call::Round { number: U64(number) }
}

/// A dataset in shards, and how it is read.
#[derive(Clone, Copy)]
struct Data<'a> {
    sizes: &'a [u64],
    lanes: u32,
    window: u32,
}

impl Data<'_> {
    fn subject(&self, config: Config) -> Subject {
        let sharding = Sharding { sizes: numbers(self.sizes), lanes: self.lanes, window: self.window };
        Subject::Sharded { config, sharding }
    }

    /// The number that a call without arguments returns.
    fn number(&self, config: &Config, call: &Call) -> u64 {
        let value = Native::create(&self.subject(config.clone())).and_then(|mut sampler| sampler.call(call));
        value.expect("a valid case").as_str().and_then(|text| text.parse().ok()).expect("a number")
    }

    fn num_samples(&self, config: &Config) -> u32 {
        self.number(config, &Call::NumSamples) as u32
    }

    /// All rounds, and the one after the last.
    fn rounds(&self, config: &Config) -> Vec<Call> {
        let end = self.number(config, &Call::NumRounds);
        [Call::NumRounds].into_iter().chain((0..=end).map(round)).collect()
    }

    fn case(&self, config: Config, calls: impl IntoIterator<Item = Call>) -> Case {
        let sizes = match self.sizes {
            few if few.len() < 12 => format!("{few:?}"),
            many => format!("{} shards", many.len()),
        };
        let name = format!("{sizes} in {} lanes of {}, {}", self.lanes, self.window, config_name(&config));
        asked(&name, self.subject(config), calls)
    }
}
