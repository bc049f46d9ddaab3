use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::fmt;
use core::ops::Range;

use super::config::BatchConfig;
use super::index::Index;
use super::items::{Items, Tally};
use super::lengths::{LengthRequests, Lengths};
use super::metrics::{Metrics, weigh};
use super::recipe::BatchRecipe;
use super::rules::Rules;
use super::run::Run;
use super::steps::Steps;
use super::window::{Planned, plan_window};
use crate::base::check::{check_below, check_ranks, check_run};
use crate::base::failure::{at_most, only};
use crate::base::fingerprint::Fingerprint;
use crate::base::memory::{collect, grow};
use crate::base::{Failure, Kind, MAX_EXACT};
use crate::document::digits;
use crate::order::Order;

/// The batches of all ranks in one epoch, or in the rest of an epoch after a state. A batcher never changes.
///
/// An epoch is cut into windows. A window is planned when a call needs it. Only the window that was planned last stays
/// in memory; of all other windows, only facts such as their numbers of steps do.
pub struct Batcher {
    recipe: Rc<BatchRecipe>,
    rules: Rc<Rules>,
    lengths: Rc<Lengths>,
    epoch: u64,
    order: Order,
    /// How many positions the epoch has.
    length: u64,
    /// The position at which the first window begins.
    consumed: u64,
    /// The position at which the first window ends.
    first_end: u64,
    open: OpenWindow,
    requests: LengthRequests,
    known: RefCell<KnownWindows>,
    recent: RefCell<Option<(u64, Window)>>,
    pending: RefCell<Option<Pending>>,
}

/// The open window of a state: the first window of the batcher, if some of its steps were taken before.
#[derive(Default)]
pub(super) struct OpenWindow {
    /// The width of this window in positions, as the ranks that began it had it. The width of other windows may differ:
    /// these may have another world size or other options.
    pub(super) width: u64,
    /// The steps that were taken of this window, segment by segment.
    pub(super) history: Vec<Segment>,
    /// The checksum of the lengths with which this window was planned.
    pub(super) checksum: u64,
}

/// A segment of a history: `world_size` ranks took `steps` steps of a window.
#[derive(Clone)]
pub(super) struct Segment {
    pub(super) world_size: u32,
    pub(super) steps: u64,
    /// The options of this segment, as the text of a section `batch` and as rules. None: the options of this batcher.
    pub(super) own_options: Option<(Rc<str>, Rc<Rules>)>,
}

/// Facts about the first windows of a batcher, from planning them or from an index.
#[derive(Default)]
struct KnownWindows {
    /// For each of these windows, the number of steps up to its end.
    ends: Vec<u64>,
    /// For each of these windows, the checksum of its lengths. A plan of the same window with other lengths would lose
    /// samples, so it fails.
    checksums: Vec<u64>,
    /// Metrics of the first `counted` windows.
    metrics: Metrics,
    counted: u64,
}

impl KnownWindows {
    /// The number of steps before a window. All windows before it must be known.
    fn before(&self, window: usize) -> u64 {
        window.checked_sub(1).map_or(0, |last| self.ends[last])
    }

    /// How many steps the known windows have.
    fn steps(&self) -> u64 {
        self.before(self.ends.len())
    }
}

/// A planned window: its items and its steps.
pub(super) struct Window {
    pub(super) items: Items,
    pub(super) steps: Steps,
    /// How many of `steps`, the first ones, were taken before this batcher began.
    pub(super) first: usize,
    /// The checksum of the lengths with which this window was planned.
    checksum: u64,
    dropped: u64,
    packs_bound: u64,
    tally: Tally,
}

/// The partial result of a call that needs several windows and waits for lengths. The same call continues from here.
enum Pending {
    Take((u32, u64, u32), Run),
    Fingerprint(u64, Fingerprint),
    Index((u64, u64), Index),
    Shapes(bool, u64, Vec<BatchShape>),
}

/// Batches of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchShape {
    /// Number of rows.
    pub rows: u32,
    /// Tokens of a row, padding included.
    pub padded_length: u32,
    /// How many batches of all ranks have this shape.
    pub batches: u64,
}

