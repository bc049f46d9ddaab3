//! Everything that decides a deal, as one document.
//!
//! Sections are objects of their own, so that each stage has its own: `order`, then `deal`. What is not given has its default,
//! and an option that nothing uses is refused. SPEC.md, section 14, has the grammar.
//!
//! Nothing here is asked often: it is kept out of line, since every host compiles the component when it starts.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use crate::base::memory::collect;
use crate::base::names::{name_of, named};
use crate::deal::REMAINDERS;
use crate::order::{DEFAULT_LANES, DEFAULT_WINDOW, Sharding, Shards};
use crate::state::fields::{Fields, Key, Kind};
use crate::state::numbers::{self, Chosen};
use crate::state::recipe::{self, List, VERSION};
use crate::{Config, Failure, Layout, OrderId, Remainder, Sampler};

const LAYOUTS: [(&str, Layout); 2] = [("strided", Layout::Strided), ("contiguous", Layout::Contiguous)];

const SECTIONS: &[Key] = &[recipe::SAMEDEAL, recipe::ORDER, recipe::DEAL, BATCH];
const BATCH: Key = Key {
    name: "batch",
    field: "batch",
    kind: Kind::Elsewhere("none in the recipe of a sampler: a recipe of batches makes batches"),
};

/// Everything that decides a deal: the order of every epoch, and who takes which position of it. It says nothing of an epoch, of a
/// rank, or of how far anything was read.
///
/// ```
/// use samedeal_core::{Recipe, Sampler};
/// let recipe = Recipe::read(r#"{"order": {"samples": 10, "seed": 42}, "deal": {"world_size": 4}}"#, &[])?;
/// assert_eq!(
///     recipe.text(),
///     r#"{"samedeal":1,"order":{"name":"feistel","samples":10,"seed":42},"deal":{"world_size":4,"remainder":"pad","layout":"strided"}}"#,
/// );
/// assert_eq!(Sampler::from_recipe(&recipe)?.num_samples(), 3);
/// # Ok::<(), samedeal_core::Failure>(())
/// ```
#[derive(Clone)]
pub struct Recipe {
    order: OrderPart,
    world_size: u32,
    remainder: Remainder,
    layout: Layout,
}

/// The order of every epoch.
#[derive(Clone)]
struct OrderPart {
    id: OrderId,
    samples: u64,
    seed: i64,
    sharding: Option<Rc<Sharding>>,
}

/// The fields that may be lists.
const LISTS: [&str; 1] = ["sizes"];

impl Recipe {
    /// Reads a document, and the lists that it has as a hash alone, or not at all. Failures: `recipe` (no JSON object, or more than
    /// 2^20 bytes), `recipe-member`, `order-member` or `deal-member` (an unknown one), `lists` (an unknown name), or any field.
    #[inline(never)]
    pub fn read(text: &str, lists: &[List]) -> Result<Self, Failure> {
        let fields = recipe::fields(text, SECTIONS, lists, &LISTS)?;
        let order = match fields.section("order") {
            Some(order) => OrderPart::of(order, lists)?,
            None => return Err(Failure::missing("order", "the section that has the samples and their order")),
        };
        let empty = Fields::default();
        let deal = fields.section("deal").unwrap_or(&empty);
        let made = Self {
            order,
            world_size: deal.u32("world-size")?.unwrap_or(1),
            remainder: named("remainder", deal.text("remainder"), &REMAINDERS)?,
            layout: named("layout", deal.text("layout"), &LAYOUTS)?,
        };
        made.config()?;
        Ok(made)
    }

    /// The recipe of a configuration, whose fields were checked.
    pub(crate) fn of(config: &Config, sharding: Option<&Rc<Sharding>>) -> Self {
        let &Config { samples, seed, order: id, world, remainder, layout, .. } = config;
        let sharding = sharding.cloned();
        Self { order: OrderPart { id, samples, seed, sharding }, world_size: world, remainder, layout }
    }

    /// The canonical text: JSON in one line, with every field that there is, the defaults too. Equal recipes have equal texts.
    #[inline(never)]
    pub fn text(&self) -> String {
        let Self { order, world_size, remainder, layout } = self;
        let (remainder, layout) = (name_of(remainder, &REMAINDERS), name_of(layout, &LAYOUTS));
        format!(
            "{{\"samedeal\":{VERSION},\"order\":{},\"deal\":{{\"world_size\":{world_size},\"remainder\":\"{remainder}\",\
             \"layout\":\"{layout}\"}}}}",
            order.text()
        )
    }

    /// SHA-256 over the canonical text, in hexadecimal. It names the run.
    pub fn fingerprint(&self) -> String {
        recipe::fingerprint(&self.text())
    }

    /// The configuration of rank 0 in epoch 0. Failures: any field that is out of its range.
    #[inline(never)]
    fn config(&self) -> Result<Config, Failure> {
        let Self { order: OrderPart { id, samples, seed, .. }, world_size, remainder, layout } = *self;
        let config = Config { seed, order: id, world: world_size, remainder, layout, ..Config::new(samples) };
        match config.deal() {
            Ok(_) => Ok(config),
            Err(failure) if failure.field == "world" => Err(failure.of("world-size")),
            Err(failure) => Err(failure),
        }
    }
}

impl Sampler {
    /// A sampler of a recipe, of rank 0 in epoch 0, in O(1). Failures: `samples` (no memory).
    pub fn from_recipe(recipe: &Recipe) -> Result<Self, Failure> {
        Self::of(recipe.config()?, recipe.order.sharding.clone())
    }

