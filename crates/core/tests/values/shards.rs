//! Shards: plans for readers, streams of chunks, and the order `sharded`.

use std::rc::Rc;

use proptest::prelude::*;
use samedeal_core::shard::{
    BalanceBy, Locality, Overlaps, Plan, PlanConfig, Policy, ShardRuns, Stream, StreamConfig, Tier, WorkerPolicy,
    verify,
};
use samedeal_core::{Config, Failure, Kind, Layout, Order, OrderId, Recipe, Remainder, Sampler, Spans};

fn plan(config: PlanConfig, epoch: u64) -> Result<Plan, Failure> {
    Plan::new(Rc::new(config), epoch)
}

/// Round-robin over ranks, then over workers, of shards in their own order.
fn plain(sizes: Vec<u64>, world_size: u32, workers: u32) -> PlanConfig {
    PlanConfig {
        policy: Policy::RoundRobin,
        worker_policy: WorkerPolicy::RoundRobin,
        shuffle: false,
        ..PlanConfig::new(sizes, world_size, workers)
    }
}

/// A sampler with the order `sharded`, of a recipe that has the members of `config`.
fn sharded(config: Config, sizes: &[u64], lanes: u32, window: u32) -> Result<Sampler, Failure> {
    let Config { samples, seed, epoch, order, rank, world_size, remainder, layout, unit, consumed } = config;
    let quote = if seed.unsigned_abs() < 1 << 53 { "" } else { "\"" };
    let text = format!(
        r#"{{"order": {{"name": "{}", "samples": {samples}, "seed": {quote}{seed}{quote}, "lanes": {lanes}, "shuffle_window": {window}}},
            "deal": {{"world_size": {world_size}, "remainder": "{}", "layout": "{}", "unit": {unit}}}}}"#,
        order.name(),
        remainder.name(),
        layout.name(),
    );
    let sampler = Sampler::from_recipe(&Recipe::read(&text, &[("sizes", sizes)])?, epoch, rank)?.rest(consumed)?;
    assert_eq!(*sampler.config(), config);
    Ok(sampler)
}

/// A column of the loads of all ranks.
fn loads(plan: &Plan, name: &str) -> Vec<u64> {
    let columns = plan.loads(Tier::Ranks, 0, plan.config().world_size).unwrap();
    columns.into_iter().find(|(own, _)| *own == name).unwrap().1
}

fn shards(plan: &Plan, rank: u32, worker: u32) -> Vec<u32> {
    plan.shards(rank, worker, 0, plan.num_shards(rank, worker).unwrap()).unwrap()
}

#[test]
fn round_robin_over_ranks_then_workers() {
    let plan = plan(plain(vec![1; 100], 8, 4), 0).unwrap();
    assert_eq!(shards(&plan, 0, 0), [0, 32, 64, 96]);
    assert_eq!(shards(&plan, 0, 1), [8, 40, 72]);
    assert_eq!(shards(&plan, 1, 0), [1, 33, 65, 97]);
    assert_eq!(shards(&plan, 7, 3), [31, 63, 95]);
}

#[test]
fn chunks_of_a_stream() {
    let stream = |reader, readers, chunks| {
        let config = StreamConfig { chunks, reader, readers, order: OrderId::Sequential, seed: 0, epoch: 0 };
        Stream::new(config).unwrap()
    };
    assert_eq!(stream(0, 2, None).chunks(0, 5).unwrap(), [0, 2, 4, 6, 8]);
    assert_eq!(stream(1, 2, None).chunks(0, 5).unwrap(), [1, 3, 5, 7, 9]);
    for reader in 0..4 {
        let mine = [reader, reader + 4, reader + 8];
        assert_eq!(stream(reader as u32, 4, Some(12)).chunks(0, 3).unwrap(), mine);
        assert_eq!(stream(reader as u32, 4, Some(12)).chunks(3, 3).unwrap(), mine, "the next cycle");
    }
    let far = stream(1, 2, None).chunks(1 << 51, 1).unwrap();
    assert_eq!(far, [(1 << 52) + 1]);
}

