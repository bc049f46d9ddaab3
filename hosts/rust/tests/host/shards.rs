//! Plans of whole shards: examples with exact results, and properties that hold for every plan.

use samedeal::{
    BalanceBy, BatchSize, ChunkStream, Loads, PlanBuilder, Policy, ShardPlan, Steps, Tier, Verification, WorkerPolicy,
    verify_runs, verify_shards,
};

/// Sizes without a pattern, some of them 0.
fn sizes(count: u64) -> Vec<u64> {
    (0..count).map(|i| (i * i * 7919 + i * 104_729) % 1009 * u64::from(i % 11 != 0)).collect()
}

#[test]
fn round_robin_through_both_tiers() {
    let builder = ShardPlan::builder([1; 100]).world_size(8).workers(4).shuffle(false);
    let plan = builder.policy(Policy::RoundRobin).worker_policy(WorkerPolicy::RoundRobin).build().unwrap();
    let expected: [((u32, u32), &[u32]); 4] =
        [((0, 0), &[0, 32, 64, 96]), ((0, 1), &[8, 40, 72]), ((1, 0), &[1, 33, 65, 97]), ((7, 3), &[31, 63, 95])];
    for ((rank, worker), shards) in expected {
        assert_eq!(plan.shards(rank, worker).unwrap(), shards, "rank {rank}, worker {worker}");
        assert_eq!(plan.num_shards(rank, worker).unwrap() as usize, shards.len());
    }
    assert!(plan.verify().unwrap().is_ok());
}

#[test]
fn every_plan_covers_every_shard_once() {
    let samples = sizes(157);
    let holders = (0..157).map(|shard| vec![shard % 3, shard % 5]).collect::<Vec<_>>();
    for &policy in Policy::ALL {
        for worker_policy in WorkerPolicy::ALL.iter().copied() {
            for (shuffle, reshuffle) in [(false, false), (true, false), (false, true), (true, true)] {
                let builder = ShardPlan::builder(samples.clone()).bytes(sizes(157)).world_size(7).workers(3).seed(-1);
                let mut builder = builder.policy(policy).worker_policy(worker_policy);
                if policy == Policy::LocalityAware {
                    builder = builder.holders(&holders).rank_nodes([0, 1, 2, 3, 4, 0, 1]);
                }
                let mut plan = builder.shuffle(shuffle).reshuffle(reshuffle).build().unwrap();
                for epoch in [0, 1] {
                    plan.set_epoch(epoch).unwrap();
                    assert_eq!(plan.verify().unwrap(), Verification::default());
                    check_loads(&plan);
                }
            }
        }
    }
}

/// Checks that loads, their summary and steps agree with the lists of shards.
fn check_loads(plan: &ShardPlan) {
    let (sizes, bytes) = (plan.sizes().unwrap(), plan.bytes().unwrap().unwrap());
    let (by_rank, by_worker) = (plan.loads(Tier::Ranks).unwrap(), plan.loads(Tier::Workers).unwrap());
    assert_eq!((by_rank.shards.len(), by_worker.shards.len()), (7, 21));
    let at =
        |loads: &Loads, place: usize| [loads.shards[place], loads.samples[place], loads.bytes.as_ref().unwrap()[place]];
    for rank in 0..plan.world_size() {
        let mut of_rank = [0; 3];
        for worker in 0..plan.workers() {
            let load = at(&by_worker, (rank * plan.workers() + worker) as usize);
            let shards = plan.shards(rank, worker).unwrap();
            let sum = |of: &[u64]| shards.iter().map(|&shard| of[shard as usize]).sum::<u64>();
            assert_eq!(load, [shards.len() as u64, sum(sizes), sum(&bytes)]);
            of_rank.iter_mut().zip(load).for_each(|(sum, part)| *sum += part);
        }
        assert_eq!(at(&by_rank, rank as usize), of_rank);
    }
    let balance = plan.load_summary(Tier::Ranks, BalanceBy::Samples).unwrap();
    let samples = by_rank.samples.iter().copied();
    assert_eq!(Some(balance.min), samples.clone().min());
    assert_eq!(Some(balance.max), samples.clone().max());
    assert_eq!((balance.total, balance.members), (samples.sum(), 7));
    assert_eq!(balance.imbalance(), (balance.max as f64 * 7.0 / balance.total as f64 * 1e6).round() / 1e6);
    let steps = plan.steps(32).unwrap();
    let of_rank = by_worker.samples.chunks(3).map(|rank| rank.iter().map(|load| load.div_ceil(32)).sum::<u64>());
    assert_eq!((Some(steps.min), Some(steps.max)), (of_rank.clone().min(), of_rank.max()));
}

