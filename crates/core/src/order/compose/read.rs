//! Reads composed orders of a recipe.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::iter;

use super::balance::Balance;
use super::blend::{Blend, Source, Stage};
use super::chairman::{Chairman, MAX_PERIOD};
use super::copies::Copies;
use super::grown::{Grown, Growth};
use super::lane_cache::Lanes;
use super::lane_view::LaneView;
use super::names::{EXHAUSTIONS, Exhaustion, INDEX_SPACES, IndexSpace, MAX_SOURCES};
use super::view::{Choice, Skipped, View};
use super::weighted::Weighted;
use super::windows::Windows;
use crate::base::failure::{at_most, only, range};
use crate::base::key::Words;
use crate::base::memory::{collect, grow};
use crate::base::sort::sort_short;
use crate::base::{Failure, MAX_EXACT};
use crate::document::check::Checked;
use crate::document::fields::Fields;
use crate::document::lists::{List, check_lists};
use crate::order::members::at_order;
use crate::order::selection::Selection;
use crate::order::{Composed, InLanes, OrderId, OrderPart, Shards};
use samedeal_bulk::Divisor;

/// The lists of the inner order at `path`, without this path before their names.
fn below<'a>(lists: &[List<'a>], path: &str) -> Result<Vec<List<'a>>, Failure> {
    let own = lists.iter().filter_map(|&(name, numbers)| Some((name.strip_prefix(path)?.strip_prefix('/')?, numbers)));
    collect("lists", lists.len(), own)
}

/// The source that a list belongs to, and the name of the list in the source.
fn list_of_source(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("sources/")?.split_once('/')
}

/// The first place of a name in a sorted list of names and places.
fn first_of(names: &[(&str, usize)], name: &str) -> Option<usize> {
    let &(found, place) = names.get(names.partition_point(|&(other, _)| other < name))?;
    (found == name).then_some(place)
}

/// A failure of an inner order, with the path of the order in the document; or, for `lists`, with the path before the
/// name of the list.
fn within(path: &str, lists: &str, failure: Failure) -> Failure {
    if failure.field == "lists" {
        return failure.with_value(|name| format!("{lists}/{name}"));
    }
    at_order(path, failure)
}

/// A composed order in a recipe: its members, the lists beside the recipe, and its seed.
pub(super) struct Text<'a, 'b> {
    pub(super) id: OrderId,
    pub(super) fields: &'a Checked<'a, 'b>,
    pub(super) lists: &'a [List<'a>],
    pub(super) seed: i64,
    /// If this order is a source of a blend, the seed that the blend derives for it.
    pub(super) derived: Option<i64>,
}

/// Reads a composed order. `derived` is the seed that a blend derives for this order, if the order is a source of a
/// blend. Failures: any field.
pub(in crate::order) fn read(
    id: OrderId,
    fields: &Checked,
    lists: &[List],
    derived: Option<i64>,
) -> Result<OrderPart, Failure> {
    let seed = fields.signed("seed").or(derived).unwrap_or(0);
    let text = Text { id, fields, lists, seed, derived };
    let (samples, composed): (u64, Rc<dyn Composed>) = match id {
        OrderId::Blend | OrderId::BlendExact => text.blend()?,
        OrderId::Grown => text.grown()?,
        OrderId::Copies => text.copies()?,
        OrderId::Windows => text.windows()?,
        OrderId::Balance => text.balance()?,
        OrderId::Weighted => text.weighted()?,
        OrderId::Exclude | OrderId::Subset | OrderId::Skip => text.view()?,
        // Only composed orders come here. A new one has to be read above.
        _ => return Err(Failure::contradiction("name", id.name(), "a composed order that is read here")),
    };
    let seed = composed.part(0).filter(|_| composed.as_blend().is_none()).map_or(seed, |of| of.seed);
    let part = OrderPart::composed(id, samples, seed, composed);
    // Refuses an order of which no epoch can be used.
    part.length(0)?;
    Ok(part)
}

/// A shuffled order of a source of a blend. Two of them are alike if `compare` finds them equal.
struct Shuffled<'a> {
    part: &'a OrderPart,
    /// The place among all shuffled orders; `source` is the number of the source.
    place: usize,
    source: usize,
}