#[test]
fn each_cycle_of_a_shuffled_stream_is_the_next_epoch() {
    let config = StreamConfig { chunks: Some(10), reader: 0, readers: 1, order: OrderId::Feistel, seed: 3, epoch: 5 };
    let row = Stream::new(config).unwrap().chunks(0, 30).unwrap();
    for (epoch, cycle) in (5..).zip(row.chunks(10)) {
        let sampler = Sampler::new(Config { seed: 3, epoch, ..Config::new(10) }).unwrap();
        assert_eq!(sampler.indices::<u64>(0, 10).unwrap(), cycle);
    }
    // Three readers share the same sequence.
    for reader in 0..3 {
        let mine = Stream::new(StreamConfig { reader, readers: 3, ..config }).unwrap().chunks(0, 10).unwrap();
        let part: Vec<_> = row.iter().copied().skip(reader as usize).step_by(3).collect();
        assert_eq!(mine, part);
    }
}

#[test]
fn size_aware_is_even_and_beats_round_robin() {
    let sizes: Vec<u64> = (0..66).map(|i| 13 + (i * i * 7919) % 2_448).collect();
    for (world_size, workers) in [(2, 1), (4, 2), (8, 3)] {
        let imbalance = |policy, worker_policy| {
            let config = PlanConfig { policy, worker_policy, ..plain(sizes.clone(), world_size, workers) };
            let loads = loads(&plan(config, 0).unwrap(), "samples");
            let most = *loads.iter().max().unwrap();
            let total: u64 = loads.iter().sum();
            assert_eq!(total, sizes.iter().sum::<u64>());
            most as f64 * f64::from(world_size) / total as f64
        };
        let even = imbalance(Policy::SizeAware, WorkerPolicy::SizeAware);
        let naive = imbalance(Policy::RoundRobin, WorkerPolicy::RoundRobin);
        assert!(even < 1.005, "{world_size} ranks: {even}");
        assert!(even < naive);
    }
}

#[test]
fn locality_first_within_the_bound() {
    // There are 4 ranks on 2 nodes. Shards alternate between the nodes; every fourth one is on both.
    let (mut offsets, mut holders) = (vec![0], Vec::new());
    for shard in 0..40_u32 {
        holders.push(shard % 2);
        if shard % 4 == 0 {
            holders.push(1 - shard % 2);
        }
        offsets.push(holders.len() as u32);
    }
    let locality = Locality { offsets, holders, rank_nodes: vec![0, 0, 1, 1], tolerance: 50 };
    let config = PlanConfig {
        policy: Policy::LocalityAware,
        locality: Some(locality.clone()),
        ..plain((0..40).map(|i| 100 + i).collect(), 4, 1)
    };
    let near = plan(config.clone(), 0).unwrap();
    let found = loads(&near, "samples");
    let total: u64 = found.iter().sum();
    assert_eq!(loads(&near, "local").iter().sum::<u64>(), total, "everything is local");
    assert!(found.iter().all(|samples| samples * 4 * 1000 <= total * 1050));

    // All shards are on one node: the ranks of the other node must read remotely, or get nothing.
    let locality = Locality { offsets: (0..=40).collect(), holders: vec![0; 40], ..locality };
    let far = plan(PlanConfig { locality: Some(locality), ..config }, 0).unwrap();
    let (found, local) = (loads(&far, "samples"), loads(&far, "local"));
    assert!(found.iter().all(|samples| samples * 4 * 1000 <= total * 1050 + 139 * 4 * 1000));
    assert!(local[0] == found[0] && local[3] == 0);
}