#[test]
fn readers_agree_on_the_shuffle_and_epochs_differ() {
    let plan = |builder: PlanBuilder| builder.world_size(4).shuffle(true).build().unwrap();
    let mut moving = plan(ShardPlan::builder([5; 64]));
    let first = moving.shards(0, 0).unwrap();
    moving.set_epoch(1).unwrap();
    assert_eq!(moving.epoch(), 1);
    assert_ne!(moving.shards(0, 0).unwrap(), first);
    for rank in 0..4 {
        let fresh = plan(ShardPlan::builder([5; 64]).epoch(1));
        assert_eq!(fresh.shards(rank, 0).unwrap(), moving.shards(rank, 0).unwrap());
    }
    let again = ShardPlan::from_recipe(moving.recipe().unwrap()).epoch(moving.epoch()).build().unwrap();
    assert_eq!(again.config_fingerprint().unwrap(), moving.config_fingerprint().unwrap());
    moving.set_epoch(2).unwrap();
    assert_ne!(again.config_fingerprint().unwrap(), moving.config_fingerprint().unwrap());
    moving.set_epoch(1).unwrap();
    assert_eq!((again.recipe(), again.epoch(), again.seed()), (moving.recipe(), moving.epoch(), moving.seed()));
    assert_eq!(again.shards(3, 0).unwrap(), moving.shards(3, 0).unwrap());
}

#[test]
fn rows_are_those_of_the_shard() {
    let samples = vec![3, 0, 200_000];
    let moving = ShardPlan::builder(samples.clone()).shuffle(true).seed(4).build().unwrap();
    let rows = moving.rows(2, ..).unwrap();
    assert!(!rows.is_sorted());
    // The order of rows does not depend on the shuffle of shards. Without any shuffle, it is the order in which rows
    // are stored.
    let others = || ShardPlan::builder(samples.clone()).seed(4).shuffle(false);
    assert_eq!(others().shuffle_rows(true).build().unwrap().rows(2, ..).unwrap(), rows);
    assert!(others().build().unwrap().rows(2, ..).unwrap().into_iter().eq(0..200_000));
    // Some of these ranges are longer than a window, others are shorter.
    assert_eq!(moving.rows(2, 65_000..140_001).unwrap(), rows[65_000..140_001]);
    assert_eq!(moving.rows_window(2, 199_999, 1).unwrap(), rows[199_999..]);
    assert!(moving.rows(1, ..).unwrap().is_empty());
    let mut sorted = rows;
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..200_000));
}

#[test]
fn lists_longer_than_a_window() {
    let plan = ShardPlan::builder(vec![1; 150_001]).shuffle(false).build().unwrap();
    assert!(plan.shards(0, 0).unwrap().into_iter().eq(0..150_001));
    let builder = ShardPlan::builder([1, 2]).shuffle(false).policy(Policy::RoundRobin);
    let plan = builder.world_size(1 << 17).build().unwrap();
    let loads = plan.loads(Tier::Ranks).unwrap();
    assert_eq!(
        (loads.samples.len(), &loads.samples[..3], loads.bytes, loads.local),
        (1 << 17, &[1, 2, 0][..], None, None)
    );
}

#[test]
fn locality_is_what_is_read_nearby() {
    let holders = [[0], [0], [1], [1]];
    let builder = ShardPlan::builder([10; 4]).bytes([100; 4]).world_size(2).policy(Policy::LocalityAware);
    let plan = builder.shuffle(false).holders(holders).rank_nodes([1, 0]).build().unwrap();
    assert_eq!((plan.shards(0, 0).unwrap(), plan.shards(1, 0).unwrap()), (vec![2, 3], vec![0, 1]));
    assert_eq!(plan.loads(Tier::Ranks).unwrap().local.unwrap(), [200, 200]);
}

