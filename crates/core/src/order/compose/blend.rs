//! `blend` and `blend-exact`: several orders in proportion to weights. Each source makes whole passes over its own
//! order.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::iter;

use samedeal_bulk::{Divisor, Item, item, unpacked};

use super::chairman::Chairman;
use super::items::Items;
use super::lane_cache::{Lanes, Passes, Place};
use super::names::{EXHAUSTIONS, Exhaustion, INDEX_SPACES, IndexSpace};
use super::pattern::Pattern;
use crate::base::memory::collect;
use crate::base::names::name_of;
use crate::base::{Failure, MAX_EXACT};
use crate::document::{numbers, quoted};
use crate::order::{Composed, Drawn, Epoch, Order, OrderPart, Sources, Stored};

pub(super) struct Blend {
    pub(super) exhaustion: Exhaustion,
    /// The most passes over a source in an epoch; without effect with `repeat`.
    pub(super) max_passes: u64,
    pub(super) space: IndexSpace,
    pub(super) sources: Vec<Source>,
    /// The run length: how many neighbouring positions a source gets at a time. Stages and epochs consist of whole
    /// runs.
    pub(super) run: Divisor,
    /// With `by_lane`, the lanes: each of them walks the pattern on its own.
    pub(super) by_lane: Option<Lanes>,
    pub(super) stages: Vec<Stage>,
    /// The number of stages from the recipe, the first one included; `renormalize` adds more.
    pub(super) given: usize,
    /// The number of positions of an epoch.
    pub(super) length: u64,
}

pub(super) struct Source {
    pub(super) name: String,
    pub(super) part: Rc<OrderPart>,
    /// The sample index, in the blend, of the source's sample 0.
    pub(super) offset: u64,
    /// The number of lanes of all sources before this one.
    pub(super) lanes: u32,
}

pub(super) struct Stage {
    pub(super) from: u64,
    pub(super) weights: Vec<u64>,
    /// For each source, the number of its draws before this stage.
    before: Vec<u64>,
    /// The source of each run of the stage.
    pub(super) pattern: Pattern,
    /// The sum of the weights, divided by their greatest common divisor: the pattern repeats after so many elements.
    pub(super) period: u64,
    pub(super) run: Divisor,
}

impl Stage {
    /// The stage that begins at `from`, after the stage `before`. Failures: `out-of-memory`.
    pub(super) fn new(
        before: Option<&Self>,
        from: u64,
        weights: Vec<u64>,
        is_exact: bool,
        run: Divisor,
    ) -> Result<Self, Failure> {
        let draws = (0..).zip(&weights).map(|(source, _)| before.map_or(0, |stage| stage.count(source, from)));
        let before = collect("stages", weights.len(), draws)?;
        let pattern = Pattern::new(&weights, is_exact)?;
        let period = Chairman::period(&weights);
        Ok(Self { from, weights, before, pattern, period, run })
    }

    /// The number of draws of a source before position `n`, which is in this stage or at its end.
    fn count(&self, source: u32, n: u64) -> u64 {
        self.before[source as usize] + self.runs(source, 0, n - self.from)
    }

    /// The number of draws of a source in the pattern before run `phase`, plus its draws at the first `n` positions
    /// from this run on. With a large `phase` the sum may wrap at 2^64: then only the difference of two such sums is used.
    pub(super) fn runs(&self, source: u32, phase: u64, n: u64) -> u64 {
        let (runs, within) = self.run.divide(n);
        let whole = self.pattern.count(source, phase + runs).wrapping_mul(self.run.value());
        let is_own = within > 0 && self.pattern.at(phase + runs).0 == source;
        whole.wrapping_add(if is_own { within } else { 0 })
    }

    /// The position of a draw of a source, as if this stage had no end; `None` above 2^53 - 1, or before this stage.
    pub(super) fn nth(&self, source: u32, draw: u64) -> Option<u64> {
        let (run, within) = self.run.divide(draw.checked_sub(self.before[source as usize])?);
        let first = self.pattern.nth(source, run)?.checked_mul(self.run.value())?;
        first.checked_add(self.from + within).filter(|&n| n <= MAX_EXACT)
    }
}

