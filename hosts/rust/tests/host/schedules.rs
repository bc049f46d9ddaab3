//! Schedules: the steps of a whole training, over the ends of epochs.

use crate::failing;
use samedeal::{FailureKind, Layout, Order, Sampler, Schedule, ScheduleBuilder, Source};

const SAMPLES: u64 = 100;

/// A schedule with 24 samples in a step, 48 from step 10 on, and 12 from step 15 on.
fn builder() -> ScheduleBuilder {
    Schedule::builder(SAMPLES, 24).stages([(10, 48), (15, 12)]).seed(42)
}

/// The samples of the first `epochs` epochs, one after the other.
fn draws(order: Order, epochs: u64) -> Vec<u64> {
    let sampler = Sampler::from_order(order).build().unwrap();
    (0..epochs).flat_map(|epoch| sampler.at_epoch(epoch).unwrap().indices::<u64>(..).unwrap()).collect()
}

#[test]
fn a_step_takes_the_next_samples_over_the_ends_of_epochs() {
    let draws = draws(Order::new("feistel", SAMPLES).seed(42), 10);
    for world_size in [1, 2, 3, 4, 6, 12] {
        let whole = builder().world_size(world_size).build().unwrap();
        let mut first = 0;
        for step in 0..20 {
            let size = [24, 48, 12][usize::from(step >= 10) + usize::from(step >= 15)];
            assert_eq!((whole.global_batch_size(step).unwrap(), whole.samples_consumed(step).unwrap()), (size, first));
            let place = whole.place_of(step).unwrap();
            assert_eq!((place.epoch, place.position), (first / SAMPLES, first % SAMPLES));
            assert_eq!(whole.step_of(place.epoch, place.position).unwrap(), step);
            assert_eq!(whole.step_of_consumed(first + u64::from(size) - 1).unwrap(), step);
            let own = &draws[first as usize..][..size as usize];
            for rank in 0..world_size {
                let batch = whole.at_rank(rank).unwrap().batch(step).unwrap();
                let strided = own.iter().skip(rank as usize).step_by(world_size as usize);
                assert!(batch.iter().eq(strided), "rank {rank} of {world_size} at step {step}");
            }
            first += u64::from(size);
        }
    }
}

#[test]
fn layouts_and_units_deal_the_same_samples() {
    let order = || Order::new("feistel", 30).seed(3).copies(4);
    let draws = draws(order(), 3);
    for layout in Layout::ALL {
        let schedule = Schedule::from_order(order(), 24).layout(*layout).unit(4).world_size(3).build().unwrap();
        assert_eq!((schedule.layout(), schedule.unit(), schedule.order()), (*layout, 4, "copies"));
        for step in 0..12 {
            let ranks = (0..3).map(|rank| schedule.at_rank(rank).unwrap().batch(step).unwrap()).collect::<Vec<_>>();
            for batch in &ranks {
                assert_eq!(batch.len(), 8);
                assert!(
                    batch.chunks(4).all(|group| group.iter().all(|sample| *sample == group[0])),
                    "{layout} {batch:?}"
                );
            }
            let mut all = ranks.concat();
            let mut own = draws[step as usize * 24..][..24].to_vec();
            all.sort_unstable();
            own.sort_unstable();
            assert_eq!(all, own, "{layout} at step {step}");
        }
    }
}

