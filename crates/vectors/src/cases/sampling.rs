//! Samplers: sizes at every boundary and next to it, seeds and epochs at the ends of their ranges, every failure, and
//! after each failure a call that must still work.

use crate::cases::forms::{Config, Native, Subject};
use matrix::format::{AllRanks, Call, Case, File, S64, U64};

use super::{EPOCHS, MAX_EXACT, SEEDS, asked, base, config_name, group, indices, numbers, rare};

pub fn files() -> Vec<File> {
    let mut files = Vec::new();
    for order in ["feistel", "fisher-yates", "sequential", "torch", "torch-2.5", "python", "dotnet"] {
        files.push(group(&format!("order-{order}"), [orders(order), rare::orders(order)].concat()));
    }
    files.push(group("feistel-large", feistel_large()));
    files.push(group("deal-strided", deals("strided")));
    files.push(group("deal-contiguous", deals("contiguous")));
    files.push(group("batches", batches()));
    files.push(group("inverse", [inverse(), rare::inverse()].concat()));
    files.push(group("windows", windows()));
    files.push(group("epochs-and-ranks", epochs_and_ranks()));
    files.push(group("fingerprints", fingerprints()));
    files.push(group("failures", failures()));
    files
}

/// A case about the sampler of a configuration.
fn case(config: Config, calls: impl IntoIterator<Item = Call>) -> Case {
    asked(&config_name(&config), Subject::Config(config), calls)
}

fn locate(sample: u64) -> Call {
    Call::Locate { sample: U64(sample), batch_size: Some(32) }
}

/// All samples if they are few. Otherwise the beginning, the middle and the end, and the places of two samples.
fn look(samples: u64) -> Vec<Call> {
    if samples <= 64 {
        return vec![indices(0, samples as u32)];
    }
    vec![
        indices(0, 9),
        indices(samples / 2, 33),
        indices(samples - 9, 9),
        Call::SampleAt { position: U64(samples / 3) },
        locate(0),
        locate(samples - 1),
    ]
}

fn orders(order: &str) -> Vec<Case> {
    let seeds: Vec<i64> =
        if order == "dotnet" { vec![0, 1, 42, -7, i32::MAX.into(), i32::MIN.into()] } else { SEEDS.to_vec() };
    let mut cases = Vec::new();
    // Every small size: one permutation each.
    for samples in 0..=17 {
        cases.push(case(base(order, samples), look(samples)));
    }
    for &seed in &seeds {
        for epoch in EPOCHS {
            cases.push(case(Config { seed: S64(seed), epoch: U64(epoch), ..base(order, 10) }, look(10)));
        }
    }
    // Boundaries of the algorithms (256), of squares, of the generators' buffers (624) and of powers of two.
    let sizes = [255, 256, 257, 258, 289, 290, 623, 624, 625, 1_000, 4_095, 4_096, 4_097, 65_535, 65_536, 65_537];
    for samples in sizes {
        let config = Config { seed: S64(seeds[samples as usize % seeds.len()]), ..base(order, samples) };
        cases.push(case(config, look(samples).into_iter().chain([Call::Fingerprint])));
    }
    cases.push(case(Config { seed: S64(5), epoch: U64(3), ..base(order, 1_000_003) }, [Call::Fingerprint]));
    if order == "torch" {
        // The size from which the two generations of randperm differ.
        let mut large = case(base(order, 214_748_364), [indices(0, 9), indices(214_748_355, 9)]);
        large.slow = true;
        cases.push(large);
    }
    cases
}

/// Numbers of samples for which only an order without a table is allowed.
fn feistel_large() -> Vec<Case> {
    let mut sizes: Vec<u64> = Vec::new();
    for bits in (18..=52).step_by(2) {
        // 2^(2k) is a square. With one sample more, the grid needs another row.
        sizes.extend([(1_u64 << bits) - 1, 1 << bits, (1 << bits) + 1]);
    }
    sizes.extend([10_u64.pow(8), 10_u64.pow(12), MAX_EXACT - 1, MAX_EXACT]);
    let mut cases = Vec::new();
    for (i, samples) in sizes.into_iter().enumerate() {
        let seed = S64(SEEDS[i % SEEDS.len()]);
        let epoch = U64(EPOCHS[i % EPOCHS.len()]);
        cases.push(case(Config { seed, epoch, ..base("feistel", samples) }, look(samples)));
        for (rank, world) in [(2, 3), (700, 1_024), (65_537, 1_000_003)] {
            let config = Config { seed, epoch, rank, world, remainder: "drop".into(), ..base("feistel", samples) };
            let share = samples / u64::from(world);
            let count = share.min(35) as u32;
            cases.push(case(config, [indices(0, count), indices(share - u64::from(count), count)]));
        }
    }
    cases
}