impl Batcher {
    /// The batches of a whole epoch. Nothing is planned yet. Failures: `lengths` (the recipe has none, or they were not
    /// given), `epoch`, `out-of-memory`.
    pub fn new(recipe: &Rc<BatchRecipe>, epoch: u64) -> Result<Self, Failure> {
        Self::from_position(recipe, epoch, 0, None)
    }

    /// The batches of a configuration, in the epoch of the configuration. The configuration must have all lengths.
    /// Failures: any field of the configuration, `out-of-memory`.
    pub fn of(config: BatchConfig) -> Result<Self, Failure> {
        let epoch = config.epoch;
        Self::new(&Rc::new(BatchRecipe::of(config)?), epoch)
    }

    /// A batcher of the rest of an epoch, from the position `consumed` on. Failures: as `new`, and `consumed`.
    pub(super) fn from_position(
        recipe: &Rc<BatchRecipe>,
        epoch: u64,
        consumed: u64,
        open: Option<OpenWindow>,
    ) -> Result<Self, Failure> {
        let (lengths, part) = recipe.samples()?;
        let rules = recipe.rules()?;
        // `part.length` fails for an epoch that cannot be used. So this call comes first, and no order is made for such
        // an epoch.
        let length = part.length(epoch)?;
        if consumed > length {
            let allowed = at_most(length).and(", the positions of the epoch");
            return Err(Failure::out_of_range("consumed", consumed, allowed));
        }
        let width = open.as_ref().map_or(rules.width, |open| open.width);
        let first_end = if windows(length - consumed, width) > 1 { consumed + width } else { length };
        Ok(Self {
            recipe: Rc::clone(recipe),
            rules,
            lengths: Rc::clone(lengths),
            epoch,
            order: part.order(epoch)?,
            length,
            consumed,
            first_end,
            open: open.unwrap_or_default(),
            requests: LengthRequests::default(),
            known: RefCell::default(),
            recent: RefCell::default(),
            pending: RefCell::default(),
        })
    }

    /// The batches of another whole epoch, with the same recipe. Failures: as `new`.
    pub fn at_epoch(&self, epoch: u64) -> Result<Self, Failure> {
        Self::new(&self.recipe, epoch)
    }

    /// The recipe, which decides the batches of every epoch.
    pub fn recipe(&self) -> &Rc<BatchRecipe> {
        &self.recipe
    }

    /// The configuration without lengths. Default buckets and quantiles are replaced by the boundaries that follow from
    /// the lengths.
    pub fn config(&self) -> &BatchConfig {
        &self.rules
    }

    /// Number of the epoch.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// How many positions of the epoch are in finished windows, whose steps were all taken before this batcher began.
    pub fn consumed(&self) -> u64 {
        self.consumed
    }

    /// The samples whose lengths the last call waits for. Failures: `out-of-memory`.
    pub fn wanted(&self) -> Result<Vec<u64>, Failure> {
        self.requests.wanted()
    }

    /// Takes the lengths of the samples of [`Batcher::wanted`]. Failures: `lengths`, if there is not exactly one for
    /// each sample.
    pub fn supply(&self, lengths: Vec<u32>) -> Result<(), Failure> {
        self.requests.supply(lengths)
    }

    pub(super) fn rules(&self) -> &Rc<Rules> {
        &self.rules
    }

    pub(super) fn history(&self) -> &[Segment] {
        &self.open.history
    }

    /// The open window, if there is one and `window` is its number. Windows are counted from the state on, so the open
    /// one is always number 0.
    fn open_window(&self, window: u64) -> Option<&OpenWindow> {
        (window == 0 && !self.open.history.is_empty()).then_some(&self.open)
    }

    /// The width of a window with the options here, in positions; at most 2^53 - 1, the greatest number that a state
    /// can have.
    fn own_width(&self) -> u64 {
        self.rules.width.min(MAX_EXACT)
    }

    /// The width of a window with the options of the ranks that began it, in positions. The last window of an epoch may
    /// have fewer or more positions than its width.
    pub(super) fn width_of(&self, window: u64) -> u64 {
        self.open_window(window).map_or(self.own_width(), |open| open.width)
    }