#[test]
fn verification_names_overlaps_and_gaps() {
    let found = verify(5, &[0, 2, 4, 5], &[0, 1, 1, 2, 0]).unwrap();
    let overlaps = Overlaps { shard: vec![1, 0], first_reader: vec![0, 0], other_reader: vec![1, 2] };
    assert_eq!(found.overlaps, overlaps);
    assert_eq!(found.gaps, ShardRuns { first_shard: vec![3], num_shards: vec![2] });
    // A reader that has a shard twice overlaps with itself; gaps are runs of neighbours, also at both ends.
    let found = verify(9, &[0, 0, 4], &[5, 2, 5, 5]).unwrap();
    let overlaps = Overlaps { shard: vec![5, 5], first_reader: vec![1, 1], other_reader: vec![1, 1] };
    assert_eq!(found.overlaps, overlaps);
    assert_eq!(found.gaps, ShardRuns { first_shard: vec![0, 3, 6], num_shards: vec![2, 2, 3] });
    // The result has no list with a number for every shard.
    let all = verify(u32::MAX, &[0], &[]).unwrap();
    assert_eq!(all.gaps, ShardRuns { first_shard: vec![0], num_shards: vec![u32::MAX] });
    assert_eq!(verify(0, &[0], &[]).unwrap(), Default::default());
    assert_eq!(verify(2, &[0, 1], &[2]).unwrap_err().field, "assigned");
    assert_eq!(verify(2, &[0, 2], &[0]).unwrap_err().kind, Kind::Contradiction);
}

#[test]
fn a_million_shards_for_4096_ranks() {
    let sizes: Vec<u64> = (0..1_000_000_u64).map(|i| 1_000 + i.wrapping_mul(2_654_435_761) % 9_000).collect();
    let config = PlanConfig::new(sizes, 4_096, 1);
    assert!(config.policy == Policy::SizeAware && config.shuffle);
    let loads = loads(&plan(config, 0).unwrap(), "samples");
    assert!(loads.iter().max().unwrap() - loads.iter().min().unwrap() < 1_000);
}

fn policy() -> impl Strategy<Value = Policy> {
    prop_oneof![Just(Policy::RoundRobin), Just(Policy::SizeAware)]
}

fn worker_policy() -> impl Strategy<Value = WorkerPolicy> {
    prop_oneof![Just(WorkerPolicy::RoundRobin), Just(WorkerPolicy::SizeAware)]
}

/// A round has at most 2^20 spans, because one call returns it.
#[test]
fn too_many_spans_for_one_round() {
    let sizes = vec![1; (1 << 20) + 2];
    let config = Config { order: OrderId::Sharded, ..Config::new(sizes.len() as u64) };
    let failure = sharded(config, &sizes, 2, 1 << 20).unwrap().round(0).unwrap_err();
    assert_eq!((failure.kind, failure.field, failure.value.as_str()), (Kind::OutOfRange, "shuffle_window", "1048576"));
    let round = sharded(config, &sizes, 2, 1 << 19).unwrap().round(0).unwrap();
    assert_eq!(round.spans.len(), 1 << 20);
}

