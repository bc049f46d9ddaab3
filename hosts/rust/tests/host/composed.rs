//! Composed orders: counts are exact, passes are complete, states can be resumed, and wrong orders are refused.

use std::collections::BTreeMap;

use crate::failing;
use samedeal::{Exhaustion, FailureKind, IndexSpace, Layout, Order, Remainder, Sampler, Source, plain_orders};

/// The samples of all ranks in an epoch: step by step, and rank by rank within a step.
fn dealt(sampler: &Sampler) -> Vec<u64> {
    let ranks = 0..sampler.world_size();
    let of_ranks = ranks.map(|rank| sampler.at_rank(rank).unwrap().indices::<u64>(..).unwrap()).collect::<Vec<_>>();
    let longest = of_ranks.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).flat_map(|step| of_ranks.iter().filter_map(move |rank| rank.get(step).copied())).collect()
}

fn times(samples: &[u64]) -> BTreeMap<u64, u64> {
    samples.iter().fold(BTreeMap::new(), |mut times, &sample| {
        *times.entry(sample).or_default() += 1;
        times
    })
}

fn sorted(mut samples: Vec<u64>) -> Vec<u64> {
    samples.sort_unstable();
    samples
}

fn whole(order: Order, epoch: u64) -> Vec<u64> {
    Sampler::from_order(order).epoch(epoch).build().unwrap().indices(..).unwrap()
}

fn mixture() -> Order {
    Order::blend([Source::new("web", 700, 70), Source::new("books", 50, 20), Source::new("code", 90, 10)])
        .samples(1_000)
        .seed(42)
}

#[test]
fn a_blend_gives_exact_counts_and_whole_passes() {
    for exact in [false, true] {
        let order = if exact { mixture().exact() } else { mixture() };
        let sampler = Sampler::from_order(order.clone()).world_size(4).build().unwrap();
        assert_eq!((sampler.dataset_size(), sampler.epoch_length(), sampler.num_samples()), (840, 1_000, 250));
        assert_eq!((sampler.layout(), sampler.order()), (Layout::Rotated, if exact { "blend-exact" } else { "blend" }));
        assert_eq!(sampler.sources().unwrap(), ["web", "books", "code"]);
        let counts = sampler.source_counts(..).unwrap();
        assert_eq!(counts.count, [700, 200, 100]);
        assert_eq!((counts.from_pass, counts.from_position), (vec![0, 0, 0], vec![0, 0, 0]));
        assert_eq!((counts.to_pass, counts.to_position), (vec![1, 4, 1], vec![0, 0, 10]));
        // Each pass over a source continues in the next epoch.
        let next = sampler.at_epoch(1).unwrap().source_counts(..).unwrap();
        assert_eq!(
            (next.first, next.from_pass, next.from_position),
            (vec![700, 200, 100], vec![1, 4, 1], vec![0, 0, 10])
        );
        // All ranks together have each sample of `web` once, and each sample of `books` four times.
        let seen = times(&dealt(&sampler));
        assert!((0..700).all(|sample| seen[&sample] == 1) && (700..750).all(|sample| seen[&sample] == 4));
        // In every prefix, the count of a source is within its bound.
        let bounds = sampler.source_bounds().unwrap();
        assert!(
            bounds.iter().all(|&bound| bound > 0 && bound < if exact { 1_000_000 } else { 2_000_000 }),
            "{bounds:?}"
        );
        let positions = whole(order, 0);
        let (mut count, mut books) = (0, 0);
        for (end, &sample) in (1..).zip(&positions) {
            let place = sampler.source_of(sample).unwrap();
            assert_eq!(place.index + [0, 700, 750][place.source as usize], sample);
            books += u64::from(place.source == 1);
            count += 1_000_000 * u64::from(place.source == 0);
            assert!(u64::abs_diff(count, 700_000 * end) <= bounds[0], "{end}");
            assert!(end % 50 != 0 || sampler.source_counts(..end).unwrap().count[1] == books);
        }
    }
}