impl Shuffled<'_> {
    /// Texts are long, so they are only made if seeds and numbers of samples are equal.
    fn compare(&self, other: &Self) -> Ordering {
        let numbers = |part: &OrderPart| (part.seed, part.samples);
        numbers(self.part).cmp(&numbers(other.part)).then_with(|| self.part.text().cmp(other.part.text()))
    }
}

impl Ord for Shuffled<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.compare(other).then(self.place.cmp(&other.place))
    }
}

impl PartialOrd for Shuffled<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Shuffled<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Shuffled<'_> {}

/// Adds the shuffled orders of a source: its own order or, if that is a blend, the orders of the blend's sources.
/// Failures: `out-of-memory`.
fn add_shuffled<'a>(found: &mut Vec<Shuffled<'a>>, part: &'a OrderPart, source: usize) -> Result<(), Failure> {
    if let Some(blend) = part.as_blend() {
        for place in 0..blend.names().count() {
            part.part(place).map_or(Ok(()), |own| add_shuffled(found, own, source))?;
        }
    } else if part.id != OrderId::Sequential && part.samples > 1 {
        grow("sources", 1, found)?;
        found.push(Shuffled { part, place: found.len(), source });
    }
    Ok(())
}

/// Refuses sources that shuffle in the same way: their indices would be equal at the same time, so that a sample of one
/// source would always meet the same sample of the other. Derived seeds differ, so only seeds in the recipe can be
/// equal. Failures: `sources`.
fn check_twins(sources: &[Source]) -> Result<(), Failure> {
    let mut found = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        add_shuffled(&mut found, &source.part, number)?;
    }
    sort_short(&mut found);
    let twins = found.windows(2).filter(|pair| pair[0].compare(&pair[1]).is_eq());
    let Some(pair) = twins.min_by_key(|pair| pair[1].place) else { return Ok(()) };
    let [first, second] = [&pair[0], &pair[1]].map(|own| &sources[own.source].name);
    let allowed = "orders that differ: give one of them another seed, or none";
    Err(Failure::contradiction("sources", format!("{second} in the order of {first}"), allowed))
}

type Read = Result<(u64, Rc<dyn Composed>), Failure>;

impl Text<'_, '_> {
    fn samples(&self) -> Result<u64, Failure> {
        let Some(samples) = self.fields.count("samples") else {
            return Err(Failure::missing("samples", "the number of samples in the dataset"));
        };
        Ok(samples)
    }

    /// The inner order of a view. Failures: `of`, any field of it.
    fn of(&self) -> Result<Rc<OrderPart>, Failure> {
        let fields = self.fields.section("of");
        let of = OrderPart::nested(fields, &below(self.lists, "of")?, self.derived);
        of.map(Rc::new).map_err(|failure| within("of", "of", failure))
    }

    fn view(&self) -> Read {
        let is_skip = self.id == OrderId::Skip;
        let of = self.of()?;
        let samples = of.samples;
        if is_skip {
            let choice = Choice::Skip(self.ranges(&of)?);
            return Ok((samples, Rc::new(View::new(of, choice)?)));
        }
        if !of.is_single() {
            let allowed = "an order that has no sample twice in an epoch: put the list inside of that order";
            return Err(Failure::contradiction("of", of.id.name(), allowed));
        }
        let indices = self.fields.copied("indices")?;
        for (at, &index) in indices.iter().enumerate() {
            if index >= samples {
                let allowed = match samples.checked_sub(1) {
                    Some(last) => at_most(last),
                    None => "none: the order has no samples".into(),
                };
                return Err(Failure::out_of_range("indices", index, allowed));
            }
            if at > 0 && indices[at - 1] >= index {
                return Err(Failure::contradiction(
                    "indices",
                    index,
                    format!("more than {}, which is before it: the list ascends", indices[at - 1]),
                ));
            }
        }
        let is_exclude = self.id == OrderId::Exclude;
        if let Some(InLanes { whole, left, .. }) = of.in_lanes() {
            let choose = if is_exclude { Selection::excluding } else { Selection::only };
            let (left, whole) = (choose(left, &indices)?, Rc::clone(whole));
            return Ok((samples, Rc::new(LaneView::new(of, indices, left, whole)?)));
        }
        let choice = if is_exclude { Choice::Exclude(indices) } else { Choice::Subset(indices) };
        Ok((samples, Rc::new(View::new(of, choice)?)))
    }

