//! Splits: every id is in exactly one part, and stays in it.

use crate::{HAS_MEMORY_LIMIT, failing};
use samedeal::{FailureKind, Order, Part, Sampler, Split};

/// More ids than one call of the component takes.
const SAMPLES: u64 = (1 << 20) + 5_000;

fn split(test: u64, validation: u64, training: u64) -> Split {
    let parts = [("test", test), ("validation", validation), ("training", training)];
    Split::by_weight(parts).seed(42).build().unwrap()
}

#[test]
fn every_id_is_in_one_part() {
    let split = split(10, 10, 80);
    assert_eq!(split.parts(), ["test", "validation", "training"]);
    let parts = split.part_of(&(0..SAMPLES).collect::<Vec<_>>()).unwrap();
    assert_eq!(parts.len() as u64, SAMPLES);
    let counts = split.counts(SAMPLES).unwrap();
    for (number, name) in (0..).zip(split.parts()) {
        let indices = split.indices(name, SAMPLES).unwrap();
        let expected = (0..SAMPLES).filter(|id| parts[*id as usize] == number).collect::<Vec<_>>();
        assert_eq!(indices, expected, "{name}");
        assert_eq!(indices.len() as u64, counts[number as usize]);
        let others = split.others(number, SAMPLES).unwrap();
        assert_eq!(others.len() as u64, SAMPLES - counts[number as usize]);
        assert!(others.iter().all(|id| parts[*id as usize] != number));
        assert_eq!((split.name_of(number).unwrap(), split.number_of(name).unwrap()), (name.as_str(), number));
    }
    let share = counts[2] as f64 / SAMPLES as f64;
    assert!((0.79..0.81).contains(&share), "{share}");
    // The ids may come in any order, and may be far apart.
    assert_eq!(split.part_of(&[7, (1 << 53) - 2, 7]).unwrap()[0], parts[7]);
    assert_eq!(split.part_of_run(1_000, 50).unwrap(), parts[1_000..1_050]);
    assert!(split.part_of(&[]).unwrap().is_empty() && split.indices("test", 0).unwrap().is_empty());
}

#[test]
fn no_id_comes_into_training() {
    let (before, after) = (split(10, 10, 80), split(10, 20, 70));
    let [before, after] = [before, after].map(|split| split.part_of_run(0, 50_000).unwrap());
    let moved = before.iter().zip(&after).filter(|(before, after)| before != after);
    let moved = moved.map(|(before, after)| (*before, *after)).collect::<Vec<_>>();
    assert!(moved.len() > 4_000 && moved.iter().all(|it| *it == (2, 1)), "{}", moved.len());
}

#[test]
fn sizes_are_exact() {
    let split = Split::by_size([("test", 1), ("none", 0), ("training", 9_998)]).seed(-3).build().unwrap();
    assert_eq!(split.counts(9_999).unwrap(), [1, 0, 9_998]);
    assert_eq!(failing(split.indices("test", 10_000)), (FailureKind::OutOfRange, "count".into()));
    assert_eq!(failing(split.part_of(&[3, 9_999])), (FailureKind::OutOfRange, "ids".into()));
    assert_eq!(failing(split.part_of_keys(&["a"])), (FailureKind::Contradiction, "sizes".into()));
    assert_eq!(failing(split.part_of_keys::<&str>(&[])), (FailureKind::Contradiction, "sizes".into()));
}

#[test]
fn folds_are_parts_of_equal_weight() {
    let folds = Split::folds(7).seed(1).build().unwrap();
    assert_eq!(folds.parts(), ["0", "1", "2", "3", "4", "5", "6"]);
    let mut seen = (0..7_u32).flat_map(|fold| folds.indices(fold, 1_000).unwrap()).collect::<Vec<_>>();
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..1_000));
    let parts = (0..7).map(|fold| (fold.to_string(), 1));
    assert_eq!(Split::by_weight(parts).seed(1).build().unwrap().recipe(), folds.recipe());
    assert_eq!(failing(Split::folds(0).build()), (FailureKind::Missing, "parts".into()));
    for folds in [(1 << 16) + 1, u32::MAX] {
        let error = Split::folds(folds).build().unwrap_err();
        assert_eq!(error.to_string(), format!("parts is {folds} objects; allowed: 1 to 65536"));
    }
}

