use alloc::vec::Vec;

use super::sampler::check_batch_size;
use crate::base::Failure;
use crate::base::check::check_below;
use crate::base::memory::{collect, grow};
use crate::deal::{Place, Sampler};

/// The most positions of a sample that [`Sampler::fate`] returns.
const MOST: usize = 1 << 16;

/// The fate of a sample in an epoch, once every rank has taken a number of its samples.
#[derive(Debug)]
pub struct Fate {
    /// `seen`: the sample was taken at least once. `upcoming`: it was not taken, and will be. `dropped`: the epoch has
    /// it only at positions that no rank gets. `absent`: the epoch does not have it.
    pub status: &'static str,
    /// Positions of the sample that were dealt before this deal, ascending. Their ranks are not known, because a state
    /// does not have them.
    pub before: Vec<u64>,
    /// Places of the sample in this deal, by ascending position, padding included.
    pub places: Vec<Place>,
    /// Number of `places` that were taken. They are the first ones.
    pub num_seen: u32,
    /// Number of `places` that are padding. They are the last ones.
    pub num_padding: u32,
    /// Whether `before` and `places` have all positions of the sample. Together they have at most 2^16.
    pub complete: bool,
}

impl Sampler {
    /// The fate of a sample, once every rank has taken `taken` of its samples, or all that it has. Failures: `sample`,
    /// `batch_size`, `taken`, `layout`.
    pub fn fate(&self, sample: u64, batch_size: u32, taken: u64) -> Result<Fate, Failure> {
        check_below("sample", sample, self.config.samples)?;
        check_batch_size(batch_size)?;
        let (length, first, end) = (self.deal.samples(), self.deal.consumed(), self.deal.end());
        let read = match self.deal.consumed_after(taken)? {
            // Ranks that have taken all their samples have taken the padding, too.
            all if all == length => end,
            read => read,
        };
        let mut own = self.positions_of(sample)?;
        let are_all = own.len() <= MOST;
        own.truncate(MOST);
        let rounds = if own.is_empty() { 0 } else { end.div_ceil(length) };
        // Padding repeats the epoch from its beginning.
        let dealt = (0..rounds).flat_map(|round| own.iter().map(move |position| round * length + position));
        let mut dealt = dealt.filter(|position| (first..end).contains(position));
        let num_before = own.partition_point(|&position| position < first);
        let before = collect("sample", num_before, own.iter().copied())?;
        let most = rounds.saturating_mul(own.len() as u64).min((MOST - num_before) as u64) as usize;
        let places = collect("sample", most, dealt.by_ref().map(|position| self.deal.place(position, batch_size)))?;
        let count = |is: &dyn Fn(u64) -> bool| places.iter().filter(|place| is(place.position)).count() as u32;
        let num_seen = count(&|position| position < read);
        let num_padding = count(&|position| position >= length);
        let status = match () {
            () if num_seen > 0 || !before.is_empty() => "seen",
            () if !places.is_empty() => "upcoming",
            () if !own.is_empty() => "dropped",
            () => "absent",
        };
        let complete = are_all && dealt.next().is_none();
        Ok(Fate { status, before, places, num_seen, num_padding, complete })
    }

    /// The positions of a sample in the whole epoch without padding, ascending, up to one more than [`MOST`].
    fn positions_of(&self, sample: u64) -> Result<Vec<u64>, Failure> {
        let (order, length) = (self.order()?, self.deal.samples());
        let mut found = Vec::new();
        while found.len() <= MOST {
            let from = found.last().map_or(0, |position| position + 1);
            // Only composed orders can have a sample several times. In other orders, a second search may cost a pass
            // over a table for nothing.
            let can_be = from < length && (found.is_empty() || self.part.is_composed());
            match if can_be { order.next(sample, from)? } else { None } {
                Some(position) => {
                    grow("sample", 1, &mut found)?;
                    found.push(position);
                }
                None => break,
            }
        }
        Ok(found)
    }
}
