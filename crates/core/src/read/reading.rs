use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{OnceCell, RefCell};

use super::recipe::{self, Dealt, Recipe};
use super::samples::{self, Gathered, SampleReader};
use super::segment::{Group, Segment, split};
use super::whole::{WholeGroup, WholeReader};
use super::{left::Left, left::Positions, state, turns};
use crate::base::check::{check_below, check_run};
use crate::base::failure::range;
use crate::base::key::Words;
use crate::base::memory::{collect, has_headroom};
use crate::base::{Failure, gcd};
use crate::deal::Remainder;
use crate::document::lists::List;
use crate::document::recipe::{canonical, fingerprint};
use crate::order::{Feistel, Spans};

/// A run of a reader's samples, and the rows to read for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadRound {
    /// Number of the first sample of the round. The samples of a reader are counted from 0.
    pub start: u64,
    /// Number of samples of the round.
    pub count: u64,
    /// The rows to read. One open file for each lane is enough.
    pub spans: Spans,
}

/// One epoch of a dataset in shards, or the rest of one, dealt to the loader workers of all ranks. It never changes.
///
/// ```
/// use samedeal_core::read::Reading;
/// let text = r#"{"order": {"sizes": [40, 100]}, "deal": {"workers": 2}, "batch": {"batch_size": 16}}"#;
/// let reading = Reading::from_recipe(text, &[], 0)?;
/// // Worker 0 gave two batches, and worker 1 gave one. Any group of readers can go on from there.
/// let state = reading.state(3)?;
/// let one = Reading::from_recipe(&text.replace("\"workers\": 2", "\"workers\": 1"), &[], 0)?.resume(&state)?;
/// assert_eq!(one.num_samples(0, 0)?, 140 - 3 * 16);
/// # Ok::<(), samedeal_core::Failure>(())
/// ```
pub struct Reading {
    recipe: Recipe,
    group: Group,
    remainder: Remainder,
    /// Whether the last batch of a reader is left out, if it is not full.
    drop_last: bool,
    epoch: u64,
    /// The positions of the epoch.
    positions: Positions,
    /// Number of positions at the beginning of the epoch that were consumed before the first segment.
    consumed: u64,
    history: Vec<Segment>,
    /// The part of the epoch that was left when this group of readers began; computed when it is needed.
    begun: OnceCell<Begun>,
    /// The reader that was needed last, by rank and worker.
    reader: RefCell<Option<Asked>>,
    /// The rank whose workers were needed last, and the number of samples of each worker.
    rows: RefCell<Option<(u32, Rows)>>,
}

/// The part of the epoch that was left when a group of readers began, and the number of steps that the group has taken
/// since.
enum Begun {
    Samples(Rc<Left>, u64),
    Whole(Box<WholeGroup>),
}

/// The workers of a rank that may have samples left, in the order of their numbers, each with the number of its
/// samples.
type Rows = Rc<Vec<(u32, u64)>>;

/// A reader, with its rank and worker, so that calls about the same reader build it once.
type Asked = ((u32, u32), Rc<Reader>);

enum Reader {
    Samples(Box<SampleReader>),
    Whole(WholeReader),
}

impl Reading {
    /// The reading of the whole of an epoch. Failures: `recipe` (no JSON object, or more than 2^24 bytes), an unknown
    /// member, `lists` (an unknown name), any member, or `epoch`.
    pub fn from_recipe(text: &str, lists: &[List], epoch: u64) -> Result<Self, Failure> {
        recipe::read(text, lists, |recipe, group, remainder, drop_last| {
            let reading = Self {
                positions: recipe.positions(epoch)?,
                recipe,
                group,
                remainder,
                drop_last,
                epoch,
                consumed: 0,
                history: Vec::new(),
                begun: OnceCell::new(),
                reader: RefCell::new(None),
                rows: RefCell::new(None),
            };
            // This call fails if the members do not fit together.
            reading.num_steps(0)?;
            Ok(reading)
        })
    }

