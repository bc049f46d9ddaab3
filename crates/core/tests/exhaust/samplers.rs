//! Samplers: every sample comes exactly once over all ranks, unless the remainder says otherwise, after any history.

use samedeal_core::{Config, Layout, Remainder, Sampler};

const LAYOUTS: [Layout; 3] = [Layout::Strided, Layout::Contiguous, Layout::Rotated];
const REMAINDERS: [Remainder; 3] = [Remainder::Drop, Remainder::Pad, Remainder::Uneven];

/// The samples of all ranks together, sorted, and the number of samples of each rank.
fn all_of(config: Config) -> Option<(Vec<u64>, Vec<u64>)> {
    let (mut samples, mut counts) = (Vec::new(), Vec::new());
    for rank in 0..config.world_size {
        let sampler = Sampler::new(Config { rank, ..config }).ok()?;
        let count = sampler.num_samples();
        let own = sampler.indices::<u64>(0, count as u32).unwrap();
        for (at, &sample) in (0_u64..).zip(&own) {
            let place = sampler.locate(sample, 1).unwrap();
            assert!(place.is_some_and(|place| place.rank != rank || place.batch <= at), "{config:?}");
        }
        samples.extend(own);
        counts.push(count);
    }
    samples.sort_unstable();
    Some((samples, counts))
}

fn check(config: Config, before: &[u64]) {
    let Some((samples, counts)) = all_of(config) else { return };
    let unit = u64::from(config.unit);
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    let left = config.samples - before.len() as u64;
    let mut own = samples.clone();
    own.dedup();
    assert!(own.iter().all(|sample| !before.contains(sample)) || config.remainder == Remainder::Pad, "{config:?}");
    match config.remainder {
        Remainder::Drop => {
            assert_eq!((least, own.len()), (most, samples.len()), "{config:?}");
            assert!(left - samples.len() as u64 <= u64::from(config.world_size) * unit, "{config:?}");
        }
        Remainder::Pad => {
            assert_eq!(least, most, "{config:?}");
            let new = own.iter().filter(|sample| !before.contains(sample)).count() as u64;
            assert_eq!(new, left, "{config:?}");
        }
        Remainder::Uneven => {
            // Ranks differ by one unit, and the last unit may be shorter.
            assert!(most - least < 2 * unit, "{config:?}");
            assert_eq!((own.len(), samples.len() as u64), (samples.len(), left), "{config:?}");
        }
    }
}

fn every(samples: u64, worlds: u32) {
    let mut cases = 0;
    for count in 0..=samples {
        for (layout, remainder) in LAYOUTS.into_iter().flat_map(|layout| REMAINDERS.map(|rest| (layout, rest))) {
            for (world_size, unit) in (1..=worlds).flat_map(|world| (1..=4).map(move |unit| (world, unit))) {
                for epoch in [0, 1] {
                    let config = Config { seed: 3, epoch, layout, remainder, world_size, unit, ..Config::new(count) };
                    check(config, &[]);
                    cases += 1;
                    let Ok(first) = Sampler::new(config) else { continue };
                    // Then another world size continues.
                    for taken in 0..=first.num_samples() {
                        let Ok(state) = first.state(taken) else { continue };
                        let order = Sampler::new(Config { seed: 3, epoch, ..Config::new(count) }).unwrap();
                        let order = order.indices::<u64>(0, count as u32).unwrap();
                        for next in 1..=worlds {
                            let later = Config { world_size: next, ..config };
                            let Ok(rest) = Sampler::new(later).and_then(|rest| rest.resume(&state)) else { continue };
                            let consumed = rest.config().consumed;
                            check(Config { consumed, ..later }, &order[..consumed as usize]);
                            cases += 1;
                        }
                    }
                }
            }
        }
    }
    println!("{cases} deals of up to {samples} samples to up to {worlds} ranks");
}

#[test]
fn a_few() {
    every(5, 3);
}

#[test]
#[ignore = "minutes: cargo xtask exhaust"]
fn up_to_twelve() {
    every(12, 6);
}
