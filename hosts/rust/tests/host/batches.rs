//! Properties that hold for all plans of batches, and for streams of batches.

use samedeal::{
    Batch, BatchBuilder, BatchStream, Batcher, Counting, Error, FailureKind, Metrics, Packing, RankBatches, Strategy,
    Tail, TooLong,
};

use crate::failing;

/// Lengths without a pattern, 0 to 499.
fn lengths(count: u32) -> Vec<u32> {
    (0..count).map(|i| (i.wrapping_mul(2_654_435_761) >> 7) % 500).collect()
}

/// Sets the options that a strategy needs.
fn with<T>(builder: BatchBuilder<T>, strategy: Strategy) -> BatchBuilder<T> {
    let builder = builder.strategy(strategy).max_length(500);
    match strategy {
        Strategy::PadToMax => builder.max_batch_size(16),
        Strategy::Bucket => builder.max_batch_size(16).bucket_width(64),
        Strategy::Pack => builder.capacity(600).max_batch_size(2),
        _ => builder.max_tokens(4_000),
    }
}

/// Sets the options that a strategy needs, and a window if the strategy has windows.
fn in_windows<T>(builder: BatchBuilder<T>, strategy: Strategy, window: u32) -> BatchBuilder<T> {
    let builder = with(builder, strategy);
    if strategy == Strategy::PadToMax { builder } else { builder.batch_window(window) }
}

fn all(batches: RankBatches<'_>) -> Vec<Batch> {
    batches.collect::<Result<_, _>>().unwrap()
}

#[test]
fn every_sample_once_and_no_batch_over_its_budget() {
    let lengths = lengths(3_000);
    for (&strategy, world) in Strategy::ALL.iter().flat_map(|strategy| [(strategy, 1), (strategy, 3)]) {
        let builder = in_windows(Batcher::builder(lengths.clone()), strategy, 512);
        let batcher = builder.world_size(world).seed(9).build().unwrap();
        let (mut seen, mut counted) = (Vec::new(), [0; 7]);
        for step in 0..batcher.num_steps().unwrap() {
            let batches = (0..world).map(|rank| batcher.batch_of(rank, step).unwrap()).collect::<Vec<_>>();
            let padded = |batch: &Batch| (batch.shape().0 * batch.shape().1) as u64;
            for batch in &batches {
                let (rows, width) = batch.shape();
                assert_eq!((batch.rows().len(), batch.repeated), (rows, 0));
                assert!(batch.rows().flatten().eq(&batch.samples));
                assert!(batch.samples.iter().map(|&sample| lengths[sample as usize]).eq(batch.lengths.iter().copied()));
                let held = batch.rows().map(|row| row.iter().map(|&it| lengths[it as usize] as usize).sum::<usize>());
                let fullest = held.max().unwrap_or(0);
                match strategy {
                    Strategy::PadToMax | Strategy::Bucket => assert!(rows <= 16 && width == fullest),
                    Strategy::Pack => assert!(rows <= 2 && width == 600 && fullest <= 600),
                    _ => assert!(padded(batch) <= 4_000 && width == fullest),
                }
                let tokens = batch.lengths.iter().map(|&length| u64::from(length)).sum();
                let parts = [batch.samples.len() as u64, rows as u64, tokens, padded(batch), batch.cost];
                counted.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
                seen.extend_from_slice(&batch.samples);
            }
            counted[5] += batches.iter().map(padded).max().unwrap();
            counted[6] += batches.iter().map(|batch| batch.cost).max().unwrap();
        }
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..3_000), "{strategy}, {world} ranks");
        let Metrics { items, rows, tokens, padded, cost, slowest, slowest_cost, .. } = batcher.metrics().unwrap();
        assert_eq!([items, rows, tokens, padded, cost, slowest, slowest_cost], counted, "{strategy}, {world} ranks");
    }
}