fn deals(layout: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for remainder in ["drop", "pad", "uneven"] {
        let deal = |samples, rank, world| Config {
            rank,
            world,
            remainder: remainder.into(),
            layout: layout.into(),
            ..base("sequential", samples)
        };
        for samples in [0, 1, 2, 3, 7, 8, 9, 10, 64, 65] {
            for world in [1, 2, 3, 4, 7, 8, 9, 11, 150] {
                // All ranks of a small world, through one sampler.
                let mut calls = vec![Call::NumPositions, Call::NumDropped];
                for rank in (0..world).filter(|rank| world < 20 || rank % 37 == 0 || rank + 1 == world) {
                    calls.extend([Call::AtRank { rank }, Call::NumSamples, Call::NumPadding]);
                    calls.push(indices(0, samples_of(&deal(samples, rank, world))));
                }
                cases.push(case(deal(samples, 0, world), calls));
            }
        }
        for (samples, world) in [(MAX_EXACT, 1), (MAX_EXACT - 1, 2), (1 << 52, u32::MAX), (5, u32::MAX)] {
            for rank in [0, world / 2, world - 1] {
                let calls = [Call::NumPositions, Call::NumDropped, Call::NumSamples, Call::NumPadding, indices(0, 1)];
                cases.push(case(deal(samples, rank, world), calls));
            }
        }
    }
    cases
}

fn samples_of(config: &Config) -> u32 {
    let value = Native::create(&Subject::Config(config.clone()))
        .and_then(|mut engine| engine.call(&Call::NumSamples))
        .expect("a valid deal");
    value.as_str().and_then(|text| text.parse().ok()).expect("a small number")
}

fn batches() -> Vec<Case> {
    let mut cases = Vec::new();
    for remainder in ["drop", "pad", "uneven"] {
        for (samples, rank, world) in [(0, 0, 1), (1, 1, 2), (10, 2, 3), (100, 0, 3), (1_000, 6, 7)] {
            let mut calls = Vec::new();
            for batch_size in [1, 2, 3, 32, 33, 1_000, u32::MAX] {
                for drop_last in [false, true] {
                    calls.push(Call::NumBatches { batch_size, drop_last });
                    for batch in [0, 1, 4, 10] {
                        calls.push(Call::Batch { batch: U64(batch), batch_size, drop_last });
                    }
                }
            }
            calls.push(Call::Batch32 { batch: U64(0), batch_size: 3, drop_last: false });
            let config = Config { rank, world, remainder: remainder.into(), seed: S64(9), ..base("feistel", samples) };
            cases.push(case(config, calls));
        }
    }
    cases.push(case(
        Config { rank: 3, world: 8, ..base("feistel", 1_000_000_000_000) },
        [
            Call::NumBatches { batch_size: 32, drop_last: true },
            Call::Batch { batch: U64(3_906_249_999), batch_size: 32, drop_last: true },
            Call::Batch { batch: U64(123_456_789), batch_size: 32, drop_last: false },
        ],
    ));
    cases
}

fn fate(sample: u64, batch_size: u32, taken: u64) -> Call {
    Call::Fate { sample: U64(sample), batch_size, taken: U64(taken) }
}

fn step(step: u64, batch_size: u32, drop_last: bool, (first, count): (u32, u32)) -> Call {
    Call::Step(AllRanks::Sampler { step: U64(step), batch_size, drop_last, first, count })
}

