//! Recipes of samplers: everything that decides a deal, as one document.
//!
//! Each stage has a section of its own, which is an object: `order`, then `deal`. A member that is not given has its
//! default, and a member without a use is refused. SPEC.md, section 14, has the grammar.
//!
//! The larger functions here are not inlined, because that keeps the component small: they are rarely called, and every
//! host compiles the component when it starts.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use super::dealt::{LAYOUTS, MAX_UNIT, REMAINDERS};
use crate::base::Failure;
use crate::base::memory::Pieces;
use crate::deal::{Config, Layout, Remainder, Sampler};
use crate::document::fields::Fields;
use crate::document::lists::List;
use crate::document::member::{Default, Kind, Member, names, text};
use crate::document::recipe::{self, OF_READERS, OF_STREAMS, VERSION};
use crate::order::{ANY_ORDER, OrderPart};

pub(crate) const SECTIONS: &[Member] = &[
    recipe::SAMEDEAL,
    ANY_ORDER,
    DEAL,
    recipe::STEPS_ELSEWHERE,
    recipe::SPLIT_ELSEWHERE,
    Member::new(
        "shards",
        Kind::Elsewhere("none in the recipe of a sampler: whole shards belong to plans and to readers"),
    ),
    Member::new("batch", Kind::Elsewhere("none in the recipe of a sampler: a recipe of batches makes batches")),
];

/// The section `deal` of samplers, which deal single positions to ranks.
pub(crate) const DEAL: Member = Member::new("deal", Kind::Section(MEMBERS)).or(Default::Empty);

pub(crate) const WORLD_SIZE: Member =
    Member::new("world_size", Kind::SHORT_POSITIVE).or_number(1).text(text!("Number of ranks."));
pub(crate) const WORKERS: Member =
    Member::new("workers", Kind::SHORT_POSITIVE).or_number(1).text(text!("Number of loader workers of each rank."));
pub(crate) const REMAINDER: Member = Member::new("remainder", Kind::Name(const { &names(&REMAINDERS) })).text(text!(
    "What happens if the number of ranks (in a reading: of readers) does not divide the number of positions."
));
pub(crate) const LAYOUT: Member = Member::new("layout", Kind::Name(const { &names(&LAYOUTS) })).text(text!(
    "Which positions belong to a rank; by default `rotated` if an epoch can have a sample twice, but not with `by_lane`; else `strided`."
));
pub(crate) const UNIT: Member = Member::new("unit", Kind::from_one(MAX_UNIT))
    .or_number(1)
    .text(text!("How many neighbouring positions always go to the same rank."));
pub(crate) const READERS: Member =
    Member::new("readers", Kind::SHORT_POSITIVE).or_number(1).text(text!("Number of readers."));
const MEMBERS: &[Member] =
    &[WORLD_SIZE, REMAINDER, LAYOUT, UNIT, WORKERS.elsewhere(OF_READERS), READERS.elsewhere(OF_STREAMS)];

/// The recipe of a sampler: the order of every epoch, and the deal of its positions to ranks. It has no epoch, no rank,
/// and no number of positions that were read.
///
/// ```
/// use samedeal_core::{Recipe, Sampler};
/// let recipe = Recipe::read(r#"{"order": {"samples": 10, "seed": 42}, "deal": {"world_size": 4}}"#, &[])?;
/// assert_eq!(
///     recipe.text()?,
///     r#"{"samedeal":1,"order":{"name":"feistel","samples":10,"seed":42},"deal":{"world_size":4,"remainder":"pad","layout":"strided"}}"#,
/// );
/// assert_eq!(Sampler::from_recipe(&recipe, 0, 1)?.num_samples(), 3);
/// # Ok::<(), samedeal_core::Failure>(())
/// ```
#[derive(Clone)]
pub struct Recipe {
    order: Rc<OrderPart>,
    world_size: u32,
    remainder: Remainder,
    layout: Layout,
    unit: u32,
}

impl Recipe {
    /// Reads a document. `lists` has the lists that are not in the document, or only as a hash. Failures: `recipe` (no
    /// JSON object, or more than 2^24 bytes), an unknown member, `lists` (an unknown name), or any field.
    #[inline(never)]
    pub fn read(text: &str, lists: &[List]) -> Result<Self, Failure> {
        recipe::read(text, SECTIONS, lists, |fields| {
            let order = OrderPart::of_recipe(fields, lists)?;
            let deal = fields.check_section("deal", &[])?;
            let made = Self {
                world_size: deal.short("world_size"),
                remainder: deal.named("remainder", &REMAINDERS),
                layout: layout(&deal, &order),
                unit: deal.short("unit"),
                order: Rc::new(order),
            };
            made.config(0, 0).deal(made.order.length(0)?)?;
            Ok(made)
        })
    }

