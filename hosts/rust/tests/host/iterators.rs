//! The iterators hand out what windows and batches hold, and are as long as they say.

use samedeal::{Layout, Remainder, Sampler};

/// More than two of the windows that the iterator reads.
const SAMPLES: u64 = 150_001;

fn sampler() -> Sampler {
    Sampler::builder(SAMPLES).seed(7).build().unwrap()
}

#[test]
fn indices_are_those_of_windows() {
    let sampler = sampler();
    let all: Vec<u64> = sampler.indices(..).unwrap();
    assert_eq!(sampler.iter().collect::<Result<Vec<_>, _>>().unwrap(), all);
    assert_eq!(sampler.window::<u64>(65_530, 12).unwrap(), all[65_530..65_542]);
    assert_eq!(sampler.indices::<u64>(65_530..=65_541).unwrap(), all[65_530..65_542]);
    let narrow: Vec<u32> = sampler.indices(..).unwrap();
    assert!(narrow.iter().map(|&index| u64::from(index)).eq(all.iter().copied()));
}

#[test]
fn ranges_longer_than_a_window_are_put_together() {
    let sampler = Sampler::new(5_000_000).unwrap();
    let all: Vec<u64> = sampler.indices(1..).unwrap();
    assert!(all.len() as u64 > 4 * u64::from(sampler.max_count()));
    assert!(sampler.iter().skip(1).map(Result::unwrap).eq(all));
}

#[test]
fn lengths_are_exact_at_every_point() {
    let sampler = sampler();
    let mut indices = sampler.iter();
    for left in (0..SAMPLES as usize).rev() {
        assert_eq!(indices.len(), left + 1);
        assert!(indices.next().is_some());
    }
    assert_eq!((indices.len(), indices.next().is_none(), indices.next().is_none()), (0, true, true));
}

#[test]
fn leaps_land_where_steps_do() {
    let sampler = sampler();
    let all: Vec<u64> = sampler.indices(..).unwrap();
    for step in [1, 2, 1000, 65_535, 65_536, 65_537, 140_000, 150_000, 150_001, usize::MAX] {
        let leapt = sampler.iter().step_by(step).map(Result::unwrap);
        assert!(leapt.eq(all.iter().copied().step_by(step)), "{step}");
    }
    for (skip, size) in [(0, 32), (1, 32), (4000, 32), (4687, 32), (4688, 32), (usize::MAX, 7), (1, 100_000)] {
        let expected = all.chunks(size as usize).nth(skip).map(<[u64]>::to_vec);
        let found = sampler.batches(size, false).unwrap().nth(skip).map(Result::unwrap);
        assert_eq!(found, expected, "batch {skip} of {size}");
    }
}

#[test]
fn batches_are_those_of_random_access() {
    for remainder in [Remainder::Drop, Remainder::Pad, Remainder::Uneven] {
        let sampler = Sampler::builder(1003).world_size(4).rank(3).remainder(remainder).build().unwrap();
        for (size, drop_last) in
            [(1, false), (32, false), (32, true), (250, true), (251, true), (252, true), (9999, false)]
        {
            let batches = sampler.batches(size, drop_last).unwrap();
            assert_eq!(batches.len() as u64, sampler.num_batches(size, drop_last).unwrap());
            for (number, batch) in (0..).zip(batches) {
                assert_eq!(batch.unwrap(), sampler.batch::<u64>(number, size, drop_last).unwrap());
            }
        }
    }
}

#[test]
fn nothing_to_deal() {
    let sampler = Sampler::new(0).unwrap();
    assert_eq!(sampler.iter().len(), 0);
    assert!(sampler.iter().next().is_none());
    assert_eq!(sampler.batches(3, false).unwrap().len(), 0);
    assert!(sampler.indices::<u32>(..).unwrap().is_empty());
}

#[test]
fn epochs_and_ranks_change_what_is_handed_out() {
    let mut sampler = Sampler::builder(1003).world_size(4).build().unwrap();
    let first: Vec<u64> = sampler.indices(..).unwrap();
    sampler.set_epoch(1).unwrap();
    assert_eq!(sampler.epoch(), 1);
    assert_ne!(sampler.indices::<u64>(..).unwrap(), first);
    sampler.set_epoch(0).unwrap();
    sampler.set_rank(3).unwrap();
    assert_eq!((sampler.rank(), sampler.num_padding()), (3, 1));
    let fresh = Sampler::builder(1003).world_size(4).rank(3).build().unwrap();
    assert_eq!(sampler.indices::<u64>(..).unwrap(), fresh.indices::<u64>(..).unwrap());
    assert_eq!(sampler.fingerprint().unwrap(), fresh.fingerprint().unwrap());
}

#[test]
fn a_configuration_makes_the_same_sampler_again() {
    let builder = Sampler::builder(1003).seed(-5).epoch(9).order("python").rank(2).world_size(4);
    let mut sampler = builder.remainder(Remainder::Uneven).layout(Layout::Contiguous).build().unwrap();
    sampler.set_epoch(u64::MAX).unwrap();
    sampler.set_rank(1).unwrap();
    let again = sampler.to_builder().unwrap().build().unwrap();
    assert_eq!((again.epoch(), again.rank()), (u64::MAX, 1));
    assert_eq!(again.config_fingerprint(), sampler.config_fingerprint());
    assert_eq!(again.fingerprint().unwrap(), sampler.fingerprint().unwrap());
    let refused = sampler.to_builder().unwrap().rank(4).build().unwrap_err();
    assert_eq!(refused.failure().unwrap().field, "rank");
}

#[test]
fn what_is_made_of_a_sampler_stays_by_itself() {
    let whole = Sampler::builder(1003).order("fisher-yates").world_size(4).build().unwrap();
    let first = whole.indices::<u64>(..).unwrap();
    let rest = whole.rest(200).unwrap();
    assert_eq!((rest.consumed(), rest.indices::<u64>(..).unwrap()), (200, first[50..].to_vec()));
    // The whole of the epoch again, and another one.
    assert_eq!(rest.at_epoch(0).unwrap().indices::<u64>(..).unwrap(), first);
    let next = rest.at_epoch(1).unwrap();
    assert_eq!((next.epoch(), next.consumed()), (1, 0));
    let other = rest.at_rank(3).unwrap();
    assert_eq!((other.rank(), other.consumed(), rest.rank()), (3, 200, 0));
    drop((rest, whole));
    assert_eq!(other.at_rank(0).unwrap().indices::<u64>(..).unwrap(), first[50..]);
    assert_ne!(next.indices::<u64>(..).unwrap(), first);
}

#[test]
fn threads_share_a_sampler() {
    let sampler = sampler();
    let sum = |mut sampler: samedeal::Indices<'_>| sampler.try_fold(0, |sum, index| index.map(|index| sum + index));
    std::thread::scope(|scope| {
        let threads = [0, 1, 2].map(|_| scope.spawn(|| sum(sampler.iter()).unwrap()));
        for thread in threads {
            assert_eq!(thread.join().unwrap(), SAMPLES * (SAMPLES - 1) / 2);
        }
    });
}