    /// The checksum of the lengths of a window. Failures: those of planning.
    pub(super) fn checksum_of(&self, window: u64) -> Result<u64, Failure> {
        if let Some(open) = self.open_window(window) {
            return Ok(open.checksum);
        }
        self.plan_until(|known| known.checksums.len() as u64 > window)?;
        Ok(self.known.borrow().checksums.get(window as usize).copied().unwrap_or_default())
    }

    pub(super) fn order(&self) -> &Order {
        &self.order
    }

    pub(super) fn num_samples(&self) -> u64 {
        self.lengths.samples()
    }

    /// How many windows there are. All have the same width, except the first one, if steps of it were taken before, and
    /// the last one, which takes the rest of the epoch.
    pub fn num_windows(&self) -> u64 {
        if self.consumed == self.length { 0 } else { 1 + windows(self.length - self.first_end, self.rules.width) }
    }

    /// The number of windows whose number of steps is known.
    pub fn num_known_windows(&self) -> u64 {
        self.known.borrow().ends.len() as u64
    }

    /// The position at which a window begins. If `window` is the number of windows, this is the end of the epoch.
    pub(super) fn begin(&self, window: u64) -> u64 {
        match window.checked_sub(1) {
            None => self.consumed,
            Some(others) if others < windows(self.length - self.first_end, self.rules.width) => {
                self.first_end + others * self.rules.width
            }
            Some(_) => self.length,
        }
    }

    /// The number of the window in which a position is.
    pub(super) fn window_at(&self, position: u64) -> u64 {
        let others = windows(self.length - self.first_end, self.rules.width);
        let past = position.checked_sub(self.first_end).map(|past| past / self.rules.width);
        past.map_or(0, |past| 1 + past.min(others.saturating_sub(1)))
    }

    /// How many steps every rank takes. All windows are planned for this, once, unless [`Batcher::use_index`] was
    /// called. Failures: `lengths`, `max_length`, `max_tokens`, `max_cost`, `history`, `index`, `out-of-memory`.
    pub fn num_steps(&self) -> Result<u64, Failure> {
        let windows = self.num_windows();
        self.plan_until(|known| known.ends.len() as u64 == windows)?;
        Ok(self.known.borrow().steps())
    }

    /// The metrics of all batches of all ranks. All windows are planned for this, once, unless [`Batcher::use_index`]
    /// was called and no step of the epoch was taken before. Failures: those of [`Batcher::num_steps`].
    pub fn metrics(&self) -> Result<Metrics, Failure> {
        loop {
            let counted = self.known.borrow().counted;
            if counted == self.num_windows() {
                return Ok(self.known.borrow().metrics);
            }
            self.in_window(counted, |_| Ok(()))?;
        }
    }

    /// A ratio of the metrics, in parts per million: see [`Metrics::ratio`]. Failures: `ratio`, and those of
    /// [`Batcher::metrics`].
    pub fn ratio(&self, name: &str) -> Result<u64, Failure> {
        Metrics::default().ratio(&self.rules, name)?;
        self.metrics()?.ratio(&self.rules, name)
    }

    /// The batches of a rank at the steps `start` to `start + count - 1`. If the number of steps before a step is
    /// known, the step costs at most a plan of its window. Failures: `rank`, `start`, `count`, and those of
    /// [`Batcher::num_steps`].
    pub fn take(&self, rank: u32, start: u64, count: u32) -> Result<Run, Failure> {
        check_below("rank", rank.into(), self.rules.world_size.into())?;
        check_run(start, count, u64::MAX)?;
        let asked = (rank, start, count);
        let mut run = match self.pending.take() {
            Some(Pending::Take(of, run)) if of == asked => run,
            _ => Run::default(),
        };
        match self.add(&mut run, rank, start, count) {
            Ok(()) => Ok(run),
            Err(failure) => Err(self.suspended(failure, Pending::Take(asked, run))),
        }
    }

