//! Splits: the part of the data that a sample belongs to, such as training, validation, test or a fold. SPEC.md,
//! section 16.

mod exact;
mod recipe;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use sha2::{Digest, Sha256};

use crate::base::check::{check_below, check_count, check_run};
use crate::base::key::Words;
use crate::base::memory::{collect, grow};
use crate::base::{Failure, MAX_EXACT};
use crate::order::Feistel;
#[cfg(feature = "texts")]
pub(crate) use recipe::{MAX_PARTS, SECTIONS};

pub use exact::ExactSizes;

/// A split of ids into parts. If parts have weights, an id stays in its part when ids are added later.
///
/// ```
/// use samedeal_core::Split;
/// let split = Split::read(r#"{"split": {"parts": [{"name": "test", "size": 2}, {"name": "training", "size": 8}]}}"#)?;
/// assert_eq!(split.members(0, 0, 10)?.len(), 2);
/// # Ok::<(), samedeal_core::Failure>(())
/// ```
pub struct Split {
    seed: i64,
    by_size: bool,
    parts: Vec<Part>,
    /// The number of ids: every id is below this number.
    ids: u64,
    hash: Feistel,
}

struct Part {
    name: String,
    share: u64,
    /// The part has the hashes from the end of the part before it to this end (exclusive).
    end: u64,
}

impl Split {
    /// A split with these shares. At least one must be above 0, and their sum at most 2^53 - 1. Failures:
    /// `out-of-memory`.
    fn new(seed: i64, by_size: bool, shares: Vec<(String, u64)>) -> Result<Self, Failure> {
        let total: u64 = shares.iter().map(|&(_, share)| share).sum();
        let ids = if by_size { total } else { MAX_EXACT };
        let mut before = 0;
        let parts = collect(
            "parts",
            shares.len(),
            shares.into_iter().map(|(name, share)| {
                before += share;
                // A hash h is below the end if h * total < before * ids.
                let end = (u128::from(before) * u128::from(ids)).div_ceil(total.into()) as u64;
                Part { name, share, end }
            }),
        )?;
        Ok(Self { seed, by_size, parts, ids, hash: hash_of(ids, seed) })
    }

    /// The names of the parts. Failures: `out-of-memory`.
    pub fn parts(&self) -> Result<Vec<String>, Failure> {
        let names = collect("parts", self.parts.len(), [])?;
        // The names are allocated one by one, and such an allocation traps if memory is full. So this call checks first
        // that there is room for all names.
        let bytes = self.parts.iter().map(|part| part.name.len() + 64).sum();
        grow("parts", bytes, &mut Vec::<u8>::new())?;
        Ok(self.parts.iter().fold(names, |mut names, part| {
            names.push(part.name.clone());
            names
        }))
    }

    /// The part of each id. Failures: `ids`, `out-of-memory`.
    pub fn part_of(&self, ids: &[u64]) -> Result<Vec<u32>, Failure> {
        check_count("ids", ids.len(), "numbers")?;
        ids.iter().try_for_each(|&id| check_below("ids", id, self.ids))?;
        collect("ids", ids.len(), ids.iter().map(|&id| self.part(self.hash.sample(id))))
    }

    /// The part of each id from `start` to `start + count - 1`. Failures: `start`, `count`, `out-of-memory`.
    pub fn part_of_run(&self, start: u64, count: u32) -> Result<Vec<u32>, Failure> {
        check_run(start, count, self.ids)?;
        let mut parts = collect("count", count as usize, [])?;
        self.hashes(start, count, |_, hash| parts.push(self.part(hash)));
        Ok(parts)
    }