fn inverse() -> Vec<Case> {
    let mut cases = Vec::new();
    for order in ["feistel", "fisher-yates", "sequential", "torch", "torch-2.5", "python", "dotnet"] {
        for remainder in ["drop", "pad", "uneven"] {
            for layout in ["strided", "contiguous"] {
                let config = |samples, world| Config {
                    world,
                    remainder: remainder.into(),
                    layout: layout.into(),
                    seed: S64(3),
                    ..base(order, samples)
                };
                let all = (0..12).map(|sample| Call::Locate { sample: U64(sample), batch_size: Some(2) });
                let places = (0..15).map(|position| Call::PlaceOf { position: U64(position), batch_size: 2 });
                let samples = (0..15).map(|position| Call::SampleAt { position: U64(position) });
                let many = Call::LocateAll { samples: numbers(&[11, 0, 3, 3, 7]), batch_size: 2 };
                cases.push(case(config(12, 5), all.chain(places).chain(samples).chain([many.clone()])));
                let fates = [0, 2, 3].map(|taken| (0..12).map(move |sample| fate(sample, 2, taken)));
                let mut all: Vec<Call> = fates.into_iter().flatten().collect();
                for batch in 0..3 {
                    for (drop_last, first, count) in [(false, 0, 5), (true, 0, 5), (false, 3, 2), (false, 4, 0)] {
                        all.push(step(batch, 2, drop_last, (first, count)));
                    }
                }
                // The rest of an epoch: positions that were dealt before this deal are found too.
                all.extend([Call::Rest { consumed: U64(7) }, Call::NumSamples, Call::MaxNumSamples, many]);
                all.extend((0..12).map(|sample| fate(sample, 2, 1)));
                cases.push(case(config(12, 5), all));
                cases.push(case(
                    config(3, 11),
                    (0..3)
                        .map(locate)
                        .chain((0..3).map(|sample| fate(sample, 1, 1)))
                        .chain([Call::PlaceOf { position: U64(10), batch_size: 1 }]),
                ));
            }
        }
    }
    for samples in [1 << 32, 10_u64.pow(12), MAX_EXACT] {
        let sought = (0..20).map(|i| locate(samples / 20 * i)).chain([locate(samples - 1)]);
        let all = [Call::MaxNumSamples, Call::LocateAll { samples: numbers(&[samples - 1, 0]), batch_size: 1 }];
        let config = Config { world: 8, remainder: "uneven".into(), ..base("feistel", samples) };
        cases.push(case(config, sought.chain(all)));
    }
    cases
}

fn windows() -> Vec<Case> {
    let window = 1 << 20;
    let mut cases = Vec::new();
    for samples in [0, 1, 40, 3_000_000] {
        let mut calls = Vec::new();
        for start in [0, 1, samples / 2, samples, samples + 1, u64::MAX] {
            for count in [0, 1, 33, window + 1, u32::MAX] {
                calls.extend([indices(start, count), Call::Indices32 { start: U64(start), count }]);
            }
        }
        cases.push(case(base("feistel", samples), calls));
    }
    for samples in [(1 << 32) - 1, 1 << 32, (1 << 32) + 1, MAX_EXACT] {
        let calls = [
            Call::Indices32 { start: U64(samples - 40), count: 40 },
            Call::Batch32 { batch: U64(7), batch_size: 20, drop_last: false },
            indices(samples - 40, 40),
        ];
        cases.push(case(base("feistel", samples), calls));
    }
    cases
}

fn epochs_and_ranks() -> Vec<Case> {
    let mut cases = Vec::new();
    for order in ["feistel", "fisher-yates", "sequential", "torch", "python", "dotnet"] {
        let mut calls = vec![Call::Epoch, Call::Rank, Call::Consumed, indices(0, 4)];
        for epoch in [1, 1, 0, u64::MAX] {
            calls.extend([Call::AtEpoch { epoch: U64(epoch) }, indices(0, 4), Call::ConfigFingerprint]);
        }
        for rank in [2, 3, 1, u32::MAX, 0] {
            calls.extend([Call::AtRank { rank }, Call::Epoch, Call::Rank, Call::Consumed, indices(0, 4)]);
        }
        cases.push(case(Config { world: 3, seed: S64(11), ..base(order, 12) }, calls));
    }
    // Seed and epoch never add up in an order of our own: (1, 2) and (2, 1) differ.
    for order in ["feistel", "fisher-yates"] {
        for (seed, epoch) in [(1, 2), (2, 1), (3, 0), (0, 3)] {
            cases.push(case(Config { seed: S64(seed), epoch: U64(epoch), ..base(order, 20) }, look(20)));
            cases.push(case(Config { seed: S64(seed), epoch: U64(epoch), ..base(order, 2_000) }, look(2_000)));
        }
    }
    cases
}

fn fingerprints() -> Vec<Case> {
    let both = || [Call::Fingerprint, Call::ConfigFingerprint];
    let mut cases = vec![case(base("feistel", 0), both())];
    for remainder in ["drop", "pad", "uneven"] {
        for layout in ["strided", "contiguous"] {
            for rank in 0..3 {
                let deal = Config {
                    rank,
                    world: 3,
                    remainder: remainder.into(),
                    layout: layout.into(),
                    ..base("feistel", 5_000)
                };
                cases.push(case(deal, both()));
            }
        }
    }
    cases.push(case(Config { world: 1_000_000, ..base("feistel", 10_u64.pow(12)) }, both()));
    cases
}

