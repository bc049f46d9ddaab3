//! Deals the positions of an order to readers: reader r of n takes numbers r, r + n, r + 2n, ... of the positions that
//! are left. If rows are rotated (`Positions`), r changes from row to row.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;

use super::left::Left;
use super::recipe::Recipe;
use super::segment::Group;
use super::turns;
use crate::base::memory::collect;
use crate::base::{Failure, MAX_COUNT};
use crate::deal::{Config, Deal, Remainder, Round, Sampler};
use crate::order::{OrderId, Spans, Stored};

/// Number of samples of a round that has no windows: its rows are read in the order in which they are stored.
pub(super) const STORED_ROWS: u64 = 1024;

/// The samples of one reader: those of the sampler `all` from number `start` on. `all` deals the positions that were
/// left when the group of the reader began.
pub(super) struct SampleReader {
    left: Rc<Left>,
    /// The sampler of this reader over the positions that were left.
    all: Sampler,
    reader: u64,
    readers: u64,
    /// The first sample that was not taken, as a number of `all`.
    start: u64,
    /// The first sample after all interrupted turns, as a number of `all`. With a composed order, it is `end`: all
    /// samples are read like those of interrupted turns.
    plain: u64,
    /// The number of samples of `all`.
    end: u64,
    /// The sampler of the samples from number `plain` on, if there are any.
    rest: Option<Sampler>,
    /// The number of samples of each round up to `plain`; the last of these rounds may have fewer.
    torn_round: u64,
    /// The round that was needed last, of a composed order.
    pub(super) recent: RefCell<Option<(u64, Rc<Gathered>)>>,
}

/// The samples of a round of a composed order, in the order in which the reader gives them.
pub(super) struct Gathered {
    /// Number of the first sample of the round among the samples of the reader.
    pub(super) start: u64,
    pub(super) samples: Vec<u64>,
    /// The row of each sample among the rows of all spans.
    pub(super) rows: Vec<u64>,
}

/// The workers of a rank, each with the number of samples that it has left. `left` has the positions that were left
/// when the group began, and the steps that the group has taken. Failures: `samples`, `out-of-memory`.
pub(super) fn rows(
    recipe: &Recipe,
    left: (&Left, u64),
    group: Group,
    remainder: Remainder,
    rank: u32,
) -> Result<Vec<(u32, u64)>, Failure> {
    let mut rows = collect("workers", group.workers as usize, [])?;
    for worker in 0..group.workers {
        rows.push((worker, rows_of(recipe, left, group, remainder, rank, worker)?));
    }
    Ok(rows)
}

fn rows_of(
    recipe: &Recipe,
    left: (&Left, u64),
    group: Group,
    remainder: Remainder,
    rank: u32,
    worker: u32,
) -> Result<u64, Failure> {
    let (deal, given) = dealt(recipe, left, group, remainder, rank, worker)?;
    Ok(deal.num_samples().saturating_sub(given))
}

/// The deal of a worker, over the positions that were left when its group began, and the number of its samples that
/// were taken since. Failures: `samples`.
fn dealt(
    recipe: &Recipe,
    (left, steps): (&Left, u64),
    group: Group,
    remainder: Remainder,
    rank: u32,
    worker: u32,
) -> Result<(Deal, u64), Failure> {
    let (role, given) = turns::role(steps, worker, group);
    let config = config(recipe, 0, left.consumed, group, remainder, rank + group.world_size * role);
    Ok((config.deal(left.length())?, given))
}

/// Number of padding samples in the deal of a worker, over the positions that were left when its group began. Failures:
/// `samples`.
pub(super) fn padding(
    recipe: &Recipe,
    left: (&Left, u64),
    group: Group,
    remainder: Remainder,
    rank: u32,
    worker: u32,
) -> Result<u64, Failure> {
    Ok(dealt(recipe, left, group, remainder, rank, worker)?.0.num_padding())
}

