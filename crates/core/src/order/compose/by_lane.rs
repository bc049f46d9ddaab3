//! A blend whose lanes walk the pattern on their own. All sources are in lanes (`sharded`, or `exclude` or `subset` of
//! it), with the same number of lanes. Lane l of the blend takes its samples from lane l of each source, so a reader that
//! has some of the lanes needs no others. Lanes begin the pattern at phases that are spread evenly over its period, so
//! that the blend is near the weights in each lane and in all lanes together.

use super::blend::{Blend, Stage};
use super::lane_cache::{Begun, Lanes, Passes, Place};
use crate::base::memory::collect;
use crate::base::{Failure, MAX_EXACT};
use crate::order::OrderPart;

/// The number of draws that a lane of a source has in each pass. All sources are in lanes.
fn lane_size(part: &OrderPart, lane: u64) -> u64 {
    part.in_lanes().map_or(0, |lanes| lanes.dense.lane_size(lane as u32))
}

impl Stage {
    /// The element of the pattern with which a lane begins the stage.
    fn phase(&self, lane: u64, lanes: u64) -> u64 {
        (u128::from(self.period) * u128::from(lane) / u128::from(lanes)) as u64
    }

    /// The number of draws of a source before an element of the pattern, modulo 2^64.
    fn before_phase(&self, source: u32, phase: u64) -> u64 {
        self.pattern.count(source, phase).wrapping_mul(self.run.value())
    }

    /// The number of draws of a source at the first `steps` positions of a lane in this stage.
    fn in_lane(&self, source: u32, phase: u64, steps: u64) -> u64 {
        self.runs(source, phase, steps).wrapping_sub(self.before_phase(source, phase))
    }
}

impl Blend {
    /// The stage in which a lane is after `steps` positions of its own.
    fn stage_of(&self, steps: u64, lanes: u64) -> usize {
        self.stages.partition_point(|stage| stage.from / lanes <= steps) - 1
    }

    /// The number of positions of a lane below position `n` of the stages.
    fn steps(n: u64, lane: u64, lanes: u64) -> u64 {
        (n + lanes - 1 - lane) / lanes
    }

    /// Calls `ask` with the beginning of a stage in a lane. Failures: `out-of-memory`.
    fn begun<R>(&self, lanes: &Lanes, lane: u64, stage: usize, ask: impl FnOnce(&Begun) -> R) -> Result<R, Failure> {
        let mut recent = lanes.begun.borrow_mut();
        let recent = &mut recent[lane as usize];
        if let Some(begun) = recent
            && begun.stage == stage
        {
            return Ok(ask(begun));
        }
        let count = lanes.count.value();
        let (sources, first) = (self.sources.len(), recent.take().filter(|begun| begun.stage < stage));
        let (first, mut before) = match first {
            Some(begun) => (begun.stage, begun.before),
            None => (0, collect("sources", sources, (0..sources).map(|_| 0))?),
        };
        for (here, next) in self.stages[first..].iter().zip(&self.stages[first + 1..]).take(stage - first) {
            let (phase, steps) = (here.phase(lane, count), (next.from - here.from) / count);
            for (source, before) in (0..).zip(&mut before) {
                *before += here.in_lane(source, phase, steps);
            }
        }
        let here = &self.stages[stage];
        let phase = here.phase(lane, count);
        let base = (0..).zip(&before).map(|(source, before)| before.wrapping_sub(here.before_phase(source, phase)));
        let base = collect("sources", sources, base)?;
        Ok(ask(recent.insert(Begun { stage, before, base })))
    }

    /// The source of position `n` of the stages, and the pass over this source and the position in the pass. Failures:
    /// `out-of-memory`.
    pub(super) fn draw_by_lane(&self, lanes: &Lanes, n: u64) -> Result<(u32, Place), Failure> {
        let (steps, lane) = lanes.count.divide(n);
        let count = lanes.count.value();
        let place = self.stage_of(steps, count);
        let stage = &self.stages[place];
        let (run, within) = stage.run.divide(steps - stage.from / count);
        let (source, number) = stage.pattern.at(run + stage.phase(lane, count));
        let base = self.begun(lanes, lane, place, |begun| begun.base[source as usize])?;
        let draw = base.wrapping_add(number.wrapping_mul(stage.run.value())).wrapping_add(within);
        Ok((source, self.pass_of(lanes, source, lane, draw)))
    }

    /// The number of draws of a source in a lane before position `n` of the stages. Failures: `out-of-memory`.
    fn count_in_lane(&self, lanes: &Lanes, source: u32, lane: u64, n: u64) -> Result<u64, Failure> {
        let count = lanes.count.value();
        let steps = Self::steps(n, lane, count);
        let place = self.stage_of(steps, count);
        let stage = &self.stages[place];
        let base = self.begun(lanes, lane, place, |begun| begun.base[source as usize])?;
        Ok(base.wrapping_add(stage.runs(source, stage.phase(lane, count), steps - stage.from / count)))
    }

    /// The number of draws of a source in all lanes before position `n` of the stages. Failures: `out-of-memory`.
    pub(super) fn count_by_lane(&self, lanes: &Lanes, source: u32, n: u64) -> Result<u64, Failure> {
        (0..lanes.count.value()).try_fold(0, |sum, lane| Ok(sum + self.count_in_lane(lanes, source, lane, n)?))
    }

    /// The pass of the next draw of a source in the lane of position `n`, and the position of the draw in the pass.
    /// Failures: `out-of-memory`.
    pub(super) fn next_by_lane(&self, lanes: &Lanes, source: u32, n: u64) -> Result<Place, Failure> {
        let lane = lanes.count.divide(n).1;
        Ok(self.pass_of(lanes, source, lane, self.count_in_lane(lanes, source, lane, n)?))
    }