    /// The part of each text, such as the name of a file or the key of a group. The texts are laid end to end in
    /// `keys`; `ends` says where each text ends, in bytes. Failures: `sizes`, `keys`, `ends`, `out-of-memory`.
    pub fn part_of_keys(&self, keys: &str, ends: &[u32]) -> Result<Vec<u32>, Failure> {
        if self.by_size {
            let allowed = "parts with weights: a text has no number among those that sizes count";
            return Err(Failure::contradiction("sizes", "given", allowed));
        }
        check_count("keys", ends.len(), "texts")?;
        let mut parts = collect("keys", ends.len(), [])?;
        each_text(keys, ends, &mut |digest| {
            parts.push(self.part(self.hash.sample(id_of(digest))));
            Ok(())
        })?;
        Ok(parts)
    }

    /// The ids from `start` to `start + count - 1` that are in a part. Failures: `part`, `start`, `count`,
    /// `out-of-memory`.
    pub fn members(&self, part: u32, start: u64, count: u32) -> Result<Vec<u64>, Failure> {
        check_below("part", part.into(), self.parts.len() as u64)?;
        check_run(start, count, self.ids)?;
        let own = self.hashes_of(part as usize);
        let mut members = collect("count", count as usize, [])?;
        self.hashes(start, count, |id, hash| {
            if own.contains(&hash) {
                members.push(id);
            }
        });
        Ok(members)
    }

    fn part(&self, hash: u64) -> u32 {
        self.parts.partition_point(|part| part.end <= hash) as u32
    }

    fn hashes_of(&self, part: usize) -> Range<u64> {
        let start = part.checked_sub(1).map_or(0, |before| self.parts[before].end);
        start..self.parts[part].end
    }

    /// Calls `tell` with each id of a run and its hash.
    fn hashes(&self, start: u64, count: u32, mut tell: impl FnMut(u64, u64)) {
        let mut window = [0_u64; 256];
        let end = start + u64::from(count);
        let mut next = start;
        while next < end {
            let some = &mut window[..(end - next).min(256) as usize];
            self.hash.fill(next, 1, some);
            for hash in some {
                tell(next, *hash);
                next += 1;
            }
        }
    }
}

/// The failure of an entry of `ends` that is not the end of a text.
#[cold]
fn no_end(end: usize, keys: &str) -> Failure {
    let allowed = format!("numbers that ascend to {}, each at the end of a character", keys.len());
    Failure::contradiction("ends", end, allowed)
}

/// The permutation of the ids by which a split divides them.
fn hash_of(ids: u64, seed: i64) -> Feistel {
    Feistel::from_words(ids, &mut Words::new("split", seed, 0, 0))
}

/// Calls `tell` with the first 8 bytes of the SHA-256 of each text. Failures: `ends`, and those of `tell`.
fn each_text(keys: &str, ends: &[u32], tell: &mut dyn FnMut(u64) -> Result<(), Failure>) -> Result<(), Failure> {
    let mut start = 0;
    for end in ends.iter().map(|&end| end as usize) {
        let Some(key) = keys.get(start..end) else { return Err(no_end(end, keys)) };
        let digest: [u8; 32] = Sha256::digest(key).into();
        tell(digest.iter().take(8).rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))?;
        start = end;
    }
    if start == keys.len() { Ok(()) } else { Err(no_end(start, keys)) }
}

/// The bits of the first 8 bytes of a text's SHA-256 that its id does not have.
const BELOW: u32 = 11;

