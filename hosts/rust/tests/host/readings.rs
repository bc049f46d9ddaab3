//! Readings: every sample comes once, even if an epoch is resumed several times by different groups; a reading does not
//! change if others are made from it.

use crate::{HAS_MEMORY_LIMIT, failing};
use samedeal::{BalanceBy, Deal, FailureKind, Policy, Reading, ReadingBuilder, Remainder};

fn builder(deal: Deal) -> ReadingBuilder {
    let builder = Reading::builder([130, 0, 47, 300]).seed(9).deal(deal);
    if deal == Deal::Samples { builder.lanes(8).shuffle_window(4).remainder(Remainder::Uneven) } else { builder }
}

/// The samples that the workers of a rank give in `steps` steps, in turn.
fn steps(reading: &Reading, rank: u32, workers: u32, batch: u64, steps: u64) -> Vec<u64> {
    let mut seen = Vec::new();
    let mut taken = 0;
    let mut given = vec![0; workers as usize];
    while taken < steps {
        let before = taken;
        for worker in 0..workers {
            let count = reading.num_samples(rank, worker).unwrap();
            let start = given[worker as usize];
            if taken < steps && start < count {
                let end = count.min(start + batch);
                seen.extend(reading.indices(rank, worker, start..end).unwrap());
                given[worker as usize] = end;
                taken += 1;
            }
        }
        if taken == before {
            break;
        }
    }
    seen
}

#[test]
fn every_sample_once_through_groups_of_all_sizes() {
    for deal in [Deal::Samples, Deal::Shards] {
        let mut seen = Vec::new();
        let mut state: Option<String> = None;
        for (world, workers, batch, count) in [(2, 3, 7, 4), (2, 3, 7, 1), (1, 4, 5, 3), (3, 1, 8, 2), (2, 2, 16, 99)] {
            let whole = builder(deal).world_size(world).workers(workers).batch_size(batch).build().unwrap();
            let reading = match &state {
                None => whole.at_epoch(6).unwrap(),
                Some(state) => whole.resume(state).unwrap(),
            };
            assert_eq!((reading.epoch(), reading.is_rest()), (6, state.is_some()));
            let count = count.min(reading.steps().unwrap().max);
            for rank in 0..world {
                seen.extend(steps(&reading, rank, workers, batch.into(), count));
            }
            state = Some(reading.state(count).unwrap());
        }
        assert!(state.unwrap().contains("\"consumed\":477,\"history\":[]"));
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..477), "{deal}");
    }
}

#[test]
fn rounds_are_all_that_a_reader_reads() {
    for deal in [Deal::Samples, Deal::Shards] {
        let whole = builder(deal).workers(3).batch_size(4).build().unwrap();
        let rest = whole.resume(&whole.state(4).unwrap()).unwrap();
        for reading in [&whole, &rest] {
            for worker in 0..3 {
                let rounds = reading.rounds(0, worker).unwrap();
                assert_eq!(rounds.len() as u64, reading.num_rounds(0, worker).unwrap());
                let mut start = 0;
                for (number, round) in (0..).zip(rounds) {
                    let round = round.unwrap();
                    assert_eq!((round.start, reading.round(0, worker, number)), (start, Ok(round.clone())));
                    start += round.count;
                    if round.count > 0 {
                        assert_eq!(reading.round_of(0, worker, start - 1), Ok(number));
                    }
                }
                assert_eq!(Ok(start), reading.num_samples(0, worker));
            }
        }
    }
}

#[test]
fn a_step_is_a_batch_of_a_worker() {
    for deal in [Deal::Samples, Deal::Shards] {
        let whole = builder(deal).world_size(2).workers(3).batch_size(7).build().unwrap();
        let rest = whole.resume(&whole.state(4).unwrap()).unwrap();
        for (reading, rank) in [(&whole, 0), (&whole, 1), (&rest, 0), (&rest, 1)] {
            let count = reading.num_steps(rank).unwrap();
            let mut seen = Vec::new();
            for step in 0..count {
                let batch = reading.batch_at(rank, step).unwrap();
                assert_eq!((batch.step, reading.batch(rank, batch.worker, batch.number)), (step, Ok(batch)));
                let end = batch.start + u64::from(batch.count);
                seen.extend(reading.indices(rank, batch.worker, batch.start..end).unwrap());
            }
            assert_eq!(seen, steps(reading, rank, 3, 7, count), "{deal}, rank {rank}");
            let batches = (0..3).map(|worker| reading.num_batches(rank, worker).unwrap());
            assert_eq!(batches.sum::<u64>(), count);
            assert_eq!(failing(reading.batch_at(rank, count)), (FailureKind::OutOfRange, "step".into()));
        }
    }
}

