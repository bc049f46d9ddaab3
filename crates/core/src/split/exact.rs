//! Exact sizes among keys: the split by weights whose parts have exactly so many of the given keys. SPEC.md, section
//! 16.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{BELOW, Split, each_text, hash_of, id_of};
use crate::base::check::{check_below, check_count};
use crate::base::failure::range;
use crate::base::memory::{collect, grow};
use crate::base::{Failure, MAX_EXACT};

/// The keys with the least hashes among those that were added: as many as the sizes need, and one more. The memory
/// depends on the sizes, and not on the number of keys.
///
/// ```
/// use samedeal_core::Split;
/// let mut sizes = Split::read(r#"{"split": {"parts": [{"name": "test", "size": 2}]}}"#)?.exact_sizes()?;
/// sizes.add_ids(&[40, 7, 7, 12, 9])?;
/// let split = Split::read(&sizes.recipe("training")?)?;
/// assert_eq!(split.part_of(&[40, 7, 12, 9])?.iter().filter(|&&part| part == 0).count(), 2);
/// # Ok::<(), samedeal_core::Failure>(())
/// ```
pub struct ExactSizes {
    /// The split by sizes, with the hash of a split by weights.
    split: Split,
    /// The sum of the sizes.
    total: u64,
    /// Hashes of keys. A hash may be there several times.
    kept: Vec<u64>,
    /// Hashes from here on are not kept; 0 after an allocation that failed, when the hashes are lost.
    end: u64,
}

/// The fewest hashes for which memory is reserved.
const LEAST: u64 = 512;

impl Split {
    /// Begins to add keys, to find the split by weights whose parts have the sizes of this one. Failures: `weights` (the
    /// parts have no sizes), `out-of-memory`.
    pub fn exact_sizes(&self) -> Result<ExactSizes, Failure> {
        if !self.by_size {
            return Err(Failure::contradiction("weights", "given", "parts with sizes, from which weights follow"));
        }
        let mut split = Self::read(&self.text()?)?;
        split.hash = hash_of(MAX_EXACT, self.seed);
        Ok(ExactSizes { split, total: self.ids, kept: Vec::new(), end: u64::MAX })
    }
}

impl ExactSizes {
    /// Adds ids. Failures: `ids`, `out-of-memory`.
    pub fn add_ids(&mut self, ids: &[u64]) -> Result<(), Failure> {
        check_count("ids", ids.len(), "numbers")?;
        ids.iter().try_for_each(|&id| check_below("ids", id, MAX_EXACT))?;
        ids.iter().try_for_each(|&id| self.add(id << BELOW))
    }

    /// Adds texts, which are laid end to end as for `part_of_keys`. Failures: `keys`, `ends`, `out-of-memory`.
    pub fn add_keys(&mut self, keys: &str, ends: &[u32]) -> Result<(), Failure> {
        check_count("keys", ends.len(), "texts")?;
        each_text(keys, ends, &mut |digest| self.add(digest))
    }

    /// Adds a key: its id, and the bits below it, which tell texts apart that have the same id.
    fn add(&mut self, key: u64) -> Result<(), Failure> {
        let hash = (self.split.hash.sample(id_of(key)) << BELOW) | (key % (1 << BELOW));
        if hash >= self.end && self.end > 0 {
            return Ok(());
        }
        if self.kept.len() == self.kept.capacity() {
            self.make_room()?;
        }
        self.kept.push(hash);
        Ok(())
    }

    /// Frees room in `kept`, or makes the list longer: up to twice as long as is needed, so that it is sorted seldom.
    /// Failures: `out-of-memory`.
    #[inline(never)]
    fn make_room(&mut self) -> Result<(), Failure> {
        if self.end > 0 {
            self.keep_least();
            let (count, held) = (self.kept.len() as u64, self.kept.capacity() as u64);
            if 2 * count <= held && held > 0 {
                return Ok(());
            }
            let room = usize::try_from(LEAST.max(2 * held.min(self.total + 1))).unwrap_or(usize::MAX);
            if let Ok(longer) = collect("keys", room, self.kept.iter().copied()) {
                self.kept = longer;
                return Ok(());
            }
            (self.kept, self.end) = (Vec::new(), 0);
        }
        Err(Failure::out_of_memory("keys", self.total, "smaller sizes"))
    }

    /// Leaves the least hashes only: one more than the sum of the sizes, ascending, each once.
    fn keep_least(&mut self) {
        samedeal_bulk::numbers(&mut self.kept);
        self.kept.dedup();
        if let Some(&last) = usize::try_from(self.total).ok().and_then(|at| self.kept.get(at)) {
            self.kept.truncate(self.total as usize + 1);
            self.end = last;
        }
    }

    /// The recipe of the split by weights whose parts have exactly so many of the keys as their sizes say. One more
    /// part, `rest`, has all other keys. Failures: `size` (there are fewer keys; or two texts would be divided that have
    /// the same id), `name` (that of the rest), `parts` (with the rest, too many), `out-of-memory`.
    pub fn recipe(&mut self, rest: &str) -> Result<String, Failure> {
        if self.end == 0 {
            // The keys are lost.
            self.make_room()?;
        }
        self.keep_least();
        let count = self.kept.len() as u64;
        if self.total > count {
            let allowed = range(0, count).and(", the number of different keys");
            return Err(Failure::out_of_range("size", self.total, allowed).at("split.parts[].size"));
        }
        let mut parts = collect("parts", self.split.parts.len() + 1, [])?;
        // Room for the copies of `rest`, since small allocations trap if memory is full. `Split::parts` checks the others.
        grow("parts", 8 * rest.len(), &mut Vec::<u8>::new())?;
        let (mut keys, mut start) = (0, 0);
        for (name, part) in self.split.parts()?.into_iter().zip(&self.split.parts) {
            keys += part.share;
            let end = self.end_of(keys as usize)?;
            parts.push((name, end - start));
            start = end;
        }
        parts.push((rest.to_string(), MAX_EXACT - start));
        let text = Split::new(self.split.seed, false, parts)?.text()?;
        // Checks the name of the rest.
        Split::read(&text)?;
        Ok(text)
    }

    /// Where the hashes of the first `count` keys end: at the hash of the next key.
    fn end_of(&self, count: usize) -> Result<u64, Failure> {
        let Some(next) = self.kept.get(count) else { return Ok(MAX_EXACT) };
        let end = next >> BELOW;
        match count.checked_sub(1) {
            None => Ok(0),
            Some(last) if self.kept[last] >> BELOW == end => {
                let allowed = "one key more or less, or another seed: the two texts on both sides have the same hash";
                Err(Failure::contradiction("size", count, allowed).at("split.parts[].size"))
            }
            Some(_) => Ok(end),
        }
    }
}