#[test]
fn a_state_goes_on_in_another_world_with_more_stages_and_sources() {
    let sampler = Sampler::from_order(mixture()).world_size(4).build().unwrap();
    let state = sampler.state(100).unwrap();
    // From position 400 on, the order has less of `web`; from position 700 on, it has only a new source.
    let order = mixture().stage(400, [40, 50, 10]).source(Source::new("new", 30, 0)).stage(700, [0, 0, 0, 1]);
    let mut rest = Sampler::from_order(order.clone()).world_size(3).remainder(Remainder::Uneven).build().unwrap();
    rest.resume(&state).unwrap();
    assert_eq!((rest.consumed(), rest.num_positions(), rest.dataset_size()), (400, 600, 870));
    assert_eq!(rest.source_counts(400..700).unwrap().count, [120, 150, 30, 0]);
    assert_eq!(rest.source_counts(700..).unwrap().count, [0, 0, 0, 300]);
    // The consumed and the remaining samples together are one epoch of the order with stages.
    let all = whole(order.clone(), 0);
    assert_eq!(sorted(dealt(&rest)), sorted(all[400..].to_vec()));
    assert_eq!(sorted(dealt(&sampler)[..400].to_vec()), sorted(all[..400].to_vec()));
    assert_eq!(times(&all[700..]), (840..870).map(|sample| (sample, 10)).collect());
    // A stage that begins before the state's position contradicts the state.
    let early = Sampler::from_order(mixture().stage(399, [40, 50, 10])).build().unwrap().resume(&state);
    assert_eq!(failing(early).0, FailureKind::Contradiction);
    let other = Sampler::from_order(mixture().seed(43)).build().unwrap().resume(&state);
    assert_eq!(failing(other), (FailureKind::Contradiction, "seed".into()));
    // A sampler can be built again from its options.
    let again = rest.to_builder().unwrap().build().unwrap();
    assert_eq!((again.recipe(), again.consumed(), dealt(&again)), (rest.recipe(), 400, dealt(&rest)));
}

#[test]
fn exhaustion_is_a_choice() {
    let two = || Order::blend([Source::new("long", 100, 1), Source::new("short", 10, 1)]);
    let length = |order: Order| Sampler::from_order(order).build().map(|sampler| sampler.epoch_length());
    assert_eq!(length(two()).unwrap(), 110);
    // The epoch ends where the short source would begin its next pass.
    for passes in [1, 3] {
        let end = length(two().exhaustion(Exhaustion::Stop).max_passes(passes)).unwrap();
        let longer = Sampler::from_order(two().samples(110)).build().unwrap();
        assert_eq!(longer.source_counts(..end).unwrap().to_pass[1], passes);
        assert_eq!(longer.source_counts(end..=end).unwrap().count, [0, 1]);
    }
    let all = whole(two().exhaustion(Exhaustion::Renormalize).max_passes(2), 5);
    assert_eq!(all.len(), 220);
    assert!(times(&all).into_values().all(|times| times == 2) && all[41..].iter().all(|&sample| sample < 100));
    let end = length(two().exhaustion(Exhaustion::Stop)).unwrap();
    assert_eq!(length(two().exhaustion(Exhaustion::Fail).samples(end)).unwrap(), end);
    let refused = failing(length(two().exhaustion(Exhaustion::Fail).samples(end + 1)));
    assert_eq!(refused, (FailureKind::OutOfRange, "samples".into()));
    assert_eq!(failing(length(two().max_passes(2))), (FailureKind::Contradiction, "max_passes".into()));
    for (choice, name) in [(Exhaustion::Repeat, "repeat"), (Exhaustion::Fail, "fail")] {
        assert_eq!((choice.name(), name.parse()), (name, Ok(choice)));
    }
}