#[test]
fn rows_of_a_round_hold_its_samples() {
    let starts = [0, 130, 130, 177];
    for deal in [Deal::Samples, Deal::Shards] {
        let reading = builder(deal).world_size(2).workers(2).build().unwrap();
        for (number, round) in (0..).zip(reading.rounds(1, 1).unwrap()) {
            let round = round.unwrap();
            let spans = round.spans.iter();
            let read: Vec<u64> = spans
                .flat_map(|span| (0..span.num_rows).map(|row| starts[span.shard as usize] + span.first_row + row))
                .collect();
            let found = reading.round_rows(1, 1, number, 0, round.count as u32).unwrap();
            let given: Vec<u64> = found.rows.iter().map(|&row| read[row as usize]).collect();
            assert_eq!(given, reading.indices(1, 1, round.start..round.start + round.count).unwrap(), "{deal}");
        }
    }
}

#[test]
fn millions_of_readers_take_little_memory() {
    // The largest number of ranks, in the reading and in the history of a state.
    let small = || Reading::builder([40, 0, 13]).deal(Deal::Shards).memory_limit(32 << 20);
    let many = |world: u32| small().world_size(world).build().unwrap();
    assert_eq!(many(1 << 22).num_idle_readers(), Ok((1 << 22) - 2));
    let state = many(1 << 22).state(7).unwrap();
    let rest = many(2).resume(&state).unwrap();
    assert_eq!((rest.num_samples(0, 0), rest.num_samples(1, 0)), (Ok(33), Ok(6)));
    // The history of this state has many groups, one after the other.
    let mut state = many(1).state(1).unwrap();
    for number in 0..12 {
        let next = small().world_size((1 << 16) - number % 2);
        state = next.build().unwrap().resume(&state).unwrap().state(1).unwrap();
    }
    assert!(many(3).resume(&state).unwrap().is_rest());
}

#[test]
fn bytes_of_another_number_are_not_copied() {
    // The memory has room for one list of this length, but not for two.
    let wrong = || Reading::builder([5]).deal(Deal::Shards).balance_by(BalanceBy::Bytes).bytes(vec![1; 1_400_000]);
    assert_eq!(failing(wrong().memory_limit(32 << 20).build()), (FailureKind::Contradiction, "bytes".into()));
}

#[test]
fn advice_about_lanes() {
    let reading = |batch| Reading::builder([1 << 20]).lanes(20).world_size(8).batch_size(batch).build().unwrap();
    assert_eq!((reading(4).reads_per_row(), reading(4).lanes_read_once()), (2, Ok(Some(24))));
    assert_eq!(reading(4).mixing_advice(), Ok(None));
    let advice = reading(64).mixing_advice().unwrap().unwrap();
    assert_eq!((advice.lanes_per_reader, advice.variance_ratio, advice.lanes, advice.shuffle_window), (5, 13, 256, 20));
    let suggested = reading(256).suggested_lanes(2_000, 8, &[]).unwrap().unwrap();
    assert_eq!((suggested.lanes, suggested.shuffle_window, suggested.variance_ratio), (256, 256, 8));
    let divides = reading(256).suggested_lanes(2_000, 8, &[720, 1_200]).unwrap().unwrap();
    assert_eq!((divides.lanes, divides.shuffle_window, divides.variance_ratio), (240, 256, 9));
    assert_eq!(reading(256).suggested_lanes(2_000, 8, &[721]), Ok(Some(suggested)));
    assert_eq!(reading(256).suggested_lanes(2_000, 0, &[]), Ok(None));
}

