//! Batches by length with composed orders and with the order `sharded`.

use crate::failing;
use samedeal::{Batcher, FailureKind, IndexSpace, Lengths, Order, Sampler, Source, TooLong};

fn lengths(count: u32) -> Vec<u32> {
    (0..count).map(|sample| 1 + sample * 7_919 % 97).collect()
}

fn blend() -> Order {
    let books = Order::new("feistel", 50).exclude([3, 4]);
    Order::blend([Source::new("web", 400, 7), Source::new("books", books, 3)]).samples(300).seed(5)
}

/// The samples of all batches of all ranks, sorted.
fn samples(batcher: &Batcher) -> Vec<u64> {
    let mut all = Vec::new();
    for rank in 0..batcher.world_size() {
        for batch in batcher.batches_of(rank, ..).unwrap() {
            let batch = batch.unwrap();
            assert!(batch.row_ends.len() as u64 * u64::from(batch.padded_length) <= 512);
            all.extend(batch.samples);
        }
    }
    all.sort_unstable();
    all
}

#[test]
fn a_sample_is_in_as_many_batches_as_the_order_has_it() {
    let copies = || Order::new("feistel", 60).seed(2).copies(3);
    let sharded = || Order::sharded([100, 0, 30]).lanes(4).shuffle_window(8).seed(9);
    for (order, count) in [(blend(), 450), (copies(), 60), (sharded(), 130), (blend().skip([(1, 10, 40)]), 450)] {
        let whole = Sampler::from_order(order.clone()).build().unwrap();
        let batcher = Batcher::builder(lengths(count)).order(&order).max_tokens(512).world_size(3).build().unwrap();
        for epoch in [0, 1] {
            let mut expected = whole.at_epoch(epoch).unwrap().indices::<u64>(..).unwrap();
            expected.sort_unstable();
            assert_eq!(samples(&batcher.at_epoch(epoch).unwrap()), expected, "{order:?} in epoch {epoch}");
        }
        let again = Batcher::from_recipe(batcher.recipe().unwrap(), lengths(count)).build();
        // The recipe has the lists of these orders. Of more than 256 lengths it has only a hash, so they are passed
        // beside it.
        assert_eq!(again.unwrap().fingerprint().unwrap(), batcher.fingerprint().unwrap());
    }
}

#[test]
fn a_list_of_the_order_is_beside_the_boundaries() {
    let kept = (0..300).map(|index| index * 2).collect::<Vec<u64>>();
    let order = Order::new("feistel", 600).subset(kept.clone());
    let made = |of: samedeal::BatchBuilder<Batcher>| of.strategy(samedeal::Strategy::Bucket).max_batch_size(8);
    // `order` replaces only the lists of the order, so boundaries that were set before stay.
    let batcher = made(Batcher::builder(lengths(600))).boundaries([20, 60]).order(order.clone()).build().unwrap();
    let other = made(Batcher::builder(lengths(600))).order(order).boundaries([20, 60]).build().unwrap();
    assert_eq!(batcher.fingerprint().unwrap(), other.fingerprint().unwrap());
    let recipe = batcher.recipe().unwrap();
    let missing = Batcher::from_recipe(&recipe, lengths(600)).build();
    assert_eq!(failing(missing), (FailureKind::Missing, "indices".into()));
    let again = Batcher::from_recipe(&recipe, lengths(600)).list("indices", kept).build().unwrap();
    assert_eq!(again.fingerprint().unwrap(), batcher.fingerprint().unwrap());
}

