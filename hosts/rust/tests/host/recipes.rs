//! Recipes: the recipe of a sampler gives the same sampler again, and a text that is no recipe is refused.

use crate::failing;
use samedeal::{FailureKind, Layout, Remainder, Sampler, plain_orders};

#[test]
fn a_sampler_is_made_again_by_its_recipe() {
    for order in plain_orders().unwrap() {
        let made = Sampler::builder(101).order(order).seed(-3).world_size(3).rank(2).epoch(5);
        let sampler = made.remainder(Remainder::Uneven).layout(Layout::Contiguous).build().unwrap();
        let again = Sampler::from_recipe(sampler.recipe().unwrap()).rank(2).epoch(5).build().unwrap();
        assert_eq!((again.order(), again.dataset_size(), again.seed()), (sampler.order(), 101, -3));
        assert_eq!((again.world_size(), again.remainder(), again.layout()), (3, Remainder::Uneven, Layout::Contiguous));
        assert_eq!(again.indices::<u64>(..).unwrap(), sampler.indices::<u64>(..).unwrap());
        assert_eq!(again.recipe_fingerprint().unwrap(), sampler.recipe_fingerprint().unwrap());
    }
}

#[test]
fn options_replace_those_of_a_recipe() {
    let recipe = Sampler::builder(101).seed(7).world_size(3).build().unwrap().recipe().unwrap();
    let other = Sampler::from_recipe(&recipe).world_size(4).remainder(Remainder::Drop).build().unwrap();
    let same = Sampler::builder(101).seed(7).world_size(4).remainder(Remainder::Drop).build().unwrap();
    assert_eq!(other.recipe().unwrap(), same.recipe().unwrap());
}

#[test]
fn shards_are_named_or_hashed() {
    let sizes: Vec<u64> = (0..300).map(|shard| shard % 9).collect();
    let sharded = |sizes: &[u64]| Sampler::sharded(sizes).lanes(4).shuffle_window(8).world_size(2).build().unwrap();
    let few = sharded(&sizes[..256]);
    let again = Sampler::from_recipe(few.recipe().unwrap()).build().unwrap();
    assert_eq!((again.sizes().unwrap().unwrap(), again.recipe()), (sizes[..256].to_vec(), few.recipe()));
    let many = sharded(&sizes);
    let recipe = many.recipe().unwrap();
    assert_eq!(failing(Sampler::from_recipe(&recipe).build()), (FailureKind::Missing, "sizes".into()));
    let again = Sampler::from_recipe(&recipe).sizes(sizes.clone()).build().unwrap();
    assert_eq!((again.sizes().unwrap().unwrap(), again.recipe()), (sizes.clone(), many.recipe()));
    let others = Sampler::from_recipe(&recipe).sizes(&sizes[1..]);
    assert_eq!(failing(others.build()), (FailureKind::Contradiction, "sizes".into()));
    let again = many.to_builder().unwrap().build().unwrap();
    assert_eq!(again.config_fingerprint(), many.config_fingerprint());
}

#[test]
fn what_is_no_recipe_is_refused() {
    for (text, expected) in [
        ("", (FailureKind::WrongType, "recipe")),
        ("{\"order\":{\"samples\":7,\"sed\":1}}", (FailureKind::UnknownMember, "order")),
        ("{\"order\":{\"samples\":7},\"deal\":{\"world_size\":0}}", (FailureKind::OutOfRange, "world_size")),
        ("{\"order\":{\"samples\":7,\"lanes\":1}}", (FailureKind::Contradiction, "lanes")),
    ] {
        assert_eq!(failing(Sampler::from_recipe(text).build()), (expected.0, expected.1.into()), "{text}");
    }
    let long = format!("{{\"order\":{{\"samples\":7}}}}{}", " ".repeat(1 << 24));
    assert_eq!(failing(Sampler::from_recipe(&long).build()), (FailureKind::OutOfRange, "recipe".into()));
    assert_eq!(failing(Sampler::from_recipe(&long).seed(3).build()), (FailureKind::OutOfRange, "recipe".into()));
}