    /// The recipe: everything that decides this deal, but the epoch, the rank and what was consumed.
    pub fn recipe(&self) -> Recipe {
        Recipe::of(self.config(), self.sharding.as_ref())
    }
}

impl OrderPart {
    /// Failures: any field.
    #[inline(never)]
    fn of(fields: &Fields, lists: &[List]) -> Result<Self, Failure> {
        let sizes = sizes(fields, lists)?;
        // A list does not choose the order: a recipe is of one deal, whatever comes with it.
        let id = match fields.text("order") {
            Some(name) => OrderId::from_name(name)?,
            None if fields.numbers("sizes").is_some() => OrderId::Sharded,
            None => OrderId::Feistel,
        };
        let seed = fields.signed("seed").unwrap_or(0);
        let samples = fields.count("samples");
        if id == OrderId::Sharded {
            let Some(sizes) = sizes else {
                return Err(Failure::missing("sizes", "the samples of each shard, with the order sharded"));
            };
            let shards = Shards::new(&sizes)?;
            let all = shards.samples();
            same("shards", fields.count("shards"), shards.count().into())?;
            same("samples", samples, all)?;
            let lanes = fields.u32("lanes")?.unwrap_or(DEFAULT_LANES);
            let window = fields.u32("shuffle-window")?.unwrap_or(DEFAULT_WINDOW);
            let sharding = Sharding::new(shards, lanes, window).map_err(|failure| match failure.field {
                "window" => failure.of("shuffle-window"),
                _ => failure,
            })?;
            return Ok(Self { id, samples: all, seed, sharding: Some(Rc::new(sharding)) });
        }
        recipe::refuse_sharding(fields, id.name())?;
        if let Some(sizes) = sizes {
            return Err(recipe::not_sharded("sizes", &format!("{} numbers", sizes.len()), id.name()));
        }
        match samples {
            Some(samples) => Ok(Self { id, samples, seed, sharding: None }),
            None => Err(Failure::missing("samples", "the number of samples in the dataset")),
        }
    }

    fn text(&self) -> String {
        let Self { id, samples, seed, sharding } = self;
        let mut text = format!("{{\"name\":\"{}\",\"samples\":{samples},\"seed\":{seed}", id.name());
        if let Some(sharding) = sharding {
            let Sharding { shards, lanes, window } = &**sharding;
            let (count, sizes) = (shards.count(), numbers::text(shards.sizes()));
            text += &format!(",\"lanes\":{lanes},\"shuffle_window\":{window},\"shards\":{count},\"sizes\":{sizes}");
        }
        text + "}"
    }
}

/// The sizes of the shards: those of the document, or of the list, which has to be what the document has, if it has both.
/// Failures: `sizes`, `out-of-memory`.
#[inline(never)]
fn sizes(fields: &Fields, lists: &[List]) -> Result<Option<Vec<u64>>, Failure> {
    let list = lists.iter().find(|(name, _)| *name == "sizes").map(|&(_, list)| list);
    let beside = list.map(|list| list.iter().copied());
    let numbers = match numbers::chosen("sizes", "the samples of each shard", fields.numbers("sizes"), beside)? {
        Chosen::Nowhere => return Ok(None),
        Chosen::Text(numbers) => numbers,
        Chosen::Beside => list.unwrap_or_default(),
    };
    collect("sizes", numbers.len(), numbers.iter().copied()).map(Some)
}

/// Whether a number that may be there is what it has to be. Failures: `field`.
fn same(field: &'static str, given: Option<u64>, here: u64) -> Result<(), Failure> {
    match given {
        Some(given) if given != here => Err(Failure::contradiction(field, given, format!("{here}, as sizes has"))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::recipe::MAX_RECIPE;

    #[test]
    fn recipes_end_somewhere() {
        let text = |len: usize| {
            let recipe = "{\"order\":{\"samples\":10}}";
            format!("{recipe}{}", " ".repeat(len - recipe.len()))
        };
        assert!(Recipe::read(&text(MAX_RECIPE), &[]).is_ok());
        let failure = Recipe::read(&text(MAX_RECIPE + 1), &[]).err().unwrap();
        assert_eq!((failure.field, &*failure.value), ("recipe", "of 1048577 bytes"));
        for open in ["{\"order\":", "{\"order\":{\"sizes\":[", "["] {
            assert!(Recipe::read(&open.repeat(MAX_RECIPE / 32), &[]).is_err());
        }
    }

    #[test]
    fn a_canonical_text_is_read_as_what_wrote_it() {
        let sizes: Vec<u64> = (0..1_000).collect();
        let sampler = Sampler::sharded(
            Config {
                order: OrderId::Sharded,
                seed: i64::MIN,
                world: 7,
                remainder: Remainder::Drop,
                ..Config::new(499_500)
            },
            &sizes,
            5,
            1 << 20,
        )
        .unwrap();
        let text = sampler.recipe().text();
        let again = Sampler::from_recipe(&Recipe::read(&text, &[("sizes", &sizes)]).unwrap()).unwrap();
        assert_eq!(again.config(), sampler.config());
        assert_eq!(again.sharding(), Ok(Some((sizes, 5, 1 << 20))));
        assert_eq!(again.recipe().text(), text);
        assert_eq!(again.recipe().fingerprint(), sampler.recipe().fingerprint());
        assert_eq!(again.indices::<u64>(0, 9), sampler.indices(0, 9));
    }
}
