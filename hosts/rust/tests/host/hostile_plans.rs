//! Hostile arguments to plans, chunk streams and samplers over shards: each call returns a typed failure, and the
//! object still works.

use std::slice::from_ref;

use crate::{HAS_MEMORY_LIMIT, failing};
use samedeal::{
    BalanceBy, BatchSize, ChunkStream, FailureKind, Policy, Sampler, ShardPlan, Tier, WorkerPolicy, verify_runs,
    verify_shards,
};

fn out_of_range(field: &str) -> (FailureKind, String) {
    (FailureKind::OutOfRange, field.to_owned())
}

fn contradiction(field: &str) -> (FailureKind, String) {
    (FailureKind::Contradiction, field.to_owned())
}

fn out_of_memory(field: &str) -> (FailureKind, String) {
    (FailureKind::OutOfMemory, field.to_owned())
}

#[test]
fn plans_that_make_no_sense() {
    let plan = || ShardPlan::builder([1, 2, 3]);
    assert_eq!(failing(plan().world_size(0).build()), out_of_range("world_size"));
    assert_eq!(failing(plan().workers(0).build()), out_of_range("workers"));
    assert_eq!(failing(plan().world_size(u32::MAX).build()), out_of_range("world_size"));
    assert_eq!(failing(plan().workers(u32::MAX).build()), out_of_range("workers"));
    assert_eq!(failing(ShardPlan::builder([1 << 53]).build()), out_of_range("sizes"));
    assert_eq!(failing(ShardPlan::builder([u64::MAX; 9]).build()), out_of_range("sizes"));
    assert_eq!(failing(plan().bytes([1]).build()), contradiction("bytes"));
    assert_eq!(failing(plan().bytes([u64::MAX; 3]).build()), out_of_range("bytes"));
    assert_eq!(failing(plan().balance_by(BalanceBy::Bytes).build()), (FailureKind::Missing, "bytes".to_owned()));
    let unknown = "locality-aware".parse::<WorkerPolicy>().unwrap_err();
    assert_eq!((unknown.kind, unknown.field.as_str()), (FailureKind::UnknownName, "worker_policy"));
    assert_eq!(unknown.allowed, "size-aware, round-robin");
    assert_eq!(failing(plan().tolerance(50).build()), contradiction("tolerance"));
    assert_eq!(failing(plan().rank_nodes([0]).build()), contradiction("rank_nodes"));
    let local = plan().world_size(2).policy(Policy::LocalityAware);
    assert_eq!(failing(local.clone().build()), (FailureKind::Missing, "holders".to_owned()));
    let alone = local.clone().holders([[0]; 3]);
    assert_eq!(failing(alone.clone().build()), (FailureKind::Missing, "rank_nodes".to_owned()));
    assert_eq!(failing(alone.clone().rank_nodes([0]).build()), contradiction("rank_nodes"));
    let local = local.rank_nodes([0, 7]);
    let nowhere = local.clone().holders([vec![0], vec![], vec![1]]);
    assert_eq!(failing(nowhere.build()), (FailureKind::Missing, "holders".to_owned()));
    assert_eq!(failing(local.clone().holders([[0], [0]]).build()), contradiction("holder_offsets"));
    let list = |name: &str, numbers: &[u64]| (name.to_owned(), numbers.to_vec());
    for offsets in [&[][..], &[0; 4], &[0, 2, 1, 3], &[1, 1, 2, 3], &[0, 1, 2, u64::MAX]] {
        let lists =
            [("sizes", &[1; 3][..]), ("holders", &[0; 3]), ("rank_nodes", &[0, 7]), ("holder_offsets", offsets)];
        let lists = lists.into_iter().map(|(name, numbers)| list(name, numbers)).collect();
        let (kind, field) = failing(local.clone().lists(lists).build());
        assert_ne!(kind, FailureKind::OutOfMemory);
        assert_eq!(field, "holder_offsets", "{offsets:?}");
    }
    assert!(local.holders([[0]; 3]).tolerance(u32::MAX).build().unwrap().verify().unwrap().is_ok());
    assert_eq!(failing(plan().memory_limit(1 << 20).build()), out_of_range("memory_limit"));
}

