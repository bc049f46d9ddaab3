//! Rounds of composed orders. The samples of such a round belong to several orders, and are read lane by lane, in the
//! order in which they are stored.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::recipe::Recipe;
use super::samples::{Gathered, SampleReader};
use crate::base::Failure;
use crate::base::memory::collect;
use crate::order::{Spans, Stored};

impl SampleReader {
    /// A round, which must exist. The last round is cached, because hosts ask for its spans, its rows and its samples
    /// one after the other. Failures: `out-of-memory`.
    pub(super) fn gathered(&self, recipe: &Recipe, number: u64) -> Result<Rc<Gathered>, Failure> {
        if let Some((of, gathered)) = &*self.recent.borrow()
            && *of == number
        {
            return Ok(Rc::clone(gathered));
        }
        self.gather(recipe, number).map(|(_, gathered)| gathered)
    }

    /// The spans of a round, lane by lane in the order in which they are stored, then the spans of the padding; and the
    /// samples of the round, each with its row among the rows of all spans. Failures: `out-of-memory`.
    pub(super) fn gather(&self, recipe: &Recipe, number: u64) -> Result<(Spans, Rc<Gathered>), Failure> {
        let (first, end) = self.torn(number);
        let count = (end - first) as usize;
        let mut found: Vec<(Stored, usize)> = collect("count", count, [])?;
        for (index, number) in (first..end).enumerate() {
            found.push((self.stored_at(number)?, index));
        }
        let samples = collect("count", count, found.iter().map(|(stored, _)| stored.sample))?;
        let real = (first..end).take_while(|&number| self.is_real(number)).count();
        found[..real].sort_unstable_by_key(|&(Stored { lane, pass, element, .. }, _)| (lane, pass, element));
        let mut rows = collect("count", count, (0..count).map(|_| 0))?;
        let mut spans = Spans::default();
        let (mut read, mut last) = (0, Stored::default());
        for (at, &(stored, index)) in found.iter().enumerate() {
            let (shard, offset) = recipe.shards().find(stored.sample);
            let is_there = 0 < at && at < real && stored == last;
            let next = Stored { sample: last.sample + 1, element: last.element + 1, ..last };
            // Rows that an order leaves out may lie between two neighbouring elements of a lane.
            let goes_on = 0 < at && at < real && stored == next && offset > 0;
            match spans.num_rows.last_mut() {
                _ if is_there => {}
                Some(length) if goes_on => *length += 1,
                _ => spans.push(stored.lane, shard, offset, 1)?,
            }
            read += u64::from(!is_there);
            rows[index] = read - 1;
            last = stored;
        }
        let gathered = Rc::new(Gathered { start: self.number_of(first), samples, rows });
        *self.recent.borrow_mut() = Some((number, Rc::clone(&gathered)));
        Ok((spans, gathered))
    }
}
