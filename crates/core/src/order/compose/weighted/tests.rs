//! The order `weighted` against its definition: the tests go through every small order, and to both ends of large ones.

use alloc::collections::BTreeSet;
use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::{Weighted, floor_sum};
use crate::base::MAX_EXACT;
use crate::base::key::Words;
use crate::order::{Composed, Feistel};

fn epoch(order: &Rc<Weighted>, number: u64) -> Vec<u64> {
    let epoch = Rc::clone(order).at(number).unwrap();
    let samples: Vec<u64> = (0..order.length).map(|position| epoch.sample(position).unwrap()).collect();
    let mut mapped: Vec<u64> = (0..order.length).collect();
    epoch.map(&mut mapped).unwrap();
    assert_eq!(mapped, samples);
    samples
}

/// The certain samples, taken one by one, the largest first: whether each sample is certain.
fn certain(weights: &[u64], samples: u64) -> Vec<bool> {
    let mut sure = vec![false; weights.len()];
    for left in (1..=samples).rev() {
        let others = || (0..weights.len()).filter(|&sample| !sure[sample]);
        let rest: u64 = others().map(|sample| weights[sample]).sum();
        let Some(largest) = others().max_by_key(|&sample| weights[sample]) else { break };
        if left * weights[largest] <= rest {
            break;
        }
        sure[largest] = true;
    }
    sure
}

/// The draws of an epoch by the definition in SPEC.md: the sample of each draw.
fn draws(weights: &[u64], samples: u64, sure: &[bool], seed: i64, epoch: u64) -> Vec<u64> {
    let mut words = Words::new("weighted phase", seed, 0, 0);
    let [low, high] = [words.next(), words.next()].map(u64::from);
    let sigma = Feistel::from_words(weights.len() as u64, &mut Words::new("weighted order", seed, 0, 0));
    let different: BTreeSet<u64> = weights.iter().copied().collect();
    let rho = Feistel::from_words(different.len() as u64, &mut Words::new("weighted classes", seed, 0, 0));
    let class = |sample: usize| different.range(..weights[sample]).count() as u64;
    let mut line: Vec<usize> = (0..weights.len()).collect();
    line.sort_by_key(|&sample| (rho.position(class(sample)), sigma.position(sample as u64)));
    let mut draws: Vec<u64> = line.iter().filter(|&&sample| sure[sample]).map(|&sample| sample as u64).collect();
    let others: Vec<usize> = line.into_iter().filter(|&sample| !sure[sample]).collect();
    let total: u128 = others.iter().map(|&sample| u128::from(weights[sample])).sum();
    let bits = (low + (high << 32)).wrapping_add(epoch.wrapping_mul(11_400_714_819_323_198_485));
    let phase = (total * u128::from(bits)) >> 64;
    let count = u128::from(samples) - draws.len() as u128;
    for draw in 0..count {
        let mut point = (draw * total + phase) / count;
        let own = others.iter().find(|&&sample| {
            let weight = u128::from(weights[sample]);
            point < weight || {
                point -= weight;
                false
            }
        });
        draws.push(*own.unwrap() as u64);
    }
    draws
}