#[test]
fn nothing_to_deal() {
    let plan = ShardPlan::builder([]).world_size(3).workers(2).build().unwrap();
    assert_eq!(plan.num_shards(2, 1).unwrap(), 0);
    assert_eq!(plan.load_summary(Tier::Workers, BalanceBy::Samples).unwrap().imbalance(), 1.0);
    let steps = plan.steps(BatchSize::full(8)).unwrap();
    assert!(steps.is_equal() && matches!(steps, Steps { min: 0, .. }));
    assert!(plan.verify().unwrap().is_ok());
    let plan = ShardPlan::builder([0; 5]).world_size(3).policy(Policy::SizeAware).build().unwrap();
    assert!(plan.verify().unwrap().is_ok());
}

#[test]
fn verify_names_what_is_wrong() {
    let found = verify_shards(6, &[vec![5, 0], vec![], vec![0, 3, 3]]).unwrap();
    let overlaps = found.overlaps.iter().map(|it| (it.shard, it.first_reader, it.other_reader)).collect::<Vec<_>>();
    assert_eq!((overlaps, found.gaps.as_slice()), (vec![(0, 0, 2), (3, 2, 2)], &[1..3, 4..5][..]));
    assert_eq!(verify_runs(6, &[0, 2, 2, 5], &[5, 0, 0, 3, 3]).unwrap(), found);
    assert!(verify_shards::<Vec<u32>>(0, &[]).unwrap().is_ok());
    assert_eq!(verify_shards::<Vec<u32>>(2, &[]).unwrap().gaps.as_slice(), std::slice::from_ref(&(0..2)));
}

#[test]
fn chunks_of_a_known_number() {
    for (reader, expected) in [(0, [0, 2, 4, 6, 8]), (1, [1, 3, 5, 7, 9])] {
        let stream = ChunkStream::builder(reader, 2).chunks(10).order("sequential").build().unwrap();
        assert_eq!(stream.chunks(0, 5).unwrap(), expected);
        // With the order `sequential`, the next cycle has the same order.
        assert_eq!(stream.chunks(5, 5).unwrap(), expected);
    }
    let stream = |reader| ChunkStream::builder(reader, 4).chunks(12).order("sequential").build().unwrap();
    let readers = [0, 1, 2, 3].map(stream);
    let first = readers.each_ref().map(|stream| stream.chunks(0, 3).unwrap());
    assert_eq!(first, [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]]);
}

#[test]
fn every_cycle_is_an_epoch() {
    let stream = ChunkStream::builder(0, 1).chunks(50).seed(9).epoch(3).build().unwrap();
    let again = ChunkStream::from_recipe(stream.recipe().unwrap(), 0).epoch(3).build().unwrap();
    assert_eq!((again.recipe(), again.chunks(70, 9)), (stream.recipe(), stream.chunks(70, 9)));
    for cycle in 0..3 {
        let sampler = samedeal::Sampler::builder(50).seed(9).epoch(3 + cycle).build().unwrap();
        assert_eq!(stream.chunks(50 * cycle, 50).unwrap(), sampler.indices::<u64>(..).unwrap());
    }
}

#[test]
fn iteration_goes_on_and_leaps() {
    let stream = ChunkStream::builder(2, 3).chunks(7).order("feistel").build().unwrap();
    let expected = stream.chunks(0, 5_000).unwrap();
    assert!(stream.iter().take(5_000).map(Result::unwrap).eq(expected.iter().copied()));
    for step in [2, 1023, 1024, 1025, 3000] {
        let leapt = stream.iter().step_by(step).take(3).map(Result::unwrap);
        assert!(leapt.eq((0..3).map(|i| stream.chunks(i * step as u64, 1).unwrap()[0])), "{step}");
    }
    let endless = ChunkStream::new(1, 2).unwrap();
    assert_eq!(endless.iter().nth(1 << 40).unwrap().unwrap(), (1 << 41) + 1);
    // Places above 2^53 - 1 give one error, and then the iterator ends.
    let mut beyond = endless.iter().skip(1 << 53);
    assert_eq!(beyond.next().unwrap().unwrap_err().failure().unwrap().field, "start");
    assert!(beyond.next().is_none());
}

#[test]
fn chunks_whose_tables_are_too_many_at_once_come_one_by_one() {
    // Each chunk of this reader is in another cycle, which needs a table of its own.
    let stream = ChunkStream::builder(0, 40_000).chunks(40_000).order("fisher-yates").build().unwrap();
    assert!(stream.chunks(0, 1024).is_err());
    let some: Vec<u64> = stream.iter().take(3).map(Result::unwrap).collect();
    let each: Vec<u64> = (0..3).flat_map(|at| stream.chunks(at, 1).unwrap()).collect();
    assert_eq!(some, each);
}
