//! Every order is a bijection, and its inverse is one.

use samedeal_core::{MAX_EXACT, Order, OrderId};

/// Checks that an order has every sample once, read in strides as ranks read it (with `stride` 1 in one run).
fn assert_bijection(id: OrderId, samples: u64, stride: u64) {
    let order = Order::new(id, samples, 1, 2).unwrap();
    let mut seen = vec![false; samples as usize];
    let mut run = vec![0_u32; samples.div_ceil(stride) as usize];
    for start in 0..stride.min(samples) {
        let run = &mut run[..(samples - start).div_ceil(stride) as usize];
        order.fill(start, stride, run).unwrap();
        for sample in run {
            assert!(!std::mem::replace(&mut seen[*sample as usize], true), "{id:?} {samples}: {sample} twice");
        }
    }
    assert!(seen.into_iter().all(|seen| seen), "{id:?} {samples}");
}

#[test]
fn every_small_number_of_samples() {
    for samples in 0..=4_096 {
        for id in OrderId::ALL {
            // Orders with tables are slow to build, and their loops do not depend on the number of samples: fewer
            // numbers are enough.
            if matches!(id, OrderId::Feistel | OrderId::Sequential) || samples < 300 {
                assert_bijection(id, samples, 1);
            }
        }
        let feistel = Order::new(OrderId::Feistel, samples, -5, samples).unwrap();
        for position in 0..samples {
            assert_eq!(feistel.next(feistel.sample(position).unwrap(), 0), Ok(Some(position)), "{samples} samples");
        }
    }
}

#[test]
fn around_every_power_of_two() {
    for bits in 8..=24 {
        for samples in [(1 << bits) - 1, 1 << bits, (1 << bits) + 1] {
            assert_bijection(OrderId::Feistel, samples, 1);
            assert_bijection(OrderId::Feistel, samples, 7);
        }
    }
}

#[test]
fn squares_and_their_neighbours() {
    for root in [17_u64, 100, 1_000, 2_047] {
        for samples in [root * root - 1, root * root, root * root + 1, root * (root + 1), root * (root + 1) + 1] {
            assert_bijection(OrderId::Feistel, samples, 3);
        }
    }
}

#[test]
fn the_inverse_at_random_points_up_to_the_end() {
    let mut state = 1_u64;
    for round in 0..200_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Sizes of 9 to 53 bits, of each as many.
        let samples = (state >> 11 >> (round % 45)).max(1);
        let order = Order::new(OrderId::Feistel, samples, state as i64, round).unwrap();
        for position in [0, samples - 1, state % samples, (state >> 7) % samples] {
            let sample = order.sample(position).unwrap();
            assert!(sample < samples);
            assert_eq!(order.next(sample, 0), Ok(Some(position)), "{samples} samples");
        }
    }
    for samples in [MAX_EXACT, MAX_EXACT - 1, 1 << 52, (1 << 52) + 1] {
        let order = Order::new(OrderId::Feistel, samples, 0, 0).unwrap();
        for position in (0..1_000).chain(samples - 1_000..samples) {
            assert_eq!(order.next(order.sample(position).unwrap(), 0), Ok(Some(position)));
        }
    }
}

/// A run, which is computed many positions at a time, has the same samples as its positions one by one.
#[test]
fn runs_hold_the_samples_of_their_positions() {
    let mut state = 7_u64;
    for round in 0..20_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let samples = (state >> 11 >> (round % 45)).max(1);
        let order = Order::new(OrderId::Feistel, samples, state as i64, round).unwrap();
        let stride = 1 + (state >> 32) % (samples / 70 + 1).min(u64::from(u32::MAX));
        let start = state % samples;
        let mut run = vec![0_u64; ((samples - start).div_ceil(stride)).min(70) as usize];
        order.fill(start, stride, &mut run).unwrap();
        let one_by_one: Vec<_> = (0..run.len() as u64).map(|i| order.sample(start + i * stride).unwrap()).collect();
        assert_eq!(run, one_by_one, "{samples} samples from {start} by {stride}");
    }
}
