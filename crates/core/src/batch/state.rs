//! States of batches.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::batcher::Batcher;
use super::config::Segment;
use super::recipe::STATE_SECTIONS;
use crate::Failure;
use crate::base::failure::range;
use crate::base::memory::collect;
use crate::state::fields::{self, Fields};
use crate::state::member::{Kind, Member, member};
use crate::state::numbers;
use crate::state::recipe;
use crate::state::{self, AS_IN_STATE, EPOCH, KIND, history_of, recipe_of};

const STATE: &[Member] = &[recipe::SAMEDEAL, KIND, recipe_of(STATE_SECTIONS), EPOCH, history_of(SEGMENT)];
const SEGMENT: &[Member] = &[member!("world_size", Kind::SHORT), member!("steps", Kind::COUNT)];

impl Batcher {
    /// The state once every rank has taken so many steps: a text for a checkpoint, the same on all ranks. Failures: `steps`,
    /// `out-of-memory`.
    pub fn state(&self, steps: u64) -> Result<String, Failure> {
        let (config, left) = (self.config(), self.metrics().steps);
        if steps > left {
            return Err(Failure::out_of_range("steps", steps, range(0, left)));
        }
        let here = Segment { world_size: config.world, steps };
        let mut history = collect("history", config.history.len() + 1, config.history.iter().copied())?;
        match history.last_mut() {
            Some(last) if last.world_size == here.world_size => last.steps = last.steps.saturating_add(steps),
            _ if steps > 0 => history.push(here),
            _ => {}
        }
        let segments = history
            .iter()
            .map(|Segment { world_size, steps }| format!("{{\"world_size\":{world_size},\"steps\":{steps}}}"));
        let more = format!(",\"history\":{}", numbers::list(segments));
        Ok(state::write("batcher", &self.recipe().lasting(), config.epoch, &more))
    }

    /// Goes on where a state was taken: plans what was not taken of its epoch. Failures: `state`; any member of the recipe that
    /// differs; `history`, `out-of-memory`.
    pub fn resume(&self, state: &str) -> Result<Self, Failure> {
        let state = state::read(state, "batcher", STATE)?;
        let segments = state.objects("history");
        let epoch = state.count("epoch").unwrap_or_default();
        self.check(&state, epoch, segments.iter().any(|segment| segment.count("steps") != Some(0)))?;
        let mut history: Vec<Segment> = collect("history", segments.len(), [])?;
        for segment in segments {
            let world_size = segment.check(&[], &[])?.short("world-size");
            let steps = segment.count("steps").unwrap_or_default();
            history.push(Segment { world_size, steps });
        }
        Self::new(self.recipe(), epoch, history)
    }

    /// Whether the recipe of a state is the one that is here. A composed order may have got more since then, but nothing that changes an epoch
    /// of which something was taken. Failures: the first member that differs.
    fn check(&self, state: &Fields, epoch: u64, is_begun: bool) -> Result<(), Failure> {
        let lasting = self.recipe().lasting();
        let Some(order) = self.recipe().order().filter(|order| order.is_composed()) else {
            return state::check_recipe(state, &lasting, STATE_SECTIONS);
        };
        let of = state.section("recipe");
        order.check_resumes(of, (epoch.saturating_add(is_begun.into()), 0), AS_IN_STATE)?;
        fields::compare(&Fields::read(&lasting, STATE_SECTIONS)?, of, &STATE_SECTIONS[1..], AS_IN_STATE)
    }
}