impl Blend {
    /// Whether an epoch continues the passes of the epoch before: only with `repeat`.
    fn goes_on(&self) -> bool {
        self.exhaustion == Exhaustion::Repeat
    }

    /// The beginning of an epoch in the positions of the stages. With `repeat`, these positions continue over all
    /// epochs; else every epoch begins at 0.
    fn start(&self, epoch: u64) -> u64 {
        if self.goes_on() { epoch * self.length } else { 0 }
    }

    /// The number of draws of a source that earlier epochs reserve, if the stages begin anew in every epoch; else 0.
    /// Each epoch reserves all passes over the source, even if it ends earlier.
    fn base(&self, source: u32, epoch: u64) -> u64 {
        // A source without a weight has no draws.
        if self.goes_on() || self.stages.first().is_none_or(|stage| stage.weights[source as usize] == 0) {
            return 0;
        }
        epoch * self.max_passes * self.sources[source as usize].part.steady().unwrap_or_default()
    }

    /// The stage of a position, and the beginning of the next stage.
    fn stage(&self, n: u64) -> (&Stage, u64) {
        let next = self.stages.partition_point(|stage| stage.from <= n);
        (&self.stages[next - 1], self.stages.get(next).map_or(u64::MAX, |stage| stage.from))
    }

    /// The source of position `n` of the stages, and the number of its draw at this position.
    #[inline]
    fn draw(&self, n: u64) -> (u32, u64) {
        let (stage, _) = self.stage(n);
        let (run, within) = self.run.divide(n - stage.from);
        let (source, number) = stage.pattern.at(run);
        (source, stage.before[source as usize] + number * self.run.value() + within)
    }

    /// The number of draws of a source before position `n` of the stages.
    fn count(&self, source: u32, n: u64) -> u64 {
        self.stage(n).0.count(source, n)
    }

    /// The position of a draw of a source; `None` if it is above 2^53 - 1, or if the source has no such draw.
    fn nth(&self, source: u32, draw: u64) -> Option<u64> {
        // The last stage that begins at or before the draw has the draw, unless the weight of the source is 0 from
        // there on.
        let place = self.stages.partition_point(|stage| stage.before[source as usize] <= draw) - 1;
        self.stages[place].nth(source, draw)
    }

    /// The number of draws of a source before a position of an epoch, including all draws that earlier epochs reserve.
    /// Failures: `out-of-memory`.
    fn drawn(&self, source: u32, epoch: u64, position: u64) -> Result<u64, Failure> {
        let n = self.start(epoch) + position;
        match &self.by_lane {
            Some(lanes) => self.count_by_lane(lanes, source, n),
            None => Ok(self.base(source, epoch) + self.count(source, n)),
        }
    }

    /// The pass of the next draw of a source at a position of an epoch, and the position of the draw in the pass. With
    /// `by_lane`, the next draw in the lane of this position. Failures: `out-of-memory`.
    fn next_draw(&self, source: u32, epoch: u64, position: u64) -> Result<(u64, u64), Failure> {
        match &self.by_lane {
            Some(lanes) => self.next_by_lane(lanes, source, self.start(epoch) + position),
            None => self.sources[source as usize].part.find(self.drawn(source, epoch, position)?),
        }
    }

    /// The sources that have a sample, each with the index of the sample in the source. An order in lanes is not asked
    /// for a sample that it leaves out: [`Blend::seen_by_lane`] counts complete passes, each with every sample.
    fn holders(&self, sample: u64) -> impl Iterator<Item = (u32, &OrderPart, u64)> {
        let own = self.source_of(sample);
        let holders = (0..).zip(&self.sources).filter_map(move |(number, Source { part, .. })| match own {
            Some((source, index)) => (source == number).then_some((number, &**part, index)),
            None => (sample < part.samples).then_some((number, &**part, sample)),
        });
        holders.filter(|&(_, part, index)| part.in_lanes().is_none_or(|lanes| lanes.has(index)))
    }
}

