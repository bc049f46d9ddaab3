//! Hostile arguments to batchers and streams: each call returns a typed failure, and the object still works.

use crate::{HAS_MEMORY_LIMIT, failing};
use samedeal::{
    Batch, BatchBuilder, BatchStream, Batcher, Counting, Error, FailureKind, Packing, Strategy, Tail, TooLong,
};

fn out_of_range(field: &str) -> (FailureKind, String) {
    (FailureKind::OutOfRange, field.to_owned())
}

fn contradiction(field: &str) -> (FailureKind, String) {
    (FailureKind::Contradiction, field.to_owned())
}

fn missing(field: &str) -> (FailureKind, String) {
    (FailureKind::Missing, field.to_owned())
}

/// Options that both batchers and streams refuse.
fn refused<T>(builder: impl Fn() -> BatchBuilder<T>, build: impl Fn(BatchBuilder<T>) -> (FailureKind, String)) {
    let (bucket, pack) = (|| builder().strategy(Strategy::Bucket), || builder().strategy(Strategy::Pack));
    let good = || builder().max_tokens(10);
    assert_eq!(build(builder()), missing("max_tokens"));
    assert_eq!(build(builder().max_length(9)), missing("max_tokens"));
    assert_eq!(build(builder().max_batch_size(9)), missing("max_tokens"));
    assert_eq!(build(pack()), missing("capacity"));
    assert_eq!(build(builder().max_tokens(0)), out_of_range("max_tokens"));
    assert_eq!(build(builder().max_batch_size(0).max_length(9)), out_of_range("max_batch_size"));
    assert_eq!(build(pack().capacity(0)), out_of_range("capacity"));
    assert_eq!(build(pack().max_length(0)), out_of_range("capacity"));
    assert_eq!(build(bucket().max_batch_size(0)), out_of_range("max_batch_size"));
    assert_eq!(build(good().batch_size_multiple(0)), out_of_range("batch_size_multiple"));
    assert_eq!(build(good().world_size(0)), out_of_range("world_size"));
    assert_eq!(build(good().world_size(0).rank(9)), out_of_range("world_size"));
    assert_eq!(build(good().world_size((1 << 20) + 1)), out_of_range("world_size"));
    assert_eq!(build(good().rank(1)), out_of_range("rank"));
    assert_eq!(build(good().world_size(3).rank(u32::MAX)), out_of_range("rank"));
    assert_eq!(build(bucket().bucket_width(0)), out_of_range("bucket_width"));
    assert_eq!(build(bucket().quantiles(0)), out_of_range("quantiles"));
    assert_eq!(build(bucket().quantiles(u32::MAX)), out_of_range("quantiles"));
    assert_eq!(build(bucket().boundaries([2, 1])), contradiction("boundaries"));
    assert_eq!(build(good().memory_limit(1 << 20)), out_of_range("memory_limit"));
    if HAS_MEMORY_LIMIT {
        assert_eq!(build(bucket().boundaries(0..9 << 20).memory_limit(32 << 20)).0, FailureKind::OutOfMemory);
    }
}