    fn ranges(&self, of: &OrderPart) -> Result<Vec<Skipped>, Failure> {
        let objects = self.fields.objects("ranges");
        let mut ranges: Vec<Skipped> = collect("ranges", objects.len(), [])?;
        for (index, object) in objects.iter().enumerate() {
            let [epoch, start, count] = ["epoch", "start", "count"].map(|field| object.number(field));
            let length = of.length(epoch)?;
            if start > length {
                return Err(Failure::out_of_range("start", start, range(0, length)).in_element("ranges", index));
            }
            if count > length - start {
                return Err(Failure::out_of_range(
                    "count",
                    count,
                    range(0, length - start).and(format_args!(" from {start}")),
                )
                .in_element("ranges", index));
            }
            if let Some(last) = ranges.last()
                && (epoch, start) < (last.epoch, last.start + last.count)
            {
                let allowed = "ranges that ascend by epoch and start, and have no position twice";
                return Err(Failure::contradiction("ranges", format!("{start} in epoch {epoch}"), allowed));
            }
            // It is exact for the ranges before an epoch that can be used, which has at most 2^53 positions before it.
            let total = ranges.last().map_or(0, |last| last.total).saturating_add(count);
            ranges.push(Skipped { epoch, start, count, total });
        }
        Ok(ranges)
    }

    fn copies(&self) -> Read {
        let (of, copies) = (self.of()?, self.fields.number("copies"));
        Ok((of.samples, Rc::new(Copies { of, copies: Divisor::new(copies) })))
    }

    fn grown(&self) -> Read {
        let samples = self.samples()?;
        let objects = self.fields.objects("growth");
        let mut growth: Vec<Growth> = collect("growth", objects.len(), [])?;
        for (index, object) in objects.iter().enumerate() {
            let [epoch, consumed, more] = ["epoch", "consumed", "samples"].map(|field| object.number(field));
            let (before, least) = match growth.last() {
                Some(last) if last.epoch == epoch => (last.samples, last.consumed + 1),
                Some(last) if last.epoch > epoch => {
                    return Err(Failure::contradiction(
                        "growth",
                        format!("epoch {epoch}"),
                        format!("epoch {} or later", last.epoch),
                    ));
                }
                Some(last) => (last.samples, 0),
                None => (samples, 0),
            };
            if consumed < least || consumed > before {
                return Err(
                    Failure::out_of_range("consumed", consumed, range(least, before)).in_element("growth", index)
                );
            }
            if more <= before {
                return Err(Failure::out_of_range(
                    "samples",
                    more,
                    range(before + 1, MAX_EXACT).and(" after a growth"),
                )
                .in_element("growth", index));
            }
            growth.push(Growth { epoch, consumed, samples: more });
        }
        let last = growth.last().map_or(samples, |growth| growth.samples);
        Ok((last, Rc::new(Grown::new(samples, self.seed, growth)?)))
    }

    fn windows(&self) -> Read {
        let sizes = self.fields.found("sizes").unwrap_or_default();
        let episodes = Shards::new(sizes)?;
        let length = self.fields.number("length");
        let stride = self.fields.count("stride").unwrap_or(length);
        let counts = episodes.sizes().map(|size| Windows::of_episode(size, length, stride));
        let windows = Shards::new(&collect("sizes", sizes.len(), counts)?)?;
        Ok((episodes.samples(), Rc::new(Windows { seed: self.seed, episodes, windows, length, stride })))
    }

    fn balance(&self) -> Read {
        let length = self.fields.count("samples");
        let (classes, factors) = (self.fields.copied32("classes")?, self.fields.copied("factors")?);
        if length.is_none() {
            crate::document::numbers::narrow("factors", &factors)?;
        }
        if factors.len() > MAX_SOURCES {
            let value = format!("{} numbers", factors.len());
            return Err(Failure::out_of_range("factors", value, at_most(MAX_SOURCES).and(" classes")));
        }
        OrderId::FisherYates.check(classes.len() as u64, 0)?;
        if let Some(class) = classes.iter().find(|&&class| class as usize >= factors.len()) {
            let allowed = match factors.len().checked_sub(1) {
                Some(last) => at_most(last).and(", as there are factors"),
                None => "none: there are no factors".into(),
            };
            return Err(Failure::out_of_range("classes", class, allowed));
        }
        Ok((classes.len() as u64, Rc::new(Balance::new(classes, factors, length, self.seed)?)))
    }