/// Counts the readers for which `is_busy(number of samples left)` is true. If `is_busy` is true of a number, it must be
/// true of all greater numbers. Failures: `samples`.
pub(super) fn busy(
    recipe: &Recipe,
    left: (&Left, u64),
    group: Group,
    remainder: Remainder,
    is_busy: impl Fn(u64) -> bool,
) -> Result<u64, Failure> {
    let mut busy = 0;
    for worker in 0..group.workers {
        // Among the workers with the same number, the workers of the first ranks may have one sample more. So the busy
        // workers come first, and a binary search finds the last one.
        let (mut first, mut end) = (0, group.world_size);
        while first < end {
            let middle = first + (end - first) / 2;
            if is_busy(rows_of(recipe, left, group, remainder, middle, worker)?) {
                first = middle + 1;
            } else {
                end = middle;
            }
        }
        busy += u64::from(first);
    }
    Ok(busy)
}

/// The reader of a worker of a rank. Failures: `samples`, `out-of-memory`.
pub(super) fn reader(
    recipe: &Recipe,
    epoch: u64,
    (left, steps): (&Rc<Left>, u64),
    group: Group,
    remainder: Remainder,
    rank: u32,
    worker: u32,
) -> Result<SampleReader, Failure> {
    let (role, given) = turns::role(steps, worker, group);
    let (reader, readers) = (rank + group.world_size * role, group.readers());
    let sampler = |consumed| -> Result<Sampler, Failure> {
        let Some(order) = recipe.order() else {
            return Err(Failure::contradiction("order", "not there", "the section order"));
        };
        Sampler::of(config(recipe, epoch, consumed, group, remainder, reader), Rc::clone(order))
    };
    let all = sampler(left.consumed)?;
    let end = all.num_samples();
    let start = given.min(end);
    let is_composed = recipe.composed().is_some();
    let plain = if is_composed { end } else { (left.plain - left.consumed).div_ceil(readers).max(start).min(end) };
    let rest = if plain < end { Some(sampler(left.consumed + plain * readers)?) } else { None };
    // In a round before `plain`, each sample may need a span of its own, so the number of samples is limited.
    let torn_round = match recipe.composed() {
        Some(order) => (order.samples_of_windows() / readers).clamp(STORED_ROWS, MAX_COUNT.into()),
        None => round(recipe).map_or(STORED_ROWS, |round| round.min(MAX_COUNT.into())),
    };
    Ok(SampleReader {
        left: Rc::clone(left),
        all,
        reader: reader.into(),
        readers,
        start,
        plain,
        end,
        rest,
        torn_round,
        recent: RefCell::default(),
    })
}

/// The number of positions of a round of all readers: one window of every lane. None if the order has no lanes.
fn round(recipe: &Recipe) -> Option<u64> {
    recipe.lanes().map(|(lanes, window)| u64::from(lanes) * u64::from(window))
}

fn config(recipe: &Recipe, epoch: u64, consumed: u64, group: Group, remainder: Remainder, reader: u32) -> Config {
    Config {
        seed: recipe.seed,
        epoch,
        order: recipe.order().map_or(OrderId::Sequential, |order| order.id),
        rank: reader,
        world_size: group.world_size * group.workers,
        remainder,
        consumed,
        ..Config::new(recipe.samples())
    }
}

impl SampleReader {
    pub(super) fn samples(&self) -> u64 {
        self.end - self.start
    }

    /// The reader's samples number `start` to `start + count - 1`, which must exist. Failures: `out-of-memory`.
    pub(super) fn fill(&self, start: u64, count: u32) -> Result<Vec<u64>, Failure> {
        if let Some((_, recent)) = &*self.recent.borrow()
            && let Some(first) = start.checked_sub(recent.start).and_then(|first| usize::try_from(first).ok())
            && let Some(samples) = recent.samples.get(first..first.saturating_add(count as usize))
        {
            return collect("count", samples.len(), samples.iter().copied());
        }
        let first = self.start + start;
        let end = first + u64::from(count);
        let torn = end.min(self.plain).saturating_sub(first);
        let mut out = collect("count", count as usize, [])?;
        for number in first..first + torn {
            out.push(self.all.sample_at(self.left.position(self.number(number)))?);
        }
        if let Some(rest) = &self.rest
            && torn < u64::from(count)
        {
            out.extend(rest.indices::<u64>(first + torn - self.plain, count - torn as u32)?);
        }
        Ok(out)
    }

    /// The number, among the positions that are left, of the sample `index` of `all`.
    fn number(&self, index: u64) -> u64 {
        self.left.number((self.reader, self.readers), index)
    }