#[test]
fn batchers_that_make_no_sense() {
    let builder = || Batcher::builder([1, 2, 3]);
    refused(builder, |builder| failing(builder.build()));
    let good = || builder().max_tokens(10);
    assert_eq!(failing(good().order("sharded").build()), (FailureKind::Missing, "sizes".to_owned()));
    let past = |segments: usize| {
        let mut batcher = good().build().unwrap();
        let segments = vec![r#"{"world_size":1,"steps":0}"#; segments].join(",");
        let past = format!(r#""history":[{segments}],"window":8192,"checksum":"0000000000000000""#);
        let state = batcher.state(0).unwrap().replace(r#""history":[]"#, &past);
        failing(batcher.resume(&state))
    };
    assert_eq!(past(4_097), out_of_range("history"));
    assert_eq!(failing(good().order("dotnet").seed(i64::MAX).build()), out_of_range("seed"));
    for order in ["", "Feistel", &"é".repeat(40 << 20)] {
        assert_eq!(failing(good().order(order).build()), (FailureKind::UnknownName, "name".to_owned()));
    }
    // Lengths that do not fit are refused when their window is planned.
    let planned = |builder: BatchBuilder<Batcher>| failing(builder.build().unwrap().num_steps());
    assert_eq!(planned(builder().max_tokens(2)), out_of_range("lengths"));
    assert_eq!(planned(good().max_length(2)), out_of_range("lengths"));
    let split = Batcher::builder([u32::MAX]).max_tokens(1).too_long(TooLong::Split);
    assert_eq!(planned(split), out_of_range("max_length"));
    if HAS_MEMORY_LIMIT {
        let split = Batcher::builder([u32::MAX - 1]).max_tokens(1).too_long(TooLong::Split);
        assert_eq!(planned(split).0, FailureKind::OutOfMemory);
    }
}

#[test]
fn names_must_be_known() {
    let fields = [
        "x".parse::<Strategy>().unwrap_err(),
        "x".parse::<Counting>().unwrap_err(),
        "x".parse::<TooLong>().unwrap_err(),
        "x".parse::<Tail>().unwrap_err(),
        "x".parse::<Packing>().unwrap_err(),
    ];
    let known = [
        ("strategy", "budget, bucket, pack, pad-to-max"),
        ("counting", "padded, unpadded, weighted"),
        ("too_long", "error, truncate, drop, split, single"),
        ("tail", "even-split, drop, keep, duplicate"),
        ("packing", "fast, optimal"),
    ];
    for (failure, (field, allowed)) in fields.iter().zip(known) {
        assert_eq!(failure.kind, FailureKind::UnknownName);
        assert_eq!((failure.field.as_str(), failure.allowed.as_str()), (field, allowed));
        assert!(allowed.split(", ").all(|name| field != "tail" || name.parse::<Tail>().unwrap().name() == name));
    }
}

#[test]
fn greatest_numbers() {
    // Each option that a strategy uses has its greatest value.
    let (most, all) = (u32::MAX, u64::MAX);
    let batch = |strategy: Strategy, counting: Counting| {
        let is_weighted = counting == Counting::Weighted;
        let limit = if is_weighted { "max_cost" } else { "max_tokens" };
        let cost = if is_weighted { format!(r#","linear":{most},"quadratic":{most}"#) } else { String::new() };
        let own = match (strategy, counting) {
            (Strategy::PadToMax, _) => String::new(),
            (Strategy::Pack, _) => format!(r#","capacity":{most},"batch_window":{most}"#),
            (Strategy::Budget, Counting::Unpadded | Counting::Weighted) => {
                format!(r#","{limit}":"{all}","batch_window":{most}"#)
            }
            _ => format!(r#","{limit}":"{all}","batch_window":{most},"batch_size_multiple":{most}"#),
        };
        format!(
            r#"{{"strategy":"{strategy}","counting":"{counting}","max_batch_size":{most},"too_long":"single"{cost}{own}}}"#
        )
    };
    for &strategy in Strategy::ALL {
        for &counting in Counting::ALL {
            let (order, deal) = (format!(r#"{{"seed":"{}"}}"#, i64::MIN), format!(r#"{{"world_size":{}}}"#, 1 << 20));
            let recipe = format!(r#"{{"order":{order},"deal":{deal},"batch":{}}}"#, batch(strategy, counting));
            let batcher = Batcher::from_recipe(recipe, [0, 1, u32::MAX]).epoch(u64::MAX).build().unwrap();
            assert_eq!(batcher.metrics().unwrap().items, 3, "{strategy}, {counting}");
            assert!(batcher.metrics().unwrap().padding_ratio() <= 1.0);
            let found = [0, (1 << 20) - 1].map(|rank| batcher.batch_of(rank, 0).unwrap().samples.len());
            assert!(found.iter().sum::<usize>() <= 3, "{strategy}, {counting}");
        }
    }
}

#[test]
fn calls() {
    let mut batcher = Batcher::builder([5; 100]).max_tokens(20).world_size(2).build().unwrap();
    let before = batcher.iter().collect::<Vec<_>>();
    let steps = batcher.num_steps().unwrap();
    assert_eq!(failing(batcher.batch(steps)), out_of_range("step"));
    assert_eq!(failing(batcher.batch(u64::MAX)), out_of_range("step"));
    assert_eq!(failing(batcher.batch_of(2, 0)), out_of_range("rank"));
    assert_eq!(failing(batcher.batches(steps + 1..)), out_of_range("start"));
    // The end of a range is checked when the iterator gets there.
    for end in [steps, u64::MAX] {
        let found = batcher.batches(..=end).unwrap().collect::<Vec<_>>();
        assert_eq!((found.len() as u64, found[..steps as usize].to_vec()), (steps + 1, before.clone()));
        assert_eq!(failing(found[steps as usize].clone()), out_of_range("count"));
    }
    assert_eq!(failing(batcher.batches_of(2, ..)), out_of_range("rank"));
    let (start, end) = (9, 1);
    assert_eq!(failing(batcher.batches_of(u32::MAX, start..end)), out_of_range("rank"));
    assert!(batcher.batches(start..end).unwrap().next().is_none());
    assert_eq!(failing(batcher.batches_window(0, u64::MAX - 1, 1)), out_of_range("start"));
    assert_eq!(failing(batcher.batches_window(0, 0, u32::MAX)), out_of_range("count"));
    assert_eq!(failing(batcher.batches_window(0, steps, 1)), out_of_range("count"));
    batcher.set_epoch(u64::MAX).unwrap();
    batcher.set_epoch(0).unwrap();
    assert_eq!(batcher.iter().collect::<Vec<_>>(), before);
    let nothing = Batcher::builder([]).max_tokens(3).world_size(2).build().unwrap();
    assert_eq!((nothing.num_steps().unwrap(), nothing.iter().next()), (0, None));
    let error = nothing.batch(0).unwrap_err();
    assert_eq!(error.to_string(), "step is 0; allowed: none, there are none");
}

#[test]
#[cfg_attr(not(feature = "component"), ignore = "the memory of the core has no limit")]
fn more_lengths_than_there_is_memory_for() {
    let long = vec![1; 8 << 20];
    let planned = |builder: BatchBuilder<Batcher>| builder.build().and_then(|batcher| batcher.num_steps());
    // The table of the order does not fit into the memory. The lengths do not matter, because they stay in the host.
    let builder = Batcher::builder(&*long).max_tokens(10).memory_limit(32 << 20);
    assert_eq!(failing(planned(builder.clone().order("torch"))).0, FailureKind::OutOfMemory);
    assert!(planned(builder).is_ok());
    for &strategy in Strategy::ALL {
        let some = Batcher::builder(&long[..1 << 20]).strategy(strategy).max_batch_size(8).max_length(64);
        let some = if strategy == Strategy::PadToMax { some } else { some.batch_window(1 << 20) };
        // Some of these memory limits are large enough, and others are not.
        let mut made = 0;
        for limit in (32..200).step_by(23) {
            let steps = planned(some.clone().memory_limit(limit << 20));
            made += usize::from(steps.is_ok());
            assert!(steps.is_ok() || failing(steps).0 == FailureKind::OutOfMemory, "{strategy}, {limit} MiB");
        }
        assert!(made > 0, "{strategy}");
    }
}

#[test]
#[cfg_attr(not(feature = "component"), ignore = "the memory of the core has no limit")]
fn a_batcher_at_the_end_of_its_memory_still_answers() {
    let builder = Batcher::builder(vec![3; 2 << 20]).max_tokens(900).batch_window(2 << 20).world_size(2);
    // Searches for the least memory limit that is enough to plan the window.
    let planned = |limit: usize| {
        let batcher = builder.clone().memory_limit(limit).build()?;
        batcher.num_steps().map(|_| batcher)
    };
    let (mut few, mut enough) = (32_usize << 20, 256 << 20);
    while enough - few > 1 << 20 {
        let limit = few.midpoint(enough);
        match planned(limit) {
            Ok(_) => enough = limit,
            Err(error) => {
                assert_eq!(failing::<()>(Err(error)).0, FailureKind::OutOfMemory);
                few = limit;
            }
        }
    }
    let mut batcher = planned(enough).unwrap();
    let (before, metrics) = (batcher.batch(7).unwrap(), batcher.metrics().unwrap());
    for epoch in 1..3 {
        batcher.set_epoch(epoch).unwrap();
        assert_eq!(batcher.metrics().unwrap(), metrics);
        batcher.set_epoch(0).unwrap();
        assert_eq!((batcher.epoch(), batcher.batch(7).unwrap()), (0, before.clone()));
    }
    let batcher = builder.memory_limit(few).build().unwrap();
    for _ in 0..3 {
        assert_eq!(failing(batcher.batch(7)).0, FailureKind::OutOfMemory);
        assert_eq!((batcher.epoch(), batcher.num_windows()), (0, 1));
    }
}

#[test]
#[cfg_attr(not(feature = "component"), ignore = "the memory of the core has no limit")]
fn batches_too_large_together_come_one_by_one() {
    // 64 steps of 2^15 samples do not fit into the memory beside the plan; one step does.
    let batcher = Batcher::builder(vec![1; 1 << 20]).strategy(Strategy::PadToMax).max_batch_size(1 << 15);
    let batcher = batcher.memory_limit(32 << 20).build().unwrap();
    assert_eq!(batcher.num_steps().unwrap(), 32);
    assert_eq!(failing(batcher.batches_window(0, 0, 32)).0, FailureKind::OutOfMemory);
    let mut seen = batcher.iter().flat_map(|batch| batch.unwrap().samples).collect::<Vec<_>>();
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..1 << 20));
    // A single batch that does not fit gives one error, and the batcher still works.
    let all = Batcher::builder(vec![0; 1 << 20]).max_tokens(1 << 20).batch_window(1 << 20).memory_limit(32 << 20);
    let batcher = all.build().unwrap();
    for _ in 0..3 {
        let found = batcher.iter().map(failing).collect::<Vec<_>>();
        assert_eq!(found, [(FailureKind::OutOfMemory, "count".to_owned())]);
        assert_eq!(batcher.metrics().unwrap().items, 1 << 20);
    }
}

#[test]
fn streams_that_make_no_sense() {
    refused(BatchStream::builder, |builder| failing(builder.build()));
    let good = || BatchStream::builder().max_tokens(10);
    assert_eq!(failing(good().batch_window((1 << 24) + 1).build()), out_of_range("batch_window"));
    assert_eq!(
        failing(BatchStream::builder().strategy(Strategy::Bucket).quantiles(4).build()),
        contradiction("quantiles")
    );
}

#[test]
fn a_stream_still_works_after_a_failure() {
    let mut stream = BatchStream::builder().max_tokens(10).batch_window(2).build().unwrap();
    assert_eq!(failing(stream.push(&[1, 2], &[3])), contradiction("lengths"));
    assert_eq!(failing(stream.push(&[], &[3])), contradiction("lengths"));
    assert_eq!(failing(stream.push(&[1 << 53], &[3])), out_of_range("samples"));
    assert_eq!(failing(stream.push(&[1, 2], &[3, 11])), out_of_range("lengths"));
    stream.push(&[], &[]).unwrap();
    stream.push(&[0, 1, 2], &[3, 3, 3]).unwrap();
    stream.flush().unwrap();
    stream.flush().unwrap();
    assert_eq!(failing(stream.push(&[3], &[3])), contradiction("samples"));
    assert_eq!(samples(stream.ready()), [0, 1, 2]);
    assert_eq!(stream.metrics().unwrap().items, 3);
}

#[test]
#[cfg_attr(not(feature = "component"), ignore = "the memory of the core has no limit")]
fn a_stream_at_the_end_of_its_memory_loses_nothing() {
    for limit in (32..70).step_by(12) {
        filled(limit << 20);
    }
}

fn filled(memory_limit: usize) {
    const PIECE: usize = 2_000;
    let stream = BatchStream::builder().max_tokens(10_000).batch_window(1 << 16).memory_limit(memory_limit);
    let mut stream = stream.build().unwrap();
    let (mut pushed, mut seen) = (0_u64, Vec::new());
    let mut push = |stream: &mut BatchStream, count: usize| {
        let numbers = (pushed..pushed + count as u64).collect::<Vec<_>>();
        let lengths = numbers.iter().map(|&number| number as u32 % 500).collect::<Vec<_>>();
        stream.push(&numbers, &lengths).inspect(|()| pushed += count as u64)
    };
    for _ in 0..2 {
        let refused = (0..).map(|_| push(&mut stream, PIECE)).find(Result::is_err).unwrap();
        assert_eq!(failing(refused).0, FailureKind::OutOfMemory);
        // The first count exceeds the free memory, the second one any memory.
        for count in [1 << 20, 1 << 24] {
            assert_eq!(failing(push(&mut stream, count)).0, FailureKind::OutOfMemory);
        }
        // Batches that are taken free their memory.
        let before = seen.len();
        seen.extend(samples(stream.ready()));
        assert!(seen.len() > before);
        for _ in 0..9 {
            push(&mut stream, PIECE).unwrap();
        }
    }
    stream.flush().unwrap();
    seen.extend(samples(stream.ready()));
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..pushed), "{memory_limit}");
}

#[test]
#[cfg_attr(not(feature = "component"), ignore = "the memory of the core has no limit")]
fn a_stream_whose_memory_is_full_goes_on() {
    let push = |stream: &mut BatchStream, from: u64, count: u64| {
        stream.push(&(from..from + count).collect::<Vec<_>>(), &vec![1; count as usize])
    };
    let planned = |limit: usize| {
        let stream = BatchStream::builder().max_tokens(10_000).batch_window(600_000).memory_limit(limit);
        let mut stream = stream.build()?;
        (0..92).try_for_each(|piece| push(&mut stream, piece * 10_000, 10_000))?;
        stream.take().map(|batches| (stream, batches.unwrap().len()))
    };
    // Searches for the least memory limit that is enough for a window of waiting samples and its plan.
    let (mut few, mut enough) = (32_usize << 20, 96 << 20);
    while enough - few > 64 << 10 {
        let limit = few.midpoint(enough);
        match planned(limit) {
            Ok(_) => enough = limit,
            Err(error) => {
                assert_eq!(failing::<()>(Err(error)).0, FailureKind::OutOfMemory);
                few = limit;
            }
        }
    }
    let (mut stream, batches) = planned(enough).unwrap();
    assert_eq!(batches, 60);
    assert_eq!(failing(push(&mut stream, 0, 1 << 22)).0, FailureKind::OutOfMemory);
    // A few more samples always fit.
    for more in 0..9 {
        push(&mut stream, 920_000 + more * 2_000, 2_000).unwrap();
    }
    stream.flush().unwrap();
    let samples = samples(stream.ready());
    assert_eq!((samples.len(), samples.last()), (338_000, Some(&937_999)));
}

fn samples(batches: impl Iterator<Item = Result<Batch, Error>>) -> Vec<u64> {
    let mut samples = batches.flat_map(|batch| batch.unwrap().samples).collect::<Vec<_>>();
    samples.sort_unstable();
    samples
}
