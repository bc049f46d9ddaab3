//! Units: neighbouring positions that always go to the same rank.

use crate::failing;
use samedeal::{FailureKind, Layout, Order, Remainder, Sampler};

const GROUP: u32 = 4;

/// An order with each of 101 samples four times in a row.
fn copies() -> Order {
    Order::new("feistel", 101).seed(7).copies(GROUP)
}

#[test]
fn a_group_is_never_torn() {
    for layout in Layout::ALL {
        for remainder in Remainder::ALL {
            for world_size in [1, 2, 3, 8] {
                let builder = Sampler::from_order(copies()).unit(GROUP).layout(*layout).remainder(*remainder);
                let sampler = builder.world_size(world_size).build().unwrap();
                assert_eq!(sampler.unit(), GROUP);
                let mut seen = Vec::new();
                for rank in 0..world_size {
                    let samples = sampler.at_rank(rank).unwrap().indices::<u64>(..).unwrap();
                    for group in samples.chunks(GROUP as usize) {
                        assert_eq!(group, [group[0]; GROUP as usize], "{layout} {remainder} {world_size}");
                        seen.push(group[0]);
                    }
                }
                let groups = match remainder {
                    Remainder::Drop => 101 / world_size * world_size,
                    Remainder::Pad => 101_u32.div_ceil(world_size) * world_size,
                    _ => 101,
                };
                assert_eq!(seen.len(), groups as usize, "{layout} {remainder} {world_size}");
                seen.sort_unstable();
                seen.dedup();
                assert_eq!(seen.len(), groups.min(101) as usize, "{layout} {remainder} {world_size}");
            }
        }
    }
}

#[test]
fn groups_stay_together_on_another_world_size() {
    let sampler = Sampler::from_order(copies()).unit(GROUP).world_size(3).build().unwrap();
    let state = sampler.state(u64::from(GROUP) * 5).unwrap();
    let mut resumed = sampler.to_builder().unwrap().world_size(2).build().unwrap();
    assert_eq!(resumed.unit(), GROUP);
    resumed.resume(&state).unwrap();
    assert_eq!(resumed.consumed(), u64::from(GROUP) * 15);
    for rank in 0..2 {
        let samples = resumed.at_rank(rank).unwrap().indices::<u64>(..).unwrap();
        assert!(samples.chunks(GROUP as usize).all(|group| group.iter().all(|sample| *sample == group[0])));
    }
    // A state within a group is refused.
    assert_eq!(
        failing(sampler.state(GROUP.into()).and_then(|_| sampler.state(6))),
        (FailureKind::OutOfRange, "taken".into())
    );
    assert_eq!(failing(sampler.rest(6)), (FailureKind::OutOfRange, "consumed".into()));
    assert_eq!(sampler.rest(404).unwrap().num_samples(), 0);
}

#[test]
fn a_recipe_has_the_unit_only_if_it_is_not_1() {
    let plain = Sampler::builder(10).build().unwrap().recipe().unwrap();
    assert_eq!(Sampler::builder(10).unit(1).build().unwrap().recipe().unwrap(), plain);
    let recipe = Sampler::builder(12).unit(3).world_size(2).build().unwrap().recipe().unwrap();
    assert!(recipe.contains(r#""unit":3"#), "{recipe}");
    let again = Sampler::from_recipe(&recipe).rank(1).build().unwrap();
    assert_eq!((again.unit(), again.num_samples(), again.recipe().unwrap()), (3, 6, recipe));
}

#[test]
fn other_units_are_refused() {
    for unit in [0, (1 << 20) + 1, u32::MAX] {
        let error = Sampler::builder(10).unit(unit).build().unwrap_err();
        let failure = error.failure().unwrap();
        assert_eq!((failure.kind.clone(), failure.field.as_str()), (FailureKind::OutOfRange, "unit"));
        assert_eq!((failure.value.clone(), failure.min(), failure.max()), (unit.to_string(), Some(1), Some(1 << 20)));
    }
    assert_eq!(Sampler::builder(10).unit(1 << 20).world_size(4).build().unwrap().num_samples(), 1 << 20);
    // Rounds need the unit 1.
    let sharded = Sampler::sharded([8, 8]).lanes(2).shuffle_window(2).unit(2).build().unwrap();
    assert_eq!(failing(sharded.round(0)), (FailureKind::Contradiction, "unit".into()));
}
