use serde_json::Value;

use crate::Error;
use crate::engine::{Instance, Object, batches, check_room};
use crate::members::{List, Shared};
use crate::recipe::{checked_recipe, named_list, shared, size_of_lists};

/// Everything that decides batches, as the component holds it. Batchers and streams are made of it.
#[doc(hidden)]
pub struct BatchRecipe {
    pub(crate) object: Object<batches::BatchRecipe>,
}

impl BatchRecipe {
    /// Of a text, with the lengths of samples, unless the text has them or there are none, and with other lists by their names.
    ///
    /// # Errors
    ///
    /// The errors of [`BatchBuilder::build`](super::BatchBuilder::build).
    pub fn new(text: &str, lengths: Option<&[u32]>, lists: Vec<List>, memory_limit: usize) -> Result<Self, Error> {
        let recipe = Self::sharing(text, lengths.map(|lengths| lengths.len() as u64), &shared(lists), memory_limit)?;
        if let Some(lengths) = lengths {
            recipe.give(|samples| Ok(samples.iter().map(|&sample| lengths[sample as usize]).collect()))?;
        }
        Ok(recipe)
    }

    /// A recipe without a copy of the lists, and with so many lengths, of which some have to be given (`give`).
    pub(crate) fn sharing(
        text: &str,
        num_lengths: Option<u64>,
        lists: &[Shared],
        memory_limit: usize,
    ) -> Result<Self, Error> {
        let text = checked_recipe(text)?;
        check_room(memory_limit, "lists", lists.len(), size_of_lists(lists))?;
        let lists = lists.iter().cloned().map(named_list).collect::<Vec<_>>();
        let instance = Instance::new(memory_limit)?;
        Ok(Self { object: Object::<batches::BatchRecipe>::new(instance, text, num_lengths, &lists)? })
    }

    /// Gives the lengths that the recipe wants.
    pub(super) fn give(&self, lengths: impl Fn(&[u64]) -> Result<Vec<u32>, Error>) -> Result<(), Error> {
        let wanted = self.raw_wanted()?;
        if wanted.is_empty() {
            return Ok(());
        }
        self.raw_supply(&lengths(&wanted)?)
    }

    /// The canonical text has a world size.
    pub(super) fn world_size(&self) -> Result<u32, Error> {
        let recipe: Value = serde_json::from_str(&self.recipe()?).unwrap_or_default();
        Ok(recipe["deal"]["world_size"].as_u64().and_then(|ranks| u32::try_from(ranks).ok()).unwrap_or_default())
    }
}
