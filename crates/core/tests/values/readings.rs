//! Readings of composed orders: whatever groups read an epoch one after the other, together they get the samples of the
//! order.
#![cfg(feature = "composed")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use samedeal_core::read::Reading;
use samedeal_core::{Failure, Recipe, Sampler};

/// A group (ranks, workers, batch size), and the number of steps that it does.
type Taken = ((u32, u32, u32), u64);

fn sharded(sizes: &[u64], lanes: u32, window: u32) -> String {
    format!("{{\"name\":\"sharded\",\"sizes\":{sizes:?},\"lanes\":{lanes},\"shuffle_window\":{window}}}")
}

fn reading(order: &str, (world, workers, batch): (u32, u32, u32), remainder: &str) -> Result<Reading, Failure> {
    let text = format!(
        "{{\"order\":{order},\"deal\":{{\"world_size\":{world},\"workers\":{workers},\"remainder\":\"{remainder}\"}},\
         \"batch\":{{\"batch_size\":{batch}}}}}"
    );
    Reading::from_recipe(&text, &[], 0)
}

/// The samples of an epoch, in the order of its positions.
fn epoch_of(order: &str, epoch: u64) -> Vec<u64> {
    let recipe = Recipe::read(&format!("{{\"order\":{order}}}"), &[]).unwrap();
    let sampler = Sampler::from_recipe(&recipe, epoch, 0).unwrap();
    sampler.indices(0, sampler.num_samples() as u32).unwrap()
}

fn count(samples: impl IntoIterator<Item = u64>) -> BTreeMap<u64, i64> {
    let mut counts = BTreeMap::new();
    for sample in samples {
        *counts.entry(sample).or_default() += 1;
    }
    counts
}

/// The samples of a batch, without the padding.
fn real(reading: &Reading, rank: u32, step: u64) -> Vec<u64> {
    let batch = reading.batch_at(rank, step).unwrap();
    reading.indices(rank, batch.worker, batch.start, batch.count - batch.num_padding).unwrap()
}

/// The samples that all ranks get in the first `steps` steps.
fn given(reading: &Reading, steps: u64) -> Vec<u64> {
    let ranks = 0..reading.group().world_size;
    let mut all = Vec::new();
    for rank in ranks {
        for step in 0..steps.min(reading.num_steps(rank).unwrap()) {
            all.extend(real(reading, rank, step));
        }
    }
    all
}

/// The samples that all readers have left. Checks that the rounds have them in the rows that they name.
fn left(reading: &Reading) -> Vec<u64> {
    let (group, sizes) = (reading.group(), reading.sizes().unwrap());
    let mut all = Vec::new();
    for rank in 0..group.world_size {
        for worker in 0..group.workers {
            let count = reading.num_samples(rank, worker).unwrap();
            let own = reading.indices(rank, worker, 0, count as u32).unwrap();
            let mut end = 0;
            for number in 0..reading.num_rounds(rank, worker).unwrap() {
                let round = reading.round(rank, worker, number).unwrap();
                assert_eq!(round.start, end);
                end += round.count;
                if round.count == 0 {
                    // A round of an order that is not composed, in which this reader has no samples.
                    continue;
                }
                let spans = &round.spans;
                let rows = (0..spans.len()).flat_map(|at| {
                    let base: u64 = sizes[..spans.shard[at] as usize].iter().sum();
                    assert!(spans.first_row[at] + spans.num_rows[at] <= sizes[spans.shard[at] as usize]);
                    (0..spans.num_rows[at]).map(move |row| base + spans.first_row[at] + row)
                });
                let rows: Vec<u64> = rows.collect();
                let found = reading.round_rows(rank, worker, number, 0, round.count as u32).unwrap();
                let samples: Vec<u64> = found.rows.iter().map(|&row| rows[row as usize]).collect();
                assert_eq!(samples, own[round.start as usize..end as usize]);
                for index in [round.start, end - 1] {
                    assert_eq!(reading.round_of(rank, worker, index).unwrap(), number);
                }
                if round.count > 1 {
                    let part = reading.round_rows(rank, worker, number, 1, round.count as u32 - 1).unwrap();
                    assert_eq!((&part.rows[..], part.num_padding), (&found.rows[1..], found.num_padding));
                }
            }
            assert_eq!(end, count);
            let padding = reading.num_padding(rank, worker).unwrap();
            all.extend(&own[..(count - padding) as usize]);
        }
    }
    all
}