/// The id of a text, from the first 8 bytes of its SHA-256.
fn id_of(digest: u64) -> u64 {
    (digest >> BELOW) % MAX_EXACT
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    fn split(kind: &str, shares: &[u64], seed: i64) -> Split {
        let parts: Vec<String> =
            (0..).zip(shares).map(|(at, share)| format!(r#"{{"name":"{at}","{kind}":{share}}}"#)).collect();
        let seed = crate::document::signed_text(seed);
        Split::read(&format!(r#"{{"split":{{"seed":{seed},"parts":[{}]}}}}"#, parts.join(","))).unwrap()
    }

    proptest! {
        #[test]
        fn parts_with_sizes_are_exact(sizes in prop::collection::vec(0_u64..400, 1..9), seed: i64) {
            prop_assume!(sizes.iter().sum::<u64>() > 0);
            let (split, total) = (split("size", &sizes, seed), sizes.iter().sum::<u64>());
            let mut seen = alloc::vec![false; total as usize];
            for (part, &size) in (0..).zip(&sizes) {
                let members = split.members(part, 0, total as u32).unwrap();
                prop_assert_eq!(members.len() as u64, size);
                for id in members {
                    prop_assert!(!core::mem::replace(&mut seen[id as usize], true));
                    prop_assert_eq!(split.part_of(&[id]).unwrap(), [part]);
                }
            }
            prop_assert!(seen.iter().all(|&seen| seen));
        }

        #[test]
        fn sizes_are_exact_among_keys(
            sizes in prop::collection::vec(0_u64..60, 1..6), ids in prop::collection::vec(0_u64..900, 300..3_000), seed: i64,
        ) {
            prop_assume!(sizes.iter().sum::<u64>() > 0);
            let ids: Vec<u64> = ids.into_iter().map(|id| id * id * 9_000_000_001).collect();
            let all: alloc::collections::BTreeSet<u64> = ids.iter().copied().collect();
            prop_assume!(sizes.iter().sum::<u64>() <= all.len() as u64);
            let mut exact = split("size", &sizes, seed).exact_sizes().unwrap();
            for some in ids.chunks(100) {
                exact.add_ids(some).unwrap();
            }
            let found = Split::read(&exact.recipe("rest").unwrap()).unwrap();
            let parts = found.part_of(&all.iter().copied().collect::<Vec<_>>()).unwrap();
            for (part, &size) in (0..).zip(&sizes) {
                prop_assert_eq!(parts.iter().filter(|&&own| own == part).count() as u64, size);
            }
        }

        #[test]
        fn a_part_grows_from_the_next_one_alone(
            shares in prop::collection::vec(0_u64..1_000, 2..6), at in 0_usize..5, seed: i64, start in 0_u64..1 << 52,
        ) {
            let at = at % (shares.len() - 1);
            let by = shares[at + 1] / 2;
            let mut later = shares.clone();
            later[at] += by;
            later[at + 1] -= by;
            prop_assume!(shares.iter().sum::<u64>() > 0);
            let [old, new] = [&shares, &later].map(|shares| split("weight", shares, seed).part_of_run(start, 500).unwrap());
            for (old, new) in old.into_iter().zip(new) {
                prop_assert!(old == new || (old as usize, new as usize) == (at + 1, at));
            }
        }
    }

    #[test]
    fn shares_are_those_of_the_weights() {
        let split = split("weight", &[10, 10, 80], 3);
        let parts = split.part_of_run(0, 100_000).unwrap();
        for (part, expected) in [(0, 10_000_i64), (1, 10_000), (2, 80_000)] {
            let found = parts.iter().filter(|&&found| found == part).count() as i64;
            // Six standard deviations of a binomial distribution.
            assert!((found - expected).abs() < 800, "part {part}: {found}");
        }
        assert_eq!(split.part_of(&[7, 8]).unwrap(), split.part_of_run(7, 2).unwrap());
        let apart = ["a", "b"].map(|key| split.part_of_keys(key, &[1]).unwrap()[0]);
        assert_eq!(split.part_of_keys("ab", &[1, 2]).unwrap(), apart);
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let split = split("weight", &[1, 1], 0);
        assert_eq!(split.part_of(&[MAX_EXACT - 1]).unwrap().len(), 1);
        assert_eq!(split.part_of(&[MAX_EXACT]).unwrap_err().value, "9007199254740991");
        assert_eq!(split.part_of_run(MAX_EXACT, 1).unwrap_err().field, "count");
        assert_eq!(split.members(2, 0, 1).unwrap_err().field, "part");
        assert_eq!(split.part_of(&alloc::vec![0; 1 + (1 << 20)]).unwrap_err().value, "1048577 numbers");
    }
}
