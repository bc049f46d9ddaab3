//! Splits of the Rust host.

use matrix::format::{self, SplitCall, strings};
use samedeal::{Error, Split};

use super::{Answer, numbers};

pub fn split(format::Split { recipe }: &format::Split) -> Result<Split, Error> {
    Split::from_recipe(recipe).build()
}

pub fn ask(split: &Split, call: &SplitCall) -> Answer {
    Ok(match *call {
        SplitCall::Recipe => split.recipe()?.into(),
        SplitCall::RecipeFingerprint => split.recipe_fingerprint()?.into(),
        SplitCall::Parts => split.parts().into(),
        SplitCall::PartOf { ref ids } => {
            let ids = numbers(ids);
            let parts = split.part_of_window(&ids)?;
            assert_eq!(split.part_of(&ids)?, parts, "in windows");
            parts.into()
        }
        SplitCall::PartOfRun { start, count } => split.part_of_run(start.0, count)?.into(),
        SplitCall::PartOfKeys { ref keys } => {
            let parts = split.part_of_keys_window(keys)?;
            assert_eq!(split.part_of_keys(keys)?, parts, "in windows");
            parts.into()
        }
        SplitCall::Members { part, start, count } => {
            let members = split.members(part, start.0, count)?;
            if start.0 == 0 {
                assert_eq!(split.indices(part, count.into())?, members, "in windows");
                let others = split.others(part, count.into())?;
                assert_eq!(others.len() + members.len(), count as usize, "in windows");
            }
            strings(&members)
        }
        SplitCall::AmongIds { ref ids, ref rest } => {
            let sizes = split.exact_sizes()?;
            sizes.add_ids(&numbers(ids))?;
            sizes.split(rest)?.recipe()?.into()
        }
        SplitCall::AmongKeys { ref keys, ref rest } => {
            let sizes = split.exact_sizes()?;
            sizes.add_keys(keys)?;
            sizes.split(rest)?.recipe()?.into()
        }
    })
}