/// Reads an epoch by one group after the other, the last one to its end. Compares all samples with those of the order.
fn check(orders: &[String], epoch: u64, groups: &[Taken], remainder: &str) {
    let mut all = Vec::new();
    let mut state: Option<String> = None;
    let mut dropped = 0;
    for (number, &(group, steps)) in groups.iter().enumerate() {
        let order = &orders[number.min(orders.len() - 1)];
        let made = reading(order, group, remainder).unwrap();
        let made = match &state {
            None => made.at_epoch(epoch).unwrap(),
            Some(state) => made.resume(state).unwrap(),
        };
        let (_, most) = made.steps().unwrap();
        let last = number + 1 == groups.len();
        if last {
            all.extend(left(&made));
            break;
        }
        // A group does not do its last step, which would end the epoch: positions that it drops would then be lost to
        // the next groups.
        let steps = steps.min(most.saturating_sub(1));
        all.extend(given(&made, steps));
        state = Some(made.state(steps).unwrap());
    }
    let whole = count(epoch_of(&orders[orders.len().min(groups.len()) - 1], epoch));
    let mut found = count(all);
    for (sample, times) in whole {
        let got = found.remove(&sample).unwrap_or_default();
        assert!(got <= times, "{sample}: {got} times of {times}");
        dropped += times - got;
    }
    assert!(found.is_empty(), "{found:?}");
    let readers = groups.last().map_or(0, |&((world, workers, _), _)| i64::from(world * workers));
    assert!(dropped == 0 || remainder == "drop" && dropped < readers, "{dropped} dropped");
}

fn orders() -> impl Strategy<Value = String> {
    let sizes = prop::collection::vec(0_u64..30, 1..5);
    let leaf = (sizes, 1_u32..6, 1_u32..7).prop_map(|(mut sizes, lanes, window)| {
        sizes[0] += 1;
        sharded(&sizes, lanes, window)
    });
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            (prop::collection::vec((inner.clone(), 1_u64..9), 1..4), 10_u64..150, any::<bool>()).prop_map(
                |(sources, samples, exact)| {
                    let sources = sources.iter().enumerate().map(|(number, (order, weight))| {
                        format!("{{\"name\":\"s{number}\",\"weight\":{weight},\"order\":{order}}}")
                    });
                    let sources = sources.collect::<Vec<_>>().join(",");
                    let name = if exact { "blend-exact" } else { "blend" };
                    format!("{{\"name\":\"{name}\",\"samples\":{samples},\"sources\":[{sources}]}}")
                }
            ),
            (inner.clone(), 1_u64..4)
                .prop_map(|(of, copies)| format!("{{\"name\":\"copies\",\"copies\":{copies},\"of\":{of}}}")),
            (inner, 0_u64..3, 0_u64..9).prop_map(|(of, epoch, count)| {
                let length = epoch_of(&of, epoch).len() as u64;
                // One position is left, because a source without positions has no weight.
                let (start, count) = (length / 3, count.min((length - length / 3).saturating_sub(1)));
                let range = format!("{{\"epoch\":{epoch},\"start\":{start},\"count\":{count}}}");
                format!("{{\"name\":\"skip\",\"of\":{of},\"ranges\":[{range}]}}")
            }),
        ]
    })
}

