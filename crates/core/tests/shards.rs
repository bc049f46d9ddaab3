//! Shards: to readers, as streams, and as one order.

use proptest::prelude::*;
use samedeal_core::shard::{
    Locality, Plan, PlanConfig, Policy, Stream, StreamConfig, Tier, Weight, WorkerPolicy, verify,
};
use samedeal_core::{Config, Kind, Layout, Order, OrderId, Remainder, Sampler};

/// Shards, samples, bytes and local bytes of every rank.
fn loads(plan: &Plan, world: u32) -> Vec<[u64; 4]> {
    plan.loads(Tier::Ranks, 0, world).unwrap().as_chunks().0.to_vec()
}

fn shards(plan: &Plan, rank: u32, worker: u32) -> Vec<u32> {
    plan.shards(rank, worker, 0, plan.num_shards(rank, worker).unwrap()).unwrap()
}

#[test]
fn round_robin_over_ranks_then_workers() {
    let plan = Plan::new(PlanConfig::new(vec![1; 100], 8, 4)).unwrap();
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
    // Three readers share the very same row.
    for reader in 0..3 {
        let mine = Stream::new(StreamConfig { reader, readers: 3, ..config }).unwrap().chunks(0, 10).unwrap();
        let part: Vec<_> = row.iter().copied().skip(reader as usize).step_by(3).collect();
        assert_eq!(mine, part);
    }
}

#[test]
fn size_aware_is_even_and_beats_round_robin() {
    let sizes: Vec<u64> = (0..66).map(|i| 13 + (i * i * 7919) % 2_448).collect();
    for (world, workers) in [(2, 1), (4, 2), (8, 3)] {
        let imbalance = |policy, worker_policy| {
            let plan =
                Plan::new(PlanConfig { policy, worker_policy, ..PlanConfig::new(sizes.clone(), world, workers) });
            let loads = loads(&plan.unwrap(), world);
            let most = loads.iter().map(|load| load[1]).max().unwrap();
            let total: u64 = loads.iter().map(|load| load[1]).sum();
            assert_eq!(total, sizes.iter().sum());
            most as f64 * f64::from(world) / total as f64
        };
        let even = imbalance(Policy::SizeAware, WorkerPolicy::SizeAware);
        let naive = imbalance(Policy::RoundRobin, WorkerPolicy::RoundRobin);
        assert!(even < 1.005, "{world} ranks: {even}");
        assert!(even < naive);
    }
}

#[test]
fn locality_first_within_the_bound() {
    // 4 ranks on 2 nodes; shards alternate between the nodes; every fourth is on both.
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
        ..PlanConfig::new((0..40).map(|i| 100 + i).collect(), 4, 1)
    };
    let plan = Plan::new(config.clone()).unwrap();
    let found = loads(&plan, 4);
    let total: u64 = found.iter().map(|load| load[1]).sum();
    assert_eq!(found.iter().map(|load| load[3]).sum::<u64>(), total, "everything is local");
    assert!(found.iter().all(|load| load[1] * 4 * 1000 <= total * 1050));

    // All on one node: the other node's ranks must read remotely, or starve.
    let locality = Locality { offsets: (0..=40).collect(), holders: vec![0; 40], ..locality };
    let found = loads(&Plan::new(PlanConfig { locality: Some(locality), ..config }).unwrap(), 4);
    assert!(found.iter().all(|load| load[1] * 4 * 1000 <= total * 1050 + 139 * 4 * 1000));
    assert!(found[0][3] == found[0][1] && found[3][3] == 0);
}

#[test]
fn verification_names_overlaps_and_gaps() {
    let found = verify(5, &[0, 2, 4, 5], &[0, 1, 1, 2, 0]).unwrap();
    assert_eq!(found.overlaps, [1, 0, 1, 0, 0, 2]);
    assert_eq!(found.gaps, [3, 4]);
    assert_eq!(verify(2, &[0, 1], &[2]).unwrap_err().field, "assigned");
    assert_eq!(verify(2, &[0, 2], &[0]).unwrap_err().kind, Kind::Contradiction);
}

#[test]
fn a_million_shards_for_4096_ranks() {
    let sizes: Vec<u64> = (0..1_000_000_u64).map(|i| 1_000 + i.wrapping_mul(2_654_435_761) % 9_000).collect();
    let config = PlanConfig { policy: Policy::SizeAware, shuffle: true, ..PlanConfig::new(sizes, 4_096, 1) };
    let plan = Plan::new(config).unwrap();
    let loads = loads(&plan, 4_096);
    let (least, most) = (loads.iter().map(|load| load[1]).min(), loads.iter().map(|load| load[1]).max());
    assert!(most.unwrap() - least.unwrap() < 1_000);
}

fn policy() -> impl Strategy<Value = Policy> {
    prop_oneof![Just(Policy::RoundRobin), Just(Policy::SizeAware)]
}

fn worker_policy() -> impl Strategy<Value = WorkerPolicy> {
    prop_oneof![Just(WorkerPolicy::RoundRobin), Just(WorkerPolicy::SizeAware)]
}