/// Checks four epochs of an order against the definition, its inverse, and what it says about earlier epochs.
fn check(weights: &[u64], samples: u64, replacement: bool, seed: i64) {
    let order = Rc::new(Weighted::new(weights, samples, replacement, seed).unwrap());
    let sure = if replacement { vec![false; weights.len()] } else { certain(weights, samples) };
    let taken = sure.iter().filter(|&&sure| sure).count() as u64;
    let total: u64 = weights.iter().zip(&sure).filter(|(_, sure)| !**sure).map(|(weight, _)| weight).sum();
    let mut found = vec![Vec::new(); weights.len()];
    let mut later = vec![0; weights.len()];
    for number in 0..4 {
        let all = epoch(&order, number);
        let pi = Feistel::from_words(samples, &mut Words::new("weighted", seed, number, 0));
        let draws = draws(weights, samples, &sure, seed, number);
        let expected: Vec<u64> = (0..samples).map(|position| draws[pi.sample(position) as usize]).collect();
        assert_eq!(all, expected, "{weights:?} {samples} {replacement} {seed}");
        let inverse = Rc::clone(&order).at(number).unwrap();
        for (sample, found) in found.iter_mut().enumerate() {
            let before = found.len() as u64;
            let here: Vec<u64> = (0..samples).filter(|&position| all[position as usize] == sample as u64).collect();
            let (count, shares) = (here.len() as u64, (samples - taken) * weights[sample]);
            if sure[sample] {
                assert_eq!(count, 1);
            } else {
                assert!((shares / total..=shares.div_ceil(total)).contains(&count), "{weights:?} {samples}");
                assert!(replacement || count <= 1);
            }
            for position in 0..=samples {
                let next = here.iter().copied().find(|&own| own >= position);
                assert_eq!(inverse.next(sample as u64, position).unwrap(), next);
                let seen = before + here.iter().filter(|&&own| own < position).count() as u64;
                assert_eq!(order.seen(sample as u64, number, position).unwrap(), seen);
            }
            found.extend(here.into_iter().map(|position| (number, position)));
        }
    }
    for (sample, found) in found.iter().enumerate() {
        let (begin, end) = order.span(sample as u64);
        assert_eq!(end - begin, weights[sample]);
        for (number, &place) in (0..).zip(found) {
            assert_eq!(order.occurrence(sample as u64, number).unwrap(), Some(place));
        }
        later[sample] = order.seen(sample as u64, 4, 0).unwrap();
        assert_eq!(later[sample], found.len() as u64);
        let next = order.occurrence(sample as u64, later[sample]).unwrap();
        assert_eq!(next.is_some(), weights[sample] > 0 && samples > 0);
        assert!(next.is_none_or(|(number, _)| number >= 4));
    }
    assert_eq!(later.iter().sum::<u64>(), 4 * samples);
}

