//! The state of a schedule: the step to continue with.

use alloc::format;
use alloc::string::String;

use super::Schedule;
use super::recipe::STEPS;
use crate::base::Failure;
use crate::base::failure::only;
use crate::document::fields::Fields;
use crate::document::member::{Kind, Member};
use crate::document::recipe;
use crate::document::state::{self, CONSUMED, EPOCH, KIND, recipe_of};
use crate::order::ANY_ORDER;

const SECTIONS: &[Member] = &[ANY_ORDER, STEPS];
const STATE: &[Member] =
    &[recipe::SAMEDEAL, KIND, recipe_of(SECTIONS), EPOCH, CONSUMED, Member::new("step", Kind::COUNT)];

/// The words in failures for the reason why a value must be as in the state.
const AS_BEFORE: &str = "as in the state; to use another value, begin another training";

impl Schedule {
    /// The state before a step: a text for a checkpoint, the same on all ranks. Failures: `step`, `out-of-memory`.
    pub fn state(&self, step: u64) -> Result<String, Failure> {
        self.check_step(step)?;
        let (epoch, position) = self.order.find(self.before(step))?;
        let recipe = |each: &mut dyn FnMut(&str)| {
            ["\"order\":", self.order.text(), ","].into_iter().for_each(&mut *each);
            self.section(each);
        };
        state::write("schedule", &recipe, epoch, &format!(",\"consumed\":{position},\"step\":{step}"))
    }

    /// The step to go on with after a state. Failures: `state`; the first member of the order that differs;
    /// `global_batch_size`, `stages`, if steps already taken had other batch sizes; `step`, `consumed`; then
    /// `global_batch_size`, if a later step does not fit the ranks; `out-of-memory`.
    pub fn step_of_state(&self, state: &str) -> Result<u64, Failure> {
        let state = state::read(state, "schedule", STATE)?;
        let [epoch, consumed, step] = ["epoch", "consumed", "step"].map(|field| state.count(field).unwrap_or_default());
        let recipe = state.section("recipe");
        self.order.check_resumes(recipe, (epoch, consumed), AS_BEFORE)?;
        self.check_stages(recipe.section("steps"), step)?;
        self.check_step(step)?;
        let place = self.order.find(self.before(step))?;
        if place != (epoch, consumed) {
            let shown = |(epoch, position): (u64, u64)| format!("position {position} of epoch {epoch}");
            let allowed = only(shown((epoch, consumed))).and(", as in the state");
            return Err(Failure::contradiction("consumed", shown(place), allowed));
        }
        if step < self.num_steps {
            self.check_dealt(step)?;
        }
        Ok(step)
    }

    /// Checks that the steps already taken had the same batch sizes as here. Failures: `global_batch_size`, `stages`.
    fn check_stages(&self, of: &Fields, step: u64) -> Result<(), Failure> {
        let first = self.stages[0].global_batch_size;
        if step > 0 && of.count("global_batch_size") != Some(first.into()) {
            let allowed = of.shown("global_batch_size").unwrap_or_else(|| "not there".into());
            return Err(Failure::contradiction("global_batch_size", first, format!("{allowed}, {AS_BEFORE}"))
                .at("steps.global_batch_size"));
        }
        let own = self.stages.iter().skip(1).filter(|stage| stage.from < step);
        let own = own.map(|stage| (Some(stage.from), Some(u64::from(stage.global_batch_size))));
        let stages = of.objects("stages").iter().map(|stage| (stage.count("from"), stage.count("global_batch_size")));
        let mut past = stages.filter(|&(from, _)| from.is_none_or(|from| from < step));
        for (number, own) in own.map(Some).chain(core::iter::repeat(None)).enumerate() {
            let theirs = past.next();
            if own != theirs {
                let value = match (own, theirs) {
                    (None, _) => format!("without entry {number}"),
                    (_, None) => format!("with a new entry {number}"),
                    _ => format!("not as in the state at entry {number}"),
                };
                let shown = match theirs.or(own) {
                    Some((Some(from), Some(size))) => format!("{size} from step {from} on"),
                    _ => "a batch size".into(),
                };
                let was = if theirs.is_some() { "as in the state" } else { "is not in the state" };
                let allowed =
                    format!("entries that leave the steps before step {step} as they were taken: {shown} {was}");
                return Err(Failure::contradiction("stages", value, allowed).at("steps.stages"));
            }
            if own.is_none() {
                break;
            }
        }
        Ok(())
    }
}