fn groups() -> impl Strategy<Value = Vec<Taken>> {
    prop::collection::vec(((1_u32..5, 1_u32..4, 1_u32..6), 0_u64..12), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_groups_together_read_the_epoch(
        order in orders(), groups in groups(), epoch in 0_u64..3, remainder in prop_oneof!["uneven", "pad", "drop"],
    ) {
        check(&[order], epoch, &groups, &remainder);
    }

    /// Weights change where a state ends: samples are those of the new order from there on, and those of the old one
    /// before.
    #[test]
    fn stages_begin_where_a_state_ends(
        groups in groups(), epoch in 0_u64..3, after in 0_u64..4, remainder in prop_oneof!["uneven", "pad"],
    ) {
        prop_assume!(groups.len() > 1);
        let blend = |stages: &str| {
            let sources = [("web", 7, sharded(&[13, 40, 9], 4, 5)), ("code", 2, sharded(&[11, 0, 6], 3, 4)), ("math", 1, sharded(&[5], 1, 2))];
            let sources = sources.map(|(name, weight, order)| format!("{{\"name\":\"{name}\",\"weight\":{weight},\"order\":{order}}}"));
            format!("{{\"name\":\"blend\",\"samples\":120,\"seed\":5,\"sources\":[{}],\"stages\":[{stages}]}}", sources.join(","))
        };
        let before = blend("");
        let ((world, workers, batch), steps) = groups[0];
        let made = reading(&before, groups[0].0, &remainder).unwrap().at_epoch(epoch).unwrap();
        let steps = steps.min(made.steps().unwrap().1 - 1);
        // The positions of all turns that were begun.
        let read = (u64::from(world * batch) * steps.next_multiple_of(workers.into())).min(120);
        let from = epoch * 120 + read + after;
        prop_assume!(from > 0);
        let now = blend(&format!("{{\"from\":{from},\"weights\":[1,2,7]}}"));
        let early = from.checked_sub(after + 1).filter(|&from| from > 0 && steps > 0);
        if let Some(from) = early {
            let early = blend(&format!("{{\"from\":{from},\"weights\":[1,2,7]}}"));
            let failure = reading(&early, groups[1].0, &remainder).unwrap().resume(&made.state(steps).unwrap()).unwrap_err();
            prop_assert_eq!(failure.field, "stages");
        }
        check(&[before, now], epoch, &groups, &remainder);
    }
}

#[test]
fn every_reader_gets_every_source() {
    // The blend repeats every 2 positions, and there are 2 readers: without rotation, each of them would get one
    // source.
    let source = |name: &str| format!("{{\"name\":\"{name}\",\"order\":{}}}", sharded(&[400], 4, 16));
    let order = format!("{{\"name\":\"blend-exact\",\"sources\":[{},{}]}}", source("a"), source("b"));
    let made = reading(&order, (2, 1, 10), "uneven").unwrap();
    for rank in 0..2 {
        let own = made.indices(rank, 0, 0, 400).unwrap();
        let first = own.iter().filter(|&&sample| sample < 400).count();
        assert!((150..=250).contains(&first), "rank {rank}: {first} of 400");
    }
}

#[test]
fn lanes_of_a_round_come_as_they_are_stored() {
    let sources = [("a", 3), ("b", 1)].map(|(name, weight)| {
        let order = sharded(&[300, 200, 250], 4, 32);
        format!("{{\"name\":\"{name}\",\"weight\":{weight},\"order\":{order}}}")
    });
    let order = format!("{{\"name\":\"blend\",\"samples\":3000,\"sources\":[{}]}}", sources.join(","));
    let made = reading(&order, (1, 1, 10), "pad").unwrap();
    assert_eq!(made.num_rounds(0, 0).unwrap(), 3);
    for number in 0..3 {
        let spans = made.round(0, 0, number).unwrap().spans;
        assert!(spans.lane.is_sorted());
        assert_eq!(spans.lane.iter().max(), Some(&7));
        // A lane continues in its shard, or in another one. It goes back only where another pass begins.
        let both = spans.lane.iter().zip(&spans.shard).zip(&spans.first_row);
        let both: Vec<_> = both.map(|((&lane, &shard), &row)| (lane, shard, row)).collect();
        let back =
            both.windows(2).filter(|pair| pair[0].0 == pair[1].0 && pair[0].1 == pair[1].1 && pair[0].2 >= pair[1].2);
        assert!(back.count() <= 8);
    }
}