    fn with(&self, epoch: u64, consumed: u64, history: Vec<Segment>) -> Result<Self, Failure> {
        let Self { recipe, group, remainder, drop_last, .. } = self;
        let (recipe, group, remainder, drop_last) = (recipe.clone(), *group, *remainder, *drop_last);
        let (begun, reader, rows) = (OnceCell::new(), RefCell::new(None), RefCell::new(None));
        let positions = recipe.positions(epoch)?;
        Ok(Self { recipe, group, remainder, drop_last, epoch, positions, consumed, history, begun, reader, rows })
    }

    /// The reading of the whole epoch `epoch`. Failures: `epoch`, `samples`, of a composed order; `out-of-memory`.
    pub fn at_epoch(&self, epoch: u64) -> Result<Self, Failure> {
        if !has_headroom() {
            return Err(Failure::out_of_memory("epoch", epoch, "fewer readings at a time"));
        }
        let made = self.with(epoch, 0, Vec::new())?;
        if made.recipe.composed().is_some() {
            // A composed order may have more positions in this epoch than in the epoch that was checked before.
            // `num_steps` fails if there are too many positions to deal.
            made.num_steps(0)?;
        }
        Ok(made)
    }

    /// The reading of the rest of the epoch of a state. Failures: `state`; `recipe` (the recipe deals samples and the
    /// state whole shards, or the reverse); the first member of the recipe that differs; `consumed`; `epoch`, `samples`
    /// (too many positions to deal); `history`, or a member of one of its segments; `out-of-memory`.
    pub fn resume(&self, text: &str) -> Result<Self, Failure> {
        let state = state::read(text, &self.recipe, self.group)?;
        let positions = self.recipe.positions(state.epoch)?;
        let (length, consumed) = (positions.length, state.consumed);
        let whole = matches!(self.recipe.dealt, Dealt::Shards(..));
        if consumed > length || whole && consumed != 0 && consumed != length {
            let allowed = if whole { format!("0, or all {length}").into() } else { range(0, length) };
            return Err(Failure::out_of_range("consumed", consumed, allowed));
        }
        // `Left::new` fails if the epoch has fewer steps than the history.
        if !whole {
            drop(Left::new(positions, consumed, &state.history)?);
        }
        let found = self.with(state.epoch, consumed, state.history)?;
        found.num_steps(0)?;
        Ok(found)
    }

    /// The epoch that is read, counted from 0.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The group of readers: the numbers of ranks and workers, and the batch size.
    pub fn group(&self) -> Group {
        self.group
    }

    /// Whether a part of the epoch was read before.
    pub fn is_rest(&self) -> bool {
        self.consumed > 0 || !self.history.is_empty()
    }

    /// The number of positions at the beginning of the epoch that were consumed, and the segments of steps since.
    pub fn progress(&self) -> (u64, &[Segment]) {
        (self.consumed, &self.history)
    }

    /// The recipe in its canonical form (SPEC.md, section 14). Failures: `out-of-memory`.
    pub fn recipe(&self) -> Result<String, Failure> {
        recipe::write(&self.recipe, self.group, self.remainder, self.drop_last, canonical)
    }

    /// SHA-256 over the canonical recipe, in hexadecimal.
    pub fn recipe_fingerprint(&self) -> String {
        recipe::write(&self.recipe, self.group, self.remainder, self.drop_last, fingerprint)
    }

    /// The seed of all shuffles.
    pub fn seed(&self) -> i64 {
        self.recipe.seed
    }

    /// How many samples each shard has. Failures: `out-of-memory`.
    pub fn sizes(&self) -> Result<Vec<u64>, Failure> {
        collect("sizes", self.recipe.shards().count() as usize, self.recipe.shards().sizes())
    }

    /// How many readers decode each row: 1, or more if readers share lanes. An order that does not keep lanes apart
    /// counts as one lane, because each reader reads from all of them.
    pub fn reads_per_row(&self) -> u32 {
        let Dealt::Samples(ref order, _) = self.recipe.dealt else { return 1 };
        let readers = self.group.readers();
        (readers / gcd(readers, order.lanes_apart().unwrap_or(1).into())) as u32
    }

    pub(super) fn parts(&self) -> &Recipe {
        &self.recipe
    }

    /// The index of the first sample of a shard.
    pub(super) fn first_sample(&self, shard: u32) -> u64 {
        self.recipe.shards().start(shard)
    }

