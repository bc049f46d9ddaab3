//! The recipe of a schedule.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Schedule;
use super::stage::{Stage, fits, of_stage, unfit};
use crate::base::failure::range;
use crate::base::memory::collect;
use crate::base::{Failure, MAX_EXACT};
use crate::deal::recipe::{self as deal, layout, unit_text};
use crate::document::fields::Fields;
use crate::document::lists::List;
use crate::document::member::{Kind, Member, text};
use crate::document::recipe::{self, VERSION};
use crate::order;
use crate::order::OrderPart;

pub(crate) const SECTIONS: &[Member] = &[
    recipe::SAMEDEAL,
    order::ANY_ORDER,
    deal::DEAL.of(Kind::Section(DEAL)),
    STEPS,
    Member::new("shards", Kind::Elsewhere(recipe::OF_READERS)),
    Member::new("batch", Kind::Elsewhere("none in the recipe of a schedule: it has steps")),
    recipe::SPLIT_ELSEWHERE,
];
const DEAL: &[Member] = &[
    deal::WORLD_SIZE,
    deal::REMAINDER.elsewhere("none in the recipe of a schedule: a step goes on with the next epoch"),
    deal::LAYOUT,
    deal::UNIT,
    deal::WORKERS.elsewhere(recipe::OF_READERS),
    deal::READERS.elsewhere(recipe::OF_STREAMS),
];
pub(super) const STEPS: Member =
    Member::new("steps", Kind::Section(MEMBERS)).required("the section that has the batch size");
const MEMBERS: &[Member] = &[
    GLOBAL_BATCH_SIZE,
    Member::new("epochs", Kind::POSITIVE).text(text!("The number of epochs; by default, as many as there can be.")),
    Member::new("stages", Kind::Objects { of: STAGE, most: MAX_STAGES })
        .text(text!("Other batch sizes from later steps on.")),
];
const GLOBAL_BATCH_SIZE: Member = Member::new("global_batch_size", Kind::SHORT_POSITIVE)
    .required("the samples that all ranks together take at a step")
    .text(text!("How many samples all ranks together take at a step."));
const STAGE: &[Member] =
    &[Member::new("from", Kind::POSITIVE).required("the first step of each stage"), GLOBAL_BATCH_SIZE];

const MAX_STAGES: usize = 1 << 16;

impl Schedule {
    /// Reads the recipe of a schedule, with the lists of its order. Failures: as for the recipe of a sampler; `steps`,
    /// any field of it; `rank`.
    #[inline(never)]
    pub fn read(text: &str, lists: &[List], rank: u32) -> Result<Self, Failure> {
        recipe::read(text, SECTIONS, lists, |fields| {
            let order = OrderPart::of_recipe(fields, lists)?;
            let deal = fields.check_section("deal", &[])?;
            let (world_size, layout, unit) = (deal.short("world_size"), layout(&deal, &order), deal.short("unit"));
            let steps = fields.check_section("steps", &[])?;
            let stages = stages(&steps)?;
            check_fit(&stages, world_size, unit)?;
            if order.length(0)? == 0 {
                return Err(Failure::out_of_range("samples", 0, range(1, MAX_EXACT).and(" positions in epoch 0")));
            }
            let epochs = steps.count("epochs");
            let most = order.epochs()?;
            if let Some(epochs) = epochs.filter(|&epochs| epochs > most) {
                return Err(Failure::out_of_range("epochs", epochs, range(1, most)));
            }
            Self::new((Rc::new(order), epochs), (rank, world_size), layout, unit, Rc::new(stages))
        })
    }

    /// The recipe in its canonical form (SPEC.md, section 14). Failures: `out-of-memory`.
    pub fn recipe(&self) -> Result<String, Failure> {
        recipe::canonical(&|each| self.pieces(each))
    }

    /// SHA-256 over the canonical text, in hexadecimal.
    pub fn recipe_fingerprint(&self) -> String {
        recipe::fingerprint(&|each| self.pieces(each))
    }

    /// Calls `each` with each piece of the canonical text.
    #[inline(never)]
    fn pieces(&self, each: &mut dyn FnMut(&str)) {
        let Self { order, world_size, layout, unit, .. } = self;
        each(&format!("{{\"samedeal\":{VERSION},\"order\":"));
        each(order.text());
        let (layout, unit) = (layout.name(), unit_text(*unit));
        each(&format!(",\"deal\":{{\"world_size\":{world_size},\"layout\":\"{layout}\"{unit}}},"));
        self.section(each);
        each("}");
    }

    /// Calls `each` with each piece of the member `steps` of the canonical text.
    #[inline(never)]
    pub(super) fn section(&self, each: &mut dyn FnMut(&str)) {
        each(&format!("\"steps\":{{\"global_batch_size\":{}", self.stages[0].global_batch_size));
        if let Some(epochs) = self.epochs {
            each(&format!(",\"epochs\":{epochs}"));
        }
        let mut before = ",\"stages\":[";
        for Stage { from, global_batch_size, .. } in self.stages.iter().skip(1) {
            each(&format!("{before}{{\"from\":{from},\"global_batch_size\":{global_batch_size}}}"));
            before = ",";
        }
        each(if self.stages.len() > 1 { "]}" } else { "}" });
    }
}

/// The stages, the first of which begins at step 0. Failures: `from`, `out-of-memory`.
fn stages(steps: &Fields) -> Result<Vec<Stage>, Failure> {
    let objects = steps.objects("stages");
    let mut stages: Vec<Stage> = collect("stages", objects.len() + 1, [])?;
    stages.push(Stage { from: 0, global_batch_size: steps.short("global_batch_size"), before: 0 });
    for (index, object) in objects.iter().enumerate() {
        let from = object.number("from");
        let last = stages[stages.len() - 1];
        if from <= last.from {
            let allowed = range(last.from + 1, MAX_EXACT).and(", after the stage before");
            return Err(Failure::out_of_range("from", from, allowed).in_element("steps.stages", index));
        }
        let before = (from - last.from).saturating_mul(last.global_batch_size.into()).saturating_add(last.before);
        stages.push(Stage { from, global_batch_size: object.short("global_batch_size"), before });
    }
    Ok(stages)
}

/// Checks that all batch sizes are multiples of `unit`, and that ranks can have equal shares in the last stage. Earlier
/// stages may have been taken with another world size. Failures: `global_batch_size`.
fn check_fit(stages: &[Stage], world_size: u32, unit: u32) -> Result<(), Failure> {
    for (number, stage) in stages.iter().enumerate() {
        if !stage.global_batch_size.is_multiple_of(unit) {
            let allowed = format!("a multiple of {unit}, which is unit");
            return Err(of_stage(
                number,
                Failure::contradiction("global_batch_size", stage.global_batch_size, allowed),
            ));
        }
    }
    match stages.iter().enumerate().next_back() {
        Some((number, stage)) if !fits(stage.global_batch_size, world_size, unit) => {
            Err(unfit(number, *stage, world_size, unit))
        }
        _ => Ok(()),
    }
}