#[test]
fn iterators_give_the_same_batches() {
    let schedule = builder().rank(1).world_size(2).build().unwrap();
    let batches = (0..40).map(|step| schedule.batch(step).unwrap()).collect::<Vec<_>>();
    assert_eq!(schedule.iter().take(40).collect::<Result<Vec<_>, _>>().unwrap(), batches);
    let run = schedule.steps(3..33).unwrap();
    assert_eq!(run.len(), 30);
    assert_eq!(run.collect::<Result<Vec<_>, _>>().unwrap(), batches[3..33]);
    let mut steps = schedule.steps(5..).unwrap();
    assert_eq!(steps.nth(7).unwrap().unwrap(), batches[12]);
    assert_eq!(steps.next().unwrap().unwrap(), batches[13]);
    assert_eq!(schedule.indices_window(12, 5).unwrap(), batches[12..17].concat());
    assert_eq!(schedule.indices(3..=32).unwrap(), batches[3..33].concat());
    assert_eq!(failing(schedule.indices(..)).0, FailureKind::OutOfMemory);
    let ranks = schedule.step(12, ..).unwrap();
    assert_eq!((ranks.len(), &ranks[1]), (2, &batches[12]));
    assert_eq!(schedule.step(12, 1..=1).unwrap(), ranks[1..]);
    assert_eq!(schedule.step(12, 1..1).unwrap(), [[0; 0]; 0]);
    #[allow(clippy::reversed_empty_ranges)]
    let reversed = failing(schedule.step(12, 2..1));
    assert_eq!(reversed, (FailureKind::OutOfRange, "count".into()));
    assert_eq!(failing(schedule.step(12, 1..3)), (FailureKind::OutOfRange, "count".into()));
    assert_eq!(failing(schedule.step(12, 3..)), (FailureKind::OutOfRange, "first".into()));
    assert_eq!(schedule.steps(7..7).unwrap().count(), 0);
    assert_eq!((&schedule).into_iter().next().unwrap().unwrap(), batches[0]);
    // These ranges end at the last step, or begin there.
    let end = schedule.num_steps();
    assert_eq!(schedule.steps(end - 2..).unwrap().collect::<Result<Vec<_>, _>>().unwrap().len(), 2);
    assert_eq!(schedule.steps(end..).unwrap().count(), 0);
    assert_eq!(failing(schedule.steps(end + 1..)), (FailureKind::OutOfRange, "start".into()));
    assert_eq!(failing(schedule.steps(0..end + 1)), (FailureKind::OutOfRange, "count".into()));
}

#[test]
fn a_sample_is_found_in_every_epoch() {
    // The batch size divides the epoch, so no step has parts of two epochs, and no sample comes twice in a step.
    let schedule = Schedule::builder(SAMPLES, 20).seed(42).world_size(4).build().unwrap();
    for sample in [0, 37, 99] {
        let (mut step, mut epochs) = (0, Vec::new());
        while epochs.len() < 4 {
            let place = schedule.locate(sample, step).unwrap().unwrap();
            assert_eq!(schedule.step_of_consumed(place.samples_consumed).unwrap(), place.step);
            assert_eq!(place.samples_consumed, place.epoch * SAMPLES + place.position);
            let batch = schedule.at_rank(place.rank).unwrap().batch(place.step).unwrap();
            assert_eq!(batch[place.index_in_batch as usize], sample);
            epochs.push(place.epoch);
            step = place.step + 1;
        }
        assert_eq!(epochs, [0, 1, 2, 3]);
    }
}

