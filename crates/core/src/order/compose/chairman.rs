//! The pattern of `blend-exact`: Tijdeman's solution of the chairman assignment problem, as the table of one period.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::items::MAX_ELEMENT;
use crate::base::memory::collect;
use crate::base::{Failure, gcd};

/// The longest period, and so the longest table.
pub(super) const MAX_PERIOD: u64 = 1 << 20;

pub(super) struct Chairman {
    period: u64,
    /// For each position of a period, its source, and the number of earlier positions of this source in the period.
    table: Vec<(u32, u32)>,
    /// The positions of each source, source by source; source s begins at `starts[s]`.
    positions: Vec<u32>,
    starts: Vec<u32>,
    /// The greatest deviation of a source's count from exact proportion, in millionths of a sample.
    bound: u64,
}

impl Chairman {
    /// The period of weights: their sum divided by their greatest common divisor.
    pub(super) fn period(weights: &[u64]) -> u64 {
        weights.iter().sum::<u64>() / weights.iter().fold(0, |divisor, &weight| gcd(divisor, weight)).max(1)
    }

    /// The table of weights. At least one weight must be above 0, and the period at most 2^20. Failures:
    /// `out-of-memory`.
    pub(super) fn new(weights: &[u64]) -> Result<Self, Failure> {
        let divisor = weights.iter().fold(0, |divisor, &weight| gcd(divisor, weight)).max(1);
        let period = Self::period(weights);
        let several = weights.iter().filter(|&&weight| weight > 0).count() as u64;
        // With one source, the formula gives 0, by which `release` would divide. Any other number is right, because
        // releases and deadlines do not matter if there is only one source.
        let unit = (2 * several - 2).max(1);
        let job = |source: u32, number: u64| Job { source, number, share: weights[source as usize] / divisor, unit };
        let mut waiting = BinaryHeap::new();
        for (source, &weight) in (0..).zip(weights) {
            if weight > 0 {
                waiting.push(Waiting(job(source, 1).release(period), source, 1));
            }
        }
        let mut ready: BinaryHeap<Job> = BinaryHeap::new();
        let mut table = collect("sources", period as usize, [])?;
        for n in 1..=period {
            while let Some(&Waiting(release, source, number)) = waiting.peek()
                && (release <= n || several == 1)
            {
                waiting.pop();
                ready.push(job(source, number));
            }
            // A job is always ready, by Tijdeman's theorem.
            let Some(Job { source, number, share, .. }) = ready.pop() else { break };
            table.push((source, number as u32 - 1));
            if number < share {
                waiting.push(Waiting(job(source, number + 1).release(period), source, number + 1));
            }
        }
        let mut starts = collect("sources", weights.len() + 1, [0])?;
        let mut end = 0;
        starts.extend(weights.iter().map(|weight| {
            end += (weight / divisor) as u32;
            end
        }));
        let mut positions = collect("sources", period as usize, core::iter::repeat_n(0, period as usize))?;
        for (position, &(source, number)) in (0..).zip(&table) {
            positions[(starts[source as usize] + number) as usize] = position;
        }
        let bound = if several > 1 { (1_000_000 * (unit - 1)).div_ceil(unit) } else { 0 };
        Ok(Self { period, table, positions, starts, bound })
    }

    fn of(&self, source: u32) -> &[u32] {
        &self.positions[self.starts[source as usize] as usize..self.starts[source as usize + 1] as usize]
    }

    pub(super) fn at(&self, n: u64) -> (u32, u64) {
        let (source, before) = self.table[(n % self.period) as usize];
        (source, n / self.period * self.of(source).len() as u64 + u64::from(before))
    }

    pub(super) fn count(&self, source: u32, n: u64) -> u64 {
        let own = self.of(source);
        let within = own.partition_point(|&position| u64::from(position) < n % self.period);
        n / self.period * own.len() as u64 + within as u64
    }

    pub(super) fn nth(&self, source: u32, number: u64) -> Option<u64> {
        let own = self.of(source);
        let (periods, within) = (number.checked_div(own.len() as u64)?, number.checked_rem(own.len() as u64)?);
        let start = periods.checked_mul(self.period)?;
        start.checked_add(own[within as usize].into()).filter(|&n| n <= MAX_ELEMENT)
    }

    pub(super) fn bound(&self, source: u32) -> u64 {
        if self.of(source).is_empty() { 0 } else { self.bound }
    }
}

/// A job: a source gets its position number `number`, from 1, of the `share` positions that it has in a period.
struct Job {
    source: u32,
    number: u64,
    share: u64,
    unit: u64,
}

impl Job {
    /// The first position, from 1, that the job may get.
    fn release(&self, period: u64) -> u64 {
        let Self { number, share, unit, .. } = self;
        (((number - 1) * unit + 1) * period).div_ceil(unit * share)
    }
}

/// The job with the earliest deadline is the greatest, so that the heap returns it first.
impl Ord for Job {
    fn cmp(&self, other: &Self) -> Ordering {
        let deadline = |job: &Self, share: u64| u128::from(job.number * job.unit - 1) * u128::from(share);
        deadline(other, self.share).cmp(&deadline(self, other.share)).then(other.source.cmp(&self.source))
    }
}

impl PartialOrd for Job {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Job {}

/// A job before its release: the release, the source and the number. The job with the earliest release is the greatest,
/// so that the heap returns it first.
#[derive(PartialEq, Eq)]
struct Waiting(u64, u32, u64);

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.0, other.1).cmp(&(self.0, self.1))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