    /// Adds the missing steps to a run. The first steps may be there already, from an earlier call that had to wait for
    /// lengths.
    fn add(&self, run: &mut Run, rank: u32, start: u64, count: u32) -> Result<(), Failure> {
        let end = start + u64::from(count);
        loop {
            let at = start + run.batch_ends.len() as u64;
            let known = self.steps_up_to(end.min(at.saturating_add(1)))?;
            if at >= end || at >= known {
                return check_run(start, count, known);
            }
            let (window, before) = self.window_of(at);
            self.in_window(window, |window| {
                let steps = (at - before) as usize..window.count().min((end - before) as usize);
                steps.into_iter().try_for_each(|step| {
                    run.add(&self.rules, &window.items, &window.steps, window.first + step, rank as usize)
                })
            })?;
        }
    }

    /// The batches of the ranks `first` to `first + count - 1` at a step. Costs as much as one step of
    /// [`Batcher::take`]. Failures: `step`, `first`, `count`, and those of [`Batcher::num_steps`].
    pub fn step(&self, step: u64, first: u32, count: u32) -> Result<Run, Failure> {
        check_below("step", step, self.steps_up_to(step.saturating_add(1))?)?;
        check_ranks(first, count, self.rules.world_size, 1)?;
        let (window, before) = self.window_of(step);
        self.in_window(window, |window| {
            let (mut run, step) = (Run::default(), window.first + (step - before) as usize);
            (first..first + count)
                .try_for_each(|rank| run.add(&self.rules, &window.items, &window.steps, step, rank as usize))?;
            Ok(run)
        })
    }

    /// SHA-256 over all batches, in hexadecimal. Its input is, for every step and every rank, the number of rows of the
    /// batch; for each row, the number of its items; for each item, its sample, start and length. Every number is 8
    /// bytes, little-endian. Failures: those of [`Batcher::num_steps`].
    pub fn fingerprint(&self) -> Result<String, Failure> {
        let (from, hash) = match self.pending.take() {
            Some(Pending::Fingerprint(window, hash)) => (window, hash),
            _ => (0, Fingerprint::new()),
        };
        let add = |window: &Window, hash: &mut Fingerprint| {
            for (step, rank) in window.batches() {
                let rows = window.steps.batch(step, rank).0;
                hash.update(&[rows.len() as u64]);
                for row in rows {
                    hash.update(&[window.steps.items(row).len() as u64]);
                    for &item in window.steps.items(row) {
                        let (sample, start) = window.items.part(item);
                        hash.update(&[sample, start.into(), window.items.length(item).into()]);
                    }
                }
            }
            Ok(())
        };
        let hash = self.through(from..self.num_windows(), hash, add, Pending::Fingerprint)?;
        Ok(hash.finish())
    }

    /// The shapes of all batches, sorted by rows and then by padded length. With `filled`, rows of padding are added up
    /// to the rows of a full batch. Failures: those of [`Batcher::num_steps`].
    pub fn shapes(&self, filled: bool) -> Result<Vec<BatchShape>, Failure> {
        let (from, shapes) = match self.pending.take() {
            Some(Pending::Shapes(of, window, shapes)) if of == filled => (window, shapes),
            _ => (0, Vec::new()),
        };
        let add = |window: &Window, shapes: &mut Vec<BatchShape>| {
            for (step, rank) in window.batches() {
                let rows = window.steps.batch(step, rank).0;
                let width = weigh(&self.rules, &window.items, &window.steps, rows.clone()).width;
                let own = rows.len() as u32;
                let rows = if filled { own.max(self.rules.full_rows(width)) } else { own };
                match shapes.binary_search_by_key(&(rows, width), |own| (own.rows, own.padded_length)) {
                    Ok(place) => shapes[place].batches += 1,
                    Err(place) => {
                        grow("filled", 1, shapes)?;
                        shapes.insert(place, BatchShape { rows, padded_length: width, batches: 1 });
                    }
                }
            }
            Ok(())
        };
        let keep = |window, shapes| Pending::Shapes(filled, window, shapes);
        self.through(from..self.num_windows(), shapes, add, keep)
    }

