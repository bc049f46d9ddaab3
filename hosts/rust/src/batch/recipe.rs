use serde_json::Value;

use crate::Error;
use crate::engine::{Instance, Object, batches, check_room};
use crate::members::{List, Shared};
use crate::recipe::{checked_recipe, named_list, shared, size_of_lists};

/// A recipe of batches in the component. Batchers and streams are made from it.
#[doc(hidden)]
pub struct BatchRecipe {
    pub(crate) object: Object<batches::BatchRecipe>,
}

impl BatchRecipe {
    /// A recipe from its text, the lengths of samples and the other lists, by name. `lengths` is none if the text
    /// contains the lengths, or the recipe is of a stream.
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

    /// [`new`](Self::new) for lists that other recipes share, and without the lengths: `num_lengths` is how many there
    /// are, and [`give`](Self::give) supplies the lengths that the component wants.
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

    /// Supplies the lengths that the component needs to complete a new recipe: of up to 16,384 samples. A recipe that
    /// contains its lengths, or is of a stream, needs none.
    pub(super) fn give(&self, lengths: impl Fn(&[u64]) -> Result<Vec<u32>, Error>) -> Result<(), Error> {
        let wanted = self.raw_wanted()?;
        if wanted.is_empty() {
            return Ok(());
        }
        self.raw_supply(&lengths(&wanted)?)
    }

    /// The world size, from the canonical text of the recipe, which always has it.
    pub(super) fn world_size(&self) -> Result<u32, Error> {
        let recipe: Value = serde_json::from_str(&self.recipe()?).unwrap_or_default();
        Ok(recipe["deal"]["world_size"].as_u64().and_then(|ranks| u32::try_from(ranks).ok()).unwrap_or_default())
    }
}
