//! Patterns: every item comes once and within the capacity, bounds hold, and few bins are used.

use proptest::prelude::*;
use samedeal_core::Kind;
use samedeal_core::batch::{BatchConfig, Batcher, Class, Counting, Packing, Patterns, Strategy, histogram};

const METHODS: [Packing; 2] = [Packing::Fast, Packing::Optimal];

/// A random generator of the tests, so that sizes do not depend on the code under test.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 11
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn uniform(&mut self) -> f64 {
        (self.next() as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Sizes from 1 to `most`, log-normal with this mean and standard deviation before they are cut.
fn log_normal(seed: u64, count: usize, mean: f64, deviation: f64, most: u32) -> Vec<u32> {
    let mut noise = Noise(seed);
    let variance = (1.0 + (deviation / mean).powi(2)).ln();
    let sizes = std::iter::repeat_with(|| {
        let size = (mean.ln() - variance / 2.0 + variance.sqrt() * noise.normal()).exp();
        (size.round() as u32).clamp(1, most)
    });
    sizes.take(count).collect()
}

/// Sizes, half of them near a half of the capacity, and half near a third.
fn dense(distinct: u64, count: usize, capacity: u64) -> Vec<u64> {
    let mut noise = Noise(distinct);
    let sizes: Vec<u64> =
        (0..distinct).map(|place| capacity / (2 + place % 2) - capacity / 16 + noise.below(capacity / 8)).collect();
    (0..count).map(|_| sizes[noise.below(distinct) as usize]).collect()
}

/// Makes patterns, and checks that they are a packing.
fn pack(classes: &[Class], capacity: u64, slots: u32, method: Packing) -> Patterns {
    let packing = Patterns::new(classes, capacity, slots, method).unwrap();
    let mut counts = vec![0_u64; classes.len()];
    let (mut bins, mut fullest) = (0, 0);
    for pattern in packing.patterns() {
        assert!(pattern.bins > 0 && pattern.free >= fullest, "the fullest first");
        fullest = pattern.free;
        bins += u64::from(pattern.bins);
        let (mut used, mut items) = (0, 0);
        for (class, each) in pattern.content() {
            assert!(each > 0);
            counts[class as usize] += u64::from(each) * u64::from(pattern.bins);
            used += u128::from(classes[class as usize].size) * u128::from(each);
            items += u64::from(each);
        }
        assert!(items > 0 && (items <= u64::from(slots) || slots == u32::MAX));
        assert_eq!(used + u128::from(pattern.free), u128::from(capacity));
    }
    assert_eq!(bins, packing.count());
    assert!(counts.iter().zip(classes).all(|(&count, class)| count == u64::from(class.count)), "every item once");
    assert!(packing.bound() <= packing.count());
    packing
}

/// Packs a list of sizes by both methods. Returns the number of bins and the bound of each.
fn both<T: Copy + Into<u64>>(name: &str, sizes: &[T], capacity: u64) -> [(u64, u64); 2] {
    let classes = histogram(sizes).unwrap();
    METHODS.map(|method| {
        let packing = pack(&classes, capacity, u32::MAX, method);
        println!("{name}, {} classes, {method:?}: {} bins of {}", classes.len(), packing.count(), packing.bound());
        (packing.count(), packing.bound())
    })
}

#[test]
fn log_normals_reach_what_their_tokens_need() {
    for seed in 1..6 {
        for (count, most) in [(8_192, 2_048), (100_000, 2_048), (100_000, 8_192)] {
            let sizes = log_normal(seed, count, 600.0, 700.0, most);
            let [fast, optimal] = both(&format!("log-normal {count} {most}"), &sizes, most.into());
            let tokens = sizes.iter().map(|&size| u64::from(size)).sum::<u64>();
            assert!(fast.0 <= fast.1 + 2);
            assert_eq!(optimal.0, optimal.1);
            assert!(tokens * 100_000 >= fast.0 * u64::from(most) * 99_985 || count < 100_000);
        }
    }
    let sizes = log_normal(7, 1_000_000, 600.0, 700.0, 2_048);
    let [fast, optimal] = both("log-normal 1,000,000", &sizes, 2_048);
    assert!(fast.0 * 10_000 <= fast.1 * 10_001);
    assert_eq!(optimal.0, optimal.1);
}

#[test]
fn few_sizes_near_a_half_and_a_third_are_packed_as_well_as_possible() {
    for distinct in [2, 5, 10, 20, 50, 100, 200] {
        for count in [8_192, 50_000] {
            for capacity in [2_048, 8_192] {
                let [_, (bins, bound)] = both("dense", &dense(distinct, count, capacity), capacity);
                assert!((bins - bound) * 2_000 <= bound, "{distinct} {count} {capacity}: {bins} of {bound}");
            }
        }
    }
    let [_, (bins, bound)] = both("dense", &dense(50, 100_000, 131_072), 131_072);
    assert!((bins - bound) * 2_000 <= bound);
}

#[test]
fn best_fit_is_beaten_where_it_wastes() {
    // Best are two items of a little over a third, with a small one. Best-fit decreasing puts other items together, and
    // wastes space.
    let mut noise = Noise(5);
    for (from, to, capacity) in [(500, 1_000, 2_048), (600, 1_100, 2_048)] {
        let sizes: Vec<u64> = (0..50_000).map(|_| from + noise.below(to - from)).collect();
        let [fast, optimal] = both(&format!("{from} to {to}"), &sizes, capacity);
        assert!(optimal.0 * 100 < fast.0 * 98);
        assert!((optimal.0 - optimal.1) * 2_000 <= optimal.1);
    }
    // More sizes than rows of the simplex.
    let sizes: Vec<u64> = (0..50_000).map(|_| 500 + noise.below(600)).collect();
    let [fast, optimal] = both("500 to 1,100", &sizes, 2_048);
    assert!(optimal.0 * 100 < fast.0 * 97);
    assert!((optimal.0 - optimal.1) * 100 <= optimal.1);
}

#[test]
fn rounding_of_large_capacities_stays_on_the_safe_side() {
    let mut noise = Noise(6);
    for capacity in [1 << 20, (1 << 32) - 1, 1 << 50, u64::MAX] {
        let sizes: Vec<u64> = (0..3_000).map(|_| 1 + noise.below(capacity / 3)).collect();
        let [fast, optimal] = both("large", &sizes, capacity);
        assert!(optimal.0 <= fast.0);
    }
    let sizes: Vec<u64> = (0..3_000).map(|_| u64::MAX / 3 + noise.below(1 << 60)).collect();
    both("largest", &sizes, u64::MAX);
}

#[test]
fn hostile() {
    let class = |size, count| Class { size, count };
    for method in METHODS {
        let count = |classes: &[Class], capacity, slots| pack(classes, capacity, slots, method).count();
        assert_eq!(count(&[], 0, 1), 0);
        assert_eq!(count(&[class(0, 5)], 0, u32::MAX), 1);
        assert_eq!(count(&[class(0, 5)], 0, 2), 3);
        assert_eq!(count(&[class(0, 0)], 7, 2), 0);
        assert_eq!(count(&[class(1, 5)], 1, u32::MAX), 5);
        assert_eq!(count(&[class(1, 5), class(0, u32::MAX)], 1, u32::MAX), 5);
        assert_eq!(count(&[class(9, 3), class(1, 3), class(0, 9)], 10, 3), 5);
        assert_eq!(count(&[class(u64::MAX, 2)], u64::MAX, 1), 2);
        assert_eq!(count(&[class(1, 1)], u64::MAX, u32::MAX), 1);
        assert_eq!(count(&[class(1, u32::MAX)], u64::MAX, u32::MAX), 1);
        assert_eq!(count(&[class(1, u32::MAX)], u64::MAX, 1), u64::from(u32::MAX));
        let huge = [class(7, u32::MAX), class(5, u32::MAX), class(3, u32::MAX)];
        let bins = count(&huge, 15, u32::MAX);
        assert!(bins == u64::from(u32::MAX) || method == Packing::Fast && bins > u64::from(u32::MAX));
        let huge = [class(8, u32::MAX), class(5, u32::MAX), class(3, u32::MAX), class(0, u32::MAX)];
        assert!(count(&huge, 15, u32::MAX) > u64::from(u32::MAX));
        let many: Vec<Class> = (1..=300).rev().map(|size| class(size * 3 + 100, u32::MAX)).collect();
        count(&many, 2_049, u32::MAX);
        let many: Vec<Class> = (0..20_000).map(|size| class((1 << 40) - size * 7_919, 3)).collect();
        count(&many, (1 << 42) + 12_345, u32::MAX);

        let failure = |classes: &[Class], capacity, slots| {
            let failure = Patterns::new(classes, capacity, slots, method).err().unwrap();
            (failure.kind, failure.field)
        };
        assert_eq!(failure(&[class(2, 1)], 1, 1), (Kind::OutOfRange, "capacity"));
        assert_eq!(failure(&[class(2, 1)], 2, 0), (Kind::OutOfRange, "slots"));
        assert_eq!(failure(&[class(2, 1), class(2, 1)], 2, 1), (Kind::Contradiction, "classes"));
    }
}

#[test]
fn rows_of_a_step_are_divided_evenly() {
    for (world, rows) in [(2, 8), (8, 4), (8, 32), (64, 4)] {
        let plan = Batcher::of(BatchConfig {
            world_size: world,
            max_batch_size: rows,
            window: Some(u32::MAX),
            capacity: 8_192,
            counting: Counting::Weighted { linear: 4_096, quadratic: 1 },
            ..BatchConfig::new(log_normal(3, 100_000, 600.0, 700.0, 8_192), Strategy::Pack)
        })
        .unwrap();
        let metrics = plan.metrics().unwrap();
        // The last step is short.
        let over = u128::from(world) * u128::from(metrics.slowest_cost) * 10_000 / u128::from(metrics.cost);
        println!("{rows} rows of {world} ranks: {over}, {} steps", metrics.steps);
        assert!(over < 10_200);
    }
}

/// The fewest bins that hold the sizes, by trying everything.
fn fewest(sizes: &[u64], capacity: u64) -> u64 {
    // For every subset, the number of bins, and the space that is used in the last one.
    let mut best = vec![(u64::MAX, 0); 1 << sizes.len()];
    best[0] = (0, capacity + 1);
    for set in 0..best.len() {
        for (item, &size) in sizes.iter().enumerate().filter(|(item, _)| set >> item & 1 == 0) {
            let (bins, used) = best[set];
            let next = if used + size <= capacity { (bins, used + size) } else { (bins + 1, size) };
            let with = &mut best[set | 1 << item];
            *with = next.min(*with);
        }
    }
    best[best.len() - 1].0
}

/// How many bins an item-by-item best-fit decreasing uses.
fn best_fit(sizes: &[u64], capacity: u64) -> u64 {
    let mut sizes = sizes.to_vec();
    sizes.sort_unstable();
    let mut free: Vec<u64> = Vec::new();
    for &size in sizes.iter().rev() {
        match free.iter_mut().filter(|free| **free >= size).min() {
            Some(free) => *free -= size,
            None => free.push(capacity - size),
        }
    }
    free.len() as u64
}

proptest! {
    #[test]
    fn no_bound_is_above_what_is_possible(
        sizes in prop::collection::vec(0_u64..=30, 1..10),
        capacity in 30_u64..80,
    ) {
        let classes = histogram(&sizes).unwrap();
        let fewest = fewest(&sizes, capacity);
        for method in METHODS {
            let packing = pack(&classes, capacity, u32::MAX, method);
            prop_assert!(packing.bound() <= fewest && fewest <= packing.count());
        }
    }

    #[test]
    fn no_bound_is_above_a_known_packing(
        cuts in prop::collection::vec(prop::collection::vec(1_u64..1_000, 1..5), 1..200),
        copies in 1_usize..30,
    ) {
        // The parts of one list of cuts fill one bin. So one bin for each copy of each list holds all parts.
        let mut sizes = Vec::new();
        for cut in &cuts {
            let mut cut = cut.clone();
            cut.sort_unstable();
            let ends = cut.iter().copied().chain([1_000]);
            sizes.extend(ends.scan(0, |start, end| Some(end - std::mem::replace(start, end))).cycle().take(copies * (cut.len() + 1)));
        }
        let classes = histogram(&sizes).unwrap();
        for method in METHODS {
            let packing = pack(&classes, 1_000, u32::MAX, method);
            prop_assert!(packing.bound() <= (cuts.len() * copies) as u64);
        }
    }

    #[test]
    fn every_item_once_and_never_worse_than_best_fit(
        sizes in prop::collection::vec(prop_oneof![0_u64..=300, 95_u64..=105, Just(151)], 0..400),
        capacity in 300_u64..400,
        slots in prop_oneof![Just(u32::MAX), 1_u32..8],
    ) {
        let classes = histogram(&sizes).unwrap();
        let [fast, optimal] = METHODS.map(|method| pack(&classes, capacity, slots, method).count());
        prop_assert!(optimal <= fast);
        if slots == u32::MAX {
            prop_assert!(fast <= best_fit(&sizes, capacity));
        }
    }

    #[test]
    fn histograms(sizes in prop::collection::vec(prop_oneof![0_u64..50, any::<u64>()], 0..200), small in any::<bool>()) {
        let sizes: Vec<u64> = sizes.iter().map(|&size| if small { size % 1_000 } else { size }).collect();
        let mut counts = std::collections::BTreeMap::new();
        sizes.iter().for_each(|&size| *counts.entry(size).or_insert(0) += 1);
        let classes: Vec<Class> = counts.iter().rev().map(|(&size, &count)| Class { size, count }).collect();
        prop_assert_eq!(histogram(&sizes).unwrap(), classes);
    }
}