#[test]
fn keys_have_parts_of_their_own() {
    let split = split(30, 30, 40);
    let keys = (0..5_000).map(|key| format!("speaker-{}", key % 977)).collect::<Vec<_>>();
    let parts = split.part_of_keys(&keys).unwrap();
    assert_eq!(parts.len(), keys.len());
    assert!((977..5_000).all(|row| parts[row] == parts[row % 977]));
    assert!((0..3).all(|part| parts.contains(&part)));
    assert_eq!(split.part_of_keys(&["speaker-5", "", "é"]).unwrap()[0], parts[5]);
    // These keys do not fit into one call of an instance with little memory.
    let small = Split::from_recipe(split.recipe().unwrap()).memory_limit(32 << 20).build().unwrap();
    let long = (0..40).map(|key| key.to_string().repeat(1 << 19)).collect::<Vec<_>>();
    assert_eq!(small.part_of_keys(&long).unwrap(), split.part_of_keys(&long).unwrap());
    if HAS_MEMORY_LIMIT {
        let longer = ["x".repeat(64 << 20)];
        assert_eq!(failing(small.part_of_keys(&longer)), (FailureKind::OutOfMemory, "keys".into()));
    }
    assert_eq!(small.part_of_keys(&keys).unwrap(), parts);
}

#[test]
fn a_part_is_a_subset() {
    let split = split(1, 1, 8);
    let training = split.indices("training", 1_000).unwrap();
    let sampler = Sampler::from_order(Order::new("feistel", 1_000).subset(training.clone())).build().unwrap();
    let mut seen = sampler.indices::<u64>(..).unwrap();
    seen.sort_unstable();
    assert_eq!(seen, training);
}

#[test]
fn a_recipe_makes_it_again() {
    let split = split(1, 2, 3);
    let recipe = split.recipe().unwrap();
    let again = Split::from_recipe(&recipe).build().unwrap();
    assert_eq!((again.recipe().unwrap(), again.recipe_fingerprint()), (recipe.clone(), split.recipe_fingerprint()));
    assert_eq!(again.part_of_run(0, 1_000), split.part_of_run(0, 1_000));
    let other = Split::from_recipe(recipe).seed(43).build().unwrap();
    assert_ne!(other.part_of_run(0, 1_000), split.part_of_run(0, 1_000));
    assert!(format!("{split:?}").contains("validation"));
}