#[test]
fn calls() {
    let plan = ShardPlan::builder([5; 10]).world_size(2).workers(2).shuffle(true).build().unwrap();
    let before = plan.shards(1, 1).unwrap();
    for (rank, worker, field) in [(2, 0, "rank"), (0, 2, "worker"), (u32::MAX, u32::MAX, "rank")] {
        assert_eq!(failing(plan.shards(rank, worker)), out_of_range(field));
        assert_eq!(failing(plan.num_shards(rank, worker)), out_of_range(field));
        assert_eq!(failing(plan.shards_window(rank, worker, 0, 0)), out_of_range(field));
    }
    assert_eq!(failing(plan.shards_window(0, 0, u32::MAX, 0)), out_of_range("start"));
    assert_eq!(failing(plan.shards_window(0, 0, 0, u32::MAX)), out_of_range("count"));
    assert_eq!(failing(plan.loads_window(Tier::Ranks, 3, 0)), out_of_range("start"));
    assert_eq!(failing(plan.loads_window(Tier::Workers, 4, u32::MAX)), out_of_range("count"));
    assert_eq!(failing(plan.rows(10, ..)), out_of_range("shard"));
    assert_eq!(failing(plan.rows(0, 6..)), out_of_range("start"));
    assert_eq!(failing(plan.rows(0, ..6)), out_of_range("count"));
    assert_eq!(failing(plan.rows_window(0, u64::MAX, u32::MAX)), out_of_range("start"));
    assert_eq!(failing(plan.steps(BatchSize::full(0))), out_of_range("batch_size"));
    assert_eq!(failing(plan.load_summary(Tier::Ranks, BalanceBy::Bytes)), (FailureKind::Missing, "bytes".to_owned()));
    assert_eq!(plan.shards(1, 1).unwrap(), before);
    assert!(plan.verify().unwrap().is_ok());
}

#[test]
fn a_million_shards_for_thousands_of_ranks_need_little_memory() {
    let samples = (0..1_000_000_u64).map(|i| i * 48_271 % 65_537).collect::<Vec<_>>();
    let builder = ShardPlan::builder(samples.clone()).bytes(samples).world_size(4096).policy(Policy::SizeAware);
    let mut plan = builder.clone().shuffle(true).memory_limit(200_000_000).build().unwrap();
    plan.set_epoch(1).unwrap();
    assert!(plan.load_summary(Tier::Ranks, BalanceBy::Samples).unwrap().imbalance() < 1.001);
    assert!(plan.verify().unwrap().is_ok());
    if !HAS_MEMORY_LIMIT {
        return;
    }
    // A plan that does not fit into the memory is refused as out of memory.
    assert_eq!(failing(builder.clone().memory_limit(32 << 20).build()).0, FailureKind::OutOfMemory);
    for limit in (32..80).step_by(7) {
        let plan = builder.clone().memory_limit(limit << 20).build();
        assert!(plan.is_ok() || failing(plan).0 == FailureKind::OutOfMemory, "{limit} MiB");
    }
}

#[test]
#[cfg_attr(not(feature = "component"), ignore = "the memory of the core has no limit")]
fn a_plan_at_the_end_of_its_memory_still_answers() {
    let builder = ShardPlan::builder(vec![3; 1_000_000]).world_size(64).policy(Policy::SizeAware).shuffle(true);
    // Searches for the least memory limit that is enough for one plan. A second plan does not fit beside it.
    let (mut few, mut enough) = (32_usize << 20, 128 << 20);
    while enough - few > 64 << 10 {
        let limit = few.midpoint(enough);
        match builder.clone().memory_limit(limit).build() {
            Ok(_) => enough = limit,
            Err(error) => {
                assert_eq!(failing::<()>(Err(error)).0, FailureKind::OutOfMemory);
                few = limit;
            }
        }
    }
    let mut plan = builder.memory_limit(enough).build().unwrap();
    let before = plan.shards(63, 0).unwrap();
    for _ in 0..3 {
        assert_eq!(failing(plan.set_epoch(1)).0, FailureKind::OutOfMemory);
        assert_eq!((plan.epoch(), plan.shards(63, 0).unwrap()), (0, before.clone()));
        assert_eq!(plan.rows(9, ..).unwrap().len(), 3);
        assert_eq!(plan.steps(10).unwrap().max, 4_688);
        assert!(plan.verify().unwrap().is_ok());
    }
}

#[test]
#[cfg_attr(not(feature = "component"), ignore = "the memory of the core has no limit")]
fn lists_beyond_the_memory() {
    let long = vec![0; 5 << 20];
    assert_eq!(failing(ShardPlan::builder(long.clone()).memory_limit(32 << 20).build()), out_of_memory("sizes"));
    let small = ShardPlan::builder([1]).bytes(long.clone()).memory_limit(32 << 20);
    assert_eq!(failing(small.build()).0, FailureKind::OutOfMemory);
    assert_eq!(failing(Sampler::sharded(long).memory_limit(32 << 20).build()), out_of_memory("sizes"));
    let plan = ShardPlan::builder([1]).policy(Policy::LocalityAware).holders([vec![0; 9 << 20]]).rank_nodes([0]);
    assert_eq!(failing(plan.clone().memory_limit(32 << 20).build()).0, FailureKind::OutOfMemory);
    assert_eq!(plan.build().unwrap().num_shards(0, 0).unwrap(), 1);
}