    /// The index of the windows `first` to `first + count - 1` of a whole epoch: see [`Index`]. Failures: `first`,
    /// `count`, `consumed` (steps were taken before), and those of [`Batcher::num_steps`].
    pub fn index(&self, first: u64, count: u64) -> Result<String, Failure> {
        if self.consumed > 0 || !self.open.history.is_empty() {
            return Err(Failure::contradiction("consumed", self.consumed, "0, and nothing taken of the epoch"));
        }
        let windows = self.num_windows();
        if first > windows {
            return Err(Failure::out_of_range("first", first, at_most(windows)));
        }
        if count > windows - first {
            return Err(Failure::out_of_range("count", count, at_most(windows - first)));
        }
        let index = match self.pending.take() {
            Some(Pending::Index(of, index)) if of == (first, count) => index,
            _ => Index::new(self.recipe.fingerprint(), self.epoch, windows, first),
        };
        let add = |window: &Window, index: &mut Index| {
            grow("count", 1, &mut index.steps)?;
            index.steps.push(window.count() as u64);
            grow("count", 1, &mut index.checksums)?;
            index.checksums.push(window.checksum);
            window.add_to(&mut index.metrics, &self.rules);
            Ok(())
        };
        let from = first + index.steps.len() as u64;
        let index = self.through(from..first + count, index, add, |_, index| Pending::Index((first, count), index))?;
        index.text()
    }

    /// Takes the number of steps of each window from an index, so that no window has to be planned to count its steps.
    /// The index must have all windows of this epoch. If steps of the epoch were taken before, they must have been
    /// taken by as many ranks, and with the same options, as here. Failures: `index` (no index, or not of all windows),
    /// `recipe_fingerprint`, `epoch`, `windows`, `consumed`, `history`, `out-of-memory`.
    pub fn use_index(&self, text: &str) -> Result<(), Failure> {
        let index = Index::read(text)?;
        index.check(&self.recipe.fingerprint(), self.epoch)?;
        index.check_whole(windows(self.length, self.rules.width))?;
        let ours = |past: &Segment| past.world_size == self.rules.world_size && past.own_options.is_none();
        let is_cut_here = self.width_of(0) == self.own_width();
        let begins = self.consumed.is_multiple_of(self.rules.width)
            && self.consumed / self.rules.width < windows(self.length, self.rules.width);
        let is_aligned = self.consumed == self.length || begins;
        if !is_aligned || !is_cut_here || self.open.history.len() > 1 || !self.open.history.iter().all(ours) {
            return Err(Failure::contradiction("consumed", self.consumed, "what the ranks of the index have taken"));
        }
        let taken = self.open.history.first().map_or(0, |past| past.steps);
        let gone = index.steps.len() - self.num_windows() as usize;
        if self.consumed == 0 && taken == 0 {
            *self.known.borrow_mut() =
                KnownWindows { metrics: index.metrics, counted: self.num_windows(), ..KnownWindows::default() };
        }
        let mut ends = collect("index", index.steps.len(), [])?;
        let mut end = 0_u64;
        for (place, steps) in index.steps[gone..].iter().enumerate() {
            let before = if place == 0 { taken } else { 0 };
            let Some(left) = steps.checked_sub(before) else {
                return Err(Failure::out_of_range("history", format!("{taken} steps"), at_most(*steps)));
            };
            end += left;
            ends.push(end);
        }
        let checksums = collect("index", ends.len(), index.checksums[gone..].iter().copied())?;
        let known = &mut *self.known.borrow_mut();
        (known.ends, known.checksums) = (ends, checksums);
        Ok(())
    }

    /// How many steps there are before a window. Failures: those of planning.
    pub(super) fn steps_before(&self, window: u64) -> Result<u64, Failure> {
        self.plan_until(|known| known.ends.len() as u64 >= window)?;
        Ok(self.known.borrow().before(window as usize))
    }

    /// Plans windows until `end` steps or all windows are known. Returns how many steps are known. Failures: those of
    /// planning.
    pub(super) fn steps_up_to(&self, end: u64) -> Result<u64, Failure> {
        self.plan_until(|known| end <= known.steps())?;
        Ok(self.known.borrow().steps())
    }

    /// Plans windows until `enough` returns true, or all windows are known.
    fn plan_until(&self, enough: impl Fn(&KnownWindows) -> bool) -> Result<(), Failure> {
        loop {
            let next = self.num_known_windows();
            if next == self.num_windows() || enough(&self.known.borrow()) {
                return Ok(());
            }
            self.in_window(next, |_| Ok(()))?;
        }
    }