#[test]
fn ratios() {
    let batcher = Batcher::builder(lengths(3_000)).max_tokens(4_000).world_size(3).build().unwrap();
    let metrics = batcher.metrics().unwrap();
    let [tokens, padded, slowest] = [metrics.tokens, metrics.padded, metrics.slowest].map(|number| number as f64);
    let to_six_places = |ratio: f64| (ratio * 1e6).round() / 1e6;
    assert_eq!(metrics.padding_ratio(), to_six_places((padded - tokens) / padded));
    assert_eq!(metrics.budget_utilization(), to_six_places(tokens / (4_000.0 * metrics.steps as f64 * 3.0)));
    assert_eq!(metrics.slowest_rank_utilization(), to_six_places(tokens / (3.0 * slowest)));
    assert_eq!(metrics.cost_imbalance(), to_six_places(3.0 * metrics.slowest_cost as f64 / metrics.cost as f64));
    // With weighted counting, the utilization counts the cost: these batches are full by their cost, not by their
    // tokens.
    let weighted = Batcher::builder([10; 40]).counting(Counting::Weighted).quadratic(1).max_cost(1_100);
    assert_eq!(weighted.build().unwrap().metrics().unwrap().budget_utilization(), 1.0);
    let packed = with(Batcher::builder([300; 8]), Strategy::Pack).build().unwrap();
    assert_eq!(packed.metrics().unwrap().packs_bound, 4);
    assert_eq!(packed.metrics().unwrap().budget_utilization(), 1.0);
    let unbounded = with(Batcher::builder([3]), Strategy::PadToMax).build().unwrap();
    assert_eq!(unbounded.metrics().unwrap().budget_utilization(), 1.0);
    let nothing = Batcher::builder([]).max_tokens(5).build().unwrap();
    let none = nothing.metrics().unwrap();
    assert_eq!((none.padding_ratio(), none.budget_utilization()), (0.0, 1.0));
    assert_eq!((none.slowest_rank_utilization(), none.cost_imbalance()), (1.0, 1.0));
    let named = metrics.named().collect::<Vec<_>>();
    assert_eq!((named.len(), named[0], named[4]), (16, ("steps", metrics.steps), ("padded", metrics.padded)));
}