    fn weighted(&self) -> Read {
        let weights = self.fields.found("weights").unwrap_or_default();
        let samples = weights.len() as u64;
        OrderId::FisherYates.check(samples, 0)?;
        let length = self.fields.count("samples").unwrap_or(samples);
        let weighted = Weighted::new(weights, length, self.fields.is("replacement"), self.seed)?;
        Ok((samples, Rc::new(weighted)))
    }

    fn blend(&self) -> Read {
        let (sources, mut weights) = self.sources()?;
        let is_exact = self.id == OrderId::BlendExact;
        let exhaustion = self.fields.named("exhaustion", &EXHAUSTIONS);
        let space = self.fields.named("index_space", &INDEX_SPACES);
        let (max_passes, run) = (self.fields.number("max_passes"), self.fields.number("run_length"));
        if run > 1 && exhaustion == Exhaustion::Renormalize {
            let allowed = "1 with the exhaustion renormalize: a source leaves in the middle of a run";
            return Err(Failure::contradiction("run_length", run, allowed));
        }
        let (stages, run) = (Vec::new(), Divisor::new(run));
        let by_lane = if self.fields.is("by_lane") { Some(self.lanes(&sources)?) } else { None };
        let mut blend = Blend { exhaustion, max_passes, space, sources, run, by_lane, stages, given: 0, length: 0 };
        let samples = blend.join()?;
        self.check_weights(&weights, &blend, is_exact, None)?;
        let stages = self.fields.objects("stages");
        if exhaustion != Exhaustion::Repeat {
            if !stages.is_empty() {
                let value = self.fields.shown("stages").unwrap_or_default();
                return Err(Failure::contradiction("stages", value, "none, but with the exhaustion repeat"));
            }
            if let Some(source) = blend.sources.iter().find(|source| source.part.steady().is_none()) {
                let allowed = "sources whose epochs are of one length, but with the exhaustion repeat";
                return Err(Failure::contradiction("sources", &source.name, allowed));
            }
        }
        if (stages.len() + 1).saturating_mul(blend.sources.len()) > MAX_SOURCES {
            let value = format!("{} objects", stages.len());
            let allowed = at_most(MAX_SOURCES / blend.sources.len().max(1) - 1).and(" with so many sources");
            return Err(Failure::out_of_range("stages", value, allowed));
        }
        let count = blend.sources.len();
        blend.stages = collect("stages", stages.len() + 1, [])?;
        blend.push_stage(0, core::mem::take(&mut weights), is_exact)?;
        for (index, object) in stages.iter().enumerate() {
            let from = object.number("from");
            let least = blend.stages.last().map_or(0, |stage| stage.from) + 1;
            if from < least {
                return Err(Failure::out_of_range("from", from, range(least, MAX_EXACT)).in_element("stages", index));
            }
            blend.check_runs("from", from).map_err(|failure| failure.in_element("stages", index))?;
            let given = object.all("weights");
            let weights = collect("weights", given.len(), given.iter().copied())?;
            if weights.len() != count {
                let value = format!("{} numbers", weights.len());
                return Err(Failure::contradiction("weights", value, only(count).and(" numbers, one for each source"))
                    .in_element("stages", index));
            }
            self.check_weights(&weights, &blend, is_exact, Some(index))?;
            blend.push_stage(from, weights, is_exact)?;
        }
        blend.given = blend.stages.len();
        blend.length = self.length(&mut blend, is_exact)?;
        Ok((samples, Rc::new(blend)))
    }