#[test]
fn lengths_of_sources_are_joined() {
    let all = lengths(450);
    let whole = Batcher::builder(all.clone()).order(blend()).max_tokens(512).build().unwrap();
    let (web, books) = all.split_at(400);
    let by_source = || Lengths::by_source([("books", books.to_vec()), ("web", web.to_vec())]);
    for order in [blend(), blend().copies(1), blend().skip([]).copies(1)] {
        let batcher = Batcher::builder(by_source()).order(order).max_tokens(512).build().unwrap();
        assert_eq!(samples(&batcher), samples(&whole));
    }
    // The order may also come from a recipe.
    let again = Batcher::from_recipe(whole.recipe().unwrap(), by_source()).build().unwrap();
    assert_eq!(again.recipe().unwrap(), whole.recipe().unwrap());

    let build = |lengths: Lengths| Batcher::builder(lengths).order(blend()).max_tokens(512).build();
    // All hosts have the same kinds and words.
    let twice = Lengths::by_source([("web", web), ("books", books), ("books", books)]);
    for (given, kind, value, allowed) in [
        (
            Lengths::by_source([("web", web)]),
            FailureKind::Missing,
            "",
            "the lengths of each source, those of books too",
        ),
        // A source without lengths is told before a wrong number of lengths, in every host.
        (
            Lengths::by_source([("web", &web[1..])]),
            FailureKind::Missing,
            "",
            "the lengths of each source, those of books too",
        ),
        (
            Lengths::by_source([("", [0_u32; 0]); 0]),
            FailureKind::Missing,
            "",
            "the lengths of each source, those of web too",
        ),
        (Lengths::by_source([("web", web), ("book", books)]), FailureKind::UnknownName, "book", "web, books"),
        (twice, FailureKind::Contradiction, "books", "each source once"),
        // The number of all lengths is right, but the numbers for the sources are not.
        (
            Lengths::by_source([("web", &all[..399]), ("books", &all[399..])]),
            FailureKind::Contradiction,
            "399 of the source web",
            "400, as many as the source has samples",
        ),
        (
            Lengths::by_source([("web", web), ("books", &books[1..])]),
            FailureKind::Contradiction,
            "49 of the source books",
            "50, as many as the source has samples",
        ),
    ] {
        let error = build(given).unwrap_err();
        let failure = error.failure().unwrap();
        assert_eq!((&failure.kind, failure.field.as_str()), (&kind, "lengths"));
        assert_eq!((failure.value.as_str(), failure.allowed.as_str()), (value, allowed));
    }
    // Only a blend has sources. If sources share a dataset, the source of a sample is not unique.
    let sources = [Source::new("web", 450, 7), Source::new("books", 450, 3)];
    for other in [
        Batcher::builder(by_source()),
        Batcher::builder(by_source()).order(Order::new("feistel", 450).copies(2)),
        Batcher::builder(by_source()).order(Order::blend(sources).index_space(IndexSpace::Shared)),
    ] {
        let error = other.max_tokens(512).build().unwrap_err();
        let failure = error.failure().unwrap();
        assert_eq!((&failure.kind, failure.field.as_str()), (&FailureKind::Contradiction, "lengths"));
        assert_eq!(failure.value, "books, web");
        let allowed = "a list, or a blend as the order, with the index space joined: only its sources have names";
        assert_eq!(failure.allowed, allowed);
    }
}

#[test]
fn a_state_goes_on_with_a_later_stage() {
    let build =
        |order: Order| Batcher::builder(lengths(450)).order(order).max_tokens(512).world_size(2).build().unwrap();
    let batcher = build(blend()).at_epoch(1).unwrap();
    let state = batcher.state(3).unwrap();
    let mut rest = build(blend().stage(600, [1, 1]));
    rest.resume(&state).unwrap();
    assert_eq!((rest.epoch(), rest.num_steps().unwrap()), (1, batcher.num_steps().unwrap() - 3));
    let left = samples(&rest);
    assert!(left.len() < 300);
    // Steps of this epoch were taken, so a stage that changes the epoch is refused.
    let mut earlier = build(blend().stage(590, [1, 1]));
    assert_eq!(failing(earlier.resume(&state)).0, FailureKind::Contradiction);
    // Before the first step of the epoch, its order may change.
    let mut begun = build(blend().stage(300, [1, 1]));
    begun.resume(&batcher.state(0).unwrap()).unwrap();
    assert_eq!(begun.epoch(), 1);
}

#[test]
fn parts_of_a_split_sample_follow_each_other() {
    let order = Order::new("sequential", 3).copies(2);
    let builder = Batcher::builder([10, 25, 7]).order(order).max_tokens(10).max_length(10).too_long(TooLong::Split);
    let batcher = builder.keep_order(true).build().unwrap();
    let batches = batcher.iter().collect::<Result<Vec<_>, _>>().unwrap();
    let mut items = batches
        .iter()
        .flat_map(|batch| batch.samples.iter().copied().zip(batch.starts.iter().copied()))
        .collect::<Vec<_>>();
    items.sort_unstable();
    let twice = |item| [item, item];
    assert_eq!(items, [(0, 0), (1, 0), (1, 10), (1, 20), (2, 0)].map(twice).concat());
    assert_eq!(batcher.metrics().unwrap().split, 2);
}