    /// How many samples the dataset has.
    pub fn samples(&self) -> u64 {
        self.recipe.samples()
    }

    /// How many steps a rank has left: batches of all its workers. Failures: `rank`, `out-of-memory`.
    pub fn num_steps(&self, rank: u32) -> Result<u64, Failure> {
        check_below("rank", rank.into(), self.group.world_size.into())?;
        Ok(self.rank_rows(rank)?.iter().map(|&(_, rows)| self.batches(rows)).sum())
    }

    /// The fewest and the most steps that a rank has left. Failures: `out-of-memory`.
    pub fn steps(&self) -> Result<(u64, u64), Failure> {
        let world_size = self.group.world_size;
        let Begun::Whole(begun) = self.begun()? else {
            // If readers have different numbers of samples, the first ones have one more. So rank 0 has the most steps,
            // and the last rank the fewest.
            return Ok((self.num_steps(world_size - 1)?, self.num_steps(0)?));
        };
        let (mut least, mut most) = (if begun.busy_ranks() < world_size { 0 } else { u64::MAX }, 0);
        for rank in 0..begun.busy_ranks() {
            let steps = begun.rows(rank)?.iter().map(|&(_, rows)| self.batches(rows)).sum();
            (least, most) = (least.min(steps), most.max(steps));
        }
        Ok((least, most))
    }

    /// How many readers have no batch. Failures: `out-of-memory`.
    pub fn num_idle(&self) -> Result<u64, Failure> {
        let Self { recipe, group, remainder, .. } = self;
        let busy = match self.begun()? {
            Begun::Samples(left, steps) => {
                samples::busy(recipe, (left, *steps), *group, *remainder, |rows| self.batches(rows) > 0)?
            }
            Begun::Whole(begun) => {
                let mut busy = 0;
                for rank in 0..begun.busy_ranks() {
                    busy += begun.rows(rank)?.iter().filter(|&&(_, rows)| self.batches(rows) > 0).count() as u64;
                }
                busy
            }
        };
        Ok(group.readers() - busy)
    }

    /// The state after `steps` steps of every rank (or all that it has): a text for a checkpoint, the same on all
    /// ranks. Failures: `steps`, `out-of-memory`.
    pub fn state(&self, steps: u64) -> Result<String, Failure> {
        let (_, most) = self.steps()?;
        if steps > most {
            return Err(Failure::out_of_range("steps", steps, range(0, most)));
        }
        let (consumed, history) = match steps {
            0 => (self.consumed, collect("history", self.history.len(), self.history.iter().copied())?),
            // In a finished epoch, positions that are dropped count as consumed, too.
            _ if steps == most => (self.positions.length, Vec::new()),
            _ => self.after(steps)?,
        };
        state::write(&self.recipe, (self.epoch, self.positions.length), consumed, &history)
    }

    /// The consumed positions and the history after `steps` more steps.
    fn after(&self, steps: u64) -> Result<(u64, Vec<Segment>), Failure> {
        let (before, taken) = split(&self.history, self.group);
        let segment = Segment { group: self.group, steps: taken + steps };
        if matches!(self.recipe.dealt, Dealt::Samples(..)) {
            let mut left = Left::new(self.positions, self.consumed, before)?;
            left.take(segment)?;
            return Ok((left.origin, left.history));
        }
        let segments = before.iter().copied().chain([segment]);
        Ok((0, collect("history", before.len() + 1, segments)?))
    }

    /// How many samples a reader has left, padding included. Failures: `rank`, `worker`, `out-of-memory`.
    pub fn num_samples(&self, rank: u32, worker: u32) -> Result<u64, Failure> {
        self.samples_of(rank, worker)
    }

    /// How many samples of a reader are padding. They are the last ones. Failures: as `num_samples`.
    pub fn num_padding(&self, rank: u32, worker: u32) -> Result<u64, Failure> {
        let samples = self.samples_of(rank, worker)?;
        self.padding_of(rank, worker, samples)
    }

