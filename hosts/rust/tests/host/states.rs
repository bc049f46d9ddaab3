//! States: they can be taken at any step and resumed with any world size. Other texts are refused, and change nothing.

use crate::failing;
use samedeal::{Batcher, FailureKind, Order, Remainder, Sampler, Schedule, Source, Split, Strategy};

fn sampler(rank: u32, world: u32) -> Sampler {
    Sampler::builder(103).seed(5).epoch(2).rank(rank).world_size(world).remainder(Remainder::Uneven).build().unwrap()
}

#[test]
fn no_sample_is_lost_or_seen_twice() {
    let whole: Vec<u64> = sampler(0, 1).indices(..).unwrap();
    let mut seen = Vec::new();
    let mut state = sampler(0, 1).state(0).unwrap();
    for (world, steps) in [(8, 3), (6, 4), (6, 1), (5, 2), (1, 39)] {
        let mut ranks: Vec<_> = (0..world).map(|rank| sampler(rank, world)).collect();
        ranks.iter_mut().for_each(|rank| rank.resume(&state).unwrap());
        for step in 0..steps {
            for rank in ranks.iter().filter(|rank| step < rank.num_samples()) {
                seen.push(rank.window::<u64>(step, 1).unwrap()[0]);
            }
        }
        let states: Vec<_> = ranks.iter().map(|rank| rank.state(steps).unwrap()).collect();
        assert!(states.iter().all(|other| *other == states[0]));
        state = states[0].clone();
    }
    assert_eq!(seen, whole);
    assert!(state.contains("\"consumed\":103"));
}

#[test]
fn a_state_moves_and_an_epoch_moves_on() {
    let mut here = sampler(1, 3);
    here.set_epoch(9).unwrap();
    here.resume(&sampler(0, 4).state(5).unwrap()).unwrap();
    assert_eq!((here.epoch(), here.consumed(), here.num_samples()), (2, 20, 28));
    let same = here.to_builder().unwrap().build().unwrap();
    assert_eq!(same.fingerprint().unwrap(), here.fingerprint().unwrap());
    here.set_epoch(2).unwrap();
    assert_eq!(here.consumed(), 20);
    here.set_epoch(3).unwrap();
    assert_eq!((here.consumed(), here.num_samples()), (0, 34));
}

#[test]
fn what_is_no_state_of_a_sampler_is_refused() {
    let mut here = sampler(0, 1);
    let state = here.state(7).unwrap();
    for text in ["", "{}", "\0", &state[1..], &state.replace("sampler", "batcher"), &"[".repeat(9_000)] {
        assert_eq!(failing(here.resume(text)), (FailureKind::WrongType, "state".into()), "{text}");
    }
    let long = format!("{state}{}", " ".repeat(1 << 24));
    assert_eq!(failing(here.resume(&long)), (FailureKind::OutOfRange, "state".into()));
    for (builder, field) in [
        (Sampler::builder(104).seed(5), "samples"),
        (Sampler::builder(103).seed(6), "seed"),
        (Sampler::builder(103).seed(5).order("torch"), "name"),
        (Sampler::sharded([103]).seed(5), "name"),
    ] {
        let mut other = builder.build().unwrap();
        assert_eq!(failing(other.resume(&state)), (FailureKind::Contradiction, field.into()));
        assert_eq!(other.consumed(), 0);
    }
    assert_eq!(failing(here.state(104)), (FailureKind::OutOfRange, "taken".into()));
    assert_eq!(failing(Sampler::builder(3).consumed(4).build()), (FailureKind::OutOfRange, "consumed".into()));
    assert_eq!(here.consumed(), 0);
}

fn lengths() -> Vec<u32> {
    (0..500_u32).map(|i| i.wrapping_mul(2_654_435_761) >> 25).collect()
}

fn batcher(world: u32) -> Batcher {
    Batcher::builder(lengths()).max_tokens(512).world_size(world).batch_window(64).epoch(3).build().unwrap()
}

