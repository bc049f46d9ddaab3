//! Checks that a state can resume with an order that is not quite the order of the state: a recipe may get certain
//! additions after the state was taken.

use alloc::format;
use alloc::string::String;

use crate::base::Failure;
use crate::document::fields::{self, Fields};
use crate::document::member::Member;
use crate::order::members::{ANY_ORDER_MEMBERS, ORDERS, SOURCE_NAME, SOURCE_WEIGHT, at_order, at_source, of_order};
use crate::order::{OrderId, OrderPart};

/// Two sections to compare: `here` from the recipe that resumes, `of` from the state. `why` is the reason in failures.
#[derive(Clone, Copy)]
struct Pair<'a, 'b, 'c> {
    here: &'a Fields<'b>,
    of: &'a Fields<'c>,
    why: &'a str,
}

impl OrderPart {
    /// Checks that a state can go on with this order: the orders are the same, or this one is composed and only got
    /// additions. `of` is the recipe in the state, `place` the epoch and the position of the state. Failures: the first
    /// member that differs.
    pub(crate) fn check_resumes(&self, of: &Fields, place: (u64, u64), why: &str) -> Result<(), Failure> {
        let section = self.section();
        let here = Fields::read(&section, ORDERS)?;
        if !self.is_composed() {
            let samples = of.section("order").count("samples");
            let may_grow = self.id == OrderId::Feistel && samples.is_some_and(|samples| samples < self.samples);
            return fields::compare(&here, of, ORDERS, why).map_err(|failure| match failure.field {
                "samples" if may_grow => failure.and(GROW),
                _ => failure,
            });
        }
        let [own, of] = [&here, of].map(|recipe| recipe.section("order"));
        self.check_goes_on(own, of, place, why).map_err(of_order)
    }

    /// Checks that the order `of`, read up to a position of an epoch, can go on as this order, whose section is `here`.
    /// Additions have to begin at this position or later: stages of a blend, growth, ranges to skip. The orders `grown`
    /// and `skip` may be new themselves. Added sources must have had no weight so far. Failures: the first member that
    /// differs.
    fn check_goes_on(
        &self,
        here: &Fields,
        of: &Fields,
        (epoch, position): (u64, u64),
        why: &str,
    ) -> Result<(), Failure> {
        // The text of a state may have a position beyond the end of the epoch.
        let position = position.min(self.length(epoch)?);
        // Equal sections need no further check. The further check would compute positions of inner orders, each of
        // which takes a pass over the list of an order with a list of samples.
        if fields::compare(here, of, ANY_ORDER_MEMBERS, why).is_ok() {
            return Ok(());
        }
        self.goes_on(Pair { here, of, why }, epoch, position)
    }

    fn goes_on(&self, pair: Pair, epoch: u64, position: u64) -> Result<(), Failure> {
        let Pair { here, of, why } = pair;
        let (own, name) = (here.text("name"), of.text("name"));
        if own == Some("skip") && skips(here) > skips(of) {
            pair.check_added("ranges", 0, ("start", epoch, position))?;
            let Some((below, part)) = here.given_section("of").zip(self.part(0)) else { return Ok(()) };
            let (epoch, position) = self.inner(0, epoch, position)?;
            return part
                .goes_on(Pair { here: below, of, why }, epoch, position)
                .map_err(|failure| at_order("of", failure));
        }
        let began = own == Some("grown") && name == Some("feistel");
        for key in ANY_ORDER_MEMBERS {
            match key.name {
                "name" if began => {}
                "of" => {
                    if let (Some(below), Some(part), Some(of)) =
                        (here.given_section("of"), self.part(0), of.given_section("of"))
                    {
                        if matches!(self.id, OrderId::Exclude | OrderId::Subset)
                            && is_in_lanes(of)
                            && part.in_lanes().is_none()
                        {
                            // The samples that are left would not be cut into lanes any more: another order.
                            let allowed =
                                "sharded, or exclude or subset of it, as in the state: put skip around this order";
                            return Err(Failure::contradiction("of", part.id.name(), allowed));
                        }
                        let (epoch, position) = self.inner(0, epoch, position)?;
                        let rest = part.goes_on(Pair { here: below, of, why }, epoch, position);
                        rest.map_err(|failure| at_order("of", failure))?;
                    } else {
                        pair.check_same(key)?;
                    }
                }
                "stages" if here.has("stages") && of.has("stages") => {
                    self.check_sources(pair, epoch, position)?;
                }
                "growth" if here.has("growth") => {
                    let known = if began { 0 } else { of.objects("growth").len() };
                    pair.check_added("growth", known, ("consumed", epoch, position))?;
                }
                "ranges" if here.has("ranges") => {
                    let (epoch, position) = self.inner(0, epoch, position)?;
                    let known = of.objects("ranges").len();
                    pair.check_added("ranges", known, ("start", epoch, position))?;
                }
                // Checked together with `stages`.
                "sources" if here.has("sources") && of.has("sources") => {}
                _ => pair.check_same(key)?,
            }
        }
        Ok(())
    }