#[test]
fn a_reading_says_its_recipe() {
    let reading = builder(Deal::Samples).world_size(3).build().unwrap();
    let recipe = reading.recipe().unwrap();
    assert!(recipe.contains("\"lanes\":8,\"shuffle_window\":4"), "{recipe}");
    let again = Reading::from_recipe(&recipe).build().unwrap();
    assert_eq!((again.recipe(), again.indices(2, 0, ..)), (Ok(recipe), reading.indices(2, 0, ..)));
    assert_eq!(again.recipe_fingerprint(), reading.recipe_fingerprint());
    assert_eq!((reading.seed(), reading.sizes()), (9, Ok(vec![130, 0, 47, 300])));
    assert_eq!((reading.world_size(), reading.workers(), reading.batch_size()), (3, 1, 1));
    assert_eq!((reading.reads_per_row(), builder(Deal::Shards).build().unwrap().reads_per_row()), (3, 1));
}

#[test]
fn options_replace_those_of_a_recipe() {
    let shards = builder(Deal::Shards).build().unwrap().recipe().unwrap();
    let other = Reading::from_recipe(&shards).seed(3).shuffle(false).workers(2).epoch(5).build().unwrap();
    // `shuffle_rows` is a part of the recipe.
    let same = builder(Deal::Shards).seed(3).shuffle(false).shuffle_rows(true).workers(2).build().unwrap();
    assert_eq!((other.recipe(), other.epoch()), (same.recipe(), 5));
    let samples = r#"{"order":{"sizes":[5,6]}}"#;
    let stored = Reading::from_recipe(samples).shuffle(false).build().unwrap();
    assert!(stored.indices(0, 0, ..).unwrap().into_iter().eq(0..11));
    assert_eq!(Reading::from_recipe(samples).seed(4).build().unwrap().seed(), 4);
}

#[test]
fn one_reading_is_not_changed_by_others() {
    let whole = builder(Deal::Samples).build().unwrap();
    let first = whole.indices(0, 0, ..).unwrap();
    let state = whole.state(100).unwrap();
    for _ in 0..50 {
        let rest = whole.resume(&state).unwrap();
        let next = rest.at_epoch(1).unwrap();
        drop(rest);
        assert_ne!(next.indices(0, 0, ..).unwrap(), first);
    }
    assert_eq!(whole.indices(0, 0, ..).unwrap(), first);
    // The rest of an epoch must outlive the reading from which it was made.
    let rest = whole.resume(&state).unwrap();
    drop(whole);
    assert_eq!(rest.indices(0, 0, ..).unwrap(), first[100..]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(rest.indices_window(0, 0, 5, 5).unwrap(), first[105..110]));
        }
    });
}

#[test]
fn what_makes_no_sense_is_refused() {
    let contradiction = |field: &str| (FailureKind::Contradiction, field.to_owned());
    let out_of_range = |field: &str| (FailureKind::OutOfRange, field.to_owned());
    assert_eq!(failing(builder(Deal::Samples).policy(Policy::SizeAware).build()), contradiction("policy"));
    assert_eq!(failing(builder(Deal::Samples).shuffle(false).build()), contradiction("lanes"));
    assert_eq!(failing(builder(Deal::Shards).lanes(4).build()), contradiction("lanes"));
    assert_eq!(failing(Reading::builder([1]).memory_limit(1 << 20).build()), out_of_range("memory_limit"));
    if HAS_MEMORY_LIMIT {
        let many = Reading::builder(vec![0; 9 << 20]).memory_limit(32 << 20).build();
        assert_eq!(failing(many).0, FailureKind::OutOfMemory);
    }
    let reading = builder(Deal::Samples).build().unwrap();
    let state = reading.state(3).unwrap();
    assert_eq!(failing(reading.resume(&" ".repeat((1 << 24) + 1))), out_of_range("state"));
    assert_eq!(failing(reading.resume(&state[1..])), (FailureKind::WrongType, "state".into()));
    assert_eq!(failing(builder(Deal::Samples).seed(8).build().unwrap().resume(&state)), contradiction("seed"));
    assert_eq!(failing(builder(Deal::Shards).build().unwrap().resume(&state)), contradiction("recipe"));
    assert_eq!(failing(reading.indices(0, 0, 478..)), out_of_range("start"));
    assert_eq!(failing(reading.indices(1, 0, ..)), out_of_range("rank"));
    assert_eq!(failing(reading.shards(0, 0)), contradiction("shards"));
    assert_eq!(reading.num_samples(0, 0), Ok(477));
}
