use crate::engine::{MOST_MEMORY, Object, Samedeal, check_room, cut, sampling};
use crate::{Builder, Config, Error, Failure, Sampler, Sharding};

/// The most bytes of a recipe: what does not fit into the memory would stop the component before it can say so.
const MAX_RECIPE: usize = 1 << 20;

/// A recipe, if it is not longer than any.
pub(crate) fn checked_recipe(recipe: &str) -> Result<&str, Failure> {
    if recipe.len() > MAX_RECIPE {
        let value = format!("of {} bytes", recipe.len());
        let failure = Failure::out_of_range("recipe", value, format!("up to {MAX_RECIPE}"));
        return Err(failure.within(None, Some(MAX_RECIPE as u64)));
    }
    Ok(recipe)
}

/// Recipes: everything that decides a deal, as one JSON document.
impl Builder {
    /// The sampler of a recipe, at epoch 0, as rank 0. A value that is left out has its default. `order` must be there,
    /// with `samples` or the `sizes` of shards. SPEC.md, section 14, has the grammar.
    ///
    /// ```
    /// use samedeal::Builder;
    /// let recipe = r#"{"order": {"samples": 1000, "seed": 42}, "deal": {"world_size": 4}}"#;
    /// let sampler = Builder::from_recipe(recipe)?.rank(3).build()?;
    /// assert_eq!(
    ///     sampler.recipe()?,
    ///     concat!(
    ///         r#"{"samedeal":1,"order":{"name":"feistel","samples":1000,"seed":42},"#,
    ///         r#""deal":{"world_size":4,"remainder":"pad","layout":"strided"}}"#,
    ///     )
    /// );
    /// # Ok::<(), samedeal::Error>(())
    /// ```
    /// Errors: [`WrongType`](crate::FailureKind::WrongType) (`recipe`: it is no JSON object; or a field),
    /// [`UnknownName`](crate::FailureKind::UnknownName) (`recipe-member`, `order-member`, `deal-member`: there is no
    /// such member; or a field), [`Missing`](crate::FailureKind::Missing) (`order`, `samples`, `sizes`),
    /// [`OutOfRange`](crate::FailureKind::OutOfRange) (`recipe`: more than 2^20 bytes; or a field),
    /// [`Contradiction`](crate::FailureKind::Contradiction) (a field that the order does not use, or that is there
    /// twice).
    pub fn from_recipe(recipe: &str) -> Result<Self, Error> {
        Self::of_recipe(recipe, Vec::new())
    }

    /// The same for a recipe of the order `sharded` that has the `sizes` of its shards as a hash, or not at all.
    /// Errors: as [`from_recipe`](Self::from_recipe); contradiction (`sizes`: they are not those of the recipe), out of
    /// memory.
    pub fn from_recipe_and_sizes(recipe: &str, sizes: impl Into<Vec<u64>>) -> Result<Self, Error> {
        Self::of_recipe(recipe, vec![("sizes".to_owned(), sizes.into())])
    }

    /// With all lists by their names.
    #[doc(hidden)]
    pub fn of_recipe(recipe: &str, lists: Vec<(String, Vec<u64>)>) -> Result<Self, Error> {
        let recipe = checked_recipe(recipe)?;
        let count = lists.iter().map(|(_, numbers)| numbers.len()).sum();
        // Twice, since what is asked below comes back as a copy.
        check_room(MOST_MEMORY, "sizes", count, 2 * 8 * count)?;
        let list = |(name, numbers)| sampling::NamedList { name: cut(name), numbers };
        let lists: Vec<_> = lists.into_iter().map(list).collect();
        let sampler = Object::new(MOST_MEMORY, |exports: &Samedeal, store| {
            exports.samedeal_deal_sampling().sampler().call_from_recipe(store, recipe, &lists)
        })?;
        let config = sampler
            .call(|exports, store, sampler| exports.samedeal_deal_sampling().sampler().call_config(store, sampler))?;
        let sharding = sampler
            .ask(|exports, store, sampler| exports.samedeal_deal_sampling().sampler().call_sharding(store, sampler))?;
        let sharding =
            sharding.map(|sampling::Sharding { sizes, lanes, window }| Sharding { sizes: sizes.into(), lanes, window });
        Ok(Config::of(config, sharding).into())
    }
}

impl Sampler {
    /// The recipe of this sampler: JSON in one line, with every field that there is, the defaults too. It is the same
    /// on all ranks and in all epochs, and the same text in every host. The `sizes` of more than 256 shards are a hash.
    /// [`Builder::from_recipe`] makes the sampler again.
    pub fn recipe(&self) -> Result<String, Error> {
        self.call(|methods, store, sampler| methods.call_recipe(store, sampler))
    }

    /// SHA-256 over the recipe, in hexadecimal: it identifies the run.
    pub fn recipe_fingerprint(&self) -> Result<String, Error> {
        self.call(|methods, store, sampler| methods.call_recipe_fingerprint(store, sampler))
    }
}