    /// The number of the window that has a step, and the number of the first step of this window. `step` must be below
    /// the number of known steps.
    pub(super) fn window_of(&self, step: u64) -> (u64, u64) {
        let known = self.known.borrow();
        let window = known.ends.partition_point(|&end| end <= step);
        (window as u64, known.before(window))
    }

    /// The first window with at least `steps` steps up to its end: its number, the number of steps before it, and the
    /// number of steps up to its end. `steps` steps must be known. None if no window is known.
    pub(super) fn window_up_to(&self, steps: u64) -> Option<(u64, u64, u64)> {
        let known = self.known.borrow();
        let window = known.ends.partition_point(|&end| end < steps);
        Some((window as u64, known.before(window), *known.ends.get(window)?))
    }

    /// Calls `add` for each window in turn. If a window waits for lengths, the result so far is stored, and the same
    /// call continues from it.
    fn through<S>(
        &self,
        windows: Range<u64>,
        mut so_far: S,
        add: impl Fn(&Window, &mut S) -> Result<(), Failure>,
        keep: impl FnOnce(u64, S) -> Pending,
    ) -> Result<S, Failure> {
        for window in windows {
            if let Err(failure) = self.in_window(window, |window| add(window, &mut so_far)) {
                return Err(self.suspended(failure, keep(window, so_far)));
            }
        }
        Ok(so_far)
    }

    /// Stores the partial result of a call that waits for lengths. After any other failure, the partial result is
    /// dropped, because it may have a part of a window.
    fn suspended(&self, failure: Failure, so_far: Pending) -> Failure {
        if failure.kind == Kind::Wanted {
            *self.pending.borrow_mut() = Some(so_far);
        }
        failure
    }

    /// Calls `ask` with a window. The window is planned first, unless it was the last one to be planned and is still in
    /// memory. Failures: those of planning, and of `ask`.
    pub(super) fn in_window<R>(
        &self,
        number: u64,
        ask: impl FnOnce(&Window) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let mut recent = self.recent.borrow_mut();
        if recent.as_ref().is_none_or(|&(known, _)| known != number) {
            // The window in memory is dropped before planning, so that there are never two windows in memory.
            *recent = None;
            let window = self.planned(number)?;
            self.store_facts(number, &window)?;
            *recent = Some((number, window));
        }
        match &*recent {
            Some((_, window)) => ask(window),
            None => Err(Failure::out_of_memory("batch_window", number, "a smaller window")),
        }
    }

    /// Stores the facts about a window after its plan. Facts that are known already must be the same. Failures:
    /// `lengths`, `index`, `out-of-memory`.
    fn store_facts(&self, number: u64, window: &Window) -> Result<(), Failure> {
        let known = &mut *self.known.borrow_mut();
        if known.ends.len() as u64 == number {
            grow("batch_window", 1, &mut known.ends)?;
            grow("batch_window", 1, &mut known.checksums)?;
            known.ends.push(known.steps() + window.count() as u64);
            known.checksums.push(window.checksum);
        } else if let (Some(&end), Some(&checksum)) =
            (known.ends.get(number as usize), known.checksums.get(number as usize))
        {
            // The host may give other lengths than before, or the index may have been made with other lengths. The
            // fingerprint of the recipe does not show this, because it depends only on a sample of the lengths.
            if checksum != window.checksum {
                let why = format_args!("that of the lengths with which window {number} was planned before");
                return Err(other_lengths(window.checksum, checksum, why));
            }
            let steps = end - known.before(number as usize);
            if steps != window.count() as u64 {
                let value = format!("{steps} steps in window {number}");
                return Err(Failure::contradiction("index", value, only(window.count()).and(", with these lengths")));
            }
        }
        if known.counted == number {
            window.add_to(&mut known.metrics, &self.rules);
            known.counted += 1;
        }
        Ok(())
    }

