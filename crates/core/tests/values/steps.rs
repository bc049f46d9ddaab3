//! Steps over epochs: every draw comes once, samples are the same for any number of ranks, and places are right.
#![cfg(feature = "composed")]

use proptest::prelude::*;
use samedeal_core::Schedule;

const ORDERS: [&str; 9] = [
    r#"{"samples":37,"seed":4}"#,
    r#"{"name":"torch","samples":23,"seed":7}"#,
    r#"{"name":"sharded","sizes":[9,4,12],"lanes":2,"shuffle_window":3}"#,
    r#"{"name":"blend","seed":3,"samples":14,"sources":[{"name":"a","samples":20,"weight":3},{"name":"b","samples":9}]}"#,
    r#"{"name":"grown","samples":9,"growth":[{"epoch":1,"consumed":4,"samples":15}]}"#,
    r#"{"name":"balance","classes":[0,1,1,0,2],"factors":[1500000,400000,2000000]}"#,
    r#"{"name":"copies","copies":6,"of":{"samples":11}}"#,
    r#"{"name":"exclude","indices":[3,11],"of":{"name":"grown","samples":9,"growth":[{"epoch":2,"consumed":0,"samples":15}]}}"#,
    r#"{"name":"subset","indices":[0,2,5,8],"of":{"name":"skip","ranges":[{"epoch":1,"start":2,"count":3},{"epoch":2,"start":0,"count":9}],"of":{"samples":9}}}"#,
];

fn recipe(order: &str, world: u32, unit: u32, layout: &str, stages: &[(u64, u32)]) -> String {
    let deal = format!(r#"{{"world_size":{world},"unit":{unit},"layout":"{layout}"}}"#);
    let later: Vec<String> =
        stages[1..].iter().map(|(from, size)| format!(r#"{{"from":{from},"global_batch_size":{size}}}"#)).collect();
    let steps = format!(r#"{{"global_batch_size":{},"stages":[{}]}}"#, stages[0].1, later.join(","));
    format!(r#"{{"order":{order},"deal":{deal},"steps":{steps}}}"#)
}

fn step(schedule: &Schedule, world: u32, step: u64) -> Vec<Vec<u64>> {
    (0..world).map(|rank| schedule.at_rank(rank).unwrap().indices(step, 1).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_draw_once_on_any_number_of_ranks(
        order in proptest::sample::select(&ORDERS[..]), layout in proptest::sample::select(&["strided", "contiguous", "rotated"][..]),
        worlds in proptest::sample::subsequence(vec![1_u32, 2, 3, 4, 6], 2), unit in 1_u32..3,
        sizes in prop::collection::vec(1_u32..4, 1..4), gap in 1_u64..4,
    ) {
        let stages: Vec<(u64, u32)> = (0..).zip(&sizes).map(|(at, size)| (at * gap, size * 24)).collect();
        let made = |world| Schedule::read(&recipe(order, world, unit, layout, &stages), &[], 0).unwrap();
        // All draws, as one rank takes them.
        let whole = Schedule::read(&recipe(order, 1, 1, "strided", &stages), &[], 0).unwrap();
        let mut before = 0;
        for number in 0..12 {
            let mut all = whole.indices(number, 1).unwrap();
            prop_assert_eq!(whole.samples_consumed(number).unwrap(), before);
            prop_assert_eq!(all.len() as u64, u64::from(whole.global_batch_size(number).unwrap()));
            for (draw, &sample) in (before..).zip(&all) {
                prop_assert_eq!(whole.step_of_consumed(draw).unwrap(), number);
                if draw == before {
                    // The first draw of the step: `locate` begins here, so it finds this place first.
                    let place = whole.locate(sample, number).unwrap().unwrap();
                    prop_assert_eq!((place.samples_consumed, place.step, place.rank, place.index_in_batch), (draw, number, 0, 0));
                    prop_assert_eq!(whole.step_of(place.epoch, place.position).unwrap(), number);
                    prop_assert_eq!(whole.begin_of(number).unwrap(), (place.epoch, place.position));
                }
            }
            before += all.len() as u64;
            all.sort_unstable();
            for &world in &worlds {
                let schedule = made(world);
                let ranks = step(&schedule, world, number);
                prop_assert!(ranks.iter().all(|rank| rank.len() == ranks[0].len()));
                for sample in [ranks[0][0], ranks[ranks.len() - 1][0]] {
                    let place = schedule.locate(sample, number).unwrap().unwrap();
                    prop_assert_eq!(place.step, number);
                    prop_assert_eq!(ranks[place.rank as usize][place.index_in_batch as usize], sample);
                }
                let mut found: Vec<u64> = ranks.concat();
                found.sort_unstable();
                prop_assert_eq!(&found, &all);
                prop_assert_eq!(schedule.step_of_state(&whole.state(number).unwrap()).unwrap(), number);
            }
        }
    }
}

#[test]
fn copies_stay_on_one_rank_over_the_ends_of_epochs() {
    let schedule = Schedule::read(&recipe(ORDERS[6], 2, 6, "rotated", &[(0, 24)]), &[], 0).unwrap();
    for number in 0..20 {
        for rank in step(&schedule, 2, number) {
            assert!(rank.chunks(6).all(|group| group.iter().all(|sample| *sample == group[0])));
        }
    }
}
