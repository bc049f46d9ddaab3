//! Batches of sequences of different length, and streams of them: what holds for every plan.

use samedeal::{
    Batch, BatchBuilder, BatchStream, Batcher, Buckets, Counting, Error, Metrics, Packing, RankBatches, Strategy, Tail,
    TooLong,
};

/// Lengths without a pattern, 0 to 499.
fn lengths(count: u32) -> Vec<u32> {
    (0..count).map(|i| (i.wrapping_mul(2_654_435_761) >> 7) % 500).collect()
}

/// What a strategy needs.
fn with<T>(builder: BatchBuilder<T>, strategy: Strategy) -> BatchBuilder<T> {
    let builder = builder.strategy(strategy).max_length(500);
    match strategy {
        Strategy::PadToMax => builder.max_batch_size(16),
        Strategy::Bucket => builder.max_batch_size(16).buckets(Buckets::Width(64)),
        Strategy::Budget => builder.budget(4_000),
        Strategy::Pack => builder.capacity(600).max_batch_size(2),
    }
}

fn all(batches: RankBatches<'_>) -> Vec<Batch> {
    batches.collect::<Result<_, _>>().unwrap()
}

#[test]
fn every_sample_once_and_no_batch_over_its_budget() {
    let lengths = lengths(3_000);
    for (&strategy, world) in Strategy::ALL.iter().flat_map(|strategy| [(strategy, 1), (strategy, 3)]) {
        let builder = with(Batcher::builder(lengths.clone()), strategy);
        let batcher = builder.world(world).seed(9).window(512).build().unwrap();
        let (mut seen, mut counted) = (Vec::new(), [0; 7]);
        for step in 0..batcher.num_steps() {
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
                    Strategy::Budget => assert!(padded(batch) <= 4_000 && width == fullest),
                    Strategy::Pack => assert!(rows <= 2 && width == 600 && fullest <= 600),
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
        let &Metrics { items, rows, tokens, padded, cost, slowest, slowest_cost, .. } = batcher.metrics();
        assert_eq!([items, rows, tokens, padded, cost, slowest, slowest_cost], counted, "{strategy}, {world} ranks");
    }
}

#[test]
fn ratios() {
    let batcher = Batcher::builder(lengths(3_000)).budget(4_000).world(3).build().unwrap();
    let metrics = batcher.metrics();
    let [tokens, padded, slowest] = [metrics.tokens, metrics.padded, metrics.slowest].map(|number| number as f64);
    let to_six_places = |ratio: f64| (ratio * 1e6).round() / 1e6;
    assert_eq!(metrics.padding_ratio(), to_six_places((padded - tokens) / padded));
    assert_eq!(metrics.budget_utilisation(), to_six_places(tokens / (4_000.0 * metrics.steps as f64 * 3.0)));
    assert_eq!(metrics.slowest_rank_utilisation(), to_six_places(tokens / (3.0 * slowest)));
    assert_eq!(metrics.cost_imbalance(), to_six_places(3.0 * metrics.slowest_cost as f64 / metrics.cost as f64));
    // What is full by its cost may be far from full of tokens.
    let weighted = Batcher::builder([10; 40]).counting(Counting::Weighted).quadratic(1).budget(1_100);
    assert_eq!(weighted.build().unwrap().metrics().budget_utilisation(), 1.0);
    let packed = with(Batcher::builder([300; 8]), Strategy::Pack).build().unwrap();
    assert_eq!((packed.metrics().budget, packed.metrics().packs_bound), (1_200, 4));
    assert_eq!(packed.metrics().budget_utilisation(), 1.0);
    let unbounded = with(Batcher::builder([3]), Strategy::PadToMax).build().unwrap();
    assert_eq!(unbounded.metrics().budget_utilisation(), 1.0);
    let nothing = Batcher::builder([]).budget(5).build().unwrap();
    let none = nothing.metrics();
    assert_eq!((none.padding_ratio(), none.budget_utilisation()), (0.0, 1.0));
    assert_eq!((none.slowest_rank_utilisation(), none.cost_imbalance()), (1.0, 1.0));
}

#[test]
fn what_strategies_take_where_nothing_is_set() {
    let of = |builder: BatchBuilder<Batcher>| {
        let batcher = builder.build().unwrap();
        let config = batcher.config();
        (config.max_batch_size, config.max_length, config.budget, config.capacity)
    };
    let some = || Batcher::builder([1]);
    assert_eq!(of(some().max_batch_size(8).max_length(64)), (8, 64, 512, 0));
    assert_eq!(of(some().max_batch_size(u32::MAX).max_length(u32::MAX)).2, 0xffff_fffe_0000_0001);
    assert_eq!(of(some().max_batch_size(8).budget(3)), (8, u32::MAX, 3, 0));
    assert_eq!(of(some().budget(3)), (0, u32::MAX, 3, 0));
    assert_eq!(of(some().strategy(Strategy::PadToMax)), (32, u32::MAX, 0, 0));
    assert_eq!(of(some().strategy(Strategy::Bucket).max_length(9)), (32, 9, 0, 0));
    assert_eq!(of(some().strategy(Strategy::Bucket).budget(9)), (0, u32::MAX, 9, 0));
    assert_eq!(of(some().strategy(Strategy::Pack).max_length(64)), (1, 64, 0, 64));
    assert_eq!(of(some().strategy(Strategy::Pack).max_length(64).capacity(99)), (1, 64, 0, 99));
    let batcher = some().budget(1).build().unwrap();
    let config = batcher.config();
    assert_eq!((config.strategy, config.counting, config.packing), (Strategy::Budget, Counting::Padded, Packing::Fast));
    assert_eq!((config.too_long, config.tail, &config.buckets), (TooLong::Error, Tail::EvenSplit, &None));
    assert_eq!((config.order.as_str(), config.window, config.linear, config.quadratic), ("feistel", None, 1, 0));
    assert_eq!((config.seed, config.epoch, config.world, config.multiple, batcher.rank()), (0, 0, 1, 1, 0));
}

#[test]
fn buckets() {
    let of = |buckets: Buckets| with(Batcher::builder(lengths(3_000)), Strategy::Bucket).buckets(buckets);
    let print = |buckets| of(buckets).build().unwrap().fingerprint().unwrap();
    let multiples = Buckets::Boundaries((1..=8).map(|end| end * 64).collect());
    assert_eq!(print(Buckets::Width(64)), print(multiples));
    assert_ne!(print(Buckets::Width(64)), print(Buckets::Width(100)));
    assert_ne!(print(Buckets::Width(64)), print(Buckets::Quantiles(8)));
    // What was chosen, not what it comes to.
    let batcher = of(Buckets::Quantiles(3)).build().unwrap();
    assert_eq!(batcher.config().buckets, Some(Buckets::Quantiles(3)));
}

#[test]
fn what_is_too_long_and_what_is_left() {
    let of = |too_long, budget| Batcher::builder([3, 50, 7]).budget(budget).too_long(too_long).build().unwrap();
    let cut = of(TooLong::Truncate, 10);
    let mut lengths = all(cut.iter()).into_iter().flat_map(|batch| batch.lengths).collect::<Vec<_>>();
    lengths.sort_unstable();
    assert_eq!((lengths, cut.metrics().truncated), (vec![3, 7, 10], 1));
    assert_eq!(of(TooLong::Drop, 10).metrics().too_long, 1);
    assert_eq!(of(TooLong::Single, 10).metrics().over_budget, 1);
    let parts = of(TooLong::Split, 20);
    let items = |batch: Batch| batch.samples.into_iter().zip(batch.starts).zip(batch.lengths);
    let mut items = all(parts.iter()).into_iter().flat_map(items).collect::<Vec<_>>();
    items.sort_unstable();
    assert_eq!(items, [((0, 0), 3), ((1, 0), 20), ((1, 20), 20), ((1, 40), 10), ((2, 0), 7)]);
    let of = |tail| *Batcher::builder([1; 3]).budget(1).world(2).tail(tail).build().unwrap().metrics();
    assert_eq!((of(Tail::Drop).dropped, of(Tail::Keep).empty, of(Tail::Duplicate).repeated), (1, 1, 1));
    let shared = Batcher::builder([1; 3]).budget(2).world(2).tail(Tail::EvenSplit).build().unwrap();
    assert_eq!((shared.metrics().empty, shared.metrics().items), (0, 3));
}

#[test]
fn epochs_and_ranks() {
    let builder = Batcher::builder(lengths(3_000)).budget(4_000).world(2);
    let mut batcher = builder.clone().rank(1).build().unwrap();
    let (first, print) = (all(batcher.iter()), batcher.fingerprint().unwrap());
    assert_eq!(first, all(batcher.batches_of(1, ..).unwrap()));
    assert_ne!(first, all(batcher.batches_of(0, ..).unwrap()));
    assert_eq!(print, builder.clone().build().unwrap().fingerprint().unwrap());
    batcher.set_epoch(1).unwrap();
    assert_eq!(batcher.config().epoch, 1);
    let fresh = builder.epoch(1).rank(1).build().unwrap();
    assert_eq!((all(batcher.iter()), batcher.metrics()), (all(fresh.iter()), fresh.metrics()));
    assert_ne!(batcher.fingerprint().unwrap(), print);
    batcher.set_epoch(0).unwrap();
    assert_eq!((all(batcher.iter()), batcher.fingerprint().unwrap()), (first, print));
}

/// More than three of the windows that the iterator reads.
fn long() -> Batcher {
    Batcher::builder(lengths(3_000)).budget(1_000).window(700).world(3).rank(2).build().unwrap()
}

#[test]
fn iterators_hand_out_what_random_access_does() {
    let batcher = long();
    let steps = batcher.num_steps();
    let whole = all(batcher.iter());
    assert!(steps > 3 * 64 && whole.len() as u64 == steps);
    assert!((0..steps).map(|step| batcher.batch(step).unwrap()).eq(whole.iter().cloned()));
    assert_eq!(batcher.batches_window(2, 60, 10).unwrap(), whole[60..70]);
    assert_eq!(all(batcher.batches(60..=69).unwrap()), whole[60..70]);
    assert_eq!(all(batcher.batches(100..).unwrap()), whole[100..]);
    assert_eq!(batcher.batches(steps..).unwrap().len(), 0);
    let mut batches = (&batcher).into_iter();
    for left in (0..whole.len()).rev() {
        assert!(batches.next().is_some());
        assert_eq!(batches.len(), left);
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
    assert_eq!((batches.len(), batches.nth(usize::MAX)), (whole.len() - 71, None));
    assert_eq!(batches.len(), 0);
}

#[test]
fn a_configuration_makes_the_same_batcher_again() {
    for &strategy in Strategy::ALL {
        let builder = with(Batcher::builder(lengths(300)), strategy).seed(-5).order("python").world(4).rank(2);
        let mut batcher = builder.build().unwrap();
        batcher.set_epoch(u64::MAX).unwrap();
        let again = BatchBuilder::<Batcher>::from(batcher.config().clone()).build().unwrap();
        assert_eq!((again.config(), again.rank()), (batcher.config(), 0));
        assert_eq!(again.fingerprint().unwrap(), batcher.fingerprint().unwrap());
    }
    let shown = format!("{:?}", Batcher::builder(vec![1; 1_000]).budget(9).build().unwrap());
    assert!(shown.starts_with("Batcher { samples: 1000, rank: 0") && shown.len() < 200, "{shown}");
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
        let batcher = with(Batcher::builder(lengths.clone()), strategy).order("sequential");
        let batcher = batcher.world(2).rank(1).window(256).seed(3).epoch(1).build()?;
        let stream = with(BatchStream::builder(), strategy).world(2).rank(1).window(256).seed(3).epoch(1);
        let mut stream = stream.build()?;
        let mut found = Vec::new();
        for (samples, lengths) in numbers.chunks(piece).zip(lengths.chunks(piece)) {
            stream.push(samples, lengths)?;
            found.extend(stream.ready().collect::<Result<Vec<_>, _>>()?);
        }
        // What waits is a window, and what the one before left; with the first strategy, 8,192 samples.
        assert!(found.len() as u64 * 5 > batcher.num_steps() * 4 || strategy == Strategy::PadToMax);
        stream.flush()?;
        while let Some(batches) = stream.take()? {
            assert!(!batches.is_empty());
            found.extend(batches);
        }
        assert_eq!((stream.take()?, stream.ready().next().is_none()), (None, true));
        assert_eq!(found, all(batcher.iter()), "{strategy}, {piece} at a time");
        assert_eq!(stream.metrics()?, *batcher.metrics());
        assert_eq!((stream.rank(), stream.config().window), (1, Some(256)));
        let config = stream.config().clone();
        let again = BatchBuilder::<BatchStream>::from(config.clone()).rank(1).build()?;
        assert_eq!(again.config(), &config);
    }
    Ok(())
}

#[test]
fn numbers_of_samples_are_ones_own() {
    let mut stream = BatchStream::builder().budget(9).build().unwrap();
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
    fn refused<T>(builder: BatchBuilder<T>, build: impl Fn(BatchBuilder<T>) -> Error) -> (String, String) {
        match build(builder) {
            Error::Failure(failure) => (failure.field, failure.allowed),
            other => panic!("{other}"),
        }
    }
    let batcher = |builder: BatchBuilder<Batcher>| builder.build().unwrap_err();
    let stream = |builder: BatchBuilder<BatchStream>| builder.build().unwrap_err();
    let some = || Batcher::builder([1, 2, 3]).budget(9).max_length(9);
    let padded = "none with strategy budget with counting padded; it is for";
    for (builder, field, allowed) in [
        (some().buckets(Buckets::Quantiles(30)), "quantiles", format!("{padded} strategy bucket")),
        (some().buckets(Buckets::Width(64)), "bucket-width", format!("{padded} strategy bucket")),
        (some().linear(2), "linear", format!("{padded} counting weighted")),
        (some().capacity(9), "capacity", format!("{padded} strategy pack")),
        (
            some().counting(Counting::Unpadded).multiple(8),
            "multiple",
            "none with strategy budget with counting unpadded; it is for strategy bucket or strategy budget with \
             counting padded"
                .into(),
        ),
    ] {
        assert_eq!(refused(builder, batcher), (field.into(), allowed));
    }
    let builder = BatchStream::builder().budget(9).packing(Packing::Optimal);
    assert_eq!(refused(builder, stream).0, "packing");
    // What stands anyway is none.
    let usual = some().linear(1).quadratic(0).multiple(1).packing(Packing::Fast).build().unwrap();
    assert_eq!(usual.fingerprint().unwrap(), some().build().unwrap().fingerprint().unwrap());
}