/// A round is one answer, of a bounded length.
#[test]
fn too_many_spans_for_one_round() {
    let sizes = vec![1; (1 << 20) + 2];
    let config = Config { order: OrderId::Sharded, ..Config::new(sizes.len() as u64) };
    let failure = Sampler::sharded(config, &sizes, 2, 1 << 20).unwrap().round(0).unwrap_err();
    assert_eq!((failure.kind, failure.field, failure.value.as_str()), (Kind::OutOfRange, "window", "1048576"));
    let round = Sampler::sharded(config, &sizes, 2, 1 << 19).unwrap().round(0).unwrap();
    assert_eq!(round.spans.len(), 4 << 20);
}

#[test]
fn every_field_of_a_plan_is_in_its_fingerprint() {
    let locality = Locality { offsets: vec![0, 1, 2], holders: vec![0, 1], rank_nodes: vec![0, 1], tolerance: 50 };
    let near = PlanConfig {
        policy: Policy::LocalityAware,
        bytes: vec![9, 8],
        locality: Some(locality.clone()),
        ..PlanConfig::new(vec![3, 4], 2, 1)
    };
    let plans = [
        near.clone(),
        PlanConfig { sizes: vec![4, 3], ..near.clone() },
        PlanConfig { bytes: vec![], ..near.clone() },
        PlanConfig { bytes: vec![8, 9], ..near.clone() },
        PlanConfig { workers: 2, ..near.clone() },
        PlanConfig { policy: Policy::RoundRobin, ..near.clone() },
        PlanConfig { policy: Policy::SizeAware, ..near.clone() },
        PlanConfig { worker_policy: WorkerPolicy::SizeAware, ..near.clone() },
        PlanConfig { weight: Weight::Bytes, ..near.clone() },
        PlanConfig { shuffle: true, ..near.clone() },
        PlanConfig { reshuffle: true, ..near.clone() },
        PlanConfig { seed: 1, ..near.clone() },
        PlanConfig { epoch: 1, ..near.clone() },
        PlanConfig { locality: Some(Locality { tolerance: 51, ..locality.clone() }), ..near.clone() },
        PlanConfig { locality: Some(Locality { rank_nodes: vec![1, 1], ..locality.clone() }), ..near.clone() },
        PlanConfig { locality: Some(Locality { holders: vec![1, 1], ..locality.clone() }), ..near.clone() },
        PlanConfig { world: 1, locality: Some(Locality { rank_nodes: vec![0], ..locality }), ..near.clone() },
    ];
    let mut found: Vec<_> = plans.iter().map(|plan| Plan::new(plan.clone()).unwrap().config_fingerprint()).collect();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), plans.len());
    // A new epoch is that of the plan made for it, and a locality that nobody asks for is not looked at.
    let mut plan = Plan::new(plans[5].clone()).unwrap();
    plan.set_epoch(7).unwrap();
    let other = PlanConfig { epoch: 7, locality: None, ..plans[5].clone() };
    assert_eq!(plan.config_fingerprint(), Plan::new(other).unwrap().config_fingerprint());
}