#[test]
fn batches_are_of_one_source() {
    let order = Order::blend([Source::new("a", 100, 3), Source::new("b", 60, 1)]).run_length(5).samples(400);
    for rank in 0..2 {
        let sampler = Sampler::from_order(order.clone()).world_size(2).rank(rank).unit(5).build().unwrap();
        for batch in 0..40 {
            let batch: Vec<u64> = sampler.indices(5 * batch..5 * batch + 5).unwrap();
            assert!(batch.iter().all(|&sample| (sample < 100) == (batch[0] < 100)), "{batch:?}");
        }
    }
    let refused = failing(Sampler::from_order(order.samples(401)).build());
    assert_eq!(refused, (FailureKind::Contradiction, "samples".into()));
}

#[test]
fn sources_share_a_dataset() {
    let part = |from: u64| Order::new("feistel", 1_000).subset((from..from + 300).collect::<Vec<_>>());
    let blend = |space| Order::blend([Source::new("a", part(0), 1), Source::new("b", part(600), 2)]).index_space(space);
    let shared = Sampler::from_order(blend(IndexSpace::Shared)).build().unwrap();
    assert_eq!((shared.dataset_size(), shared.epoch_length()), (1_000, 600));
    let samples: Vec<u64> = shared.indices(..).unwrap();
    assert!(samples.iter().all(|sample| (0..300).contains(sample) || (600..900).contains(sample)));
    assert_eq!(samples.iter().filter(|&&sample| sample < 300).count(), 200);
    assert_eq!(failing(shared.source_of(7)), (FailureKind::Contradiction, "index_space".into()));
    assert_eq!(Sampler::from_order(blend(IndexSpace::Joined)).build().unwrap().dataset_size(), 2_000);
}

#[test]
fn a_dataset_that_grows_within_an_epoch_is_seen_once() {
    let before = Order::new("feistel", 1_000).seed(7);
    let grown = before.clone().grow(3, 400, 1_500).grow(3, 600, 1_600);
    assert_eq!(grown, Order::grown(1_000, [(3, 400, 1_500), (3, 600, 1_600)]).seed(7));
    assert_eq!((whole(grown.clone(), 2), whole(grown.clone(), 3).len()), (whole(before.clone(), 2), 1_600));
    let run = Sampler::from_order(before).epoch(3).world_size(4).build().unwrap();
    let mut goes_on = Sampler::from_order(grown.clone()).world_size(8).build().unwrap();
    goes_on.resume(&run.state(100).unwrap()).unwrap();
    let seen = [&dealt(&run)[..400], &dealt(&goes_on)].concat();
    assert!(sorted(seen).into_iter().eq(0..1_600));
    assert_eq!(sorted(whole(grown, 4)), (0..1_600).collect::<Vec<_>>());
}

#[test]
fn views_leave_samples_and_positions_out() {
    let of = Order::new("feistel", 1_000).seed(5);
    let all = whole(of.clone(), 2);
    let thirds = (0..1_000).step_by(3).collect::<Vec<u64>>();
    let is_third = |sample: &&u64| sample.is_multiple_of(3);
    let rest = all.iter().filter(|sample| !is_third(sample)).copied().collect::<Vec<_>>();
    assert_eq!(whole(of.clone().exclude(thirds.clone()), 2), rest);
    assert_eq!(whole(of.clone().subset(thirds), 2), all.iter().filter(is_third).copied().collect::<Vec<_>>());
    let skipping = of.skip([(2, 10, 20), (2, 500, 1), (3, 0, 1_000)]);
    assert_eq!(whole(skipping.clone(), 2), [&all[..10], &all[30..500], &all[501..]].concat());
    assert_eq!(whole(skipping, 3), [0; 0]);
}

