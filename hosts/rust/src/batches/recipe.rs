use serde_json::Value;
use wasmtime::component::ResourceAny;

use crate::Error;
use crate::engine::{Object, Store, batches, check_room, types};
use crate::recipe::{List, Shared, checked_recipe, shared, size_of_lists};

/// Everything that decides batches, as the component holds it. Batchers and streams are made of it.
#[doc(hidden)]
pub struct BatchRecipe {
    pub(crate) object: Object,
}

impl BatchRecipe {
    /// Of a text, with the lengths of samples, unless the text has them or there are none, and with other lists by their names.
    ///
    /// # Errors
    ///
    /// Those of [`BatchBuilder::build`](super::BatchBuilder::build).
    pub fn new(text: &str, lengths: Option<&[u32]>, lists: Vec<List>, memory_limit: usize) -> Result<Self, Error> {
        Self::sharing(text, lengths, &shared(lists), memory_limit)
    }

    /// The same without a copy of the lists.
    pub(crate) fn sharing(
        text: &str,
        lengths: Option<&[u32]>,
        lists: &[Shared],
        memory_limit: usize,
    ) -> Result<Self, Error> {
        let text = checked_recipe(text)?;
        let (count, bytes) = lengths.map_or((0, 0), |lengths| (lengths.len(), size_of_val(lengths)));
        check_room(memory_limit, "lengths", count, size_of_lists(lists).saturating_add(bytes))?;
        let lists = lists.iter().cloned().map(Into::into).collect::<Vec<_>>();
        let object = Object::new(memory_limit, |exports, store| {
            exports.samedeal_deal_batches().batch_recipe().call_constructor(store, text, lengths, &lists)
        })?;
        Ok(Self { object })
    }

    /// The canonical text has a world size.
    pub(super) fn world_size(&self) -> Result<u32, Error> {
        let recipe: Value = serde_json::from_str(&self.text()?).unwrap_or_default();
        Ok(recipe["deal"]["world_size"].as_u64().and_then(|ranks| u32::try_from(ranks).ok()).unwrap_or_default())
    }

    /// What is made of it, in the same instance.
    pub(super) fn make(
        &self,
        make: impl FnOnce(&batches::Guest, &mut Store, ResourceAny) -> wasmtime::Result<Result<ResourceAny, types::Failure>>,
    ) -> Result<Object, Error> {
        self.object.another(|exports, store, recipe| make(exports.samedeal_deal_batches(), store, recipe))
    }

    /// How many bytes of lists can be passed.
    pub(super) fn room(&self) -> usize {
        self.object.room()
    }
}