impl Sources for Blend {
    fn is_shared(&self) -> bool {
        self.space == IndexSpace::Shared
    }

    fn report(&self, epoch: u64, from: u64, to: u64) -> Result<Vec<Drawn>, Failure> {
        let mut report = collect("sources", self.sources.len(), [])?;
        for source in 0..self.sources.len() as u32 {
            let (first, end) = (self.drawn(source, epoch, from)?, self.drawn(source, epoch, to)?);
            let (from, to) = (self.next_draw(source, epoch, from)?, self.next_draw(source, epoch, to)?);
            report.push(Drawn { first, count: end - first, from, to });
        }
        Ok(report)
    }

    fn names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.sources.iter().map(|source| &*source.name))
    }

    fn bound(&self, source: u32) -> u64 {
        // A lane begins in the middle of the pattern. Its count is then the difference of two counts from the
        // beginning, and can deviate twice as far.
        let times = if self.by_lane.is_some() { 2 } else { 1 };
        self.stages.iter().map(|stage| stage.pattern.bound(source)).sum::<u64>() * self.run.value() * times
    }

    fn source_of(&self, sample: u64) -> Option<(u32, u64)> {
        if self.is_shared() {
            return None;
        }
        // The last source that begins at or before the sample: empty sources before it begin at the same index.
        let source = self.sources.partition_point(|source| source.offset <= sample).checked_sub(1)?;
        Some((source as u32, sample - self.sources[source].offset))
    }
}

impl Composed for Blend {
    fn has_objects(&self) -> bool {
        true
    }

    fn length(&self, _: u64) -> Result<u64, Failure> {
        Ok(self.length)
    }

    fn begin(&self, epoch: u64) -> Result<Option<u64>, Failure> {
        let mut draws = self.length;
        if !self.goes_on() {
            // Each epoch reserves the draws of all passes of every source, even if it ends earlier. The draws of all
            // passes have to be below 2^53 too.
            let most = self.sources.iter().filter_map(|source| source.part.steady()).max().unwrap_or(0);
            draws = draws.max(most.saturating_mul(self.max_passes));
        }
        let is_there = epoch.checked_mul(draws).is_some_and(|draws| draws <= MAX_EXACT);
        Ok(is_there.then(|| epoch * self.length))
    }

    fn steady(&self) -> Option<u64> {
        Some(self.length)
    }

    fn is_single(&self) -> bool {
        false
    }

    fn lanes_apart(&self) -> Option<u32> {
        self.by_lane.as_ref().map(|lanes| lanes.count.value() as u32)
    }

    fn is_by_lane(&self) -> bool {
        self.by_lane.is_some()
    }

