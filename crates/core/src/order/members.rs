//! The section `order` of recipes and states.

use super::compose::names::{EXHAUSTIONS, INDEX_SPACES, MAX_SOURCES};
use super::id::{COMPOSED, OrderId, VIEWS};
use super::sharded::{MAX_LANES, MAX_WINDOW};
use crate::base::failure::known;
use crate::base::{Failure, MAX_COUNT, MAX_EXACT};
use crate::document::MAX_TEXT;
use crate::document::fields::Fields;
use crate::document::lists::{List, beside};
use crate::document::member::{Default, Kind, Member, Place, is, is_not, names, place, text};
use crate::document::recipe::{OF_STREAMS, SEED};
use alloc::format;

/// The most bytes of the canonical text of an order. The other 2^22 bytes of a text are for the rest of a recipe or a
/// state.
pub(super) const MAX_ORDER: usize = MAX_TEXT - (1 << 22);

/// The section `order`, which may have a composed order.
pub(crate) const ANY_ORDER: Member =
    Member::new("order", Kind::Section(&MEMBERS)).required("the section that has the samples and their order");
/// The sections of the recipe in a sampler's state.
pub(crate) const ORDERS: &[Member] = &[ANY_ORDER];
/// The members that only composed orders have.
pub(crate) const COMPOSED_MEMBERS: &[Member] = MEMBERS.split_at(8).1;

/// The members of all orders.
pub(crate) const ANY_ORDER_MEMBERS: &[Member] = &MEMBERS;

const BLENDS: &[&str] = &[OrderId::Blend.name(), OrderId::BlendExact.name()];
/// The orders whose samples follow from other members: the views, and windows.
const OF_OTHER_SAMPLES: &[&str] = &[VIEWS[0], VIEWS[1], VIEWS[2], VIEWS[3], OrderId::Windows.name()];
const SHARDED: Place = place![[is("name", &["sharded"])]];
const BLENDED: Place = place![[is("name", BLENDS)]];
const WINDOWS: Place = place![[is("name", &["windows"])]];
const BALANCE: Place = place![[is("name", &["balance"])]];
const WEIGHTED: Place = place![[is("name", &["weighted"])]];

// A `static`, because a constant cannot refer to itself: an order can have inner orders.
static MEMBERS: [Member; 26] = [
    Member::new("name", Kind::TEXT).text(text!("The name of the order.")),
    Member::new("samples", Kind::COUNT)
        .with(place![[is_not("name", OF_OTHER_SAMPLES)]])
        .text(text!("Number of samples in an epoch. Orders that are not composed give each sample of the dataset once, so that it is the size of the dataset. By default: of a blend, all samples of its sources; of a balance, the sum of the factors; of `weighted`, the number of weights. Of `grown`: the number before the first `growth`.")),
    SEED.with(place![[is_not("name", VIEWS)]]),
    Member::new("lanes", Kind::from_one(MAX_LANES))
        .with(SHARDED)
        .or_number(64)
        .text(text!("Number of parts of the dataset that are read side by side; best a multiple of every number of readers that may read it.")),
    Member::new("shuffle_window", Kind::from_one(MAX_WINDOW))
        .with(SHARDED)
        .or_number(256)
        .text(text!("Number of neighbouring samples of a lane that are shuffled together.")),
    Member::new("shards", Kind::COUNT).with(SHARDED).text(text!("The number of `sizes`.")),
    Member::new("sizes", Kind::NUMBERS)
        .with(place![[is("name", &["sharded", "windows"])]])
        .required("the samples of each shard, or of each episode")
        .text(text!("Number of samples in each shard; with the order `windows`, in each episode.")),
    Member::new("chunks", Kind::Elsewhere(OF_STREAMS)),
    Member::new("exhaustion", Kind::Name(const { &names(&EXHAUSTIONS) }))
        .with(BLENDED)
        .text(text!("What happens if a source has made `max_passes` passes in an epoch. With `repeat`, the number of passes has no limit.")),
    Member::new("max_passes", Kind::POSITIVE)
        .with(place![[is("name", BLENDS), is("exhaustion", &["stop", "renormalize", "fail"])]])
        .or_number(1)
        .text(text!("The largest number of passes over a source in an epoch.")),
    Member::new("run_length", Kind::from_one(MAX_COUNT))
        .with(BLENDED)
        .or_number(1)
        .text(text!("Number of neighbouring positions that a source gets at a time. If it is the batch size of a rank, and the `unit` of the sampler too, every batch of a rank is of one source. `samples` and the beginnings of stages are multiples of it.")),
    Member::new("by_lane", Kind::Flag)
        .with(place![[is("name", BLENDS), is("exhaustion", &["repeat"])]])
        .or(Default::Flag(false))
        .text(text!("Whether each lane is a blend of its own. Then a reader that has some of the lanes reads these lanes of every source and no others, so that no two readers share a lane if their number divides the number of lanes. All sources are `sharded`, or `exclude` or `subset` of it, with as many `lanes` as the first one, and have at least one sample in each. `samples` and the beginnings of stages are multiples of the number of lanes too.")),
    Member::new("index_space", Kind::Name(const { &names(&INDEX_SPACES) }))
        .with(BLENDED)
        .text(text!("Which sample indices the sources have.")),
    Member::new("sources", Kind::Objects { of: SOURCE_MEMBERS, most: MAX_SOURCES })
        .with(BLENDED)
        .required("the orders that are blended"),
    Member::new("stages", Kind::objects(STAGE_MEMBERS)).with(BLENDED).text(text!("Other weights from later positions on.")),
    Member::new("growth", Kind::objects(GROWTH_MEMBERS))
        .with(place![[is("name", &["grown"])]])
        .text(text!("The times at which the dataset got more samples.")),
    Member::new("of", Kind::Section(&MEMBERS))
        .with(place![[is("name", VIEWS)]])
        .required("the order that this one is made of"),
    Member::new("indices", Kind::NUMBERS)
        .with(place![[is("name", &["exclude", "subset"])]])
        .required("samples, in ascending order"),
    Member::new("ranges", Kind::objects(RANGE_MEMBERS))
        .with(place![[is("name", &["skip"])]])
        .text(text!("Positions that are left out, in ascending order.")),
    Member::new("copies", Kind::SHORT_POSITIVE)
        .with(place![[is("name", &["copies"])]])
        .required("how many times in a row each sample comes"),
    Member::new("length", Kind::POSITIVE).with(WINDOWS).required("the samples of a window"),
    Member::new("stride", Kind::POSITIVE)
        .with(WINDOWS)
        .text(text!("Number of samples from the beginning of a window to the beginning of the next one; by default, `length`.")),
    Member::new("classes", Kind::SHORT_NUMBERS).with(BALANCE).required("the class of each sample"),
    Member::new("factors", Kind::Numbers { most: MAX_EXACT, beside: true })
        .with(BALANCE)
        .required("how often the samples of each class are seen in an epoch, in millionths"),
    Member::new("weights", Kind::Numbers { most: MAX_EXACT, beside: true })
        .with(WEIGHTED)
        .required("the weight of each sample")
        .text(text!("The weight of each sample: how often it comes, in proportion to the other weights.")),
    Member::new("replacement", Kind::Flag)
        .with(WEIGHTED)
        .or(Default::Flag(true))
        .text(text!("Whether a sample can come several times in an epoch. With false, it comes once at most, and the largest weights, which would come more often, come surely. Then at least `samples` weights are above 0.")),
];
static SOURCE_MEMBERS: &[Member] = &[
    SOURCE_NAME,
    SOURCE_WEIGHT,
    Member::new("samples", Kind::COUNT).text(text!("Number of samples of a source without an order.")),
    Member::new("order", Kind::Section(&MEMBERS)).text(text!("The order of the source; by default, `feistel`.")),
];
pub(super) const SOURCE_NAME: Member =
    Member::new("name", Kind::Text { least: 1, most: MAX_TEXT }).required("a name for each source");