    /// The pass of a draw in a lane of a source, and the position of the draw in the pass. For a lane without samples:
    /// pass 0 and position 0. Only a source without a weight may have such lanes.
    fn pass_of(&self, lanes: &Lanes, source: u32, lane: u64, draw: u64) -> Place {
        let count = lanes.count.value();
        let size = lane_size(&self.sources[source as usize].part, lane);
        draw.checked_div(size).map_or((0, 0), |pass| (pass, (draw - pass * size) * count + lane))
    }

    /// The position of the stages that has the draw of a source at a position of a pass; `None` if it is above 2^53 -
    /// 1, or if the source has no such draw.
    fn nth_by_lane(&self, lanes: &Lanes, source: u32, pass: u64, position: u64) -> Option<u64> {
        let count = lanes.count.value();
        let (element, lane) = lanes.count.divide(position);
        let size = lane_size(&self.sources[source as usize].part, lane);
        let draw = pass.checked_mul(size)?.checked_add(element)?;
        // The last stage that begins at or before the draw has the draw, unless the weight of the source is 0 from
        // there on.
        let (mut found, mut before, mut end) = (self.stages.first()?, 0, 0);
        for (here, next) in self.stages.iter().zip(self.stages.get(1..)?) {
            end += here.in_lane(source, here.phase(lane, count), (next.from - here.from) / count);
            if end > draw {
                break;
            }
            (found, before) = (next, end);
        }
        let phase = found.phase(lane, count);
        let (run, within) = found.run.divide(draw - before);
        let element = found.pattern.nth(source, found.pattern.count(source, phase) + run)? - phase;
        let steps = element.checked_mul(found.run.value())?.checked_add(found.from / count + within)?;
        steps.checked_mul(count)?.checked_add(lane).filter(|&n| n <= MAX_EXACT)
    }

    /// The least and the greatest pass of a source in which a lane is at position `n`: the passes before are complete,
    /// and those after have not begun. Failures: `out-of-memory`.
    fn passes(&self, lanes: &Lanes, source: u32, n: u64) -> Result<(u64, u64), Failure> {
        if let Some((of, found)) = lanes.passes.borrow()[source as usize]
            && of == n
        {
            return Ok(found);
        }
        let found = self.passes_at(lanes, source, n)?;
        lanes.passes.borrow_mut()[source as usize] = Some((n, found));
        Ok(found)
    }

    /// [`Blend::passes`], without the cache.
    fn passes_at(&self, lanes: &Lanes, source: u32, n: u64) -> Result<(u64, u64), Failure> {
        let part = &self.sources[source as usize].part;
        let (mut least, mut most) = (u64::MAX, 0);
        for lane in 0..lanes.count.value().min(part.steady().unwrap_or_default()) {
            let draws = self.count_in_lane(lanes, source, lane, n)?;
            let pass = draws / lane_size(part, lane);
            (least, most) = (least.min(pass), most.max(pass));
        }
        Ok((least.min(most), most))
    }

    /// The number of occurrences of a sample of a source before position `n`. Failures: `out-of-memory`.
    pub(super) fn seen_by_lane(&self, lanes: &Lanes, (source, index): (u32, u64), n: u64) -> Result<u64, Failure> {
        let (least, most) = self.passes(lanes, source, n)?;
        let mut seen = least;
        for pass in least..=most {
            let place = self.sources[source as usize].part.occurrence(index, pass)?;
            let at = place.and_then(|(pass, place)| self.nth_by_lane(lanes, source, pass, place));
            seen += u64::from(at.is_some_and(|at| at < n));
        }
        Ok(seen)
    }

    /// The position of occurrence number `number` of a sample of a source. Failures: `out-of-memory`.
    pub(super) fn occurrence_by_lane(
        &self,
        lanes: &Lanes,
        holder: (u32, u64),
        number: u64,
    ) -> Result<Option<u64>, Failure> {
        // Passes of a sample need not follow each other in the order of positions, since lanes may be in different
        // passes.
        let (mut low, mut high) = (0, MAX_EXACT + 1);
        while low < high {
            let middle = low.midpoint(high);
            if self.seen_by_lane(lanes, holder, middle + 1)? > number { high = middle } else { low = middle + 1 }
        }
        Ok(Some(low).filter(|&n| n <= MAX_EXACT))
    }

    /// The first position from `from` on, and before `end`, that has a sample of a source. `passes` are the orders of
    /// the source. Failures: `out-of-memory`; `epoch`, if a pass over the source cannot be used.
    pub(super) fn next_by_lane_of(
        &self,
        lanes: &Lanes,
        (source, index): (u32, u64),
        (from, end): (u64, u64),
        passes: &mut Passes,
    ) -> Result<Option<u64>, Failure> {
        let (least, most) = self.passes(lanes, source, from)?;
        let mut found: Option<u64> = None;
        let (mut pass, mut last) = (least, most + 1);
        loop {
            while pass <= last {
                let place = passes.order(&self.sources[source as usize].part, pass)?.next(index, 0)?;
                let at = place.and_then(|place| self.nth_by_lane(lanes, source, pass, place));
                found = found.into_iter().chain(at.filter(|at| (from..end).contains(at))).min();
                pass += 1;
            }
            // Lanes may be several passes apart, so that a later pass of one lane may have the sample first. `found` (or
            // none before `end`) is final once all passes that some lane has begun before it were searched.
            let begun = self.passes_at(lanes, source, found.unwrap_or(end))?.1;
            if begun <= last {
                return Ok(found);
            }
            last = if found.is_some() { begun } else { last + 1 };
        }
    }
}
