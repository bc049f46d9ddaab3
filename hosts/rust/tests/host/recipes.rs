//! Recipes: what is written is read again as the same sampler, and what is no recipe is an error.

use crate::failing;
use samedeal::{Builder, FailureKind, Layout, Remainder, Sampler, orders};

#[test]
fn a_sampler_is_made_again_by_its_recipe() {
    for order in orders().unwrap() {
        let made = Sampler::builder(101).order(order).seed(-3).world(3).rank(2).epoch(5);
        let sampler = made.remainder(Remainder::Uneven).layout(Layout::Contiguous).build().unwrap();
        let again = Builder::from_recipe(&sampler.recipe().unwrap()).unwrap().rank(2).epoch(5).build().unwrap();
        assert_eq!(again.config(), sampler.config());
        assert_eq!(again.indices::<u64>(..).unwrap(), sampler.indices::<u64>(..).unwrap());
        assert_eq!(again.recipe_fingerprint().unwrap(), sampler.recipe_fingerprint().unwrap());
    }
}

#[test]
fn shards_are_named_or_hashed() {
    let sizes: Vec<u64> = (0..300).map(|shard| shard % 9).collect();
    let few = Sampler::sharded(sizes[..256].to_vec(), 4, 8).world(2).build().unwrap();
    let again = Builder::from_recipe(&few.recipe().unwrap()).unwrap().build().unwrap();
    assert_eq!(again.config(), few.config());
    let many = Sampler::sharded(sizes.clone(), 4, 8).world(2).build().unwrap();
    let recipe = many.recipe().unwrap();
    assert_eq!(failing(Builder::from_recipe(&recipe)), (FailureKind::Missing, "sizes".into()));
    let again = Builder::from_recipe_and_sizes(&recipe, sizes.clone()).unwrap().build().unwrap();
    assert_eq!(again.config(), many.config());
    let others = Builder::from_recipe_and_sizes(&recipe, &sizes[1..]);
    assert_eq!(failing(others), (FailureKind::Contradiction, "sizes".into()));
}

#[test]
fn what_is_no_recipe_is_refused() {
    for (text, expected) in [
        ("", (FailureKind::WrongType, "recipe")),
        ("{\"order\":{\"samples\":7,\"sed\":1}}", (FailureKind::UnknownName, "order-member")),
        ("{\"order\":{\"samples\":7},\"deal\":{\"world_size\":0}}", (FailureKind::OutOfRange, "world-size")),
        ("{\"order\":{\"samples\":7,\"lanes\":1}}", (FailureKind::Contradiction, "lanes")),
    ] {
        assert_eq!(failing(Builder::from_recipe(text)), (expected.0, expected.1.into()), "{text}");
    }
    let long = format!("{{\"order\":{{\"samples\":7}}}}{}", " ".repeat(1 << 20));
    assert_eq!(failing(Builder::from_recipe(&long)), (FailureKind::OutOfRange, "recipe".into()));
}