    /// The sources, and their weights. Failures: `sources`, any field of them.
    fn sources(&self) -> Result<(Vec<Source>, Vec<u64>), Failure> {
        let objects = self.fields.objects("sources");
        let names = self.source_names(objects)?;
        let lists = self.source_lists()?;
        let (mut sources, mut weights) =
            (collect("sources", objects.len(), [])?, collect("sources", objects.len(), [])?);
        for (number, object) in objects.iter().enumerate() {
            let name = object.text("name").unwrap_or_default();
            if name.contains('/') {
                return Err(Failure::out_of_range("name", name, "names without a slash").in_element("sources", number));
            }
            if first_of(&names, name).is_some_and(|first| first < number) {
                return Err(Failure::contradiction("name", format!("{name} twice"), "each name once")
                    .in_element("sources", number));
            }
            let below = format!("sources/{name}");
            let within = |failure| within(&format!("sources[{number}].order"), &below, failure);
            let seed = Words::new(&format!("blend source {name}"), self.seed, 0, 0).next_long() as i64;
            let own = lists.partition_point(|own| own.0 < name)..lists.partition_point(|own| own.0 <= name);
            let own = lists[own].iter().map(|&(_, at, rest)| (rest, self.lists[at].1));
            let lists = collect("lists", own.len(), own)?;
            let part = match (object.given_section("order"), object.count("samples")) {
                (Some(_), Some(samples)) => {
                    return Err(Failure::contradiction("samples", samples, "none for a source that has an order")
                        .in_element("sources", number));
                }
                (None, None) => {
                    return Err(Failure::missing("samples", "the number of samples in each source, or its order")
                        .in_element("sources", number));
                }
                (Some(order), None) => OrderPart::nested(order, &lists, Some(seed)).map_err(within)?,
                (None, Some(samples)) => {
                    check_lists(&lists, &[], |_| false).map_err(within)?;
                    OrderPart::new(OrderId::Feistel, samples, seed, None).deriving(Some(seed))
                }
            };
            if part.has_table() {
                let allowed =
                    "an order with random access: one with a table costs as much as all samples for every pass";
                return Err(Failure::contradiction("name", part.id.name(), allowed)
                    .at("order.name")
                    .in_element("sources", number));
            }
            if let Some(allowed) = part.no_source() {
                return Err(Failure::contradiction("name", part.id.name(), allowed)
                    .at("order.name")
                    .in_element("sources", number));
            }
            weights.push(object.number("weight"));
            sources.push(Source { name: name.to_string(), part: Rc::new(part), offset: 0, lanes: 0 });
        }
        check_lists(self.lists, &[], |name| {
            list_of_source(name).is_some_and(|(of, _)| first_of(&names, of).is_some())
        })?;
        check_twins(&sources)?;
        Ok((sources, weights))
    }

    /// The lanes of a blend `by_lane`. Failures: `name` (an order that is not `sharded`), `lanes` (not as many as in
    /// the first source), `out-of-memory`.
    fn lanes(&self, sources: &[Source]) -> Result<Lanes, Failure> {
        let mut lanes = None;
        for (number, Source { part, .. }) in sources.iter().enumerate() {
            let Some(own) = part.in_lanes().map(|lanes| lanes.dense.lanes) else {
                let allowed = "sharded, or exclude or subset of it, with by_lane: a lane of the blend is the same lane of each source";
                let failure = Failure::contradiction("name", part.id.name(), allowed).at("order.name");
                return Err(failure.in_element("sources", number));
            };
            let first = *lanes.get_or_insert(own);
            if own != first {
                let allowed = only(first).and(", as in the first source, with by_lane");
                let views = iter::successors(part.part(0), |part| part.part(0)).map(|_| ".of");
                let path = iter::once("order").chain(views).chain([".lanes"]).collect::<String>();
                let failure = Failure::contradiction("lanes", own, allowed).at(path);
                return Err(failure.in_element("sources", number));
            }
        }
        Lanes::new(lanes.unwrap_or(1).into(), sources.len())
    }