#[test]
fn bad_splits_are_refused() {
    use FailureKind::{Contradiction, Missing, OutOfRange, WrongType};
    let weights = |parts: &[(&str, u64)]| Split::by_weight(parts.iter().copied()).build();
    assert_eq!(failing(weights(&[])), (Missing, "parts".into()));
    assert_eq!(failing(weights(&[("a", 0), ("b", 0)])), (OutOfRange, "weight".into()));
    assert_eq!(failing(weights(&[("a", 1 << 53)])), (OutOfRange, "weight".into()));
    assert_eq!(failing(weights(&[("a", (1 << 53) - 1), ("b", 1)])), (OutOfRange, "weight".into()));
    assert_eq!(failing(weights(&[("a", 1), ("a", 1)])), (Contradiction, "name".into()));
    assert_eq!(failing(weights(&[("", 1)])), (OutOfRange, "name".into()));
    assert_eq!(failing(weights(&[(&"x".repeat(257), 1)])), (OutOfRange, "name".into()));
    assert_eq!(failing(Split::by_size([("a", 0)]).build()), (OutOfRange, "size".into()));
    assert_eq!(failing(Split::by_weight([("x".repeat(1 << 25), 1)]).build()), (OutOfRange, "recipe".into()));
    assert_eq!(failing(Split::folds(2).memory_limit(1 << 20).build()), (OutOfRange, "memory_limit".into()));
    for (text, kind, field) in [
        ("", WrongType, "recipe"),
        ("{}", Missing, "split"),
        (r#"{"split":{"parts":[{"name":"a"}]}}"#, Missing, "weight"),
        (r#"{"split":{"parts":[{"weight":1}]}}"#, Missing, "name"),
        (r#"{"split":{"parts":[{"name":"a","weight":1,"size":1}]}}"#, Contradiction, "weight"),
        (r#"{"split":{"parts":[{"name":"a","weight":1}],"samples":1}}"#, Contradiction, "samples"),
        (r#"{"split":{"parts":[{"name":"a","size":1}],"samples":2}}"#, Contradiction, "samples"),
        (r#"{"split":{"part":[]}}"#, FailureKind::UnknownMember, "split"),
        (r#"{"split":{"parts":[{"nam":"a"}]}}"#, FailureKind::UnknownMember, "parts"),
    ] {
        assert_eq!(failing(Split::from_recipe(text).build()), (kind, field.into()), "{text}");
    }
}

#[test]
fn bad_calls_are_refused() {
    use FailureKind::{OutOfRange, UnknownName};
    let split = split(1, 1, 1);
    assert_eq!(failing(split.part_of(&[(1 << 53) - 1])), (OutOfRange, "ids".into()));
    assert_eq!(failing(split.part_of(&[u64::MAX])), (OutOfRange, "ids".into()));
    assert_eq!(failing(split.part_of_window(&vec![0; (1 << 20) + 1])), (OutOfRange, "ids".into()));
    assert_eq!(failing(split.part_of_run(u64::MAX, 0)), (OutOfRange, "start".into()));
    assert_eq!(failing(split.part_of_run(0, (1 << 20) + 1)), (OutOfRange, "count".into()));
    assert_eq!(failing(split.members(3, 0, 0)), (OutOfRange, "part".into()));
    assert_eq!(failing(split.members(0, 0, u32::MAX)), (OutOfRange, "count".into()));
    assert_eq!(failing(split.name_of(3).map(str::to_owned)), (OutOfRange, "part".into()));
    assert_eq!(failing(split.indices(3, 10)), (OutOfRange, "part".into()));
    let error = split.others("train", 10).unwrap_err();
    assert_eq!(error.to_string(), "part is \"train\"; known: test, validation, training");
    assert_eq!(failing(split.indices(Part::Name(""), 10)), (UnknownName, "part".into()));
    // The split still works.
    assert_eq!(split.counts(10).unwrap().iter().sum::<u64>(), 10);
}

#[test]
fn sizes_are_exact_among_keys() {
    use FailureKind::{Contradiction, OutOfRange};
    let names = (0..3_000).map(|number| format!("{}.txt", number % 2_000)).collect::<Vec<_>>();
    let sized = |test| Split::by_size([("test", test), ("validation", 30)]).seed(7).build().unwrap();
    let sizes = sized(100).exact_sizes().unwrap();
    names.chunks(700).rev().for_each(|some| sizes.add_keys(some).unwrap());
    let split = sizes.split("training").unwrap();
    let count = |split: &Split| {
        let parts = split.part_of_keys(&names[..2_000]).unwrap();
        [0, 1, 2].map(|part| parts.iter().filter(|own| **own == part).count())
    };
    assert_eq!((count(&split), split.parts()[2].as_str()), ([100, 30, 1_870], "training"));
    let larger = sized(200).exact_sizes().unwrap();
    larger.add_keys(&names).unwrap();
    assert_eq!(count(&larger.split("training").unwrap()), [200, 30, 1_770]);
    // More keys may follow, also ids.
    sizes.add_ids(&(0..500_000).collect::<Vec<_>>()).unwrap();
    assert_ne!(sizes.split("training").unwrap().recipe().unwrap(), split.recipe().unwrap());
    assert_eq!(failing(sizes.split("test").map(drop)), (Contradiction, "name".into()));
    assert_eq!(failing(sizes.add_ids(&[3, (1 << 53) - 1])), (OutOfRange, "ids".into()));
    assert_eq!(failing(sizes.add_ids(&vec![3; (1 << 20) + 1])), (OutOfRange, "ids".into()));
    assert_eq!(failing(sized(1).exact_sizes().unwrap().split("rest").map(drop)), (OutOfRange, "size".into()));
    assert_eq!(failing(split.exact_sizes().map(drop)), (Contradiction, "weights".into()));
}