    /// Checks the sources and the stages of a blend.
    fn check_sources(&self, pair: Pair, epoch: u64, position: u64) -> Result<(), Failure> {
        let Pair { here, of, why } = pair;
        let (own, known) = (here.objects("sources"), of.objects("sources"));
        let allowed = || "the sources of the state, then new ones, of weight 0 in the stages that the state has";
        if own.len() < known.len() {
            return Err(Failure::contradiction("sources", format!("{} objects", own.len()), allowed()));
        }
        for (place, source) in own.iter().enumerate() {
            let Some(known) = known.get(place) else {
                if source.count("weight") != Some(0) {
                    let name = source.text("name").unwrap_or_default();
                    return Err(Failure::contradiction("sources", name, allowed()));
                }
                continue;
            };
            for key in SOURCE_KEYS {
                let why = if key.name == "weight" { "as in the state; to change weights, add a stage" } else { why };
                let same = Pair { here: source, of: known, why }.check_same(key);
                same.map_err(|failure| failure.in_element("sources", place))?;
            }
            // A source without an order is compared as one whose order has no members.
            let [here, of] = [source, known].map(|source| source.section("order"));
            if let Some(part) = self.part(place) {
                let (epoch, position) = self.inner(place, epoch, position)?;
                let rest = part.goes_on(Pair { here, of, why }, epoch, position);
                rest.map_err(|failure| at_source(place, failure))?;
            }
        }
        let (stages, before) = (here.objects("stages"), of.objects("stages"));
        let end = epoch.saturating_mul(here.count("samples").unwrap_or(0)).saturating_add(position);
        for (number, stage) in stages.iter().enumerate() {
            let same = before.get(number).map(|old| {
                let [own, old_weights] = [stage, old].map(|stage| stage.all("weights"));
                let (shared, added) = own.split_at(old_weights.len().min(own.len()));
                stage.count("from") == old.count("from")
                    && shared == old_weights
                    && added.iter().all(|&weight| weight == 0)
            });
            let from = stage.count("from").unwrap_or(0);
            if same == Some(false) {
                return Err(changed("stages", number));
            }
            if same.is_none() && from < end {
                return Err(early("stages", number, format!("{from}"), format!("{end}")));
            }
        }
        if stages.len() < before.len() {
            return Err(gone("stages", stages.len()));
        }
        Ok(())
    }
}

const SOURCE_KEYS: &[Member] = &[SOURCE_NAME, SOURCE_WEIGHT];

impl Pair<'_, '_, '_> {
    fn check_same(&self, key: &'static Member) -> Result<(), Failure> {
        fields::compare(self.here, self.of, core::slice::from_ref(key), self.why)
    }

    /// Checks that the first `known` objects of a member are as in the state, and that the others begin where the state
    /// ends, or later.
    fn check_added(
        &self,
        field: &'static str,
        known: usize,
        (place, epoch, position): (&str, u64, u64),
    ) -> Result<(), Failure> {
        let (own, before) = (self.here.objects(field), self.of.objects(field));
        let before = before.get(..known).unwrap_or_default();
        for (number, object) in own.iter().enumerate() {
            if let Some(before) = before.get(number) {
                let is_same = |field: &&str| object.count(field) == before.count(field);
                if !["epoch", "start", "count", "consumed", "samples"].iter().all(is_same) {
                    return Err(changed(field, number));
                }
                continue;
            }
            let begins = (object.count("epoch").unwrap_or(0), object.count(place).unwrap_or(0));
            if begins < (epoch, position) {
                let [from, end] =
                    [begins, (epoch, position)].map(|(epoch, at)| format!("position {at} of epoch {epoch}"));
                return Err(early(field, number, from, end));
            }
        }
        if own.len() < before.len() {
            return Err(gone(field, own.len()));
        }
        Ok(())
    }
}

/// The number of nested `skip` orders, from the outermost order on.
fn skips(order: &Fields) -> usize {
    if order.text("name") != Some("skip") {
        return 0;
    }
    1 + skips(order.section("of"))
}

/// Whether the order of a state is in lanes, as [`OrderPart::in_lanes`].
fn is_in_lanes(order: &Fields) -> bool {
    match order.text("name") {
        Some("exclude" | "subset") => is_in_lanes(order.section("of")),
        name => name == Some("sharded"),
    }
}

const GROW: &str = "; if the dataset grew, make the order with that number, and call grow";
const SAME: &str = "the entries of the state, unchanged and in their order; new ones come after them";

fn changed(field: &'static str, number: usize) -> Failure {
    Failure::contradiction(field, format!("not as in the state at entry {number}"), SAME)
}

fn gone(field: &'static str, number: usize) -> Failure {
    Failure::contradiction(field, format!("without entry {number}"), SAME)
}

fn early(field: &'static str, number: usize, from: String, end: String) -> Failure {
    let allowed = format!("new entries that begin at {end} or later, where the state ends; this one begins at {from}");
    Failure::contradiction(field, format!("too early at entry {number}"), allowed)
}
