//! The iterators return the same samples as windows and batches, and their lengths are exact.

use samedeal::{BatchSize, Batcher, Layout, Remainder, Sampler};

/// More samples than two of the iterator's read windows.
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
        let found = sampler.batches(size).unwrap().nth(skip).map(Result::unwrap);
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
            let size = BatchSize::new(size).drop_last(drop_last);
            let batches = sampler.batches(size).unwrap();
            assert_eq!(batches.len() as u64, sampler.num_batches(size).unwrap());
            for (number, batch) in (0..).zip(batches) {
                assert_eq!(batch.unwrap(), sampler.batch::<u64>(number, size).unwrap());
            }
        }
    }
}

#[test]
fn nothing_to_deal() {
    let sampler = Sampler::new(0).unwrap();
    assert_eq!(sampler.iter().len(), 0);
    assert!(sampler.iter().next().is_none());
    assert_eq!(sampler.batches(3).unwrap().len(), 0);
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
    // `at_epoch` gives the whole epoch again, or another epoch.
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

/// Takes items from both ends until none is left. The bits of `pattern` choose the end.
fn from_both_ends<T>(mut iterator: impl DoubleEndedIterator<Item = T>, pattern: u64) -> Vec<T> {
    let (mut front, mut back) = (Vec::new(), Vec::new());
    for turn in 0.. {
        let at_front = pattern >> (turn % 64) & 1 == 0;
        match if at_front { iterator.next() } else { iterator.next_back() } {
            Some(item) if at_front => front.push(item),
            Some(item) => back.push(item),
            None => break,
        }
    }
    assert!(iterator.next().is_none() && iterator.next_back().is_none());
    front.extend(back.into_iter().rev());
    front
}

#[test]
fn both_ends_give_the_same_samples() {
    // Three of the iterator's read windows, and a shorter one.
    let sampler = Sampler::new(200_000).unwrap();
    let whole: Vec<u64> = sampler.indices(..).unwrap();
    for pattern in [0, 1, 0b1010, 0b1100, u64::MAX, 0xFFFF_0000_0F0F_3333] {
        let found: Vec<u64> = from_both_ends(sampler.iter(), pattern).into_iter().map(Result::unwrap).collect();
        assert!(found == whole, "{pattern:#x}");
    }
    for skipped in [0, 1, 65_535, 65_536, 65_537, 131_072, 199_999, 200_000] {
        let left = 200_000 - skipped;
        assert_eq!(sampler.iter().rev().nth(skipped).transpose().unwrap(), left.checked_sub(1).map(|at| whole[at]));
        let mut iterator = sampler.iter();
        iterator.next_back();
        iterator.next();
        assert_eq!(iterator.nth(skipped).transpose().unwrap(), whole[..199_999].get(skipped + 1).copied());
        assert_eq!(iterator.nth_back(9).is_some(), left > 12);
    }
}

#[test]
fn both_ends_give_the_same_batches() {
    for (samples, batch_size) in [(0, 3), (1, 3), (10, 3), (12, 3), (100_000, 70_000), (100_000, 999)] {
        for drop_last in [false, true] {
            let sampler = Sampler::new(samples).unwrap();
            let batches = || sampler.batches(BatchSize::new(batch_size).drop_last(drop_last)).unwrap();
            let whole: Vec<Vec<u64>> = batches().map(Result::unwrap).collect();
            for pattern in [0, 0b1010, u64::MAX, 0b1001] {
                let found: Vec<Vec<u64>> = from_both_ends(batches(), pattern).into_iter().map(Result::unwrap).collect();
                assert!(found == whole, "{samples} {batch_size} {drop_last} {pattern:#b}");
            }
            for skipped in 0..whole.len() + 2 {
                let mut iterator = batches();
                let found = iterator.nth_back(skipped).transpose().unwrap();
                assert!(
                    found.as_ref() == whole.iter().nth_back(skipped),
                    "{samples} {batch_size} {drop_last} {skipped}"
                );
                let rest: Vec<Vec<u64>> = iterator.map(Result::unwrap).collect();
                assert!(rest == whole[..whole.len().saturating_sub(skipped + 1)]);
            }
        }
    }
}

#[test]
fn iterators_that_own_what_they_read_outlive_it() {
    let sampler = || Sampler::new(1_000).unwrap();
    let whole: Vec<u64> = sampler().indices(..).unwrap();
    let read = std::thread::spawn({
        let batches = sampler().into_batches(7).unwrap();
        move || batches.flat_map(Result::unwrap).collect::<Vec<u64>>()
    });
    assert_eq!(read.join().unwrap(), whole);
    assert_eq!(sampler().into_iter().collect::<Result<Vec<u64>, _>>().unwrap(), whole);
    assert_eq!(sampler().into_batches(0).unwrap_err().to_string(), "batch_size is 0; allowed: 1 to 4294967295");
    let batcher = || Batcher::builder([3, 9, 4, 4, 7].as_slice()).max_tokens(12).build().unwrap();
    let batches: Vec<_> = batcher().iter().map(Result::unwrap).collect();
    assert_eq!(batcher().into_iter().map(Result::unwrap).collect::<Vec<_>>(), batches);
}