#[test]
fn a_million_of_a_billion_is_left_out() {
    let broken = (0..1_000_000).map(|number| 1_000 * number + 7).collect::<Vec<u64>>();
    let order = Order::new("feistel", 1_000_000_000).seed(1).exclude(broken.clone());
    assert!(order.to_json().len() < 200, "{order:?}");
    let blend = Order::blend([Source::new("web", order.clone(), 3), Source::new("books", 1_000, 1)]).samples(1_000_000);
    let sampler = Sampler::from_order(blend).world_size(8).build().unwrap();
    assert_eq!(
        (sampler.dataset_size(), sampler.source_counts(..).unwrap().count),
        (1_000_001_000, vec![750_000, 250_000])
    );
    let some = sampler.indices::<u64>(..100_000).unwrap();
    assert!(some.iter().all(|sample| sample % 1_000 != 7 || *sample >= 1_000_000_000));
    assert_eq!(sampler.locate(7, 1).unwrap(), None);
    // The recipe has only a hash of the list. The list is passed beside it, by its path.
    let recipe = sampler.recipe().unwrap();
    assert_eq!(failing(Sampler::from_recipe(&recipe).build()), (FailureKind::Missing, "indices".into()));
    let again = Sampler::from_recipe(&recipe).list("sources/web/indices", broken.clone()).build().unwrap();
    assert_eq!(again.recipe().unwrap(), recipe);
    assert_eq!(sampler.to_builder().unwrap().build().unwrap().recipe().unwrap(), recipe);
    assert_eq!(sampler.at_epoch(3).unwrap().to_builder().unwrap().build().unwrap().recipe().unwrap(), recipe);
    let other = Sampler::from_recipe(&recipe).list("sources/web/indices", &broken[1..]).build();
    assert_eq!(failing(other), (FailureKind::Contradiction, "indices".into()));
}

#[test]
fn copies_windows_and_balance_count_as_they_say() {
    let copies = Sampler::from_order(Order::new("feistel", 10).copies(4)).world_size(4).build().unwrap();
    for step in dealt(&copies).chunks(4) {
        assert!(step.iter().all(|sample| *sample == step[0]));
    }
    let windows = Order::windows(vec![5; 300], 3);
    assert_eq!(sorted(whole(windows.clone().stride(1), 4)).len(), 900);
    assert_eq!(sorted(whole(windows, 4)), (0..300).map(|episode| 5 * episode).collect::<Vec<_>>());
    // Class 0 is seen 1.5 times in an epoch, class 1 never, class 2 a quarter of a time.
    let classes = (0..400).map(|sample| sample % 3).collect::<Vec<u64>>();
    let order = Order::balance(classes, [1_500_000, 0, 250_000]).seed(9);
    let seen = times(&(0..4).flat_map(|epoch| whole(order.clone(), epoch)).collect::<Vec<_>>());
    for sample in 0..400 {
        assert_eq!(seen.get(&sample).copied().unwrap_or(0), [6, 0, 1][sample as usize % 3], "{sample}");
    }
}

#[test]
fn every_occurrence_is_found() {
    let sampler = Sampler::from_order(mixture()).world_size(3).build().unwrap();
    let all = dealt(&sampler);
    assert_eq!(all.len(), 1_002);
    for sample in [0, 699, 700, 749, 750, 839] {
        let (mut from, mut found) = (0, Vec::new());
        while let Some(place) = sampler.locate_from(sample, from, 8).unwrap() {
            assert_eq!(sampler.at_rank(place.rank).unwrap().window::<u64>(place.index_in_rank, 1).unwrap(), [sample]);
            assert_eq!(sampler.sample_at(place.position).unwrap(), sample);
            (from, found) = (place.position + 1, [&found[..], &[place.position]].concat());
        }
        assert_eq!(found.len(), all.iter().filter(|&&other| other == sample).count(), "{sample}");
        assert_eq!(found.first().copied(), sampler.locate(sample, 8).unwrap().map(|place| place.position));
    }
    assert_eq!(failing(sampler.locate_from(840, 0, 1)), (FailureKind::OutOfRange, "sample".into()));
    assert_eq!(failing(sampler.locate_from(0, 1_003, 1)), (FailureKind::OutOfRange, "position".into()));
    assert_eq!(failing(sampler.locate_from(0, 0, 0)), (FailureKind::OutOfRange, "batch_size".into()));
}