#[test]
fn verification() {
    assert_eq!(failing(verify_shards(3, &[[0], [3]])), out_of_range("assigned"));
    assert_eq!(failing(verify_shards(0, &[[0]])), out_of_range("assigned"));
    for offsets in [&[][..], &[0], &[1, 2], &[0, 3], &[0, 2, 1, 2]] {
        assert_eq!(failing(verify_runs(3, offsets, &[0, 1])), contradiction("offsets"));
    }
    assert_eq!(verify_runs(u32::MAX, &[0], &[]).unwrap().gaps.as_slice(), from_ref(&(0..u32::MAX)));
    // There are far more overlaps than shards.
    let again = vec![0; 20_000_000];
    assert_eq!(verify_shards(1, &[&again]).unwrap().overlaps.len(), again.len() - 1);
    assert_eq!(verify_shards::<&[u32]>(50_000_000, &[]).unwrap().gaps.as_slice(), from_ref(&(0..50_000_000)));
}

#[test]
fn streams() {
    assert_eq!(failing(ChunkStream::new(0, 0)), out_of_range("readers"));
    assert_eq!(failing(ChunkStream::new(2, 2)), out_of_range("reader"));
    assert_eq!(failing(ChunkStream::builder(0, 1).chunks(0).build()), out_of_range("chunks"));
    assert_eq!(failing(ChunkStream::builder(0, 1).order("feistel").build()), contradiction("name"));
    assert_eq!(failing(ChunkStream::builder(0, 1).chunks(u64::MAX).build()).0, FailureKind::OutOfRange);
    for order in ["", "deal", &"é".repeat(40 << 20)] {
        let unknown = failing(ChunkStream::builder(0, 1).chunks(9).order(order).build());
        assert_eq!(unknown, (FailureKind::UnknownName, "name".to_owned()));
    }
    let stream = ChunkStream::new(1, 2).unwrap();
    assert_eq!(failing(stream.chunks(u64::MAX, 1)), out_of_range("start"));
    assert_eq!(failing(stream.chunks(0, u32::MAX)), out_of_range("count"));
    assert_eq!(stream.chunks(3, 2).unwrap(), [7, 9]);
    if !HAS_MEMORY_LIMIT {
        return;
    }
    let builder = ChunkStream::builder(0, 1).chunks(50_000_000).order("fisher-yates");
    let narrow = builder.memory_limit(64 << 20).build().unwrap();
    for _ in 0..3 {
        assert_eq!(failing(narrow.chunks(0, 1)).0, FailureKind::OutOfMemory);
        assert!(narrow.iter().map(failing).map(|(kind, _)| kind).eq([FailureKind::OutOfMemory]));
    }
}

#[test]
fn samplers_over_shards() {
    let sharded = |lanes, shuffle_window| Sampler::sharded([9, 4]).lanes(lanes).shuffle_window(shuffle_window).build();
    assert_eq!(failing(sharded(0, 1)), out_of_range("lanes"));
    assert_eq!(failing(sharded(65_537, 1)), out_of_range("lanes"));
    assert_eq!(failing(sharded(1, 0)), out_of_range("shuffle_window"));
    assert_eq!(failing(sharded(1, (1 << 20) + 1)), out_of_range("shuffle_window"));
    assert_eq!(failing(Sampler::sharded([u64::MAX, u64::MAX]).build()).0, FailureKind::OutOfRange);
    assert_eq!(failing(Sampler::sharded([1]).order("feistel").build()).0, FailureKind::Contradiction);
    let missing = failing(Sampler::builder(10).order("sharded").build());
    assert_eq!(missing, (FailureKind::Missing, "sizes".to_owned()));
    let other = failing(Sampler::builder(14).order("sharded").sizes([9, 4]).build());
    assert_eq!(other, contradiction("samples"));
    let sampler = sharded(4, 2).unwrap();
    assert_eq!(failing(sampler.round(u64::MAX)), out_of_range("number"));
    assert_eq!(failing(sampler.shard_of(13)), out_of_range("sample"));
    assert_eq!(sampler.shard_of(9).map(|place| (place.shard, place.row)), Ok((1, 0)));
    // The greatest numbers of lanes, of samples in a window, and of shards in a round.
    let samples = Sampler::sharded(vec![1; (1 << 20) + 1]).lanes(1).shuffle_window(1 << 20).build().unwrap();
    assert_eq!(samples.round(0).unwrap().spans.len(), 1 << 20);
    let samples = Sampler::sharded(vec![1; (1 << 20) + 2]).lanes(2).shuffle_window(1 << 20).build().unwrap();
    assert_eq!(failing(samples.round(0)), out_of_range("shuffle_window"));
    assert_eq!(samples.num_rounds().unwrap(), 1);
    let samples = Sampler::sharded(vec![1; 100_000]).lanes(4096).shuffle_window(1 << 20).build().unwrap();
    assert_eq!(samples.round(0).unwrap().spans.len(), 100_000);
}