#[test]
fn rows_are_shuffled_whatever_the_shards_are() {
    let rows = |config| Plan::new(config).unwrap().rows(1, 0, 300).unwrap();
    let config = PlanConfig::new(vec![300, 300], 1, 1);
    let found = rows(config.clone());
    assert_eq!(rows(PlanConfig { shuffle: true, ..config.clone() }), found);
    assert_ne!(rows(PlanConfig { epoch: 1, ..config }), found);
    let mut sorted = found.clone();
    sorted.sort_unstable();
    assert!(!found.is_sorted() && sorted.into_iter().eq(0..300));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, ..ProptestConfig::default() })]

    #[test]
    fn every_shard_has_one_reader(
        sizes in proptest::collection::vec(0_u64..1_000, 0..80), world in 1_u32..9, workers in 1_u32..5,
        policy in policy(), worker_policy in worker_policy(), shuffle in any::<bool>(), reshuffle in any::<bool>(),
        seed in any::<i64>(), epoch in any::<u64>(), batch_size in 1_u32..50,
    ) {
        let config = PlanConfig { policy, worker_policy, shuffle, reshuffle, seed, epoch, ..PlanConfig::new(sizes.clone(), world, workers) };
        let mut plan = Plan::new(config.clone()).unwrap();
        let (mut offsets, mut assigned) = (vec![0], Vec::new());
        let mut steps = Vec::new();
        for rank in 0..world {
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
        plan.set_epoch(epoch ^ 1).unwrap();
        let other = Plan::new(PlanConfig { epoch: epoch ^ 1, ..config }).unwrap();
        prop_assert_eq!(shards(&plan, 0, 0), shards(&other, 0, 0));
    }

    #[test]
    fn the_sharded_order_is_a_bijection_with_locality(
        sizes in proptest::collection::vec(0_u64..60, 0..30), lanes in 1_u32..9, window in 1_u32..300,
        seed in any::<i64>(), epoch in any::<u64>(), world in 1_u32..9,
    ) {
        let samples: u64 = sizes.iter().sum();
        let config = Config { order: OrderId::Sharded, seed, epoch, remainder: Remainder::Uneven, ..Config::new(samples) };
        let sampler = Sampler::sharded(config, &sizes, lanes, window).unwrap();
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
        // The same order whatever the world.
        for rank in 0..world {
            let part: Vec<_> = whole.iter().copied().skip(rank as usize).step_by(world as usize).collect();
            let sampler = Sampler::sharded(Config { rank, world, ..config }, &sizes, lanes, window).unwrap();
            prop_assert_eq!(sampler.indices::<u64>(0, part.len() as u32).unwrap(), part);
        }
    }

    #[test]
    fn rounds_say_what_a_rank_reads(
        sizes in proptest::collection::vec(0_u64..60, 0..30), lanes in 1_u32..9, window in 1_u32..40, world in 1_u32..9,
        remainder in prop_oneof![Just(Remainder::Drop), Just(Remainder::Pad), Just(Remainder::Uneven)],
        layout in prop_oneof![Just(Layout::Strided), Just(Layout::Contiguous)],
    ) {
        let samples: u64 = sizes.iter().sum();
        let config = Config { order: OrderId::Sharded, remainder, layout, world, ..Config::new(samples) };
        let mut sampler = Sampler::sharded(config, &sizes, lanes, window).unwrap();
        for rank in 0..world {
            sampler.set_rank(rank).unwrap();
            let mut next = 0;
            for number in 0..sampler.num_rounds().unwrap() {
                let round = sampler.round(number).unwrap();
                prop_assert_eq!(round.start, next);
                next += round.count;
                let mut stored = Vec::new();
                for &[lane, shard, first, count] in round.spans.as_chunks().0 {
                    prop_assert!(lane < u64::from(lanes) && count > 0);
                    let start = sizes[..shard as usize].iter().sum::<u64>() + first;
                    stored.extend(start..start + count);
                }
                let mut given = sampler.indices::<u64>(round.start, round.count as u32).unwrap();
                prop_assert!(given.iter().all(|sample| stored.contains(sample)));
                if lanes % world == 0 && layout == Layout::Strided && remainder != Remainder::Drop {
                    // Its own lanes and nothing else.
                    given.sort_unstable();
                    stored.sort_unstable();
                    prop_assert_eq!(given, stored);
                }
            }
            prop_assert_eq!(next, sampler.num_samples());
        }
        let end = sampler.num_rounds().unwrap();
        prop_assert_eq!(sampler.round(end).unwrap_err().field, "number");
    }
}

#[test]
fn bad_shards() {
    let config = Config { order: OrderId::Sharded, ..Config::new(10) };
    let fails = |config, sizes: &[u64], lanes, window| {
        let failure = Sampler::sharded(config, sizes, lanes, window).err().unwrap();
        (failure.field, failure.kind)
    };
    assert_eq!(fails(config, &[4, 5], 1, 1), ("samples", Kind::Contradiction));
    assert_eq!(fails(config, &[4, 6], 0, 1), ("lanes", Kind::OutOfRange));
    assert_eq!(fails(config, &[4, 6], 5_000, 1), ("lanes", Kind::OutOfRange));
    assert_eq!(fails(config, &[4, 6], 1, 0), ("window", Kind::OutOfRange));
    assert_eq!(fails(config, &[u64::MAX, u64::MAX], 1, 1), ("sizes", Kind::OutOfRange));
    assert_eq!(fails(Config::new(10), &[4, 6], 1, 1), ("order", Kind::Contradiction));
    assert_eq!(Sampler::new(config).err().unwrap().kind, Kind::Missing);
    assert!(Order::new(OrderId::Sharded, 10, 0, 0).is_err());

    let plan = |config: PlanConfig| Plan::new(config).err().unwrap();
    assert_eq!(plan(PlanConfig::new(vec![1], 0, 1)).field, "world");
    assert_eq!(plan(PlanConfig::new(vec![1], 1, 0)).field, "workers");
    assert_eq!(plan(PlanConfig::new(vec![1 << 53], 1, 1)).field, "sizes");
    assert_eq!(plan(PlanConfig { weight: Weight::Bytes, ..PlanConfig::new(vec![1], 1, 1) }).field, "bytes");
    let nowhere = PlanConfig { policy: Policy::LocalityAware, ..PlanConfig::new(vec![1], 1, 1) };
    assert_eq!(plan(nowhere.clone()).field, "locality");
    let locality = Some(Locality { rank_nodes: vec![0], ..Locality::default() });
    assert_eq!(plan(PlanConfig { locality, ..nowhere }).field, "holder-offsets");
    let stream = StreamConfig { chunks: Some(0), reader: 0, readers: 1, order: OrderId::Sequential, seed: 0, epoch: 0 };
    let failure = Stream::new(stream).err().unwrap();
    assert_eq!((failure.kind, failure.field), (Kind::OutOfRange, "chunks"));
    assert_eq!(failure.allowed, "1 to 9007199254740991");
    let good = Plan::new(PlanConfig::new(vec![1], 2, 2)).unwrap();
    assert_eq!(good.num_shards(2, 0).unwrap_err().field, "rank");
    assert_eq!(good.num_shards(0, 2).unwrap_err().field, "worker");
}