    pub(super) fn num_rounds(&self) -> Result<u64, Failure> {
        let torn = (self.plain - self.start).div_ceil(self.torn_round);
        let rest = match &self.rest {
            None => 0,
            Some(rest) if rest.config().order == OrderId::Sharded => rest.num_rounds()?,
            Some(_) => (self.end - self.plain).div_ceil(STORED_ROWS),
        };
        Ok(torn + rest)
    }

    /// Round number `number`: its samples, and the rows in which they are stored. `recipe` must be the recipe of the
    /// reader. Failures: those of [`Sampler::round`].
    pub(super) fn round(&self, recipe: &Recipe, number: u64) -> Result<Round, Failure> {
        let torn = (self.plain - self.start).div_ceil(self.torn_round);
        if number >= torn {
            let (Some(rest), number) = (&self.rest, number - torn) else {
                return Ok(Round { start: self.samples(), count: 0, spans: Spans::default() });
            };
            if rest.config().order == OrderId::Sharded {
                let Round { start, count, spans } = rest.round(number)?;
                return Ok(Round { start: self.plain - self.start + start, count, spans });
            }
            let first = self.plain + number * STORED_ROWS;
            return self.stored(recipe, first, (first + STORED_ROWS).min(self.end));
        }
        if recipe.composed().is_some() {
            let (spans, gathered) = self.gather(recipe, number)?;
            return Ok(Round { start: gathered.start, count: gathered.rows.len() as u64, spans });
        }
        let (first, end) = self.torn(number);
        self.stored(recipe, first, end)
    }

    /// The samples of a round before `plain`, as numbers of `all`: the first one, and the end.
    pub(super) fn torn(&self, number: u64) -> (u64, u64) {
        let first = self.start + number * self.torn_round;
        (first, (first + self.torn_round).min(self.plain))
    }

    /// The reader's own number of the sample `index` of `all`.
    pub(super) fn number_of(&self, index: u64) -> u64 {
        index - self.start
    }

    /// The place where the sample `index` of `all` is stored. Failures: `out-of-memory`.
    pub(super) fn stored_at(&self, index: u64) -> Result<Stored, Failure> {
        self.all.stored_at(self.left.position(self.number(index)))
    }

    /// Whether the sample `index` of `all` is a sample of the epoch, and not padding.
    pub(super) fn is_real(&self, index: u64) -> bool {
        self.left.is_real(self.number(index))
    }

    /// A round of the samples `first` to `end` - 1 of `all`: spans of neighbouring rows in the order in which they are
    /// stored, then the padding.
    fn stored(&self, recipe: &Recipe, first: u64, end: u64) -> Result<Round, Failure> {
        // The spans of this round have a lane number of their own, which follows the numbers of the order's lanes.
        let lane = recipe.lanes().map_or(0, |(lanes, _)| lanes);
        let count = (end - first) as usize;
        let mut samples = collect("count", count, [])?;
        let mut padding = collect("count", count, [])?;
        for number in first..end {
            let sample = self.all.sample_at(self.left.position(self.number(number)))?;
            if self.is_real(number) { samples.push(sample) } else { padding.push(sample) }
        }
        samedeal_bulk::numbers(&mut samples);
        let mut spans = Spans::default();
        let mut last: Option<u64> = None;
        for (at, sample) in samples.iter().chain(&padding).copied().enumerate() {
            let (shard, offset) = recipe.shards().find(sample);
            let goes_on = at < samples.len() && offset > 0 && last.is_some_and(|last| last + 1 == sample);
            if goes_on && let Some(length) = spans.num_rows.last_mut() {
                *length += 1;
            } else {
                spans.push(lane, shard, offset, 1)?;
            }
            last = Some(sample);
        }
        Ok(Round { start: first - self.start, count: end - first, spans })
    }

    /// The round that a sample of the reader is in.
    pub(super) fn round_of(&self, recipe: &Recipe, index: u64) -> u64 {
        let at = self.start + index;
        if at < self.plain {
            return index / self.torn_round;
        }
        let torn = (self.plain - self.start).div_ceil(self.torn_round);
        let nth = at - self.plain;
        let Some(round) = round(recipe) else { return torn + nth / STORED_ROWS };
        // From `plain` on, samples come from a sampler that begins at position `consumed`, and its rounds are counted
        // from the round of this position.
        let consumed = self.left.consumed + self.plain * self.readers;
        let position = consumed + self.reader + nth * self.readers;
        torn + position / round - consumed / round
    }
}