#[test]
fn ranks_of_equal_weights_get_every_source() {
    let blend = Order::blend([Source::new("a", 1_000, 1), Source::new("b", 1_000, 1)]);
    let shares = |layout| {
        let builder = Sampler::from_order(blend.clone()).world_size(2);
        let sampler = if let Some(layout) = layout { builder.layout(layout) } else { builder }.build().unwrap();
        sampler.indices::<u64>(..).unwrap().into_iter().filter(|&sample| sample < 1_000).count()
    };
    assert!([0, 1_000].contains(&shares(Some(Layout::Strided))));
    assert!((400..600).contains(&shares(None)) && shares(None) == shares(Some(Layout::Rotated)));
}

#[test]
fn an_order_takes_the_place_of_that_of_a_recipe() {
    let recipe = Sampler::sharded([9, 4]).seed(3).world_size(4).build().unwrap().recipe().unwrap();
    let order = Order::new("feistel", 300).exclude((0..280).collect::<Vec<u64>>());
    let sampler = Sampler::from_recipe(&recipe).sizes([9, 4]).order(&order).build().unwrap();
    assert_eq!((sampler.epoch_length(), sampler.world_size(), sampler.seed()), (20, 4, 0));
    // An option that is set afterwards belongs to the new order, and is refused if that order does not use it.
    assert_eq!(failing(Sampler::from_order(order).seed(3).build()), (FailureKind::Contradiction, "seed".into()));
    let seeded = Sampler::from_order(mixture()).seed(3).build().unwrap();
    assert_eq!((seeded.seed(), seeded.recipe()), (3, Sampler::from_order(mixture().seed(3)).build().unwrap().recipe()));
    for name in plain_orders().unwrap() {
        let plain = Sampler::from_order(Order::new(&name, 50).seed(4)).build().unwrap();
        assert_eq!(plain.recipe(), Sampler::builder(50).order(name).seed(4).build().unwrap().recipe());
    }
    let sizes = vec![3; 300];
    let shards = Sampler::from_order(Order::sharded(sizes.clone()).lanes(4).shuffle_window(8)).build().unwrap();
    assert_eq!(shards.recipe(), Sampler::sharded(sizes).lanes(4).shuffle_window(8).build().unwrap().recipe());
    assert_eq!(shards.to_builder().unwrap().build().unwrap().recipe(), shards.recipe());
}