    fn planned(&self, number: u64) -> Result<Window, Failure> {
        let (begin, end) = (self.begin(number), self.begin(number + 1));
        let (samples, lengths) = self.requests.take(&self.lengths, &self.order, (begin, end - begin))?;
        let checksum = checksum(&lengths);
        let mut items = Items::new(samples, lengths);
        let mut tally = Tally::default();
        let open = self.open_window(number);
        let history = open.map_or(&[][..], |open| &open.history);
        if let Some(open) = open.filter(|open| checksum != open.checksum) {
            let why = format_args!("that of the lengths with which the state was taken");
            return Err(other_lengths(checksum, open.checksum, why));
        }
        for (place, past) in history.iter().enumerate() {
            let rules = past.own_options.as_ref().map_or(&self.rules, |(_, rules)| rules);
            let config = rules.for_world_size(past.world_size);
            items = items.treated(&config, &mut tally)?;
            let Planned { steps, dropped, packs_bound: _ } = plan_window(&config, self.epoch, &items, begin)?;
            if past.steps > steps.count() as u64 {
                let allowed = at_most(steps.count() as u64)
                    .and(format_args!(" steps of this window with the world size {}", past.world_size));
                return Err(Failure::out_of_range("history", format!("{} steps", past.steps), allowed));
            }
            let first = past.steps as usize;
            if place + 1 == history.len() && past.world_size == self.rules.world_size && past.own_options.is_none() {
                return Ok(Window { items, steps, first, checksum, dropped, packs_bound: 0, tally });
            }
            items = untaken(&items, &steps, first)?;
        }
        items = items.treated(&self.rules, &mut tally)?;
        let Planned { steps, dropped, packs_bound } = plan_window(&self.rules, self.epoch, &items, begin)?;
        let packs_bound = if history.is_empty() { packs_bound } else { 0 };
        Ok(Window { items, steps, first: 0, checksum, dropped, packs_bound, tally })
    }
}

impl Window {
    /// How many steps of this window are left.
    pub(super) fn count(&self) -> usize {
        self.steps.count() - self.first
    }

    /// The batches of this window that are left: pairs of a step and a rank.
    pub(super) fn batches(&self) -> impl Iterator<Item = (usize, usize)> {
        let ranks = self.steps.world_size();
        (self.first..self.steps.count()).flat_map(move |step| (0..ranks).map(move |rank| (step, rank)))
    }

    fn add_to(&self, metrics: &mut Metrics, rules: &Rules) {
        metrics.add(rules, &self.items, &self.steps, self.first);
        metrics.dropped += self.dropped;
        metrics.packs_bound += self.packs_bound;
        metrics.add_tally(&self.tally);
    }
}

/// The failure of lengths whose checksum is not the one that is known.
#[cold]
#[inline(never)]
fn other_lengths(found: u64, known: u64, why: fmt::Arguments) -> Failure {
    let allowed = format!("{}, {why}", digits(known));
    Failure::contradiction("lengths", format!("the checksum {}", digits(found)), allowed)
}

/// The checksum of the lengths of a window, by which changed lengths are found.
fn checksum(lengths: &[u32]) -> u64 {
    lengths
        .iter()
        .fold(0, |sum: u64, &length| sum.wrapping_add(u64::from(length) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// How many windows a number of positions makes. The last window has half a width or more, unless it is the only one.
fn windows(positions: u64, width: u64) -> u64 {
    let more = positions % width;
    match positions / width {
        whole if more >= width.div_ceil(2) || whole == 0 => whole + u64::from(more > 0),
        whole => whole,
    }
}

/// The items that are in none of the first `first` steps. Items that the plan left out count as items that are left,
/// unless all steps were taken: then no item is left. Failures: `out-of-memory`.
fn untaken(items: &Items, steps: &Steps, first: usize) -> Result<Items, Failure> {
    if first == steps.count() {
        return Ok(Items::default());
    }
    let all = items.count() as usize;
    let mut taken = collect("batch_window", all, core::iter::repeat_n(false, all))?;
    let mut left = all;
    for step in 0..first {
        for rank in 0..steps.world_size() {
            for &item in steps.held(steps.batch(step, rank).0) {
                left -= usize::from(!taken[item as usize]);
                taken[item as usize] = true;
            }
        }
    }
    items.kept(left, |item| !taken[item])
}