    /// The shards of a reader, in the order in which it reads them. In the rest of an epoch, shards that were read
    /// completely are left out; empty shards are included. Failures: as `num_samples`; `shards`.
    pub fn shards(&self, rank: u32, worker: u32) -> Result<Vec<u32>, Failure> {
        match &*self.reader(rank, worker)? {
            Reader::Samples(_) => Err(Failure::contradiction(
                "shards",
                "not there",
                "the section shards, with which readers have shards of their own",
            )),
            Reader::Whole(reader) => collect("sizes", reader.all.len(), reader.all.iter().copied()),
        }
    }

    /// `count` samples of a reader, from its sample number `start` on, in its order. Failures: as `num_samples`;
    /// `start`, `count`.
    pub fn indices(&self, rank: u32, worker: u32, start: u64, count: u32) -> Result<Vec<u64>, Failure> {
        let reader = self.reader(rank, worker)?;
        check_run(start, count, reader.samples())?;
        match &*reader {
            Reader::Samples(reader) => reader.fill(start, count),
            Reader::Whole(reader) => self.rows_of(reader, start, count),
        }
    }

    /// How many rounds a reader has. Failures: as `num_samples`.
    pub fn num_rounds(&self, rank: u32, worker: u32) -> Result<u64, Failure> {
        self.reader(rank, worker)?.num_rounds()
    }

    /// Round number `number` of a reader: one window of each lane of the reader, or one shard. Failures: as
    /// `num_samples`; `number`; `shuffle_window` (more than 2^20 spans).
    pub fn round(&self, rank: u32, worker: u32, number: u64) -> Result<ReadRound, Failure> {
        let reader = self.reader(rank, worker)?;
        check_below("number", number, reader.num_rounds()?)?;
        match &*reader {
            Reader::Samples(reader) => {
                let round = reader.round(&self.recipe, number)?;
                Ok(ReadRound { start: round.start, count: round.count, spans: round.spans })
            }
            Reader::Whole(reader) => {
                let at = number as usize;
                let (shard, taken) = (reader.shards[at], reader.taken[at]);
                let size = self.recipe.shards().size(shard);
                // Shuffled rows may lie anywhere in the shard.
                let first = if self.shuffles_rows() { 0 } else { taken };
                let mut spans = Spans::default();
                spans.push(0, shard, first, size - first)?;
                Ok(ReadRound { start: reader.starts[at], count: size - taken, spans })
            }
        }
    }