#[test]
fn a_recipe_has_the_options_and_the_defaults() {
    let batch = |builder: BatchBuilder<Batcher>| {
        let recipe = builder.build().unwrap().recipe().unwrap();
        recipe.split_once("\"batch\":").unwrap().1.replace("\"too_long\":\"error\",\"tail\":\"even-split\",", "")
    };
    let some = || Batcher::builder([1]);
    for (builder, expected) in [
        (
            some().max_batch_size(8).max_length(64),
            r#""max_batch_size":8,"max_length":64,"max_tokens":512,"batch_size_multiple":1"#,
        ),
        (some().max_tokens(3), r#""max_tokens":3,"batch_size_multiple":1"#),
    ] {
        let expected = format!(r#"{{"strategy":"budget","counting":"padded",{expected},"lengths":[1]}}}}"#);
        assert_eq!(batch(builder), expected);
    }
    let bucket = some().strategy(Strategy::Bucket).boundaries([4, 9]).max_tokens(9).too_long(TooLong::Drop);
    let bucket = batch(bucket.separate_buckets(true));
    assert!(bucket.contains(r#""max_tokens":9,"batch_size_multiple":1,"boundaries":[4,9],"#), "{bucket}");
    assert!(bucket.contains(r#""separate_buckets":true,"pad_to_bucket":false,"too_long":"drop""#), "{bucket}");
    let pack = some().strategy(Strategy::Pack).max_length(64).packing(Packing::Optimal).batch_window(5);
    assert!(batch(pack).contains(r#""max_length":64,"capacity":64,"packing":"optimal","batch_window":5,"#));
    let weighted = some().counting(Counting::Weighted).linear(0).quadratic(7).max_cost(u64::MAX).tail(Tail::Keep);
    let weighted = batch(weighted.keep_order(true));
    assert!(weighted.contains(r#""counting":"weighted","linear":0,"quadratic":7,"#), "{weighted}");
    assert!(
        weighted.contains(r#""max_cost":"18446744073709551615","packing":"fast","keep_order":true,"#),
        "{weighted}"
    );
    assert!(weighted.contains(r#""tail":"keep""#), "{weighted}");
    let widths = some().strategy(Strategy::Bucket).bucket_width(20).batch_size_multiple(4);
    assert!(batch(widths).contains(r#""max_batch_size":32,"batch_size_multiple":4,"bucket_width":20,"#));
    assert!(batch(some().strategy(Strategy::Bucket).quantiles(30)).contains(r#""quantiles":30,"#));
    assert!(
        batch(some().strategy(Strategy::PadToMax))
            .starts_with(r#"{"strategy":"pad-to-max","counting":"padded","max_batch_size":32,"#)
    );
    let batcher = some().max_tokens(1).seed(-4).order("torch").world_size(3).rank(2).epoch(9).build().unwrap();
    let recipe = batcher.recipe().unwrap();
    let begin = r#"{"samedeal":1,"order":{"name":"torch","samples":1,"seed":-4},"deal":{"world_size":3},"batch":{"#;
    assert!(recipe.starts_with(begin), "{recipe}");
    assert_eq!((batcher.rank(), batcher.world_size(), batcher.epoch(), batcher.consumed()), (2, 3, 9, 0));
}

#[test]
fn a_recipe_makes_the_same_batches_again() {
    for &strategy in Strategy::ALL {
        for count in [200, 300] {
            let builder =
                with(Batcher::builder(lengths(count)), strategy).seed(-5).order("python").world_size(4).rank(2);
            let mut batcher = builder.build().unwrap();
            batcher.set_epoch(u64::MAX).unwrap();
            let recipe = batcher.recipe().unwrap();
            let again = || Batcher::from_recipe(&recipe, lengths(count));
            let same = again().epoch(u64::MAX).build().unwrap();
            assert_eq!((same.recipe().unwrap(), same.rank()), (recipe.clone(), 0));
            assert_eq!(same.recipe_fingerprint().unwrap(), batcher.recipe_fingerprint().unwrap());
            assert_eq!(same.fingerprint().unwrap(), batcher.fingerprint().unwrap());
            // Options that are set after the recipe replace those of the recipe.
            let other = again().world_size(3).seed(1).build().unwrap();
            let seeds = recipe.replace("\"seed\":-5", "\"seed\":1").replace("\"world_size\":4", "\"world_size\":3");
            assert_eq!((other.recipe().unwrap(), other.world_size()), (seeds, 3));
        }
    }
    let recipe = Batcher::builder([3; 300]).max_tokens(9).build().unwrap().recipe().unwrap();
    assert_eq!(
        failing(Batcher::from_recipe(&recipe, [3; 299]).build()),
        (FailureKind::Contradiction, "samples".into())
    );
    for (text, expected) in [
        ("", (FailureKind::WrongType, "recipe")),
        ("{\"batch\":{\"max_tokens\":5,\"buget\":1}}", (FailureKind::UnknownMember, "batch")),
        ("{\"batch\":{\"max_tokens\":5,\"capacity\":1}}", (FailureKind::Contradiction, "capacity")),
        ("{\"batch\":{\"max_tokens\":5},\"order\":{\"samples\":4}}", (FailureKind::Contradiction, "samples")),
        ("{\"batch\":[]}", (FailureKind::WrongType, "batch")),
        (&format!("{{}}{}", " ".repeat(1 << 24)), (FailureKind::OutOfRange, "recipe")),
    ] {
        let plain = Batcher::from_recipe(text, [1; 3]);
        assert_eq!(failing(plain.clone().build()), (expected.0.clone(), expected.1.into()), "{}", text.trim());
        assert_eq!(failing(plain.world_size(2).build()), (expected.0, expected.1.into()), "{}", text.trim());
    }
    let shown = format!("{:?}", Batcher::builder(vec![1; 1_000]).max_tokens(9).build().unwrap());
    assert!(shown.starts_with("Batcher { rank: 0, world_size: 1, epoch: 0") && shown.len() < 200, "{shown}");
}

#[test]
fn buckets() {
    let bucket = || with(Batcher::builder(lengths(3_000)), Strategy::Bucket);
    let print = |builder: BatchBuilder<Batcher>| builder.build().unwrap().fingerprint().unwrap();
    let unset = || Batcher::builder(lengths(3_000)).strategy(Strategy::Bucket).max_length(500).max_batch_size(16);
    let multiples = print(unset().boundaries((1..=8).map(|end| end * 64)));
    assert_eq!(print(bucket()), multiples);
    assert_ne!(print(unset().bucket_width(100)), multiples);
    assert_ne!(print(unset().quantiles(8)), multiples);
    // Only one option may define the buckets: `bucket_width` and `quantiles` contradict each other.
    assert_eq!(failing(bucket().quantiles(8).build()).0, FailureKind::Contradiction);
}

#[test]
fn what_is_too_long_and_what_is_left() {
    let of = |too_long, budget| Batcher::builder([3, 50, 7]).max_tokens(budget).too_long(too_long).build().unwrap();
    let cut = of(TooLong::Truncate, 10);
    let mut lengths = all(cut.iter()).into_iter().flat_map(|batch| batch.lengths).collect::<Vec<_>>();
    lengths.sort_unstable();
    assert_eq!((lengths, cut.metrics().unwrap().truncated), (vec![3, 7, 10], 1));
    assert_eq!(of(TooLong::Drop, 10).metrics().unwrap().too_long, 1);
    assert_eq!(of(TooLong::Single, 10).metrics().unwrap().over_budget, 1);
    let parts = of(TooLong::Split, 20);
    let items = |batch: Batch| batch.samples.into_iter().zip(batch.starts).zip(batch.lengths);
    let mut items = all(parts.iter()).into_iter().flat_map(items).collect::<Vec<_>>();
    items.sort_unstable();
    assert_eq!(items, [((0, 0), 3), ((1, 0), 20), ((1, 20), 20), ((1, 40), 10), ((2, 0), 7)]);
    let of = |tail| Batcher::builder([1; 3]).max_tokens(1).world_size(2).tail(tail).build().unwrap().metrics().unwrap();
    assert_eq!((of(Tail::Drop).dropped, of(Tail::Keep).empty, of(Tail::Duplicate).repeated), (1, 1, 1));
    let shared = Batcher::builder([1; 3]).max_tokens(2).world_size(2).tail(Tail::EvenSplit).build().unwrap();
    assert_eq!((shared.metrics().unwrap().empty, shared.metrics().unwrap().items), (0, 3));
}

#[test]
fn a_pass_gives_all_batches_before_the_window_that_fails() {
    let lengths: Vec<u32> = (0..400).map(|sample| if sample == 300 { 99 } else { 5 }).collect();
    let builder = Batcher::builder(lengths).order("sequential").max_tokens(50).world_size(2).batch_window(100);
    let found: Vec<_> = builder.build().unwrap().iter().collect();
    assert_eq!(found.len(), 16);
    assert!(found[..15].iter().all(|batch| batch.as_ref().unwrap().samples.len() == 10));
    assert!(found[15].as_ref().unwrap_err().to_string().contains("sample 300"));
}

#[test]
fn epochs_and_ranks() {
    let builder = Batcher::builder(lengths(3_000)).max_tokens(4_000).world_size(2);
    let mut batcher = builder.clone().rank(1).build().unwrap();
    let (first, print) = (all(batcher.iter()), batcher.fingerprint().unwrap());
    assert_eq!(first, all(batcher.batches_of(1, ..).unwrap()));
    assert_ne!(first, all(batcher.batches_of(0, ..).unwrap()));
    assert_eq!(print, builder.clone().build().unwrap().fingerprint().unwrap());
    batcher.set_epoch(1).unwrap();
    assert_eq!(batcher.epoch(), 1);
    let fresh = builder.epoch(1).rank(1).build().unwrap();
    assert_eq!((all(batcher.iter()), batcher.metrics().unwrap()), (all(fresh.iter()), fresh.metrics().unwrap()));
    assert_ne!(batcher.fingerprint().unwrap(), print);
    batcher.set_epoch(0).unwrap();
    assert_eq!((all(batcher.iter()), batcher.fingerprint().unwrap()), (first, print));
}

/// A batcher with more steps than three of the iterator's read windows (64 steps).
fn long() -> Batcher {
    Batcher::builder(lengths(3_000)).max_tokens(1_000).batch_window(700).world_size(3).rank(2).build().unwrap()
}

#[test]
fn iterators_hand_out_what_random_access_does() {
    let batcher = long();
    let steps = batcher.num_steps().unwrap();
    let whole = all(batcher.iter());
    assert!(steps > 3 * 64 && whole.len() as u64 == steps);
    assert!((0..steps).map(|step| batcher.batch(step).unwrap()).eq(whole.iter().cloned()));
    assert_eq!(batcher.batches_window(2, 60, 10).unwrap(), whole[60..70]);
    assert_eq!(all(batcher.batches(60..=69).unwrap()), whole[60..70]);
    assert_eq!(all(batcher.batches(100..).unwrap()), whole[100..]);
    assert!(batcher.batches(steps..).unwrap().next().is_none());
    // A range beyond the end of the epoch gives the batches that exist, and then an error.
    let mut past = batcher.batches(steps - 1..steps + 1).unwrap();
    assert_eq!(past.size_hint(), (0, Some(2)));
    assert!(past.next().unwrap().is_ok() && past.next().unwrap().is_err() && past.next().is_none());
    let mut batches = (&batcher).into_iter();
    for left in (0..whole.len()).rev() {
        assert!(batches.next().is_some());
        let (least, most) = batches.size_hint();
        assert!(least <= left && most.is_none_or(|most| most == left));
    }
    assert!(batches.next().is_none() && batches.next().is_none());
}

#[test]
fn leaps_land_where_steps_do() {
    let batcher = long();
    let whole = all(batcher.iter());
    for step in [1, 2, 63, 64, 65, 150, whole.len() - 1, whole.len(), usize::MAX] {
        let leapt = batcher.iter().step_by(step).map(Result::unwrap);
        assert!(leapt.eq(whole.iter().cloned().step_by(step)), "{step}");
    }
    let mut batches = batcher.iter();
    assert_eq!(batches.nth(70).map(Result::unwrap).as_ref(), Some(&whole[70]));
    assert_eq!(batches.nth(usize::MAX), None);
    assert_eq!(batches.size_hint(), (0, Some(0)));
}

#[test]
fn threads_share_a_batcher() {
    let batcher = long();
    let wanted = all(batcher.iter());
    std::thread::scope(|scope| {
        let threads = [0, 1, 2].map(|_| scope.spawn(|| all(batcher.iter())));
        for thread in threads {
            assert_eq!(thread.join().unwrap(), wanted);
        }
    });
}

#[test]
fn a_stream_gives_what_a_batcher_gives() -> Result<(), Error> {
    let lengths = lengths(3_000);
    let numbers = (0..3_000).collect::<Vec<u64>>();
    for (&strategy, piece) in Strategy::ALL.iter().flat_map(|it| [1, 100, 3_000].map(|piece| (it, piece))) {
        let batcher = in_windows(Batcher::builder(lengths.clone()), strategy, 256).order("sequential");
        let batcher = batcher.world_size(2).rank(1).seed(3).epoch(1).build()?;
        let stream = in_windows(BatchStream::builder(), strategy, 256).world_size(2).rank(1).seed(3).epoch(1);
        let mut stream = stream.build()?;
        let mut found = Vec::new();
        for (samples, lengths) in numbers.chunks(piece).zip(lengths.chunks(piece)) {
            stream.push(samples, lengths)?;
            found.extend(stream.ready().collect::<Result<Vec<_>, _>>()?);
        }
        // The stream still holds at most a window, and the samples that the window before left over. With `PadToMax`, a
        // window has 8,192 samples.
        assert!(found.len() as u64 * 5 > batcher.num_steps().unwrap() * 4 || strategy == Strategy::PadToMax);
        stream.flush()?;
        while let Some(batches) = stream.take()? {
            assert!(!batches.is_empty());
            found.extend(batches);
        }
        assert_eq!((stream.take()?, stream.ready().next().is_none()), (None, true));
        assert_eq!(found, all(batcher.iter()), "{strategy}, {piece} at a time");
        assert_eq!(stream.metrics()?, batcher.metrics().unwrap());
        let recipe = stream.recipe()?;
        assert!(stream.rank() == 1 && !recipe.contains("samples") && !recipe.contains("lengths"), "{recipe}");
        let again = BatchStream::from_recipe(&recipe).rank(1).build()?;
        assert_eq!((again.recipe()?, again.recipe_fingerprint()?), (recipe, stream.recipe_fingerprint()?));
    }
    Ok(())
}

#[test]
fn numbers_of_samples_are_ones_own() {
    let mut stream = BatchStream::builder().max_tokens(9).build().unwrap();
    stream.push(&[(1 << 53) - 1, 5], &[4, 4]).unwrap();
    assert_eq!(stream.take(), Ok(None));
    stream.flush().unwrap();
    let batches = stream.ready().collect::<Result<Vec<_>, _>>().unwrap();
    let mut samples = batches.into_iter().flat_map(|batch| batch.samples).collect::<Vec<_>>();
    samples.sort_unstable();
    assert_eq!(samples, [5, (1 << 53) - 1]);
}

#[test]
fn options_without_effect_are_refused() {
    let some = || Batcher::builder([1, 2, 3]).max_tokens(9).max_length(9);
    let refused = |builder: BatchBuilder<Batcher>| failing(builder.build());
    for (builder, field) in [
        (some().quantiles(30), "quantiles"),
        (some().bucket_width(64), "bucket_width"),
        (some().boundaries([1, 2]), "boundaries"),
        (some().linear(1), "linear"),
        (some().max_cost(9), "max_cost"),
        (some().capacity(9), "capacity"),
        (some().packing(Packing::Fast), "packing"),
        (some().counting(Counting::Unpadded).batch_size_multiple(8), "batch_size_multiple"),
        (some().strategy(Strategy::PadToMax), "max_tokens"),
    ] {
        assert_eq!(refused(builder), (FailureKind::Contradiction, field.into()));
    }
    let stream = BatchStream::builder().max_tokens(9).packing(Packing::Optimal);
    assert_eq!(failing(stream.build()), (FailureKind::Contradiction, "packing".into()));
}