    fn no_source(&self) -> Option<&'static str> {
        if self.by_lane.is_some() {
            return Some("a blend without by_lane: give its sources to the blend around it");
        }
        if self.space == IndexSpace::Shared {
            return Some(
                "a blend whose index_space is joined: give the sources of a shared one to the blend around it",
            );
        }
        let whole = matches!(self.exhaustion, Exhaustion::Repeat | Exhaustion::Renormalize);
        (!whole).then_some(
            "a blend that repeats or renormalizes: with stop and fail, draws are left out at the end of each epoch",
        )
    }

    fn at(self: Rc<Self>, epoch: u64) -> Result<Box<dyn Epoch>, Failure> {
        let recent = (0..self.sources.len()).map(|_| Recent { pass: 0, begin: 0, end: 0, order: None });
        let recent = RefCell::new(collect("sources", self.sources.len(), recent)?);
        let passes = (0..self.sources.len()).map(|_| Passes::default());
        let passes = RefCell::new(collect("sources", self.sources.len(), passes)?);
        let (start, scratch) = (self.start(epoch), RefCell::default());
        Ok(Box::new(BlendEpoch { start, blend: self, epoch, recent, passes, scratch }))
    }

    fn seen(&self, sample: u64, epoch: u64, position: u64) -> Result<u64, Failure> {
        let mut seen = 0;
        for (source, part, index) in self.holders(sample) {
            if let Some(lanes) = &self.by_lane {
                seen += self.seen_by_lane(lanes, (source, index), self.start(epoch) + position)?;
                continue;
            }
            let (pass, place) = part.find(self.drawn(source, epoch, position)?)?;
            seen += part.seen(index, pass, place)?;
        }
        Ok(seen)
    }

    fn occurrence(&self, sample: u64, number: u64) -> Result<Option<(u64, u64)>, Failure> {
        if self.length == 0 {
            return Ok(None);
        }
        // At most one source has the sample: `occurrence` is not called for blends with the index space `shared`.
        let Some((source, part, index)) = self.holders(sample).next() else { return Ok(None) };
        if let Some(lanes) = &self.by_lane {
            let found = self.occurrence_by_lane(lanes, (source, index), number)?;
            return Ok(found.map(|n| (n / self.length, n % self.length)));
        }
        let Some((pass, place)) = part.occurrence(index, number)? else { return Ok(None) };
        let Some(draw) = part.begin(pass)?.map(|begin| begin + place) else { return Ok(None) };
        if self.goes_on() {
            return Ok(self.nth(source, draw).map(|n| (n / self.length, n % self.length)));
        }
        let of_epoch = self.max_passes * part.steady().unwrap_or_default();
        let epoch = draw / of_epoch;
        Ok(self.nth(source, draw % of_epoch).map(|n| (epoch, n)))
    }

    fn members(&self, seed: &str) -> String {
        let exhaustion = name_of(&self.exhaustion, &EXHAUSTIONS);
        let space = name_of(&self.space, &INDEX_SPACES);
        let mut text = format!(",\"samples\":{}{seed},\"exhaustion\":\"{exhaustion}\"", self.length);
        if !self.goes_on() {
            text += &format!(",\"max_passes\":{}", self.max_passes);
        }
        if self.run.value() > 1 {
            text += &format!(",\"run_length\":{}", self.run.value());
        }
        if self.by_lane.is_some() {
            text += ",\"by_lane\":true";
        }
        let first = self.stages.first().map_or(&[][..], |stage| &stage.weights);
        let sources = self.sources.iter().zip(first).map(|(Source { name, part, .. }, weight)| {
            format!("{{\"name\":{},\"weight\":{weight},\"order\":{}}}", quoted(name), part.text())
        });
        // Written in full, never as a hash: weights are compared one by one with those of a state.
        let stages = self.stages[..self.given].iter().skip(1).map(|Stage { from, weights, .. }| {
            format!("{{\"from\":{from},\"weights\":{}}}", numbers::list(weights.iter()))
        });
        let (sources, stages) = (numbers::list(sources), numbers::list(stages));
        text + &format!(",\"index_space\":\"{space}\",\"sources\":{sources},\"stages\":{stages}")
    }

    fn as_blend(&self) -> Option<&dyn Sources> {
        Some(self)
    }

    fn inner(&self, place: usize, epoch: u64, position: u64) -> Result<(u64, u64), Failure> {
        self.next_draw(place as u32, epoch, position)
    }

    fn part(&self, place: usize) -> Option<&OrderPart> {
        self.sources.get(place).map(|source| &*source.part)
    }
}

/// Positions that are sorted together are at a distance below this, so that 32 bits are enough for each.
const MAX_SPREAD: u64 = 1 << 32;

struct BlendEpoch {
    blend: Rc<Blend>,
    epoch: u64,
    start: u64,
    /// For each source, the pass that was read last.
    recent: RefCell<Vec<Recent>>,
    /// With `by_lane`, for each source, the passes that were read last.
    passes: RefCell<Vec<Passes>>,
    scratch: RefCell<Scratch>,
}

/// A pass over a source: its number, its draws, and its order.
struct Recent {
    pass: u64,
    begin: u64,
    end: u64,
    order: Option<Order>,
}