fn failures() -> Vec<Case> {
    let none = || std::iter::empty();
    let mut cases = Vec::new();
    for samples in [MAX_EXACT + 1, u64::MAX] {
        cases.push(case(base("feistel", samples), none()));
        cases.push(case(base("sequential", samples), none()));
    }
    for order in ["fisher-yates", "torch", "torch-2.5", "python", "dotnet"] {
        cases.push(case(base(order, 1 << 32), none()));
    }
    cases.push(case(base("dotnet", 1 << 31), none()));
    for seed in [i64::from(i32::MAX) + 1, i64::from(i32::MIN) - 1] {
        cases.push(case(Config { seed: S64(seed), ..base("dotnet", 10) }, none()));
    }
    let long = "é\u{1F0A1}".repeat(50);
    for order in ["", "Feistel", "feistel ", "random", "torch-2.6", "nul\0", "\u{1F0A1}", &long] {
        cases.push(case(base(order, 10), none()));
    }
    for (rank, world) in [(0, 0), (1, 1), (8, 8), (u32::MAX, u32::MAX), (0, u32::MAX)] {
        cases.push(case(Config { rank, world, ..base("feistel", 10) }, [Call::NumSamples]));
    }
    for (samples, world) in [(MAX_EXACT, 2), (MAX_EXACT, u32::MAX), (MAX_EXACT - 1, 4)] {
        for remainder in ["drop", "pad", "uneven"] {
            let config = Config { world, remainder: remainder.into(), ..base("feistel", samples) };
            cases.push(case(config, [Call::NumPositions]));
        }
    }
    // Two rules broken at once: the first one decides.
    let wrong = Config { seed: S64(i64::MAX), rank: 9, world: 0, ..base("?", u64::MAX) };
    for (order, samples, world) in [
        ("?", u64::MAX, 0),
        ("dotnet", u64::MAX, 0),
        ("dotnet", 9, 0),
        ("dotnet", 1 << 31, 3),
        ("feistel", u64::MAX, 0),
        ("feistel", MAX_EXACT, 0),
        ("feistel", MAX_EXACT, 2),
        ("feistel", 5, 0),
        ("torch", 1 << 32, 0),
    ] {
        cases.push(case(Config { order: order.into(), samples: U64(samples), world, ..wrong.clone() }, none()));
    }
    let calls = [
        Call::Indices32 { start: U64(0), count: (1 << 20) + 1 },
        Call::Indices32 { start: U64(u64::MAX), count: 1 },
        Call::Batch32 { batch: U64(0), batch_size: (1 << 20) + 1, drop_last: false },
        Call::Batch32 { batch: U64(u64::MAX), batch_size: 1, drop_last: false },
        Call::Batch32 { batch: U64(0), batch_size: 0, drop_last: false },
        Call::Indices32 { start: U64(0), count: 1 },
    ];
    cases.push(case(base("feistel", MAX_EXACT), calls));
    // Every call that can fail, in an empty epoch and in a small one; the sampler works on afterwards.
    for samples in [0, 10] {
        let mut calls = Vec::new();
        for batch_size in [0, 1] {
            calls.push(Call::NumBatches { batch_size, drop_last: false });
            calls.push(Call::Batch { batch: U64(0), batch_size, drop_last: false });
            calls.push(Call::Batch { batch: U64(u64::MAX), batch_size, drop_last: true });
            calls.push(Call::Batch32 { batch: U64(samples), batch_size, drop_last: true });
            for at in [0, samples, u64::MAX] {
                calls.push(Call::Locate { sample: U64(at), batch_size: Some(batch_size) });
                calls.push(Call::PlaceOf { position: U64(at), batch_size });
                calls.push(fate(at, batch_size, 0));
                calls.push(fate(0, batch_size, at));
                calls.push(step(at, batch_size, false, (0, 1)));
                calls.push(Call::LocateAll { samples: numbers(&[0, at]), batch_size });
                calls.push(Call::SampleAt { position: U64(at) });
            }
        }
        for (first, count) in [(0, 2), (1, 0), (1, 1), (u32::MAX, u32::MAX)] {
            calls.push(step(0, 2, false, (first, count)));
        }
        calls.extend([Call::AtRank { rank: 1 }, indices(0, samples as u32)]);
        cases.push(case(base("feistel", samples), calls));
    }
    let too_wide = Call::Batch { batch: U64(0), batch_size: (1 << 20) + 1, drop_last: false };
    cases.push(case(base("feistel", 3_000_000), [too_wide, indices(0, 3)]));
    cases
}