#[test]
fn every_field_of_a_plan_is_in_its_fingerprint() {
    let locality = Locality { offsets: vec![0, 1, 2], holders: vec![0, 1], rank_nodes: vec![0, 1], tolerance: 50 };
    let near = PlanConfig {
        policy: Policy::LocalityAware,
        bytes: Some(vec![9, 8]),
        locality: Some(locality.clone()),
        ..plain(vec![3, 4], 2, 1)
    };
    let round_robin = PlanConfig { policy: Policy::RoundRobin, ..near.clone() };
    let configs = [
        near.clone(),
        PlanConfig { sizes: vec![4, 3], ..near.clone() },
        PlanConfig { bytes: None, ..near.clone() },
        PlanConfig { bytes: Some(vec![8, 9]), ..near.clone() },
        PlanConfig { workers: 2, ..near.clone() },
        round_robin.clone(),
        PlanConfig { policy: Policy::SizeAware, ..near.clone() },
        PlanConfig { worker_policy: WorkerPolicy::SizeAware, ..near.clone() },
        PlanConfig { balance_by: BalanceBy::Bytes, ..near.clone() },
        PlanConfig { shuffle: true, ..near.clone() },
        PlanConfig { shuffle_rows: false, ..near.clone() },
        PlanConfig { reshuffle: true, ..near.clone() },
        PlanConfig { seed: 1, ..near.clone() },
        PlanConfig { locality: Some(Locality { tolerance: 51, ..locality.clone() }), ..near.clone() },
        PlanConfig { locality: Some(Locality { rank_nodes: vec![1, 1], ..locality.clone() }), ..near.clone() },
        PlanConfig { locality: Some(Locality { holders: vec![1, 1], ..locality.clone() }), ..near.clone() },
        PlanConfig { world_size: 1, locality: Some(Locality { rank_nodes: vec![0], ..locality }), ..near.clone() },
    ];
    let plans = configs.iter().map(|config| plan(config.clone(), 0)).chain([plan(near.clone(), 1)]);
    let mut found: Vec<_> = plans.map(|plan| plan.unwrap().config_fingerprint()).collect();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), configs.len() + 1);
    // A locality that the policy does not use is not checked, and is in no recipe.
    let plain = plan(PlanConfig { locality: None, ..round_robin.clone() }, 0).unwrap();
    let aware = plan(round_robin, 0).unwrap();
    assert_eq!(aware.config_fingerprint(), plain.config_fingerprint());
    assert_eq!(aware.recipe(), plain.recipe());
}

#[test]
fn a_plan_of_another_epoch_is_the_one_made_for_it() {
    let sizes: Vec<u64> = (0..50).map(|i| 10 + i * i % 37).collect();
    let config = PlanConfig { reshuffle: true, seed: 5, ..PlanConfig::new(sizes, 3, 2) };
    let all = |plan: &Plan| (0..3).flat_map(|rank| [0, 1].map(|worker| shards(plan, rank, worker))).collect::<Vec<_>>();
    let first = plan(config.clone(), 0).unwrap();
    let (own, fingerprint) = (all(&first), first.config_fingerprint());
    let later = first.at_epoch(7).unwrap();
    let made = plan(config, 7).unwrap();
    assert_eq!((later.epoch(), all(&later)), (7, all(&made)));
    assert_eq!(later.config_fingerprint(), made.config_fingerprint());
    assert_eq!(later.rows(3, 0, 9), made.rows(3, 0, 9));
    assert_eq!(later.recipe(), first.recipe());
    // The first plan has not changed.
    assert_eq!((first.epoch(), all(&first), first.config_fingerprint()), (0, own.clone(), fingerprint));
    assert_ne!(all(&later), own);
    assert_eq!(all(&later.at_epoch(0).unwrap()), own);
    // Plans of all epochs share one list of sizes.
    assert!(std::ptr::eq(first.config(), later.config()));
}