    /// The recipe of a configuration, whose fields were checked.
    pub(super) fn of(config: &Config, order: Rc<OrderPart>) -> Self {
        let &Config { world_size, remainder, layout, unit, .. } = config;
        Self { order, world_size, remainder, layout, unit }
    }

    /// The canonical text (SPEC.md, section 14). Equal recipes have equal texts. Failures: `out-of-memory`.
    pub fn text(&self) -> Result<String, Failure> {
        self.pieces(recipe::canonical)
    }

    /// SHA-256 over the canonical text, in hexadecimal. It names the run.
    pub fn fingerprint(&self) -> String {
        self.pieces(recipe::fingerprint)
    }

    /// Calls `with` with the canonical text.
    #[inline(never)]
    pub(super) fn pieces<T>(&self, with: impl FnOnce(&Pieces) -> T) -> T {
        let Self { order, world_size, remainder, layout, unit } = self;
        let (remainder, layout, unit) = (remainder.name(), layout.name(), unit_text(*unit));
        let begin = format!("{{\"samedeal\":{VERSION},\"order\":");
        let deal = format!(
            ",\"deal\":{{\"world_size\":{world_size},\"remainder\":\"{remainder}\",\"layout\":\"{layout}\"{unit}}}}}"
        );
        with(&|each| [&begin, order.text(), &deal].into_iter().for_each(each))
    }

    fn config(&self, epoch: u64, rank: u32) -> Config {
        let &Self { ref order, world_size, remainder, layout, unit } = self;
        let OrderPart { id, samples, seed, .. } = **order;
        Config { seed, epoch, order: id, rank, world_size, remainder, layout, unit, ..Config::new(samples) }
    }
}

/// The layout of a deal. The default depends on the order.
pub(crate) fn layout(deal: &Fields, order: &OrderPart) -> Layout {
    // A blend has a period. If the period has a common divisor with the world size, `Strided` can give a rank the
    // samples of some sources only.
    if !deal.has("layout") && order.is_rotated() { Layout::Rotated } else { deal.named("layout", &LAYOUTS) }
}

/// The member `unit` of the canonical text, with its comma; empty if the unit is 1.
pub(crate) fn unit_text(unit: u32) -> String {
    if unit == 1 { String::new() } else { format!(",\"unit\":{unit}") }
}

impl Sampler {
    /// The sampler of a rank for the whole of an epoch, in O(1) if the order is not composed. Failures: `rank`;
    /// `samples`, `epoch` as [`Sampler::at_epoch`].
    pub fn from_recipe(recipe: &Recipe, epoch: u64, rank: u32) -> Result<Self, Failure> {
        Self::of(recipe.config(epoch, rank), Rc::clone(&recipe.order))
    }

    /// The recipe of this sampler: everything that decides its deal, without the epoch, the rank and `consumed`.
    pub fn recipe(&self) -> Recipe {
        Recipe::of(self.config(), Rc::clone(&self.part))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::document::MAX_TEXT;

    #[test]
    fn recipes_end_somewhere() {
        let text = |len: usize| {
            let recipe = "{\"order\":{\"samples\":10}}";
            format!("{recipe}{}", " ".repeat(len - recipe.len()))
        };
        assert!(Recipe::read(&text(MAX_TEXT), &[]).is_ok());
        let failure = Recipe::read(&text(MAX_TEXT + 1), &[]).err().unwrap();
        assert_eq!((failure.field, &*failure.value), ("recipe", "of 16777217 bytes"));
        for open in ["{\"order\":", "{\"order\":{\"sizes\":[", "["] {
            assert!(Recipe::read(&open.repeat(MAX_TEXT / 32), &[]).is_err());
        }
    }

    #[test]
    fn a_canonical_text_is_read_as_what_wrote_it() {
        let sizes: Vec<u64> = (0..1_000).collect();
        let text = r#"{"order": {"name": "sharded", "seed": "-9223372036854775808", "lanes": 5, "shuffle_window": 1048576},
            "deal": {"world_size": 7, "remainder": "drop"}}"#;
        let lists: [List; 1] = [("sizes", &sizes)];
        let recipe = Recipe::read(text, &lists).unwrap();
        let sampler = Sampler::from_recipe(&recipe, 3, 6).unwrap();
        let again = Recipe::read(&recipe.text().unwrap(), &lists).unwrap();
        let read = Sampler::from_recipe(&again, 3, 6).unwrap();
        assert_eq!(read.config(), sampler.config());
        assert_eq!(read.sizes(), Ok(Some(sizes.clone())));
        assert_eq!(read.recipe().text(), recipe.text());
        assert_eq!(again.fingerprint(), recipe.fingerprint());
        assert_eq!(read.indices::<u64>(0, 9), sampler.indices(0, 9));
    }
}
