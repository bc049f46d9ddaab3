//! The recipe of a schedule.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Schedule, Stage};
use crate::base::failure::{at_most, range};
use crate::base::memory::collect;
use crate::deal::recipe::{LISTS, layout, order, unit, unit_text};
use crate::state::fields::{Fields, Key, Kind};
use crate::state::numbers;
use crate::state::recipe::{self, List, VERSION};
use crate::{Failure, MAX_EXACT};

const SECTIONS: &[Key] = &[
    recipe::SAMEDEAL,
    recipe::ANY_ORDER,
    recipe::DEAL,
    STEPS,
    Key { name: "shards", field: "shards", kind: recipe::OF_READERS },
    Key { name: "batch", field: "batch", kind: Kind::Elsewhere("none in the recipe of a schedule: it has steps") },
    recipe::SPLIT_ELSEWHERE,
];
pub(super) const STEPS: Key = Key { name: "steps", field: "steps", kind: Kind::Section(MEMBERS) };
const MEMBERS: &[Key] = &[
    Key { name: "batch_size", field: "batch-size", kind: Kind::SHORT },
    Key { name: "epochs", field: "epochs", kind: Kind::COUNT },
    Key { name: "stages", field: "stages", kind: Kind::Objects(STAGE) },
];
const STAGE: &[Key] = &[
    Key { name: "from", field: "from", kind: Kind::COUNT },
    Key { name: "batch_size", field: "batch-size", kind: Kind::SHORT },
];

const MAX_STAGES: usize = 1 << 16;

impl Schedule {
    /// Reads a document, and the lists of its order. Failures: those of a recipe of a sampler; `steps`, any field of it; `rank`.
    #[inline(never)]
    pub fn read(text: &str, lists: &[List], rank: u32) -> Result<Self, Failure> {
        let fields = recipe::fields(text, SECTIONS, lists, &LISTS)?;
        let order = order(&fields, lists)?;
        let empty = Fields::default();
        let deal = fields.section("deal").unwrap_or(&empty);
        let world_size = deal.u32("world-size")?.unwrap_or(1);
        let layout = layout(deal, &order)?;
        let unit = unit(deal)?;
        if let Some(value) = deal.shown("remainder") {
            let allowed = "none in the recipe of a schedule: a step goes on with the next epoch";
            return Err(Failure::contradiction("remainder", value, allowed));
        }
        if world_size == 0 {
            return Err(Failure::out_of_range("world-size", 0, range(1, u32::MAX)));
        }
        let stages = stages(&fields)?;
        check_fit(&stages, world_size, unit)?;
        if order.length(0)? == 0 {
            return Err(Failure::out_of_range("samples", 0, range(1, MAX_EXACT).and(" positions in epoch 0")));
        }
        let epochs = fields.section("steps").and_then(|steps| steps.count("epochs"));
        let most = order.epochs()?;
        if let Some(epochs) = epochs.filter(|epochs| !(1..=most).contains(epochs)) {
            return Err(Failure::out_of_range("epochs", epochs, range(1, most)));
        }
        Self::new((Rc::new(order), epochs), (rank, world_size), layout, unit, Rc::new(stages))
    }

    /// The canonical text: JSON in one line, with every field that there is, the defaults too.
    #[inline(never)]
    pub(super) fn text(&self) -> String {
        let Self { order, world_size, layout, unit, .. } = self;
        format!(
            "{{\"samedeal\":{VERSION},\"order\":{},\"deal\":{{\"world_size\":{world_size},\"layout\":\"{}\"{}}},{}}}",
            order.text(),
            layout.name(),
            unit_text(*unit),
            self.section()
        )
    }

    /// The member `steps` of the canonical text.
    pub(super) fn section(&self) -> String {
        let later = self.stages.iter().skip(1);
        let later =
            later.map(|Stage { from, batch_size, .. }| format!("{{\"from\":{from},\"batch_size\":{batch_size}}}"));
        let stages = match self.stages.len() {
            1 => String::new(),
            _ => format!(",\"stages\":{}", numbers::list(later)),
        };
        let epochs = self.epochs.map_or(String::new(), |epochs| format!(",\"epochs\":{epochs}"));
        format!("\"steps\":{{\"batch_size\":{}{epochs}{stages}}}", self.stages[0].batch_size)
    }

    /// SHA-256 over the canonical text, in hexadecimal.
    pub fn recipe_fingerprint(&self) -> String {
        recipe::fingerprint(&self.text())
    }
}

/// The stages, the first of which begins at step 0. Failures: `steps`, `batch-size`, `stages`, `from`.
fn stages(fields: &Fields) -> Result<Vec<Stage>, Failure> {
    let what = "the samples that all ranks together take at a step";
    let Some(steps) = fields.section("steps") else {
        return Err(Failure::missing("steps", "the section that has the batch size"));
    };
    let Some(first) = steps.count("batch-size") else {
        return Err(Failure::missing("batch-size", format!("{what}, from step 0 on")));
    };
    let objects = steps.objects("stages");
    if objects.len() > MAX_STAGES {
        return Err(Failure::out_of_range("stages", format!("{} objects", objects.len()), at_most(MAX_STAGES)));
    }
    let mut sizes: Vec<(u64, u64)> = collect("stages", objects.len() + 1, [(0, first)])?;
    for object in objects {
        let Some(from) = object.count("from") else {
            return Err(Failure::missing("from", "the first step of each stage"));
        };
        let Some(size) = object.count("batch-size") else { return Err(Failure::missing("batch-size", what)) };
        let least = sizes.last().map_or(0, |&(from, _)| from).saturating_add(1);
        if !(least..=MAX_EXACT).contains(&from) {
            return Err(Failure::out_of_range("from", from, range(least, MAX_EXACT).and(", after the stage before")));
        }
        sizes.push((from, size));
    }
    let mut stages: Vec<Stage> = collect("stages", sizes.len(), [])?;
    for (from, size) in sizes {
        let Some(batch_size) = u32::try_from(size).ok().filter(|&size| size > 0) else {
            return Err(Failure::out_of_range("batch-size", size, range(1, u32::MAX)));
        };
        let before = stages.last().map_or(0, |last| {
            let steps = from - last.from;
            steps.saturating_mul(last.batch_size.into()).saturating_add(last.before)
        });
        stages.push(Stage { from, batch_size, before });
    }
    Ok(stages)
}

/// Whether every rank can have as many units of a step.
pub(super) fn fits(batch_size: u32, world_size: u32, unit: u32) -> bool {
    u64::from(batch_size).is_multiple_of(u64::from(world_size) * u64::from(unit))
}

pub(super) fn unfit(Stage { from, batch_size, .. }: Stage, world_size: u32, unit: u32) -> Failure {
    let row = u64::from(world_size) * u64::from(unit);
    let times = if unit == 1 { "" } else { " times unit" };
    let allowed = format!("a multiple of {row}, the world size{times}, from step {from} on");
    Failure::contradiction("batch-size", batch_size, allowed)
}

/// Failures: `batch-size`, where ranks cannot have equal shares of the last steps. Stages before may be of a past with other ranks.
fn check_fit(stages: &[Stage], world_size: u32, unit: u32) -> Result<(), Failure> {
    for stage in stages {
        if !stage.batch_size.is_multiple_of(unit) {
            let allowed = format!("a multiple of {unit}, which is unit");
            return Err(Failure::contradiction("batch-size", stage.batch_size, allowed));
        }
    }
    match stages.last().filter(|stage| !fits(stage.batch_size, world_size, unit)) {
        Some(stage) => Err(unfit(*stage, world_size, unit)),
        None => Ok(()),
    }
}