#[test]
fn a_state_continues_on_another_world_size() {
    use FailureKind::{Contradiction, OutOfRange, UnknownMember, WrongType};
    let schedule = builder().world_size(4).build().unwrap();
    let state = schedule.state(11).unwrap();
    assert_eq!(schedule.at_rank(3).unwrap().state(11).unwrap(), state);
    let other = schedule.to_builder().unwrap().rank(2).world_size(3).build().unwrap();
    assert_eq!((other.resume(&state).unwrap(), other.rank(), other.world_size()), (11, 2, 3));
    // The batch sizes of later steps may differ from the state, but not those of earlier steps.
    assert_eq!(builder().stages([(10, 48), (12, 96)]).build().unwrap().resume(&state).unwrap(), 11);
    let earlier = builder().stages([(9, 48)]).build().unwrap();
    assert_eq!(failing(earlier.resume(&state)), (Contradiction, "stages".into()));
    let size = builder().global_batch_size(48).build().unwrap();
    assert_eq!(failing(size.resume(&state)), (Contradiction, "global_batch_size".into()));
    assert_eq!(failing(builder().seed(43).build().unwrap().resume(&state)), (Contradiction, "seed".into()));
    for text in ["", "{}", "[]"] {
        assert_eq!(failing(schedule.resume(text)), (WrongType, "state".into()), "{text}");
    }
    let unknown = state.replace("steps", "sampler");
    assert_eq!(failing(schedule.resume(&unknown)), (UnknownMember, "recipe".into()));
    assert_eq!(failing(schedule.resume(&" ".repeat((1 << 24) + 1))), (OutOfRange, "state".into()));
    // The state of a sampler is refused: it has no steps.
    let sampler = Sampler::builder(SAMPLES).seed(42).build().unwrap();
    assert_eq!(failing(schedule.resume(&sampler.state(24).unwrap())), (WrongType, "state".into()));
    assert!(schedule.state(0).unwrap().contains(r#""step":0"#));
}

#[test]
fn the_first_stages_may_be_of_a_past_with_other_ranks() {
    let past = builder().global_batch_size(25).build().unwrap();
    let state = past.state(12).unwrap();
    let schedule = past.to_builder().unwrap().world_size(2).build().unwrap();
    assert_eq!(schedule.resume(&state).unwrap(), 12);
    assert_eq!((schedule.samples_consumed(10).unwrap(), schedule.batch(12).unwrap().len()), (250, 24));
    let unfit = (FailureKind::Contradiction, "global_batch_size".to_owned());
    assert_eq!(failing(schedule.batch(9)), unfit);
    assert_eq!(failing(schedule.locate(past.batch(0).unwrap()[0], 0)), unfit);
    assert_eq!(failing(schedule.iter().collect::<Result<Vec<_>, _>>()), unfit);
}

#[test]
fn recipes_and_lists() {
    let schedule = builder().world_size(2).unit(3).build().unwrap();
    let recipe = schedule.recipe().unwrap();
    let again = Schedule::from_recipe(&recipe).rank(1).build().unwrap();
    assert_eq!((again.recipe().unwrap(), again.recipe_fingerprint()), (recipe.clone(), schedule.recipe_fingerprint()));
    assert_eq!(
        (again.seed(), again.dataset_size(), again.rank(), again.world_size(), again.unit()),
        (42, SAMPLES, 1, 2, 3)
    );
    assert_eq!(again.batch(12).unwrap(), schedule.at_rank(1).unwrap().batch(12).unwrap());
    // Options that are set replace the options of the recipe.
    let other = Schedule::from_recipe(&recipe).global_batch_size(96).stages([]).build().unwrap();
    assert_eq!(other.global_batch_size(12).unwrap(), 96);

    // A long list is only a hash in the recipe, but `to_builder` keeps the list.
    let kept = (0..SAMPLES * 5).map(|index| index * 2).collect::<Vec<_>>();
    let order = Order::new("feistel", SAMPLES * 10).subset(kept.clone());
    let subset = Schedule::from_order(order, 10).build().unwrap();
    let recipe = subset.recipe().unwrap();
    assert_eq!(failing(Schedule::from_recipe(&recipe).build()), (FailureKind::Missing, "indices".into()));
    let again = Schedule::from_recipe(&recipe).list("indices", kept).build().unwrap();
    assert_eq!(again.indices_window(45, 10), subset.indices_window(45, 10));
    let two = subset.to_builder().unwrap().world_size(2).build().unwrap();
    assert_eq!(two.samples_consumed(50).unwrap(), 500);
}

#[test]
fn blends_go_on_from_epoch_to_epoch() {
    let blend = Order::blend([Source::new("web", 1_000, 7), Source::new("books", 30, 3)]).samples(100).seed(1);
    let schedule = Schedule::from_order(blend.clone(), 20).world_size(2).build().unwrap();
    assert_eq!(schedule.layout(), Layout::Rotated);
    let mut all =
        (0..10).flat_map(|step| [0, 1].map(|rank| schedule.at_rank(rank).unwrap().batch(step).unwrap()).concat());
    assert_eq!(all.clone().count(), 200);
    assert_eq!(all.by_ref().filter(|sample| *sample >= 1_000).count(), 60);
    // The stages of later steps may differ from the state.
    let state = schedule.state(7).unwrap();
    let changed = Schedule::from_order(blend.clone().stage(140, [1, 1]), 20).build().unwrap();
    assert_eq!(changed.resume(&state).unwrap(), 7);
    let earlier = Schedule::from_order(blend.stage(120, [1, 1]), 20).build().unwrap();
    assert!(earlier.resume(&state).is_err());
}

#[test]
fn bad_schedules_are_refused() {
    use FailureKind::{Contradiction, Missing, OutOfRange, UnknownName, WrongType};
    assert_eq!(
        failing(Schedule::builder(SAMPLES, 25).world_size(2).build()),
        (Contradiction, "global_batch_size".into())
    );
    assert_eq!(failing(builder().stages([(5, 25)]).world_size(2).build()), (Contradiction, "global_batch_size".into()));
    assert_eq!(failing(builder().unit(5).build()), (Contradiction, "global_batch_size".into()));
    assert_eq!(failing(builder().global_batch_size(0).build()), (OutOfRange, "global_batch_size".into()));
    assert_eq!(failing(builder().stages([(5, 48), (5, 24)]).build()), (OutOfRange, "from".into()));
    assert_eq!(failing(builder().stages([(0, 48)]).build()), (OutOfRange, "from".into()));
    assert_eq!(failing(builder().stages((1..=(1 << 16) + 1).map(|from| (from, 24))).build()).0, OutOfRange);
    assert_eq!(failing(builder().world_size(2).rank(2).build()), (OutOfRange, "rank".into()));
    assert_eq!(failing(builder().world_size(0).build()), (OutOfRange, "world_size".into()));
    assert_eq!(failing(builder().unit(0).build()), (OutOfRange, "unit".into()));
    assert_eq!(failing(Schedule::builder(0, 24).build()), (OutOfRange, "samples".into()));
    assert_eq!(failing(Schedule::builder(1 << 53, 24).build()), (OutOfRange, "samples".into()));
    assert_eq!(failing(builder().order("deal").build()), (UnknownName, "name".into()));
    assert_eq!(failing(builder().lanes(4).build()), (Contradiction, "lanes".into()));
    assert_eq!(failing(builder().memory_limit(1 << 20).build()), (OutOfRange, "memory_limit".into()));
    for (text, kind, field) in [
        ("", WrongType, "recipe"),
        (r#"{"order":{"samples":9}}"#, Missing, "steps"),
        (r#"{"order":{"samples":9},"steps":{}}"#, Missing, "global_batch_size"),
        (
            r#"{"order":{"samples":9},"steps":{"global_batch_size":2,"stages":[{"global_batch_size":4}]}}"#,
            Missing,
            "from",
        ),
        (r#"{"order":{"samples":9},"steps":{"batch":2}}"#, FailureKind::UnknownMember, "steps"),
        (
            r#"{"order":{"samples":9},"deal":{"remainder":"pad"},"steps":{"global_batch_size":2}}"#,
            Contradiction,
            "remainder",
        ),
    ] {
        assert_eq!(failing(Schedule::from_recipe(text).build()), (kind, field.into()), "{text}");
    }
}

#[test]
fn bad_calls_are_refused() {
    use FailureKind::OutOfRange;
    let schedule = builder().world_size(2).build().unwrap();
    let end = schedule.num_steps();
    assert_eq!(failing(schedule.global_batch_size(end)), (OutOfRange, "step".into()));
    assert_eq!(failing(schedule.samples_consumed(end + 1)), (OutOfRange, "step".into()));
    assert_eq!(failing(schedule.place_of(u64::MAX)), (OutOfRange, "step".into()));
    assert_eq!(failing(schedule.step_of_consumed(u64::MAX)), (OutOfRange, "samples_consumed".into()));
    assert_eq!(failing(schedule.step_of(0, SAMPLES)), (OutOfRange, "position".into()));
    assert_eq!(failing(schedule.step_of(u64::MAX, 0)), (OutOfRange, "epoch".into()));
    assert_eq!(failing(schedule.indices_window(end + 1, 0)), (OutOfRange, "start".into()));
    assert_eq!(failing(schedule.indices_window(0, u32::MAX)), (OutOfRange, "count".into()));
    assert_eq!(failing(schedule.batch(end)), (OutOfRange, "count".into()));
    assert_eq!(failing(schedule.locate(SAMPLES, 0)), (OutOfRange, "sample".into()));
    assert_eq!(failing(schedule.locate(0, end + 1)), (OutOfRange, "step".into()));
    assert_eq!(failing(schedule.state(end + 1)), (OutOfRange, "step".into()));
    assert_eq!(failing(schedule.at_rank(2)), (OutOfRange, "rank".into()));
    // The schedule still works.
    assert_eq!(schedule.batch(0).unwrap().len(), 12);
}