#[test]
fn a_plan_of_a_recipe_has_the_defaults() {
    let sizes: Vec<u64> = (0..20).map(|i| 10 + i * i % 37).collect();
    let made = Plan::from_recipe(r#"{"shards": {}}"#, &[("sizes", &sizes)], 4).unwrap();
    assert_eq!(*made.config(), PlanConfig::new(sizes.clone(), 1, 1));
    assert_eq!(made.epoch(), 4);
    let again = Plan::from_recipe(&made.recipe().unwrap(), &[], 4).unwrap();
    assert_eq!(again.config(), made.config());
    assert_eq!(again.recipe_fingerprint(), made.recipe_fingerprint());
    // By default, rows are shuffled if shards are.
    for (text, shuffle, shuffle_rows) in [
        (r#"{"shards": {"shuffle": false}}"#, false, false),
        (r#"{"shards": {"shuffle": false, "shuffle_rows": true}}"#, false, true),
        (r#"{"shards": {"shuffle_rows": false}}"#, true, false),
    ] {
        let plan = Plan::from_recipe(text, &[("sizes", &sizes)], 0).unwrap();
        assert_eq!((plan.config().shuffle, plan.config().shuffle_rows), (shuffle, shuffle_rows), "{text}");
        assert_eq!(plan.rows(1, 0, 11).unwrap().iter().copied().eq(0..11), !shuffle_rows, "{text}");
    }
    // The lists of a locality may come beside the recipe, too.
    let text = r#"{"shards": {"policy": "locality-aware"}, "deal": {"world_size": 2}}"#;
    let lists: [(&str, &[u64]); 4] =
        [("sizes", &[3, 4]), ("holders", &[8, 9]), ("holder_offsets", &[0, 1, 2]), ("rank_nodes", &[9, 8])];
    let plan = Plan::from_recipe(text, &lists, 0).unwrap();
    let locality = Locality { offsets: vec![0, 1, 2], holders: vec![8, 9], rank_nodes: vec![9, 8], tolerance: 50 };
    assert_eq!(plan.config().locality, Some(locality));
    assert_eq!((loads(&plan, "samples"), loads(&plan, "local")), (vec![4, 3], vec![4, 3]));
    let bare = Plan::from_recipe(text, &lists[..1], 0).err().unwrap();
    assert_eq!((bare.kind, bare.field), (Kind::Missing, "holders"));
}

#[test]
fn loads_have_the_columns_that_there_are() {
    let names = |config, tier| -> Vec<_> {
        plan(config, 0).unwrap().loads(tier, 1, 1).unwrap().into_iter().map(|(name, load)| (name, load.len())).collect()
    };
    let config = PlanConfig::new(vec![3, 4], 2, 1);
    assert_eq!(names(config.clone(), Tier::Ranks), [("shards", 1), ("samples", 1)]);
    let config = PlanConfig { bytes: Some(vec![30, 40]), ..config };
    assert_eq!(names(config.clone(), Tier::Workers), [("shards", 1), ("samples", 1), ("bytes", 1)]);
    let locality = Locality { offsets: vec![0, 1, 2], holders: vec![0, 1], rank_nodes: vec![0, 1], tolerance: 50 };
    let config = PlanConfig { policy: Policy::LocalityAware, locality: Some(locality), ..config };
    assert_eq!(names(config, Tier::Ranks), [("shards", 1), ("samples", 1), ("bytes", 1), ("local", 1)]);
}

#[test]
fn rows_are_shuffled_whatever_the_shards_are() {
    let rows = |config, epoch| plan(config, epoch).unwrap().rows(1, 0, 300).unwrap();
    let config = plain(vec![300, 300], 1, 1);
    let found = rows(config.clone(), 0);
    assert_eq!(rows(PlanConfig { shuffle: true, ..config.clone() }, 0), found);
    assert_ne!(rows(config.clone(), 1), found);
    assert!(rows(PlanConfig { shuffle_rows: false, ..config }, 1).into_iter().eq(0..300));
    let mut sorted = found.clone();
    sorted.sort_unstable();
    assert!(!found.is_sorted() && sorted.into_iter().eq(0..300));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, ..ProptestConfig::default() })]

    #[test]
    fn every_shard_has_one_reader(
        sizes in proptest::collection::vec(0_u64..1_000, 0..80), world_size in 1_u32..9, workers in 1_u32..5,
        policy in policy(), worker_policy in worker_policy(), shuffle in any::<bool>(), reshuffle in any::<bool>(),
        seed in any::<i64>(), epoch in any::<u64>(), batch_size in 1_u32..50,
    ) {
        let config = PlanConfig { policy, worker_policy, shuffle, reshuffle, seed, ..PlanConfig::new(sizes.clone(), world_size, workers) };
        let plan = Plan::new(Rc::new(config.clone()), epoch).unwrap();
        let (mut offsets, mut assigned) = (vec![0], Vec::new());
        let mut steps = Vec::new();
        for rank in 0..world_size {
            let mut rank_steps = 0;
            for worker in 0..workers {
                let mine = shards(&plan, rank, worker);
                rank_steps += mine.iter().map(|&shard| sizes[shard as usize]).sum::<u64>().div_ceil(batch_size.into());
                assigned.extend(mine);
                offsets.push(assigned.len() as u32);
            }
            steps.push(rank_steps);
        }
        prop_assert_eq!(verify(sizes.len() as u32, &offsets, &assigned).unwrap(), Default::default());
        let range = (*steps.iter().min().unwrap(), *steps.iter().max().unwrap());
        prop_assert_eq!(plan.steps(batch_size, false).unwrap(), range);
        let other = Plan::new(Rc::new(config), epoch ^ 1).unwrap();
        prop_assert_eq!(shards(&plan.at_epoch(epoch ^ 1).unwrap(), 0, 0), shards(&other, 0, 0));
    }

    #[test]
    fn the_sharded_order_is_a_bijection_with_locality(
        sizes in proptest::collection::vec(0_u64..60, 0..30), lanes in 1_u32..9, window in 1_u32..300,
        seed in any::<i64>(), epoch in any::<u64>(), world_size in 1_u32..9,
    ) {
        let samples: u64 = sizes.iter().sum();
        let config = Config { order: OrderId::Sharded, seed, epoch, remainder: Remainder::Uneven, ..Config::new(samples) };
        let sampler = sharded(config, &sizes, lanes, window).unwrap();
        let whole = sampler.indices::<u64>(0, samples as u32).unwrap();
        let mut seen = whole.clone();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..samples).collect::<Vec<_>>());
        for (position, &sample) in (0..).zip(&whole) {
            prop_assert_eq!(sampler.locate(sample, 1).unwrap().unwrap().position, position);
            let (shard, offset) = sampler.shard_of(sample).unwrap();
            prop_assert_eq!(sizes[..shard as usize].iter().sum::<u64>() + offset, sample);
            prop_assert!(offset < sizes[shard as usize]);
        }
        // The order does not depend on the world size.
        for rank in 0..world_size {
            let part: Vec<_> = whole.iter().copied().skip(rank as usize).step_by(world_size as usize).collect();
            let sampler = sharded(Config { rank, world_size, ..config }, &sizes, lanes, window).unwrap();
            prop_assert_eq!(sampler.indices::<u64>(0, part.len() as u32).unwrap(), part);
        }
    }

    #[test]
    fn rounds_say_what_a_rank_reads(
        sizes in proptest::collection::vec(0_u64..60, 0..30), lanes in 1_u32..9, window in 1_u32..40, world_size in 1_u32..9,
        remainder in prop_oneof![Just(Remainder::Drop), Just(Remainder::Pad), Just(Remainder::Uneven)],
        layout in prop_oneof![Just(Layout::Strided), Just(Layout::Contiguous)],
    ) {
        let samples: u64 = sizes.iter().sum();
        let config = Config { order: OrderId::Sharded, remainder, layout, world_size, ..Config::new(samples) };
        let first = sharded(config, &sizes, lanes, window).unwrap();
        for rank in 0..world_size {
            let sampler = first.at_rank(rank).unwrap();
            let mut next = 0;
            for number in 0..sampler.num_rounds().unwrap() {
                let round = sampler.round(number).unwrap();
                prop_assert_eq!(round.start, next);
                next += round.count;
                let mut stored = Vec::new();
                let Spans { lane, shard, first_row, num_rows } = &round.spans;
                prop_assert!([lane.len(), shard.len(), first_row.len()].iter().all(|len| *len == num_rows.len()));
                prop_assert!(lane.iter().all(|lane| *lane < lanes) && num_rows.iter().all(|rows| *rows > 0));
                for (&shard, (first, count)) in shard.iter().zip(first_row.iter().zip(num_rows)) {
                    let start = sizes[..shard as usize].iter().sum::<u64>() + first;
                    stored.extend(start..start + count);
                }
                let mut given = sampler.indices::<u64>(round.start, round.count as u32).unwrap();
                prop_assert!(given.iter().all(|sample| stored.contains(sample)));
                if lanes % world_size == 0 && layout == Layout::Strided && remainder != Remainder::Drop {
                    // The rank reads its own lanes, and nothing else.
                    given.sort_unstable();
                    stored.sort_unstable();
                    prop_assert_eq!(given, stored);
                }
            }
            prop_assert_eq!(next, sampler.num_samples());
        }
        let end = first.num_rounds().unwrap();
        prop_assert_eq!(first.round(end).unwrap_err().field, "number");
    }
}