#[test]
fn batches_go_on_where_they_were() {
    let whole = batcher(2);
    let state = whole.state(9).unwrap();
    let mut rest = batcher(2);
    rest.set_epoch(8).unwrap();
    rest.resume(&state).unwrap();
    // Some windows have been read completely, and one is open.
    assert_eq!((rest.epoch(), rest.consumed() > 0), (3, true));
    assert!(state.contains(r#""history":[{"world_size":2,"steps":3}],"window":"#), "{state}");
    assert_eq!(rest.num_steps().unwrap(), whole.num_steps().unwrap() - 9);
    let left: Vec<_> = rest.iter().collect::<Result<_, _>>().unwrap();
    assert_eq!(left, whole.batches(9..).unwrap().collect::<Result<Vec<_>, _>>().unwrap());
    assert_eq!(rest.state(1).unwrap(), whole.state(10).unwrap());

    let mut other = batcher(3);
    other.resume(&state).unwrap();
    let mut seen: Vec<u64> = Vec::new();
    for (batcher, world, steps) in [(&whole, 2, 9), (&other, 3, other.num_steps().unwrap())] {
        for rank in 0..world {
            for batch in batcher.batches_of(rank, 0..steps).unwrap() {
                seen.extend(batch.unwrap().samples);
            }
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..500).collect::<Vec<_>>());
    // `set_epoch` with the epoch of the state changes nothing. Any other epoch has no history, and neither has the same
    // epoch after `at_epoch`.
    other.set_epoch(3).unwrap();
    assert_eq!(other.consumed(), rest.consumed());
    let again = other.at_epoch(3).unwrap();
    assert_eq!((again.epoch(), again.consumed()), (3, 0));
    assert_eq!(again.fingerprint().unwrap(), batcher(3).fingerprint().unwrap());
    other.set_epoch(4).unwrap();
    assert_eq!(other.consumed(), 0);
}

#[test]
fn samples_are_found_where_they_are() {
    let batcher = batcher(2);
    for sample in (0..500).step_by(7) {
        let places = batcher.locate(sample).unwrap();
        assert_eq!(places.len(), 1);
        let batch = batcher.batch_of(places[0].rank, places[0].step).unwrap();
        assert_eq!(batch.rows().nth(places[0].row as usize).unwrap()[places[0].index_in_row as usize], sample);
    }
    assert_eq!(failing(batcher.locate(500)), (FailureKind::OutOfRange, "sample".into()));
}

#[test]
fn what_is_no_state_of_a_batcher_is_refused() {
    let mut here = batcher(2);
    let state = here.state(9).unwrap();
    let wanted = here.fingerprint().unwrap();
    for text in ["", "{}", &state.replace("\"batcher\"", "\"sampler\"")] {
        assert_eq!(failing(here.resume(text)), (FailureKind::WrongType, "state".into()), "{text}");
    }
    let unknown = state.replace("history", "story");
    assert_eq!(failing(here.resume(&unknown)), (FailureKind::UnknownMember, "state".into()));
    // A history that is too long is refused when the window is planned.
    here.resume(&state.replace(r#""steps":3}"#, r#""steps":900}"#)).unwrap();
    assert_eq!(failing(here.num_steps()), (FailureKind::OutOfRange, "history".into()));
    here = here.at_epoch(3).unwrap();
    let mut packed = Batcher::builder(lengths()).epoch(3).strategy(Strategy::Pack).capacity(512).build().unwrap();
    assert_eq!(failing(packed.resume(&state)), (FailureKind::Contradiction, "strategy".into()));
    let mut wider = Batcher::builder(lengths()).epoch(3).max_tokens(513).batch_window(64).build().unwrap();
    assert_eq!(failing(wider.resume(&state)), (FailureKind::Contradiction, "max_tokens".into()));
    // After a failure, nothing has changed.
    assert_eq!((wider.epoch(), wider.consumed()), (3, 0));
    assert_eq!(failing(here.state(1_000)), (FailureKind::OutOfRange, "steps".into()));
    assert_eq!(here.fingerprint().unwrap(), wanted);
}

/// Numbers above 2^53 - 1 are in quotes, because JSON tools round such numbers.
#[test]
fn wide_numbers_are_in_quotes_and_others_are_refused() {
    for seed in [i64::MIN, -(1 << 53), (1 << 53) + 1, i64::MAX] {
        let quoted = format!("\"seed\":\"{seed}\"");
        let sampler = Sampler::builder(10).seed(seed).epoch(u64::MAX).build().unwrap();
        let (recipe, state) = (sampler.recipe().unwrap(), sampler.state(3).unwrap());
        assert!(recipe.contains(&quoted) && state.contains(&quoted), "{state}");
        assert!(state.contains("\"epoch\":\"18446744073709551615\""), "{state}");
        let mut again = Sampler::from_recipe(&*recipe).build().unwrap();
        again.resume(&state).unwrap();
        assert_eq!((again.seed(), again.epoch(), again.consumed()), (seed, u64::MAX, 3));
        assert!(Split::folds(3).seed(seed).build().unwrap().recipe().unwrap().contains(&quoted));
        let order = Order::new("feistel", 10).seed(seed).skip([(u64::MAX, 0, 0)]);
        assert!(order.to_json().contains(&quoted) && order.to_json().contains("\"18446744073709551615\""));
        let rounded = recipe.replace(&quoted, &format!("\"seed\":{seed}"));
        let error = Sampler::from_recipe(rounded).build().unwrap_err();
        assert!(error.to_string().contains("in quotes, because JSON tools round such numbers"), "{error}");
        let error = again.resume(&state.replace(&quoted, &format!("\"seed\":{seed}"))).unwrap_err();
        assert!(error.to_string().contains(&format!("seed is {seed}; ")), "{error}");
    }
}

#[test]
fn a_blend_of_many_sources_goes_on() {
    let sources = (0..10_600).map(|number| Source::new(format!("source {number}"), number % 7 + 1, 1));
    let sampler = Sampler::from_order(Order::blend(sources)).build().unwrap();
    let mut again = sampler.to_builder().unwrap().build().unwrap();
    again.resume(&sampler.state(1_000).unwrap()).unwrap();
    assert_eq!(again.window::<u64>(0, 9).unwrap(), sampler.window::<u64>(1_000, 9).unwrap());
}

#[test]
fn a_schedule_has_the_steps_of_its_epochs() {
    let steps = |epochs| Schedule::builder(1_003, 64).epochs(epochs).build();
    assert_eq!([1, 2].map(|epochs| steps(epochs).unwrap().num_steps()), [15, 31]);
    assert_eq!(failing(steps(0)), (FailureKind::OutOfRange, "epochs".into()));
    assert_eq!(failing(steps(1).unwrap().indices_window(0, 16)), (FailureKind::OutOfRange, "count".into()));
}