#[test]
fn what_makes_no_order_is_refused() {
    use FailureKind::{Contradiction, Missing, OutOfRange, UnknownName};

    let plain = || Order::new("feistel", 100);
    let blend = |sources: &[Source]| Order::blend(sources.iter().cloned());
    let a = || Source::new("a", 100, 1);
    for (order, kind, field) in [
        (blend(&[]), Missing, "sources"),
        (blend(&[Source::new("", 5, 1)]), OutOfRange, "name"),
        (blend(&[Source::new("a/b", 5, 1)]), OutOfRange, "name"),
        (blend(&[a(), a()]), Contradiction, "name"),
        (blend(&[Source::new("a", 5, 0)]), OutOfRange, "weight"),
        (blend(&[Source::new("a", 5, 1_u64 << 53)]), OutOfRange, "weight"),
        (blend(&[Source::new("a", 0, 1)]), Contradiction, "weight"),
        (blend(&[Source::new("a", Order::new("torch", 100), 1)]), Contradiction, "name"),
        (blend(&[Source::new("a", 5, 1 << 30), Source::new("b", 5, 1)]).exact(), OutOfRange, "weight"),
        (blend(&[a()]).stage(10, [1, 2]), Contradiction, "weights"),
        (blend(&[a()]).stage(10, [1]).stage(10, [1]), OutOfRange, "from"),
        (blend(&[a()]).exclude([1]), Contradiction, "of"),
        (plain().stage(3, [1]), Contradiction, "stages"),
        (plain().source(a()), Contradiction, "sources"),
        (plain().exact(), Missing, "sources"),
        (plain().exclude([1]).exclude([1]).lanes(3), Contradiction, "lanes"),
        (plain().exclude([2, 1]), Contradiction, "indices"),
        (plain().exclude([100]), OutOfRange, "indices"),
        (plain().exclude((0..300).collect::<Vec<u64>>()), OutOfRange, "indices"),
        (plain().skip([(0, 90, 11)]), OutOfRange, "count"),
        (plain().skip([(0, 0, 5), (0, 4, 5)]), Contradiction, "ranges"),
        (plain().copies(0), OutOfRange, "copies"),
        (plain().grow(1, 101, 200), OutOfRange, "consumed"),
        (plain().grow(1, 10, 100), OutOfRange, "samples"),
        (Order::new("sequential", 9).grow(1, 1, 10), Contradiction, "growth"),
        (Order::windows([10], 0), OutOfRange, "length"),
        (Order::windows([10], 3).stride(0), OutOfRange, "stride"),
        (Order::balance([0, 1], [1]), OutOfRange, "classes"),
        (Order::new("blended", 100), UnknownName, "name"),
        (Order::new("feistel", 1 << 53), OutOfRange, "samples"),
        ((0..30).fold(plain(), |order, _| order.copies(1)), OutOfRange, "recipe"),
    ] {
        assert_eq!(failing(Sampler::from_order(order.clone()).build()), (kind, field.to_owned()), "{order:?}");
    }
    // An epoch with positions above 2^53 - 1, counted over all epochs, is refused.
    let late = Sampler::from_order(blend(&[a()]).samples(1 << 50)).build().unwrap();
    assert_eq!(failing(late.at_epoch(8)), (OutOfRange, "epoch".into()));
    assert!(late.at_epoch(6).is_ok());
    // Lists with paths that the order does not have are refused.
    let with = |path: &str| failing(Sampler::from_order(plain().exclude([1])).list(path, [1]).build());
    assert_eq!(with("of/indices"), (Contradiction, "indices".into()));
    assert_eq!(with("numbers"), (UnknownName, "lists".into()));
    assert_eq!(with(&"a/".repeat(1 << 20)), (UnknownName, "lists".into()));
    let plain = Sampler::new(10).unwrap();
    for answer in [plain.sources().map(drop), plain.source_counts(..).map(drop), plain.source_of(0).map(drop)] {
        assert_eq!(failing(answer), (Contradiction, "name".into()));
    }
    let blend = Sampler::from_order(mixture()).build().unwrap();
    assert_eq!(failing(blend.source_counts(..1_001)), (OutOfRange, "count".into()));
    let (start, end) = (9, 8);
    assert_eq!(failing(blend.source_counts(start..end)), (OutOfRange, "count".into()));
    assert_eq!(blend.source_counts(1_000..).unwrap().count, [0, 0, 0]);
    assert_eq!(failing(blend.source_of(840)), (OutOfRange, "sample".into()));
}

#[test]
fn threads_make_and_drop_what_shares_an_order() {
    let sources = [Source::new("web", 5_000, 70), Source::new("books", Order::new("feistel", 300).exclude([3]), 30)];
    let blend = Order::blend(sources).samples(2_000).seed(7);
    let sampler = Sampler::from_order(blend).world_size(4).build().unwrap();
    let of = |epoch: u64, rank: u32| sampler.at_epoch(epoch).unwrap().at_rank(rank).unwrap();
    let expected = [0, 1, 2, 3].map(|rank| of(u64::from(rank % 3), rank).indices::<u64>(..).unwrap());
    std::thread::scope(|scope| {
        for rank in 0..4_u32 {
            let (of, expected) = (&of, &expected[rank as usize]);
            scope.spawn(move || {
                for _ in 0..50 {
                    assert_eq!(of(u64::from(rank % 3), rank).indices::<u64>(..).unwrap(), *expected);
                }
            });
        }
    });
}