#[test]
fn bad_shards() {
    let config = Config { order: OrderId::Sharded, ..Config::new(10) };
    let fails = |config, sizes: &[u64], lanes, window| {
        let failure = sharded(config, sizes, lanes, window).err().unwrap();
        (failure.field, failure.kind)
    };
    assert_eq!(fails(config, &[4, 5], 1, 1), ("samples", Kind::Contradiction));
    assert_eq!(fails(config, &[4, 6], 0, 1), ("lanes", Kind::OutOfRange));
    assert_eq!(fails(config, &[4, 6], 70_000, 1), ("lanes", Kind::OutOfRange));
    assert_eq!(fails(config, &[4, 6], 1, 0), ("shuffle_window", Kind::OutOfRange));
    assert_eq!(fails(config, &[u64::MAX, u64::MAX], 1, 1), ("sizes", Kind::OutOfRange));
    // The order `feistel` has no lanes.
    assert_eq!(fails(Config::new(10), &[4, 6], 1, 1), ("lanes", Kind::Contradiction));
    assert_eq!(Sampler::new(config).err().unwrap().kind, Kind::Missing);
    assert!(Order::new(OrderId::Sharded, 10, 0, 0).is_err());

    let fails = |config: PlanConfig| {
        let failure = plan(config, 0).err().unwrap();
        (failure.field, failure.kind)
    };
    assert_eq!(fails(PlanConfig::new(vec![1], 0, 1)), ("world_size", Kind::OutOfRange));
    assert_eq!(fails(PlanConfig::new(vec![1], 1, 0)), ("workers", Kind::OutOfRange));
    assert_eq!(fails(PlanConfig::new(vec![1 << 53], 1, 1)), ("sizes", Kind::OutOfRange));
    let one = PlanConfig::new(vec![1], 1, 1);
    assert_eq!(fails(PlanConfig { balance_by: BalanceBy::Bytes, ..one.clone() }), ("bytes", Kind::Missing));
    assert_eq!(fails(PlanConfig { bytes: Some(vec![1, 2]), ..one.clone() }), ("bytes", Kind::Contradiction));
    let nowhere = PlanConfig { policy: Policy::LocalityAware, ..one };
    assert_eq!(fails(nowhere.clone()), ("holders", Kind::Missing));
    let locality = Some(Locality { rank_nodes: vec![0], ..Locality::default() });
    assert_eq!(fails(PlanConfig { locality, ..nowhere }), ("holder_offsets", Kind::Contradiction));
    let stream = StreamConfig { chunks: Some(0), reader: 0, readers: 1, order: OrderId::Sequential, seed: 0, epoch: 0 };
    let failure = Stream::new(stream).err().unwrap();
    assert_eq!((failure.kind, failure.field), (Kind::OutOfRange, "chunks"));
    assert_eq!(failure.allowed, "1 to 9007199254740991");
    let good = plan(PlanConfig::new(vec![1], 2, 2), 0).unwrap();
    assert_eq!(good.num_shards(2, 0).unwrap_err().field, "rank");
    assert_eq!(good.num_shards(0, 2).unwrap_err().field, "worker");
}
