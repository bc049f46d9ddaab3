//! Properties that hold for every configuration, whatever its numbers.

use std::collections::HashMap;

use proptest::prelude::*;
use samedeal_core::{Config, Layout, MAX_COUNT, MAX_EXACT, OrderId, Remainder, Sampler};

fn remainder() -> impl Strategy<Value = Remainder> {
    prop_oneof![Just(Remainder::Drop), Just(Remainder::Pad), Just(Remainder::Uneven)]
}

fn layout() -> impl Strategy<Value = Layout> {
    prop_oneof![Just(Layout::Strided), Just(Layout::Contiguous), Just(Layout::Rotated)]
}

fn unit() -> impl Strategy<Value = u32> {
    prop_oneof![3 => Just(1), 3 => 2_u32..30, 1 => 30_u32..900]
}

fn order() -> impl Strategy<Value = OrderId> {
    proptest::sample::select(OrderId::ALL.to_vec())
}

prop_compose! {
    /// A configuration with few samples, so that a test can go through all of them.
    fn small()(
        samples in 0_u64..700, seed in any::<i32>(), epoch in any::<u64>(), order in order(), world_size in 1_u32..40,
        remainder in remainder(), layout in layout(), unit in unit(),
    ) -> Config {
        Config { samples, seed: seed.into(), epoch, order, rank: 0, world_size, remainder, layout, unit, consumed: 0 }
    }
}

prop_compose! {
    /// A configuration with any numbers.
    fn any_config()(
        samples in prop_oneof![any::<u64>(), 0..=MAX_EXACT, 0_u64..100, 250_u64..2_000], seed in any::<i64>(), epoch in any::<u64>(),
        rank in prop_oneof![any::<u32>(), 0_u32..10], world_size in prop_oneof![any::<u32>(), 0_u32..10],
        remainder in remainder(), layout in layout(), unit in prop_oneof![unit(), any::<u32>()], order in order(),
    ) -> Config {
        // A table of very many samples would not fit into memory.
        let random_access = samples < 5_000 || matches!(order, OrderId::Feistel | OrderId::Sequential);
        let order = if random_access { order } else { OrderId::Feistel };
        Config { samples, seed, epoch, order, rank, world_size, remainder, layout, unit, consumed: 0 }
    }
}