pub(super) const SOURCE_WEIGHT: Member = Member::new("weight", Kind::Weight)
    .or_number(1)
    .text(text!("How many positions the source gets, in proportion to the other weights."));
static STAGE_MEMBERS: &[Member] = &[
    Member::new("from", Kind::POSITIVE).required("the first position of each stage"),
    Member::new("weights", Kind::Weights).required("a weight for each source"),
];
const EVENT_EPOCH: Member = Member::new("epoch", Kind::LONG).required("an epoch in each entry");
static GROWTH_MEMBERS: &[Member] = &[
    EVENT_EPOCH,
    Member::new("consumed", Kind::COUNT).required("the positions of that epoch that were consumed before"),
    Member::new("samples", Kind::POSITIVE).required("the number of samples after it"),
];
static RANGE_MEMBERS: &[Member] = &[
    EVENT_EPOCH,
    Member::new("start", Kind::COUNT).required("the first position that is left out"),
    Member::new("count", Kind::COUNT).required("how many positions are left out"),
];

/// A failure of the order at `path`, with this path before that of the member.
pub(super) fn at_order(path: &str, failure: Failure) -> Failure {
    failure.under(path, ANY_ORDER_MEMBERS)
}

/// A failure of the order of source `place`, with the path of this order before that of the member.
pub(super) fn at_source(place: usize, failure: Failure) -> Failure {
    at_order(&format!("sources[{place}].order"), failure)
}

/// A failure of the section `order`, with the path in the recipe.
pub(crate) fn of_order(failure: Failure) -> Failure {
    at_order("order", failure)
}

impl OrderId {
    /// The order with this name, also a composed one. The failure for an unknown name lists only names that fit the
    /// other members of the order: composed orders if there is a member of composed orders; `stored` if there are sizes
    /// of shards; else `ALL`.
    pub(crate) fn of_any_name(name: &str, order: &Fields, lists: &[List], stored: &[Self]) -> Result<Self, Failure> {
        let found = Self::ALL.iter().chain(&[Self::Sharded]).chain(&COMPOSED).find(|id| id.name() == name);
        found.copied().ok_or_else(|| {
            let fit: &[Self] = if order.first_of(COMPOSED_MEMBERS).is_some() {
                &COMPOSED
            } else if order.has("sizes") || beside("sizes", lists).is_some() {
                stored
            } else {
                &Self::ALL
            };
            Failure::unknown_name("name", name, known(fit.iter().map(|id| id.name())))
        })
    }
}
