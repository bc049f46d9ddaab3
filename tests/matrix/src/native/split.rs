//! Splits of the core.

use samedeal_core::Split;

use super::Answer;
use crate::format::{SplitCall, strings};

pub(super) fn ask(split: &Split, call: &SplitCall) -> Answer {
    Ok(match call {
        SplitCall::Recipe => split.text()?.into(),
        SplitCall::RecipeFingerprint => split.fingerprint().into(),
        SplitCall::Parts => split.parts()?.into(),
        SplitCall::PartOf { ids } => {
            let ids: Vec<u64> = ids.iter().map(|id| id.0).collect();
            split.part_of(&ids)?.into()
        }
        SplitCall::PartOfRun { start, count } => split.part_of_run(start.0, *count)?.into(),
        SplitCall::PartOfKeys { keys } => split.part_of_keys(&keys.concat(), &ends_of(keys))?.into(),
        SplitCall::Members { part, start, count } => strings(&split.members(*part, start.0, *count)?),
        SplitCall::AmongIds { ids, rest } => {
            let mut sizes = split.exact_sizes()?;
            let ids: Vec<u64> = ids.iter().map(|id| id.0).collect();
            sizes.add_ids(&ids)?;
            sizes.recipe(rest)?.into()
        }
        SplitCall::AmongKeys { keys, rest } => {
            let mut sizes = split.exact_sizes()?;
            sizes.add_keys(&keys.concat(), &ends_of(keys))?;
            sizes.recipe(rest)?.into()
        }
    })
}

/// The end of each text in bytes, if all are laid end to end.
fn ends_of(keys: &[String]) -> Vec<u32> {
    let ends = keys.iter().scan(0, |end, key| {
        *end += key.len() as u32;
        Some(*end)
    });
    ends.collect()
}