impl Recent {
    /// Loads the pass that has a draw, if it is not loaded. Failures: `out-of-memory`; `epoch`, if the pass cannot be
    /// used.
    #[inline(always)]
    fn hold(&mut self, part: &OrderPart, draw: u64) -> Result<(), Failure> {
        if draw < self.begin || draw >= self.end { self.load(part, draw) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn load(&mut self, part: &OrderPart, draw: u64) -> Result<(), Failure> {
        let last = self.order.is_some().then_some((self.pass, self.end));
        let (pass, draws) = part.epoch_of(draw, last)?;
        *self = Self { pass, begin: draws.start, end: draws.end, order: Some(part.order(pass)?) };
        Ok(())
    }

    /// Replaces draws of the source by samples of the blend. Failures: as `hold`.
    fn map(&mut self, source: &Source, draws: &mut [u64]) -> Result<(), Failure> {
        let mut left = draws;
        while let &mut [draw, ..] = left {
            self.hold(&source.part, draw)?;
            let mut count = 0;
            for draw in left.iter_mut().take_while(|draw| (self.begin..self.end).contains(draw)) {
                *draw -= self.begin;
                count += 1;
            }
            let Some(run) = left.split_off_mut(..count.max(1)) else { break };
            if let Some(order) = &self.order {
                order.map(run)?;
            }
            if source.offset > 0 {
                run.iter_mut().for_each(|sample| *sample += source.offset);
            }
        }
        Ok(())
    }
}

/// Buffers to sort a block of positions: the positions, as much spare room, and the draws of one source.
#[derive(Default)]
struct Scratch {
    items: Vec<Item>,
    spare: Vec<Item>,
    draws: Vec<u64>,
}

impl Scratch {
    /// Makes room for `count` positions. Failures: `out-of-memory`.
    fn grow(&mut self, count: usize) -> Result<(), Failure> {
        if self.items.len() < count {
            let numbers = || collect("count", count, iter::repeat_n(0, count));
            (self.items, self.spare, self.draws) = (numbers()?, numbers()?, numbers()?);
        }
        Ok(())
    }
}

impl Source {
    /// Converts a storage place in the source to the storage place in the blend.
    fn stored(&self, Stored { sample, lane, pass, element }: Stored) -> Stored {
        Stored { sample: self.offset + sample, lane: self.lanes + lane, pass, element }
    }
}

impl BlendEpoch {
    /// The sample of the blend at a position of a pass over a source. Failures: `out-of-memory`; `epoch`, if the pass
    /// cannot be used.
    fn sample_of_pass(&self, source: u32, (pass, place): Place) -> Result<u64, Failure> {
        let Source { part, offset, .. } = &self.blend.sources[source as usize];
        Ok(offset + self.passes.borrow_mut()[source as usize].order(part, pass)?.sample(place)?)
    }

    /// With `by_lane`, the source of a position, and the pass over this source and the position in the pass; else
    /// `None`. Failures: `out-of-memory`.
    fn place_by_lane(&self, position: u64) -> Result<Option<(u32, Place)>, Failure> {
        let Some(lanes) = &self.blend.by_lane else { return Ok(None) };
        self.blend.draw_by_lane(lanes, self.start + position).map(Some)
    }

    /// The run of a position of a stage, and the place of the position in the run. Most blends have runs of one
    /// position, which need no division.
    #[inline(always)]
    fn run(&self, n: u64) -> (u64, u64) {
        if self.blend.run.value() == 1 { (n, 0) } else { self.blend.run.divide(n) }
    }
}

impl Epoch for BlendEpoch {
    fn sample(&self, position: u64) -> Result<u64, Failure> {
        if let Some((source, place)) = self.place_by_lane(position)? {
            return self.sample_of_pass(source, place);
        }
        let (source, number) = self.blend.draw(self.start + position);
        let mut draw = [self.blend.base(source, self.epoch) + number];
        let mut recent = self.recent.borrow_mut();
        recent[source as usize].map(&self.blend.sources[source as usize], &mut draw)?;
        Ok(draw[0])
    }

    /// Sorts the positions by their sources first, since an order is faster with many positions at once.
    fn map(&self, places: &mut [u64]) -> Result<(), Failure> {
        if self.blend.by_lane.is_some() {
            return places.iter_mut().try_for_each(|place| self.sample(*place).map(|sample| *place = sample));
        }
        let (blend, mut recent, mut scratch) = (&*self.blend, self.recent.borrow_mut(), self.scratch.borrow_mut());
        scratch.grow(places.len())?;
        let Scratch { items, spare, draws } = &mut *scratch;
        // Slots below `done` have their samples.
        let mut done = 0;
        while let Some(&place) = places.get(done) {
            let first = self.start + place;
            let (stage, end) = blend.stage(first);
            let end = end.min(first.saturating_add(MAX_SPREAD));
            let (first_run, _) = self.run(first - stage.from);
            let (mut count, mut most) = (0, 0);
            for (slot, place) in (done as u32..).zip(&places[done..]) {
                let n = self.start + place;
                if n < first || n >= end {
                    break;
                }
                let number = self.run(n - stage.from).0 - first_run;
                items[count] = item(number, slot);
                (count, most) = (count + 1, most.max(number));
            }
            done += count;
            let run = Items { first: first_run, most, items: &mut items[..count] };
            stage.pattern.sort(run, spare, &mut |source, first, own| {
                let before = blend.base(source, self.epoch) + stage.before[source as usize];
                let draws = &mut draws[..own.len()];
                for (draw, &own) in draws.iter_mut().zip(own) {
                    let (number, slot) = unpacked(own);
                    let (_, within) = self.run(self.start + places[slot as usize] - stage.from);
                    *draw = before + (first + number) * blend.run.value() + within;
                }
                recent[source as usize].map(&blend.sources[source as usize], draws)?;
                for (sample, &own) in draws.iter().zip(own) {
                    places[unpacked(own).1 as usize] = *sample;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    fn stored(&self, position: u64) -> Result<Stored, Failure> {
        if let Some((number, (pass, place))) = self.place_by_lane(position)? {
            let source = &self.blend.sources[number as usize];
            let stored = self.passes.borrow_mut()[number as usize].order(&source.part, pass)?.stored(place)?;
            return Ok(source.stored(stored));
        }
        let (number, draw) = self.blend.draw(self.start + position);
        let draw = self.blend.base(number, self.epoch) + draw;
        let source = &self.blend.sources[number as usize];
        let recent = &mut self.recent.borrow_mut()[number as usize];
        recent.hold(&source.part, draw)?;
        let stored = recent.order.as_ref().map(|order| order.stored(draw - recent.begin)).transpose()?;
        Ok(source.stored(stored.unwrap_or_default()))
    }

    fn next(&self, sample: u64, from: u64) -> Result<Option<u64>, Failure> {
        let Self { blend, epoch, start, .. } = self;
        let mut found = None;
        for (source, part, index) in blend.holders(sample) {
            if let Some(lanes) = &blend.by_lane {
                let passes = &mut self.passes.borrow_mut()[source as usize];
                let position =
                    blend.next_by_lane_of(lanes, (source, index), (start + from, start + blend.length), passes)?;
                let position = position.map(|n| n - start);
                found = found.into_iter().chain(position).min();
                continue;
            }
            let base = blend.base(source, *epoch);
            let (pass, place) = part.find(blend.drawn(source, *epoch, from)?)?;
            let number = part.seen(index, pass, place)?;
            let Some((pass, place)) = part.occurrence(index, number)? else { continue };
            let Some(draw) = part.begin(pass)?.map(|begin| begin + place) else { continue };
            let position = blend.nth(source, draw - base).map(|n| n - start).filter(|&p| p < blend.length);
            found = found.into_iter().chain(position).min();
        }
        Ok(found)
    }
}