    /// The names of the sources, each with its place. Sorted, so that each name is found without a comparison with all
    /// others.
    fn source_names<'s>(&self, objects: &'s [Fields]) -> Result<Vec<(&'s str, usize)>, Failure> {
        let named = objects.iter().enumerate().filter_map(|(place, object)| Some((object.text("name")?, place)));
        let mut names = collect("sources", objects.len(), named)?;
        sort_short(&mut names);
        Ok(names)
    }

    /// The lists that belong to sources: the name of the source, the place among all lists, and the name of the list in
    /// the source. Sorted.
    fn source_lists(&self) -> Result<Vec<(&str, usize, &str)>, Failure> {
        let own = self.lists.iter().enumerate().filter_map(|(place, &(name, _))| {
            let (source, rest) = list_of_source(name)?;
            Some((source, place, rest))
        });
        let mut lists = collect("lists", self.lists.len(), own)?;
        sort_short(&mut lists);
        Ok(lists)
    }

    /// Checks the weights of the sources, or of a later stage. Failures: `weight`, `weights`.
    fn check_weights(
        &self,
        weights: &[u64],
        blend: &Blend,
        is_exact: bool,
        stage: Option<usize>,
    ) -> Result<(), Failure> {
        let field = if stage.is_some() { "weights" } else { "weight" };
        let of_all = |failure: Failure| match stage {
            Some(stage) => failure.in_element("stages", stage),
            None => failure.at("sources[].weight"),
        };
        let sum: u128 = weights.iter().copied().map(u128::from).sum();
        if sum == 0 || sum > MAX_EXACT.into() {
            let allowed = range(1, MAX_EXACT).and(" for all sources together");
            return Err(of_all(Failure::out_of_range(field, sum, allowed)));
        }
        for (number, (&weight, source)) in weights.iter().zip(&blend.sources).enumerate() {
            let lanes = blend.by_lane.as_ref().map_or(0, |lanes| lanes.count.value());
            // An order in lanes is as long in every epoch.
            let samples = source.part.steady().unwrap_or_default();
            if weight > 0 && (source.part.is_empty()? || samples < lanes) {
                let allowed = match source.part.is_empty()? {
                    true => only(0).and(format_args!(": the source {} is empty", source.name)),
                    false => only(0).and(format_args!(
                        ": the source {} has {samples} samples, fewer than lanes, with by_lane",
                        source.name
                    )),
                };
                let failure = Failure::contradiction(field, weight, allowed);
                return Err(if stage.is_some() { of_all(failure) } else { failure.in_element("sources", number) });
            }
        }
        let period = Chairman::period(weights);
        if is_exact && period > MAX_PERIOD {
            let allowed =
                at_most(MAX_PERIOD).and(" for all sources together, without their common divisor; or the order blend");
            return Err(of_all(Failure::out_of_range(field, period, allowed)));
        }
        Ok(())
    }

    /// The number of positions of an epoch. With `renormalize`, also adds its stages. Failures: `samples`, `sources`,
    /// `out-of-memory`.
    fn length(&self, blend: &mut Blend, is_exact: bool) -> Result<u64, Failure> {
        let given = self.fields.count("samples");
        let found = match blend.exhaustion {
            Exhaustion::Repeat => match given {
                Some(samples) => u128::from(samples),
                None => blend.pass()?.next_multiple_of(blend.row().into()),
            },
            Exhaustion::Renormalize => blend.renormalize(is_exact)?,
            Exhaustion::Stop if blend.end() > MAX_EXACT => {
                let value = format!("more than {MAX_EXACT}");
                return Err(Failure::out_of_range("samples", value, range(0, MAX_EXACT).and(" in an epoch")));
            }
            Exhaustion::Stop => (blend.end() - blend.run.divide(blend.end()).1).into(),
            Exhaustion::Fail => {
                let Some(samples) = given else {
                    return Err(Failure::missing("samples", "the number of positions in an epoch"));
                };
                let end = blend.end().min(MAX_EXACT);
                if samples > end {
                    let allowed = range(0, end).and(" before a source repeats");
                    return Err(Failure::out_of_range("samples", samples, allowed));
                }
                samples.into()
            }
        };
        let Ok(length @ ..=MAX_EXACT) = u64::try_from(found) else {
            return Err(Failure::out_of_range("samples", found, range(0, MAX_EXACT).and(" in an epoch")));
        };
        blend.check_runs("samples", length)?;
        if let Some(given) = given.filter(|&given| given != length) {
            return Err(Failure::contradiction("samples", given, only(length).and(", as the sources come to")));
        }
        Ok(length)
    }
}

impl Blend {
    /// Sets the offset and the first lane of each source, and returns the number of sample indices. Joined sources lie
    /// end to end; shared sources all begin at 0. Failures: `sources`.
    fn join(&mut self) -> Result<u64, Failure> {
        let (mut end, mut lanes) = (0_u128, 0);
        for source in &mut self.sources {
            source.lanes = lanes;
            lanes += source.part.lanes();
            let samples = u128::from(source.part.samples);
            if self.space == IndexSpace::Shared {
                end = end.max(samples);
            } else {
                source.offset = end as u64;
                end += samples;
            }
            if end > MAX_EXACT.into() {
                let allowed = range(0, MAX_EXACT).and(" samples in all sources together");
                return Err(Failure::out_of_range("sources", end, allowed));
            }
        }
        Ok(end as u64)
    }