#[test]
fn small_orders_are_as_defined() {
    for count in 1..=4_u32 {
        for code in 1..4_u64.pow(count) {
            let weights: Vec<u64> = (0..count).map(|sample| code / 4_u64.pow(sample) % 4).collect();
            let some = weights.iter().filter(|&&weight| weight > 0).count() as u64;
            for samples in 0..=6 {
                check(&weights, samples, true, code as i64);
                if samples <= some {
                    check(&weights, samples, false, code as i64);
                } else {
                    assert_eq!(Weighted::new(&weights, samples, false, 0).err().unwrap().field, "samples");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_order_is_as_defined(
        weights in prop::collection::vec(prop_oneof![0_u64..5, 1_u64..1_000, 1_u64..(1 << 45)], 1..60),
        samples in 0_u64..90, replacement in any::<bool>(), seed in any::<i64>(),
    ) {
        let some = weights.iter().filter(|&&weight| weight > 0).count() as u64;
        prop_assume!(some > 0);
        check(&weights, if replacement { samples } else { samples.min(some) }, replacement, seed);
    }

    /// The draws of an epoch, and the numbers of draws in all epochs before it. The sum of the weights and the number
    /// of draws go up to 2^53 - 1.
    #[test]
    fn large_orders_are_as_defined(
        mut weights in prop::collection::vec(0_u64..(1 << 53), 1..40), bits in 0_u32..54, part in 0_u64..(1 << 53), seed in any::<i64>(),
    ) {
        let all: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
        prop_assume!(all > 0);
        // The weights add up to 2^53 - 1.
        weights.iter_mut().for_each(|weight| *weight = (u128::from(*weight) * u128::from(MAX_EXACT) / all) as u64);
        weights[0] += MAX_EXACT - weights.iter().sum::<u64>();
        let length = MAX_EXACT >> bits.min(52);
        let order = Rc::new(Weighted::new(&weights, length, true, seed).unwrap());
        let last = MAX_EXACT / length - 1;
        for number in [0, 1, last / 2, last] {
            let here = Rc::clone(&order).at(number).unwrap();
            let mut sum = 0;
            for sample in 0..weights.len() as u64 {
                let (first, end) = order.draws(sample, number);
                prop_assert_eq!(order.draws_of_all(sample, number) + end - first, order.draws_of_all(sample, number + 1));
                sum += order.draws_of_all(sample, number);
                for draw in [first, first + part % (end - first).max(1), end.max(1) - 1] {
                    if first <= draw && draw < end {
                        let position = order.shuffle(number).position(draw);
                        prop_assert_eq!(here.sample(position).unwrap(), sample);
                    }
                }
            }
            prop_assert_eq!(sum, number * length);
        }
    }

    #[test]
    fn sums_of_quotients_are_exact(count in 0_u128..60, modulus in 1_u128..50, step in 0_u128..200, offset in 0_u128..200) {
        let sum = (0..count).map(|number| (offset + number * step) / modulus).sum::<u128>();
        prop_assert_eq!(floor_sum(count, modulus, step, offset), sum);
    }
}

/// Over many epochs, the number of draws of a sample stays near its share, whatever the sum of the weights is.
#[test]
fn shares_are_kept_over_epochs() {
    let weights: Vec<u64> = (0..100).map(|sample| 1 + sample * sample % 37).collect();
    for (factor, more) in [(1, 0), (1, 5), (7, 3), (1 << 40, 11)] {
        let weights: Vec<u64> = weights.iter().map(|weight| weight * factor + more).collect();
        let total: u64 = weights.iter().sum();
        let order = Weighted::new(&weights, 30, true, 4).unwrap();
        for epochs in (1..2_000).chain([99_999, 594_162, 948_803, 1_000_000]) {
            for sample in [0, 17, 50, 99] {
                let share = epochs as f64 * 30.0 * weights[sample as usize] as f64 / total as f64;
                let off = order.draws_of_all(sample, epochs) as f64 - share;
                assert!(off.abs() < 7.0, "{off} after {epochs} epochs");
            }
        }
    }
}

/// Neighbours in the dataset come together in an epoch as often as any two samples: with equal weights, and a seventh
/// of the samples in an epoch.
#[test]
fn neighbours_do_not_exclude_each_other() {
    let (samples, length) = (2_100, 300);
    let mut pairs = 0_u32;
    for seed in 0..40 {
        let order = Rc::new(Weighted::new(&vec![3; samples], length, true, seed).unwrap());
        let mut here = vec![false; samples];
        epoch(&order, 2).into_iter().for_each(|sample| here[sample as usize] = true);
        pairs += here.windows(2).map(|pair| u32::from(pair[0] && pair[1])).sum::<u32>();
    }
    // 40 * 2099 pairs, each with a chance of 300 / 2100 * 299 / 2099: 1,709 are expected, with a deviation of about 39.
    assert!((1_520..1_900).contains(&pairs), "{pairs} pairs of neighbours");
}

/// The samples of one weight together get their share of every epoch, to within one.
#[test]
fn samples_of_one_weight_get_their_share_together() {
    let weights: Vec<u64> = (0..900).map(|sample| [2, 3, 11][sample % 3]).collect();
    for (seed, replacement) in [(0, true), (1, true), (2, false), (3, false)] {
        let order = Rc::new(Weighted::new(&weights, 160, replacement, seed).unwrap());
        for number in 0..50 {
            let all = epoch(&order, number);
            for class in 0..3 {
                let here = all.iter().filter(|&&sample| sample % 3 == class).count() as f64;
                let share = 160.0 * [2.0, 3.0, 11.0][class as usize] / 16.0;
                assert!((here - share).abs() < 1.0, "{here} for {share}");
            }
        }
    }
}

/// Without replacement, a sample comes in proportion to its weight, or surely.
#[test]
fn chances_without_replacement_are_shares() {
    let weights = [400, 9, 3, 90, 0, 30, 30, 30, 12, 1];
    let order = Rc::new(Weighted::new(&weights, 5, false, 6).unwrap());
    // The largest two are certain: 5 * 400 > 605, 4 * 90 > 205, but 3 * 30 <= 115.
    let epochs = 100_000;
    for (sample, &weight) in (0..).zip(&weights) {
        let share = if weight > 30 { 1.0 } else { 3.0 * weight as f64 / 115.0 };
        let seen = order.draws_of_all(sample, epochs) as f64 / epochs as f64;
        assert!((seen - share).abs() < 1e-4, "{seen} for {share}");
    }
}