#[test]
#[cfg(feature = "composed")]
fn a_fate_with_the_most_positions_is_complete() {
    for (copies, complete) in [(65_535, true), (65_536, true), (65_537, false)] {
        let text = format!(r#"{{"order":{{"name":"copies","copies":{copies},"of":{{"samples":2}}}}}}"#);
        let sampler = Sampler::from_recipe(&samedeal_core::Recipe::read(&text, &[]).unwrap(), 0, 0).unwrap();
        let fate = sampler.fate(1, 8, 0).unwrap();
        assert_eq!((fate.places.len(), fate.complete), (copies.min(65_536), complete));
    }
}

fn all(sampler: &Sampler) -> Vec<u64> {
    sampler.indices(0, sampler.num_samples() as u32).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn every_sample_once_but_for_the_counted_exceptions(config in small()) {
        let whole = Sampler::new(config).unwrap();
        let (mut seen, mut padding, mut total) = (HashMap::<u64, u64>::new(), 0, 0);
        let mut shares = Vec::new();
        for rank in 0..config.world_size {
            let sampler = whole.at_rank(rank).unwrap();
            let share = all(&sampler);
            for sample in &share {
                prop_assert!(*sample < config.samples);
                *seen.entry(*sample).or_default() += 1;
            }
            padding += sampler.deal().num_padding();
            total += share.len() as u64;
            shares.push(share.len());
        }
        let repeated: u64 = seen.values().map(|times| times - 1).sum();
        prop_assert_eq!(total, whole.deal().num_positions());
        prop_assert_eq!(repeated, padding);
        prop_assert_eq!(seen.len() as u64, config.samples - whole.deal().num_dropped());
        let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
        match config.remainder {
            // Ranks differ by one unit, and the last unit may be shorter.
            Remainder::Uneven => prop_assert!(most - least < 2 * config.unit as usize && repeated == 0),
            Remainder::Drop => prop_assert!(most == least && repeated == 0),
            Remainder::Pad => prop_assert!(most == least && whole.deal().num_dropped() == 0),
        }
    }

    #[test]
    fn neighbours_stay_together(config in small(), taken in 0_u64..30) {
        let whole = Sampler::new(config).unwrap();
        let unit = u64::from(config.unit);
        let state = whole.state(taken * unit);
        let other = Config { world_size: 1 + config.world_size / 2, ..config };
        for config in [config, other] {
            let mut sampler = Sampler::new(config).unwrap();
            if config == other {
                let Ok(state) = &state else { continue };
                sampler = sampler.resume(state).unwrap();
            }
            let mut first = sampler.config().consumed;
            let end = first + sampler.deal().num_positions();
            while first < end {
                let place = sampler.place_of(first, 1).unwrap();
                prop_assert_eq!(place.index_in_rank % unit, 0);
                for position in first..end.min(first + unit) {
                    let next = sampler.place_of(position, 1).unwrap();
                    prop_assert_eq!((next.rank, next.index_in_rank), (place.rank, place.index_in_rank + position - first));
                }
                first += unit;
            }
        }
    }

    #[test]
    fn what_a_state_leaves_is_seen_once(config in small(), taken in 0_u64..30, world_size in 1_u32..40) {
        let config = Config { remainder: Remainder::Uneven, ..config };
        let whole = Sampler::new(config).unwrap();
        let taken = taken * u64::from(config.unit);
        let Ok(state) = whole.state(taken) else { return Ok(()) };
        let rest = Sampler::new(Config { world_size, ..config }).unwrap().resume(&state).unwrap();
        let mut seen = HashMap::<u64, u64>::new();
        for (sampler, ranks, most) in [(&whole, config.world_size, taken), (&rest, world_size, u64::MAX)] {
            for rank in 0..ranks {
                let sampler = sampler.at_rank(rank).unwrap();
                for sample in sampler.indices::<u64>(0, sampler.num_samples().min(most) as u32).unwrap() {
                    *seen.entry(sample).or_default() += 1;
                }
            }
        }
        prop_assert_eq!(seen.len() as u64, config.samples);
        prop_assert!(seen.values().all(|&times| times == 1));
    }

    #[test]
    fn places_are_where_the_samples_are(config in small(), batch_size in 1_u32..20) {
        let sampler = Sampler::new(config).unwrap();
        let mut found = 0;
        for sample in 0..config.samples {
            let Some(place) = sampler.locate(sample, batch_size).unwrap() else { continue };
            found += 1 + u64::from(place.num_padding);
            for copy in 0..=u64::from(place.num_padding) {
                let position = place.position + copy * config.samples;
                let place = sampler.place_of(position, batch_size).unwrap();
                prop_assert_eq!(sampler.sample_at(position).unwrap(), sample);
                let taker = sampler.at_rank(place.rank).unwrap();
                let batch = taker.batch::<u32>(place.batch, batch_size, false).unwrap();
                prop_assert_eq!(u64::from(batch[place.index_in_batch as usize]), sample);
                prop_assert_eq!(taker.indices::<u64>(place.index_in_rank, 1).unwrap(), [sample]);
                let real = taker.num_samples() - taker.deal().num_padding();
                prop_assert_eq!(place.index_in_rank >= real, copy > 0, "padding is what comes again");
            }
        }
        prop_assert_eq!(found, sampler.deal().num_positions());
    }

    #[test]
    fn batches_are_the_indices_cut(config in small(), batch_size in 1_u32..50, drop_last in any::<bool>()) {
        let sampler = Sampler::new(config).unwrap();
        let indices = all(&sampler);
        let cut: Vec<_> = indices.chunks(batch_size as usize)
            .filter(|batch| !drop_last || batch.len() == batch_size as usize).collect();
        prop_assert_eq!(sampler.num_batches(batch_size, drop_last).unwrap(), cut.len() as u64);
        for (i, batch) in (0..).zip(&cut) {
            prop_assert_eq!(&sampler.batch::<u64>(i, batch_size, drop_last).unwrap(), batch);
        }
        prop_assert!(sampler.batch::<u64>(cut.len() as u64, batch_size, drop_last).is_err());
    }

    #[test]
    fn any_window_is_a_part_of_the_whole(config in small(), start in 0_u64..300, count in 0_u32..300) {
        let sampler = Sampler::new(config).unwrap();
        let indices = all(&sampler);
        let part = usize::try_from(start).ok().and_then(|start| indices.get(start..start + count as usize));
        let window = sampler.indices::<u64>(start, count);
        prop_assert_eq!(window.as_deref().ok(), part);
        if let Some(part) = part {
            let narrow: Vec<_> = sampler.indices::<u32>(start, count).unwrap().into_iter().map(u64::from).collect();
            prop_assert_eq!(narrow, part);
        }
    }

    #[test]
    fn nothing_panics(
        config in any_config(), start in any::<u64>(), count in any::<u32>(), batch in any::<u64>(),
        batch_size in any::<u32>(), position in any::<u64>(), near in 0_u64..70,
    ) {
        let Ok(sampler) = Sampler::new(config) else { return Ok(()) };
        let end = sampler.num_samples();
        for start in [start, end.saturating_sub(near)] {
            for count in [count, near as u32, MAX_COUNT] {
                let _ = (sampler.indices::<u64>(start, count), sampler.indices::<u32>(start, count));
            }
        }
        let _ = (sampler.batch::<u64>(batch, batch_size, false), sampler.num_batches(batch_size, true));
        let _ = sampler.batch::<u32>(near, near as u32, true);
        for position in [position, position % config.samples.max(1), sampler.deal().num_positions().saturating_sub(1)] {
            let _ = (sampler.locate(position, batch_size), sampler.place_of(position, batch_size));
            let _ = sampler.sample_at(position);
        }
        let others = [sampler.at_rank(batch_size), sampler.at_epoch(position), sampler.rest(position), sampler.rest(near)];
        for other in others.into_iter().flatten() {
            let _ = (other.indices::<u64>(0, near as u32), other.sample_at(near), other.state(near), other.config_fingerprint());
        }
    }
}