    /// The lengths of epochs and the beginnings of stages are multiples of this number of positions: one run or, with
    /// `by_lane`, one run of each lane.
    fn row(&self) -> u64 {
        self.run.value() * self.by_lane.as_ref().map_or(1, |lanes| lanes.count.value())
    }

    /// Checks that a number of positions is a multiple of [`Blend::row`]. Failures: `field`.
    fn check_runs(&self, field: &'static str, positions: u64) -> Result<(), Failure> {
        let row = self.row();
        if positions.is_multiple_of(row) {
            return Ok(());
        }
        let of = if self.by_lane.is_some() { "run_length, times lanes with by_lane" } else { "run_length" };
        Err(Failure::contradiction(field, positions, format!("a multiple of {row}, which is {of}")))
    }

    fn push_stage(&mut self, from: u64, weights: Vec<u64>, is_exact: bool) -> Result<(), Failure> {
        let stage = Stage::new(self.stages.last(), from, weights, is_exact, self.run)?;
        grow("stages", 1, &mut self.stages)?;
        self.stages.push(stage);
        Ok(())
    }

    /// The sum of the lengths of epoch 0 of all sources with a weight in the first stage. A source that is added later
    /// has no weight there, so that it changes nothing.
    fn pass(&self) -> Result<u128, Failure> {
        let mut sum = 0;
        let weights = self.stages.first().map(|stage| stage.weights.as_slice()).unwrap_or_default();
        for (source, _) in self.sources.iter().zip(weights).filter(|&(_, &weight)| weight > 0) {
            sum += u128::from(source.part.length(0)?);
        }
        Ok(sum)
    }

    /// The first position at which a source would begin one pass too many, and this source; `None` if no source has a
    /// weight. The last stage is taken as endless.
    fn exhausted(&self) -> Option<(u64, usize)> {
        let stage = self.stages.last()?;
        let sources = (0..).zip(&self.sources).zip(&stage.weights).filter(|&(_, &weight)| weight > 0);
        let ends = sources.map(|((number, source), _)| {
            let draws = source.part.steady().unwrap_or_default().checked_mul(self.max_passes);
            // Positions beyond 2^53 - 1 are never reached.
            let end = draws.and_then(|draws| stage.nth(number, draws)).unwrap_or(u64::MAX);
            (end, number as usize)
        });
        ends.min()
    }

    /// The length of the longest epoch in which no source makes more than `max_passes` passes.
    fn end(&self) -> u64 {
        self.exhausted().map_or(0, |(end, _)| end)
    }

    /// Whenever a source has made all of its passes, adds a stage in which this source has no weight. Returns the
    /// number of positions of an epoch. Failures: `sources` (too many stages), `out-of-memory`.
    fn renormalize(&mut self, is_exact: bool) -> Result<u128, Failure> {
        let own = self.stages.first().map(|stage| stage.weights.as_slice()).unwrap_or_default();
        let several = own.iter().filter(|&&weight| weight > 0).count();
        if several.saturating_mul(self.sources.len()) > MAX_SOURCES {
            let allowed = "up to 256 sources with the exhaustion renormalize";
            return Err(Failure::out_of_range("sources", format!("{} objects", self.sources.len()), allowed));
        }
        let passes = self.sources.iter().zip(own).filter(|&(_, &weight)| weight > 0);
        let length: u128 = passes
            .map(|(source, _)| u128::from(source.part.steady().unwrap_or_default()) * u128::from(self.max_passes))
            .sum();
        if length > MAX_EXACT.into() {
            return Ok(length);
        }
        while let Some((end, source)) = self.exhausted() {
            let last = self.stages.last().map(|stage| stage.weights.as_slice()).unwrap_or_default();
            let mut weights = collect("sources", last.len(), last.iter().copied())?;
            weights[source] = 0;
            if weights.iter().all(|&weight| weight == 0) {
                break;
            }
            // The period needs no check: without a source, it does not become longer.
            self.push_stage(end, weights, is_exact)?;
        }
        Ok(length)
    }
}