    /// The samples and the rows of a round, if the order is composed; else none. Failures: those of `round`.
    pub(super) fn gathered(&self, rank: u32, worker: u32, number: u64) -> Result<Option<Rc<Gathered>>, Failure> {
        let reader = self.reader(rank, worker)?;
        match &*reader {
            Reader::Samples(of) if self.recipe.composed().is_some() => {
                check_below("number", number, reader.num_rounds()?)?;
                of.gathered(&self.recipe, number).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Number of the round of the reader's sample number `index`. Failures: as `num_samples`; `index`.
    pub fn round_of(&self, rank: u32, worker: u32, index: u64) -> Result<u64, Failure> {
        let reader = self.reader(rank, worker)?;
        check_below("index", index, reader.samples())?;
        Ok(match &*reader {
            Reader::Samples(reader) => reader.round_of(&self.recipe, index),
            Reader::Whole(reader) => reader.starts.partition_point(|&start| start <= index) as u64 - 1,
        })
    }

    fn shuffles_rows(&self) -> bool {
        matches!(&self.recipe.dealt, Dealt::Shards(plan, _) if plan.shuffle_rows)
    }

    fn rows_of(&self, reader: &WholeReader, start: u64, count: u32) -> Result<Vec<u64>, Failure> {
        let mut out = collect("count", count as usize, [])?;
        let end = start + u64::from(count);
        let mut at = reader.starts.partition_point(|&first| first <= start).saturating_sub(1);
        let mut from = start;
        while from < end {
            let (shard, stop) = (reader.shards[at], reader.starts[at + 1].min(end));
            let first = reader.taken[at] + (from - reader.starts[at]);
            let base = self.recipe.shards().start(shard);
            if self.shuffles_rows() {
                let mut words = Words::new("rows of a shard", self.recipe.seed, self.epoch, shard.into());
                let mut rows = collect("count", (stop - from) as usize, (from..stop).map(|_| 0_u64))?;
                Feistel::from_words(self.recipe.shards().size(shard), &mut words).fill(first, 1, &mut rows);
                out.extend(rows.iter().map(|row| base + row));
            } else {
                out.extend((0..stop - from).map(|row| base + first + row));
            }
            (from, at) = (stop, at + 1);
        }
        Ok(out)
    }

    /// How many of a reader's `samples`, the last ones, are padding. Failures: `samples`, `out-of-memory`.
    pub(super) fn padding_of(&self, rank: u32, worker: u32, samples: u64) -> Result<u64, Failure> {
        let Self { recipe, group, remainder, .. } = self;
        Ok(match self.begun()? {
            Begun::Samples(left, steps) => {
                samples::padding(recipe, (left, *steps), *group, *remainder, rank, worker)?.min(samples)
            }
            Begun::Whole(_) => 0,
        })
    }

    /// The number of batches that `rows` samples make.
    pub(super) fn batches(&self, rows: u64) -> u64 {
        turns::batches(rows, self.group.batch_size, self.drop_last)
    }

    /// The number of samples that each worker of a rank has left. The rank must exist.
    pub(super) fn rank_rows(&self, rank: u32) -> Result<Rows, Failure> {
        let Self { recipe, group, remainder, .. } = self;
        if let Some((of, rows)) = &*self.rows.borrow()
            && *of == rank
        {
            return Ok(Rc::clone(rows));
        }
        let rows = Rc::new(match self.begun()? {
            Begun::Samples(left, steps) => samples::rows(recipe, (left, *steps), *group, *remainder, rank)?,
            Begun::Whole(begun) => begun.rows(rank)?,
        });
        *self.rows.borrow_mut() = Some((rank, Rc::clone(&rows)));
        Ok(rows)
    }

    /// The part of the epoch that was left when the group began. Failures: `history`, `out-of-memory`.
    fn begun(&self) -> Result<&Begun, Failure> {
        if let Some(begun) = self.begun.get() {
            return Ok(begun);
        }
        let Self { recipe, group, epoch, positions, consumed, history, .. } = self;
        let begun = match &recipe.dealt {
            Dealt::Samples(..) => {
                let (before, steps) = split(history, *group);
                Begun::Samples(Rc::new(Left::new(*positions, *consumed, before)?), steps)
            }
            Dealt::Shards(..) => Begun::Whole(Box::new(WholeGroup::new(recipe, *epoch, self.progress(), *group)?)),
        };
        Ok(self.begun.get_or_init(|| begun))
    }

    fn reader(&self, rank: u32, worker: u32) -> Result<Rc<Reader>, Failure> {
        let Self { recipe, group, remainder, epoch, .. } = self;
        if let Some((of, reader)) = &*self.reader.borrow()
            && *of == (rank, worker)
        {
            return Ok(Rc::clone(reader));
        }
        check_below("rank", rank.into(), group.world_size.into())?;
        check_below("worker", worker.into(), group.workers.into())?;
        let made = match self.begun()? {
            Begun::Samples(left, steps) => {
                let made = samples::reader(recipe, *epoch, (left, *steps), *group, *remainder, rank, worker)?;
                Reader::Samples(Box::new(made))
            }
            Begun::Whole(begun) => Reader::Whole(begun.reader(recipe, rank, worker)?),
        };
        let made = Rc::new(made);
        *self.reader.borrow_mut() = Some(((rank, worker), Rc::clone(&made)));
        Ok(made)
    }
}

impl Reader {
    fn samples(&self) -> u64 {
        match self {
            Self::Samples(reader) => reader.samples(),
            Self::Whole(reader) => reader.samples(),
        }
    }

    fn num_rounds(&self) -> Result<u64, Failure> {
        match self {
            Self::Samples(reader) => reader.num_rounds(),
            Self::Whole(reader) => Ok(reader.shards.len() as u64),
        }
    }
}

impl core::fmt::Debug for Reading {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let state = state::write(&self.recipe, (self.epoch, self.positions.length), self.consumed, &self.history);
        f.write_str(&state.map_err(|_| core::fmt::Error)?)
    }
}
