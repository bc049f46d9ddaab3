//! The order `sharded`: it does not depend on the world size, and rounds list the rows that a rank has to read.

use samedeal::{FailureKind, Layout, Remainder, Sampler, Span};

const SIZES: [u64; 7] = [300, 0, 77, 1, 512, 0, 110];

fn sampler(rank: u32, world: u32, remainder: Remainder) -> Sampler {
    let builder = Sampler::sharded(SIZES).lanes(8).shuffle_window(16).seed(-3).epoch(2);
    builder.rank(rank).world_size(world).remainder(remainder).build().unwrap()
}

#[test]
fn one_order_for_every_world() {
    let order: Vec<u64> = sampler(0, 1, Remainder::Pad).indices(..).unwrap();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert!(sorted.iter().copied().eq(0..1000));
    for world in [2, 3, 4, 5, 8, 16] {
        let ranks = (0..world).map(|rank| sampler(rank, world, Remainder::Uneven).indices::<u64>(..).unwrap());
        let ranks = ranks.collect::<Vec<_>>();
        let together = (0..1000).map(|position| ranks[position % world as usize][position / world as usize]);
        assert!(together.eq(order.iter().copied()), "{world}");
    }
}

#[test]
fn rounds_hold_all_that_is_handed_out() {
    for world in [1, 2, 3, 4, 8, 12] {
        for rank in 0..world {
            let sampler = sampler(rank, world, Remainder::Pad);
            let mut next = 0;
            for number in 0..sampler.num_rounds().unwrap() {
                let round = sampler.round(number).unwrap();
                assert_eq!(round.start, next, "round {number} of rank {rank} of {world}");
                next += round.count;
                let mut places = Vec::new();
                for sample in sampler.indices::<u64>(round.start..next).unwrap() {
                    let place = sampler.shard_of(sample).unwrap();
                    let base: u64 = SIZES[..place.shard as usize].iter().sum();
                    assert_eq!(base + place.row, sample);
                    assert!(place.row < SIZES[place.shard as usize]);
                    places.push((place.shard, place.row));
                }
                let of_span =
                    |&span: &Span| (span.first_row..span.first_row + span.num_rows).map(move |row| (span.shard, row));
                let mut read = round.spans.iter().flat_map(of_span).collect::<Vec<_>>();
                assert!(places.iter().all(|place| read.contains(place)));
                if 8 % world == 0 {
                    // A rank with whole lanes reads no row that it does not return.
                    assert!(round.spans.iter().all(|span| span.lane % world == rank));
                    read.sort_unstable();
                    places.sort_unstable();
                    assert_eq!(read, places, "round {number} of rank {rank} of {world}");
                }
            }
            assert_eq!(next, sampler.num_samples());
        }
    }
}

#[test]
fn ranks_of_whole_lanes_end_on_the_same_step() {
    let steps = [0, 1, 2, 3].map(|rank| sampler(rank, 4, Remainder::Pad).num_batches(32).unwrap());
    assert_eq!(steps, [8; 4]);
}

#[test]
fn the_inverse_finds_every_sample() {
    let sampler = sampler(1, 4, Remainder::Pad);
    for (index, sample) in (0..).zip(sampler.indices::<u64>(..).unwrap()) {
        let place = sampler.locate(sample, 1).unwrap().unwrap();
        assert_eq!((place.rank, place.index_in_rank), (1, index));
    }
}

#[test]
fn a_configuration_makes_the_same_sampler_again() {
    let builder = Sampler::sharded(SIZES).lanes(4).shuffle_window(9).seed(5).rank(2).world_size(3);
    let mut sampler = builder.layout(Layout::Contiguous).build().unwrap();
    sampler.set_epoch(7).unwrap();
    sampler.set_rank(1).unwrap();
    assert_eq!((sampler.lanes(), sampler.shuffle_window()), (Some(4), Some(9)));
    assert_eq!(sampler.sizes().unwrap().unwrap(), SIZES);
    let again = sampler.to_builder().unwrap().build().unwrap();
    assert_eq!(again.recipe().unwrap(), sampler.recipe().unwrap());
    assert_eq!(again.fingerprint().unwrap(), sampler.fingerprint().unwrap());
    assert_eq!(again.config_fingerprint().unwrap(), sampler.config_fingerprint().unwrap());
    let other = sampler.to_builder().unwrap().shuffle_window(10).build().unwrap();
    assert_ne!(other.config_fingerprint().unwrap(), sampler.config_fingerprint().unwrap());
}

#[test]
fn what_other_orders_do_not_have() {
    let sampler = Sampler::new(10).unwrap();
    assert_eq!((sampler.sizes(), sampler.lanes(), sampler.shuffle_window()), (Ok(None), None, None));
    let refused = [
        sampler.num_rounds().map(|_| ()).unwrap_err(),
        sampler.round(0).map(|_| ()).unwrap_err(),
        sampler.shard_of(0).map(|_| ()).unwrap_err(),
    ];
    for error in refused {
        let failure = error.failure().unwrap();
        assert_eq!((failure.kind.clone(), failure.field.as_str()), (FailureKind::Contradiction, "name"));
    }
    assert_eq!(sampler.indices::<u64>(..).unwrap().len(), 10);
}

#[test]
fn a_dataset_without_samples() {
    for sizes in [vec![], vec![0, 0, 0]] {
        let sampler = Sampler::sharded(sizes).world_size(2).build().unwrap();
        assert_eq!((sampler.num_samples(), sampler.num_rounds().unwrap()), (0, 0));
        assert!(sampler.indices::<u64>(..).unwrap().is_empty());
        assert_eq!(sampler.round(0).unwrap_err().failure().unwrap().field, "number");
    }
}
